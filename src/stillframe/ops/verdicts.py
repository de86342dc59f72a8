"""The verdicts of a probe whose every hit was a stop of a debugger: what its expressions were, and whether the claims held."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..model.outcomes import Stop
from ..model.values import Value
from ..model.views import Claim, Gathered, ProbedPlace
from .counting import SHOWN

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
"""A number as debuggers write it."""
_TRUE = {"true": True, "false": False, "none": False, "nil": False, "null": False, "nullptr": False}


def by_stops(place: ProbedPlace, evals: tuple[str, ...], expects: tuple[str, ...]) -> ProbedPlace:
    """The verdicts of a place whose every hit was a stop of a debugger, with its values for expressions and claims."""
    if place.state != "reached":
        return place
    claims = tuple(_by_hits(text, len(evals) + index, place) for index, text in enumerate(expects))
    values = tuple(each[: len(evals)] for each in place.values)
    gathered = tuple(_by_values(text, [each[index] for each in values]) for index, text in enumerate(evals))
    return msgspec.structs.replace(place, claims=claims, values=values, gathered=gathered)


def _by_values(expression: str, told: Sequence[Value]) -> Gathered:
    """What one expression was at all these stops."""
    fine = [each for each in told if not each.error]
    numbers = [each.value.strip() for each in fine if _NUMBER.fullmatch(each.value.strip())]
    seen = list(dict.fromkeys((each.type, each.value) for each in fine))
    failed = next((number for number, each in enumerate(told, start=1) if each.error), None)
    return Gathered(
        expression=expression,
        distinct=len(seen),
        cut=any(each.truncated for each in fine),
        least=min(numbers, key=float, default=None),
        most=max(numbers, key=float, default=None),
        others=len(told) - len(numbers),
        types=tuple(dict.fromkeys(kind for kind, text in seen if not _NUMBER.fullmatch(text.strip()))),
        values=tuple(text for _, text in seen[:SHOWN]),
        error=told[failed - 1].value if failed else None,
        error_hit=failed,
    )


def _by_hits(expression: str, at: int, place: ProbedPlace) -> Claim:
    held = violated = errors = 0
    counter: Stop | None = None
    failed: tuple[int, str] | None = None
    for number, (stop, values) in enumerate(zip(place.hits, place.values, strict=False), start=1):
        truth = _truth(values[at])
        if truth is None:
            errors += 1
            failed = failed or (number, values[at].value)
        elif truth:
            held += 1
        else:
            violated += 1
            counter = counter or msgspec.structs.replace(stop, hit=number)
    return Claim(
        expression=expression, held=held, violated=violated, errors=errors, counter=counter,
        error=failed[1] if failed else None, error_hit=failed[0] if failed else None,
    )  # fmt: skip


def _truth(value: Value) -> bool | None:
    """Whether a value that a debugger tells is true; None where it is none that could be."""
    if value.error:
        return None
    text = value.value.strip().lower()
    if text in _TRUE:
        return _TRUE[text]
    try:
        return float(text) != 0
    except ValueError:
        return None
