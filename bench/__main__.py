"""`./dev bench`: the standard job through a bare client, the library, the daemon and the command line, interleaved in one run.

Prints medians and ratios; only the ratios travel from one machine to another.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import stillframe
from stillframe.faces.library import Debugger
from stillframe.settings import Settings

from . import bugs, many, record, recorders
from .ours import CommandLine, bare_python, library_job
from .over_mcp import OverMcp
from .subjects import Subject, subjects

ROUNDS = 7

Times = dict[tuple[str, str, str], list[float]]


async def measure(rounds: int, measured: Sequence[Subject], folder: Path) -> Times:
    times: Times = defaultdict(list)

    def note(subject: str, who: str, found: dict[str, float]) -> None:
        for what, value in found.items():
            times[subject, who, what].append(value)

    command_line, mcp = CommandLine(folder), OverMcp(folder)
    command_line.call()  # from here on there is a daemon, whose state is not the library's
    try:
        async with (
            Debugger() as dbg,  # with its recording on, as for everybody
            Debugger(settings=Settings(record=False)) as unrecorded,
            stillframe.connect() as remote,
        ):
            for number in range(rounds + 1):
                for each in measured:
                    found = {
                        "bare": each.floor_job(),
                        "library": await library_job(dbg, each),
                        "unrecorded": await library_job(unrecorded, each),
                    }
                    if each.by_command_line:
                        found["daemon"] = await library_job(remote, each)
                        found["command line"] = command_line.job(each.program, each.line, each.look, *each.flags)
                        found["mcp"] = await asyncio.to_thread(mcp.job, each)
                    for who, times_found in found.items() if number else ():  # the first round is a warm-up
                        note(each.name, who, times_found)
                for _ in range(5):
                    note("", "command line", {"call": command_line.call()})
                    note("", "python", {"start": bare_python()})
                    note("", "mcp", {"first list": mcp.first_list()})
                note("", "mcp", {"first list from nothing": mcp.first_list_from_nothing()})
    finally:
        mcp.close()
        command_line.close()
    return times


def row(name: str, ours: float, floor: float | None, goal: str) -> str:
    ratio = f"{ours / floor:5.2f} x" if floor else "       "
    against = f"{floor:9.1f}" if floor else " " * 9
    return f"{name:<52}{ours:9.1f}{against}  {ratio}  {goal}"


def report(times: Times, measured: Sequence[Subject]) -> list[str]:
    def median(subject: str, who: str, what: str) -> float:
        return statistics.median(times[subject, who, what])

    rows = [f"{'medians, ms unless said':<52}{'ours':>9}{'floor':>9}  {'ratio':>7}  goal"]
    for each in measured:
        name, floor = each.name, median(each.name, "bare", "first stop")
        step = median(name, "library", "step"), median(name, "bare", "step")
        rows += [
            row(f"{name}: first stop, library", median(name, "library", "first stop"), floor, each.first_stop),
            row(f"{name}: the same, not recorded", median(name, "unrecorded", "first stop"), floor, ""),
            row(f"{name}: step with its locals, library", *step, "<= 1.5 x"),
            row(f"{name}: the same, not recorded", median(name, "unrecorded", "step"), step[1], ""),
            row(f"{name}: end reported after the last line", median(name, "library", "end"), None, "<= 150"),
        ]
        if each.by_command_line:
            through = median(name, "daemon", "step")
            rows.append(row(f"{name}: step with its locals, by the daemon", through, step[1], each.by_daemon))
            first, text = (median(name, "command line", what) for what in ("first stop", "characters"))
            rows.append(row(f"{name}: first stop, whole `dbg launch`", first, floor, ""))
            rows.append(row(f"{name}: job in 4 calls, characters", text, None, "<= 700"))
            for who, by in (("a bare client", ""), ("the SDK's client", "sdk ")):
                whole, own = (median(name, "mcp", by + what) for what in ("step", "own"))
                title = f"{name}: step over MCP, {who}, its {own:.1f} off"
                rows.append(row(title, whole - own, step[1], "<= 2 x"))
            told = median(name, "mcp", "characters")
            rows.append(row(f"{name}: job in 4 calls over MCP, characters", told, None, "<= 1500"))
    call, start = median("", "command line", "call"), median("", "python", "start")
    rows.append(row("whole `dbg` call, against python -IS alone", call, start, "<= 25 ms unloaded"))
    rows.append(row("first tool list of `dbg mcp`, with a warm host", median("", "mcp", "first list"), start, "<= 100"))
    nothing = median("", "mcp", "first list from nothing")
    rows.append(row("first tool list of `dbg mcp`, from nothing", nothing, None, "<= 1500"))
    return rows


def crowd_report(times: dict[str, tuple[float, float]], sessions: int) -> list[str]:
    return [
        row(f"{name}: step among {sessions}, against alone", among, alone, "<= 2 x")
        for name, (alone, among) in times.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--only", nargs="+", default=(), help="these debuggers alone, by name")
    parser.add_argument("--sessions", type=int, default=many.SESSIONS, help="how many are held at once; 0: none")
    parser.add_argument(
        "--no-record", dest="record", action="store_false", help="not what the record costs and answers"
    )
    parser.add_argument(
        "--record-only", action="store_true", help="what the record costs and answers, and nothing else"
    )
    parser.add_argument("--no-bugs", dest="bugs", action="store_false", help="not the faulty programs of examples/bugs")
    parser.add_argument("--no-recorders", dest="recorders", action="store_false", help="not what trace and probe cost")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/library"  # what is recorded goes with the rest
        os.environ["STILLFRAME_RUNTIME_DIR"] = f"{folder}/run"  # of the daemon that is measured, not of the user's
        if asked.record_only:
            print("\n".join(asyncio.run(record.rows(Path(folder), asked.rounds))))
            return
        measured = [each for each in subjects(Path(folder)) if not asked.only or each.name in asked.only]
        rows = report(asyncio.run(measure(asked.rounds, measured, Path(folder))), measured)
        if asked.sessions:
            rows += crowd_report(asyncio.run(many.measure(measured, asked.sessions)), asked.sessions)
        if asked.record:
            rows += asyncio.run(record.rows(Path(folder), asked.rounds))
        if asked.recorders:
            rows += asyncio.run(recorders.rows())
        if asked.bugs:
            rows += bugs.rows(Path(folder))
        print("\n".join(rows))


if __name__ == "__main__":
    main()
