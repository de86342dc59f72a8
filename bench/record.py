"""What recording costs a stop, and how quickly and in what size a record of a hundred thousand hits answers."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from stillframe.faces.library import Debugger
from stillframe.model.outcomes import Stop
from stillframe.model.places import parse_place
from stillframe.model.recording import RunFacts
from stillframe.model.values import Frame, Value
from stillframe.record import comparing, finding, hits, scopes
from stillframe.record.finding import View
from stillframe.record.record import Record
from stillframe.settings import Settings

PROGRAM = Path(__file__).with_name("program.py")
HITS = 100_000
LOCALS = 10
AT_ONCE = 2000


async def cost(program: Path, line: int, rounds: int) -> dict[str, float]:
    """Milliseconds of a step with its locals and of a stop at a breakpoint, with the record and without."""
    times: dict[str, list[float]] = {}
    async with Debugger() as on, Debugger(settings=Settings(record=False)) as off:
        for number in range(rounds + 1):
            for who, dbg in (("on", on), ("off", off)):
                await dbg.launch(str(program), breaks=[f"{program}:{line}"], python=sys.executable)
                for _ in range(20):
                    began = time.perf_counter()
                    await dbg.next()
                    if number:
                        times.setdefault(who, []).append((time.perf_counter() - began) * 1000)
                await dbg.stop()
    return {who: statistics.median(found) for who, found in times.items()}


Took = tuple[float, float]
"""Milliseconds by the clock, and of the processor: the machine may have others to serve."""


async def large(folder: Path) -> tuple[float, dict[str, Took]]:
    """A record of two runs with half of the hits each: its size in megabytes, and how long each question takes."""
    record = Record(folder, f"{os.getpid()}:0")
    lines = [f"    line_{n} = {n}" for n in range(200)]
    for run in range(2):
        tape = record.begin(RunFacts(name=f"run-{run}", root=str(folder), base=str(folder)), None)
        for begin in range(0, HITS // 2, AT_ONCE):
            await asyncio.gather(
                *(tape.stop(_stop(number, run), lines, many=True) for number in range(begin, begin + AT_ONCE))
            )
    while await record.look(lambda c: c.execute("SELECT count(*) FROM hit").fetchone()[0]) < HITS:
        await record.settled()
    await record.close()
    found = record.path.stat().st_size / 1e6, await _asked(record, folder)
    await record.close()
    return found


def _stop(number: int, run: int) -> Stop:
    """Ten locals: some that stay, some that change at every hit, an object among them, one that differs between the runs late."""
    frame = Frame(function="total", file="shop.py", line=14, id="f0", module="shop")
    values = [
        Value(name="i", type="int", value=str(number)),
        Value(name="out", type="float", value=f"{number * 1.5 + (run if number > HITS // 4 else 0)}"),
        Value(name="qty", type="int", value=str(number % 7)),
        Value(name="item", type="dict", value=f"{{'sku': 'A-{number}', 'qty': {number % 7}, 'price': 2.5}}", total=3),
        _cart(number),
        Value(
            name="order",
            type="main.Order",
            value=f'main.Order {{Id: "{number}", To: main.City {{Zip: {number}}}}}',
            ref="v2",
        ),
        *(Value(name=f"name_{n}", type="str", value=f"'a value that stays the same {n}'") for n in range(LOCALS - 6)),
    ]
    outer = Frame(function="main", file="shop.py", line=30, id="f1", module="shop")
    return Stop(
        reason="breakpoint", thread="t1", frame=frame, stack=(frame, outer), locals=tuple(values), breakpoints=("b1",)
    )


def _cart(number: int) -> Value:
    """An object whose text was cut, with its first parts told beside it."""
    parts = {"note": "'it\\'s \"so\"'", "owner": f"'ü{number}'", "qty": str(number % 9), "lines": "[[1, 2], [3, 4], …]"}
    return Value(
        name="cart",
        type="Cart",
        value=f"Cart(note='it\\'s \"so\"', owner='ü{number}', …)",
        truncated=True,
        ref="v1",
        children=tuple(Value(name=name, type="int", value=value) for name, value in parts.items()),
    )


async def _asked(record: Record, folder: Path) -> dict[str, Took]:
    view, place = View(str(folder), str(folder)), parse_place("shop.py:14")

    def scope(connection: sqlite3.Connection, condition: str | None = None, steps: bool = True) -> scopes.Scope:
        one, other = (finding.run(connection, str(folder), f"run-{n}") for n in range(2))
        both = finding.Run(one.id, one.name, one.root, (*one.members, *other.members))
        return scopes.scope(connection, both, view, place, condition, steps=steps)

    questions: dict[str, Callable[[sqlite3.Connection], object]] = {
        "hits": lambda c: hits.listed(scope(c), 0, 20),
        "hits --where 'qty > 3'": lambda c: hits.listed(scope(c, "qty > 3"), 0, 20),
        "hits --count-by qty": lambda c: hits.grouped(scope(c), "qty", 20, counted=True),
        "hits --where 'item.qty > 3'": lambda c: hits.listed(scope(c, "item.qty > 3"), 0, 20),
        "hits --count-by item.qty": lambda c: hits.grouped(scope(c), "item.qty", 20, counted=True),
        "hits --count-by item.sku": lambda c: hits.grouped(scope(c), "item.sku", 20, counted=True),
        "hits --count-by item.qty --no-steps": lambda c: hits.grouped(
            scope(c, steps=False), "item.qty", 20, counted=True
        ),
        "hits --where 'qty > item.qty'": lambda c: hits.listed(scope(c, "qty > item.qty"), 0, 20),
        "hits --count-by cart.qty": lambda c: hits.grouped(scope(c), "cart.qty", 20, counted=True),
        "hits --where 'cart.qty > 3'": lambda c: hits.listed(scope(c, "cart.qty > 3"), 0, 20),
        "hits --count-by 'cart.lines[1]'": lambda c: hits.grouped(scope(c), "cart.lines[1]", 20, counted=True),
        "hits --where 'cart.nope == 3'": lambda c: hits.listed(scope(c, "cart.nope == 3"), 0, 20),
        "hits --count-by order.To.Zip": lambda c: hits.grouped(scope(c), "order.To.Zip", 20, counted=True),
        "hits --count-by out": lambda c: hits.grouped(scope(c), "out", 20, counted=True),
        "hit-trend out": lambda c: hits.trend(scope(c), "out", "shop.py:14"),
        "hit-trend item.qty": lambda c: hits.trend(scope(c), "item.qty", "shop.py:14"),
        "hit-diff": lambda c: comparing.two_hits(c, 1, HITS, view),
        "diff": lambda c: comparing.two_runs(
            c, finding.run(c, str(folder), "run-0"), finding.run(c, str(folder), "run-1"), view
        ),
    }
    times: dict[str, Took] = {}
    for what, ask in questions.items():
        taken = []
        for _ in range(3):
            began = time.perf_counter(), time.process_time()
            await record.look(ask)
            taken.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        wall, processor = (statistics.median(each) * 1000 for each in zip(*taken, strict=True))
        times[what] = wall, processor
    return times


async def rows(folder: Path, rounds: int) -> list[str]:
    """The part of the report that is about the record."""
    lines = PROGRAM.read_text().splitlines()
    found = await cost(PROGRAM, next(number for number, text in enumerate(lines, 1) if "seen = {}" in text), rounds)
    megabytes, big = await large(folder / "large")
    shutil.rmtree(folder / "large", ignore_errors=True)
    extra = found["on"] - found["off"]
    said = [
        f"{'a step with recording, and without':<52}{found['on']:9.2f}{found['off']:9.2f}  {extra:+5.2f} ms  <= 1 ms or 10 %"
    ]
    said.append(f"{f'a record of {HITS:,} hits, megabytes':<52}{megabytes:9.1f}{'':9}  {'':7}  < 200")
    return said + [
        f"{f'{what}, {HITS:,} hits':<52}{wall:9.1f}{'':9}  {'':7}  <= 200; {processor:.1f} of the processor"
        for what, (wall, processor) in big.items()
    ]
