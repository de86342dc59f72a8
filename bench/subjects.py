"""What the bench measures: for each debugger present its program, built where it must be, and the floor it is held against."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stillframe.adapters import adapters
from stillframe.adapters.finding import find

from . import bare, bare_node
from .bare_dap import Floor

HERE = Path(__file__).parent
_FIRST = ("seen = {}", "the first stop")


@dataclass(frozen=True)
class Subject:
    """A debugger's standard job: its program, the line that starts it, and the floor that it is measured against."""

    name: str
    source: Path
    look: str
    floor: Callable[[Path, int], dict[str, float]]
    first_stop: str
    binary: Path | None = None
    python: str | None = None
    adapter: str | None = None
    by_command_line: bool = False
    by_daemon: str = ""
    """What a step is to cost that the daemon makes for a client of the library."""

    @property
    def line(self) -> int:
        lines = self.source.read_text().splitlines()
        return next(number for number, text in enumerate(lines, 1) if any(mark in text for mark in _FIRST))

    @property
    def program(self) -> Path:
        return self.binary or self.source

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--python", self.python) if self.python else ()

    def floor_job(self) -> dict[str, float]:
        return self.floor(self.program, self.line)


_ABOVE = "<= 1.3 x"
_PYTHON = Subject(
    "python", HERE / "program.py", "len(words)", bare.job, "<= 0.85 x", python=sys.executable, by_command_line=True,
    by_daemon="<= 1.5 x",
)  # fmt: skip
_NODE = Subject("node", HERE / "program.js", "words.length", bare_node.job, "<= 1.2 x", by_command_line=True)


def subjects(folder: Path) -> list[Subject]:
    """Every debugger that is here; what has to be built lies in the folder."""
    found = [_PYTHON, *([_NODE] if shutil.which("node") else [])]
    tools = {each.name: _tool(each.name) for each in adapters()}
    if shutil.which("cc"):
        native = folder / "program"
        subprocess.run(["cc", "-g", "-O0", "-o", native, HERE / "program.c"], check=True)
        if gdb := tools.get("gdb"):
            quiet = (gdb, "-q", "-nx", "-i=dap", "-iex", "set debuginfod enabled off")
            found.append(_over_dap("gdb", "program.c", "length", Floor(quiet, "launch"), native))
        if lldb := tools.get("lldb"):
            found.append(_over_dap("lldb", "program.c", "length", Floor((lldb,), "launch"), native))
    if (dlv := tools.get("go")) and shutil.which("go"):
        found.append(_go(dlv, folder / "program-go"))
    if rdbg := tools.get("ruby"):
        words = (rdbg, "--open", "--sock-path={socket}", "{program}")
        floor = Floor(words, "attach", {"localfs": True}, ("local variables",), holds_first=True)
        found.append(_over_dap("ruby", "program.rb", "words.size", floor))
    return found


def _go(dlv: str, binary: Path) -> Subject:
    subprocess.run(["go", "build", "-gcflags=all=-N -l", "-o", binary, HERE / "program.go"], check=True)
    words = (dlv, "dap", "--listen=unix:{socket}", "--check-go-version=false")
    floor = Floor(words, "launch", {"mode": "exec", "hideSystemGoroutines": True})
    return _over_dap("go", "program.go", "len(words)", floor, binary)


def _over_dap(adapter: str, name: str, look: str, floor: Floor, binary: Path | None = None) -> Subject:
    job = partial(floor.job, source=HERE / name, look=look)
    return Subject(adapter, HERE / name, look, job, _ABOVE, binary, adapter=adapter)


def _tool(adapter: str) -> str | None:
    """The debugger that Stillframe would use, so that both sides are measured on the same one."""
    needs = next((each.needs for each in adapters() if each.name == adapter), ())
    found = find(needs[0], os.environ, "/") if needs else None
    return found.path if found is not None and not found.problem else None
