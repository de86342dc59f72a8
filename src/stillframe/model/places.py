"""Where: the places a user names, and the closed grammars for hit counts and `LOC if EXPR`.

A place is tried as `file@"text"` first, then `file:line[:column]`, then a line number by itself, then an address (`0x…`),
then `module!method`, then a symbol, then `file@text`: what a shell leaves of `file@"text"` that stands in no further quotes.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from ..errors import UsageError
from .counts import counted


class LinePlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a file, and perhaps a column of it."""

    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class TextPlace(msgspec.Struct, frozen=True):
    """The line of a file that holds this text, wherever edits have moved it."""

    file: str
    text: str

    def __str__(self) -> str:
        return f'{self.file}@"{self.text}"'


class SymbolPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A function or method by its name, perhaps of one module only."""

    name: str
    module: str | None = None

    def __str__(self) -> str:
        return f"{self.module}!{self.name}" if self.module else self.name


class HerePlace(msgspec.Struct, frozen=True):
    """A line of the file that the program is held in."""

    line: int

    def __str__(self) -> str:
        return str(self.line)


class AddressPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """An instruction by its address, and perhaps so many bytes behind it."""

    address: str
    offset: int = 0

    def __str__(self) -> str:
        return self.address + (f"{self.offset:+d}" if self.offset else "")


class DataPlace(msgspec.Struct, frozen=True):
    """Data rather than code: wherever the program touches it. `data` is the debugger's word for it, of this run only."""

    expression: str
    watching: Literal["write", "read", "readWrite"]
    data: str

    def __str__(self) -> str:
        return f"watch {self.expression} ({self.watching})"


Place = LinePlace | TextPlace | SymbolPlace | HerePlace | AddressPlace | DataPlace

_TEXT = re.compile(r"""^(?P<file>.+?)@(?:"(?P<double>.*)"|'(?P<single>.*)')$""", re.DOTALL)
_BARE = re.compile(r"^(?P<file>.+?\.\w+)@(?P<text>.*\S.*)$", re.DOTALL)
_LINE = re.compile(r"^(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?$", re.DOTALL)
_ADDRESS = re.compile(r"^\*?(?P<address>0[xX][0-9a-fA-F]+)(?P<offset>[+-]\d{1,18})?$")
_SYMBOL = re.compile(r"^(?:(?P<module>[^!\s]+)!)?(?P<name>(?:[^\s!:@]|::)+)$")

_OF_FILE = re.compile(r"^(?:.*/)?(?P<module>[^/\s]+?)\.\w+::?(?P<name>[^\W\d][\w.]*)$")
"""`cart.py:total` and `cart.py::total`, as others write a function of a file."""


def parse_place(text: str) -> Place:
    """Read one place as typed; a usage error names the forms that exist."""
    text = text.strip()
    if match := _TEXT.match(text):
        wanted = match["double"] if match["double"] is not None else match["single"]
        if not wanted.strip():
            raise UsageError(f'no text in {text!r}: give some of the line, as in shop.py@"total +="')
        return TextPlace(match["file"], wanted)
    if match := _LINE.match(text):
        column = _counted(match["column"], "column") if match["column"] else None
        return LinePlace(match["file"], _line(match["line"]), column)
    if text.isdecimal():
        return HerePlace(_line(text))
    if match := _ADDRESS.match(text):
        return AddressPlace(match["address"].lower(), int(match["offset"] or 0))
    if match := _SYMBOL.match(text):
        return SymbolPlace(match["name"], match["module"])
    if match := _BARE.match(text):
        return TextPlace(match["file"], match["text"])
    meant = f", as in {match['module']}!{match['name']}" if (match := _OF_FILE.match(text)) else ""
    raise UsageError(f'{text!r} is no place: use file:line, file@"text", module!function{meant}, or a function\'s name')


def _line(digits: str) -> int:
    line = _counted(digits, "line")
    if line < 1:
        raise UsageError(f"lines count from 1, not {line}")
    return line


MOST = 2**31 - 1
"""The last line that debuggers can be asked about: some do not answer for a later one at all (debugpy 1.8.22)."""


def _counted(digits: str, what: str) -> int:
    number = counted(digits)
    if number is None or number > MOST:
        raise UsageError(f"no file has a {what} {digits if len(digits) <= 40 else digits[:40] + '…'}")
    return number


class BreakSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`LOC` or `LOC if EXPR`, as `--break` takes it."""

    place: Place
    condition: str | None = None
    hit: HitRule | None = None


def parse_break(text: str) -> BreakSpec:
    """Split at the first ` if ` that stands outside quotes, then read the place.

    Of a text whose quotes the shell took nobody can tell whether its ` if ` begins a condition.
    """
    cut = _first_if(text)
    if cut is None:
        return BreakSpec(parse_place(text))
    condition = text[cut + 4 :].strip()
    if not condition:
        raise UsageError(f"no condition after `if` in {text!r}")
    place = parse_place(text[:cut])
    if isinstance(place, TextPlace) and not _TEXT.match(text[:cut].strip()):
        raise UsageError(
            f"the quotes of {text!r} went to the shell, so its ` if ` may be of the line or a condition: write "
            f"'{place.file}@\"text of the line\"' or '{place} if {condition}'"
        )
    return BreakSpec(place, condition)


def _first_if(text: str) -> int | None:
    at = 0
    while at < len(text):
        if text.startswith(" if ", at):
            return at
        # A quote that never closes is an apostrophe, as in a directory's name.
        closes = text.find(text[at], at + 1) if text[at] in "\"'" else -1
        at = closes + 1 if closes > 0 else at + 1
    return None


class HitRule(msgspec.Struct, frozen=True):
    """Stop at the Nth time (`3`), from the Nth on (`>=3`), or at every Nth (`%3`)."""

    kind: Literal["exactly", "from", "every"]
    number: int

    def __str__(self) -> str:
        return {"exactly": "", "from": ">=", "every": "%"}[self.kind] + str(self.number)


_HIT = re.compile(r"^\s*(?P<op>==|>=|%)?\s*(?P<number>\d{1,9})\s*$")


def parse_hit(text: str) -> HitRule:
    """Read a hit count; nothing that could be evaluated gets through."""
    match = _HIT.match(text)
    if not match or int(match["number"]) < 1:
        raise UsageError(f"{text!r} is no hit count: use 3, >=3 or %3")
    kind: Literal["exactly", "from", "every"]
    kind = "from" if match["op"] == ">=" else "every" if match["op"] == "%" else "exactly"
    return HitRule(kind, int(match["number"]))
