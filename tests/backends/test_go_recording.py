"""Going back in a Go program: where rr can record, one goes back; where it cannot, its own reason is the answer, at once."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.go import GO
from stillframe.errors import AdapterMissing, LaunchFailed, Unsupported, UsageError

from .nodes import exited, place, stopped

_FOUND = find(GO.needs[0], os.environ, ".")
pytestmark = pytest.mark.skipif(not _FOUND.path or bool(_FOUND.problem), reason="dlv is not installed")
ALL = os.environ.get("STILLFRAME_ALL") == "1"
with_rr = pytest.mark.skipif(shutil.which("rr") is None and not ALL, reason="rr is not installed")

PROGRAM = """package main

import (
	"fmt"
	"os"
)

func main() {
	os.WriteFile("ran", nil, 0o600)
	total := 0
	for count := 1; count < 4; count++ {
		total += count // @add
		fmt.Println("so far", total)
	}
	fmt.Fprintln(os.Stderr, "done")
	for len(os.Args) > 1 {
		total++
	}
	os.Exit(total)
}
"""
ADD = next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("// @add"))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "adding.go").write_text(PROGRAM)
    return tmp_path


def why_not(folder: Path) -> str:
    """Why rr cannot record on this machine, in its own words; nothing where it can and Delve takes it."""
    flags = shlex.split(os.environ.get("DELVE_RR_RECORD_FLAGS", ""))
    line = ["rr", "record", "-o", str(folder / "probe"), *flags, "true"]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1].partition("] ")[2] or done.stderr.strip().splitlines()[-1]
    paranoid = Path("/proc/sys/kernel/perf_event_paranoid")
    return str(paranoid) if paranoid.exists() and int(paranoid.read_text()) > 1 else ""


@with_rr
async def test_a_go_program_is_gone_back_through_or_rr_says_why_it_cannot_be_recorded(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = why_not(here)
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        if reason:
            with pytest.raises(LaunchFailed) as refused:
                await dbg.launch("adding.go", record=True)
            assert reason in refused.value.message
            assert not (here / "ran").exists(), "it is refused before the program runs"
            assert not list(Path.home().glob(".local/share/rr/*/events")), "and nothing stays behind"
            return
        first = await dbg.launch("adding.go", breaks=[f"adding.go:{ADD}"], record=True)
        assert place(first) == ("main.main", ADD)
        assert (here / "ran").exists(), "what is shown has happened already"
        assert "so far 1\n" in stopped(await dbg.continue_()).output, "but it is told as it is replayed"
        third = stopped(await dbg.continue_())
        assert {each.name: each.value for each in third.locals}["total"] == "3"
        assert place(await dbg.step_back()) == ("main.main", ADD - 1)
        second = stopped(await dbg.reverse_continue())
        assert (second.hit is not None, {each.name: each.value for each in second.locals}["total"]) == (True, "1")
        await dbg.unbreak(all=True)
        begin = stopped(await dbg.reverse_continue())
        assert (begin.reason, begin.notes[0]) == ("no more history", "this is where the recording begins")
        assert stopped(await dbg.step_back()).reason == "no more history"
        with pytest.raises(Unsupported, match="no program that could run on"):
            await dbg.detach()
        end = exited(await dbg.continue_())
        assert (end.exit_code, end.stderr) == (6, "done\n"), "as it ended when it was recorded"
        monkeypatch.setenv("STILLFRAME_START_TIMEOUT", "3")
        first = stopped(await dbg.launch("adding.go", "forever", breaks=[f"adding.go:{ADD}"], record=True))
        assert any("longer than 3 s (start_timeout)" in note for note in first.notes), "it never ends by itself"
        await dbg.unbreak(all=True)
        end = exited(await dbg.continue_())
        assert (end.exit_code, end.signal) == (None, None), "and ended by nothing of its own"


async def test_what_a_recorded_run_needs_is_said_before_anything_runs(here: Path) -> None:
    assert _FOUND.path is not None
    async with stillframe.Debugger(cwd=str(here)) as dbg:
        with pytest.raises(AdapterMissing, match="Delve needs rr, which is not on PATH: apt install rr"):
            await dbg.launch("adding.go", record=True, env=[f"PATH={Path(_FOUND.path).parent}"])
        with pytest.raises(UsageError, match="--stdin FILE"):
            await dbg.launch("adding.go", record=True, stdin="-")
        await dbg.launch("adding.go", breaks=[f"adding.go:{ADD}"])
        for move in (dbg.step_back, dbg.reverse_continue):
            with pytest.raises(Unsupported, match="goes back only in a run that was recorded: dbg launch --record"):
                await move()
