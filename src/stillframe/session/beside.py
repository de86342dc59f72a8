"""A command that runs beside the program: `--do 'curl …'` sends the request that a held server is to answer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from ..model.outcomes import DoResult
from ..model.plans import Caller
from .output import decode

KEPT = 4096
"""Bytes of its output that are kept, the newest ones."""


class Beside:
    """One shell command with the caller's directory and environment, its output drained and its end told once."""

    def __init__(self, command: str, process: asyncio.subprocess.Process, on_end: object) -> None:
        self.command = command
        self._process = process
        self._tail = b""
        self.told = False
        self._task = asyncio.get_running_loop().create_task(self._drain(on_end), name=f"beside {command[:40]}")

    @classmethod
    async def start(cls, command: str, caller: Caller, on_end: object) -> Beside:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=caller.cwd,
            env=dict(caller.env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        return cls(command, process, on_end)

    @property
    def ended(self) -> bool:
        return self._task.done()

    async def _drain(self, on_end: object) -> None:
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(65536):
            self._tail = (self._tail + chunk)[-KEPT:]
        await self._process.wait()
        if callable(on_end):
            asyncio.get_running_loop().call_soon(on_end)

    def result(self) -> DoResult:
        return DoResult(
            command=self.command,
            exit_code=self._process.returncode if self.ended else None,
            output=decode(self._tail) if self.ended else "",
            running=not self.ended,
        )

    async def close(self) -> None:
        """End it and everything it started."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        with contextlib.suppress(ProcessLookupError):
            await self._process.wait()
