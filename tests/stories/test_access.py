"""Rights: reading, inspecting, controlling and executing are separate, and a condition counts as executing."""

from __future__ import annotations

import json
import signal
import subprocess

from .conftest import CLIENT_LINE, User, eventually


def test_what_a_call_may_not_do_is_denied_and_not_done(user: User) -> None:
    user.file("app.py", "x = 1\ny = 2\nz = 3\n")
    user.fails("launch", "app.py", "--allow", "control", code=7, error="denied")
    user.ok("launch", "app.py", "--break", "app.py:2")
    for level, words in (
        ("control", ["eval", "x"]),
        ("control", ["set", "x", "5"]),
        ("control", ["break", "app.py:3", "--if", "x"]),
        ("control", ["break", "app.py:3 if x"]),
        ("control", ["break", "app.py:3", "--log", "{x}"]),
        ("control", ["continue", "--do", "true"]),
        ("control", ["raw", "1"]),
        ("control", ["eval", "--safe", "x"]),
        ("control", ["set-return", "5"]),
        ("control", ["hotpatch", "app.py"]),
        ("control", ["hotpatch", "app.py", "--dry-run"]),
        ("inspect", ["restart-frame"]),
        ("inspect", ["continue"]),
        ("inspect", ["break", "app.py:3"]),
        ("inspect", ["stop"]),
        ("read", ["locals"]),
        ("read", ["stack"]),
    ):
        user.fails(*words, "--allow", level, code=7, error="denied")
    for level, words in (("read", ["status"]), ("inspect", ["locals"]), ("control", ["next"]), ("exec", ["eval", "x"])):
        user.ok(*words, "--allow", level)
    assert user.json("breaks")["breakpoints"][0]["id"] == "b1"
    assert user.json("eval", "x")["values"][0]["value"] == "1"
    user.ok("stop")


def test_a_client_that_is_interrupted_says_so_by_its_exit_code(user: User) -> None:
    user.file("spin.py", "while True:\n    pass\n")
    user.ok("launch", "spin.py", "--stop-on-entry")
    waiting = user.start("continue")
    eventually(lambda: user.json("status")["state"] == "running", "it never ran")  # so the client is in its call
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    user.ok("stop")


def test_a_reader_that_went_away_is_no_crash(user: User) -> None:
    user.file("app.py", "x = 1\n")
    user.ok("launch", "app.py")
    done = subprocess.run(
        f"{CLIENT_LINE} help | true; {CLIENT_LINE} sessions --json | head -c 1",
        shell=True, cwd=user.here, capture_output=True, timeout=60,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    assert done.stdout == b"{"


def test_json_of_a_usage_error_is_an_envelope_too(user: User) -> None:
    said = user.says("nosuchverb", "--json")
    reply = json.loads(said.out)
    assert (said.code, reply["ok"], reply["error"]["code"]) == (2, False, "usage")
