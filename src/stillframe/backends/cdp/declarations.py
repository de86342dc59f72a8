"""What the text of a scope tells of its variables: which are not initialised yet, which it uses, which V8 left out.

V8 before 12 calls what is not initialised undefined; in a loop, V8 (of Node 18 to 24) tells what it was a round ago. In doubt
a variable is told as V8 tells it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

from .client import Body
from .grammar import Kind
from .spans import Scan

_KEYWORD = re.compile(r"\b(let|const|class|var|function)\b")
_ALONE = r"(?:(?<![\w$.])|(?<=\.\.\.))"
"""What stands before a name that is no attribute: not a dot, but for the three that spread it."""
_IDENTIFIER = re.compile(rf"{_ALONE}[A-Za-z_$][\w$]*")
_WORD = re.compile(rf"{_ALONE}[\w$]+")
_LONGEST = 100_000
UNSET = "<uninitialised>"
AT_RETURN = "at the return of a function whose parameters have defaults or patterns, the variables of its body are gone"
_COMPLEX = re.compile(r"[=\[{]|\.\.\.")
_DECLARED = re.compile(r"\b(?:const|let|var|class|function)\s+([A-Za-z_$][\w$]*)")
_BEING_MADE = re.compile(r"(?:[^;\n]*|[^;=(]*[}\]]\s*)(?:=|\bof\b|\bin\b)\s*[^;\n]*")
"""From a name to where the program is held, when it is the very declaration that is about to run."""
_VALUE = re.compile(r"\s*=(?![=>])")
_TEXTS = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL)
_GOES_ON = re.compile(r"(?<=[-+*/%&|?:.,<>=(\[{])\s*\n\s*|\n\s*(?=[.?:*/%&|<>]|[-+](?![-+]))")
"""The end of a line that does not end an expression."""
_CLOSED = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_UNDER_WAY = re.compile(r"[^;,\n()\[\]{}]*(?:[(\[{][^)\]}]*)?")
"""A value of which no more is there than what has been closed, and perhaps brackets that are still open."""
_DECLARES = re.compile(r"(?:^|[;{}\n)])\s*(?P<word>let|const|class)(?:\s+|\s*[\[{][\w$\s,:]*)$")
"""What stands before a name that is declared by a statement of its own."""
_IN_FUNCTION = re.compile(r"=>|[\w$]\s*\{")


def names_in(lines: Sequence[str], scope: Body) -> set[str]:
    """Every name that the text of a scope mentions."""
    start, end = _place(scope.get("startLocation")), _place(scope.get("endLocation"))
    return set(_IDENTIFIER.findall(between(lines, start, end)[:_LONGEST])) if start and end else set()


def is_uninitialised(name: str, lines: Sequence[str], held: tuple[int, int], scopes: Sequence[Body]) -> bool:
    """Whether a declaration gives this name, which reads undefined, its first value where the program is held or later."""
    for scope in scopes:
        start, end = _place(scope.get("startLocation")), _place(scope.get("endLocation"))
        if start is None or end is None or not start <= held <= end:
            continue
        before, after = between(lines, start, held), between(lines, held, end)
        if len(before) + len(after) > _LONGEST:
            return False
        text = without_texts(before + after)
        found = re.search(rf"{_ALONE}{re.escape(name)}(?![\w$])", text)
        if found is None:
            continue  # of an outer scope
        if found.start() < len(before) and not _is_being_made(text[found.end() : len(before)]):
            return False
        return _is_declared(text[: found.start()])
    return False


def is_of_earlier_round(name: str, lines: Sequence[str], held: tuple[int, int], scopes: Sequence[Body]) -> bool:
    """Whether the block around gives this name its value where the program is held or later: any value is of a round before."""
    return Round(lines, held, scopes).is_earlier(name)


class _Block(NamedTuple):
    """The text of a block without texts and comments, how much of it is before the held place, and where each name is first."""

    text: str
    before: int
    names: Mapping[str, re.Match[str]]


class Round:
    """One place in the blocks of a function, and which of their names have no value there yet in a round of a loop."""

    def __init__(self, lines: Sequence[str], held: tuple[int, int], scopes: Sequence[Body]) -> None:
        self._blocks = [*takewhile(bool, (_block(lines, held, scope) for scope in scopes))]
        self._known: dict[str, bool] = {}

    def is_earlier(self, name: str) -> bool:
        if name not in self._known:
            block = next((each for each in self._blocks if each and name in each.names), None)
            self._known[name] = block is not None and _is_later(block, block.names[name])
        return self._known[name]


def _block(lines: Sequence[str], held: tuple[int, int], scope: Body) -> _Block | None:
    start, end = _place(scope.get("startLocation")), _place(scope.get("endLocation"))
    if scope.get("type") not in ("block", "catch") or start is None or end is None or not start <= held <= end:
        return None
    before, after = between(lines, start, held), between(lines, held, end)
    if len(before) + len(after) > _LONGEST:
        return None
    text = without_texts(before + after)
    names: dict[str, re.Match[str]] = {}
    for found in _WORD.finditer(text):
        names.setdefault(found[0], found)
    return _Block(text, len(before), names)


def without_texts(text: str) -> str:
    """With blanks for what is in quotes and comments, where a name is none."""
    return _TEXTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _is_later(block: _Block, found: re.Match[str]) -> bool:
    declares = _DECLARES.search(block.text[: found.start()])
    if declares is None or _depth(block.text[: declares.start("word")]) != 1:
        return False  # it is an outer one, or one of a block further in
    return found.start() >= block.before or _is_value_made(block.text[found.end() : block.before])


def _depth(text: str) -> int:
    """How many brackets are open."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _is_being_made(text: str) -> bool:
    """Whether a declaration is about to run, or is in the midst of making its value, over however many lines."""
    return _BEING_MADE.fullmatch(text) is not None or _is_value_made(text)


