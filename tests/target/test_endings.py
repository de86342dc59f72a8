"""A program ends under our script as it ends plainly, quickly, and with nothing lost that was on its way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillframe.adapters.python.logs import log_text

from .conftest import PYTHONS
from .wireclient import PATIENCE, LineEnded, NeverCame, Peer, Target

Start = Callable[..., Target]
RunTo = Callable[..., tuple[Target, Peer, int]]

ENDINGS = {
    "error": "def f(x):\n    return 1 / x\n\nf(0)\n",
    "chained": "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('bad') from e\n",
    "syntax error": "x = 1\ndef (:\n",
    "exit code": "import sys\nsys.exit(7)\n",
    "exit text": "import sys\nsys.exit('no such thing')\n",
    "exit in thread": "import threading, sys\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nsys.exit(4)\n",
    "os._exit": "import os\nprint('out', flush=True)\nos._exit(3)\n",
    "atexit": "import atexit\natexit.register(print, 'a')\natexit.register(print, 'b')\nraise SystemExit(5)\n",
    "own hook": "import sys\nsys.excepthook = lambda t, e, tb: print('mine', t.__name__, tb.tb_lineno)\n1 / 0\n",
    "interrupt": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nwhile True: pass\n",
    "last_value": "import atexit, sys, traceback\natexit.register(lambda: traceback.print_last())\n1 / 0\n",
    "late thread": "import threading\nlock = threading.Event()\n"
    "def f():\n    lock.wait()\n    print('late')\nthreading.Thread(target=f).start()\nlock.set()\nprint('main over')\n",
    "error in import": "import broken\n",
    "closes all": "import os\nprint('bye', flush=True)\nos.closerange(3, 70000)\nprint('after', flush=True)\n",
    "closes each": "import os\nprint('bye', flush=True)\nfor n in range(3, 2000):\n    try:\n        os.close(n)\n"
    "    except OSError:\n        pass\nprint('after', flush=True)\n",
    "numbers its files": "print(open('program.py').fileno(), flush=True)\n",
}


def plainly(python: str, folder: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run([python, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def under_us(start: Start, python: str, folder: Path, *words: str, **options: Any) -> tuple[int, str, str]:
    """Run without a breakpoint; a program that cannot even be read never dials in."""
    target = start(python, *words, cwd=folder, **options)
    try:
        peer = target.accept()
    except NeverCame:
        return target.end()
    peer.configure(catch=[])
    with contextlib.suppress(LineEnded):  # one that closes all its files may close our line before it has answered
        peer.go()
    peer.rest()
    return target.end()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_as_it_does_plainly(start: Start, new_python: str, tmp_path: Path, ending: str) -> None:
    (tmp_path / "program.py").write_text(ENDINGS[ending])
    (tmp_path / "broken.py").write_text("def f(:\n    pass\n")
    assert under_us(start, new_python, tmp_path, "program.py") == plainly(new_python, tmp_path, "program.py")


def test_so_it_does_on_every_version(start: Start, other_python: str, tmp_path: Path) -> None:
    thread = "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\n"
    (tmp_path / "program.py").write_text(thread + ENDINGS["error"])
    assert under_us(start, other_python, tmp_path, "program.py") == plainly(other_python, tmp_path, "program.py")


@pytest.mark.parametrize("words", [["missing.py"], ["-c", "1 / 0"], ["-c", "def ("], ["empty"]], ids=" ".join)
def test_bad_words_end_as_they_do_plainly(start: Start, new_python: str, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert under_us(start, new_python, tmp_path, *words) == plainly(new_python, tmp_path, *words)


def test_a_missing_file_ends_as_it_does_plainly_on_the_oldest(start: Start, old_python: str, tmp_path: Path) -> None:
    words = ["missing.py"]
    assert under_us(start, old_python, tmp_path, *words) == plainly(old_python, tmp_path, *words)


def test_a_missing_module_is_told_as_python_tells_it(start: Start, edge_python: str, tmp_path: Path) -> None:
    assert under_us(start, edge_python, tmp_path, "no.such", module=True) == plainly(
        edge_python, tmp_path, "-m", "no.such"
    )


HITS = 4000
LOG = f"import os, sys\nfor i in range({HITS}):\n    x = i\n"


@pytest.mark.parametrize(
    ("version", "end"), [("3.11", ""), ("3.11", "os._exit(2)"), ("3.13", "sys.exit(1)"), ("3.13", "1 / 0")]
)
def test_no_log_point_is_lost_at_the_end(start: Start, tmp_path: Path, version: str, end: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOG + end + "\n")
    peer = start(PYTHONS.get(version, sys.executable), program).accept()
    peer.configure({str(program): [{"line": 3, "logMessage": log_text("at {i}", True)}]})
    peer.go()
    told = [event["body"] for event in peer.rest() if event["event"] == "stillframe"]
    assert [each["text"] for each in told if each["kind"] == "log"] == [f"at {i}" for i in range(HITS)]


LAST = """
import atexit, threading
class Odd:
    def __repr__(self): return "odd"
def bye(thing):
    alive = threading.main_thread().is_alive()
    print("bye")  # @here
