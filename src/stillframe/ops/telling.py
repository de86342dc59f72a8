"""Which of the calls behind a failure say most about it: those that gave what the failing line holds, and what they asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from ..model.tested import MadeCall, TestFailure

GAVE, NEAR, OTHER, NOTHING = range(4)
"""It gave what the failing line holds, be it among other things; it gave a part of that or what one that gave it was given,
helped such a one, or is the last of the test; any other; it returned nothing."""
_EMPTY = frozenset({"", "None", "undefined", "null"})
_COMMON = _EMPTY | {"True", "False", "true", "false", "0", "1", "''", '""', "[]", "{}", "()"}
"""What so many calls return that it says nothing of where a value comes from."""
_NAMELESS = ("[Function: (anonymous)]", "[AsyncFunction (anonymous)]", "<function <lambda>")
"""Functions that have no name to know them by."""
ALIKE = 40
"""Characters by which two texts that were cut are known to be of one value."""
TELLING = 12
"""Characters from which on a text that stands in another one is there for more than by chance."""


def ranked(calls: Sequence[MadeCall], failure: TestFailure) -> list[MadeCall]:
    """The calls in the order in which they were made, each with how much it tells."""
    held = _held(failure)
    ranks = [_rank(each, held) for each in calls]
    parents = list(_parents(calls))
    last = max((at for at, parent in enumerate(parents) if parent is None), default=None)
    made = set(_made_of(calls, ranks))
    near = [
        at == last or at in made or (parent is not None and ranks[parent] == GAVE) for at, parent in enumerate(parents)
    ]
    ranks = [NEAR if rank == OTHER and near[at] else rank for at, rank in enumerate(ranks)]
    own = list(ranks)
    for at in reversed(range(len(calls))):  # a call is not told without the one that made it
        if (parent := parents[at]) is not None:
            ranks[parent] = min(ranks[parent], ranks[at])
    return [replace(call, rank=ranks[at], between=ranks[at] < own[at]) for at, call in enumerate(calls)]


def _made_of(calls: Sequence[MadeCall], ranks: Sequence[int]) -> Iterator[int]:
    """The calls that gave what those were given that gave what the failing line holds: of each value the last before it."""
    gave: dict[str, int] = {}
    for at, call in enumerate(calls):
        if ranks[at] == GAVE:
            yield from (gave[each.value] for each in call.arguments if each.value in gave)
        if call.result and not _says_nothing(call.result) and len(call.result) >= TELLING:
            gave[call.result] = at


def best(calls: Sequence[MadeCall], most: int) -> list[MadeCall]:
    """Those that tell most, in the order in which they were made."""
    order = sorted(range(len(calls)), key=lambda at: (calls[at].rank, at))
    return [calls[at] for at in sorted(order[:most])]


def folded(calls: Sequence[MadeCall]) -> list[MadeCall]:
    """Calls that follow each other and are alike, told once."""
    runs = (list(run) for _, run in groupby(calls, key=_likeness))
    return [replace(run[0], count=len(run)) for run in runs]


def _likeness(call: MadeCall) -> tuple[object, ...]:
    return call.function, call.arguments, call.result, call.raised, call.yielded, call.yielded_total, call.depth


def _held(failure: TestFailure) -> list[str]:
    """The texts of what was compared, and of the variables that the failing line uses."""
    values = [each.value for each in failure.operands]
    if failure.frames:
        values += [each.value for each in failure.frames[0].values if each.name in failure.names]
    return [each for each in values if not _says_nothing(each)]


def _rank(call: MadeCall, held: Sequence[str]) -> int:
    given = [call.result or "", *_yielded(call)]
    if call.raised is None and all(each in _EMPTY for each in given):
        return NOTHING
    pairs = [(one, each) for one in given if not _says_nothing(one) for each in held]
    if any(_alike(one, each) or _is_part(each, one) for one, each in pairs):
        return GAVE
    return NEAR if any(_is_part(one, each) for one, each in pairs) else OTHER


def _yielded(call: MadeCall) -> Iterator[str]:
    """What a generator gave, one by one, and all of it as what a list, tuple or set of it looks like."""
    yield from call.yielded
    if call.yielded and len(call.yielded) == call.yielded_total:
        inside = ", ".join(call.yielded)
        yield from (f"[{inside}]", f"({inside})", f"{{{inside}}}")


def _says_nothing(text: str) -> bool:
    """Whether many values have this text, so that two of them are not the same for having it."""
    return text in _COMMON or text.startswith(_NAMELESS)


def _alike(one: str, other: str) -> bool:
    return one == other or ("…" in one + other and min(len(one), len(other)) > ALIKE and one[:ALIKE] == other[:ALIKE])


def _is_part(inner: str, outer: str) -> bool:
    return len(inner) >= TELLING and inner in outer


def _parents(calls: Sequence[MadeCall]) -> Iterator[int | None]:
    """For each call the number of the one that made it."""
    path: list[int] = []
    for at, each in enumerate(calls):
        while path and calls[path[-1]].depth >= each.depth:
            path.pop()
        yield path[-1] if path else None
        path.append(at)
