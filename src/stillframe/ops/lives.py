"""One call's life out of what a recorder wrote: each line with what it changed, the calls that it made, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ..model.outcomes import Change, Spot
from ..model.recorder import (
    AnySaid,
    Beside,
    Call,
    Calls,
    Changed,
    Closed,
    Defined,
    Found,
    Limited,
    Line,
    Missing,
    Note,
    Raised,
    Raising,
    Resumed,
    Returned,
    Threw,
    Unwritten,
    Yielded,
)  # fmt: skip
from ..model.traces import Life, Step
from ..model.values import Part, Value
from .folding import Fold

Source = Callable[[str, int], str]
"""The text of a line of a file."""
GIVEN = 8
"""Values of a generator that are kept: so many of the first, and the last."""


class Gave(msgspec.Struct):
    """What a generator gave by now: the first values and the last, and how many."""

    values: list[str] = msgspec.field(default_factory=list[str])
    total: int = 0

    def take(self, value: str) -> None:
        """What a coroutine waits with is no value."""
        if not value:
            return
        self.total += 1
        if len(self.values) > GIVEN:
            self.values[-1] = value
        else:
            self.values.append(value)


class StepNow(msgspec.Struct):
    """The line that a call is in."""

    line: int
    calls: list[LifeNow] = msgspec.field(default_factory=list["LifeNow"])
    raised: str | None = None
    yielded: str | None = None
    changes: dict[str, Changed] = msgspec.field(default_factory=dict[str, Changed])
    """What it had changed when it last gave a value or waited."""


class LifeNow:
    """A call as far as it was told by now."""

    def __init__(
        self, call: Call, loops: Sequence[tuple[int, int]], show: Callable[[str], str], source: Source
    ) -> None:
        self._call = call
        self._show = show
        self._source = source
        self._fold = Fold(loops)
        self._texts = dict(call.arguments)
        self._step: StepNow | None = None
        self._waits = self._closed = False
        self._waits_at: int | None = None
        """The line that a generator last gave a value at."""
        self._ran_on: int | None = None
        """The last line that ran as it was closed, in a `finally`."""
        self._gave = Gave()
        self._end: Returned | Threw | None = None
        self._raised: Step | None = None
        self._cut: list[str] = []
        self._lines = 0

    def line(self, said: Line) -> None:
        self._over(said.changes)
        self._step = StepNow(said.line)
        self._lines += 1

    def called(self, callee: LifeNow) -> None:
        if self._step is None:
            self._step = StepNow(0)
        self._step.calls.append(callee)

    def raised(self, said: Raised) -> None:
        if self._step is not None:
            self._step.raised = said.exception
            self._raised = Step(line=self._step.line, raised=said.exception)

    def yielded(self, said: Yielded) -> None:
        self._waits = True
        self._gave.take(said.value)
        if self._step is not None and "lines" not in self._cut:  # else it came of a line that is not told
            self._waits_at = self._step.line
            self._step.yielded = said.value
            self._step.changes.update(_by_name(said.changes))

    def resumed(self) -> None:
        self._waits = False

    def cut(self, what: str) -> None:
        self._cut.append(what)

    def closed(self) -> None:
        self._waits, self._closed = True, True
        if self._step is not None and self._waits_at and self._step.line != self._waits_at:
            self._ran_on = self._step.line

    def ended(self, said: Returned | Threw) -> None:
        self._end = said
        self._over(said.changes, last=True)

    def _over(self, changes: Iterable[Changed], *, last: bool = False) -> None:
        """The line at hand has run."""
        step = self._step
        if step is None:
            return
        told = tuple(self._change(each) for each in {**step.changes, **_by_name(changes)}.values())
        if not last:
            self._step = None
        self._fold.take(
            Step(
                line=step.line,
                source=self._source(self._call.file, step.line) if step.line else "",
                changes=told,
                calls=tuple(each.life() for each in step.calls),
                raised=step.raised,
                yielded=step.yielded,
            )
        )

    def _change(self, said: Changed) -> Change:
        before = self._texts.get(said.name)
        self._texts[said.name] = said.text
        parts = tuple(Part(path=path, value=text) for path, text in said.parts)
        return Change(name=said.name, old=before, new=said.text, parts=parts)

    def life(self) -> Life:
        if self._end is None:
            self._over((), last=True)
        call, end = self._call, self._end
        caller = (
            Spot(file=self._show(call.caller[1]), line=call.caller[2], symbol=call.caller[0]) if call.caller else None
        )
        return Life(
            function=call.function,
            file=self._show(call.file) if call.file else None,
            line=call.line or None,
            number=call.number or None,
            caller=caller,
            thread=call.thread or None,
            arguments=tuple(Value(name=name, value=text) for name, text in call.arguments),
            steps=self._fold.steps(),
            lines=self._lines,
            yielded=tuple(self._gave.values),
            yielded_total=self._gave.total,
            end="raised"
            if isinstance(end, Threw)
            else "returned"
            if end
            else "suspended"
            if self._waits
            else "running",
            result=end.exception
            if isinstance(end, Threw)
            else end.value
            if end
            else f"closed{f', and ran on to line {self._ran_on}' if self._ran_on else ''}"
            if self._closed
            else None,
            at=self._at(),
            cut=tuple(self._cut),
        )

    def _at(self) -> int | None:
        """The line at hand; of an exception the line that raised it, though others may have run to clean up behind it."""
        if isinstance(self._end, Threw) and self._raised is not None and self._raised.raised == self._end.exception:
            return self._raised.line
        if self._end is None and self._ran_on and self._waits_at:
            return self._waits_at
        return self._step.line if self._step else None


class TraceTold(msgspec.Struct):
    """Everything that one process told of a trace."""

    life: Life | None = None
    calls: Calls = msgspec.field(default_factory=lambda: Calls(0))
    raising: Raising | None = None
    found: list[Found] = msgspec.field(default_factory=list[Found])
    missing: list[str] = msgspec.field(default_factory=list[str])
    notes: list[str] = msgspec.field(default_factory=list[str])
    lost: bool = False
    """The recorder lost its place, failed before the process ended, or did not come along to one that it started."""
    beside: list[str] = msgspec.field(default_factory=list[str])
    """Other programs that it started."""
    unwritten: list[Unwritten] = msgspec.field(default_factory=list[Unwritten])
    names: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    """Functions of the user's, and whether they ran."""
    lives: tuple[Life, ...] = ()