atexit.register(bye, Odd())
"""


def test_breakpoints_hold_in_callbacks_of_atexit(run_to: RunTo, spread_python: str) -> None:
    target, peer, thread = run_to(spread_python, LAST)
    stop = peer.stop(thread)
    assert [(each["name"], each["value"]) for each in stop["locals"]] == [("thing", "odd"), ("alive", "False")]
    assert [each["name"] for each in peer.call("crowd")["threads"]] == ["MainThread"]
    peer.resume("continue", thread)
    assert target.end()[:2] == (0, "bye\n")


GOES_ON = """
import threading, time
def work():
    while True:
        time.sleep(0.01)
thread = threading.Thread(target=work, name="w")
thread.start()
class Done(threading.Thread):
    def run(self):
        threading.main_thread().join()
        print("over", flush=True)  # @here
Done().start()
"""


@pytest.mark.parametrize("version", ["3.11", "3.12"])
def test_threads_that_go_on_without_the_main_one_are_paused(run_to: RunTo, version: str) -> None:
    _, peer, thread = run_to(PYTHONS.get(version, sys.executable), GOES_ON)
    peer.resume("continue", thread)
    peer.request("pause", threadId="*")
    held = peer.stopped(reason="pause")
    assert peer.stop(held)["frames"]
    for command, arguments in (("pause", {"threadId": 0}), ("next", {"threadId": 0}), ("restartFrame", {"frameId": 1})):
        answer = peer.answer(peer.send(command, **arguments))
        assert not answer["success"], "refused, and neither the end of the line nor in silence"
    assert {"MainThread", "w"} <= {each["name"] for each in peer.call("crowd")["threads"]}


def test_the_last_event_tells_which_named_files_were_loaded(start: Start, deep_python: str, tmp_path: Path) -> None:
    program, used, unused = (tmp_path / name for name in ("program.py", "used.py", "unused.py"))
    program.write_text("import used\n")
    used.write_text("x = 1\n")
    unused.write_text("x = 1\n")
    peer = start(deep_python, program).accept()
    peer.configure()
    peer.call("resolve", files={str(path): [1] for path in (program, used, unused)})
    peer.go()
    ending = [event["body"] for event in peer.rest() if event["event"] == "stillframe"]
    assert ending == [{"kind": "ending", "loaded": sorted(map(str, (program, used)))}]


@pytest.mark.parametrize("paused", [True, False])
def test_a_launched_program_dies_with_its_debugger(
    run_to: Callable[..., tuple[Target, Peer, int]], deep_python: str, paused: bool
) -> None:
    target, peer, thread = run_to(deep_python, "import time\nx = 1  # @here\nwhile True: time.sleep(0.01)\n")
    if not paused:
        peer.resume("continue", thread)
    peer.close()
    assert target.process.wait(PATIENCE) == -signal.SIGKILL


LET_GO = """
import pydevd_tracing, threading
real = pydevd_tracing.set_trace_to_threads
def told(function, thread_idents=None, **options):
    if thread_idents is None: print("all threads are told to be rid of us")
    return real(function, thread_idents, **options)
pydevd_tracing.set_trace_to_threads = told
x = 1  # @here
for each in threading.enumerate():
    if getattr(each, "is_pydev_daemon_thread", False): each.join(60)
"""


def test_a_program_is_let_go_once(run_to: Callable[..., tuple[Target, Peer, int]]) -> None:
    """It takes threads that begin, and of one that begins while the program ends Python 3.11 may crash."""
    if (python := PYTHONS.get("3.11")) is None:
        pytest.skip("no Python 3.11 here")
    target, peer, _ = run_to(python, LET_GO)
    peer.call("release")
    peer.request("disconnect", terminateDebuggee=False)
    peer.close()
    assert target.end() == (0, "all threads are told to be rid of us\n", "")


def test_a_launched_program_that_was_let_go_runs_on(
    run_to: Callable[..., tuple[Target, Peer, int]], deep_python: str
) -> None:
    target, peer, _ = run_to(deep_python, "import sys\nx = 1  # @here\nprint('to the end')\n")
    peer.call("release")
    peer.request("disconnect", terminateDebuggee=False)
    peer.close()
    assert target.end() == (0, "to the end\n", "")


def test_a_program_to_be_resumed_runs_on_when_the_line_drops(start: Start, deep_python: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("x = 1\nprint('to the end')\n")
    target = start(deep_python, program, on_eof="resume")
    peer = target.accept()
    peer.configure({str(program): [1]})
    peer.go()
    peer.stopped()
    peer.close()
    assert target.end() == (0, "to the end\n", "")


def test_a_launch_without_a_debugger_says_so(start: Start, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('never')\n")
    target = start(sys.executable, "program.py", cwd=tmp_path)
    port = target.listener.getsockname()[1]
    os.kill(target.process.pid, signal.SIGSTOP)
    target.listener.close()
    os.kill(target.process.pid, signal.SIGCONT)
    code, out, err = target.end()
    assert (code, out) == (70, "") and f"no debugger at 127.0.0.1:{port}" in err


def test_a_program_that_closes_our_line_runs_on_to_its_plain_end(
    start: Start, deep_python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(ENDINGS["closes each"] + "x = 1\nimport sys\nsys.exit(3)\n")
    target = start(deep_python, program)
    peer = target.accept()
    peer.configure({str(program): [9]})
    peer.go()
    assert peer.rest()[-1]["event"] != "terminated"
    assert target.end() == (3, "bye\nafter\n", "")
