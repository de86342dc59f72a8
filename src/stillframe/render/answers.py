"""The record's answers take their place among the texts of replies, each within the caller's budget."""

from __future__ import annotations

from ..model import recorded as model
from . import keeping, recorded
from .escape import escape
from .text import clipped, fitting, show


@show.register
def _hits(result: model.Hits, name: str, budget: int) -> str:
    notes = "".join(f"\n{row}" for row in recorded.hits_notes(result, budget))
    total = result.total if result.by is None else result.groups_total
    start = result.start if total else 0
    return clipped(recorded.hits_rows(result), budget - len(notes), total=total, start=start) + notes


@show.register
def _hit_diff(result: model.HitDiff, name: str, budget: int) -> str:
    return clipped(recorded.hit_diff_rows(result), budget)


@show.register
def _trend(result: model.Trend, name: str, budget: int) -> str:
    return clipped(recorded.trend_rows(result), budget)


@show.register
def _history(result: model.History, name: str, budget: int) -> str:
    paused = f"\nrecording is paused: {result.problem}" if result.problem else ""
    paused += "\nrecording is turned off here (record = false)" if result.unrecorded == "off" else ""
    room = budget - len(paused)
    rows = recorded.history_rows(result)
    if result.operations_total is None:
        return clipped(rows, room, total=result.total, start=result.start if result.total else 0) + paused
    head = clipped(rows, room)
    if not result.operations_total or len(head) >= room:
        return head + paused
    done = [recorded.operation_row(each) for each in result.operations]
    told = clipped(done, room - len(head) - 1, total=result.operations_total, start=result.start)
    return f"{head}\n{told}{paused}"


@show.register
def _events(result: model.Events, name: str, budget: int) -> str:
    last = "".join(f"note: {escape(each)}\n" for each in result.notes) + "cursor "
    if not result.events:
        return f"nothing new\n{last}{result.cursor}"
    room = budget - len(last) - len(result.cursor) - 1
    rows = {each.id: recorded.event_row(each) for each in result.events}
    shown = result.first(fitting([rows[id] for id in sorted(rows)], room, result.total))
    told = clipped([rows[each.id] for each in shown.events], room, total=result.total)
    return f"{told}\n{last}{shown.cursor}"


@show.register
def _run_diff(result: model.RunDiff, name: str, budget: int) -> str:
    return clipped(recorded.run_diff_rows(result), budget)


@show.register
def _crossed(result: model.Crossed, name: str, budget: int) -> str:
    return clipped(recorded.crossed_rows(result), budget)


@show.register
def _saved(result: model.Saved, name: str, budget: int) -> str:
    return keeping.saved(result)


@show.register
def _exported(result: model.Exported, name: str, budget: int) -> str:
    return keeping.exported(result)


@show.register
def _imported(result: model.Imported, name: str, budget: int) -> str:
    return clipped(keeping.imported(result), budget)


@show.register
def _pruned(result: model.Pruned, name: str, budget: int) -> str:
    return keeping.pruned(result)
