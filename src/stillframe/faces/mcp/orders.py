"""From the arguments of a tool call to a request for the daemon: checked against the schema, refused by name, never guessed."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import Denied, StillframeError, UsageError
from ...model.counts import counted
from ..cli.catalogue import VERBS
from ..cli.link import needs_environment
from ..cli.shapes import Field
from ..cli.usage import nearest
from .groups import WAITS_FOR
from .toolset import Tool, Toolset, toolset

WAIT_SECONDS = 25.0
"""How long a call waits for a stop: clients give up at about a minute, and say so in ways that lose the answer."""
MOST_BUDGET = 100_000
OWN = ("session", "budget", "project")


class Order(msgspec.Struct, frozen=True):
    """A call as it was understood."""

    verb: str
    args: Mapping[str, Any]
    session: str | None
    budget: int | None
    project: str | None

    @property
    def needs_environment(self) -> bool:
        return needs_environment(VERBS[self.verb], self.args)

    @property
    def owned(self) -> bool:
        """Ends with its client: cancelled, its program is ended."""
        return bool(VERBS[self.verb].get("owned"))

    @property
    def starts(self) -> bool:
        """Brings a program under the debugger, which may not have come to that."""
        return bool(VERBS[self.verb].get("starts"))

    @property
    def waits(self) -> bool:
        """Waits for a stop, and does nothing else for as long."""
        return any(each["name"] == "timeout" and "default" not in each for each in VERBS[self.verb]["fields"])

    @property
    def looks(self) -> bool:
        """Changes nothing."""
        return VERBS[self.verb]["access"] in ("read", "inspect")


def understand(tools: Toolset, tool: Tool, arguments: Mapping[str, Any]) -> Order:
    given = {name: value for name, value in arguments.items() if value is not None}
    verb = _verb(tools, tool, given.pop(tool.by, tool.meant)) if tool.by else tool.verbs[0]
    own = {name: given.pop(name, None) for name in OWN}
    known = tool.fields[verb]
    if own["session"] is not None and VERBS[verb].get("starts") and not VERBS[verb].get("session"):
        raise UsageError(_no_session(tool, verb, own["session"]))
    for name in given:
        if name not in known:
            raise UsageError(_unknown(tools, tool, verb, name))
    args = {name: checked(known[name], value) for name, value in given.items()}
    for name, field in known.items():
        if field.get("required") and name not in args:
            raise UsageError(f"{_called(tool, verb)} needs {name}")
    if "timeout" in known:
        _bound_wait(verb, known["timeout"], args)
    return Order(
        verb,
        args,
        _text("session", own["session"]),
        _budget(own["budget"]),
        _text("project", own["project"]),
    )


def _no_session(tool: Tool, verb: str, name: Any) -> str:
    """What starts a program is about no session that there is."""
    if "name" not in tool.fields[verb]:
        return f"{_called(tool, verb)} runs a program of its own and takes no session"
    return f"{_called(tool, verb)} makes a new session and takes none; name={name!r:.60} gives it its name"


def as_if_allowed(name: str, arguments: Mapping[str, Any]) -> tuple[Tool, Order] | None:
    """What a call would be of a client that may do everything; none where it would be nothing."""
    for asked in ("core", "all"):
        tools = toolset(asked)
        for each in (tool for tool in tools if name in (tool.name, tool.plain)):
            with contextlib.suppress(StillframeError):
                return each, understand(tools, each, arguments)
    return None


def _verb(tools: Toolset, tool: Tool, word: Any) -> str:
    if isinstance(word, str):
        verb = word.replace("_", "-")
        every = (*tool.verbs, *tool.refused)
        named = verb if verb in every else next((v for v in every if verb in VERBS[v].get("aliases", ())), None)
        if named in tool.refused:
            raise tools.refusal(
                _called(tool, named), VERBS[named]["access"], f"{tool.by} may be {' or '.join(tool.verbs)}"
            )
        if named:
            return named
    raise UsageError(f"{tool.name}: {tool.by} is one of {', '.join(tool.verbs)}, not {word!r:.60}")


def _called(tool: Tool, verb: str) -> str:
    return f"{tool.name} {tool.by}={verb}" if tool.by else tool.name


def _unknown(tools: Toolset, tool: Tool, verb: str, name: str) -> str:
    """What to do about a parameter that is not there: another tool, another verb, or another spelling."""
    mine = [*([tool.by] if tool.by else ()), *tool.fields[verb], *OWN]
    known = ", ".join(mine)
    others = [each for each, fields in tool.fields.items() if name in fields]
    if others:
        return f"{_called(tool, verb)} takes no {name!r:.60}, only {', '.join(others)}; it takes {known}"
    if tool.other and any(name in fields for fields in tools.find(tool.other).fields.values()):
        return f"{tool.name} takes no {name}; the tool {tool.other} does"
    above = next((each.get("access") for each in VERBS[verb]["fields"] if each["name"] == name), None)
    if above:
        raise Denied(
            f"{_called(tool, verb)} has no parameter {name} here: it needs {above}, which dbg mcp --allow {above} grants"
        )
    meant = nearest(name, mine)
    guess = f"; did you mean {meant}?" if meant else f"; it takes {known}"
    return f"{_called(tool, verb)} has no parameter {name!r:.60}{guess}"


def _bound_wait(verb: str, field: Field, args: dict[str, Any]) -> None:
    """Keep the wait for a stop below what clients bear. A report that ends with its call may be given longer."""
    if "default" in field:
        return  # it is no wait for a stop
    if "timeout" in args:
        if not VERBS[verb].get("owned"):
            args["timeout"] = min(args["timeout"], WAIT_SECONDS)
    elif verb not in WAITS_FOR or any(name in args for name in WAITS_FOR[verb]):
        args["timeout"] = WAIT_SECONDS


def checked(field: Field, value: Any) -> Any:
    """The value, if it is of the kind that the schema says; a lone one where a list is wanted is a list of it."""
    if not field.get("many"):
        return _one(field, value)
    if field["name"] == "command" and isinstance(value, str):
        return _command(value)
    items = value if isinstance(value, list) else [value]
    return [_one(field, item) for item in items]


def _command(line: str) -> list[str]:
    """A command given as one text is its words, as in a shell; what only a shell can do is for one to be asked for."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
    reader.whitespace_split, reader.commenters = True, ""
    try:
        words = list(reader)
    except ValueError as error:
        raise UsageError(f"command is no line of words: {error}; give a list of them") from None
    if any(set(word) <= set(";&|<>") for word in words if word):
        raise UsageError(f'command is words, and no shell reads them; let one: ["sh", "-c", {json.dumps(line)}]')
    return words or [line]


def _one(field: Field, value: Any) -> Any:
    name, kind = field["name"], field["kind"]
    match kind:
        case "bool":
            if isinstance(value, bool):
                return value
        case "int":
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if isinstance(value, float) and value.is_integer():
                return int(value)
            if isinstance(value, str) and (number := counted(value)) is not None:
                return number
        case "float":
            if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
                return float(value)
        case "json":
            if isinstance(value, dict | str):
                return value
        case "choice":
            if value in field.get("choices", ()):
                return value
            raise UsageError(f"{name} is one of {', '.join(field.get('choices', ()))}, not {value!r:.60}")
        case _:
            if isinstance(value, str | int) and not isinstance(value, bool):
                return str(value)
    wanted = {"bool": "true or false", "int": "a whole number", "float": "a number", "json": "an object"}
    raise UsageError(f"{name} takes {wanted.get(kind, 'text')}, not {type(value).__name__} {value!r:.60}")


def _text(name: str, value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise UsageError(f"{name} takes text, not {value!r:.60}")


def _budget(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return min(value, MOST_BUDGET)
    raise UsageError(f"budget takes a number of characters from 1 up, not {value!r:.60}")
