"""What recording costs a program, in its own CPU time: a traced line, a probe's hit, and code that nobody asked about."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from stillframe.faces.library import Debugger
from stillframe.model.outcomes import Exited
from stillframe.settings import Settings

HERE = Path(__file__).parent
TURNS = 20_000
HITS = 100_000
"""As many as the goal speaks of. What is paid once, such as compiling, weighs more with fewer."""
ROUNDS = 2
LINES = 4
"""Lines of one turn of the traced loop, its header among them."""


def runtimes() -> Iterator[tuple[str, str, Path]]:
    """Name, path and program of every runtime here that has a recorder."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [each / "bin" / "python" for each in sorted(home.glob("3.[89].*")) + sorted(home.glob("3.1[0-3].*"))]
    for path in [each for each in found if each.exists()] or [Path(sys.executable)]:
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        yield f"Python {version}", str(path), HERE / "recorded.py"
    if node := shutil.which("node"):
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        yield f"Node {version[1:]}", node, HERE / "recorded.js"


async def rows(rounds: int = ROUNDS) -> list[str]:
    made = [f"{'recorders, µs of CPU time':<52}{'ours':>9}{'plain':>9}"]
    async with Debugger(settings=Settings(record=False)) as dbg:
        for name, runtime, program in runtimes():
            command = [runtime, str(program), str(TURNS)]
            plain = _best([_run(command) for _ in range(rounds)])
            traced = _best([await _traced(dbg, command) for _ in range(rounds)])
            probed = _best([await _probed(dbg, [*command[:2], str(HITS)], program) for _ in range(rounds)])
            line, hit = _goals(name)
            made += [
                _row(f"{name}: a traced line", traced["traced"] / LINES, plain["traced"] / LINES, line),
                _row(f"{name}: a probe's hit, with a claim", probed["probed"], plain["probed"], hit),
                _row(
                    f"{name}: a turn of code outside", max(traced["outside"], probed["outside"]), plain["outside"], ""
                ),
            ]
    return made


def _goals(name: str) -> tuple[str, str]:
    if name.startswith("Node"):
        return "<= 5", "<= 1"
    return (
        ("<= 10", "<= 3")
        if name >= "Python 3.12" and not name.startswith(("Python 3.8", "Python 3.9"))
        else ("told", "<= 6")
    )


def _row(name: str, ours: float, plain: float, goal: str) -> str:
    return f"{name:<52}{ours:9.2f}{plain:9.2f}           {goal}"


def _best(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(each[name] for each in found) for name in found[0]}


def _run(command: list[str]) -> dict[str, float]:
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(json.loads(said))


async def _traced(dbg: Debugger, command: list[str]) -> dict[str, float]:
    report = await dbg.trace("traced", command=command)
    assert report.life is not None and isinstance(report.end, Exited), report
    return dict(json.loads(report.end.output))


async def _probed(dbg: Debugger, command: list[str], program: Path) -> dict[str, float]:
    place = f'{program}@"@probe"'
    report = await dbg.probe(place, command=command, eval=["price"], expect=["price >= 0"])
    assert report.places[0].count == HITS and isinstance(report.end, Exited), report
    return dict(json.loads(report.end.output))
