"""A running process is joined from outside, looked at, and left as it was."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .wireclient import PATIENCE, PYCACHE, TARGET, TOKENS, VENDORED, Peer

PROGRAM = """
import sys, threading, time
def tick(n):
    return n + 1
def worker():
    count = 0
    while not over.is_set():
        count = tick(count)
        traced["worker"] = sys.gettrace()
        traced["n"] = count
        time.sleep(0.001)
traced = {}
over = threading.Event()
thread = threading.Thread(target=worker, name="worker")
thread.start()
print("ready", flush=True)
for line in sys.stdin:
    tick(0)
    state = [sys.gettrace(), threading._trace_hook, traced["worker"]]
    print(state + [traced["n"]] if any(state) else False, flush=True)
over.set()
thread.join()
print("over", flush=True)
"""


class Running:
    """A plain python process that answers each line on stdin, and a listener for it to dial."""

    def __init__(self, python: str, folder: Path) -> None:
        self.path = folder / "program.py"
        self.path.write_text(PROGRAM)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.process = subprocess.Popen(
            [python, str(self.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.says() == "ready"

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.says()

    def attach(self) -> Peer:
        done = attach(self.process.pid, f"127.0.0.1:{self.listener.getsockname()[1]}")
        assert (done.returncode, done.stderr) == (0, "")
        self.listener.settimeout(PATIENCE)
        return Peer(self.listener.accept()[0])

    def end(self) -> tuple[str, str, int]:
        out, err = self.process.communicate(timeout=PATIENCE)
        return out, err, self.process.returncode

    def close(self) -> None:
        self.listener.close()
        self.process.kill()
        self.process.communicate()


def attach(pid: int, address: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "STILLFRAME_ADDRESS": address,
        "STILLFRAME_PYDEVD": str(VENDORED),
        "STILLFRAME_TOKENS": ":".join(TOKENS),
        "STILLFRAME_PYCACHE": str(PYCACHE),
        **environment,
    }
    words = [sys.executable, str(TARGET / "attach.py"), str(pid)]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=2 * PATIENCE)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Any]:
    with ExitStack() as stack:

        def begin(python: str) -> Running:
            target = Running(python, tmp_path)
            stack.callback(target.close)
            return target

        yield begin


@pytest.mark.parametrize("leave", ["release", "drop"])
def test_a_joined_process_stops_tells_and_is_left_running_at_full_speed(
    running: Any, deep_python: str, leave: str
) -> None:
    target = running(deep_python)
    peer = target.attach()
    line = 1 + PROGRAM.splitlines().index("    return n + 1")
    peer.configure({str(target.path): [line]}, start="attach")
    assert peer.call("hello")["pid"] == target.process.pid
    symbol = peer.call("resolve", symbols=[{"name": "tick"}])["symbols"][0]
    assert symbol == {"file": str(target.path), "line": line, "function": "tick"}
    peer.go()
    thread = peer.stopped(reason="breakpoint")
    stop = peer.stop(thread)
    assert [frame["function"] for frame in stop["frames"]][:2] == ["tick", "worker"]
    assert stop["locals"][0]["name"] == "n"
    if leave == "release":
        peer.call("release")
        peer.request("disconnect", terminateDebuggee=False)
    peer.close()
    deadline = time.monotonic() + PATIENCE
    while (state := target.ask()) != "False":  # each thread drops its trace function at its next call
        assert time.monotonic() < deadline, state
    target.process.stdin.close()
    target.process.stdin = None
    assert target.end() == ("over\n", "", 0)


def test_a_process_can_be_joined_again(running: Any) -> None:
    target = running(sys.executable)
    for _ in range(2):
        peer = target.attach()
        peer.configure({str(target.path): [4]}, start="attach")
        peer.go()
        assert peer.stop(peer.stopped())["frames"][0]["function"] == "tick"
        peer.request("disconnect", terminateDebuggee=False)
        peer.close()
    target.process.stdin.close()
    target.process.stdin = None
    assert target.end() == ("over\n", "", 0)


def test_a_process_under_another_debugger_says_so(running: Any) -> None:
    target = running(sys.executable)
    first = target.attach()
    second = target.attach()
    assert "another debugger" in second.event("stillframe", kind="refused")["message"]
    first.close()
    second.close()


def test_a_process_that_may_not_be_traced_says_so() -> None:
    held = subprocess.Popen(
        [sys.executable, "-c", "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0); print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # PTRACE_TRACEME: we trace it, so nobody else may
    try:
        assert held.stdout is not None and held.stdout.readline()
        done = attach(held.pid, "127.0.0.1:1")
    finally:
        held.kill()
        held.communicate()
    assert done.returncode == 6
    assert done.stderr == f"process {held.pid} may not be attached to: ptrace is not permitted\n"


def test_what_cannot_be_attached_to_is_told_in_one_line(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    other = subprocess.Popen(["sleep", "60"])
    try:
        tries = {
            "no process": attach(gone.pid, "127.0.0.1:1"),
            "not python": attach(other.pid, "127.0.0.1:1"),
            "no gdb": attach(os.getpid(), "127.0.0.1:1", PATH=str(tmp_path)),
            "no address": attach(os.getpid(), ""),
        }
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    told = {name: (done.returncode, done.stderr) for name, done in tries.items()}
    assert told == {
        "no process": (3, f"there is no process {gone.pid}\n"),
        "not python": (4, f"process {other.pid} runs sleep, which is neither Python nor Node\n"),
        "no gdb": (5, "gdb is needed to attach to a process and is not on PATH\n"),
        "no address": (2, "STILLFRAME_ADDRESS must be host:port\n"),
    }


STUCK = """
import sys
sys.path.insert(0, sys.argv[1])
import attach
text = "import time" + chr(10) + "while True: time.sleep(0.01)"
code = "exec(bytes([%s]).decode(), {})" % ",".join(str(byte) for byte in text.encode())
attach.inject(int(sys.argv[2]), code, attach.library(sys.argv[3]), 3.0)
"""


def test_a_process_is_let_go_unharmed_when_the_call_in_it_does_not_end(running: Any) -> None:
    target = running(sys.executable)
    words = [sys.executable, "-c", STUCK, str(TARGET), str(target.process.pid), str(VENDORED)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == f"gdb did not get into process {target.process.pid} within 3 s; it was let go again\n"
    assert target.ask() == "False"


CONTENDED = """
import threading
def spin():
    while not over.is_set():
        sum(range(50))
over = threading.Event()
threads = [threading.Thread(target=spin) for _ in range(4)]
for thread in threads:
    thread.start()
print("ready", flush=True)
input()
over.set()
for thread in threads:
    thread.join()
print("over", flush=True)
"""


def test_a_process_whose_threads_all_want_the_lock_is_joined_and_left(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(CONTENDED)
    pipe = subprocess.PIPE
    with (
        subprocess.Popen([sys.executable, str(path)], stdin=pipe, stdout=pipe, text=True) as process,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            done = attach(process.pid, f"127.0.0.1:{listener.getsockname()[1]}")
            assert (done.returncode, done.stderr) == (0, "")
            listener.settimeout(PATIENCE)
            peer = Peer(listener.accept()[0])
            peer.configure(start="attach")
            peer.go()
            peer.request("disconnect", terminateDebuggee=False)
            peer.close()
            assert process.communicate("\n", timeout=PATIENCE)[0] == "over\n"
        finally:
            process.kill()
