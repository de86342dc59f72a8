"""Handles: the short words `v3`, `f1` and `t2` that stand for a backend's own ids, and that go stale as they should.

Values are numbered through the whole run and never again, so that a handle of an earlier stop is known to be old. Frames
count from the top of the stop's thread; threads keep their word for life.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..errors import NotFound, StaleHandle, Try, UsageError
from ..model.counts import counted
from ..model.values import Frame, Scope, Thread, Value


class Handles:
    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._issued = 0
        self._threads: dict[str, str] = {}
        self._frames: dict[str, list[str]] = {}

    def renew(self) -> Callable[[], None]:
        """The program moves: values and frames of the last stop are gone, threads stay. Call the answer to take it back."""
        values, frames = self._values, self._frames
        self._values, self._frames = {}, {}

        def restore() -> None:
            self._values, self._frames = values, frames

        return restore

    def value(self, value: Value) -> Value:
        """The same value with its ref, and its children's, as handles."""
        if value.ref is None and not value.children:
            return value
        children = tuple(self.value(child) for child in value.children)
        ref = self._issue(value) if value.ref is not None else None
        return msgspec.structs.replace(value, ref=ref, children=children)

    def values(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(self.value(value) for value in values)

    def scope(self, scope: Scope) -> Scope:
        """A scope with its ref as a handle that `expand` takes."""
        if scope.ref is None:
            return scope
        return msgspec.structs.replace(scope, ref=self._issue(Value(name=scope.name, ref=scope.ref)))

    def _issue(self, value: Value) -> str:
        self._issued += 1
        handle = f"v{self._issued}"
        self._values[handle] = value
        return handle

    def held(self, handle: str) -> Value:
        """The value, with the backend's word for it as `ref`; an error tells an old handle from one that never was."""
        if handle in self._values:
            return self._values[handle]
        if not is_value_handle(handle):
            raise UsageError(f"{handle!r} is no value handle; they look like v3")
        if 0 < (counted(handle[1:]) or 0) <= self._issued:
            raise StaleHandle(f"{handle} belongs to an earlier stop", hint=Try("state"))
        raise NotFound(f"there is no {handle}", hint=Try("locals"))

    def thread(self, id: str) -> str:
        return self._threads.setdefault(id, f"t{len(self._threads) + 1}")

    def threads(self, threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
        return tuple(msgspec.structs.replace(each, id=self.thread(each.id)) for each in threads)

    @property
    def knows_threads(self) -> bool:
        return len(self._threads) > 1

    def thread_id(self, handle: str) -> str:
        for id, word in self._threads.items():
            if handle in (word, id):
                return id
        raise NotFound(f"there is no thread {handle}", hint=Try("threads"))

    def frames(self, thread: str, frames: tuple[Frame, ...], start: int = 0) -> tuple[Frame, ...]:
        """Remember a page of a thread's frames and name them f0, f1 …"""
        known = self._frames.setdefault(thread, [])
        known[len(known) :] = [""] * (start + len(frames) - len(known))
        for at, frame in enumerate(frames, start):
            known[at] = frame.id
        return tuple(msgspec.structs.replace(frame, id=f"f{at}") for at, frame in enumerate(frames, start))

    def frame_id(self, thread: str, index: int) -> str | None:
        """What the backend calls frame `index` of this thread, where a page with it was read since the stop."""
        known = self._frames.get(thread, [])
        return known[index] or None if 0 <= index < len(known) else None


def is_value_handle(text: str) -> bool:
    return text.startswith("v") and text[1:].isascii() and text[1:].isdigit()


def frame_index(text: str) -> int:
    """`f2` or `2` as a number."""
    number = counted(text.removeprefix("f"))
    if number is None:
        raise UsageError(f"{text!r:.80} is no frame; they look like f0")
    return number
