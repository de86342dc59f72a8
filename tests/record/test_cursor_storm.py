"""A storm of kills of a real daemon: whoever comes back with a cursor gets every hit once, and no acknowledged one is lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from stillframe.errors import Internal
from stillframe.faces.daemonline import ask

from ..faces.conftest import call
from ..guard import eventually, gone

KILLS = int(os.environ.get("STILLFRAME_DAEMON_STORM", "3"))
"""Fifty by hand; a few in every run."""
PAGE = 3
"""Events that the reader takes at a time, so that it comes back in the midst of a run as well."""


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    program = tmp_path / "loop.py"
    program.write_text("for i in range(1000):\n    x = i\n")
    yield program
    call("daemon", "stop")


async def said(cwd: Path, op: str, **args: Any) -> dict[str, Any]:
    """What the daemon replies, whichever one it is."""
    starts = dict(os.environ) if op == "launch" else {}
    answer = await ask({"op": op, "args": args, "json": True, "cwd": str(cwd), "client": "storm", "env": starts})
    reply: dict[str, Any] = json.loads(answer.reply)
    return reply


class Reader:
    """Somebody who asks for stops from behind the last one seen, and keeps nothing but the cursor."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._cursor = "0"
        self.seen: list[tuple[str, str]] = []

    async def read(self, pages: int) -> None:
        """So many pages, or up to the newest event."""
        for _ in range(pages):
            found = (await said(self._cwd, "events", since=self._cursor, kind=["stop"], count=PAGE))["result"]
            self.seen += [(each["run"], each["hit"]) for each in found["events"]]
            self._cursor = found["cursor"]
            if len(found["events"]) == found["total"]:
                return


async def killed_in_midst(program: Path, chance: random.Random, reader: Reader) -> set[int]:
    """One daemon's life: the numbers of the stops that it told of before it was killed, in the midst of another."""
    place = f"{program}:2"
    first = await said(program.parent, "launch", program=[str(program)], breaks=[place], python=sys.executable)
    told = {first["result"]["number"]}
    daemon = (await said(program.parent, "daemon", action="status"))["result"]["pid"]
    target = psutil.Process((await said(program.parent, "status"))["result"]["pid"])
    for _ in range(chance.randint(0, 6)):
        told.add((await said(program.parent, "continue"))["result"]["number"])
    await reader.read(chance.randint(0, 2))
    underway = asyncio.create_task(said(program.parent, "continue"))
    for _ in range(chance.randint(1, 60)):  # turns of the loop, so that it is another moment each time
        await asyncio.sleep(0)
    os.kill(daemon, signal.SIGKILL)
    try:
        reply = await underway
    except Internal:  # it went away in the middle of the call
        reply = {"ok": False}
    if reply["ok"]:
        told.add(reply["result"]["number"])
    eventually(lambda: gone(target), "the program outlived its daemon")
    return told


@pytest.mark.long
async def test_whoever_comes_back_with_a_cursor_gets_each_hit_once_however_often_the_daemon_is_killed(
    loop: Path,
) -> None:
    chance = random.Random(11)
    reader = Reader(loop.parent)
    acknowledged: set[tuple[str, str]] = set()
    for number in range(1, KILLS + 1):
        acknowledged |= {(f"r{number}", f"h{each}") for each in await killed_in_midst(loop, chance, reader)}
    await reader.read(sys.maxsize)
    record = sqlite3.connect(f"file:{os.environ['XDG_STATE_HOME']}/stillframe/record.sqlite?mode=ro", uri=True)
    rows = record.execute("SELECT run, number FROM hit ORDER BY id").fetchall()
    assert record.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    record.close()
    assert reader.seen == [(f"r{run}", f"h{number}") for run, number in rows], "one was missed, or came twice"
    assert acknowledged <= set(reader.seen)
    for run in range(1, KILLS + 1):
        numbers = [number for each, number in rows if each == run]
        assert numbers == list(range(1, len(numbers) + 1)), "numbers have gaps"
