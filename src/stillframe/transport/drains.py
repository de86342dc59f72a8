"""Pipes that a program prints into: read as it prints, unless whoever takes it cannot keep up or has time."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable, Mapping
from typing import Literal

Stream = Literal["stdout", "stderr"]
_CHUNK = 64 * 1024


class Drains:
    """Reads descriptors as they have something and hands it on, each under its stream's name. It does not close them.

    With a `rest`, in seconds, each read is followed by that much time in which nobody wakes us: for what is worth reading only
    now and then, by `drain`, and must merely not fill its pipe."""

    def __init__(
        self, pipes: Mapping[int, Stream], on_output: Callable[[Stream, bytes], None], *, rest: float = 0.0
    ) -> None:
        self._on_output = on_output
        self._rest = rest
        self._loop = asyncio.get_running_loop()
        self._readers = dict(pipes)
        self.is_paused = False
        for fd in self._readers:
            os.set_blocking(fd, False)
            self._loop.add_reader(fd, self._readable, fd)

    def _readable(self, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._unwatch(fd)
            return
        if self._rest:
            self._loop.remove_reader(fd)
            self._loop.call_later(self._rest, self._rested, fd)
        self._on_output(self._readers[fd], data)

    def _rested(self, fd: int) -> None:
        if fd in self._readers and not self.is_paused:
            self._loop.add_reader(fd, self._readable, fd)

    def _unwatch(self, fd: int) -> None:
        if self._readers.pop(fd, None) is not None:
            self._loop.remove_reader(fd)

    def pause(self) -> None:
        """Stop reading until `resume`: whoever takes the output cannot keep up, and the pipe holds the writer."""
        if not self.is_paused:
            self.is_paused = True
            for fd in self._readers:
                self._loop.remove_reader(fd)

    def resume(self) -> None:
        if self.is_paused:
            self.is_paused = False
            for fd in self._readers:
                self._loop.add_reader(fd, self._readable, fd)

    def discard(self) -> None:
        """Read on, and throw away what comes."""
        self._on_output = lambda _stream, _data: None
        self.resume()

    def drain(self) -> None:
        """Read what is in the pipes now; never waits for an end that an orphan may hold open."""
        for fd in tuple(self._readers):
            left = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"))[0]
            while left > 0 and fd in self._readers:
                data = os.read(fd, min(left, _CHUNK))
                if not data:
                    break
                self._on_output(self._readers[fd], data)
                left -= len(data)

    def stop(self) -> None:
        """Read no more."""
        for fd in tuple(self._readers):
            self._unwatch(fd)
