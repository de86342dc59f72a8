"""What is told to the writer, and where it waits while the disk takes nothing: the newest whole, of older ones the bare facts."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Protocol

from .pen import Pen

BACKLOG = 1000
"""Jobs that wait whole while the disk takes nothing; of older ones only the bare facts wait."""


class Job(Protocol):
    """Something to write down."""

    def write(self, pen: Pen) -> None: ...

    def reduced(self) -> Job | None:
        """The least of it, where there is no room to keep all in memory; None where it can be done without."""
        ...


class Settled:
    """Nothing to write: its answer says that everything before it is written."""

    def write(self, pen: Pen) -> None:
        pass

    def reduced(self) -> None:
        return None


class Backlog:
    """In the order in which it was told. Whatever is added costs the same, however much waits already."""

    def __init__(self) -> None:
        self._bare: deque[Job] = deque()
        self._whole: deque[Job] = deque()

    def __bool__(self) -> bool:
        return bool(self._bare or self._whole)

    def add(self, job: Job) -> None:
        if isinstance(job, Settled):
            return
        self._whole.append(job)
        if len(self._whole) > BACKLOG and (least := self._whole.popleft().reduced()):
            self._bare.append(least)

    def oldest(self, most: int) -> list[Job]:
        return list(itertools.islice(itertools.chain(self._bare, self._whole), most))

    def drop(self, count: int) -> None:
        """So many of the oldest are written."""
        for _ in range(count):
            (self._bare or self._whole).popleft()
