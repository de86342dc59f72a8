"""Where the rounds of a `for` begin, for a condition about its variable.

V8 comes to the line of a loop where that begins, once, before its variable has a value: `break app.js:2 if i == 5` on
`for (let i = 0; i < 10; i++) {` would never hold. What is asked about the variable is asked where each round has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ...model.backend import Wanted
from . import grammar
from .texts import Texts

_FOR = re.compile(r"\s*(?:[\w$]+\s*:\s*)?for\s*(?:await\s*)?\(")
_DECLARED = re.compile(r"(?<![\w$.])(?!(?:let|const|var)\b)[A-Za-z_$][\w$]*(?=\s*(?:=(?![=>])|[,:]|$))")
_WORD = re.compile(r"(?<![\w$.])(?!(?:let|const|var)\b)[A-Za-z_$][\w$]*")
_MOST_LINES = 40
"""As far as a loop's head may reach."""


class Rounds:
    """The wanted ones that stand in the rounds of a loop, in the place of its beginning."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._said: dict[Wanted, str] = {}

    def place(self, wanted: Wanted, file: str) -> tuple[int, int | None]:
        """The line and the column in the file where it is to stand, from 1 and from 0: those that were asked for, as a rule."""
        line, column = wanted.line or 1, wanted.column - 1 if wanted.column else None
        asked = " ".join(filter(None, (wanted.condition, wanted.log)))
        found = of_each(self._texts.file(file), line - 1, asked) if asked and column is None else None
        if found is None:
            return line, column
        when = "each time the loop is tested" if found.tests else "in each round of the loop"
        self._said[wanted] = f"{when}, where {found.variable} has its value"
        return found.line + 1, found.column

    def said(self, wanted: Wanted) -> str | None:
        return self._said.get(wanted)


class Round(msgspec.Struct, frozen=True):
    """The place to which each round comes, as V8 counts, and the variable that it has there."""

    line: int
    column: int
    variable: str
    tests: bool
    """Whether it is the loop's test, to which it comes once more than there are rounds."""


class _Head(msgspec.Struct, frozen=True):
    """The parts of `for (first; test; step) body`, or of `for (first of …) body`, by where each begins."""

    first: int
    end: int
    """Of the first part."""
    test: int | None
    body: int


def of_each(lines: Sequence[str], line: int, asked: str) -> Round | None:
    """Where each round begins of a loop that begins on this line, if what is asked is about a variable of it."""
    text = "\n".join(lines[line : line + _MOST_LINES])
    head = _head(text)
    if head is None:
        return None
    names = (_DECLARED if head.test is not None else _WORD).findall(text[head.first : head.end])
    about = [each for each in names if re.search(rf"(?<![\w$.#]){re.escape(each)}(?![\w$])", asked)]
    at = _in_body(text, head.body)
    tests = head.test is not None and text[head.test] != ";" and (at is None or "\n" in text[:at])
    at = head.test if tests else at
    if not about or at is None:
        return None
    before = text[:at]
    return Round(line + before.count("\n"), _width(before.rpartition("\n")[2]), about[0], tests)


def _head(text: str) -> _Head | None:
    begins = _FOR.match(text)
    if begins is None:
        return None
    depth, at, end, test = 1, begins.end(), None, None
    while depth and (found := grammar.TOKEN.match(text, at)) is not None:
        token, at = found[found.lastindex or 0], found.end()
        if token in ("`", "/"):
            return None  # a text or an expression in which anything may stand
        depth += (token in "([{") - (token in ")]}")
        if depth == 1 and end is None and token in (";", "of", "in"):
            end = at - len(token)
            test = _skipped(text, at) if token == ";" else None
    return _Head(begins.end(), end, test, at) if not depth and end is not None else None


def _in_body(text: str, at: int) -> int | None:
    """The first statement of a body; None where it has none."""
    at = _skipped(text, at)
    if text[at : at + 1] == "{":
        at = _skipped(text, at + 1)
    return at if at < len(text) and text[at] not in "};" else None


def _skipped(text: str, at: int) -> int:
    found = grammar.SKIPPED.match(text, at)
    return found.end() if found else at


def _width(text: str) -> int:
    """How many columns V8 counts of it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
