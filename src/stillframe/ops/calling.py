"""The calls of a test in runs that record themselves, up to where one of them failed: as walks, which can be compared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from ..adapters.recorders import Recording
from ..model.outcomes import AnyOutcome, Stop
from ..model.recorder import Ask, Call, Line, Raised, Returned, Text, Threw, TraceAsk, Where, Yielded
from ..model.reports import Repeated, ReportFrame
from ..model.tested import TestFailure
from ..model.values import Frame, Value
from .made import is_same
from .repeating import NONE, both_ways, compared
from .walking import MOST_HITS, Walk

DEPTH = 7
"""How far below the runner's own call the lines of calls are recorded, by which is known where a run failed."""
MOST_LINES, MOST_CALLS = 200_000, 5_000

Function = tuple[str, str, int]
"""Name, file, and the line where it begins."""
Place = tuple[Function, str]
"""A function, and what of its calls is looked at: how they begin, what they yield, how they end."""
Told = Call | Line | Raised | Returned | Threw | Yielded
Show = Callable[[str], str | None]


class Point(msgspec.Struct, frozen=True):
    """Where a run failed: a line of a function, and the how many-th time that it ran."""

    function: Function
    line: int
    times: int


class Event(msgspec.Struct, frozen=True):
    """A call begins, yields or ends, with the values of that moment."""

    place: Place
    line: int
    values: tuple[Text, ...]


class Calls(msgspec.Struct, frozen=True):
    """The recorded calls of one run, in the order in which things happened."""

    said: tuple[Told, ...]
    end: AnyOutcome
    passed: bool | None
    """None of a run in which the test did not come to an end."""
    failed_at: Point | None = None

    @property
    def number(self) -> int:
        """How many calls of the user's there are below the one that was asked for."""
        return sum(isinstance(each, Call) and _is_told(each) for each in self.said)


def calls_asked(frames: Iterable[ReportFrame], around: tuple[Where, str] | None, cwd: str) -> Ask | None:
    """What to record: the runner's own call of the test, else the outermost call of the user's that failed."""
    where, condition = around or (None, None)
    if where is None:
        own = [each for each in frames if each.file and each.line and not each.library]
        if not own:
            return None
        where = Where(file=str(Path(cwd, own[-1].file or "").resolve()), line=own[-1].line)
    trace = TraceAsk(
        where=where, call=None if condition else 1, condition=condition, depth=DEPTH, most_lines=MOST_LINES,
        most_calls=MOST_CALLS,
    )  # fmt: skip
    return Ask(trace=trace)


def calls_of(recordings: Iterable[Recording], end: AnyOutcome, failure: TestFailure, *, passed: bool | None) -> Calls:
    """What was recorded; nothing where the call was never come to."""
    said = next((told for each in recordings if (told := _told(each))), ())
    return Calls(said, end, passed, _failed_at(said, failure) if passed is False else None)


async def by_calls(
    record: Callable[[], Awaitable[Calls]], repeated: Repeated, what: str, show: Show, *, own: int
) -> Repeated | None:
    """Look for the first call that is otherwise in a failing run; None where there are no calls but those (`own`) that there
    always are."""
    first = await record()
    if first.number <= own:
        return None
    runs = await both_ways(record, lambda each: each.passed, first)
    ended = [each for each in runs if each.passed is not None]
    how = f"recorded with the calls that {what} made, {sum(each.number for each in ended):,} in all"
    return compared(repeated, list(walks(ended, show)), how)


def better(held: Repeated, recorded: Repeated | None) -> Repeated:
    """Of what was seen at lines and in calls, that in which there is a difference; else both, as what was looked at."""
    if recorded is None or says_why(held):
        return held
    if recorded.difference is not None or not held.compared:
        return recorded
    if held.difference is not None:
        return held
    said = f"{held.compared}; in others: {recorded.compared}"
    if held.compared.startswith(NONE):
        said = f"{held.compared}; nor in others: {(recorded.compared or '').removeprefix(f'{NONE}; ')}"
    return msgspec.structs.replace(held, varies=recorded.varies or held.varies, compared=said)


def says_why(held: Repeated) -> bool:
    """Whether a value was seen that differs: that a line was come to, as one is that raises an error, may be all there is."""
    return held.difference is not None and bool(held.difference.differences)


def walks(runs: Iterable[Calls], show: Show) -> Iterator[Walk]:
    """The runs as walks from call to call, each to where the first failing one failed: what follows is a result of that."""
    every = list(runs)
    point = next((each.failed_at for each in every if each.failed_at is not None), None)
    numbers: dict[Place, int] = {}
    for run in every:
        events = list(_until(run.said, point))
        seen = tuple((numbers.setdefault(each.place, len(numbers)), _stop(each, show)) for each in events[:MOST_HITS])
        # Without a point to compare up to, a number of calls says nothing: one of the runs was ended by its failure.
        yield Walk(seen, run.end, cut=point is None or len(events) > MOST_HITS, passed=run.passed)


def _told(recording: Recording) -> tuple[Told, ...]:
    return tuple(each for each in recording.said if isinstance(each, Told))


def _is_told(call: Call) -> bool:
    """Not that which was asked for, nor code that no file holds: what a library made as it ran."""
    return call.parent != 0 and call.file.startswith("/")


def _function(call: Call) -> Function:
    return call.function, call.file, call.line


def _failed_at(said: Iterable[Told], failure: TestFailure) -> Point | None:
    """The line at which the failure first came up."""
    calls: dict[int, Call] = {}
    at: dict[int, int] = {}
    times: dict[tuple[Function, int], int] = {}
    for each in said:
        match each:
            case Call():
                calls[each.id] = each
            case Line(id, line) if id in calls:
                at[id] = line
                here = _function(calls[id]), line
                times[here] = times.get(here, 0) + 1
            case Raised(id, exception) | Threw(id, exception) if id in at and is_same(exception, failure):
                here = _function(calls[id]), at[id]
                return Point(*here, times[here])
    return None


def _until(said: Iterable[Told], point: Point | None) -> Iterator[Event]:
    """What happened until that line was done for that time."""
    calls: dict[int, Call] = {}
    at: dict[int, int] = {}
    left, last = point.times if point else 0, None
    for each in said:
        if isinstance(each, Call):
            calls[each.id] = each
            if _is_told(each):
                yield Event((_function(each), "begins"), each.line, each.arguments)
            continue
        id = each.call
        if id == last and not isinstance(each, Raised | Yielded):
            return  # that line is done: but for one that waits for others, or was thrown at
        if id not in calls:
            continue
        function = _function(calls[id])
        if isinstance(each, Line):
            at[id] = each.line
            if point and (function, each.line) == (point.function, point.line):
                left -= 1
                last = id if left == 0 else last
        elif _is_told(calls[id]) and (told := _happened(each)) is not None:
            yield Event((function, told[0]), at.get(id, function[2]), (told[1],))


def _happened(said: Told) -> tuple[str, Text] | None:
    match said:
        case Yielded(_, value) if value:
            return "yields", ("yielded", value)
        case Returned(_, value):
            return "ends", ("returned", value)
        case Threw(_, exception):
            return "ends", ("raised", exception)
        case _:
            return None


def _stop(event: Event, show: Show) -> Stop:
    (function, file, _), what = event.place
    values = tuple(Value(name=name, value=text) for name, text in event.values)
    return Stop(reason=what, frame=Frame(function=function, file=show(file), line=event.line), locals=values)
