"""A running process is joined from outside, looked at, and left as it was."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from ..guard import eventually
from ..interpreters import PYCACHE
from .conftest import PYTHONS
from .wireclient import PATIENCE, TARGET, TOKENS, VENDORED, Peer

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
        http = sys.modules.get("http", sys)  # what the debugger does without, it must not take from a program that runs
        traced["taken"] |= http is not sys and not hasattr(http, "__file__")
        time.sleep(0.001)
traced = {"taken": False}
over = threading.Event()
thread = threading.Thread(target=worker, name="worker")
thread.start()
print("ready", flush=True)
for line in sys.stdin:
    tick(0)
    state = [sys.gettrace(), threading._trace_hook, traced["worker"], traced["taken"]]
    print(state + [traced["n"]] if any(state) else False, flush=True)
over.set()
thread.join()
print("over", flush=True)
"""


class Running:
    """A plain python process that answers each line on stdin, and a listener for it to dial."""

    def __init__(self, python: str, folder: Path, text: str) -> None:
        self.path = folder / "program.py"
        self.path.write_text(text)
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

    def attach(self, **environment: str) -> Peer:
        done = attach(self.process.pid, f"127.0.0.1:{self.listener.getsockname()[1]}", **environment)
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

        def begin(python: str, text: str = PROGRAM) -> Running:
            target = Running(python, tmp_path, text)
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


NARROW_GDB = """#!/bin/sh
case "$*" in
  *"set tdesc filename "*) exec {gdb} "$@" ;;
  *) echo "stillframe: narrow" ;;
esac
"""


def test_a_gdb_that_does_not_know_the_processor_calls_only_in_threads_that_wait(running: Any, tmp_path: Path) -> None:
    """As gdb 13 is where there is AMX: told of fewer registers, it can undo a call in a thread that waits in the kernel."""
    short = tmp_path / "short-gdb"
    short.write_text(NARROW_GDB.format(gdb=shutil.which("gdb")))
    short.chmod(0o755)
    target = running(sys.executable)
    with closing(target.attach(STILLFRAME_GDB=str(short))) as peer:
        peer.configure({}, start="attach")
        assert peer.call("hello")["pid"] == target.process.pid
    assert target.process.poll() is None
    busy = running(sys.executable, "print('ready', flush=True)\nwhile True:\n    pass\n")
    done = attach(busy.process.pid, "127.0.0.1:1", STILLFRAME_GDB=str(short), STILLFRAME_ATTACH_SECONDS="1")
    assert (done.returncode, done.stderr) == (
        7,
        f"no thread of process {busy.process.pid} could be interrupted safely in time; "
        "one that computes needs a newer gdb here (dbg setup gdb)\n",
    )
    assert busy.process.poll() is None


MAIN_IS_OVER = """
import sys, threading
def worker():
    threading.main_thread().join()
    print("ready", flush=True)
    sys.stdin.read()
    print("over", flush=True)
threading.Thread(target=worker).start()
"""


@pytest.mark.skipif("3.12" not in PYTHONS, reason="no Python 3.12 here, which alone refuses")
def test_a_process_that_can_start_no_threads_any_more_says_so_and_is_left_alone(running: Any) -> None:
    target = running(PYTHONS["3.12"], MAIN_IS_OVER)
    assert "starts no thread" in target.attach().event("stillframe", kind="refused")["message"]
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


def test_a_process_that_another_debugger_holds_says_so() -> None:
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
    assert done.returncode == 9
    assert done.stderr.startswith(f"process {held.pid} is traced by process {os.getpid()} (")


def test_a_process_that_a_signal_stopped_says_so_and_how_to_let_it_go_on(running: Any) -> None:
    target = running(sys.executable)
    os.kill(target.process.pid, signal.SIGSTOP)
    os.waitpid(target.process.pid, os.WUNTRACED)
    done = attach(target.process.pid, "127.0.0.1:1")
    assert done.returncode == 8
    assert f"kill -CONT {target.process.pid}" in done.stderr
    os.kill(target.process.pid, signal.SIGCONT)
    assert target.ask() == "False"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root")
