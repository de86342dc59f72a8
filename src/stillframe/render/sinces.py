"""An earlier revision beside the present one, as text."""

from __future__ import annotations

from collections.abc import Callable

from ..model.outcomes import AnyOutcome
from ..model.recorded import Difference
from ..model.sinces import Divergence, Since
from . import changes, parts
from .escape import escape, shorten

VALUE = 100
SHOWN = 4


def rows(result: Since, ending: Callable[[AnyOutcome], str]) -> list[str]:
    named = escape(result.revision) + (f" ({result.commit})" if not result.commit.startswith(result.revision) else "")
    told = [f"since {named}: {escape(result.then)}" + (f"; {ending(result.end)}" if result.end else "")]
    if result.difference is not None:
        told.append(f"first difference: {divergence(result.difference)}")
    elif result.places and not any(result.hits):
        told.append("nothing could be compared: runs of both under a debugger came to none of these lines")
    elif result.places:
        hits = (
            f"{result.hits[1]:,} hit{'s' * (result.hits[1] != 1)} of {result.places} place{'s' * (result.places != 1)}"
        )
        told.append(f"no difference in what was looked at: {hits}, values and all")
    return told + [f"note: {escape(each)}" for each in result.notes]


def divergence(found: Divergence, runs: tuple[str, str] = ("then", "now")) -> str:
    """`shop.py:14 in total, hit 2: price 12.5 -> '12.50'`; `runs` are words for the two that are compared."""
    head = f"{parts.place(found.file, found.line)} in {escape(found.function)}, hit {found.hit}"
    if not found.differences:
        then, now = found.hits
        often = "once" if then == 1 else f"{then:,} times"
        return f"{head}: reached {often} {runs[0]}, {now:,} {runs[1]}"
    words = [_difference(each) for each in found.differences[:SHOWN]]
    more = len(found.differences) - SHOWN
    return f"{head}: {', '.join(words)}" + (f" and {more} more" if more > 0 else "")


def _difference(each: Difference) -> str:
    told = changes.by_part(each.name, each.old or "", each.new or "", VALUE)
    return told or f"{escape(each.name)} {_text(each.old, each.old_type)} -> {_text(each.new, each.new_type)}"


def _text(value: str | None, type: str | None) -> str:
    if value is None:
        return "(none)"
    return shorten(escape(value), VALUE) + (f" ({escape(type)})" if type and not value.startswith(("'", '"')) else "")
