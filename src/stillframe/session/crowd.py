"""The stops of several threads: only one can be what we speak of, and none may be lost."""

from __future__ import annotations

import functools
from typing import TypeGuard

from ..model.backend import Backend, Stopped
from ..model.powers import Crowds


class Crowd:
    """Which threads' stops have been told since the program was last let go, and which wait to be."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.alone: str | None = None
        """The thread that was the only one when the debugger was last asked for them."""
        self._told: set[str] = set()
        self._waiting: dict[str, Stopped] = {}

    def let_go(self) -> None:
        """The program runs: whatever stops from now on is news."""
        self._told.clear()
        self._waiting.clear()

    def is_alone(self, event: Stopped) -> bool:
        """Whether this stop is of the only thread there is. A debugger that does not tell of threads as they come and go has
        to be asked, which takes some longer than a step: not after one, whose thread is the one that was told before."""
        return len(self.alive) == 1 or (
            not self.alive and event.reason == "step" and event.thread is not None and event.thread == self.alone
        )

    def tell(self, event: Stopped) -> None:
        """This stop is the one that we speak of now."""
        if event.thread is not None:
            self._told.add(event.thread)
            self._waiting.pop(event.thread, None)

    def keep(self, event: Stopped) -> None:
        """A stop of another thread while one is being spoken of: told when the program is to go on, before it does."""
        if event.thread is not None and event.thread not in self._told:
            self._waiting.setdefault(event.thread, event)

    async def ask(self, backend: Backend) -> None:
        """Find the stops that the debugger folded into the one it told of."""
        if len(self.alive) != 1 and _may_fold_stops(backend):
            for event in await backend.also_stopped():
                self.keep(event)

    def next(self) -> Stopped | None:
        """A stop that nobody has been told of, the oldest first."""
        for event in self._waiting.values():
            return event
        return None


def _may_fold_stops(backend: Backend) -> TypeGuard[Crowds]:
    return _is_crowded(type(backend))


@functools.cache
def _is_crowded(kind: type[Backend]) -> bool:
    """Whether backends of this kind may have to be asked; found out once, since it is looked up at every step."""
    return issubclass(kind, Crowds)
