"""Where the functions of a script are, by name: V8 binds breakpoints to places, so names are looked up in the text.

A name is what people call a function, which is mostly what V8 calls it too: its own name, else what it is assigned to
or the key it stands under. A function that has both, and they differ, is told twice. The qualified name is the path of
what it stands in, without the words that say how it came there: `Cart.prototype.total = …` is `Cart.total`, and so is
the method of the class; `module.exports.parse` is `parse`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .spans import Kind, Scan, Span

_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")  # as V8 counts lines, which is not as people do
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_PREFIX = re.compile(r"(?:new|get|set)\s+(?=\S)")
_INSTANCE = re.compile(r"(?<=[\w$\]])#")
_CARRIERS = frozenset({"module", "exports", "this", "prototype", "__proto__", ""})
_DEEPEST = 8
_LONGEST = 100
"""Bounds on what of its surroundings a qualified name tells; without them deep nesting would take quadratic space."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function under one name. Lines and columns count from 0, columns in UTF-16 units; the end is exclusive."""

    name: str
    qualified: str
    line: int
    column: int
    body_line: int
    """The first position inside the braces, or of the expression that is an arrow function's body."""
    body_column: int
    end_line: int
    end_column: int


def functions(text: str) -> tuple[Function, ...]:
    """All functions in the text that have a name, in the order in which they start."""
    places = _Places(text)
    return tuple(
        Function(name, qualified, *places.at(span.start), *places.at(span.body), *places.at(span.end))
        for span, name, qualified in _named(Scan(text).spans)
    )


def matching(found: Iterable[Function], wanted: str) -> tuple[Function, ...]:
    """Those that people mean by `total`, `Cart.total`, `Cart#total`, `new Cart` or `Cart`, which is its constructor."""
    known = tuple(found)
    spelt = _PREFIX.sub("", wanted.strip(), count=1)
    tail = ".".join(_path(_INSTANCE.sub(".", spelt))) or spelt
    meant = tuple(each for each in known if each.name == spelt or _ends_with(each.qualified, tail))
    return meant or tuple(each for each in known if _ends_with(each.qualified.replace("#", ""), tail))


def _ends_with(qualified: str, tail: str) -> bool:
    return any(qualified == each or qualified.endswith(f".{each}") for each in (tail, f"{tail}.constructor"))


def _named(spans: Iterable[Span]) -> Iterator[tuple[Span, str, str]]:
    """Each function's names, bare and qualified, by what encloses what."""
    around: list[tuple[int, tuple[str, ...]]] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        while around and around[-1][0] <= span.start:
            around.pop()
        outside = around[-1][1] if around else ()
        names = tuple(_names(span))
        for name, path in names:
            if span.kind is Kind.FUNCTION:
                yield span, name, ".".join((*outside, *path) or (name,))
        if names and names[0][0] != "constructor":
            inside = (*outside, *(each for each in names[0][1] if len(each) <= _LONGEST))
            around.append((span.end, inside[-_DEEPEST:]))


def _names(span: Span) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a span is called, with the path that says so: first what V8 calls it."""
    path = _path(span.bound) if span.bound else ()
    own = _plain(span.own) if span.own else ""
    if own and own not in path[-1:]:
        yield own, (own,)
    if path:
        yield path[-1], path
    elif span.bound and span.bound != "[]":
        yield span.bound, ()


def _path(spelling: str) -> tuple[str, ...]:
    """The names in an assignment's target or a key, without those that only say where it is kept."""
    if spelling.startswith("[") and spelling.endswith("]"):
        inside = spelling[1:-1]
        if not inside.startswith(("'", '"')):
            return (spelling,) if inside else ()
        spelling = inside
    if spelling.startswith(("'", '"')):
        return (spelling[1:-1],)
    parts = _plain(spelling).replace("?", "").split(".")
    return tuple(each for each in parts[-_DEEPEST:] if each not in _CARRIERS)


def _plain(name: str) -> str:
    return _ESCAPED.sub(lambda each: chr(int(each[1], 16)), name) if "\\" in name else name


class _Places:
    """From offsets in a text to lines and columns."""

    def __init__(self, text: str) -> None:
        self._lines = [0, *(each.end() for each in _LINE_END.finditer(text))]
        self._astral = [] if text.isascii() else [each.start() for each in _ASTRAL.finditer(text)]

    def at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset) - 1
        start = self._lines[line]
        wide = bisect_right(self._astral, offset - 1) - bisect_right(self._astral, start - 1)
        return line, offset - start + wide
