"""The report of a probe as text: the verdict of every place, however many, then as much evidence as there is room for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from ..model.reports import Failure
from ..model.views import Claim, Gathered, ProbedPlace, ProbeReport
from . import parts
from .escape import escape, shorten
from .outcomes import came_up, closed, outcome
from .reports import ending as ended
from .reports import last_line
from .sinces import rows as since_rows

VALUES = 300
INLINE = 140
"""Characters of the values that a claim names, in its own line."""
PLACES = 3
"""Further places of one name that are told."""
FEW = 6
"""Distinct values that are all told."""
LEAST = 160
"""Characters that the evidence of one place is worth showing in."""
_LINE = re.compile(r"(.*):(\d+)")


def report(result: ProbeReport, budget: int) -> str:
    command = escape(shorten(shlex.join(result.command), 80))
    told = tuple(_errors(result.places))
    ending = outcome(command, result.end, min(budget // 3, 1200), is_over=True, told=told)
    if result.since:
        ending = "\n".join([*since_rows(result.since, ended), ending])
    for note in result.notes:
        ending = f"note: {shorten(escape(note), max(60, min(300, budget // 8)))}\n{ending}"
    seen = any(each.count for each in result.places)
    only_counted = result.how and not any(each.gathered for each in result.places)
    last = last_line(result.held, result.unrecorded or ("counted" if only_counted else None), told=seen)
    places = _places(result.places, budget - len(ending) - len(last) - 2)
    return closed(f"{places}\n{ending}", last, budget)


def _errors(places: Iterable[ProbedPlace]) -> Iterator[Failure]:
    """What came of expressions and claims that failed, as the line that they were asked at may have done as well."""
    for place in places:
        if (at := place.actual) is not None and at.file and at.line:
            for what in (*(each.error for each in place.gathered), *(each.error for each in place.claims)):
                if what:
                    yield came_up(what, at.symbol or "", at.file, at.line)


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
    return "\n".join([*(fitted[row] for row in rows), *_claims(places, room)])


def _claims(places: Sequence[ProbedPlace], room: int) -> Iterator[str]:
    """How each claim stood, the violated ones first, as far as there is room."""
    stood = [(place.location, each) for place in places for each in place.claims]
    for location, each in sorted(stood, key=lambda one: not one[1].violated):
        row = f"  {_claim(each)}" if len(places) == 1 else f"  {escape(location)} {_claim(each)}"
        if len(row) < room:
            room -= len(row) + 1
            yield row


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
    least = "at least " if place.at_least else ""
    return "reached once" if place.count == 1 else f"reached {least}{place.count:,} times"


def _place(place: ProbedPlace, budget: int) -> str:
    moved = ""
    if place.actual and place.actual.line is not None and f":{place.actual.line}" not in place.location:
        spots = [parts.place(each.file, each.line) for each in (place.actual, *place.also[:PLACES])]
        more = f" and {len(place.also) - PLACES:,} more" if len(place.also) > PLACES else ""
        moved = f" (at {', '.join(spots)}{more})"
    head = f"{escape(place.location)}{moved} {_verdict(place)}"
    if place.state != "reached":
        return head + (f": {escape(place.message)}" if place.message else "")
    if place.gathered or place.claims:
        return _counted(place, head, budget)
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


# Where every hit was counted


def _counted(place: ProbedPlace, head: str, budget: int) -> str:
    """What the expressions were and how the claims stood, each in a line; then the evidence of one hit."""
    rows = [head, *(f"  {_values(each)}" for each in place.gathered), *(f"  {_claim(each)}" for each in place.claims)]
    if place.message:
        rows.append(f"  {escape(place.message)}")
    if place.values and place.values[0] and not place.gathered:
        rows.append("  first: " + parts.value_list(place.values[0], None, VALUES))
    shown = next((each.counter for each in place.claims if each.counter), place.hits[0] if place.hits else None)
    room = budget - sum(map(len, rows)) - len(rows)
    if shown is not None and room > LEAST:
        used = [each.expression for each in place.claims if each.counter is shown]
        words = " ".join([*used, *(each.text for each in shown.source[-1:])])
        held = sorted(shown.locals, key=lambda value: value.name not in re.findall(r"\w+", words))
        rows.append(f"  hit {shown.hit:,}:" if shown.hit else "  at that hit:")
        rows.append(parts.source_lines(shown.source, room // 3))
        rows.append(f"  {parts.value_list(held, shown.locals_total, room // 2)}")
        if len(shown.stack) > 1:
            rows.append(f"  stack: {parts.stack_line(shown.stack, shown.stack_total, room // 4)}")
    return "\n".join(row for row in rows if row.strip())


def _values(found: Gathered) -> str:
    """`price: 212 values, 0.5 to 99.0, and 1 str`."""
    told: list[str] = []
    if found.distinct:
        bound = "more than " if found.more else "at least " if found.cut else ""
        first = f" in the first {found.looked:,} hits" if found.looked else ""
        told.append(f"{bound}{found.distinct:,} value{'s' * (found.distinct != 1)}{first}")
    if found.least is not None:
        told.append(found.least if found.least == found.most else f"{found.least} to {found.most}")
    if found.types:
        many = f"{found.others:,} " if found.least is not None and len(found.types) == 1 and not found.error else ""
        told.append(("and " if found.least is not None else "") + many + ", ".join(map(escape, found.types[:4])))
    if found.distinct and not found.more and found.distinct <= FEW and (found.distinct > 1 or found.least is None):
        each_room = max(60, VALUES // max(len(found.values), 1))
        told.append("(" + ", ".join(shorten(escape(each), each_room) for each in found.values) + ")")
    if found.error:
        told.append(f"failed first at hit {found.error_hit:,}: {shorten(escape(found.error), 120)}")
    return f"{escape(shorten(found.expression, 80))}: {' '.join(told[:1])}{''.join(_joined(each) for each in told[1:])}"


def _joined(text: str) -> str:
    return f" {text}" if text.startswith("(") else f", {text}"


def _claim(claim: Claim) -> str:
    """`price >= 0: held 416 times, error 1 (TypeError: … at hit 417)`."""
    total = claim.held + claim.violated + claim.errors
    told: list[str] = []
    if claim.violated:
        told.append(f"violated {claim.violated:,} of {total:,}")
        if claim.counter and claim.counter.hit:
            used = set(re.findall(r"\w+", claim.expression))
            values = [each for each in claim.counter.locals if each.name in used]
            shown = f": {parts.value_list(values, None, INLINE)}" if values else ""
            told.append(f"first at hit {claim.counter.hit:,}{shown}")
    elif claim.held:
        told.append(f"held {claim.held:,} time{'s' * (claim.held != 1)}")
    if claim.errors:
        told.append(
            f"error {claim.errors:,} ({shorten(escape(claim.error or ''), 120)}, at hit {claim.error_hit or 0:,})"
        )
    return f"{escape(shorten(claim.expression, 100))}: {', '.join(told) or 'never checked'}"
