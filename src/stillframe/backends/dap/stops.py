"""What happens between a debugger's `stopped` and the session's: stops that nobody asked for are sent on their way."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import msgspec

from ...errors import StillframeError
from ...model.backend import Bounds, Stopped, Wanted
from ...model.values import Frame
from .evidence import Evidence
from .launch import DapLaunch, Quirk

_MOST_DETOURS = 8
"""So many times in a row a pause is tried again where it found a thread on a way of its runtime's own."""


class Detour(msgspec.Struct, frozen=True):
    """A pause that found a thread in its runtime's own business."""

    unseen: str
    """What cannot be seen from there."""
    again: bool
    """Whether to let it run a little further, and look there."""


class _Passing(msgspec.Struct, frozen=True):
    """An exception on its way up, as it was last seen on a thread."""

    identity: str
    depth: int


class StopFilter:
    """Knows the stops that are no news: the same exception in the next frame, a namesake of the function asked for, an old
    step."""

    def __init__(self, launch: DapLaunch, evidence: Evidence) -> None:
        self._launch = launch
        self._evidence = evidence
        self._passing: dict[str, _Passing] = {}
        self._detours = 0
        self.steps = False
        """Whether somebody waits for the end of a step."""
        self.owes_step = False
        """Whether the debugger has to finish the step of another thread before it can make one."""
        self.catches_raised = False
        """Whether exceptions stop the program when they are raised, handled or not."""
        self.classes: tuple[str, ...] = ()
        """Where not empty, only these classes and what derives from them stop it when they are raised."""

    def must_look(self, stop: Stopped) -> bool:
        """Whether this stop may be no news, so that the debugger has to be asked about it."""
        return self._may_repeat(stop) or self._is_old_step(stop) or stop.reason == "function breakpoint"

    async def is_news(self, stop: Stopped, symbols: Iterable[Wanted]) -> bool:
        if self._is_old_step(stop):
            return False
        if stop.thread is None:
            return True
        if self._may_repeat(stop):
            return await self._is_wanted(stop.thread)
        if stop.reason == "function breakpoint":
            return await self._is_asked_for(stop.thread, tuple(symbols))
        return True

    def may_be_detour(self, stop: Stopped) -> bool:
        return stop.reason == "pause" and self._launch.detour is not None

    async def detour(self, thread: str) -> Detour | None:
        """What is not seen of the program's own calls where a pause found this thread; None where all of them are."""
        frames = (await self._evidence.stack(thread, 0, 20)).frames
        unseen = self._unseen(frames)
        again = unseen is not None and self._detours < _MOST_DETOURS
        self._detours = self._detours + 1 if again else 0
        return Detour(unseen, again) if unseen is not None else None

    def _unseen(self, frames: tuple[Frame, ...]) -> str | None:
        above = list(itertools.takewhile(lambda each: each.kind != "user", frames))
        if not above:
            return None
        tool, cut_in, way = self._launch.tool.tool, self._launch.cut_in, self._launch.detour
        if len(above) == len(frames):
            lost = way is not None and way.match(frames[0].function)
            return f"the runtime is at work here, from where {tool} does not see the program's calls" if lost else None
        if cut_in is not None and any(cut_in.match(each.function) for each in above):
            return f"a signal came just then: {tool} may lack the call that it interrupted, or tell another line of it"
        return None

    def _is_old_step(self, stop: Stopped) -> bool:
        """Whether a step has come to its end that another stop had interrupted, and since which the program was sent on."""
        return stop.reason == "step" and self._launch.unfinished_step is not None and not self.steps

    def _may_repeat(self, stop: Stopped) -> bool:
        return (
            stop.reason == "exception"
            and self.catches_raised
            and self._launch.exception_identity is not None
            and Quirk.RAISED_ONCE_PER_FRAME in self._launch.quirks
        )

    async def _is_wanted(self, thread: str) -> bool:
        """Not an exception of another class, and not one that left the frame in which we showed it."""
        frames = await self._evidence.stack(thread, 0, 1)
        if not frames.frames or frames.total is None or self._launch.exception_identity is None:
            return True
        exception = await self._evidence.exception(thread)
        if exception is not None and exception.mode == "uncaught":
            return True
        questions = self._launch.exception_identity
        if self.classes and self._launch.exception_is:
            questions = (*questions, self._launch.exception_is(self.classes))
        answers = await self._evidence.evaluate(frames.frames[0].id, questions, Bounds(), 5.0)
        identity, passing, *fits = (each.value.value if each.value else "" for each in answers)
        before = self._passing.pop(thread, None)
        if fits == ["False"]:
            return False
        if not identity:
            return True
        self._passing[thread] = _Passing(identity, frames.total)
        # An exception's identity may be given to the next one, but that one does not come out of a deeper frame.
        repeats = passing == "True" and before is not None and before.identity == identity
        return not (repeats and before is not None and frames.total < before.depth)

    async def _is_asked_for(self, thread: str, symbols: tuple[Wanted, ...]) -> bool:
        if not symbols:
            return True
        try:
            frames = (await self._evidence.stack(thread, 0, 1)).frames
        except StillframeError:
            return True
        is_whole = self._launch.helper is not None and frames and frames[0].kind == "user"
        return not frames or any(_matches(frames[0], wanted, is_whole=bool(is_whole)) for wanted in symbols)


def _matches(frame: Frame, wanted: Wanted, *, is_whole: bool) -> bool:
    """Whether this frame runs the function asked for; a name without its class fits any class. Where its own name may not be
    the whole one, as an older runtime tells it, what is before that in the name asked for is taken on trust."""
    asked = (wanted.symbol or "").split(".")
    have = frame.function.replace(".<locals>", "").split(".")
    before, asked = asked[: -len(have)], asked[-len(have) :]
    if have[-len(asked) :] != asked or (is_whole and before and not _is_in(frame, before)):
        return False
    return wanted.module is None or wanted.module in (frame.module, _stem(frame.file))


def _is_in(frame: Frame, modules: list[str]) -> bool:
    """Whether these are the last names of the frame's module, or of its file."""
    path = (frame.file or "").rpartition(".")[0].removesuffix("/__init__").split("/")
    known = ((frame.module or "").split("."), path)
    return any(each[-len(modules) :] == modules for each in known)


def _stem(file: str | None) -> str:
    return (file or "").rpartition("/")[2].partition(".")[0]
