"""Where the functions of a script are, by name: V8 binds breakpoints to places, so names are looked up in the text.

A name is what people call a function, which is mostly what V8 calls it too: its own name, else what it is assigned to
or the key it stands under. A function that has both, and they differ, is told twice. The qualified name is the path of
what it stands in, without the words that say how it came there: `Cart.prototype.total = …` is `Cart.total`, and so is
the method of the class; `module.exports.parse` is `parse`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from .grammar import Kind, Span
from .spans import Scan

_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")  # as V8 counts lines, which is not as people do
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_PREFIX = re.compile(r"(?:new|get|set)\s+(?=\S)")
_INSTANCE = re.compile(r"(?<=[\w$\]])#")
_KEPT_IN = re.compile(r"(?:module\d*\.)?exports\d*|module\d*|this|prototype|__proto__")
_NAMING = re.compile(r"\b__name\d*\(\s*$")
_WORD = re.compile(r"[\w$]{1,100}")
_NAME = re.compile(r"\s*,\s*\"([^\"\n]+)\"\s*\)")
_DEEPEST = 8
_LONGEST = 100
"""Bounds on what of its surroundings a qualified name tells; without them deep nesting would take quadratic space."""


class Function(msgspec.Struct, frozen=True):
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
    home: str = ""
    """The class that it is a method, an accessor or the constructor of, wherever it is called."""
    within: str = ""
    """The innermost class that it stands in at all."""


def functions(text: str) -> tuple[Function, ...]:
    """All functions in the text that have a name, in the order in which they start."""
    places = _Places(text)
    spans = Scan(text).spans
    return tuple(
        Function(name, qualified, *places.at(span.start), *places.at(span.body), *places.at(span.end), home, within)
        for span, name, qualified, home, within in _named(_renamed(spans, text) if "__name" in text else spans)
    )


def matching(found: Iterable[Function], wanted: str) -> tuple[Function, ...]:
    """Those that people mean by `total`, `Cart.total`, `Cart#total`, `new Cart` or `Cart`, which is its constructor."""
    known = tuple(found)
    spelt = _PREFIX.sub("", wanted.strip(), count=1)
    parts = _parts(_INSTANCE.sub(".", spelt))
    if not parts:
        return ()
    tail = ".".join((*_told(parts[:-1]), parts[-1]))
    meant = tuple(each for each in known if each.name == spelt or _ends_with(each.qualified, tail))
    return meant or tuple(each for each in known if _ends_with(each.qualified.replace("#", ""), tail))


def _renamed(spans: Iterable[Span], text: str) -> Iterator[Span]:
    """With the names that esbuild, and tsx with it, lets functions keep: `const round = __name((x) => …, "round")`."""
    for span in spans:
        nameless = span.kind is Kind.FUNCTION and not span.own and not span.bound
        behind = (
            _NAME.match(text, span.end)
            if nameless and _NAMING.search(text, max(0, span.start - 20), span.start)
            else None
        )
        yield msgspec.structs.replace(span, bound=behind[1]) if behind else span


def _ends_with(qualified: str, tail: str) -> bool:
    return any(f".{qualified}".endswith(f".{each}") for each in (tail, f"{tail}.constructor"))


def _named(spans: Iterable[Span]) -> Iterator[tuple[Span, str, str, str, str]]:
    """Each function's names, bare and qualified, and the classes that it is of and in, by what encloses what."""
    around: list[tuple[int, tuple[str, ...], str, str]] = []
    for span in sorted(spans, key=_first):
        while around and around[-1][0] <= _first(span):
            around.pop()
        _, outside, home, within = around[-1] if around else (0, (), "", "")
        names = _names(span)
        if span.kind is Kind.FUNCTION:
            for *kept_in, name in names:
                mine = _class_of(kept_in) or home
                yield span, name, ".".join((*outside, *_told(kept_in), name)), mine, mine or within
        is_class = span.kind is Kind.CLASS
        if is_class or (names and names[0] != ("constructor",)):
            parts = names[0] if names else ()
            inside = (*outside, *(each for each in _told(parts) if len(each) <= _LONGEST))
            own = "".join(each for each in parts[-1:] if _WORD.fullmatch(each)) if is_class else _class_of(parts)
            around.append((span.end, inside[-_DEEPEST:], own, own if is_class else own or within))


def _class_of(kept_in: Sequence[str]) -> str:
    """`Cart` of `Cart.prototype`."""
    return kept_in[-2] if len(kept_in) > 1 and kept_in[-1] == "prototype" else ""


def _first(span: Span) -> int:
    """From where on a span encloses others: the parameters of a function are its own, what a class extends is not."""
    return span.start if span.kind is Kind.FUNCTION else span.body


def _names(span: Span) -> list[tuple[str, ...]]:
    """What a span is called, each name at the end of the path it is kept under: first what V8 calls it."""
    names = [parts] if (parts := _parts(span.bound or "")) else []
    own = _plain(span.own or "")
    if own and parts == ("default",):  # which is how it is exported, not what it is called
        return [(own,)]
    return [(own,), *names] if own and own not in parts[-1:] else names


def _parts(spelling: str) -> tuple[str, ...]:
    """The names in an assignment's target or a key."""
    if spelling.startswith("[") and spelling.endswith("]"):
        inside = spelling[1:-1]
        if not inside.startswith(("'", '"')):
            return (spelling,) if inside else ()
        spelling = inside
    if spelling.startswith(("'", '"')):
        return (spelling[1:-1],)
    parts = tuple(each for each in _plain(spelling).replace("?", "").split(".")[-_DEEPEST:] if each)
    return (spelling,) if len(parts) > 1 and not _told(parts) else parts  # `module.exports`


def _told(parts: Iterable[str]) -> tuple[str, ...]:
    """Without the words that only say where something is kept; bundlers number those that come more than once."""
    return tuple(each for each in parts if not _KEPT_IN.fullmatch(each))


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
