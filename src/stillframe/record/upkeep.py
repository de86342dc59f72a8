"""The record kept within its bounds for as long as a host lives: one run at a time leaves it, when nobody waits for anything."""

from __future__ import annotations

import time

from . import pruning
from .pen import Pen

EVERY_SECONDS = 3600.0
"""How often the record is looked at while programs run; as soon as none does, it is looked at, too."""


class Upkeep:
    """When the writer's thread is to look, and what it then does. Without bounds it never is."""

    def __init__(self, days: float = 0.0, megabytes: float = 0.0, every: float = EVERY_SECONDS) -> None:
        self._days = days or None
        self._megabytes = megabytes or None
        self._every = every
        self._due = 0.0
        self._runs = 0

    def run_began(self) -> None:
        self._runs += 1

    def run_ended(self) -> None:
        """Of several programs the last one: no stop of another waits for us then."""
        self._runs -= 1
        if self._runs <= 0:
            self._due = 0.0

    @property
    def seconds_left(self) -> float | None:
        """Until the next look; None where there is none."""
        if self._days is None and self._megabytes is None:
            return None
        return max(0.0, self._due - time.monotonic())

    def put_off(self) -> None:
        self._due = time.monotonic() + self._every

    def turn(self, pen: Pen) -> None:
        """Remove the oldest run, if there is one too many; then others may write before it is looked again."""
        done = pruning.prune(pen, days=self._days, megabytes=self._megabytes, most=1)
        if not done.runs:
            self.put_off()
