"""Texts of one shape: they differ in nothing but plain leaves, so that what is known of one of them is known of all.

`{'sku': 'A-1', 'qty': 3}` and `{'sku': 'B', 'qty': None}` are of one shape. Hits of one place have values of few shapes, and a
pattern made of a shape, with nothing to choose in it, reads a text several times as fast as the one for all texts (`glances`).
"""

from __future__ import annotations

import functools
import re

import msgspec

from ..model.patterns import possessive
from . import glances, texts
from .conditions import Path
from .glances import END

MOST = 4
"""Shapes that are learned for one question."""
WORTH = 512
"""Texts for which one more is learned: to make its pattern takes as long as to read so many without it."""
SAMPLES = 8

_WORD = rf"[^'\"`()\[\]{{}},:=…\s<>.{END}][^'\"`()\[\]{{}},:=…\s<>{END}]*+"
_STRINGS = glances.QUOTED
_LEAVES = (*(f"{each}…?+" for each in _STRINGS), _WORD, rf"[bBuUrRfF@]{{1,2}}+(?:{'|'.join(_STRINGS)})")
_USUAL = {
    _LEAVES[0]: rf"'[^'\\{END}]*+'…?+",
    _LEAVES[1]: rf"\"[^\"\\{END}]*+\"…?+",
    _WORD: r"[0-9A-Za-z_+-][0-9A-Za-z_.+-]*+",
}
"""What most of them are like; tried first, since it is quicker."""
_PLAIN_STRING = rf"(?:'[^'\\{END}]*+'|\"[^\"\\{END}]*+\")"
_PLAIN_STRINGS = possessive(rf"{_PLAIN_STRING}(?:{END}{_PLAIN_STRING})*+")
"""A row of nothing but strings whose content is as it is written."""
_TOKEN = possessive(
    rf"(?:(?<=[(\[{{])|(?<=[,:=] )|(?<==))(?P<leaf>{'|'.join(_LEAVES)})(?=[,)\]}}])|{'|'.join(_STRINGS)}|(?P<astray>['\"`\\])|.",
    re.DOTALL,
)

Part = str | int
"""A part as it was written, its type, or its length."""


class Lacking(msgspec.Struct, frozen=True):
    """Stands for a part that is not there."""

    shown: int | None = None
    """The parts that the value itself shows, where it is that which lacks it."""


UNREAD = ""
_MARKS = glances.NOWHERE | glances.CUT
Read = Part | Lacking
"""What was read in a text; `UNREAD` says nothing."""


class Shape(msgspec.Struct, frozen=True):
    pattern: re.Pattern[str]
    """Reads a whole row of texts, and captures the part in those of this shape."""
    always: Read | None
    """What is so in all of them."""

    def read(self, row: str, path: Path) -> list[Read]:
        found = glances.each(self.pattern, row)
        if self.always is None:
            return asked(found, path)
        if isinstance(self.always, int):
            found = [UNREAD if "…" in each or "..." in each else each for each in found]
        return [self.always if each else UNREAD for each in found]


class Reader:
    """Reads what a path leads to in rows of texts, and learns their shapes meanwhile."""

    def __init__(self, path: Path, worth: int = WORTH) -> None:
        self._path = path
        self._worth = worth
        self._most = MOST
        self._shapes: list[Shape] = []
        self.lacks: set[Read] = set()
        """What it has come to know that stands for parts that are not there."""

    def read(self, row: str) -> list[Read]:
        """What each text of a row tells, put together by `END`."""
        return self._from(0, row)

    def _from(self, number: int, row: str) -> list[Read]:
        """From a shape on: those that are not of it are read by the next, and at last by the pattern for all."""
        shape = self._shape(number, row)
        if shape is None:
            return asked(glances.parts(row, self._path.steps), self._path)
        found = shape.read(row, self._path)
        if UNREAD in found:
            left = [at for at, each in enumerate(found) if each == UNREAD]
            all_texts = row.split(END)
            for at, told in zip(left, self._from(number + 1, END.join(all_texts[at] for at in left)), strict=True):
                found[at] = told
        return found

    def _shape(self, number: int, row: str) -> Shape | None:
        if number == len(self._shapes) < self._most and row.count(END) + 1 >= self._worth:
            samples = row.split(END, SAMPLES)[:SAMPLES]
            learned = next((made for each in samples if (made := shape_of(each, self._path))), None)
            self._most = self._most if learned else number
            self._shapes += [learned] if learned else []
            self.lacks |= {learned.always} if learned and isinstance(learned.always, Lacking) else set()
        return self._shapes[number] if number < len(self._shapes) else None


def asked(found: list[str], path: Path) -> list[Read]:
    """Parts as the path asks for them."""
    if path.of == "value":
        return list[Read](found)
    if _PLAIN_STRINGS.fullmatch(END.join(found)):
        return [len(each) - 2 for each in found] if path.of == "len" else ["str"] * len(found)
    told = {part: part if part == UNREAD or part in _MARKS else _told(part, path) for part in set(found)}
    return [told[each] for each in found]


@functools.lru_cache(maxsize=64)
def shape_of(text: str, path: Path) -> Shape | None:
    """The shape of a text, with what is known of the part in all texts of it; None where that is nothing."""
    span = glances.span(text, path.steps)
    if span is None:
        return None
    pieces: list[str] = []
    leaf = False
    for match in _TOKEN.finditer(text):
        if match["astray"]:
            return None
        pieces.append("(" if match.start() == span[0] else "")
        pieces.append(_any_leaf(match["leaf"]) if match["leaf"] else re.escape(match[0]))
        pieces.append(")" if match.end() == span[1] else "")
        leaf |= bool(match["leaf"]) and match.span() == span
    if pieces.count("(") != 1 or pieces.count(")") != 1:
        return None
    return Shape(possessive(rf"(?:{''.join(pieces)}|[^{END}]*+)(?:{END}|\Z)"), _always(text, span, leaf, path))


def _any_leaf(like: str) -> str:
    """The pattern of a leaf, beginning with what is like one."""
    kind = next((each for each in _LEAVES if each[0] == like[0]), _LEAVES[-1] if like[-1] in "'\"`" else _WORD)
    usual = [_USUAL[kind]] if kind in _USUAL else []
    return f"(?:{'|'.join([*usual, kind, *(each for each in _LEAVES if each != kind)])})"


def _always(text: str, span: tuple[int, int], leaf: bool, path: Path) -> Read | None:
    """What a path tells in all texts of the shape of one."""
    part = text[slice(*span)]
    if part in glances.CUT:
        return part
    if part in glances.NOWHERE:
        top_lacks = texts.follow(texts.of_text("", text), path.steps[:1]) is None
        return Lacking(len(texts.parts(text)) if top_lacks else None)
    return None if leaf or path.of == "value" else _told(part, path)


def _told(part: str, path: Path) -> Read:
    match path.of:
        case "value":
            return part
        case "type":
            return texts.type_of(part)
        case "len":
            if texts.is_cut_text(part):
                return "…"
            length = _length(part)
            return Lacking() if length is None and re.fullmatch(_WORD, part) else UNREAD if length is None else length


def _length(part: str) -> int | None:
    quote = part[:1]
    if quote in ("'", '"') and part[-1] == quote and part.count(quote) == 2 and "\\" not in part:
        return len(part) - 2
    return texts.length_of(texts.of_text("", part))
