"""Two recorded runs of one command in two revisions, line by line, up to where the present one first is otherwise.

Lines are matched by the texts of the files. One that stands in one revision alone is passed over, and what it made is looked at
with the next line that both have; calls of functions that only one of them has, and names that only one of them gives, are not
looked at: that code was rewritten is no news.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from ..model.recorded import Difference
from ..model.recorder import AnySaid, Call, Changed, Limited, Line, Raised, Returned, Threw, Yielded
from ..model.sinces import Divergence

Function = tuple[str, str]
"""Name and file."""
Noise = set[tuple[Function, int, str]]
"""Names, by function and line, that differ between two runs of the same code, as those of times and random numbers do."""
Told = Line | Raised | Yielded | Returned | Threw


class Step(msgspec.Struct, frozen=True):
    """A line is done, or a call begins in it: where, what came next, and what was made or given."""

    call: int
    """Of a call that begins, that call."""
    function: Function
    line: int
    """By its present number; 0 before the first line of a call."""
    at: int
    """As its own revision numbers it: this line, or one that only this revision has and that ran since."""
    next: str
    values: dict[str, str]
    begins: Call | None = None


class Road(msgspec.Struct, frozen=True):
    """The steps of one run, by thread."""

    threads: dict[str, list[Step]]

    @property
    def length(self) -> int:
        return sum(map(len, self.threads.values()))


class Terms(msgspec.Struct, frozen=True):
    """How a run of one revision is told in present terms."""

    number: Callable[[str, int], int | None]
    """The present number of a line of a present file; None where only one revision has it."""
    text: Callable[[str], str]
    """A text without what is otherwise from run to run, or from folder to folder."""
    both: Callable[[Call], bool]
    """Whether the other revision has the function of this call."""


class _UnderWay(msgspec.Struct):
    call: Call
    function: Function
    line: int = 0
    at: int = 0
    made: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def step(self, next: str, **given: str) -> Step:
        values, self.made = {**self.made, **given}, {}
        return Step(self.call.id, self.function, self.line, self.at, next, values)


def road(said: Iterable[AnySaid], terms: Terms) -> Road:
    """What a run did, step by step, up to where the recording first left something out."""
    threads: dict[str, list[Step]] = {}
    calls: dict[int, _UnderWay] = {}
    for each in said:
        if isinstance(each, Limited):
            break
        if isinstance(each, Call):
            around = calls.get(each.parent)
            if (around is None and each.parent) or not each.file.startswith("/") or not terms.both(each):
                continue
            calls[each.id] = _UnderWay(each, (each.function, terms.text(each.file)), at=each.line)
            if around is not None:
                given = {name: terms.text(text) for name, text in each.arguments}
                step = Step(each.id, around.function, around.line, around.at, f"call {each.function}", given, each)
                threads.setdefault(each.thread, []).append(step)
        elif isinstance(each, Told) and each.call in calls:
            call = calls[each.call]
            threads.setdefault(call.call.thread, []).extend(_steps(call, each, terms))
    return Road(threads)


def _steps(call: _UnderWay, said: Told, terms: Terms) -> Iterator[Step]:
    if not isinstance(said, Raised):
        call.made.update(_texts(said.changes, terms))
    match said:
        case Line(_, line):
            number = terms.number(call.function[1], line)
            if number is not None:
                yield call.step(f"line {number}")
                call.line = number
            call.at = line
        case Raised(_, exception):
            yield call.step(f"raise {terms.text(exception)}")
        case Yielded(_, value) if value:
            yield call.step("yield", yielded=terms.text(value))
        case Returned(_, value):
            yield call.step("return", returned=terms.text(value))
        case _:  # it waits; or it is left by what was raised in it
            return


def _texts(changes: Iterable[Changed], terms: Terms) -> dict[str, str]:
    """What was changed, and of what is too large to be told whole, the parts."""
    told = {each.name: terms.text(each.text) for each in changes}
    return told | {each.name + part: terms.text(holds) for each in changes for part, holds in each.parts}


class Apart(msgspec.Struct, frozen=True):
    """Where two roads part: the step of either, its names that differ, and the how many-th time that it was."""

    then: Step
    now: Step
    names: dict[str, tuple[str, str]]
    hit: int

    @property
    def is_the_error(self) -> bool:
        """Whether all that is otherwise is that something is raised now."""
        return not self.names and self.now.next.startswith("raise ")

    def told(self) -> Divergence:
        """At the line that made it so; of what a call was given, at that call."""
        begun = self.now.begins
        function, file = self.now.function
        line = self.now.at
        if begun is not None and self.names:
            function, file, line = begun.function, begun.file, begun.line
        whole = {name for name in self.names for other in self.names if other.startswith((f"{name}.", f"{name}["))}
        found = [
            Difference(name=name, old=old, new=new) for name, (old, new) in self.names.items() if name not in whole
        ]
        found = found or [Difference(name="next", old=_word(self.then), new=_word(self.now))]
        return Divergence(
            function=function, file=file, line=line, hit=self.hit, hits=(self.hit, self.hit), differences=tuple(found)
        )


def _word(step: Step) -> str:
    return f"return {step.values['returned']}" if step.next == "return" else step.next


def noise(one: Road, other: Road) -> tuple[Noise, dict[str, int]]:
    """What two runs of the same code differ in, and how many steps of each thread they go the same way."""
    names: Noise = set()
    far: dict[str, int] = {}
    for thread, steps in one.threads.items():
        far[thread] = 0
        for first, second, differing, _ in _abreast(other.threads.get(thread, []), steps):
            if _way(first) != _way(second):
                break
            names |= {(second.function, second.line, name) for name in differing}
            far[thread] += 1
    return names, far


def parting(was: Road, now: Road, noisy: Noise, far: Mapping[str, int]) -> Apart | None:
    """The first step that is otherwise now, in the first thread that has one."""
    for thread, steps in now.threads.items():
        for then, present, differing, hit in _abreast(was.threads.get(thread, []), steps[: far.get(thread, 0)]):
            same_place = then.function == present.function and then.line == present.line
            names = {
                name: pair
                for name, pair in differing.items()
                if same_place and (present.function, present.line, name) not in noisy
            }
            if names or _way(then) != _way(present):
                return Apart(then, present, names, hit)
    return None


def _way(step: Step) -> tuple[Function, int, str]:
    return step.function, step.line, step.next


def _abreast(was: Iterable[Step], now: Iterable[Step]) -> Iterator[tuple[Step, Step, dict[str, tuple[str, str]], int]]:
    """The steps of two roads in pairs, the names whose values differ after each, and how often its line, or the function that it
    calls, had its turn by then. What only one of them made is compared with what the other made of it before."""
    held: tuple[dict[int, dict[str, str]], dict[int, dict[str, str]]] = {}, {}
    turns: Counter[object] = Counter()
    for then, present in zip(was, now, strict=False):
        before = held[0].setdefault(then.call, {})
        after = held[1].setdefault(present.call, {})
        before.update(then.values)
        after.update(present.values)
        names = dict.fromkeys((*present.values, *then.values))
        differing = {
            name: (before[name], after[name])
            for name in names
            if name in before and name in after and before[name] != after[name]
        }
        turn = (present.begins.function, present.begins.file) if present.begins else (present.function, present.line)
        yield then, present, differing, turns[turn] + 1
        turns[turn] += present.begins is not None or present.next.startswith(("line ", "return"))
