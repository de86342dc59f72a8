"""`--ready`: when a program that is to serve has come up, by what it prints or by the port it listens on."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil  # type: ignore[import-untyped]

from ..errors import Busy, UsageError
from ..model.counts import counted
from . import family

if TYPE_CHECKING:
    from .session import Session

LOOK = 0.05
"""Seconds between looks for a port; no event tells us of another process's sockets."""


class Ready(msgspec.Struct, frozen=True):
    """Either a text to be printed or a port to be listened on."""

    text: str | None = None
    port: int | None = None

    @classmethod
    def parse(cls, word: str) -> Ready:
        if word.startswith(":"):
            port = counted(word[1:])
            if port is None or not 0 < port < 65536:
                raise UsageError(f"{word!r:.80} is no port; --ready takes :8000 or a text that the program prints")
            return cls(port=port)
        if not word:
            raise UsageError("--ready takes :8000 or a text that the program prints")
        return cls(text=word)

    async def check_free(self) -> None:
        """Refuse a port that somebody listens on already: its answers would be taken for the program's."""
        if self.port is not None and await listens(self.port):
            raise Busy(f"another process listens on :{self.port} already, so the program cannot")

    def __str__(self) -> str:
        if self.port is not None:
            return f"nothing of it listens on :{self.port}"
        number = (self.text or "").removeprefix("port:")
        return f"it has not printed {self.text!r}" + (f" (a port is :{number})" if number.isdigit() else "")

    async def wait(self, session: Session, timeout: float) -> str | None:
        """Wait until it is so; None where the program stopped, ended or took too long."""
        if self.text is not None:
            wanted = self.text.encode()
            await session.root.bell.wait_for(lambda: session.output.holds(wanted) or _is_over(session), timeout)
            return f"printed {self.text!r}" if session.output.holds(wanted) else None
        assert self.port is not None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while not await self._is_listened_on(session):
            left = deadline - loop.time()
            if left <= 0 or await session.root.bell.wait_for(lambda: _is_over(session), min(LOOK, left)):
                return None
        return f"listens on :{self.port}"

    async def _is_listened_on(self, session: Session) -> bool:
        """By the program, what is below it, or what it left behind when it ended: a daemon is nobody's child."""
        assert self.port is not None
        members = (session, *family.heirs(session))
        return any([await listens(self.port, each.backend.pid) for each in members])


def _is_over(session: Session) -> bool:
    """Whether it stopped or ended; not where only what started a daemon has ended."""
    member = session.settled_member()
    return member is not None and not (member is session and family.heirs(session))


async def listens(port: int, pid: int | None = None) -> bool:
    """Whether this process or one below it listens on the port, anybody where none is named; asked of the kernel, so
    that the program sees no visitor."""
    tables = [path for path in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if path.exists()]
    if not tables:
        return await _answers(port)
    wanted = f":{port:04X}"
    rows = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    sockets = {row[9] for row in rows if row[3] == "0A" and row[1].endswith(wanted)}  # 0A is LISTEN, 9 the inode
    if pid is None or not sockets:
        return bool(sockets)
    return await asyncio.to_thread(_holds, pid, {f"socket:[{inode}]" for inode in sockets})


def _holds(pid: int, sockets: set[str]) -> bool:
    """Whether a process or one of its descendants has one of these sockets open."""
    try:
        family = [pid, *(each.pid for each in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return False
    for member in family:
        with contextlib.suppress(OSError):  # it ended, or is another user's
            for link in Path(f"/proc/{member}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if os.readlink(link) in sockets:
                        return True
    return False


async def _answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    return False
