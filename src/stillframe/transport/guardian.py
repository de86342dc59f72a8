"""One small process per host that ends what the host launched when the host dies, even by SIGKILL: the host's side.

The guardian holds the read end of a pipe whose write end only the host has. The host writes `+pid starttime` for each
process group it launches and `-pid` when that one is gone. Attached processes are never listed. `/path` is a directory that
is to go with the host, `!/path` one that has gone.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import sys

from ..errors import LaunchFailed
from . import guardian_program
from .guardian_program import start_time
from .handles import open_handle

log = logging.getLogger(__name__)

MOST_REPLACED = 20
"""Guardians that one host puts in the place of dead ones unasked; an interpreter that cannot run would be tried for ever."""


class Guardian:
    """The host's side of the pipe: started at the first process to watch, replaced as soon as it dies, ended by `close`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: io.FileIO | None = None
        self._watched: dict[int, str] = {}
        self._directories: set[str] = set()
        self._deathwatch: tuple[asyncio.AbstractEventLoop, int] | None = None
        """The loop that looks out for the guardian's end, and the descriptor by which it does."""
        self._replaced = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def watch(self, pid: int, *, gently: bool = False) -> None:
        """From now on this process group dies with us; `gently` gives it the time to leave by itself what it holds."""
        self._watched[pid] = f"{'~' if gently else '+'}{pid} {start_time(pid) or '-'}\n"
        try:
            self._tell(self._watched[pid])
        except OSError as error:
            del self._watched[pid]
            raise _absent(error) from None
        self._look_out()

    def forget(self, pid: int) -> None:
        """This process is gone, or is to live on without us."""
        if self._watched.pop(pid, None) is not None:
            self._tell(f"-{pid}\n")
            self._look_out()

    def litter(self, directory: str) -> None:
        """From now on this directory, with the files right in it, is removed when we die."""
        self._directories.add(directory)
        try:
            self._tell(f"{directory}\n")
        except OSError as error:
            self._directories.remove(directory)
            raise _absent(error) from None
        self._look_out()

    def tidied(self, directory: str) -> None:
        """This directory is gone."""
        if directory in self._directories:
            self._directories.remove(directory)
            self._tell(f"!{directory}\n")
            self._look_out()

    def close(self) -> None:
        """End the guardian; what is still watched ends with it."""
        self._look_away()
        process, self._process = self._process, None
        self._watched.clear()
        self._directories.clear()
        if process and self._pipe:
            self._pipe.close()
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
            return
        assert self._pipe is not None
        try:
            self._pipe.write(line.encode())
        except BrokenPipeError:
            self._process.wait()
            self._start()

    def _start(self) -> None:
        """Start a guardian that has the whole list to read before it is there, so that no death of ours can come between."""
        self._look_away()
        if self._pipe:
            self._pipe.close()
        reading, writing = os.pipe()
        self._pipe = io.FileIO(writing, "w")  # it holds some two thousand rows unread
        rows = [*self._watched.values(), *(f"{each}\n" for each in self._directories)]
        self._pipe.write("".join(rows).encode())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-IS", guardian_program.__file__],
                stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, cwd="/", env={},
            )  # fmt: skip
        finally:
            os.close(reading)

    # Its own death

    def _look_out(self) -> None:
        """Have the running loop notice the guardian's end; where it cannot, the next thing to tell it does."""
        loop = asyncio.get_running_loop()
        if self._process is None or (self._deathwatch and self._deathwatch[0] is loop):
            return
        self._look_away()
        try:
            fd = open_handle(self._process.pid)
        except OSError:  # macOS has no such handles, old kernels neither
            return
        loop.add_reader(fd, self._died)
        self._deathwatch = loop, fd

    def _look_away(self) -> None:
        if self._deathwatch:
            (loop, fd), self._deathwatch = self._deathwatch, None
            if not loop.is_closed():
                loop.remove_reader(fd)
            os.close(fd)

    def _died(self) -> None:
        """Reap the guardian that somebody killed, and have another know everything that lives."""
        self._look_away()
        if self._process is None:
            return
        log.warning("the guardian (%d) ended: %s", self._process.pid, self._process.wait())
        if (self._watched or self._directories) and self._replaced < MOST_REPLACED:
            self._replaced += 1
            self._start()
            self._look_out()


def _absent(error: OSError) -> LaunchFailed:
    """Nothing is started that would outlive us."""
    return LaunchFailed(f"cannot start the guardian, which ends programs when we die: {error.strerror or error}")


GUARDIAN = Guardian()
"""The one guardian of this host process."""