def _is_value_made(text: str) -> bool:
    """Whether a name is followed by a value that is not whole yet."""
    value = _VALUE.match(text)
    if value is None:
        return False
    before, made = "", _GOES_ON.sub(" ", _TEXTS.sub("", text[value.end() :]))
    while made != before:
        before, made = made, _CLOSED.sub("_", made)
    # In a function in there it may be later than that
    return _UNDER_WAY.fullmatch(made) is not None and not _IN_FUNCTION.search(made)


def lost_at_return(call: Body, lines: Sequence[str], told: Container[str]) -> tuple[str, ...]:
    """The variables of a body that V8 (of Node 18 to 24) leaves out at its return, where parameters are more than names."""
    chain = call.get("scopeChain") or ()
    if "returnValue" not in call or not chain or chain[0].get("type") != "local":
        return ()
    start, end = _place(chain[0].get("startLocation")), _place(chain[0].get("endLocation"))
    text = between(lines, start, end)[:_LONGEST] if start and end else ""
    parameters, body = _cut(text)
    if not _COMPLEX.search(parameters):
        return ()
    found = dict.fromkeys(each[1] for each in _DECLARED.finditer(_shallow(body)))
    return tuple(name for name in found if name not in told)


def _cut(text: str) -> tuple[str, str]:
    """The parameters of a function, and its body."""
    depth = 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return text[:at], text[at:].partition("{")[2]
    return "", text


def _shallow(body: str) -> str:
    """Without what stands in brackets."""
    kept: list[str] = []
    depth = 0
    for letter in body:
        depth -= letter in ")]}"
        if depth <= 0:
            kept.append(letter)
        depth += letter in "([{"
    return "".join(kept)


def declared_around(lines: Sequence[str], held: tuple[int, int], name: str) -> tuple[int, int] | None:
    """Where a function around this position, or the file itself, declares the name; the nearest of several."""
    text = "\n".join(lines)
    if len(text) > _LONGEST:
        return None
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    at = starts[held[0]] + held[1]
    spans = [(each.start, each.end) for each in Scan(text).spans if each.kind is Kind.FUNCTION]
    word = re.escape(name)
    declaration = re.compile(rf"\b(?:const|let|var|class|function\b\*?)\s(?:[^;=()]*[\s,{{\[])?({word})(?![\w$])")
    best: tuple[int, int] | None = None
    for found in declaration.finditer(text):
        begins, ends = max(((s, e) for s, e in spans if s < found.start() < e), default=(0, len(text)))
        if begins <= at <= ends and (best is None or begins >= best[0]):
            best = (begins, found.start(1))
    if best is None:
        return None
    line = bisect_right(starts, best[1]) - 1
    return line, best[1] - starts[line]


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


def between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from one position to another, as V8 counts."""
    part = list(lines[start[0] : end[0] + 1])
    if not part:
        return ""
    if end[0] < len(lines):
        part[-1] = part[-1][: end[1]]
    part[0] = part[0][start[1] :]
    return "\n".join(part)
