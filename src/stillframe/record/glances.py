"""Looking into many values' texts at a glance: one pattern per path, which reads the plain ones and leaves the odd ones alone.

`texts` reads a text thoroughly, and takes dozens of microseconds for it. Nearly every value that is asked about is an object or a
list whose parts are plain, or hold others a few deep; a pattern reads such a text in one microsecond, and a whole row of them in
one call. What it reads, `texts` reads alike; of what it does not read it says nothing.
"""

from __future__ import annotations

import functools
import re

from ..model.patterns import possessive
from .texts import CAPACITY, COUNTED, DEEPEST, RESERVED, Step

END = "\x02"
"""Stands between the texts of a row, and is no blank to a pattern; a text that has it in it is not read here."""
NOWHERE = frozenset(")]},")
"""What stands for a part that is not there: the end of the value that lacks it."""
CUT = frozenset(("…", "...", "<"))
"""What stands for one that may be there, but is not shown: how a text says that it leaves something out."""

QUOTED = tuple(rf"{q}[^{q}\\{END}]*+(?:\\[^\n{END}][^{q}\\{END}]*+)*+{q}" for q in "'\"`")
_QUOTED = "|".join(QUOTED)
_INSIDE = rf"[^'\"`()\[\]{{}}{END}]++|{_QUOTED}"
_OPEN, _CLOSE = r"[(\[{]", r"[)\]}]"
_NESTED = rf"{_OPEN}(?:{_INSIDE}|{_OPEN}(?:{_INSIDE}|{_OPEN}(?:{_INSIDE})*+{_CLOSE})*+{_CLOSE})*+{_CLOSE}"
_OTHER = rf"(?:[^'\"`()\[\]{{}},#{END}]++|#(?!<)|{_QUOTED}|{_NESTED}|{CAPACITY}|{RESERVED})*+"
"""An item that is passed by, up to its comma. None of those with an object of Ruby inside, whose parts have commas between."""
_USUAL = rf"(?:'[^'\\{END}]*+'|[\w$]++)(?:: |=)(?:[^'\"`()\[\]{{}},#{END}]++|'[^'\\{END}]*+'),"
"""One like nearly all are, with its comma; quicker than the way on which all are read."""
_LEFT_OUT = r"(?:…|\.\.\.)"
_KEYLESS = rf"\s*+(?!{_LEFT_OUT})(?:[^'\"`()\[\]{{}},:=#{END}\s]++\s*+|{_QUOTED}|{_NESTED})++"
_LIST = rf"{_KEYLESS}(?:,{_KEYLESS})*+(?:,\s*+{_LEFT_OUT}[^'\"`()\[\]{{}},:={END}]*+)?+{_CLOSE}"
"""What none of whose items has a key: there a number counts them."""
_PLAIN = rf"[^'\"`()\[\]{{}},:=…\s{END}]++"
_OPAQUE = rf"<[^'\"`()\[\]{{}},:={END}]*+(?<=>)"
"""What shows nothing of its parts: `<Cart object>`."""
_FIRST_HEAD, _HEAD = r"[\w.:$*&@ <>,]*+", r"[\w.$*&@]*+ ?+"
"""What stands before the parts of a value, and of one in another."""
_PART = rf"(?!{_LEFT_OUT}|<(?:[,)\]}}{END}]|\Z))(?:(?:{_QUOTED})…?+|(?:{COUNTED}|{_HEAD}){_NESTED}|{_PLAIN}(?<!>))"


def _after(done: int, ends: str) -> str:
    """What must follow a part. One that is itself in a part is no longer what it seems where a bracket is astray after it."""
    return rf"(?:,{_OTHER})*+{_CLOSE}{ends}" if done else rf"(?:,|{_CLOSE}{ends})"


