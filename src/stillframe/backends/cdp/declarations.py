"""What the text of a scope tells of its variables: which are not initialised yet, and which of the module's it uses.

V8 before 12 calls what is not initialised undefined. In doubt a variable is told as V8 tells it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .client import Body

_KEYWORD = re.compile(r"\b(let|const|class|var|function)\b")
_IDENTIFIER = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*")
_LONGEST = 100_000
_BEING_MADE = re.compile(r"(?:[^;\n]*|[^;=(]*[}\]]\s*)(?:=|\bof\b|\bin\b)\s*[^;\n]*")
"""From a name to where the program is held, when it is the very declaration that is about to run."""


def names_in(lines: Sequence[str], scope: Body) -> set[str]:
    """Every name that the text of a scope mentions."""
    start, end = _place(scope.get("startLocation")), _place(scope.get("endLocation"))
    return set(_IDENTIFIER.findall(_between(lines, start, end)[:_LONGEST])) if start and end else set()


def is_uninitialised(name: str, lines: Sequence[str], held: tuple[int, int], scopes: Sequence[Body]) -> bool:
    """Whether a declaration gives this name, which reads undefined, its first value where the program is held or later."""
    for scope in scopes:
        start, end = _place(scope.get("startLocation")), _place(scope.get("endLocation"))
        if start is None or end is None or not start <= held <= end:
            continue
        before, after = _between(lines, start, held), _between(lines, held, end)
        if len(before) + len(after) > _LONGEST:
            return False
        text = before + after
        found = re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", text)
        if found is None:
            continue  # of an outer scope
        if found.start() < len(before) and not _BEING_MADE.fullmatch(text[found.end() : len(before)]):
            return False
        return _is_declared(text[: found.start()])
    return False


def _is_declared(before: str) -> bool:
    """Whether a name that follows this text is one that a declaration gives."""
    words = list(_KEYWORD.finditer(before.rpartition(";")[2]))
    if not words or words[-1][1] in ("var", "function"):
        return False
    between = words[-1].string[words[-1].end() :]
    if re.search(r"\b(of|in)\b|=>", between):
        return False  # behind the names that are declared
    return re.fullmatch(r"[^=(]*|[^;]*,\s*", between) is not None


def _place(location: object) -> tuple[int, int] | None:
    if not isinstance(location, dict):
        return None
    return int(location.get("lineNumber", 0)), int(location.get("columnNumber", 0))


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from one position to another, as V8 counts."""
    part = list(lines[start[0] : end[0] + 1])
    if not part:
        return ""
    if end[0] < len(lines):
        part[-1] = part[-1][: end[1]]
    part[0] = part[0][start[1] :]
    return "\n".join(part)
