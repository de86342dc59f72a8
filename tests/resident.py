"""A daemon that lives through the tests of one worker, as a user's lives through projects: starting one for each costs more
than most of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest

import stillframe
from stillframe.transport import guardian_program

from .faces.conftest import CLIENT, DEADLINE
from .guard import PATIENCE, Guard, command, gone

_BETWEEN = 0.5
"""How long processes that are dying are waited for before the sessions are looked at again."""
_LONG = 1800
"""Seconds without a story after which it leaves: no run is so long without one, and a run that was killed leaves it behind."""
_SHARED = ("XDG_RUNTIME_DIR", "XDG_STATE_HOME")
"""What a client and the daemon that it means have in common."""


class Resident:
    """The daemon, in surroundings that outlive every story. Each finds it without a session that lives, and leaves it so."""

    def __init__(self, cache: Path) -> None:
        self._guard = Guard(cache)
        self._env = {**self._guard.environment(dict(os.environ)), "STILLFRAME_IDLE_SECONDS": str(_LONG)}
        self._directory = self._guard.runtime / "stillframe"

    @property
    def environment(self) -> dict[str, str]:
        """Of what is started once for several tests and speaks to the daemon."""
        return dict(self._env)

    def receive(self, monkeypatch: pytest.MonkeyPatch, *, mcp: bool = False) -> None:
        """Have the calls of this test go to the daemon, which is started where it is not there; with it the host of MCP."""
        if not (self._directory / "daemon.sock").exists():
            self._call("sessions")
        if mcp and not list(self._directory.glob("mcp-*.sock")):
            self._call("mcp")
        for name in _SHARED:
            monkeypatch.setenv(name, self._env[name])

    def take_leave(self) -> list[str]:
        """End every session that the story left, and tell what outlives even that; then the daemon goes, too."""
        daemon = self._daemon()
        if daemon is None:
            return []
        deadline = time.monotonic() + PATIENCE
        try:
            while left := self._end_sessions(daemon):  # of a client that was killed one may still come up
                if time.monotonic() > deadline:
                    return [*left, *self.leave()]
        except stillframe.StillframeError as error:
            return [f"a session: {error}", *self.leave()]
        return []

    def _end_sessions(self, daemon: psutil.Process) -> list[str]:
        """The debuggers, programs and folders of the daemon that are there even after the sessions have ended."""
        asyncio.run(_end_sessions(every=bool(self._guard.litter())))
        _gone, alive = psutil.wait_procs(_debuggers(daemon), timeout=_BETWEEN)
        lives = [f"process {each.pid} of the daemon: {' '.join(command(each))}" for each in alive if not gone(each)]
        return lives or self._guard.litter()

    def leave(self) -> list[str]:
        """End the daemon; what is still there of it then, of its files and of its processes."""
        self._call("daemon", "stop")
        return self._guard.left_elsewhere()

    def remove(self) -> None:
        self._guard.remove()

    def _call(self, *words: str) -> None:
        subprocess.run(
            [*CLIENT, *words],
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=DEADLINE,
        )

    def _daemon(self) -> psutil.Process | None:
        with contextlib.suppress(OSError, psutil.NoSuchProcess):
            return psutil.Process(int((self._directory / "daemon.pid").read_text().split()[0]))
        return None


async def _end_sessions(*, every: bool) -> None:
    """Those that live; `every` one lets go of what an ended program's debugger still holds, such as its folders, as well."""
    async with stillframe.connect() as dbg:
        for each in (await dbg.sessions(all=True)).sessions:
            if each.state not in _ENDED or (every and each.state == "exited"):
                await dbg.stop(session=each.name)


_ENDED = ("exited", "detached", "lost", "elsewhere")


def _debuggers(daemon: psutil.Process) -> list[psutil.Process]:
    """The daemon's children but for its guardian, which watches over all that will come."""
    return [each for each in daemon.children() if guardian_program.__file__ not in command(each)]
