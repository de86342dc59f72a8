"""Parts that were told beside a value's text, since that was cut: read in a row, as the texts are (`glances`).

They are kept as JSON, of which a pattern reads the one part that is asked for: to decode all of them takes several times as long.
In JSON a quote that belongs to a text is escaped, so that `{"name":"` is nothing but the beginning of a part.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence

import msgspec

from ..model.patterns import possessive_in_bytes
from . import shapes, texts
from .conditions import Path
from .glances import CUT, END, NOWHERE
from .shapes import UNREAD, Lacking, Read, Reader

_CHILDREN = '"children":['
THERE = f"instr(v0.rest, '{_CHILDREN}')"
"""Whether a value has such parts, as a question for SQLite."""
BESIDE = "coalesce(v0.rest, '')"
"""What stands beside a value's text. It is read as the bytes that it is kept as: to make texts of all of them takes longer than
to find the part in them. JSON has no `END` in it."""
_TEXT = rf'"[^"\\{END}]*+(?:\\.[^"\\{END}]*+)*+"'
_BETWEEN = END.encode()
_PARTS = _CHILDREN.encode()
_ALIKE = b":[{"
"""Stands wherever parts begin, and in some texts; sought twice as quickly."""


class Insides:
    """Reads what a path leads to in what was told beside values, as `like` was told beside one of them."""

    def __init__(self, path: Path, like: str) -> None:
        self._path = path
        self._further = Reader(Path(path.root, path.steps[1:], path.of))
        self._begin = _beginning(path.steps[0], like)
        self._pattern = _pattern(self._begin, path.of, len(path.steps) > 1)
        key = str(path.steps[0])
        self._key = key.encode() if key.isascii() and json.dumps(key) == f'"{key}"' else _PARTS
        """What every text has in it that tells of the part."""

    def read(self, row: bytes, several: int) -> list[Read | None]:
        """For each of a row of so many, put together by `END`: what it tells, or None where its text is to be asked."""
        if self._key not in row:
            return [None] * several
        # as nearly always each has it, and none has parts with parts of their own
        if row.count(_ALIKE) == several or row.count(_PARTS) == several:
            found = self._pattern.findall(row)
            if len(found) == several:
                return list[Read | None](self._meant(_decoded(found), lambda: self._totals(row)))
        texts_beside = row.split(_BETWEEN)
        told = [self._each(text) for text in texts_beside]
        there = [at for at, each in enumerate(told) if each]
        made: list[Read | None] = [None if each is None else UNREAD for each in told]
        if there:
            parts = _decoded([told[at] or b"" for at in there])
            meant = self._meant(parts, lambda: self._totals(_BETWEEN.join(texts_beside[at] for at in there)))
            for at, part in zip(there, meant, strict=True):
                made[at] = part
        return made

    def _each(self, text: bytes) -> bytes | None:
        """What is captured in one, with its quotes; nothing where that cannot be told, and None where no part can be it."""
        parts = text.count(_PARTS)
        if not parts or self._key not in text:
            return None
        found = self._pattern.findall(text) if parts == 1 else ()
        return found[0] if found else b""

    def _totals(self, row: bytes) -> list[bytes]:
        """How many parts the captured ones have themselves, where that was told. Seldom asked for, so they are read apart."""
        return _counting(self._begin).findall(row)

    def _meant(self, parts: list[str], totals: Callable[[], Sequence[bytes]]) -> Sequence[Read]:
        """What first parts of a path tell of all of it, given how many parts they have themselves."""
        if self._path.of == "type" and len(self._path.steps) == 1:
            return parts
        if len(self._path.steps) > 1:
            return self._parts_of(parts, totals)
        shown = [_shown(part) for part in parts] if any(map(_begins_left_out, set(parts))) else parts
        if self._path.of == "value":
            return shown
        lengths = shapes.asked(shown, self._path)
        return [
            int(total) if total and part not in CUT else length
            for part, length, total in zip(shown, lengths, totals(), strict=True)
        ]

    def _parts_of(self, parts: list[str], totals: Callable[[], Sequence[bytes]]) -> Sequence[Read]:
        """What the further steps lead to. What is alike is read once, where much is."""
        once = list(dict.fromkeys(parts))
        some = once if 2 * len(once) < len(parts) else parts
        read = self._further.read(END.join(["" if END in part else part for part in some]))
        if some is once:
            read = list(map(dict(zip(once, read, strict=True)).__getitem__, parts))
        if not (_UNSURE | self._further.lacks) & set(read):
            return read
        return [_lack(part, total) for part, total in zip(read, totals(), strict=True)]


_UNSURE = frozenset[Read](NOWHERE)


def _begins_left_out(part: str) -> bool:
    return part.startswith(texts.LEFT_OUT)


def _shown(part: str) -> str:
    return "…" if part.startswith(texts.LEFT_OUT) else part


def _lack(part: Read, total: bytes) -> Read:
    """A part of a part that is not there: left out if that has more of them than it shows."""
    if isinstance(part, Lacking) and (part.shown is not None or not total):
        return "…" if total and int(total) > (part.shown or 0) else Lacking()
    return part if part not in _UNSURE else UNREAD if total else Lacking()


def _decoded(found: Sequence[bytes]) -> list[str]:
    """Texts as JSON writes them."""
    row = b"[%b]" % b",".join(found)
    try:
        return msgspec.json.decode(row, type=list[str]) if found else []
    except msgspec.DecodeError:  # half surrogate pairs
        read: list[str] = json.loads(row)
        return read


def _beginning(step: texts.Step, like: str) -> str:
    """How a part begins that a step leads to, as its kind of value has them."""
    names = texts.names(step)
    forms = [f'{{"name":{form}' for name in names for form in (msgspec.json.encode(name).decode(), json.dumps(name))]
    return min((form for form in forms if form in like), key=like.index, default=forms[-1])


@functools.lru_cache(maxsize=64)
def _pattern(begin: str, of: texts.Of, further: bool) -> re.Pattern[bytes]:
    """One that captures the text of a part, or its type, as JSON writes it; in each of a row at most once. It begins with nothing
    to choose, so that it is sought as quickly as a word."""
    if of == "type" and not further:
        way = rf'"type":({_TEXT}),"value":"(?!…|\\u2026|\.\.\.)'
    else:
        way = rf'(?:"type":{_TEXT},)?+"value":({_TEXT})(?=[,}}])'
    return possessive_in_bytes(rf"{re.escape(begin)},{way}[^{END}]*+")


@functools.lru_cache(maxsize=64)
def _counting(begin: str) -> re.Pattern[bytes]:
    """One that captures the total of a part instead, or nothing where it has none."""
    way = rf'(?:"type":{_TEXT},)?+"value":{_TEXT}(?=[,}}])(?:,"total":(\d++))?+'
    return possessive_in_bytes(rf"{re.escape(begin)},{way}[^{END}]*+")
