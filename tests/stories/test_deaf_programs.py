"""Programs that keep the interpreter in native code, so that their debugger cannot answer: told as such, ended, left."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from .conftest import User, ended, eventually, gone, result

KEEPS = """
import ctypes
ctypes.PyDLL(None).open(b"gate", 0)
open("over", "w").close()
"""


@pytest.fixture
def gate(user: User) -> Path:
    """A FIFO: who opens it to read waits for one who writes."""
    user.file("keeps.py", KEEPS)
    os.mkfifo(user.here / "gate")
    return user.here / "gate"


def test_pause_and_stack_of_a_program_that_lets_nobody_run_say_so_and_stop_ends_it(user: User, gate: Path) -> None:
    assert user.json("launch", "keeps.py", "--timeout", "1")["state"] == "running"
    process = user.pid()
    hangs = user.start("hang", "--timeout", "1", "--", "python", "keeps.py")
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
    user.ok("launch", "keeps.py", "--timeout", "1")
    process: psutil.Process = user.pid()
    assert user.json("detach")["action"] == "detached"
    assert not gone(process)
    gate.write_text("")
    eventually((user.here / "over").exists, "it goes on to its end")
