"""One call's life as text: its head and its end always, between them as many lines, turns and calls as there is room for."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ..model import wording
from ..model.outcomes import Change
from ..model.reports import Failure
from ..model.traces import AnyStep, Life, Loop, Step, TraceReport, Turn
from . import changes, parts
from .escape import escape, shorten, source
from .outcomes import came_up, closed, outcome
from .reports import last_line

WIDTHS = (200, 100, 60, 36, 20)
"""Characters of one value, tried in this order until everything fits."""
ENDING = 900
LEAST_LIFE = 240
"""Characters that a call is worth telling in."""
_SOURCE = 34
"""Columns that a line of source is padded to, so that what it changed stands in a column."""
_LARGE = 24
"""Characters from which on a value is worth telling once."""


def trace(result: TraceReport, budget: int) -> str:
    command = escape(shorten(shlex.join(result.command), 80))
    told = tuple(_errors((result.life,))) if result.life else ()
    ending = outcome(command, result.end, min(budget // 3, ENDING), is_over=True, told=told)
    notes = [f"note: {shorten(escape(each), 300)}" for each in result.notes]
    foot = "\n".join(each for each in (_others(result), *notes, ending) if each)
    last = last_line(result.held, result.unrecorded, told=result.life is not None)
    room = budget - len(foot) - len(last) - 2
    head = _life(result.life, result, max(LEAST_LIFE, room)) if result.life else _nothing(result)
    return closed(f"{head}\n{foot}", last, budget)


def _errors(lives: Iterable[Life]) -> Iterator[Failure]:
    """The errors that these calls ended by, and the calls told line by line in them, each with the line that it came up in."""
    for life in lives:
        if life.end == "raised" and life.result and life.file and life.at:
            yield came_up(life.result, life.function, life.file, life.at)
        yield from _errors(call for step in life.steps for call in _calls_told(step))


def _calls_told(step: AnyStep) -> Iterator[Life]:
    """The calls of a line; of a loop those of its first turn, which alone is told line by line, and those that failed."""
    if isinstance(step, Step):
        yield from step.calls
        return
    first, later = step.told[:1], step.told[1:]
    yield from (call for turn in first for each in turn.steps for call in _calls_told(each))
    yield from (call for turn in later for each in _raising(turn.steps) for call in each.calls)


def _nothing(result: TraceReport) -> str:
    asked = escape(result.asked)
    match result.verdict:
        case "no such function":
            near = f"; nearest: {', '.join(map(escape, result.near))}" if result.near else ""
            return f"{asked}: no such place in your code that was loaded and recorded{near}"
        case "never called":
            at = ", ".join(parts.place(each.file, each.line) for each in result.found[:3])
            ran = f"; called were {', '.join(map(escape, result.near))}" if result.near else ""
            return f"{asked} was never called{f' ({at})' if at else ''}{ran}"
        case "not chosen" if not result.calls:
            return f"{asked}: no call was the one asked for; how many others there were its debugger does not tell"
        case "not chosen":
            times = f"{result.calls:,} time{'s' * (result.calls != 1)}"
            return f"{asked} was called {times}, and none of them was the call asked for"
        case _:
            return f"{asked} was not recorded"


def _others(result: TraceReport) -> str:
    """What is worth knowing of the calls that are not told."""
    if not result.raised or result.raising is None:
        return ""
    times = "one of them," if result.raised == 1 else f"{result.raised:,} of them, first"
    what = shorten(escape(result.raising_what or ""), 160)
    return f"raised by {times} call {result.raising:,}: {what} ({wording.option('call', result.raising)})"


def _life(life: Life, result: TraceReport, room: int) -> str:
    """The whole life in the widest form that fits; where none does, its middle is left out."""
    rows: list[str] = []
    for width in WIDTHS:
        rows = [_head(life, result, width), *_body(life, width, 0), _end(life, width * 2)]
        if sum(map(len, rows)) + len(rows) <= room:
            return "\n".join(rows)
    return _cut(rows, room)


def _cut(rows: Sequence[str], room: int) -> str:
    """Head and end whole, the rest from both sides towards the middle."""
    first, last = shorten(rows[0], room // 3), shorten(rows[-1], room // 3)
    left = room - len(first) - len(last) - 40
    begin: list[str] = []
    finish: list[str] = []
    middle = list(rows[1:-1])
    while middle:
        row = middle[0] if len(begin) <= 2 * len(finish) else middle[-1]
        if len(row) + 1 > left:
            break
        left -= len(row) + 1
        if len(begin) <= 2 * len(finish):
            begin.append(middle.pop(0))
        else:
            finish.insert(0, middle.pop())
    gap = [f"  … {len(middle):,} rows left out ({wording.option('budget', None)})"] if middle else []
    return "\n".join((first, *begin, *gap, *finish, last))


def _head(life: Life, result: TraceReport, width: int) -> str:
    text = f"{_call(life, width)} {parts.place(life.file, life.line)}"
    if life.number:
        text += f", call {life.number:,}" + (f" of {result.calls:,}" if result.calls else "")
    if life.caller:
        text += f", from {escape(life.caller.symbol or '?')} {parts.place(life.caller.file, life.caller.line)}"
    return text + (f", thread {escape(life.thread)}" if life.thread else "")


def _call(life: Life, width: int) -> str:
    given = ", ".join(
        f"{escape(each.name)}{'=' * bool(each.name)}{shorten(escape(each.value), width)}" for each in life.arguments
    )
    return f"{escape(life.function)}({given})"


def _end(life: Life, width: int) -> str:
    said = shorten(escape(life.result or ""), max(width, 80))
    at = f" at line {life.at}" if life.at else ""
    match life.end:
        case "returned":
            return f"= {said}" if life.result is not None else f"returned{at}"
        case "raised":
            return f"! {said}{at}"
        case "left":
            return f"left{at}: by a return or an exception, the steps do not tell which"
        case "suspended":
            after = f", then {said}" if said else ", never resumed"
            return f"suspended{at}{after}" + ("" if "ran on" in said else ": it did not come to its end")
        case "ended":
            return f"the program ended before the step{f' from line {life.at}' if life.at else ''} came to another line"
        case "running":
            return f"not over{at}: the run was"


# What happened in between


def _body(life: Life, width: int, deep: int) -> list[str]:
    numbers = len(str(max((each.line for each in life.steps), default=0)))
    indent = _indent(life.steps)
    rows = [row for step in life.steps for row in _step(step, width, deep, numbers + 2, indent)]
    if life.cut:
        but = "" if life.end == "running" else ", but its end"
        rows.append(f"{'  ' * deep}  … too many {' and '.join(life.cut)}: what followed was not written down{but}")
    return rows


def _indent(steps: Sequence[AnyStep]) -> int:
    """What every line shown of this call is indented by."""
    found = [len(text) - len(text.lstrip()) for text in _sources(steps) if text.strip()]
    return min(found, default=0)


def _sources(steps: Sequence[AnyStep]) -> list[str]:
    texts: list[str] = []
    for step in steps:
        match step:
            case Step():
                texts.append(step.source)
            case Loop():
                texts += [text for turn in step.told[:1] for text in _sources(turn.steps)]
    return texts


def _step(step: AnyStep, width: int, deep: int, numbers: int, indent: int) -> list[str]:
    pad = "  " * deep
    if isinstance(step, Loop):
        return _loop(step, width, deep, numbers, indent)
    told = "  ".join(_change(each, width) for each in step.changes)
    if step.yielded is not None:
        told += f"  {_yielded(step.yielded, width)}"
    if step.raised:
        told += f"  raises {shorten(escape(step.raised), max(width, 80))}"
    text = source(step.source[indent:])
    row = (
        f"{pad}{step.line or '':>{numbers}}  {text:<{_SOURCE}}  {told.strip()}"
        if told
        else f"{pad}{step.line or '':>{numbers}}  {text}"
    )
    return [row.rstrip(), *_calls(step, width, deep, numbers)]


def _calls(step: Step, width: int, deep: int, numbers: int) -> list[str]:
    rows: list[str] = []
    pad = "  " * deep + " " * (numbers + 4)
    for each in step.calls:
        place = f" {parts.place(each.file, each.line)}" if each.file else ""
        rows.append(f"{pad}{_call(each, width)} {_came_to(each, width)}{place}")
        rows += _body(each, width, deep + 3) if each.steps else []
    return rows


def _came_to(life: Life, width: int) -> str:
    """How a call that was made ended, and of a generator what it gave until then."""
    if not life.yielded:
        return _ended(life, width)
    gave = f"yields {parts.yielded(life.yielded, life.yielded_total, width)}"
    only = life.end == "returned" and life.result in parts.NO_RESULT
    return gave if only else f"{gave}, {_ended(life, width)}"


def _yielded(value: str, width: int) -> str:
    """Nothing is told of what is waited for where the call that gave it tells what came of it."""
    return f"yields {shorten(escape(value), width)}" if value else "waits"


def _ended(life: Life, width: int) -> str:
    match life.end:
        case "returned":
            return f"= {shorten(escape(life.result or ''), width)}"
        case "raised":
            return f"! {shorten(escape(life.result or ''), max(width, 60))}"
        case "left":
            return "left"
        case "suspended":
            return "is suspended"
        case "ended" | "running":
            return "did not end"


def _change(change: Change, width: int, *, short: bool = False) -> str:
    """`out 0 -> 2.0`; `short` leaves out what a larger value was before."""
    old, new = change.old, change.new or ""
    if old is None:
        return f"{escape(change.name)}={shorten(escape(new), width)}"
    if change.parts:
        return changes.by_known_parts(change, width, sets="=")
    if short and len(old) > _LARGE:
        return changes.became(change.name, old, new, width)
    if old != new:
        return changes.change(change.name, old, new, width, sets="=")
    return f"{escape(change.name)} changed inside or is another, still {shorten(escape(new), width)}"


# Loops


def _loop(loop: Loop, width: int, deep: int, numbers: int, indent: int) -> list[str]:
    pad = "  " * deep
    turns = "no turn" if not loop.turns else f"{loop.turns:,} turn{'s' * (loop.turns != 1)}"
    ways = f", {loop.ways:,} ways" if loop.ways > 1 else ""
    rows = [f"{pad}{_span(loop):>{numbers}}  loop, {turns}{ways}"]
    for turn in loop.told:
        rows += _turn(turn, loop, width, deep, numbers, indent)
    return rows


def _span(loop: Loop) -> str:
    return f"{loop.line}-{loop.last}" if loop.last != loop.line else str(loop.line)


def _turn(turn: Turn, loop: Loop, width: int, deep: int, numbers: int, indent: int) -> list[str]:
    """The first turn line by line; of the others what they changed, and the lines by which they went another way."""
    if turn.why == "first":
        return [row for step in turn.steps for row in _step(step, width, deep + 1, numbers, indent)]
    told = " ".join(_summary(turn.steps, width))
    pad = "  " * (deep + 1)
    why = ""
    if turn.why == "differs":
        like = "the only one" if turn.like == 1 else f"{turn.like:,} turns"
        lines, first = ([each.line for each in one.steps] for one in (turn, loop.told[0]))
        by = f": lines {shorten(','.join(map(str, lines)), 60)}" if lines != first else ""  # else by what a value is
        why = f"  ({like} like this{by})"
    failed = [row for step in _raising(turn.steps) for row in _calls(step, width, deep + 1, numbers)]
    return [f"{pad}{f'turn {turn.number:,}:':>{numbers}} {told}{why}".rstrip(), *failed]


def _raising(steps: Iterable[AnyStep]) -> Iterator[Step]:
    """The lines of a turn that an error came to out of a call that they made, with that call alone."""
    for step in steps:
        if isinstance(step, Loop):
            yield from (one for turn in step.told for one in _raising(turn.steps))
        elif step.raised and (calls := tuple(each for each in step.calls if each.end == "raised")):
            yield msgspec.structs.replace(step, calls=calls)


def _summary(steps: Sequence[AnyStep], width: int) -> list[str]:
    rows: list[str] = []
    for step in steps:
        match step:
            case Step():
                rows += [_change(each, width, short=True) for each in step.changes]
                rows += [_yielded(step.yielded, width)] if step.yielded is not None else []
                rows += [f"raises {shorten(escape(step.raised), max(width, 60))}"] if step.raised else []
            case Loop():
                rows.append(f"(loop {_span(step)}, {step.turns:,} turn{'s' * (step.turns != 1)})")
    return rows
