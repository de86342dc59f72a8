"""Joining programs that run already: by pid, by address; left alive and running whatever we do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ..guard import free_port
from .conftest import User, eventually
from .test_racing import LOOP, running


@pytest.fixture
def program(user: User) -> Iterator[subprocess.Popen[str]]:
    user.file("loop.py", LOOP)
    process = subprocess.Popen([sys.executable, "loop.py"], cwd=user.here, text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.long
def test_a_process_joined_by_pid_stops_is_looked_into_and_runs_on(user: User, program: subprocess.Popen[str]) -> None:
    text = user.ok("attach", "--pid", str(program.pid), "--break", "loop.py:4")
    assert f"pid-{program.pid} stopped: b1 hit 1 at loop.py:4 in turn" in text
    assert user.json("eval", "n > 0")["values"][0]["value"] == "True"
    assert user.json("next")["state"] == "stopped"
    assert user.json("stop")["action"] == "detached"
    assert running(program.pid)
    again = user.json("attach", "--pid", str(program.pid), "--break", "turn")
    assert again["state"] == "stopped"
    assert user.json("detach")["action"] == "detached"
    assert "had been detached already" in user.ok("stop")
    assert running(program.pid)
    held = user.json("attach", "--pid", str(program.pid), "--break", "turn", "--name", "unused", "--lease", "1")
    assert held["state"] == "stopped"
    assert running(program.pid), "nobody used the session, so it let the program go"
    named = ("--session", "unused")
    eventually(lambda: user.json("status", *named)["state"] == "detached", "it is not told to have been let go")
    assert user.ok("state", *named).endswith("note: nobody used it for 1 s, so it was let go\n")
    assert "unused detached, since nobody used it for 1 s" in user.ok("history")
    assert program.poll() is None


@pytest.mark.own_daemon
def test_what_we_only_joined_is_not_restarted_nor_joined_twice(user: User, program: subprocess.Popen[str]) -> None:
    assert "running" in user.ok("attach", "--pid", str(program.pid))
    user.fails("restart", code=3, error="wrong_state")
    assert user.json("status")["attached"] is True
    said = user.fails("attach", "--pid", str(program.pid), code=3, error="busy")
    assert f"debugged here already, as session pid-{program.pid}" in said
    assert user.json("pause", "--timeout", "30", "--session", f"pid-{program.pid}")["state"] == "stopped"
    user.ok("daemon", "stop")
    assert running(program.pid)


@pytest.mark.long
@pytest.mark.own_daemon
def test_a_debugpy_server_is_joined_by_its_address_and_left_running(user: User) -> None:
    user.file("loop.py", LOOP)
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", "loop.py"],
        cwd=user.here, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        told = user.json("attach", f"127.0.0.1:{port}", "--break", "loop.py:4")
        assert (told["state"], told["frame"]["line"]) == ("stopped", 4)
        assert user.json("eval", "n >= 0")["values"][0]["value"] == "True"
        past = user.json("break", "loop.py:900")
        assert (past["state"], "loop.py has" in past["message"]) == ("failed", True), past
        assert user.json("finish")["returned"] is not None
        assert "returned" in user.json("state"), "the same stop, told again"
        assert "returned" not in user.json("next"), "which called nothing"
        assert user.json("breaks")["breakpoints"][0]["state"] == "bound", "as it has stopped the program"
        for told in (user.json("state")["locals"], user.json("locals")["values"]):
            assert [each["name"] for each in told if each["type"] == "module" or "(return)" in each["name"]] == []
        user.ok("unbreak", "b2")
        os.kill(user.json("daemon", "status")["pid"], signal.SIGKILL)
        assert f"dbg attach 127.0.0.1:{port}" in user.fails("state", code=3, error="no_session")
        assert "found again, from before its daemon was gone: b1" in user.ok("attach", f"127.0.0.1:{port}")
        assert user.json("wait")["breakpoints"] == ["b1"]
        assert user.json("stop")["action"] == "detached"
        assert running(process.pid)
        assert process.poll() is None
    finally:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.communicate()


def test_what_cannot_be_joined_says_why(user: User, tmp_path: Path) -> None:
    port = free_port()
    said = user.says("attach", f"127.0.0.1:{port}")
    assert said.code in (1, 6), said
    assert str(port) in said.err
    assert said.err.count("\n") == 1
    gone = subprocess.Popen([sys.executable, "-c", "1"])
    gone.wait()
    assert str(gone.pid) in user.fails("attach", "--pid", str(gone.pid), code=1, error="not_found")
    other = subprocess.Popen(["sleep", "60"])
    try:
        said = user.says("attach", "--pid", str(other.pid), "--adapter", "python")
        assert said.code in (1, 2), said
        assert said.err.count("\n") == 1
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_server_that_is_no_debugger_is_told_by_what_it_says(user: User) -> None:
    words = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
    server = subprocess.Popen(words, cwd=user.here, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert server.stdout is not None
        port = server.stdout.readline().split("port ")[1].split()[0]
        said = user.fails("attach", f"127.0.0.1:{port}", code=1, error="launch_failed")
        assert "speaks no DAP; it said '<!DOCTYPE HTML>'" in said
        assert server.poll() is None
    finally:
        server.kill()
        server.communicate()


@pytest.mark.long
@pytest.mark.own_daemon
def test_a_held_program_that_was_joined_runs_on_when_the_daemon_is_killed(
    user: User, program: subprocess.Popen[str]
) -> None:
    told = user.json("attach", "--pid", str(program.pid), "--break", "loop.py:4")
    assert told["state"] == "stopped"
    os.kill(user.json("daemon", "status")["pid"], signal.SIGKILL)
    assert running(program.pid)
    assert program.poll() is None
    again = user.json("attach", "--pid", str(program.pid), "--break", "loop.py:9 if n > 0")
    assert again["state"] == "stopped"
    user.ok("detach")
    assert running(program.pid)


@pytest.mark.long
@pytest.mark.own_daemon
def test_what_a_killed_daemon_was_attached_to_is_joined_again_with_its_breakpoints(
    user: User, program: subprocess.Popen[str]
) -> None:
    pid = str(program.pid)
    user.ok("attach", "--pid", pid, "--name", "mine", "--break", "loop.py:9")
    user.ok("break", "turn")
    user.ok("unbreak", "b1")
    os.kill(user.json("daemon", "status")["pid"], signal.SIGKILL)
    [lost] = user.json("sessions")["sessions"]
    assert (lost["name"], lost["state"], lost["attached"]) == ("mine", "lost", True)
    assert f"dbg attach --pid {pid}" in lost["note"] and "restart" not in lost["note"]
    for words, error in ((("state",), "no_session"), (("state", "--session", "mine"), "no_session")):
        assert f"dbg attach --pid {pid}" in user.fails(*words, code=3, error=error)
    assert f"dbg attach --pid {pid}" in user.fails("restart", code=3, error="wrong_state")
    assert "found again, from before its daemon was gone: b2" in user.ok("attach", "--pid", pid, "--timeout", "0")
    assert user.json("wait")["breakpoints"] == ["b2"]
    assert [each["id"] for each in user.json("breaks")["breakpoints"]] == ["b2"]
    assert [each["name"] for each in user.json("sessions")["sessions"]] == ["mine"]
    assert user.json("break", "loop.py:9")["id"] == "b3", "an id is never given twice"
    user.ok("detach")
    assert user.json("attach", "--pid", pid)["state"] == "running", "what was left on purpose is not brought back"
    assert user.json("breaks")["breakpoints"] == []


@pytest.mark.own_daemon
def test_a_lost_session_whose_process_is_over_is_not_said_to_be_joinable(
    user: User, program: subprocess.Popen[str]
) -> None:
    user.ok("attach", "--pid", str(program.pid))
    os.kill(user.json("daemon", "status")["pid"], signal.SIGKILL)
    program.kill()
    program.wait()
    [lost] = user.json("sessions")["sessions"]
    assert "so is the process" in lost["note"] and "dbg attach" not in lost["note"]


def test_a_process_that_may_not_be_looked_at_is_not_said_to_be_another_users(bound_user: User) -> None:
    code = "import ctypes; ctypes.CDLL(None).prctl(4, 0); print(flush=True); input()"  # PR_SET_DUMPABLE
    mine = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert mine.stdout is not None and mine.stdout.readline()
        said = bound_user.fails("attach", "--pid", str(mine.pid), code=7, error="denied")
    finally:
        mine.kill()
        mine.communicate()
    assert f"not permitted to look at process {mine.pid}" in said and "user" not in said
