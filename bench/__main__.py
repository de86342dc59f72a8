"""`./dev bench`: the standard job through a bare client, the library and the command line, interleaved in one run.

Prints medians and ratios; only the ratios travel from one machine to another.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stillframe.faces.library import Debugger

from . import bare, bare_node
from .ours import CommandLine, bare_python, library_job

HERE = Path(__file__).parent
ROUNDS = 7

Times = dict[tuple[str, str, str], list[float]]


@dataclass(frozen=True)
class Subject:
    """A language's standard job: its program, the line that starts it, and the floor that it is measured against."""

    name: str
    program: Path
    look: str
    floor: Callable[[Path, int], dict[str, float]]
    first_stop: str
    python: str | None = None

    @property
    def line(self) -> int:
        lines = self.program.read_text().splitlines()
        return next(number for number, text in enumerate(lines, 1) if "seen = {}" in text)

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--python", self.python) if self.python else ()


PYTHON = Subject("python", HERE / "program.py", "len(words)", bare.job, "<= 0.85 x", sys.executable)
NODE = Subject("node", HERE / "program.js", "words.length", bare_node.job, "<= 1.2 x")


def subjects() -> list[Subject]:
    return [PYTHON, NODE] if shutil.which("node") else [PYTHON]


async def measure(rounds: int) -> Times:
    times: Times = defaultdict(list)

    def note(subject: str, who: str, found: dict[str, float]) -> None:
        for what, value in found.items():
            times[subject, who, what].append(value)

    with tempfile.TemporaryDirectory() as folder:
        command_line = CommandLine(Path(folder))
        try:
            async with Debugger() as dbg:
                for number in range(rounds + 1):
                    for each in subjects():
                        job = (each.program, each.line)
                        found = {
                            "bare": each.floor(*job),
                            "library": await library_job(dbg, *job, each.look, each.python),
                            "command line": command_line.job(*job, each.look, *each.flags),
                        }
                        for who, times_found in found.items() if number else ():  # the first round is a warm-up
                            note(each.name, who, times_found)
                    for _ in range(5):
                        note("", "command line", {"call": command_line.call()})
                        note("", "python", {"start": bare_python()})
        finally:
            command_line.close()
    return times


def row(name: str, ours: float, floor: float | None, goal: str) -> str:
    ratio = f"{ours / floor:5.2f} x" if floor else "       "
    against = f"{floor:9.1f}" if floor else " " * 9
    return f"{name:<44}{ours:9.1f}{against}  {ratio}  {goal}"


def report(times: Times) -> str:
    def median(subject: str, who: str, what: str) -> float:
        return statistics.median(times[subject, who, what])

    rows = [f"{'medians, ms unless said':<44}{'ours':>9}{'floor':>9}  {'ratio':>7}  goal"]
    for each in subjects():
        floor = median(each.name, "bare", "first stop")
        rows += [
            row(
                f"{each.name}: first stop, library", median(each.name, "library", "first stop"), floor, each.first_stop
            ),
            row(
                f"{each.name}: step with its locals, library",
                median(each.name, "library", "step"),
                median(each.name, "bare", "step"),
                "<= 1.5 x",
            ),
            row(f"{each.name}: end reported after the last line", median(each.name, "library", "end"), None, "<= 150"),
            row(
                f"{each.name}: first stop, whole `dbg launch`",
                median(each.name, "command line", "first stop"),
                floor,
                "",
            ),
            row(
                f"{each.name}: job in 4 calls, characters",
                median(each.name, "command line", "characters"),
                None,
                "<= 700",
            ),
        ]
    call, start = median("", "command line", "call"), median("", "python", "start")
    rows.append(row("whole `dbg` call, against python -IS alone", call, start, "<= 25 ms unloaded"))
    return "\n".join(rows)


if __name__ == "__main__":
    print(report(asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))))
