"""What the record answers, as rows of text: hits, groups, differences, trends, runs and events."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence

import msgspec

from ..model import recorded
from ..model.values import Value
from . import changes
from .escape import escape, quoted, shorten
from .parts import source_lines, value_list

VALUE = 160
SEVERAL, LONG = 3, 40
"""Hits from which on a value that is the same in all of them is told once, and characters from which on that is worth it."""


def clock(time: float) -> str:
    """The day and time of this machine."""
    return datetime.datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M:%S")


def hit_row(hit: recorded.Hit, width: int = 400) -> str:
    ids = " ".join(hit.breakpoints)
    why = f"{ids} hit {hit.count}" if ids and hit.count else ids or hit.reason
    row = f"{hit.hit} {escape(why)} at {escape(hit.place)} in {escape(hit.function)}"
    if hit.exception:
        row += f": {escape(shorten(hit.exception, VALUE))}"
    if hit.locals:
        row += "  " + value_list(hit.locals, hit.locals_total, max(80, width - len(row)))
    return row


def in_each(hits: Sequence[recorded.Hit]) -> tuple[Value, ...]:
    """Long values that every one of several hits has alike: told once, they leave the room to what differs."""
    if len(hits) < SEVERAL:
        return ()
    others = [{each.name: each.value for each in hit.locals} for hit in hits[1:]]
    return tuple(
        each
        for each in hits[0].locals
        if len(each.value) > LONG and all(held.get(each.name) == each.value for held in others)
    )


def _without(hit: recorded.Hit, told: Sequence[Value]) -> recorded.Hit:
    names = {each.name for each in told}
    rest = tuple(each for each in hit.locals if each.name not in names)
    total = hit.locals_total - len(names) if hit.locals_total is not None else None
    return msgspec.structs.replace(hit, locals=rest, locals_total=total)


def _by_session(hits: Sequence[recorded.Hit]) -> list[str]:
    """Hits with the session of each, where they are of several: each of these counts its own."""
    sessions = {hit.session for hit in hits}
    return [(f"[{escape(hit.session)}] " if len(sessions) > 1 else "") + hit_row(hit) for hit in hits]


def hits_rows(result: recorded.Hits) -> list[str]:
    told = in_each(result.hits)
    rows = _by_session([_without(hit, told) for hit in result.hits])
    if result.by is None and not result.total:
        return [f"no hits in {result.run}"]
    for group in result.groups:
        ends = "" if result.counted or group.count == 1 else f"  {group.first} .. {group.last}"
        one = f"  {group.first}" if not result.counted and group.count == 1 else ""
        rows.append(f"{escape(shorten(group.value, VALUE))} {group.count:,}{ends}{one}")
    return rows


def hits_notes(result: recorded.Hits, budget: int) -> list[str]:
    told = in_each(result.hits)
    rows = [f"in each of them: {value_list(told, None, min(600, budget // 3))}"] if told else []
    if result.without:
        rows.append(f"{escape(result.by or '')} is not recorded in {result.without:,} of {hits(result.total)}")
    return rows + [f"note: {escape(each)}" for each in result.notes]


def difference(item: recorded.Difference) -> str:
    if item.old is not None and item.new is not None and not (item.old_type or item.new_type):
        return changes.change(item.name, item.old, item.new, VALUE)
    old = "(not there)" if item.old is None else shorten(escape(item.old), VALUE)
    new = "(not there)" if item.new is None else shorten(escape(item.new), VALUE)
    types = (
        f"  ({escape(item.old_type or '')} -> {escape(item.new_type or '')})" if item.old_type or item.new_type else ""
    )
    return f"{escape(item.name)} {old} -> {new}{types}"


def hit_diff_rows(result: recorded.HitDiff) -> list[str]:
    first, second = result.first, result.second
    head = f"{first.run}.{first.hit} {escape(first.place)} against {second.run}.{second.hit} {escape(second.place)}"
    rows = [head, *(difference(each) for each in result.differences)]
    if not result.differences:
        rows.append("no recorded local differs")
    if result.same:
        rows.append(f"same: {result.same}")
    return [
        *rows,
        *(f"stack {escape(each)}" for each in result.stack),
        *(f"note: {escape(each)}" for each in result.notes),
    ]


def hits(count: int) -> str:
    return f"{count:,} hit{'s' * (count != 1)}"


def number(value: float | None) -> str:
    return "?" if value is None else f"{value:.10g}"


def trend_rows(result: recorded.Trend) -> list[str]:
    rows = []
    if result.numbers:
        over = (
            f"over {hits(result.numbers)}"
            if result.numbers == result.hits
            else f"in {result.numbers:,} of {hits(result.hits)}"
        )
        rows.append(f"{result.spark} {number(result.least)} .. {number(result.most)} {over}")
        rows.append(f"first {number(result.first)}, last {number(result.last)}")
    if result.others:
        values = ", ".join(f"{escape(shorten(each.value, 60))} ({each.count:,})" for each in result.others)
        rows.append(
            ("no numbers: " if result.numbers else f"{escape(result.name)} was no number in {hits(result.hits)}: ")
            + values
        )
    if not result.numbers and not result.others:
        rows.append(f"{escape(result.name)} is not recorded in {hits(result.hits)}")
    if result.plot:
        rows.append(f"drawn: {escape(result.plot)}")
    return rows + [f"note: {escape(each)}" for each in result.notes]


def run_row(run: recorded.RunInfo) -> str:
    words = f"{run.run} {escape(run.session)} {escape(run.state)}"
    if run.seconds is not None:
        words += f" after {run.seconds:g} s"
    words += f", {run.hits:,} {'hit' if run.hits == 1 else 'hits'}, {clock(run.began)}"
    if run.saved:
        words += f", saved as {escape(', '.join(run.saved))}"
    if run.imported:
        words += ", imported"
    if run.parent:
        words += f", child of {run.parent}"
    command = " ".join(run.command)
    return (
        words
        + (f": {escape(shorten(command, 100))}" if command else "")
        + (f"  ({escape(run.root)})" if run.root else "")
    )


def history_rows(result: recorded.History) -> list[str]:
    """The runs; of one run also the fates of its breakpoints."""
    if not result.total:
        return ["no run of this project is recorded"]
    rows = [run_row(each) for each in result.runs]
    return rows + [
        f"{each.breakpoint} {each.state} at {escape(each.place)}, hits {each.hits}" for each in result.breakpoints
    ]


def operation_row(each: recorded.OperationInfo) -> str:
    said = "".join(f" {name}={value}" for name, value in each.args.items())
    when, how = clock(each.began)[11:], f"{escape(each.outcome)} in {each.seconds:.3g} s"
    return f"{when} {each.op}{escape(shorten(said, 120))} -> {how}"


def event_row(event: recorded.RecordedEvent) -> str:
    words = f"{event.id} {event.kind}"
    if event.session:
        words += f" {escape(event.session)}"
    if event.hit:
        words += f" {event.hit}"
    if event.text:
        words += f" {escape(shorten(event.text, VALUE))}"
    if event.data is not None:
        words += f" {quoted(shorten(event.data, VALUE))}"
    return words


def run_diff_rows(result: recorded.RunDiff) -> list[str]:
    first, second = result.first, result.second
    rows = [f"{_run(first)} against {_run(second)}: reached in both {_places(result.both)}"]
    for run, groups in ((first, result.only_first), (second, result.only_second)):
        if groups:
            there = ", ".join(f"{escape(each.value)} ({each.count:,})" for each in groups[:10])
            more = f" and {len(groups) - 10} more" if len(groups) > 10 else ""
            rows.append(f"only in {_run(run)}: {there}{more}")
    for at, each in enumerate(result.different):
        rows += place_diff_rows(each, "first difference: " if not at else "")
    if not (result.only_first or result.only_second or result.different):
        rows.append("no difference in what is recorded")
    return [*rows, *(f"note: {escape(each)}" for each in result.notes)]


def _run(run: recorded.RunInfo) -> str:
    return escape(run.saved[0]) if run.saved else f"{run.run} ({escape(run.session)})"


def _places(count: int) -> str:
    return f"{count:,} {'place' if count == 1 else 'places'}"


def place_diff_rows(found: recorded.PlaceDiff, head: str) -> list[str]:
    where = f"{escape(found.place)} in {escape(found.function)}" + (f" (was {escape(found.was)})" if found.was else "")
    old, new = found.hits
    times = f", {old:,} -> {new:,} hits" if old != new else ""
    if found.first is None:
        return [f"{head}{where}{times}"]
    changes = ", ".join(difference(each) for each in found.differences) or "a value beyond what is kept"
    return [f"{head}{where}{times}, hit {found.first:,}: {changes}"]


def crossed_rows(result: recorded.Crossed) -> list[str]:
    rows = [f"{escape(result.symbol)}: {hits(result.total)}" + (f", {escape(result.file)}" if result.file else "")]
    if result.source:
        rows += source_lines(result.source, sys.maxsize).split("\n")
    rows += [f"{escape(each.value)} {each.count:,}  {each.first} .. {each.last}" for each in result.places]
    rows += _by_session(result.hits)
    rows += [escape(each) for each in result.disassembly]
    return rows + [f"note: {escape(each)}" for each in result.notes]
