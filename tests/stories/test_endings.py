"""How programs end, on their own and by us: told truly, in time, with nothing left."""

from __future__ import annotations

import psutil
import pytest

from ..guard import PATIENT, command
from .conftest import User, eventually, gone

ENDINGS = {
    "return": ("print('bye')", 0, None),
    "exit-0": ("import sys; print('bye'); sys.exit(0)", 0, None),
    "exit-3": ("import sys; print('bye'); sys.exit(3)", 3, None),
    "exit-text": ("import sys; print('bye', flush=True); sys.exit('why')", 1, None),
    "os-exit": ("import os; print('bye', flush=True); os._exit(9)", 9, None),
    "abort": ("import os; print('bye', flush=True); os.abort()", None, "SIGABRT"),
    "segfault": ("import ctypes; print('bye', flush=True); ctypes.string_at(0)", None, "SIGSEGV"),
    "term": ("import os; print('bye', flush=True); os.kill(os.getpid(), 15)", None, "SIGTERM"),
    "atexit": ("import atexit; atexit.register(print, 'bye')", 0, None),
    "thread": ("import threading; threading.Timer(0.2, print, ['bye']).start()", 0, None),
    "closed": ("import os; print('bye', flush=True); os.closerange(3, 70000)", 0, None),
    "closed-each": (
        "import os; print('bye', flush=True)\nfor n in range(3, 2000):\n try: os.close(n)\n except OSError: pass",
        0,
        None,
    ),
}


@pytest.mark.long
def test_an_end_is_told_by_its_code_or_its_signal(user: User) -> None:
    wrong = {}
    for name, (code, exit_code, signal) in ENDINGS.items():
        user.file("end.py", code + "\n")
        told = user.json("launch", "end.py", "--catch", "off")
        found = (told["state"], told.get("exit_code"), told.get("signal"), told.get("output"))
        if found != ("exited", exit_code, signal, "bye\n") or user.json("status")["state"] != "exited":
            wrong[name] = told
    assert wrong == {}


def test_a_program_that_closes_files_it_did_not_open_is_debugged_or_said_not_to_be(user: User) -> None:
    user.file("closes.py", "import os\nos.closerange(3, 70000)\nprint('alive')\n")
    assert "stopped: b1 hit 1 at closes.py:3" in user.ok("launch", "closes.py", "--break", "closes.py:3")
    each = "import os\nfor n in range(3, 2000):\n    try: os.close(n)\n    except OSError: pass\nprint('alive')\n"
    user.file("each.py", each)
    said = user.ok("launch", "each.py", "--break", "each.py:5")
    assert "each exited 0" in said and "connection to the debugger ended before" in said
    user.file("plain.py", "import os\nprint('alive')\nos._exit(3)\n")
    assert "connection" not in user.ok("launch", "plain.py", "--break", "plain.py:1 if False")


STUBBORN = {
    "ignores-signals": "import signal, time\nfor s in (2, 15, 1): signal.signal(s, signal.SIG_IGN)\n{in_}time.sleep(600)\n",
    "in-c": "import time\n{in_}time.sleep(600)\n",
    "spins": "{in_}while True: pass\n",
    "holds-the-lock": "import re\n{in_}re.match('(a+)+$', 'a' * 60 + 'b')\n",
    "slow-end": "import atexit, time\natexit.register(time.sleep, 600)\n{in_}time.sleep(600)\n",
    "children": "from subprocess import Popen\np = [Popen(['sleep', '600']) for _ in 'abc']\n{in_}p[0].wait()\n",
}


@pytest.mark.long
def test_stop_ends_whatever_the_program_does(user: User) -> None:
    for name, code in STUBBORN.items():
        user.file("stubborn.py", code.format(in_="print('in', flush=True)\n"))
        user.ok("launch", "stubborn.py", "--ready", "in")
        process = user.pid()
        family = [process, *process.children(recursive=True)]
        assert user.json("stop")["action"] == "terminated", name
        assert all(map(gone, family)), name


SPAWNS = "import subprocess, time\nprint(subprocess.Popen(['sleep', '600']).pid, flush=True)\nprint('in', flush=True)\n{rest}"


def _spawned(user: User) -> psutil.Process:
    return psutil.Process(int(user.json("output", "--since", "0.0.0.0")["stdout"].split()[0]))


