"""The report of a probe as text: the verdict of every place, however many, then as much evidence as there is room for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from ..model.views import ProbedPlace, ProbeReport
from . import parts
from .escape import escape, shorten
from .outcomes import outcome

LEAST = 160
"""Characters that the evidence of one place is worth showing in."""
_LINE = re.compile(r"(.*):(\d+)")


def report(result: ProbeReport, budget: int) -> str:
    command = escape(shorten(shlex.join(result.command), 80))
    ending = outcome(command, result.end, min(budget // 3, 1200))
    return f"{_places(result.places, budget - len(ending) - 1)}\n{ending}"


def _places(places: Sequence[ProbedPlace], room: int) -> str:
    """Each place with its evidence; where that is too much, all verdicts come first and the evidence is what is cut."""
    each_room = max(LEAST, room // max(1, len(places)) - 1)
    rows = [shorten(_place(place, each_room), each_room) for place in places]
    whole = "\n".join(rows)
    if len(whole) <= room:
        return whole
    verdicts = _verdicts(places, room)
    cut = len(f"\n… evidence of {len(rows):,} of {len(rows):,} shown")
    left = room - len(verdicts) - cut - 1
    if left < LEAST:
        return verdicts
    shown, count = parts.joined(rows, "\n", left, 0)
    return f"{verdicts}\n{shorten(shown, left)}\n… evidence of {count:,} of {len(rows):,} shown"


def _verdicts(places: Sequence[ProbedPlace], room: int) -> str:
    """One line for each verdict: how many places have it, and which."""
    groups: dict[str, list[str]] = {}
    for place in places:
        groups.setdefault(_verdict(place), []).append(place.location)
    rows = [
        f"{verdict} ({len(found):,} of {len(places):,}): {', '.join(_gathered(found))}"
        for verdict, found in groups.items()
    ]
    fitted: dict[str, str] = {}
    for number, row in enumerate(sorted(rows, key=len)):  # the short ones leave their room to the long ones
        fitted[row] = shorten(row, max(40, room // (len(rows) - number) - 1))
        room -= len(fitted[row]) + 1
    return "\n".join(fitted[row] for row in rows)


def _gathered(locations: Iterable[str]) -> Iterator[str]:
    """`app.py:3-9` for lines of a file that follow each other; anything else as it was asked for."""
    file, first, last = "", 0, 0
    for location in (*locations, ""):
        match = _LINE.fullmatch(location)
        if match and file == match[1] and int(match[2]) == last + 1:
            last += 1
            continue
        if file:
            yield escape(f"{file}:{first}" + (f"-{last}" if last > first else ""))
        file, first = (match[1], int(match[2])) if match else ("", 0)
        last = first
        if location and not match:
            yield escape(location)


def _verdict(place: ProbedPlace) -> str:
    if place.state != "reached":
        return "unbound" if place.state == "unbound" else "not reached"
    if not place.complete:
        return f"reached ({place.count} hit{'s' * (place.count > 1)} taken)"
    return "reached once" if place.count == 1 else f"reached {place.count} times"


def _place(place: ProbedPlace, budget: int) -> str:
    moved = ""
    if place.actual and place.actual.line is not None and f":{place.actual.line}" not in place.location:
        moved = f" (at {parts.place(place.actual.file, place.actual.line)})"
    head = f"{escape(place.location)}{moved} {_verdict(place)}"
    if place.state != "reached":
        return head + (f": {escape(place.message)}" if place.message else "")
    rows = [head]
    for number, hit in enumerate(place.hits):
        room = max(120, (budget - len(head)) // len(place.hits))
        if place.values and place.values[number]:
            rows.append("  " + parts.value_list(place.values[number], None, room))
        if number == 0:
            rows.append(parts.source_lines(hit.source, room // 3))
            if len(hit.stack) > 1:
                rows.append(f"  stack: {parts.stack_line(hit.stack, hit.stack_total, room // 3)}")
        if not (place.values and place.values[number]) or number == 0:
            rows.append(f"  {parts.value_list(hit.locals, hit.locals_total, room // 2)}")
    return "\n".join(row for row in rows if row.strip())
