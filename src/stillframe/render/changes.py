"""What a value was and is: of small ones both, of larger ones the parts that differ, by where they are."""

from __future__ import annotations

from ..record import differing
from .escape import apart, escape, shorten

SMALL = 80
"""Characters of the two values together that are read as quickly as the place of what differs in them."""

CUT = ", …"
"""Behind parts, where more may differ in what was left out."""


def change(name: str, old: str, new: str, limit: int, sets: str = " = ") -> str:
    """`out 0 -> 2.0`, `self.items['b'].qty 2 -> 1`; `sets` stands before what was not there."""
    before, after = apart(escape(old), escape(new), limit)
    whole = f"{escape(name)} {before} -> {after}"
    return _shorter(by_part(name, old, new, limit, sets), whole)


def by_part(name: str, old: str, new: str, limit: int, sets: str = " = ") -> str:
    """The parts that differ; nothing where both are small, or nobody can tell."""
    found = differing.inside(old, new) if len(old) + len(new) > SMALL else None
    if found is None:
        return ""
    told = [_part(escape(name + each.path), each, limit, sets) for each in found.parts]
    return ", ".join(told) + (CUT if found.cut else "")


def became(name: str, old: str, new: str, limit: int) -> str:
    """What it is now, and of its parts what they were where that is shorter."""
    return _shorter(by_part(name, old, new, limit, sets="="), f"{escape(name)}={shorten(escape(new), limit)}")


def _shorter(by_part: str, whole: str) -> str:
    return by_part if 0 < len(by_part) < len(whole) else whole


def _part(where: str, part: differing.Part, limit: int, sets: str) -> str:
    if part.old is None:
        return f"{where}{sets}{shorten(escape(part.new or ''), limit)}"
    if part.new is None:
        return f"{where} {shorten(escape(part.old), limit)} -> (gone)"
    return f"{where} {' -> '.join(apart(escape(part.old), escape(part.new), limit))}"
