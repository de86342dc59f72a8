"""What a client of MCP is told to ask next, in the tools that it has."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import StillframeError
from ...model.wording import WORDS, Parameters, Words
from ..cli.catalogue import VERBS
from .toolset import Toolset, toolset

_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_EXAMPLE = re.compile(r"[,;:]? as in: dbg .*", re.DOTALL)


class ToolWords(Parameters):
    def __init__(self, tools: Toolset) -> None:
        self._tools = tools

    def call(self, verb: str, words: Mapping[str, str], given: Mapping[str, object]) -> str:
        spelled = self._tools.spelled(verb, {**words, **given})
        if spelled is None:
            return f"dbg {verb} on the command line"
        name, arguments = spelled
        if "session" in given:
            arguments = {**arguments, "session": given["session"]}
        return f"{name} {json.dumps(arguments)}" if arguments else name


@functools.lru_cache(maxsize=32)
def _words(asked: str, allow: str) -> ToolWords:
    return ToolWords(toolset(asked, allow))


@contextlib.contextmanager
def told_in(words: Any) -> Iterator[None]:
    """Have what is told meanwhile be in the words of a client with these tools, [asked, allow]."""
    try:
        mine: Words = _words(*words)
    except (StillframeError, TypeError, ValueError):  # of a client that is none of ours
        mine = WORDS.get()
    before = WORDS.set(mine)
    try:
        yield
    finally:
        WORDS.reset(before)


def shell_line(verb: str, given: Mapping[str, Any]) -> str:
    """A call of what is no tool here, as it is typed in a shell."""
    fields = {field["name"]: field for field in (VERBS[verb]["fields"] if verb in VERBS else ())}
    words, last = ["dbg", verb], list[str]()
    for name, value in given.items():
        several = [] if value is True else value if isinstance(value, list | tuple) else [value]
        each = [shlex.quote(str(one)) for one in several]
        field: Mapping[str, Any] = fields.get(name, {})
        flag = field.get("flag") or f"--{name.replace('_', '-')}"
        if field.get("last"):
            last = ["--", *each]
        elif not name or field.get("positional"):
            words += each
        else:  # a switch has no word
            words += [word for one in each for word in (flag, one)] or [flag]
    return " ".join([*words, *last])


def parameters(message: str, verb: str) -> str:
    """What an error says of a verb's flags, said of the parameters that they are here."""
    named = {
        (field.get("flag") or field["name"].replace("_", "-")).lstrip("-"): field["name"]
        for field in (VERBS[verb]["fields"] if verb in VERBS else ())
    }
    named["session"] = "session"
    return _FLAG.sub(lambda match: named.get(match[1], match[0]), _EXAMPLE.sub("", message))
