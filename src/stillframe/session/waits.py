"""Who waits for a family to stop: each wait can be ended by somebody else, and leaves the program as it is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Wait:
    """One call that waits."""

    def __init__(self) -> None:
        self.is_called_off = False


class Waits:
    """All waits for the members of one family."""

    def __init__(self) -> None:
        self._now: set[Wait] = set()

    @contextlib.contextmanager
    def one(self) -> Iterator[Wait]:
        wait = Wait()
        self._now.add(wait)
        try:
            yield wait
        finally:
            self._now.discard(wait)

    def call_off(self) -> int:
        """End them all; how many there were. Whoever waits looks when the bell rings."""
        for each in self._now:
            each.is_called_off = True
        return len(self._now)