def told(said: Iterable[AnySaid], show: Callable[[str], str], source: Source) -> TraceTold:
    """Read one process's recording of a trace; it may be long, so nothing is kept but what will be told."""
    here = TraceTold()
    loops: dict[tuple[str, int], tuple[tuple[int, int], ...]] = {}
    lives: dict[int, LifeNow] = {}
    root: LifeNow | None = None
    for each in said:
        match each:
            case Call():
                life = lives[each.id] = LifeNow(each, loops.get((each.file, each.line), ()), show, source)
                if (parent := lives.get(each.parent)) is not None:
                    parent.called(life)
                elif root is None:
                    root = life
            case Returned() | Threw():
                if (ended := lives.pop(each.call, None)) is not None:
                    ended.ended(each)
            case Closed():
                if (closed := lives.pop(each.call, None)) is not None:
                    closed.closed()
            case Line() | Raised() | Yielded() | Resumed() | Limited():
                if (at := lives.get(each.call)) is not None:
                    _goes_on(at, each)
            case Found(place=-1) | Found(place=-2):
                loops[each.file, each.line] = each.loops
                if each.place == -1:
                    here.found.append(each)
            case _:
                _aside(here, each)
    here.life = root.life() if root is not None else None
    return here


def _goes_on(life: LifeNow, said: Line | Raised | Yielded | Resumed | Limited) -> None:
    match said:
        case Line():
            life.line(said)
        case Raised():
            life.raised(said)
        case Yielded():
            life.yielded(said)
        case Resumed():
            life.resumed()
        case Limited(what=what):
            life.cut(what)


def _aside(here: TraceTold, said: AnySaid) -> None:
    match said:
        case Calls():
            here.calls = said
        case Raising():
            here.raising = said
        case Missing(place=-1, reason=reason):
            here.missing.append(reason)
        case Note(text=text, lost=lost):
            here.notes.append(text)
            here.lost = here.lost or lost
        case Beside(command=command):
            here.beside.append(command)
        case Unwritten():
            here.unwritten.append(said)
        case Defined(function=name, ran=ran):
            here.names[name] = here.names.get(name, False) or ran
        case _:
            pass


def _by_name(changes: Iterable[Changed]) -> dict[str, Changed]:
    return {each.name: each for each in changes}
