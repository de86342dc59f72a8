"""Several clients at one session, and clients and daemons that die: nobody waits for another, nothing is lost."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from .conftest import User, ended, eventually, gone, result

LOOP = """\
import time

def turn(n):
    return n + 1  # line 4

n = 0
print("up", flush=True)
while n < 10 ** 9:
    n = turn(n)
    time.sleep(0.01); open("beat", "w").write(str(n))
"""


@pytest.fixture
def looping(user: User) -> User:
    user.file("loop.py", LOOP)
    return user


def test_eight_clients_reading_never_wait_behind_a_running_continue(looping: User) -> None:
    looping.ok("launch", "loop.py", "--break", "loop.py:4")
    looping.ok("unbreak", "--all")
    moving = looping.start("continue", "--json")
    eventually(lambda: looping.json("status")["state"] == "running", "it never ran")
    verbs = ["status", "breaks", "output", "sessions", "capabilities", "tool", "threads", "modules"]
    asking = [looping.start(verb, "--json") for verb in verbs]
    replies = [ended(each) for each in asking]
    assert [each.code for each in replies] == [0] * 8, replies
    assert moving.poll() is None, "the continue still waits, and nobody waited for it"
    assert looping.json("pause", "--timeout", "30")["state"] == "stopped"
    assert result(ended(moving))["state"] == "stopped", "the waiting client is told of the stop, too"
    looping.ok("stop")


def test_of_eight_continues_at_once_one_moves_and_the_others_are_told(looping: User) -> None:
    looping.ok("launch", "loop.py", "--break", "loop.py:4")
    looping.ok("unbreak", "--all")
    racing = [looping.start("continue", "--timeout", "0.5", "--json") for _ in range(8)]
    replies = [ended(each) for each in racing]
    assert sorted(each.code for each in replies) == [0] + [3] * 7
    codes = [json.loads(each.out)["error"]["code"] for each in replies if each.code]
    assert codes == ["wrong_state"] * 7
    looping.ok("stop")


def test_breakpoints_of_racing_clients_all_survive(looping: User) -> None:
    looping.ok("launch", "loop.py", "--no-wait")
    racing = [looping.start("break", f"loop.py:{line} if n < 0", "--json") for line in (4, 6, 7, 8, 9, 10)]
    made = {result(ended(each))["id"] for each in racing}
    assert len(made) == 6
    listed = looping.json("breaks")["breakpoints"]
    assert {each["id"] for each in listed} == made
    assert {each["state"] for each in listed} == {"bound"}
    looping.ok("stop")


def test_waits_are_ended_by_somebody_else_and_the_program_is_left_as_it_is(looping: User) -> None:
    looping.ok("launch", "loop.py", "--break", "loop.py:4")
    looping.ok("unbreak", "--all")
    waiting = [looping.start("continue", "--json")]
    eventually(lambda: looping.json("status")["state"] == "running", "it never ran")
    waiting.append(looping.start("wait", "--json"))
    sent_away: list[int] = []
    eventually(
        lambda: sent_away.append(looping.json("cancel")["waits"]) or sum(sent_away) == 2, "the two were never sent away"
    )
    for told in [result(ended(each)) for each in waiting]:
        assert told["state"] == "running"
        assert "somebody ended this wait by `cancel`; the program was left as it is" in told["notes"]
    assert looping.ok("cancel") == "nobody waits for loop\n"
    assert looping.json("status")["state"] == "running"
    looping.ok("stop")
    looping.fails("cancel", code=3, error="wrong_state")


def test_stop_ends_a_waiting_continue_with_the_truth(looping: User) -> None:
    looping.ok("launch", "loop.py", "--no-wait")
    waiting = [looping.start("wait", "--json") for _ in range(3)]
    eventually(lambda: len(looping.json("sessions")["sessions"]) == 1, "no session")
    looping.ok("stop")
    assert [result(ended(each))["state"] for each in waiting] == ["exited"] * 3


@pytest.mark.parametrize("verb", ["continue", "wait"])
def test_a_client_killed_in_mid_call_leaves_a_session_that_the_next_call_uses(looping: User, verb: str) -> None:
    looping.ok("launch", "loop.py", "--break", "loop.py:4")
    looping.ok("unbreak", "--all")
    if verb != "continue":
        looping.json("continue", "--timeout", "0")
    waiting = looping.start(verb)
    eventually(lambda: looping.json("status")["state"] == "running", "it never ran")
    waiting.kill()
    waiting.communicate()
    assert looping.json("pause", "--timeout", "30")["state"] == "stopped"
    assert looping.json("eval", "1 + 1")["values"][0]["value"] == "2"
    assert looping.json("break", "loop.py:4")["state"] == "bound"
    assert looping.json("continue")["frame"]["line"] == 4
    looping.ok("stop")


@pytest.mark.parametrize("verb", ["launch", "restart"])
def test_a_client_killed_while_it_starts_a_program_leaves_a_whole_session_or_none(looping: User, verb: str) -> None:
    if verb == "restart":
        looping.ok("launch", "loop.py", "--no-wait")
        looping.ok("stop")
    starting = looping.start("launch", "loop.py") if verb == "launch" else looping.start("restart")
    eventually(lambda: bool(looping.json("sessions")["sessions"]), "no session came up")
    starting.kill()
    starting.communicate()
    eventually(lambda: looping.json("sessions")["sessions"][-1]["state"] in ("running", "exited"), "half a session")
    if looping.json("sessions")["sessions"][-1]["state"] == "running":
        assert looping.json("pause", "--timeout", "30")["state"] == "stopped"
    looping.ok("stop")


@pytest.mark.own_daemon
def test_a_killed_daemon_ends_what_it_launched_and_leaves_what_it_joined(looping: User) -> None:
    mine = subprocess.Popen([sys.executable, "loop.py"], cwd=looping.here, stdout=subprocess.DEVNULL)
    try:
        looping.ok("attach", "--pid", str(mine.pid), "--name", "mine")
        looping.ok("launch", "loop.py", "--name", "theirs", "--break", "loop.py:4 if n > 1")
        looping.ok("break", "turn", "--session", "theirs", "--log", "n={n}")
        launched = looping.pid("--session", "theirs")
        os.kill(looping.json("daemon", "status")["pid"], signal.SIGKILL)
        eventually(functools.partial(gone, launched), "the program outlived its daemon")
        assert mine.poll() is None
        kept = looping.json("breaks")
        assert [each["id"] for each in kept["breakpoints"]] == ["b1", "b2"]
        lost = {each["name"]: each["state"] for each in looping.json("sessions")["sessions"]}
        assert lost["theirs"] == "lost"
        again = looping.json("restart")
        assert (again["state"], again["frame"]["line"], again["locals"][0]["value"]) == ("stopped", 4, "2")
        assert [each["id"] for each in looping.json("breaks")["breakpoints"]] == ["b1", "b2"]
        looping.ok("stop")
        assert mine.poll() is None
        assert running(mine.pid)
    finally:
        mine.kill()
        mine.wait()


def running(pid: int) -> bool:
    """Whether the loop goes on: it writes down how far it came, which a program that is held does not."""
    beat = Path(psutil.Process(pid).cwd(), "beat")
    before = beat.read_text() if beat.exists() else ""
    eventually(lambda: beat.exists() and beat.read_text() not in ("", before), "it does not run")
    return True


def test_a_program_that_is_killed_is_told_by_its_signal(looping: User) -> None:
    looping.ok("launch", "loop.py", "--no-wait")
    waiting = looping.start("wait", "--json")
    looping.pid().kill()
    told = result(ended(waiting))
    assert (told["state"], told.get("signal")) == ("exited", "SIGKILL")
    assert "SIGKILL" in looping.ok("state")


def test_a_session_that_nobody_uses_is_given_up_when_its_lease_is_over(looping: User) -> None:
    looping.file("loop.py", f"import os\nopen('pid', 'w').write(str(os.getpid()))\n{LOOP}")
    told = looping.json("launch", "loop.py", "--lease", "1", "--timeout", "1.5")
    assert told["state"] == "running", "whoever waits at it uses it"
    pid = int(eventually(lambda: (looping.here / "pid").read_text(), "it never ran"))
    eventually(lambda: not psutil.pid_exists(pid), "it lives on after its lease", 45.0)  # no call, which would use it
    said = looping.ok("wait")  # until the daemon has heard of it, too
    assert "exited" in said
    assert "nobody used it" in said
    assert "exited" in looping.ok("state")
    assert "loop exited by SIGTERM, since nobody used it for 1 s" in looping.ok("history"), "the record says so, too"
