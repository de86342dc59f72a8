"""Functions that stop in their midst, generators and async ones: which they are, and on which lines they do, by their text."""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Sequence

from .client import Body
from .frames import is_top_level, position, span_of

_HEAD = re.compile(
    r"(?P<asynchronous>\basync\b)?\s*(?:\bfunction\b)?\s*(?P<star>\*)?\s*(?:[\w$#\u0080-\uffff]+|\[[^\]]*\]|'[^']*'|\"[^\"]*\")?\s*$"
)
"""What stands before the parameters of a function, where V8 says that it begins; an async arrow begins with its `async`."""
_SUSPENDS = re.compile(r"(?<![\w$.])(?:await|yield)(?![\w$])")
_YIELDS = re.compile(r"(?<![\w$.])yield(?![\w$])")
_AWAITED = re.compile(r"(?<![\w$.])await\s+(?:new\s+)?[\w$.?!\[\]'\"]*$|\bfor\s+await\s*\([^)]*$")
_FINALLY = re.compile(r"(?<![\w$.])finally\b")
_OPENS, _CLOSES = "([{", ")]}"
LONGEST = 200
"""Lines that one expression may take."""


class Kind(enum.Flag):
    """How a function may be left without having returned."""

    PLAIN = 0
    ASYNC = enum.auto()
    GENERATOR = enum.auto()


def kind_of(call: Body, lines: Sequence[str]) -> Kind:
    """What a call's function is, as far as its text tells."""
    where = call.get("functionLocation") or {}
    line, column = int(where.get("lineNumber", 0)), int(where.get("columnNumber", 0))
    if is_top_level(call) or line >= len(lines):
        return Kind.PLAIN
    if lines[line].startswith("async", column):
        return Kind.ASYNC
    return _headed("\n".join([*lines[max(line - 2, 0) : line], lines[line][:column]]))


@functools.lru_cache(256)
def _headed(text: str) -> Kind:
    """What a function is whose parameters follow this text; asked at every step."""
    found = _HEAD.search(text)
    if found is None or found[0].strip() == "async":  # a method of that name
        return Kind.PLAIN
    asynchronous = Kind.ASYNC if found["asynchronous"] else Kind.PLAIN
    return asynchronous | (Kind.GENERATOR if found["star"] else Kind.PLAIN)


def suspending(lines: Sequence[str], first: int, last: int) -> frozenset[int]:
    """The lines of expressions that await or yield, among these."""
    found: set[int] = set()
    for number in range(first, min(last + 1, len(lines))):
        for each in _SUSPENDS.finditer(lines[number]):
            found.update(range(number, _end_of_expression(lines, number, each.end()) + 1))
    return frozenset(found)


def is_behind_finally(call: Body, lines: Sequence[str]) -> bool:
    """Whether a held call has come to a line of its function that is behind a `finally`, or may be in one."""
    span, (_, line, column) = span_of(call), position(call)
    if span is None or line >= len(lines):
        return False
    return any(map(_FINALLY.search, [*lines[span[0][0] : line], lines[line][:column]]))


def has_finally(call: Body, lines: Sequence[str]) -> bool:
    """Whether the function of a held call may return by way of a `finally`."""
    span = span_of(call)
    return span is not None and any(map(_FINALLY.search, lines[span[0][0] : span[1][0] + 1]))


def yields(line: str) -> bool:
    return _YIELDS.search(line) is not None


def is_awaited(lines: Sequence[str], line: int, column: int) -> bool:
    """Whether the call at a position is one whose value is awaited at once."""
    return line < len(lines) and _AWAITED.search(lines[line][:column]) is not None


def is_called(lines: Sequence[str], line: int, column: int, name: str) -> bool:
    """Whether the call at a position is one of this function by its name, and not of what it was handed to."""
    return (
        bool(name)
        and line < len(lines)
        and re.match(rf"(?:[\w$]+\??\.)*{re.escape(name)}\b", lines[line][column:]) is not None
    )


def end_of_call(lines: Sequence[str], line: int, column: int) -> tuple[int, int] | None:
    """Where the brackets end that follow a position, as those of a call do its name; None where none do on its line."""
    depth = 0
    for at in range(line, min(line + LONGEST, len(lines))):
        for place in range(column if at == line else 0, len(lines[at])):
            letter = lines[at][place]
            depth += (letter in _OPENS) - (letter in _CLOSES)
            if depth < 0 or (depth == 0 and letter == ";"):
                return None
            if depth == 0 and letter in _CLOSES:
                return at, place
        if depth == 0:
            return None
    return None


def _end_of_expression(lines: Sequence[str], number: int, column: int) -> int:
    """The line where its brackets are closed; those in strings count too, which makes it longer at the worst."""
    depth = 0
    for at in range(number, min(number + LONGEST, len(lines))):
        for letter in lines[at][column if at == number else 0 :]:
            depth += (letter in _OPENS) - (letter in _CLOSES)
            if depth < 0:
                return at
        if depth == 0:
            return at
    return number
