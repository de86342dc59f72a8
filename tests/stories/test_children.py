"""Processes that the program starts: sessions of their own, or left alone; the parent never hangs."""

from __future__ import annotations

import functools

import psutil
import pytest

from ..conftest import INTERPRETERS
from .conftest import User, ended, eventually, gone

CHILD = "import sys\n\ndef work(n):\n    return n + 1  # here\n\nprint('child', work(41), flush=True)\n"
SUBPROCESS = "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\nprint('parent done')\n"
MULTI = """\
import multiprocessing as mp, sys

def work(n):
    return n * 2  # here

if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    with mp.Pool(1) as pool:
        print(pool.map(work, [21]))
    print("parent done", flush=True)
"""


def test_a_subprocess_is_a_child_session_with_the_familys_breakpoints(user: User) -> None:
    user.file("child.py", CHILD)
    user.file("parent.py", SUBPROCESS)
    said = user.ok("launch", "parent.py", "--break", "child.py:4")
    assert "parent.1 stopped: b1 hit 1 at child.py:4 in work\n" in said
    listed = {each["name"]: each for each in user.json("sessions")["sessions"]}
    assert (listed["parent"]["state"], listed["parent.1"]["state"]) == ("running", "stopped")
    assert listed["parent.1"]["parent"] == "parent"
    assert user.json("eval", "n")["values"][0]["value"] == "41", "the child is the current one"
    assert user.json("continue")["state"] == "exited"
    end = user.json("wait", "--session", "parent")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert "never_hit" not in end
    assert "parent done" in user.json("output", "--since", "0.0.0.0", "--session", "parent")["stdout"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_multiprocessing_are_child_sessions(user: User, method: str) -> None:
    user.file("pool.py", MULTI)
    told = user.says("launch", "pool.py", method, "--break", "pool.py:4")
    assert "stopped: b1 hit 1 at pool.py:4 in work" in told.out, told
    assert user.json("eval", "n")["values"][0]["value"] == "21"
    assert user.json("unbreak", "--all")["breakpoints"] == []
    user.json("continue", "--timeout", "0")
    end = user.json("wait", "--session", "pool")
    assert (end["state"], end["exit_code"]) == ("exited", 0)
    assert "[42]\nparent done\n" in user.json("output", "--since", "0.0.0.0", "--session", "pool")["stdout"]


@pytest.mark.parametrize("how", ["subprocess", "fork", "spawn"])
def test_children_that_are_not_followed_run_as_if_nobody_looked(user: User, how: str) -> None:
    user.file("child.py", CHILD)
    user.file("parent.py", SUBPROCESS if how == "subprocess" else MULTI)
    place = "child.py:4" if how == "subprocess" else "parent.py:4"
    told = user.json("launch", "parent.py", how, "--no-children", "--break", place)
    assert (told["state"], told["exit_code"]) == ("exited", 0)
    assert "parent done\n" in told["output"]
    assert told["notes"] == ["child processes are not followed (--no-children); what they ran is not counted"]
    assert [each["name"] for each in user.json("sessions")["sessions"]] == ["parent"]


def test_stop_ends_the_whole_family(user: User) -> None:
    user.file("child.py", CHILD)
    user.file("parent.py", SUBPROCESS)
    user.ok("launch", "parent.py", "--break", "child.py:4")
    processes = [user.pid("--session", name) for name in ("parent", "parent.1")]
    assert user.json("stop")["session"] == "parent"
    for each in processes:
        eventually(functools.partial(gone, each), "stop left a process")


def test_a_detached_process_is_reported_and_ended_only_when_asked(user: User) -> None:
    user.file(
        "daemonic.py",
        "import subprocess\nsubprocess.run(['sh', 'leave.sh'])  # reparented: no descendant\nx = 1\n",
    )
    # It has left the program's process group for sure when the shell ends: until then it is ended with that.
    user.file(
        "leave.sh",
        "rm -f left; mkfifo left\n"
        "setsid sh -c 'echo >left; exec sleep 600' </dev/null >/dev/null 2>&1 &\n"
        "read word <left\n",
    )
    user.ok("launch", "daemonic.py", "--break", "daemonic.py:3")
    told = user.json("stop")
    assert told["action"] == "terminated"
    (left,) = told["left"]
    assert psutil.pid_exists(left)
    psutil.Process(left).kill()
    user.ok("launch", "daemonic.py", "--break", "daemonic.py:3")
    for pid in user.json("stop", "--tree").get("left", []):
        eventually(functools.partial(gone, psutil.Process(pid)), "--tree left it alive")


LINGERS = """import os, subprocess, sys
from pathlib import Path
if sys.argv[1:]:
    here = 1
    sys.exit(3)
subprocess.run([sys.executable, __file__, "child"])
while not Path("go").exists():
    pass
print("the end")
"""


def test_the_end_of_a_child_does_not_answer_for_its_parent_that_lives_on(user: User) -> None:
    user.file("app.py", LINGERS)
    assert "app.1 stopped" in user.ok("launch", "app.py", "--break", "app.py:4")
    waiting = user.start("continue")
    eventually(lambda: "app.1 exited" in user.ok("sessions"), "the child does not end")
    told = user.json("wait", "--timeout", "1.5")
    assert told["state"] == "running"
    assert waiting.poll() is None, "the child's end was taken for the answer"
    assert user.json("wait", "--session", "app.1")["state"] == "exited", "a child that ended is told of by its name"
    user.file("go", "")
    said = ended(waiting)
    assert "app exited 0" in said.out and "the end" in said.out


@pytest.mark.long
def test_a_parent_that_runs_on_says_that_its_child_has_ended(user: User) -> None:
    user.file("app.py", LINGERS)
    user.ok("launch", "app.py", "--break", "app.py:4")
    told = user.json("continue", "--timeout", "5")
    assert (told["state"], told["notes"]) == ("running", ["app.1 has ended"])
    user.ok("stop")


def test_a_breakpoint_that_is_bound_in_a_child_is_counted_as_bound_by_sessions(user: User) -> None:
    user.file("child.py", CHILD)
    user.file("parent.py", SUBPROCESS)
    user.ok("launch", "parent.py", "--break", "child.py:4")
    assert [each["bound"] for each in user.json("sessions")["sessions"]] == [1, 1]
    user.ok("stop")


DAEMON = """\
import os, sys, time

def daemonize():
    for _ in range(2):
        reading, writing = os.pipe()
        if os.fork():
            os.read(reading, 1)
            os._exit(0)
        os.setsid()
        os.write(writing, b".")

def serve(jobs):
    return [100 / job for job in jobs]

daemonize()
if sys.argv[1:]:
    time.sleep(600)
serve([5, 0])
"""


@pytest.mark.long
@pytest.mark.parametrize("version", [each for each in ("3.9", "3.12") if each in INTERPRETERS])
def test_a_daemon_is_the_program_that_started_it_and_nothing_of_it_is_left(user: User, version: str) -> None:
    user.file("daemon.py", DAEMON)
    run = ("--python", INTERPRETERS[version], "--", "python", "daemon.py")
    failure = user.json("crash", *run)["failure"]
    assert (failure["what"], failure["stack"]["frames"][-1]["line"]) == ("ZeroDivisionError: division by zero", 18)
    assert user.json("probe", "daemon.py:18", *run)["places"][0]["state"] == "reached"
    assert user.json("probe", "daemon.py:18", "--expect", "False", *run)["places"][0]["count"] == 1
    assert user.json("trace", "serve", *run)["life"]["end"] == "raised"
    report = user.json("crash", *run, "stay")
    (note,) = report["end"]["notes"]
    assert note.startswith("its children lived on, and are ended with it: crash-daemon.")
    (note,) = (each for each in user.json("trace", "serve", *run, "stay")["notes"] if "left behind" in each)
    assert note.startswith("what it left behind was ended after 5 s: pid ")
    eventually(functools.partial(_is_gone, int(note.rpartition(" ")[2])), "a daemon was left behind")
    report = user.json("hang", "--timeout", "1", *run, "stay")
    assert [each["stack"]["frames"][0]["line"] for each in report["groups"]] == [17]
    assert report["notes"] == ["the program itself has ended: this is of what it left behind"]


def _is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid)


UNHEARD = """import ctypes, os, time
if not os.fork():
    if not ctypes.CDLL(None).fork():  # which no debugger sees, and which has the lines of its parent open
        os.close(1), os.close(2)
        time.sleep(60)
    os._exit(0)
os.wait()
"""


def test_a_child_that_has_ended_is_not_said_to_live_on_though_its_line_is_open(user: User) -> None:
    user.file("app.py", UNHEARD)
    end = user.json("launch", "app.py")
    assert end["state"] == "exited" and not end.get("notes")
    user.ok("stop")
