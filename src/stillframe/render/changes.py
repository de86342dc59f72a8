"""What a value was and is: of small ones both, of larger ones the parts that differ, by where they are."""

from __future__ import annotations

from ..model.outcomes import Change
from ..model.values import Part
from ..record import differing
from .escape import apart, escape, shorten

SMALL = 80
"""Characters of the two values together that are read as quickly as the place of what differs in them."""

CUT = ", …"
"""Behind parts, where more may differ in what was left out."""


CLOSE = 60
"""Characters of each of two values that begin alike: they are told for what is otherwise further on."""


def change(name: str, old: str, new: str, limit: int, sets: str = " = ") -> str:
    """`out 0 -> 2.0`, `self.items['b'].qty 2 -> 1`; `sets` stands before what was not there."""
    is_alike = len(old) + len(new) > 2 * SMALL and old[: SMALL // 2] == new[: SMALL // 2]
    before, after = apart(escape(old), escape(new), min(limit, CLOSE) if is_alike else limit)
    whole = f"{escape(name)} {before} -> {after}"
    told = by_part(name, old, new, limit, sets)
    if told and before.startswith("… ") and len(told) <= limit:
        return told  # where it is says more than what is left of both without that
    return _shorter(told, whole)


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


def by_known_parts(found: Change, limit: int, sets: str = " = ") -> str:
    """Parts that whoever had the object found to be others, where the two texts do not tell all; nothing if there is none."""
    if not found.parts or found.old is None:
        return ""
    told = by_part(found.name, found.old, found.new or "", limit, sets)
    return (
        told
        if told and not told.endswith(CUT)
        else ", ".join(_known(found.name, each, limit, sets) for each in found.parts)
    )


def _known(name: str, part: Part, limit: int, sets: str) -> str:
    is_gone = part.value == "(gone)"  # no text of a value is in brackets
    return f"{escape(name + part.path)}{' ' if is_gone else sets}{shorten(escape(part.value), limit)}"


def _shorter(by_part: str, whole: str) -> str:
    return by_part if 0 < len(by_part) < len(whole) else whole


def _part(where: str, part: differing.Part, limit: int, sets: str) -> str:
    if part.old is None:
        return f"{where}{sets}{shorten(escape(part.new or ''), limit)}"
    if part.new is None:
        return f"{where} {shorten(escape(part.old), limit)} -> (gone)"
    return f"{where} {' -> '.join(apart(escape(part.old), escape(part.new), limit))}"
