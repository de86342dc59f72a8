"""Parts that were told beside a value's text, since that was cut: read in a row, as the texts are (`glances`).

They are kept as JSON, of which a pattern reads the one part that is asked for: to decode all of them takes several times as long.
In JSON a quote that belongs to a text is escaped, so that `{"name":"` is nothing but the beginning of a part.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ..model.patterns import possessive
from . import shapes, texts
from .conditions import Path
from .glances import CUT, END, NOWHERE, each
from .shapes import UNREAD, Lacking, Read, Reader

_CHILDREN = '"children":['
THERE = f"instr(v0.rest, '{_CHILDREN}')"
"""Whether a value has such parts, as a question for SQLite."""
ITS_TEXT = "\x03"
"""What a value's own text is marked with."""
WINDOW = 512
"""Characters within which a part is read."""
_FLAGS = 64
"""Characters at the beginning of what is kept beside a text, before its parts."""
_ODD = "{"
_TEXT = rf'"[^"\\{END}]*+(?:\\.[^"\\{END}]*+)*+"'


class Insides:
    """Reads what a path leads to in what was told beside values, as `like` was told beside one of them."""

    def __init__(self, path: Path, like: str) -> None:
        self._path = path
        self._further = Reader(Path(path.root, path.steps[1:], path.of))
        self._begin = _beginning(path.steps[0], like)

    @property
    def asked(self) -> str:
        """What SQLite is to tell of each value: the part and what is behind it, or where no part can be it the value's text,
        marked as such; something else where it is to be read thoroughly, as one is whose parts have parts of their own there."""
        key = str(self._path.steps[0])
        key = _quoted(key if key.isascii() and json.dumps(key) == f'"{key}"' else _CHILDREN)
        deep = f"instr(substr(v0.rest, {_FLAGS}), '{_CHILDREN}')"
        part = f"substr(v0.rest, instr(v0.rest, {_quoted(self._begin)}), {WINDOW})"
        return f"iif(instr(v0.rest, {key}), iif({deep}, '{_ODD}', {part}), '{ITS_TEXT}' || v0.text)"

    def read(self, row: str) -> list[Read | None]:
        """For each of a row, put together by `END`: what it tells, or None where its text is to be asked."""
        pattern = _pattern(self._begin, self._path.of, len(self._path.steps) > 1)
        found: list[Any] = list(each(pattern, row))
        one_group = pattern.groups == 1
        told = found if one_group else [part for part, _ in found]
        totals = [""] * len(found) if one_group else [total for _, total in found]
        if "" not in told and _ODD not in told:
            return list[Read | None](self._meant(_decoded(told), totals))
        there = [at for at, part in enumerate(told) if part and part != _ODD]
        made: list[Read | None] = [UNREAD if part else None for part in told]
        meant = self._meant(_decoded([told[at] for at in there]), [totals[at] for at in there])
        for at, part in zip(there, meant, strict=True):
            made[at] = part
        return made

    def _meant(self, parts: list[str], totals: Sequence[str]) -> Sequence[Read]:
        """What first parts of a path tell of all of it, given how many parts they have themselves."""
        if self._path.of == "type" and len(self._path.steps) == 1:
            return parts
        shown = [_shown(part) for part in parts] if any(map(_LEFT_OUT.match, parts)) else parts
        if len(self._path.steps) == 1:
            if self._path.of == "value":
                return shown
            lengths = shapes.asked(shown, self._path)
            return [
                int(total) if total and part not in CUT else length
                for part, length, total in zip(shown, lengths, totals, strict=True)
            ]
        read = self._further.read(END.join("" if END in part else part for part in parts))
        if not (_UNSURE | self._further.lacks) & set(read):
            return read
        return [_lack(part, total) for part, total in zip(read, totals, strict=True)]


_LEFT_OUT = re.compile(r"…|\.\.\.")
_UNSURE = frozenset[Read](NOWHERE)


def _shown(part: str) -> str:
    return "…" if part.startswith(texts.LEFT_OUT) else part


def _lack(part: Read, total: str) -> Read:
    """A part of a part that is not there: left out if that has more of them than it shows."""
    if isinstance(part, Lacking) and (part.shown is not None or not total):
        return "…" if total and int(total) > (part.shown or 0) else Lacking()
    return part if part not in _UNSURE else UNREAD if total else Lacking()


def _decoded(found: list[str]) -> list[str]:
    """Texts as JSON writes them."""
    row = f"[{','.join(found)}]"
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


def _quoted(text: str) -> str:
    """As SQLite takes a text."""
    return "'" + text.replace("'", "''") + "'"


@functools.lru_cache(maxsize=64)
def _pattern(begin: str, of: texts.Of, further: bool) -> re.Pattern[str]:
    """One that captures the text of a part, or its type, as JSON writes it, and where that matters its total; `_ODD` where it is
    written otherwise, and nothing where there is none."""
    if of == "type" and not further:
        way, after = rf'"type":(?={_TEXT},"value":"(?!…|\\u2026|\.\.\.))', ""
    else:
        way, after = rf'(?:"type":{_TEXT},)?+"value":(?={_TEXT}[,}}])', r'(?:,"total":(\d++))?+'
        after = after if further or of == "len" else ""
    return possessive(rf"(?:{re.escape(begin)},{way})?+({_TEXT}|\{{)?+{after}[^{END}]*+(?:{END}|\Z)")
