"""Which texts are dates, in the ways that languages write them: `datetime.date(2025, 12, 30)`, `2025-12-30T09:05:00.000Z`.

A date is told as it is written, whatever its zone: as a text that sorts as dates do.
"""

from __future__ import annotations

import functools
import re

LONGEST = 120
"""Characters of a text that is taken for a date."""
_WRITTEN = r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))*)?"
_ALONE = re.compile(_WRITTEN + r"\Z")
_WRAPPED = re.compile(rf"(?:[\w.]+\.)?(?:Timestamp|datetime64)\('{_WRITTEN}'.*\)\Z")
_CALLED = re.compile(r"(?:[\w.]+\.)?(?:date|datetime|DateTime)\((\d+), (\d+), (\d+)((?:, \d+)*)(?:, \w+=.*)?\)\Z")


@functools.lru_cache(maxsize=1024)
def wanted(text: str) -> str | None:
    """The date that somebody wrote: `2025-12-30`, with a time or without; None where it is another text."""
    return _of_parts(found.groups()) if (found := _ALONE.match(text)) else None


def shown(text: str | int | None) -> str | None:
    """The date that a value's text shows; None where it is none, as a string is none."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    if text[-1:] == ")":
        return _wrapped(text)
    return wanted(text) if text[4:5] == "-" else None


def _wrapped(text: str) -> str | None:
    """Of a class of its own, as Python shows it."""
    if found := _CALLED.match(text):
        year, month, day, rest = found.groups()
        hour, minute, second, micro, *_ = (*(each.strip() for each in rest.split(",")[1:]), "0", "0", "0", "0")
        return _of_parts((year, month, day, hour, minute, second, micro.zfill(6)))
    return _of_parts(found.groups()) if (found := _WRAPPED.match(text)) else None


def _of_parts(parts: tuple[str | None, ...]) -> str:
    year, month, day, hour, minute, second, fraction = (each or "0" for each in parts)
    return f"{year:0>4}-{month:0>2}-{day:0>2} {hour:0>2}:{minute:0>2}:{second:0>2}.{fraction:0<9}"
