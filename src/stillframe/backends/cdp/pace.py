"""Saying no more at a time than Node reads in one go, since it may take a part of a message for the whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

MOST = 60_000
"""Bytes that Node (18 to 24) takes in one read: its buffer has 65,536, and the kernel passes on a little less whole. A frame of
which the last few bytes (as many as its length takes) come by a later read it counts as whole, goes on behind its end, and ends
the connection or itself: https://github.com/nodejs/node/pull/64618."""
_HEAD = 14
"""Bytes that a message has more as a frame."""


class Pace:
    """Writes messages in their order, the next ones when answers tell that those before have been read."""

    def __init__(self, write: Callable[..., None]) -> None:
        self._write = write
        self._unread: deque[int] = deque()
        """The sizes of messages that nothing tells to have been read."""
        self._size = 0
        self._first = 1
        """The number of the first of them."""
        self._waiting: deque[bytes] = deque()

    def write(self, *messages: bytes) -> None:
        """Say these, numbered one after the other; what is too much just now is said as soon as it can be."""
        self._waiting += messages
        self._go_on()

    def answered(self, number: int) -> None:
        """This one has been read, and with it all before it."""
        while self._unread and self._first <= number:
            self._size -= self._unread.popleft()
            self._first += 1
        if self._waiting:
            self._go_on()

    def finish(self) -> None:
        """Say what is left: nothing more is answered."""
        if self._waiting:
            self._write(*self._waiting)
            self._waiting.clear()

    def _go_on(self) -> None:
        said: list[bytes] = []
        while self._waiting and (not self._size or self._size + len(self._waiting[0]) + _HEAD <= MOST):
            said.append(message := self._waiting.popleft())
            self._unread.append(len(message) + _HEAD)
            self._size += self._unread[-1]
        if said:
            self._write(*said)
