"""The words in which a reply says what can be asked next: lines of a shell, or tools and their parameters, by who asked.

A face that is no shell sets `WORDS` for the calls that it passes on; whatever is told in them is told so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar


class Words:
    """Those of a shell."""

    def option(self, name: str, value: object = True) -> str:
        """A parameter with its value: `--hold`, `--no-children`, `--call 3`; with None its bare name."""
        match value:
            case None | True:
                return f"--{name}"
            case False:
                return f"--no-{name}"
            case _:
                return f"--{name} {value}"

    def call(self, verb: str, words: Mapping[str, str], given: Mapping[str, object]) -> str:
        """A whole call: `dbg stop --tree`; `words` are what has no flag there."""
        return " ".join(("dbg", verb, *words.values(), *(self.option(name, value) for name, value in given.items())))


class Parameters(Words):
    """Those of whoever fills in parameters by their names."""

    def option(self, name: str, value: object = True) -> str:
        name = name.replace("-", "_")
        return name if value in (None, True) else f"{name}: {json.dumps(value)}"


def either(shell: str, parameters: str) -> str:
    """Of two ways to say it, the one for whoever asked."""
    return parameters if isinstance(WORDS.get(), Parameters) else shell


WORDS: ContextVar[Words] = ContextVar("words", default=Words())  # noqa: B039  it has no state


def option(name: str, value: object = True) -> str:
    return WORDS.get().option(name, value)


def call(verb: str, words: Mapping[str, str] | None = None, **given: object) -> str:
    return WORDS.get().call(verb, words or {}, given)