def _way(steps: tuple[Step, ...], done: int, ends: str) -> str:
    """From a value's beginning up to the part that the steps after so many lead to; or up to the end of the one that has no such
    part. `ends`: what must follow a container there."""
    step, after = steps[done], _after(done, ends)
    head = rf"(?!range\()(?:{COUNTED}|{_HEAD if done else _FIRST_HEAD})(?!\({_NESTED}\))"
    without_parts = rf"(?!<|{_LEFT_OUT})(?:{_QUOTED}|{_PLAIN})(?={after})"
    further = rf"(?!{_CLOSE}|,|{_LEFT_OUT}(?!{after}))"
    if done + 1 < len(steps):
        further = rf"(?:{_way(steps, done + 1, after)}|{without_parts}|(?=(?:{_LEFT_OUT}|{_OPAQUE}){after}))"
    cut = rf"\s*+(?={_LEFT_OUT}[^'\"`()\[\]{{}},:={END}]*+{_CLOSE}{ends})"
    if isinstance(step, int):
        there = rf"(?:{_KEYLESS},){{{step}}}\s*+(?!{_LEFT_OUT}){further}"
        too_few = rf"(?:{_KEYLESS},){{0,{step - 1}}}+{_KEYLESS}(?={_CLOSE})|" if step else ""
        empty = rf"\s*+(?={_CLOSE}{ends})"
        counted = rf"(?={_LIST}{ends})(?:{there}|{too_few}(?:{_KEYLESS},){{0,{step}}}+{cut})"
        return rf"{head}{_OPEN}(?:{counted}|{cut}|{empty})"
    name = re.escape(step)
    maybe = "".join(rf"\\?+{re.escape(each)}" for each in step)
    special = rf"\s*+(?![….]|\[?(?:[bBuUrRfF@]{{0,2}}['\"`])?[:@]?{maybe}['\"`]?+\]?+\s*+[:=])"
    itself = rf"(?:'{name}'|\"{name}\"|{name})(?:: | = |=(?!>)){further}"
    lacking = rf"{special}{_OTHER}(?={_CLOSE}{ends})"
    return rf"{head}{_OPEN}(?:{special}(?:{_USUAL}|{_OTHER},))*+\s*+(?:{itself}|{lacking}|{cut})"


_KEY = re.compile(rf"(?!\s)[^'\"`()\[\]{{}},:=…<>\\{END}]+(?<!\s)")
"""A key that is nothing else wherever it stands."""


@functools.lru_cache(maxsize=64)
def _pattern(steps: tuple[Step, ...]) -> re.Pattern[str]:
    text_ends = rf"(?={END}|\Z)"
    part_ends = text_ends
    for done in range(len(steps)):
        part_ends = _after(done, part_ends)
    way = rf"(?:{_way(steps, 0, text_ends)}|(?={_OPAQUE}{text_ends}))"
    return possessive(rf"(?:{way}({_PART}(?={part_ends})|{_CLOSE}|,|{_LEFT_OUT}|<))?+[^{END}]*+(?:{END}|\Z)")


def readable(steps: tuple[Step, ...]) -> bool:
    """Whether such a path can be followed at a glance at all."""
    return 0 < len(steps) < DEEPEST and all(
        _KEY.fullmatch(step) if isinstance(step, str) else step < 1000 for step in steps
    )


def parts(row: str, steps: tuple[Step, ...]) -> list[str]:
    """The part of each text of a row, put together by `END`: an empty one says nothing, one of `NOWHERE` that what the text
    shows has none, and one of `CUT` that this is left out."""
    return each(_pattern(steps), row)


def each(pattern: re.Pattern[str], row: str) -> list[str]:
    """What a pattern finds in each text of a row."""
    found: list[str] = pattern.findall(row)
    if row and row[-1] != END:  # it finds nothing once more behind the last text
        found.pop()
    return found


def part(text: str, steps: tuple[Step, ...]) -> str | None:
    """The text of a part, where that can be had at once; None says nothing."""
    if END in text or not readable(steps):
        return None
    found = parts(text, steps)[0]
    return found if found and found not in NOWHERE | CUT else None


def span(text: str, steps: tuple[Step, ...]) -> tuple[int, int] | None:
    """Where in a text the part is, or what stands for it that it is not there."""
    if END in text or not readable(steps):
        return None
    found = _pattern(steps).match(text)
    return found.span(1) if found and found[1] else None


_FLAT = possessive(r"[^'\"`()\[\]{}]*+[(\[{](?:[^'\"`()\[\]{}]++|'[^',\\]*+'|\"[^\",\\]*+\")++[)\]}]")


def shown(text: str) -> int | None:
    """How many items a container shows, where that can be had at once: there every comma is between two."""
    return text.count(",") + 1 if _FLAT.fullmatch(text) and "<" not in text else None
