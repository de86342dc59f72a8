"""Commands that run other programs: they run as they are, and the Pythons that they start are debugged as their children."""

from __future__ import annotations

import functools
import json
import shutil
import sys
from typing import Any

import psutil
import pytest

from ..target.conftest import PYTHONS
from .conftest import User, eventually, gone, result

APP = "import sys\n\ndef double(n):\n    return n * 2  # here\n\nprint('app', double(int(sys.argv[1])), flush=True)\n"
PLACE = "app.py:4"
PY = sys.executable
WRAPPERS = {
    "a shell": ("sh", "-c", f"{PY} app.py 5; exit 3"),
    "a shell that becomes it": ("sh", "-c", f"exec {PY} app.py 5"),
    "env": ("env", "A=1", PY, "app.py", "5"),
    "timeout": ("timeout", "100", PY, "app.py", "5"),
    "nice": ("nice", "-n", "1", PY, "app.py", "5"),
    "a script": ("./run.sh", "5"),
    "a Python that becomes another": (PY, "exec.py"),
    "a shell in a Python in a shell": ("sh", "-c", f"{PY} nested.py"),
    "make": ("make", "-s", "run"),
}
ENDS_WITH_3 = ("a shell", "a script", "a shell in a Python in a shell")


@pytest.fixture
def app(user: User) -> User:
    user.file("app.py", APP)
    user.file("run.sh", f"#!/bin/sh\n{PY} app.py $1\nexit 3\n").chmod(0o755)
    user.file("exec.py", f"import os\nos.execv({PY!r}, [{PY!r}, 'app.py', '5'])\n")
    user.file("nested.py", f"import subprocess\nsubprocess.run('{PY} app.py 5', shell=True)\nraise SystemExit(3)\n")
    user.file("Makefile", f"run:\n\t@{PY} app.py 5\ntwice:\n\t@{PY} app.py 5\n\t@echo between\n\t@{PY} app.py 6\n")
    return user


def onwards(app: User) -> dict[str, Any]:
    """Continue to the next stop or to the end of the family, past ends of children; with all that was printed."""
    said, printed = app.says("continue", "--json"), ""
    while True:
        found = result(said)
        printed += found.get("output", "")
        if found["state"] != "exited" or "." not in json.loads(said.out)["session"]:
            return {**found, "output": printed}
        said = app.says("wait", "--json")


def need_make() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed: apt install make")


@pytest.mark.parametrize("way", WRAPPERS)
def test_a_program_behind_a_wrapper_stops_as_any_other_and_the_end_is_the_wrappers(app: User, way: str) -> None:
    if way == "make":
        need_make()
    command = WRAPPERS[way]
    said = app.says("launch", "--name", "w", "--break", PLACE, "--json", "--", *command)
    stop = result(said)
    assert (stop["reason"], stop["frame"]["file"], stop["frame"]["line"]) == ("breakpoint", "app.py", 4)
    assert app.json("eval", "n")["values"][0]["value"] == "5"
    end = onwards(app)
    assert (end["state"], end["exit_code"]) == ("exited", 3 if way in ENDS_WITH_3 else 0), end
    assert end["output"] == "app 10\n"
    assert "notes" not in end, "nobody of the family lives on"


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in PYTHONS])
def test_every_version_of_python_is_followed_behind_a_wrapper(app: User, version: str) -> None:
    said = app.ok("launch", "--break", PLACE, "--", "sh", "-c", f"{PYTHONS[version]} -u app.py 5")
    assert "sh.1 stopped: b1 hit 1 at app.py:4 in double\n" in said
    assert app.json("eval", "sys.version_info[:2]")["values"][0]["value"] == str(tuple(map(int, version.split("."))))


def test_a_wrapper_without_any_python_tells_its_output_its_code_and_that_it_saw_none(app: User) -> None:
    end = app.json("launch", "--break", PLACE, "--", "sh", "-c", "echo hi; exit 3")
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 3, "hi\n")
    (note,) = end["notes"]
    assert note.startswith("no Python") and note.endswith("program was seen in it")
    assert end["never_hit"][0]["state"] == "unconfirmed", "what happened unseen is not claimed"


def test_every_program_of_a_wrapper_is_a_child_session_and_it_lives_between_them(app: User) -> None:
    need_make()
    assert "make.1 stopped: b1 hit 1" in app.ok("launch", "--break", PLACE, "--", "make", "-s", "twice")
    second = onwards(app)
    assert (second["state"], second["breakpoints"]) == ("stopped", ["b1"])
    assert second["output"] == "app 10\nbetween\n", "what was printed meanwhile is told with the stop"
    listed = {each["name"]: each["state"] for each in app.json("sessions")["sessions"]}
    assert listed == {"make": "running", "make.1": "exited", "make.2": "stopped"}
    end = onwards(app)
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, "app 12\n")
    assert "never_hit" not in end