def test_a_process_in_a_chroot_says_so(tmp_path: Path) -> None:
    text = "import os, sys; os.chroot(sys.argv[1]); print(flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", text, str(tmp_path)], stdin=pipe, stdout=pipe) as away:
        assert away.stdout is not None and away.stdout.readline()
        done = attach(away.pid, "127.0.0.1:1")
        away.communicate(b"\n", timeout=PATIENCE)
    assert (done.returncode, away.returncode) == (6, 0)
    assert "container or chroot" in done.stderr


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


@pytest.mark.long
def test_a_process_whose_interpreter_is_not_up_yet_is_joined_when_it_is(tmp_path: Path) -> None:
    """It waits for the first line of the settings of its virtual environment, before it can run any code."""
    python, settings = tmp_path / "venv" / "bin" / "python", tmp_path / "venv" / "pyvenv.cfg"
    python.parent.mkdir(parents=True)
    python.symlink_to(os.path.realpath(sys.executable))
    os.mkfifo(settings)
    text = f"home = {sys.base_prefix}/bin\n"
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        ThreadPoolExecutor() as pool,
        subprocess.Popen([python, "-c", "input()"], stdin=subprocess.PIPE, text=True) as process,
    ):
        try:
            joining = pool.submit(attach, process.pid, f"127.0.0.1:{listener.getsockname()[1]}")
            eventually(lambda: is_traced(process.pid), "nobody looked at it")
            eventually(lambda: not is_traced(process.pid), "it was not let go")
            door = os.open(settings, os.O_WRONLY)
            (tmp_path / "settings").write_text(text)
            (tmp_path / "settings").rename(settings)  # site.py reads it again
            os.write(door, text.encode())
            os.close(door)
            done = joining.result()
            assert (done.returncode, done.stderr) == (0, "")
            listener.settimeout(PATIENCE)
            Peer(listener.accept()[0]).close()
            process.communicate("\n", timeout=PATIENCE)
            assert process.returncode == 0
        finally:
            process.kill()


def is_traced(pid: int) -> bool:
    return "\nTracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()


KEEPING = """
import ctypes, sys, threading
kept = sys.argv[1]
thread = threading.Thread(target=ctypes.PyDLL(None).read, args=(0, ctypes.create_string_buffer(1), 1))
thread.start() if kept == "by another" else thread.run()
thread.ident and thread.join()
print("over", flush=True)
"""


@pytest.mark.long
def test_a_process_that_keeps_the_interpreter_in_native_code_says_so_and_is_unharmed(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(KEEPING)
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, str(path), kept], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for kept in ("by the only one", "by another")
        ]
        for process in processes:
            wait_until_it_reads(process.pid)
        tries = list(pool.map(lambda process: attach(process.pid, "127.0.0.1:1"), processes))
        assert [(done.returncode, "keeps the interpreter" in done.stderr) for done in tries] == [(10, True)] * 2
        for process in processes:
            assert process.communicate("\n", timeout=PATIENCE)[0] == "over\n"
            assert process.returncode == 0


def wait_until_it_reads(pid: int) -> None:
    """Return when some thread of the process is in read(0, …), by the kernel's own word."""
    deadline = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < deadline
        for task in Path(f"/proc/{pid}/task").iterdir():
            if (task / "syscall").read_text().startswith("0 0x0 "):
                return


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


@pytest.mark.long
def test_a_process_whose_threads_all_want_the_lock_is_joined_and_left_again_and_again(
    settrace_python: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(CONTENDED)
    pipe = subprocess.PIPE
    with (
        subprocess.Popen([settrace_python, str(path)], stdin=pipe, stdout=pipe, text=True) as process,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            for _ in range(2):
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


ALONE = """
import sys
def main():
    sys.stdin.read()
    import threading
    print(threading.current_thread() is threading.main_thread(), threading.enumerate(), flush=True)
main()
"""


def test_the_main_thread_stays_the_main_one_where_only_the_debugger_needs_threads(
    running: Any, settrace_python: str
) -> None:
    target = running(settrace_python, ALONE.replace("def main", "print('ready', flush=True)\ndef main"))
    peer = target.attach()
    peer.configure(start="attach")
    peer.go()
    assert [each["name"] for each in peer.request("threads")["threads"]] == ["MainThread"]
    peer.request("disconnect", terminateDebuggee=False)
    peer.close()
    out, err, code = target.end()
    assert out.startswith("True [<_MainThread(MainThread, started "), out
    assert (err, code) == ("", 0)