def test_children_of_a_program_that_was_killed_are_ended_by_a_plain_stop(user: User) -> None:
    user.file("sl.py", SPAWNS.format(rest="time.sleep(600)\n"))
    user.ok("launch", "sl.py", "--ready", "in")
    child = _spawned(user)
    user.pid().kill()
    assert user.json("wait")["signal"] == "SIGKILL"
    assert not gone(child)
    told = user.json("stop")
    assert gone(child) and "left" not in told


@pytest.mark.own_daemon
def test_a_killed_guardian_is_replaced_and_a_killed_daemon_still_leaves_nothing(user: User) -> None:
    user.file("sl.py", SPAWNS.format(rest="time.sleep(600)\n"))
    user.ok("launch", "sl.py", "--ready", "in")
    family = [_spawned(user), user.pid()]
    daemon = psutil.Process(user.json("daemon", "status")["pid"])

    def guardians() -> list[psutil.Process]:
        return [each for each in daemon.children() if any("guardian" in word for word in command(each))]

    [first] = guardians()
    first.kill()
    eventually(lambda: not psutil.pid_exists(first.pid), "the dead guardian was not reaped")
    eventually(lambda: len(guardians()) == 1, "no other guardian came")
    daemon.kill()
    eventually(lambda: all(map(gone, family)), "the program outlived its daemon")
    assert "lost" in user.ok("sessions")


def test_a_program_that_replaces_itself_is_followed_or_told_never_lost_in_silence(user: User) -> None:
    user.file("second.py", "x = 1\nprint('second', x)\n")
    user.file(
        "first.py",
        "import os, sys\nprint('first', flush=True)\nos.execv(sys.executable, [sys.executable, 'second.py'])\n",
    )
    told = user.json("launch", "first.py", "--break", "second.py:2")
    assert (told["state"], told["frame"]["file"]) == ("stopped", "second.py"), told
    user.json("continue")
    end = user.json("wait", "--session", "first")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert "first\nsecond 1\n" in user.json("output", "--since", "0.0.0.0", "--session", "first")["stdout"]


def test_a_program_that_left_children_behind_says_so(user: User) -> None:
    """It ends once its child runs, and a child runs once it is followed."""
    user.file(
        "dm.py",
        "import os, time\nreading, writing = os.pipe()\nif os.fork():\n    os.read(reading, 1)\n    os._exit(0)\n"
        "os.setsid()\nos.write(writing, b'.')\ntime.sleep(600)\n",
    )
    told = user.json("launch", "dm.py")
    assert (told["state"], told["exit_code"]) == ("exited", 0)
    assert any(note.startswith("its children live on: dm.1") for note in told["notes"]), told
    user.ok("stop")


def test_a_plain_fork_is_followed_too(user: User) -> None:
    user.file(
        "fork.py",
        "import os\n\ndef child():\n    return 'in the child'\n\npid = os.fork()\nif not pid:\n    print(child(), flush=True)\n"
        "    os._exit(0)\nos.waitpid(pid, 0)\nprint('parent')\n",
    )
    told = user.json("launch", "fork.py", "--break", "child")
    assert told["frame"]["function"] == "child"
    assert [each["name"] for each in user.json("sessions")["sessions"]] == ["fork", "fork.1"]
    user.json("continue")
    assert user.json("wait", "--session", "fork")["exit_code"] == 0


def test_a_restart_after_every_kind_of_end(user: User) -> None:
    user.file("app.py", "x = 1\ny = 2\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    for verb in ("continue", "stop"):
        user.ok(verb)
        told = user.json("restart")
        assert (told["state"], told["frame"]["line"], told["breakpoints"]) == ("stopped", 2, ["b1"])
    program = user.pid()
    program.kill()
    program.wait(PATIENT)  # until then it is held where it was, and `wait` would say so
    assert user.json("wait")["signal"] == "SIGKILL"
    assert user.json("restart")["hit"] == 1
    user.ok("stop")


def test_pytest_runs_under_the_debugger_and_its_failure_is_no_stop_of_its_own(user: User) -> None:
    user.file("test_it.py", "def test_good():\n    assert 1\n\ndef test_bad():\n    x = 41\n    assert x == 42\n")
    told = user.json(
        "launch", "--break", "test_it.py:6", "--", "python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"
    )
    assert (told["frame"]["function"], told["locals"][0]["value"]) == ("test_bad", "41")
    end = user.json("continue")
    assert (end["state"], end["exit_code"]) == ("exited", 1)
    assert "1 failed, 1 passed" in end["output"]
