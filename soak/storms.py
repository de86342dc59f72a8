"""Faults survived: kills at any moment, clients that all start a daemon at once, and how soon one is back."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from stillframe.errors import StillframeError
from tests.faces.conftest import CLIENT, DEADLINE, call
from tests.faces.daemon.test_election import daemons, starts
from tests.guard import eventually, gone
from tests.record.test_cursor_storm import said
from tests.record.test_storm import acknowledged, storm

from .ground import Ground, stopwatch
from .table import Row, none_of

_CHECKED = 40
"""Kills between two looks at the whole record."""
Hits = set[tuple[str, int]]


class Storm:
    """One life after another of a session that is told of stops, each ended by a kill of somebody in it."""

    def __init__(self, ground: Ground) -> None:
        self._program = ground.file("loop.py", "for i in range(100000):\n    x = i\n")
        self._chance = random.Random(3)
        self.told: Hits = set()
        """The stops that somebody was told of: the session's name, and the number there."""
        self.kills = {"daemon": 0, "target": 0, "client": 0}

    async def one(self) -> None:
        """A session with some stops, and a kill in the midst of the next one."""
        self.name = f"s{sum(self.kills.values())}"
        where = {"program": [str(self._program)], "breaks": [f"{self._program}:2"], "python": sys.executable}
        self._note(await said(self._program.parent, "launch", name=self.name, **where))
        pids = {
            "daemon": (await said(self._program.parent, "daemon", action="status"))["result"]["pid"],
            "target": (await said(self._program.parent, "status"))["result"]["pid"],
        }
        for _ in range(self._chance.randint(0, 5)):
            self._note(await said(self._program.parent, "continue"))
        victim = self._chance.choice(list(self.kills))
        self.kills[victim] += 1
        await (self._kill_client() if victim == "client" else self._kill(pids[victim]))
        target = psutil.Process(pids["target"]) if psutil.pid_exists(pids["target"]) else None
        ended = {} if victim == "daemon" else await said(self._program.parent, "stop")
        if target is not None:
            eventually(lambda: gone(target), f"the program outlived its session when the {victim} was killed: {ended}")

    async def _kill(self, pid: int) -> None:
        underway = asyncio.create_task(said(self._program.parent, "continue"))
        for _ in range(self._chance.randint(1, 80)):  # turns of the loop, so that it is another moment each time
            await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        try:
            self._note(await underway)
        except StillframeError:
            return  # it went away in the middle of the call

    async def _kill_client(self) -> None:
        """A client of the command line, killed after what it printed so far; the call may be done, or not."""
        out = await asyncio.to_thread(_killed_client, self._program.parent, self._chance.uniform(0.0, 0.15))
        if out.endswith(b"}\n"):
            self._note(json.loads(out))

    def _note(self, reply: dict[str, Any]) -> None:
        number = (reply.get("result") or {}).get("number") if reply.get("ok") else None
        if number is not None:
            self.told.add((self.name, number))


def _killed_client(cwd: Path, seconds: float) -> bytes:
    """What a `dbg continue` printed that was killed so soon."""
    words = [*CLIENT, "continue", "--json"]
    with subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as going:
        try:
            return going.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            going.kill()
            return going.communicate(timeout=DEADLINE)[0]


async def kills(ground: Ground) -> list[Row]:
    """F2: nothing that somebody was told of is lost, whoever is killed, and the record stays whole."""
    place = Path(os.environ["XDG_STATE_HOME"], "stillframe")
    life, broken, lives = Storm(ground), [], 0
    until = ground.part_of_time(0.6)
    while lives < 6 or asyncio.get_running_loop().time() < until:
        await life.one()
        lives += 1
        if lives % _CHECKED == 0:
            broken += _unsound(place)[1]
    rows, unsound = _unsound(place)
    done = f"{lives} kills: " + ", ".join(f"{count} of a {who}" for who, count in life.kills.items())
    return [
        none_of(
            "F2 told stops that are lost", f"{done}; {len(life.told)} stops told", sorted(life.told - rows), "lost"
        ),
        none_of("F2 record not whole", f"integrity_check each {_CHECKED} kills", broken + unsound, "faults"),
        *_writers(ground),
    ]


def _writers(ground: Ground) -> list[Row]:
    """Two processes that write to one record as fast as they can, killed again and again."""
    state, chance, written, broken, count = ground.project / "state", random.Random(7), set(), [], 0
    state.mkdir()
    until = ground.part_of_time(0.25)
    while count < 4 or asyncio.get_running_loop().time() < until:
        for process in [storm(state, f"a-{count}"), storm(state, f"b-{count}")]:
            written |= set(acknowledged(process, chance.randint(1, 60)))
            count += 1
        rows, unsound = _unsound(state)
        broken += unsound
    done = f"{count} kills of writers, {len(written)} hits acknowledged"
    return [
        none_of("F2 acknowledged hits that are lost", done, sorted(written - rows), "lost"),
        none_of("F2 record not whole, two writers", f"{count // 2} integrity_checks", broken, "faults"),
    ]


def _unsound(state: Path) -> tuple[Hits, list[str]]:
    """The hits of a record, by run and number; and what SQLite finds wrong with it."""
    record = sqlite3.connect(f"file:{state / 'record.sqlite'}?mode=ro", uri=True)
    rows = set(record.execute("SELECT r.name, h.number FROM hit h JOIN run r ON r.id=h.run").fetchall())
    checked = [each for (each,) in record.execute("PRAGMA integrity_check") if each != "ok"]
    record.close()
    return rows, checked


def starts_at_once(ground: Ground) -> list[Row]:
    """F3: clients that find no daemon, all at once, start one."""
    clients = max(8, min(60, int(ground.seconds * 1.5)))
    rounds, off = 0, []
    while rounds < 2 or (ground.is_time_left and rounds < 20):
        rounds += 1
        racing = [
            subprocess.Popen([*CLIENT, "sessions"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(clients)
        ]
        for each in racing:
            err = each.communicate(timeout=DEADLINE)[1]
            if each.returncode:
                off.append(f"exit code {each.returncode}: {err!r}")
        if len(daemons()) != 1 or starts() != rounds:
            off.append(f"{len(daemons())} daemons, {starts()} starts in {rounds} rounds")
        call("daemon", "stop")
    return [none_of("F3 more or fewer than one daemon", f"{rounds} x {clients} clients at once", off, "rounds")]


def back_again(ground: Ground) -> list[Row]:
    """F4: how soon a daemon that was killed has a successor that answers."""
    ground.daemon()
    times: list[float] = []
    off: list[str] = []
    while len(times) < 3 or (ground.is_time_left and len(times) < 100):
        old = ground.status()["pid"]
        os.kill(old, signal.SIGKILL)
        with stopwatch() as took:
            code = call("sessions").code
        times += took
        if code or ground.status()["pid"] == old:
            off.append(f"exit code {code}")
    soon = sum(each <= 1.0 for each in times)
    return [
        none_of("F4 calls after a kill that failed", f"{len(times)} kills of the daemon", off, "failed"),
        Row(
            "F4 back within a second",
            f"slowest {max(times):.2f} s",
            f"{soon} of {len(times)}",
            "all",
            soon == len(times),
        ),
    ]
