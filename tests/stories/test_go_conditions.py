"""Conditions of Go programs that cannot be evaluated: told as that, never as an error of the program."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.go import GO

PROGRAM = """package main

func double(n int) int {
	return n * 2
}

func main() {
	for i := 0; i < 3; i++ {
		double(i)
	}
}
"""


async def test_a_condition_that_fails_at_run_time_stops_and_says_so_and_counts_no_hit(tmp_path: Path) -> None:
    found = find(GO.needs[0], os.environ, ".")
    if found.path is None or found.problem or shutil.which("go") is None:
        pytest.skip("Delve or Go is not installed")
    (tmp_path / "main.go").write_text(PROGRAM)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = await dbg.launch("main.go", breaks=["main.go:4 if missing > 1"])
        assert isinstance(stop, stillframe.Stop), stop
        assert (stop.reason, stop.breakpoints, stop.hit, stop.exception) == ("breakpoint", ("b1",), None, None)
        assert any("the condition" in note and "missing" in note for note in stop.notes)
        await dbg.unbreak(all=True)
        assert isinstance(await dbg.continue_(), stillframe.Exited)
