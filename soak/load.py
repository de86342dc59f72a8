"""Load held: many sessions at once, calls while a program floods, a gigabyte of output, and session after session."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import time

import stillframe
from stillframe.errors import StillframeError
from stillframe.faces.daemonline import KeptLines

from .ground import Ground, peak, rss
from .table import Row, at_most, none_of

_LOOP = "n = 0\nwhile True:\n    n += 1\n    n -= 0\n"
_FLOOD = """
import sys, time
line, began, written = b"x" * 99 + b"\\n", time.monotonic(), 0
while True:
    written += sys.stdout.buffer.write(line * 1000)
    time.sleep(max(0.0, written / 10e6 - (time.monotonic() - began)))
"""
CLIENTS = 16
_BETWEEN = 0.05
"""Seconds that one of them thinks before its next call, on the average: each by itself, not all in step."""


async def many_sessions(ground: Ground) -> list[Row]:
    """L1: live sessions of the scripted adapter and of real Pythons, all used at random for as long as there is time."""
    minutes = ground.seconds / 150
    fakes, pythons = (max(3, min(most, int(most * minutes))) for most in (150, 50))
    program, daemon, chance = ground.file("loop.py", _LOOP), ground.daemon(), random.Random(1)
    failures: list[str] = []
    async with stillframe.connect(cwd=str(ground.project)) as dbg:
        await dbg.launch("a.foo", name="first")  # from here on it has its record and its guardian
        await dbg.stop(session="first")
        began = rss(daemon), daemon.num_fds()
        names = [f"p{at}" for at in range(pythons)] + [f"f{at}" for at in range(fakes)]
        for name in names:
            if name.startswith("p"):
                await dbg.launch(str(program), breaks=[f"{program}:3"], name=name, python=sys.executable)
            else:
                await dbg.launch("a.foo", name=name)
        held, calls, until = [rss(daemon)], 0, ground.part_of_time(0.5)
        while calls < len(names) or time.monotonic() < until:
            name = names[calls % len(names)] if calls < len(names) else chance.choice(names)
            try:
                await (dbg.next(session=name) if name.startswith("p") else dbg.locals(session=name))
            except StillframeError as error:
                failures.append(f"{name}: {error}")
            calls += 1
            held.append(rss(daemon))
        done = f"{fakes} scripted and {pythons} Python sessions, {calls} calls"
        settled = held[len(held) // 3]
        await dbg.stop(all=True)
    fds = daemon.num_fds() - began[1]
    return [
        none_of("L1 errors", done, failures + ground.log_of_failures(), "errors"),
        at_most("L1 memory of the daemon", f"from {began[0]:.0f} MB without sessions", max(held), 250, "MB"),
        at_most("L1 growth while held", "over the last two thirds", (held[-1] / settled - 1) * 100, 5, "%"),
        Row("L1 open files", "after all sessions ended", f"{fds:+d}", "+-5", abs(fds) <= 5, must=True),
        ground.left_by_sessions("L1 left by the sessions", "after all sessions ended"),
    ]


async def calls_in_a_flood(ground: Ground) -> list[Row]:
    """L2: how long a call takes while a program floods the daemon with ten megabytes a second."""
    program = ground.file("flood.py", _FLOOD)
    times: list[float] = []

    async def client(number: int, until: float) -> None:
        lines, chance = KeptLines(), random.Random(number)
        for turn in range(sys.maxsize):
            op = ("status", "sessions", "hits")[turn % 3]
            args = {"session": "flood"} if op == "status" else {}
            began = time.perf_counter()
            answer = await lines.ask(
                {"op": op, "args": {}, "json": True, "cwd": str(ground.project), **args, "env": {}}
            )
            times.append((time.perf_counter() - began) * 1000)
            assert json.loads(answer.reply)["ok"], answer.reply
            if time.monotonic() > until:
                return
            await asyncio.sleep(chance.uniform(0, 2 * _BETWEEN))

    async with stillframe.connect(cwd=str(ground.project)) as dbg:
        await dbg.launch(str(program), name="flood", python=sys.executable, timeout=0)
        until, began = ground.part_of_time(0.6), time.monotonic()
        before = (await dbg.status(session="flood")).output_bytes
        await asyncio.gather(*(client(number, until) for number in range(CLIENTS)))
        flood = ((await dbg.status(session="flood")).output_bytes - before) / 1e6 / (time.monotonic() - began)
        await dbg.stop(session="flood")
    done = f"{len(times)} calls of {CLIENTS} clients in {flood:.0f} MB/s"
    return [at_most("L2 a call in a flood, p99", done, statistics.quantiles(times, n=100)[98], 50, "ms")]


async def a_gigabyte(ground: Ground) -> list[Row]:
    """L3: what a program prints is counted to the byte, kept or said to be dropped, and never hoarded."""
    pieces = max(20, int(1000 * ground.seconds / 60))
    text = "import sys\nchunk = b'0123456789' * 100_000\nfor _ in range(%d):\n    sys.stdout.buffer.write(chunk)\n"
    program, daemon = ground.file("print.py", text % min(pieces, 1000)), ground.daemon()
    printed = min(pieces, 1000) * 1_000_000
    async with stillframe.connect(cwd=str(ground.project)) as dbg:
        end = await dbg.launch(str(program), name="print", python=sys.executable, timeout=600)
        assert isinstance(end, stillframe.Exited), end
        status = await dbg.status(session="print")
        page = await dbg.output(session="print", since="0.0.0.0", limit=1000)
        await dbg.stop(session="print")
    counts = {status.output_bytes, page.total, len(end.output) + end.dropped}
    whole = page.dropped + len(page.stdout) == int(page.cursor.split(".")[0])
    done = f"{printed / 1e6:.0f} MB printed"
    off = sorted(each - printed for each in counts if each != printed) + ([] if whole else ["a page"])
    return [
        none_of("L3 bytes neither kept nor said to be dropped", done, off, "counts that are off"),
        at_most("L3 memory of the daemon", done, peak(daemon), 150, "MB"),
    ]


async def one_after_another(ground: Ground) -> list[Row]:
    """L4: sessions that come and go leave nothing."""
    program, count, failures = ground.file("end.py", "x = 1\nprint(x)\n"), 0, []
    daemon, fds = ground.daemon(), None
    async with stillframe.connect(cwd=str(ground.project)) as dbg:
        until = ground.part_of_time(0.8)
        while count < 10 or time.monotonic() < until:
            count += 1
            try:
                if count % 2:
                    await dbg.launch(str(program), breaks=[f"{program}:2"], name="one", python=sys.executable)
                else:
                    await dbg.launch("a.foo", name="one")
                if count % 3:
                    await dbg.continue_(session="one")
                await dbg.stop(session="one")
            except StillframeError as error:
                failures.append(str(error))
            fds = daemon.num_fds() if fds is None else fds
    done = f"{count} sessions one after another"
    grown = daemon.num_fds() - (fds or 0)
    return [
        none_of("L4 errors", done, failures + ground.log_of_failures(), "errors"),
        ground.left_by_sessions("L4 left by the sessions", done),
        Row("L4 open files of the daemon", "since the first of them", f"{grown:+d}", "+-5", abs(grown) <= 5, must=True),
    ]
