"""Which of the calls behind a failure say most about it: those that gave what the failing line holds, and what they asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from ..model.tested import MadeCall, TestFailure

GAVE, NEAR, OTHER, NOTHING = range(4)
"""It gave what the failing line holds; it helped one that did, or is the last of the test; any other; it returned nothing."""
_EMPTY = frozenset({"", "None", "undefined", "null"})
_COMMON = _EMPTY | {"True", "False", "true", "false", "0", "1", "''", '""', "[]", "{}", "()"}
"""What so many calls return that it says nothing of where a value comes from."""
ALIKE = 40
"""Characters by which two texts that were cut are known to be of one value."""


def ranked(calls: Sequence[MadeCall], failure: TestFailure) -> list[MadeCall]:
    """The calls in the order in which they were made, each with how much it tells."""
    held = _held(failure)
    ranks = [_rank(each, held) for each in calls]
    parents = list(_parents(calls))
    last = max((at for at, parent in enumerate(parents) if parent is None), default=None)
    near = [at == last or (parent is not None and ranks[parent] == GAVE) for at, parent in enumerate(parents)]
    ranks = [NEAR if rank == OTHER and near[at] else rank for at, rank in enumerate(ranks)]
    own = list(ranks)
    for at in reversed(range(len(calls))):  # a call is not told without the one that made it
        if (parent := parents[at]) is not None:
            ranks[parent] = min(ranks[parent], ranks[at])
    return [replace(call, rank=ranks[at], between=ranks[at] < own[at]) for at, call in enumerate(calls)]


def best(calls: Sequence[MadeCall], most: int) -> list[MadeCall]:
    """Those that tell most, in the order in which they were made."""
    order = sorted(range(len(calls)), key=lambda at: (calls[at].rank, at))
    return [calls[at] for at in sorted(order[:most])]


def folded(calls: Sequence[MadeCall]) -> list[MadeCall]:
    """Calls that follow each other and are alike, told once."""
    runs = (list(run) for _, run in groupby(calls, key=_likeness))
    return [replace(run[0], count=len(run)) for run in runs]


def _likeness(call: MadeCall) -> tuple[object, ...]:
    return call.function, call.arguments, call.result, call.raised, call.depth


def _held(failure: TestFailure) -> list[str]:
    """The texts of what was compared, and of the variables that the failing line uses."""
    values = [each.value for each in failure.operands]
    if failure.frames:
        values += [each.value for each in failure.frames[0].values if each.name in failure.names]
    return [each for each in values if each not in _COMMON]


def _rank(call: MadeCall, held: Sequence[str]) -> int:
    result = call.result or ""
    if call.raised is None and result in _EMPTY:
        return NOTHING
    return GAVE if result not in _COMMON and any(_alike(result, each) for each in held) else OTHER


def _alike(one: str, other: str) -> bool:
    return one == other or ("…" in one + other and min(len(one), len(other)) > ALIKE and one[:ALIKE] == other[:ALIKE])


def _parents(calls: Sequence[MadeCall]) -> Iterator[int | None]:
    """For each call the number of the one that made it."""
    path: list[int] = []
    for at, each in enumerate(calls):
        while path and calls[path[-1]].depth >= each.depth:
            path.pop()
        yield path[-1] if path else None
        path.append(at)
