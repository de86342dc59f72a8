"""Sessions of several debuggers held at once: each step moves its own program and no other."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters import adapters
from stillframe.adapters.finding import find

PROGRAMS = Path(__file__).resolve().parents[2] / "bench"
FIRST = {"python": ("program.py", 8), "gdb": ("program.c", 8), "go": ("program.go", 12), "ruby": ("program.rb", 4)}


def present() -> list[str]:
    """The debuggers that are here; Python's always is."""
    tools = {each.name: [find(needs, os.environ, ".") for needs in each.needs] for each in adapters()}
    found = [name for name, each in tools.items() if any(tool.path and not tool.problem for tool in each)]
    compilers = {"gdb": "cc", "go": "go"}
    return [name for name in FIRST if name == "python" or (name in found and shutil.which(compilers.get(name, "sh")))]


@pytest.mark.long
async def test_steps_in_many_sessions_of_mixed_debuggers_do_not_meet(tmp_path: Path) -> None:
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        held = [(f"{name}-{number}", *FIRST[name]) for number in range(2) for name in present()]
        for session, file, line in held:
            adapter, place = session.rpartition("-")[0], f"{PROGRAMS / file}:{line}"
            stop = await dbg.launch(str(PROGRAMS / file), breaks=[place], name=session, adapter=adapter)
            assert isinstance(stop, stillframe.Stop) and stop.frame and stop.frame.line == line, stop
        for turn in (1, 2):
            for session, file, line in held:
                stop = await dbg.next(session=session)
                assert isinstance(stop, stillframe.Stop) and stop.frame, stop
                assert (Path(stop.frame.file or "").name, stop.frame.line) == (file, line + turn)
                assert stop.local("words") is not None
        assert len((await dbg.sessions()).sessions) == len(held)
        assert (await dbg.stop(all=True)).action == "terminated"
