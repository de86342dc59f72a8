"""Programs that keep the interpreter in native code, so that their debugger cannot answer: told as such, ended, left."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from .conftest import User, ended, eventually, gone, result

KEEPS = """
import ctypes; print("up", flush=True)
ctypes.PyDLL(None).open(b"gate", 0)
open("over", "w").close()
"""


@pytest.fixture
def gate(user: User) -> Path:
    """A FIFO: who opens it to read waits for one who writes."""
    user.file("keeps.py", KEEPS)
    os.mkfifo(user.here / "gate")
    return user.here / "gate"


def launched(user: User) -> psutil.Process:
    """The program, when it waits at the gate, by the kernel's own word."""
    assert user.json("launch", "keeps.py", "--ready", "up")["state"] == "running"
    return at_the_gate(user.pid())


def at_the_gate(process: psutil.Process) -> psutil.Process:
    openat = "257 "
    eventually(lambda: Path(f"/proc/{process.pid}/syscall").read_text().startswith(openat), "it never came to the gate")
    return process


@pytest.mark.long
def test_pause_and_stack_of_a_program_that_lets_nobody_run_say_so_and_stop_ends_it(user: User, gate: Path) -> None:
    process = launched(user)
    hangs = user.start("hang", "--ready", "up", "--timeout", "1", "--", "python", "keeps.py")
    asked = [user.start("pause", "--json"), user.start("stack")]
    paused, stack = result(ended(asked[0])), ended(asked[1])
    assert paused["state"] == "running"
    assert any("native code" in note for note in paused["notes"]), paused
    assert stack.err.startswith("error adapter_unresponsive: the debugger did not answer threads within 5 s: "), stack
    told = ended(hangs).out
    assert "1x main (in native code that lets nobody else run) at keeps.py:3 in <module>\n" in told, told
    assert "Fatal Python error" not in told
    assert user.json("stop")["action"] == "terminated"
    assert gone(process)


def test_a_program_that_lets_nobody_run_is_left_and_runs_on(user: User, gate: Path) -> None:
    process = launched(user)
    assert user.json("detach")["action"] == "detached"
    assert not gone(process)
    gate.write_text("")
    eventually((user.here / "over").exists, "it goes on to its end")


SLY = """
import ctypes
class Sly:
    def __repr__(self):
        ctypes.PyDLL(None).open(b"gate", 0)
        return "sly"
sly = Sly()
print("here")  # held
"""


@pytest.mark.long
def test_a_stop_at_a_value_that_lets_nobody_run_is_told_without_its_frame_and_stop_ends_it(
    user: User, gate: Path
) -> None:
    user.file("sly.py", SLY)
    user.file("stillframe.toml", "request_timeout = 11\n")  # longer than a stop is read
    held = user.json("launch", "sly.py", "--break", 'sly.py@"# held"')
    assert held == {"state": "stopped", "reason": "breakpoint", "notes": ["its frame could not be read within 10 s"]}
    said = user.fails("locals", code=4, error="adapter_unresponsive")
    assert "the debugger did not answer stop within 11 s" in said
    process = user.pid()
    assert user.json("stop")["action"] == "terminated"
    assert gone(process)
