"""What one call of a fat verb costs an agent, against the way step by step, on the twenty programs of examples/bugs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .ours import CommandLine

FOLDER = Path(__file__).parent.parent / "examples" / "bugs"
MOST_STEPS = 80
_AT = re.compile(r"^.*\S stopped: .* at (\S+:\d+)\b", re.MULTILINE)


class Bug(msgspec.Struct, frozen=True):
    """One faulty program: how it fails, what to ask, and what of the answer gives the fault away."""

    name: str
    fault: str
    fails: str
    ask: str
    shows: tuple[str, ...]
    begin: str
    """Where somebody who steps would begin."""
    made: str
    """The line that makes the value wrong."""
    build: str = ""
    ends: str = "1"
    """The exit code of the command that fails; `never` where it hangs."""
    says: str = ""
    """What it prints, by which somebody would know that it has failed."""

    def source(self) -> str:
        """The text of the line that makes the value wrong."""
        file, _, line = self.made.partition(":")
        return (FOLDER / self.name / file).read_text().splitlines()[int(line) - 1].strip()

    def laid_out(self, folder: Path) -> Path:
        """A copy of it, built."""
        here = shutil.copytree(FOLDER / self.name, folder / self.name)
        if self.build:
            subprocess.run(self.build, shell=True, cwd=here, check=True)
        return here


def bugs() -> dict[str, Bug]:
    told = tomllib.loads((FOLDER / "bugs.toml").read_text())
    return {name: msgspec.convert({"name": name, **each}, Bug) for name, each in told.items()}


def rows(folder: Path) -> Iterator[str]:
    """A line for each bug: calls and characters of the one way and of the other."""
    yield f"{'bugs: one call against step by step':<52}{'ours':>9}{'steps':>9}  {'calls':>7}"
    command_line = CommandLine(folder)
    try:
        for bug in bugs().values():
            command_line.cwd = bug.laid_out(folder / "bugs")
            asked = len(command_line.run(*shlex.split(bug.ask))[1])
            calls, stepped = _by_steps(command_line, bug)
            yield f"{bug.name + ', characters':<52}{asked:9}{stepped:9}  1 : {calls}"
    finally:
        command_line.close()


def _by_steps(command_line: CommandLine, bug: Bug) -> tuple[str, int]:
    """Run to where one would look, then step, a call each, until the line that makes it wrong has run."""
    said = [command_line.run("launch", "--break", bug.begin, "--", *shlex.split(bug.fails))[1]]
    was_there = False
    while len(said) < MOST_STEPS and " stopped: " in said[-1]:
        if was_there:
            break
        at = _AT.search(said[-1])
        was_there = at is not None and at[1] == bug.made
        said.append(command_line.run("step")[1])
    command_line.run("stop")
    return f"{len(said)}{'' if was_there else ' and not there yet'}", sum(map(len, said))
