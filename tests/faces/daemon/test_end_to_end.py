"""The command line, the daemon and a real debugger together: what survives whose death, and what reaches the program."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from ...guard import eventually, gone
from ..conftest import CLIENT, DEADLINE, SRC, Dbg, Said, begin, call

PROGRAM = """\
import sys, time

def turn(number):
    return number + 1

number = 0
print("up", flush=True)
while number < 10 ** 9:
    number = turn(number)
    time.sleep(0.01)
"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """A program that runs until it is ended."""
    path = tmp_path / "loop.py"
    path.write_text(PROGRAM)
    return path


def result(said: Said) -> dict[str, Any]:
    reply = json.loads(said.out)
    assert reply["ok"], reply
    found: dict[str, Any] = reply["result"]
    return found


def target(dbg: Dbg, cwd: Path) -> psutil.Process:
    return psutil.Process(result(dbg("status", "--json", cwd=cwd))["pid"])


@pytest.mark.own_daemon
def test_the_callers_directory_environment_and_umask_reach_the_program_and_the_daemons_do_not(
    dbg: Dbg, tmp_path: Path
) -> None:
    assert dbg("sessions", env={"LC_OF_THE_DAEMON": "1"}).code == 0
    code = "import os, sys; e = os.environ.get; print(os.getcwd(), e('MINE'), e('LC_OF_THE_DAEMON'), oct(os.umask(0)), sys.argv)"
    done = subprocess.run(
        [*CLIENT, "launch", "--json", "-c", code, "a b", "--", "--flag"],
        env={**os.environ, "MINE": "ü"}, cwd=tmp_path, umask=0o027, capture_output=True, timeout=DEADLINE,
    )  # fmt: skip
    ended = result(Said(done.stdout.decode(), done.stderr.decode(), done.returncode))
    assert (ended["state"], ended["exit_code"]) == ("exited", 0)
    assert f"{tmp_path} ü None 0o27 ['-c', 'a b', '--flag']" in ended["output"]


def test_bytes_that_are_no_text_reach_the_program_as_they_are(dbg: Dbg, tmp_path: Path) -> None:
    for where in ("env", "argv", "cwd"):
        here = Path(
            os.fsdecode(os.fsencode(tmp_path) + (b"/odd \xff dir" if where == "cwd" else os.fsencode(f"/{where}")))
        )
        here.mkdir()
        word, value = (b"\xfe\x80" if where == "argv" else b"a"), (b"\xfd" if where == "env" else b"b")
        words = "sys.argv[1], os.environ['ODD'], os.path.basename(os.getcwd())"
        (here / "app.py").write_text(f"import os, sys\nprint([os.fsencode(word) for word in ({words})])")
        ended = result(dbg("launch", "app.py", word, "--json", env={"ODD": os.fsdecode(value)}, cwd=here))
        assert (ended["state"], ended["exit_code"]) == ("exited", 0), where
        assert repr([word, value, os.fsencode(here.name)]) in ended["output"]


EXIT_CODES = [
    (["locals"], 3, "no_session"),
    (["locals", "--session", "../x"], 2, "usage"),
    (["launch", "missing.py"], 1, "launch_failed"),
    (["launch", "loop.py", "--allow", "control"], 7, "denied"),
    (["break", "loop.py:4", "--hit", "many"], 2, "usage"),
    (["next", "--count", "x"], 2, "usage"),
]


def test_an_error_has_its_exit_code_in_text_and_in_json(dbg: Dbg, loop: Path) -> None:
    for words, code, name in EXIT_CODES:
        text = dbg(*words, cwd=loop.parent)
        assert (text.code, text.out) == (code, ""), words
        assert text.err.startswith(f"error {name}: ")
        exact = dbg(*words, "--json", cwd=loop.parent)
        reply = json.loads(exact.out)
        told = (exact.code, exact.err, reply["ok"], reply["op"], reply["error"]["code"])
        assert told == (code, "", False, words[0], name)


def test_a_client_killed_in_mid_call_leaves_its_session_usable(dbg: Dbg, loop: Path) -> None:
    here = loop.parent
    assert dbg("launch", "loop.py", "--break", "loop.py:4", cwd=here).code == 0
    assert dbg("unbreak", "--all", cwd=here).code == 0
    for number in (signal.SIGKILL, signal.SIGINT):
        waiting = begin("continue", cwd=here, stdout=subprocess.DEVNULL)
        eventually(lambda: result(dbg("status", "--json", cwd=here))["state"] == "running", "it never ran")
        waiting.send_signal(number)
        waiting.wait(DEADLINE)
        assert result(dbg("wait", "--timeout", "0", "--json", cwd=here))["state"] == "running"
        assert result(dbg("pause", "--timeout", "30", "--json", cwd=here))["state"] == "stopped"
        assert dbg("eval", "number >= 0", cwd=here).out.endswith("= True\n")
    assert dbg("stop", cwd=here).code == 0


def test_reading_pausing_and_stopping_do_not_queue_behind_a_running_continue(dbg: Dbg, loop: Path) -> None:
    here = loop.parent
    assert result(dbg("launch", "loop.py", "--no-wait", "--json", cwd=here))["state"] == "running"
    process = target(dbg, here)
    waiting = begin("wait", "--json", cwd=here, stdout=subprocess.PIPE)
    assert dbg("breaks", cwd=here).code == 0
    assert dbg("output", cwd=here).code == 0
    assert dbg("sessions", cwd=here).code == 0
    assert result(dbg("pause", "--timeout", "30", "--json", cwd=here))["state"] == "stopped"
    out, _ = waiting.communicate(timeout=DEADLINE)
    assert json.loads(out)["result"]["state"] == "stopped"
    again = begin("continue", "--json", cwd=here, stdout=subprocess.PIPE)
    eventually(lambda: result(dbg("status", "--json", cwd=here))["state"] == "running", "it never ran")
    assert dbg("continue", cwd=here).code == 3
    assert dbg("stop", cwd=here).code == 0
    out, _ = again.communicate(timeout=DEADLINE)
    assert json.loads(out)["result"]["state"] == "exited"
    assert gone(process)


def test_a_probe_ends_with_the_client_that_asked_for_it(dbg: Dbg, loop: Path) -> None:
    here = loop.parent
    loop.write_text(
        PROGRAM.replace('print("up", flush=True)', 'open("pid", "w").write(str(__import__("os").getpid()))')
    )
    for number in (signal.SIGKILL, signal.SIGINT):
        (here / "pid").unlink(missing_ok=True)
        asking = begin("probe", "loop.py:99999", "turn if False", "--", "python3", "loop.py", cwd=here)
        eventually(lambda: (here / "pid").exists() and (here / "pid").read_text() != "", "the program never came up")
        process = psutil.Process(int((here / "pid").read_text()))
        asking.send_signal(number)
        asking.wait(DEADLINE)
        eventually(functools.partial(gone, process), "the probed program lives on")
    assert json.loads(dbg("sessions", "--json", cwd=here).out)["result"].get("sessions", []) == []


@pytest.mark.own_daemon
def test_a_daemon_that_is_told_to_end_ends_what_it_launched(dbg: Dbg, loop: Path) -> None:
    here = loop.parent
    assert dbg("launch", "loop.py", "--no-wait", cwd=here).code == 0
    process = target(dbg, here)
    assert dbg("daemon", "stop").out.endswith("1 session\n")
    assert gone(process)


@pytest.mark.own_daemon
def test_a_killed_daemon_leaves_no_program_and_the_next_call_finds_the_breakpoints(dbg: Dbg, loop: Path) -> None:
    here = loop.parent
    assert dbg("launch", "loop.py", "--break", "loop.py:4", cwd=here).code == 0
    process = target(dbg, here)
    pid = result(dbg("daemon", "status", "--json"))["pid"]
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: gone(process), "the program outlived its daemon")
    kept = result(dbg("breaks", "--json", cwd=here))["breakpoints"]
    assert [each["id"] for each in kept] == ["b1"]
    again = result(dbg("restart", "--json", cwd=here))
    assert (again["state"], again["frame"]["line"]) == ("stopped", 4)
    assert dbg("stop", cwd=here).code == 0


def test_a_probe_without_a_daemon_reports_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text("def add(a, b):\n    return a + b\n\nprint(add(2, 3))\n")
    said = call("probe", "add.py:2", "--eval", "a + b", "--no-daemon", "--json", cwd=tmp_path)
    (place,) = result(said)["places"]
    assert (place["state"], place["count"]) == ("reached", 1)
    assert call("daemon").out == "no daemon runs\n"
    plain = call("probe", "add.py:2", "--no-daemon", cwd=tmp_path)
    assert (plain.code, plain.err) == (0, "")
    assert "add.py:2 reached (1 hit taken)" in plain.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_probe_without_a_daemon_that_is_ended_leaves_no_program(loop: Path, number: signal.Signals) -> None:
    here = loop.parent
    loop.write_text(
        PROGRAM.replace('print("up", flush=True)', 'open("pid", "w").write(str(__import__("os").getpid()))')
    )
    asking = begin(
        "probe",
        "turn if False",
        "--no-daemon",
        "--",
        "python3",
        "loop.py",
        cwd=here,
        stdout=subprocess.DEVNULL,
    )
    eventually(lambda: (here / "pid").exists() and (here / "pid").read_text() != "", "the program never came up")
    process = psutil.Process(int((here / "pid").read_text()))
    asking.send_signal(number)
    code = asking.wait(DEADLINE)
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(number, -number)
    eventually(lambda: gone(process), "the program outlived the call")


@pytest.fixture
def newer(tmp_path: Path) -> list[str]:
    """A client of a later version, as a second install would be."""
    copy = tmp_path / "newer"
    shutil.copytree(SRC, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("version.py", "faces/cli/catalogue.py"):
        path = copy / "stillframe" / name
        path.write_text(re.sub(r'"\d+\.\d+\.\d+[^"]*"', '"9.9.9"', path.read_text(), count=1))
    entry = f"import sys; sys.path.insert(0, {str(copy)!r}); from stillframe.faces.cli.main import entry; entry()"
    return [sys.executable, "-IS", "-c", entry]


@pytest.mark.own_daemon
def test_a_newer_client_replaces_an_idle_daemon_and_respects_a_busy_one(dbg: Dbg, loop: Path, newer: list[str]) -> None:
    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*newer, *words], cwd=loop.parent, capture_output=True, text=True, timeout=DEADLINE)

    assert dbg("sessions").code == 0
    old = result(dbg("daemon", "status", "--json"))
    done = ask("sessions", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    new = json.loads(ask("daemon", "status", "--json").stdout)["result"]
    assert (new["version"], old["version"] != "9.9.9", new["pid"] != old["pid"]) == ("9.9.9", True, True)
    assert ask("launch", "loop.py", "--no-wait").returncode == 0
    refused = dbg("sessions")
    assert refused.code == 3
    for part in (old["version"], "9.9.9", "dbg daemon stop"):
        assert part in refused.err
    assert dbg("daemon", "stop").code == 0
    assert dbg("sessions").code == 0


def test_eight_clients_at_one_session_all_get_their_answers(dbg: Dbg, loop: Path) -> None:
    here = loop.parent
    assert dbg("launch", "loop.py", "--break", "loop.py:4", cwd=here).code == 0
    lines = [
        [*CLIENT, "break", f"loop.py:{line}", "--json"] if line % 2 else [*CLIENT, "eval", "number", "--json"]
        for line in (3, 4, 5, 6, 7, 8, 9, 10)
    ]
    racing = [subprocess.Popen(line, cwd=here, stdout=subprocess.PIPE) for line in lines]
    replies = [json.loads(each.communicate(timeout=DEADLINE)[0]) for each in racing]
    assert all(reply["ok"] for reply in replies)
    assert len(result(dbg("breaks", "--json", cwd=here))["breakpoints"]) == 5
    assert dbg("stop", cwd=here).code == 0


@pytest.mark.own_daemon
def test_a_setting_of_the_environment_that_does_not_fit_is_the_callers_fault(dbg: Dbg) -> None:
    said = dbg("sessions", env={"STILLFRAME_WAIT": "long"})
    assert (said.code, said.err) == (2, "error usage: wait in the environment is a number, not 'long'\n")
