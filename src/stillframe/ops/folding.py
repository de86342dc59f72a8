"""Loops folded as their turns go by: the first is kept, the last, and the first of each that went another way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from ..model.traces import AnyStep, Loop, Step, Turn

KEPT = 8
"""Turns of one loop that are kept for going another way."""
_NUMBER = re.compile(r"-?[\d.]+(e[+-]?\d+)?j?n?$|-?(inf|Infinity)$")
_NAN = frozenset({"nan", "-nan", "NaN"})


def kind(text: str | None) -> str:
    """What sort of value a text shows, roughly: enough to see that a price has become a string."""
    if not text:
        return ""
    if text[0] in "'\"`":
        return "text"
    if _NUMBER.match(text):
        return "number"
    if text in _NAN:  # which all that is worked out with it becomes, too
        return "nan"
    if text.startswith("0x"):
        return "address"
    if text in ("True", "False", "true", "false"):
        return "bool"
    return text[0] if text[0] in "[{(" else re.split(r"[({\s]", text, maxsplit=1)[0]


class Way(msgspec.Struct):
    """A way that turns of a loop went."""

    number: int
    steps: tuple[AnyStep, ...]
    count: int = 1


class OpenLoop(msgspec.Struct):
    """A loop that the call is in."""

    first: int
    last: int
    turns: int = 0
    now: list[AnyStep] = msgspec.field(default_factory=list[AnyStep])
    ways: dict[object, Way] = msgspec.field(default_factory=dict[object, Way])
    kinds: dict[tuple[int, str], set[str]] = msgspec.field(default_factory=dict[tuple[int, str], set[str]])
    newest: tuple[AnyStep, ...] = ()
    seen: int = 0
    """Ways, those that are not kept too."""

    def turn_over(self) -> None:
        """The turn at hand is complete."""
        if not self.now:
            return
        self.turns += 1
        steps = self.newest = tuple(self.now)
        self.now = []
        key: object = tuple(_path(each) for each in steps)
        if odd := self._odd(steps):
            key = (key, odd)
        if (way := self.ways.get(key)) is not None:
            way.count += 1
            return
        self.seen += 1
        if len(self.ways) < KEPT:
            self.ways[key] = Way(self.turns, steps)

    def _odd(self, steps: Sequence[AnyStep]) -> str:
        """The first value that is of another sort than the same line gave this name before."""
        odd = ""
        for step in steps:
            for change in step.changes if isinstance(step, Step) else ():
                sort = kind(change.new)
                known = self.kinds.setdefault((step.line, change.name), set())
                if known and sort not in known and not odd:
                    odd = f"{step.line} {change.name} {sort}"
                known.add(sort)
        return odd

    def closed(self) -> tuple[AnyStep, ...]:
        """The loop as it is told; its last look at the header, which began no turn, stands behind it where it did anything."""
        rest: tuple[AnyStep, ...] = ()
        only = self.now[0] if len(self.now) == 1 else None
        in_a_line = self.first == self.last and self.turns and isinstance(only, Step) and only.changes
        if not isinstance(only, Step) or only.line != self.first or in_a_line:
            self.turn_over()
        elif self.turns:
            rest = (only,) if only.changes or only.calls or only.raised else ()
        elif only.raised:
            return (only,)
        else:
            return (self._folded((Turn(number=0, why="first", steps=(only,)),)),)
        return (self._folded(self._told()), *rest)

    def _folded(self, told: tuple[Turn, ...]) -> Loop:
        return Loop(line=self.first, last=self.last, turns=self.turns, ways=max(1, self.seen), told=told)

    def _told(self) -> tuple[Turn, ...]:
        ways = list(self.ways.values())
        told = [
            Turn(number=way.number, why="first" if way.number == 1 else "differs", like=way.count, steps=way.steps)
            for way in ways
        ]
        if ways and all(way.number != self.turns for way in ways):
            told.append(Turn(number=self.turns, why="last", steps=self.newest))
        return tuple(told)


def _path(step: AnyStep) -> object:
    match step:
        case Step(line=line, raised=raised):
            return (line, raised is not None)
        case Loop(line=line, turns=turns):
            return ("loop", line, turns > 0)


class Fold:
    """Takes the steps of one call in order; `steps` is what they come to."""

    def __init__(self, loops: Sequence[tuple[int, int]]) -> None:
        self._ends = dict(loops)
        self._open: list[OpenLoop] = []
        self._steps: list[AnyStep] = []

    def take(self, step: Step) -> None:
        while self._open and not self._open[-1].first <= step.line <= self._open[-1].last:
            self._close()
        if self._open and self._open[-1].first == step.line:
            self._open[-1].turn_over()
        elif (last := self._ends.get(step.line)) is not None:
            self._open.append(OpenLoop(step.line, last))
        self._into().append(step)

    def _into(self) -> list[AnyStep]:
        return self._open[-1].now if self._open else self._steps

    def _close(self) -> None:
        self._into_above(self._open.pop().closed())

    def _into_above(self, steps: Sequence[AnyStep]) -> None:
        self._into().extend(steps)

    def steps(self) -> tuple[AnyStep, ...]:
        while self._open:
            self._close()
        return tuple(self._steps)


_BRANCH = re.compile(r"\s*(\}\s*)?(else\s+)?(if|match|switch)\b")


def inferred(lines: Sequence[int], sources: Mapping[int, str]) -> tuple[tuple[int, int], ...]:
    """Loops that nobody told of, by the lines themselves: where the run came back to one, up to the last line before that. A
    branch is none: compilers let its first line be come to again at its end."""
    loops: dict[int, int] = {}
    seen: dict[int, int] = {}
    for at, line in enumerate(lines):
        if line in seen and at and line < lines[at - 1] and not _BRANCH.match(sources.get(line, "")):
            loops[line] = max(loops.get(line, 0), *lines[seen[line] : at])
        seen[line] = at
    return tuple(sorted(loops.items()))
