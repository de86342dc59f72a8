"""The same command again and again: how often it fails and in how many kinds, and what a failing run first does otherwise.

The first difference is looked for in further runs that are held at the places of the failure; since that may change how often it
fails, the rate of those runs is told, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from ..errors import UsageError
from ..model.outcomes import AnyOutcome, Exited, Stop
from ..model.recorded import Difference
from ..model.reports import FailureKind, Repeated
from ..model.sinces import Divergence
from ..model.values import Value
from ..record.comparing import differences
from ..registry import Param
from .walking import Walk, divergence, first_difference

Report = TypeVar("Report")
Seen = TypeVar("Seen")

MOST_RUNS = 1000
MOST_WALKS, PASSES = 12, 2
"""Further runs in which a difference is looked for, and how many of them are to pass: what these differ in is no news."""
NONE = "no difference there that passing runs do not have among themselves"
Times = Annotated[int, Param("run it this often, and tell how often it failed and in how many ways", metavar="N")]
UntilFail = Annotated[bool, Param("with --repeat: stop at the first run that fails")]


class Attempt(msgspec.Struct, Generic[Report], frozen=True):
    """One run: its report, and what kind of failure it was; None for a run that passed."""

    report: Report
    kind: str | None


def check(times: int, until_fail: bool) -> None:
    """What cannot be is said before anything runs."""
    if not 1 <= times <= MOST_RUNS:
        raise UsageError(f"--repeat takes a number from 1 to {MOST_RUNS:,}")
    if until_fail and times == 1:
        raise UsageError("--until-fail goes with --repeat N: how often may it be tried?")


async def repeat(
    once: Callable[[], Awaitable[Attempt[Report]]], times: int, *, until_fail: bool
) -> tuple[Report, Repeated]:
    """Run it so often; the report of the first run that failed, or of the last one, and how often it did."""
    kinds: Counter[str] = Counter()
    told: Report | None = None
    first: int | None = None
    runs = 0
    while runs < times and not (until_fail and first is not None):
        attempt = await once()
        runs += 1
        if attempt.kind is not None:
            kinds[attempt.kind] += 1
        if attempt.kind is not None and first is None:
            told, first = attempt.report, runs
        elif first is None:
            told = attempt.report
    assert told is not None
    found = tuple(FailureKind(what=what, count=count) for what, count in kinds.most_common())
    return told, Repeated(runs=runs, failed=sum(kinds.values()), asked=times, kinds=found, first=first)


async def compare(
    walk: Callable[[], Awaitable[Walk]], repeated: Repeated, places: int, failed_in: int | None
) -> Repeated:
    """Look for the first thing that a failing run does otherwise than a passing one, in runs held where it failed; one of the
    places is where the outermost of its calls was then."""
    if not places or not repeated.failed:
        return repeated
    if none := nothing_to_compare(repeated):
        return none
    seen = await both_ways(walk, lambda each: ended_well(each.end))
    return compared(repeated, seen, f"held at {places} place{'s' * (places != 1)} of the failure", failed_in)


def nothing_to_compare(repeated: Repeated) -> Repeated | None:
    if repeated.failed == repeated.runs and repeated.runs > 1:
        return msgspec.structs.replace(repeated, compared="every run failed, so that there is none to compare with")
    return None


async def both_ways(
    run: Callable[[], Awaitable[Seen]], passed: Callable[[Seen], bool | None], *before: Seen
) -> list[Seen]:
    """Runs until there are enough that passed and one that failed, or until there were many."""
    seen = list(before)
    while len(seen) < MOST_WALKS:
        ends = [passed(each) for each in seen]
        if ends.count(True) >= PASSES and False in ends:
            break
        seen.append(await run())
    return seen


def compared(repeated: Repeated, seen: Sequence[Walk], how: str, failed_in: int | None = None) -> Repeated:
    """What the first failing run did otherwise than the first passing one, but for what passing ones differ in."""
    passing = [each for each in seen if _passed(each)]
    failing = [each for each in seen if not _passed(each)]
    rate = f"{len(failing)} of {len(seen)} further runs failed, {how}"
    if not passing or not failing:
        missing = "none of them failed" if passing else "none of them passed"
        return msgspec.structs.replace(repeated, compared=f"no difference to tell: {missing}; {rate}")
    noise = _noise(passing)
    found = first_difference(_without(passing[0], noise), _without(failing[0], noise), failed_in=failed_in)
    if found is not None:
        return msgspec.structs.replace(repeated, difference=found, compared=rate)
    return msgspec.structs.replace(repeated, varies=_varies(passing, failing[0], noise), compared=f"{NONE}; {rate}")


def _passed(walked: Walk) -> bool:
    return ended_well(walked.end) if walked.passed is None else walked.passed


def _noise(passing: Sequence[Walk]) -> set[tuple[int, str]]:
    """Names, by place, whose values differ from one passing run to the next, as those of times and counters do."""
    first, found = passing[0], set[tuple[int, str]]()
    for other in passing[1:]:
        for place in {where for where, _ in first.seen}:
            for (_, one), (_, another) in zip(first.at(place), other.at(place), strict=False):
                differ, _ = differences(one.locals, another.locals)
                found |= {(place, each.name) for each in differ}
    return found


def _varies(passing: Sequence[Walk], failing: Walk, noise: set[tuple[int, str]]) -> Divergence | None:
    """The last value of the failing run that is another one in every run, and that none of the passing ones had."""
    for place, stop in reversed(failing.seen):
        hits = [each for _, each in failing.at(place)]
        at = next(number for number, each in enumerate(hits) if each is stop)
        others = [there[at][1] for each in passing if len(there := each.at(place)) > at]
        for value in reversed(stop.locals):
            had = [found for each in others if (found := _named(each, value.name)) is not None]
            if (place, value.name) in noise and had and all(differences((each,), (value,))[0] for each in had):
                old = " or ".join(dict.fromkeys(each.value for each in had))
                counts = len(passing[0].at(place)), len(hits)
                return divergence(stop, at + 1, counts, (Difference(name=value.name, old=old, new=value.value),))
    return None


def _named(stop: Stop, name: str) -> Value | None:
    return next((each for each in stop.locals if each.name == name), None)


def _without(walked: Walk, noise: set[tuple[int, str]]) -> Walk:
    seen = tuple(
        (
            place,
            msgspec.structs.replace(
                stop, locals=tuple(each for each in stop.locals if (place, each.name) not in noise)
            ),
        )
        for place, stop in walked.seen
    )
    return replace(walked, seen=seen)


def ended_well(end: AnyOutcome) -> bool:
    return isinstance(end, Exited) and end.exit_code == 0
