"""`./dev bench`: the standard job through a bare client, the library and the command line, interleaved in one run.

Prints medians and ratios; only the ratios travel from one machine to another.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from stillframe.faces.library import Debugger

from .bare import job as bare_job
from .ours import CommandLine, bare_python, library_job

PROGRAM = Path(__file__).with_name("program.py")
LINE = next(number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "seen = {}" in text)
ROUNDS = 7

Times = dict[tuple[str, str], list[float]]


async def measure(rounds: int) -> Times:
    times: Times = defaultdict(list)

    def note(who: str, found: dict[str, float]) -> None:
        for what, value in found.items():
            times[who, what].append(value)

    with tempfile.TemporaryDirectory() as folder:
        command_line = CommandLine(Path(folder))
        try:
            async with Debugger() as dbg:
                await library_job(dbg, PROGRAM, LINE)
                command_line.job(PROGRAM, LINE)
                bare_job(PROGRAM, LINE)
                for _ in range(rounds):
                    note("bare", bare_job(PROGRAM, LINE))
                    note("library", await library_job(dbg, PROGRAM, LINE))
                    note("command line", command_line.job(PROGRAM, LINE))
                    for _ in range(5):
                        note("command line", {"call": command_line.call()})
                        note("python", {"start": bare_python()})
        finally:
            command_line.close()
    return times


def row(name: str, ours: float, floor: float | None, goal: str) -> str:
    ratio = f"{ours / floor:5.2f} x" if floor else "       "
    against = f"{floor:9.1f}" if floor else " " * 9
    return f"{name:<44}{ours:9.1f}{against}  {ratio}  {goal}"


def report(times: Times) -> str:
    def median(who: str, what: str) -> float:
        return statistics.median(times[who, what])

    rows = [
        f"{'medians, ms unless said':<44}{'ours':>9}{'floor':>9}  {'ratio':>7}  goal",
        row("first stop, library", median("library", "first stop"), median("bare", "first stop"), "<= 0.85 x"),
        row("step with its locals, library", median("library", "step"), median("bare", "step"), "<= 1.5 x"),
        row("end reported after the program's last line", median("library", "end"), None, "<= 150"),
        row("first stop, whole `dbg launch`", median("command line", "first stop"), median("bare", "first stop"), ""),
        row(
            "whole `dbg` call, against python -IS alone",
            median("command line", "call"),
            median("python", "start"),
            "<= 25 ms unloaded",
        ),
        row("standard job in 4 calls, characters", median("command line", "characters"), None, "<= 700"),
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    print(report(asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))))