def test_a_launch_returns_while_nothing_has_come_up_and_what_comes_later_gets_the_breakpoints(app: User) -> None:
    waits = f"read line; echo got $line; {PY} app.py 5"
    told = app.says("launch", "--json", "--stdin", "-", "--timeout", "0.1", "--break", PLACE, "--", "sh", "-c", waits)
    assert result(told)["state"] == "running"
    assert app.json("breaks")["breakpoints"][0]["state"] == "pending"
    for verb in ("pause", "stack", "threads", "next"):
        said = app.fails(verb, code=3, error="wrong_state")
        assert "sh itself runs without a debugger" in said
    app.ok("break", "app.py:6", "--if", "True")
    app.ok("input", "go")
    stop = app.json("wait")
    assert (stop["frame"]["line"], stop["output"]) == (6, "got go\n")
    assert "sh.1" in app.fails("pause", "--session", "sh", code=3, error="wrong_state"), "it names who has a debugger"
    assert [each["state"] for each in app.json("breaks", "--session", "sh")["breakpoints"]] == ["bound", "bound"]


def test_a_wrapper_whose_programs_all_run_is_told_to_be_waited_for(app: User) -> None:
    (app.here / "asks.py").write_text("print('up', flush=True)\nfor line in open(0):\n    line.strip()\n")
    app.ok("launch", "--stdin", "-", "--ready", "up", "--break", "asks.py:3", "--", "sh", "-c", f"{PY} asks.py; true")
    said = app.fails("continue", "--do", "true", "--session", "sh", code=3, error="wrong_state")
    assert "debugged in it: sh.1 (try: dbg wait --do true --session sh)" in said
    app.ok("input", "a")
    assert "sh.1 stopped: b1 hit 1" in app.ok("wait")
    said = app.fails("continue", "--do", "true", "--session", "sh", code=3, error="wrong_state")
    assert "debugged in it: sh.1 (try: dbg use sh.1)" in said, "one that is held is what is meant"
    app.ok("stop")


def test_a_wrapped_session_is_restarted_and_stopped_with_nothing_left(app: User) -> None:
    script = f"{PY} app.py 5; echo went on; sleep 600"
    app.ok("launch", "--break", PLACE, "--", "sh", "-c", script)
    assert "sh.1 stopped: b1 hit 1" in app.ok("restart")
    processes = [app.pid("--session", name) for name in ("sh", "sh.1")]
    assert app.json("stop")["session"] == "sh"
    for each in processes:
        eventually(functools.partial(gone, each), "stop left a process")
    assert "went on" not in app.json("output", "--session", "sh").get("stdout", ""), (
        "no shell goes on to its next command"
    )


def test_a_detached_wrapper_and_its_programs_run_on(app: User) -> None:
    app.ok("launch", "--break", PLACE, "--", "sh", "-c", f"{PY} app.py 5; echo over > over.txt")
    app.ok("detach")
    eventually(lambda: (app.here / "over.txt").exists(), "it did not run to its end")


def test_a_probe_of_a_wrapper_reports_what_its_programs_did(app: User) -> None:
    places = app.says("probe", "--json", PLACE, "app.py:99", "--eval", "n", "--", "./run.sh", "5")
    reached, unbound = result(places)["places"]
    assert (reached["state"], reached["gathered"][0]["values"]) == ("reached", ["5"])
    assert (unbound["state"], unbound["message"]) == ("unbound", "app.py has 6 lines")


def test_only_the_first_program_is_debugged_where_children_are_not_wanted(app: User) -> None:
    command = ("sh", "-c", f"{PY} app.py 5; {PY} app.py 6; exit 4")
    assert "sh.1 stopped" in app.ok("launch", "--no-children", "--break", PLACE, "--", *command)
    end = onwards(app)
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 4, "app 10\napp 12\n")


def test_a_wrapper_is_stopped_at_the_first_line_of_its_first_program(app: User) -> None:
    stop = app.json("launch", "--stop-on-entry", "./run.sh", "5")
    assert (stop["reason"], stop["frame"]["line"]) == ("entry", 1)


def test_what_a_tool_asks_of_a_python_neither_stops_nor_hangs(app: User) -> None:
    asks = (
        f"x=$({PY} -c 'import no_such_module' 2>&1) || echo none; {PY} -c 'import no_such_module' 2>/dev/null;"
        f" {PY} --version; echo 'print(1)' | {PY} -; {PY} -I app.py 1; {PY} -c 'print(2)'; {PY} -m this | head -1"
    )
    end = app.json("launch", "--", "bash", "-c", asks)
    version = "Python " + sys.version.split()[0]
    assert (end["state"], end["exit_code"], end.get("stderr", "")) == ("exited", 0, "")
    assert end["output"] == f"none\n{version}\n1\napp 2\n2\nThe Zen of Python, by Tim Peters\n"


