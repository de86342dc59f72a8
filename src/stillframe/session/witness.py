"""The witness: makes a `Stop` out of what a backend captured, and remembers frames so as to tell what changed in them."""

from __future__ import annotations

import functools
from collections.abc import Callable

import msgspec

from ..model.backend import Bounds, Capture, Move, Stopped
from ..model.outcomes import Stop
from ..model.values import ExceptionInfo, Frame, Value
from .evidence import FrameMemory, SourceCache, compare, passed
from .handles import Handles

SHOWN = 40
"""Locals that a stop carries; all that were read are compared."""


class Witness:
    """One for a session: what it has seen so far, and how its user sees files."""

    def __init__(self, handles: Handles, sources: SourceCache, show: Callable[[str | None], str | None]) -> None:
        self._handles = handles
        self._sources = sources
        self._show = functools.cache(show)
        self._memory = FrameMemory()
        self._move = Move.CONTINUE
        self._before: Stop | None = None

    def moved(self, move: Move, before: Stop | None) -> None:
        """The program was let go, from where it was held."""
        self._move, self._before = move, before
        self._memory.moved(move)

    @property
    def stepped(self) -> bool:
        """Whether the program was let go for a step by lines."""
        return self._move in (Move.NEXT, Move.STEP, Move.FINISH)

    def show_frame(self, frame: Frame) -> Frame:
        """A frame as the user should see it; the backend's own key stays with us."""
        generated = frame.generated
        if generated is not None and (spot := generated_spot(generated)):
            generated = ":".join([self._show(spot[0]) or spot[0], *map(str, spot[1:])])
        return msgspec.structs.replace(frame, file=self._show(frame.file), generated=generated, key=None)

    def show_exception(self, info: ExceptionInfo) -> ExceptionInfo:
        """An exception as the user should see it. Its frames have no names of their own: some may have returned."""
        frames = (msgspec.structs.replace(self.show_frame(each), id="") for each in info.frames)
        members = tuple(self.show_exception(each) for each in info.members)
        causes = tuple(self.show_exception(each) for each in info.causes)
        return msgspec.structs.replace(info, frames=tuple(frames), members=members, causes=causes)

    def scene(self, thread: str, capture: Capture, reason: str) -> Stop:
        """A held thread as it is now, whatever came before."""
        frames, index = capture.frames.frames, self.index(capture)
        shown = tuple(self.show_frame(frame) for frame in self._handles.frames(thread, frames))
        at = capture.at
        return Stop(
            reason=reason,
            thread=self._handles.thread(thread),
            frame=shown[index] if shown else None,
            source=self._sources.around(at.file, at.line, column=at.column or 0) if at and at.file and at.line else (),
            stack=shown,
            stack_total=capture.frames.total or (len(frames) if len(frames) < Bounds().frames else None),
            locals=self._handles.values(capture.values.values[:SHOWN]),
            locals_total=capture.values.total,
            exception=self.show_exception(capture.exception) if capture.exception else None,
        )

    @staticmethod
    def index(capture: Capture) -> int:
        """Where in the stack the frame is that the locals belong to: the innermost of the user's own."""
        at = capture.at
        return next((number for number, frame in enumerate(capture.frames.frames) if at and frame.id == at.id), 0)

    def _below(self, capture: Capture) -> tuple[int, Frame | None]:
        """How deep the held call is, and the one that made it."""
        frames, index = capture.frames, self.index(capture)
        return (frames.total or len(frames.frames)) - index, next(iter(frames.frames[index + 1 : index + 2]), None)

    def _returned(self, capture: Capture, before: Stop | None, *, same: bool) -> Value | None:
        """The value of the function that a step left; in the same frame, of the call that it made last."""
        found = capture.returned
        if not same:
            left = _last_name(before.frame.function) if before and before.frame else None
            found = tuple(value for value in found if _last_name(value.name) == left)
        return self._handles.value(found[-1]) if found else None

    def note_values(self, thread: str, capture: Capture) -> None:
        """Remember what the held frame holds now, without telling of it."""
        if capture.at:
            depth, below = self._below(capture)
            self._memory.remember(thread, depth, capture.at, capture.values.values, below)

    def stop(self, event: Stopped, thread: str, capture: Capture) -> Stop:
        """The stop that an event told of: the scene, and what moving here changed."""
        at, (depth, below) = capture.at, self._below(capture)
        seen = self._memory.recall(thread, depth, at, below) if at else None
        values, changes = compare(seen, capture.values.values, capture.parts) if seen else (capture.values.values, ())
        if at:
            self._memory.remember(thread, depth, at, capture.values.values, below)
        marked = Capture(
            frames=capture.frames,
            at=at,
            values=msgspec.structs.replace(capture.values, values=values),
            exception=capture.exception,
        )
        scene = self.scene(thread, marked, event.reason)
        before = self._before if self._before and self._before.thread == scene.thread else None
        same = seen is not None and before is not None
        stepped = self._move is not Move.CONTINUE
        return msgspec.structs.replace(
            scene,
            returned=self._returned(capture, before, same=same) if stepped else None,
            all_threads_stopped=event.all_threads,
            trail=passed(before, scene.frame, changes, same_frame=same, depth=depth, seen=seen) if stepped else (),
            same_frame=same,
            changes=() if stepped or not same else changes,
        )


def generated_spot(text: str) -> tuple[str, int, int] | None:
    """File, line and column of what really runs, from the one word that a frame has for it."""
    file, _, rest = text.rpartition(":")
    file, _, line = file.rpartition(":")
    return (file, int(line), int(rest)) if file and line.isdigit() and rest.isdigit() else None


def _last_name(function: str) -> str:
    return function.rpartition(".")[2]