def test_code_of_the_users_own_behind_a_shell_stops_at_its_uncaught_exception(app: User) -> None:
    assert "ZeroDivisionError" in app.ok("launch", "--", "sh", "-c", f"{PY} -c '1/0'")
    end = onwards(app)
    assert (end["state"], end["exit_code"]) == ("exited", 1)


SHELLS = f"""\
import os, subprocess, sys
subprocess.run("{PY} app.py 1", shell=True)
os.system("{PY} app.py 2")
subprocess.run(["./run.sh", "3"])
subprocess.run(["./tool.py"], env={{"PATH": os.environ["PATH"]}})
print([name for name in ("STILLFRAME_TOKENS", "STILLFRAME_FOLLOW", "PYTHONPATH") if name in os.environ], flush=True)
"""


def test_children_behind_a_shell_a_script_or_a_tool_are_followed(app: User) -> None:
    app.file("shells.py", SHELLS)
    app.file("tool.py", f"#!{PY}\nimport app\n").chmod(0o755)
    app.file("app.py", APP.replace("int(sys.argv[1])", "int((sys.argv + ['4'])[1])"))
    found = [result(app.says("launch", "--json", "shells.py", "--break", PLACE))]
    found += [onwards(app) for _ in range(3)]
    assert [each["locals"][0]["value"] for each in found] == ["1", "2", "3", "4"]
    end = onwards(app)
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, "app 8\n[]\n")


def test_children_behind_a_shell_are_left_alone_where_none_are_wanted(app: User) -> None:
    app.file("shells.py", SHELLS.replace('subprocess.run(["./tool', '0 and subprocess.run(["./tool'))
    end = app.json("launch", "shells.py", "--no-children", "--break", PLACE)
    assert (end["state"], end["output"]) == ("exited", "app 2\napp 4\napp 6\n[]\n")


def test_a_program_that_becomes_a_shell_ends_with_the_shells_code(app: User) -> None:
    app.file("becomes.py", f"import os\nos.execvp('sh', ['sh', '-c', '{PY} app.py 5; exit 6'])\n")
    assert "becomes.1 stopped: b1 hit 1" in app.ok("launch", "becomes.py", "--break", PLACE)
    end = onwards(app)
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 6, "app 10\n")


@pytest.mark.own_daemon
def test_a_killed_daemon_takes_a_wrapper_and_its_programs_along(app: User) -> None:
    app.ok("launch", "--break", PLACE, "--", "sh", "-c", f"{PY} app.py 5; sleep 600")
    processes = [app.pid("--session", name) for name in ("sh", "sh.1")]
    psutil.Process(app.json("daemon", "status")["pid"]).kill()
    for each in processes:
        eventually(functools.partial(gone, each), "it outlived the daemon")
    assert app.json("sessions")["sessions"][0]["state"] == "lost"


def test_a_wrapper_that_cannot_be_run_is_refused_with_the_reason(app: User) -> None:
    app.file("closed.sh", "#!/bin/sh\n")
    assert "is not executable" in app.fails("launch", "closed.sh", code=1, error="launch_failed")
    assert "no such file" in app.fails("launch", "none.sh", code=1, error="launch_failed")
    assert "chooses its interpreter itself" in app.fails(
        "launch", "--python", PY, "--", "sh", "-c", "true", code=2, error="usage"
    )


def test_a_compiled_wrapper_is_known_wherever_it_is_installed(user: User) -> None:
    user.file("app.py", "a = 1\nprint(a)\n")
    (user.here / "tools").mkdir()
    elsewhere = str(user.here / "tools" / "uvx")  # by its name; what it does is what env does
    shutil.copy(shutil.which("env") or "env", elsewhere)
    assert "uvx.1 stopped" in user.ok("launch", "--break", "app.py:2", "--", elsewhere, "X=1", sys.executable, "app.py")
    user.ok("stop")


def test_the_readme_is_right_about_the_variables_that_a_program_finds(user: User) -> None:
    user.file("app.py", "import os\nprint(sorted(name for name in os.environ if 'STILLFRAME' in name))\n")
    plain = user.json("launch", "app.py")["output"]
    assert "STILLFRAME_MARK" in plain and "STILLFRAME_NODE" not in plain
    wrapped = user.json("launch", "--", "sh", "-c", f"{sys.executable} app.py; true")["output"]
    assert "STILLFRAME_MARK" in wrapped
    shell = "import os; os.system('env | grep STILLFRAME; env | grep PYTHONPATH')"
    below = user.json("launch", "-c", shell)["output"]
    assert "STILLFRAME_MARK" in below and "PYTHONPATH" in below
