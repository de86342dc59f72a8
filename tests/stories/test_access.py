"""Rights: reading, inspecting, controlling and executing are separate, and a condition counts as executing."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess

from ..faces.conftest import CLIENT, DEADLINE, Said
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
    for level, words in (
        ("read", ["status"]),
        ("read,inspect", ["locals"]),
        ("control", ["next"]),
        ("exec", ["eval", "x"]),
    ):
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
    out, err = waiting.communicate(timeout=DEADLINE)
    assert (waiting.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    user.ok("stop")


def test_a_reader_that_went_away_is_no_crash(user: User) -> None:
    user.file("app.py", "x = 1\n")
    user.ok("launch", "app.py")
    done = subprocess.run(
        f"{CLIENT_LINE} help | true; {CLIENT_LINE} sessions --json | head -c 1",
        shell=True, cwd=user.here, capture_output=True, timeout=150,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    assert done.stdout == b"{"


def test_json_of_a_usage_error_is_an_envelope_too(user: User) -> None:
    said = user.says("nosuchverb", "--json")
    reply = json.loads(said.out)
    assert (said.code, reply["ok"], reply["error"]["code"]) == (2, False, "usage")


def answered(user: User, answer: bytes, *words: str) -> Said:
    """A call at a terminal, at which somebody types an answer as soon as there is a question."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [*CLIENT, *words],
            cwd=user.here,
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        os.close(theirs)
        asked = b""
        while not asked.endswith(b"[y/N] "):
            asked += os.read(ours, 1024)
        os.write(ours, answer)
        out, _ = process.communicate(timeout=DEADLINE)
    finally:
        os.close(ours)
    return Said(out.decode(), asked.decode(), process.returncode)


def test_what_the_settings_want_asked_is_asked_at_a_terminal_and_refused_elsewhere(user: User) -> None:
    user.file("app.py", "x = 1\ny = 2\n")
    user.file("stillframe.toml", 'ask = "exec"\n')
    refused = user.fails("launch", "app.py", "--break", "app.py:2", code=7, error="denied")
    assert "needs exec" in refused and "`ask` in the settings" in refused
    no = answered(user, b"no\n", "launch", "app.py", "--break", "app.py:2", "--json")
    assert (no.code, json.loads(no.out)["error"]["code"]) == (7, "denied")
    assert "was not agreed to: it needs exec, which `ask` in the settings" in json.loads(no.out)["error"]["message"]
    assert user.json("sessions")["sessions"] == []
    yes = answered(user, b"y\n", "launch", "app.py", "--break", "app.py:2")
    assert (yes.code, "app.py:2" in yes.out) == (0, True)
    assert "dbg launch app.py --break app.py:2 needs exec" in yes.err
    odd = answered(user, b"n\n", "eval", "\x1b[2J")
    assert (odd.code, "\x1b" in odd.err) == (7, False)
    user.ok("next")  # below what is asked about
    # A verb that runs in the client's own process asks there.
    here = answered(user, b"n\n", "install", "claude", "--dry-run")
    assert (here.code, "install" in here.err) == (7, True)
    user.file("stillframe.toml", 'ask = "often"\n')
    user.fails("status", code=2, error="usage")


def test_the_settings_of_a_session_s_project_hold_wherever_a_call_comes_from(user: User) -> None:
    narrow, wide = user.here / "narrow", user.here / "wide"
    for project in (narrow, wide):
        user.file(f"{project.name}/pyproject.toml", "")
    user.file("narrow/app.py", "x = 1\ny = 2\n")
    inside, outside = User(narrow), User(wide)
    inside.ok("launch", "app.py", "--break", "app.py:2")
    settings = user.file("narrow/stillframe.toml", 'allow = "inspect"\n')
    for words in (["eval", "x"], ["next"], ["stop"]):
        told = outside.fails(*words, "--session", "app", code=7, error="denied")
        assert f"only inspect is allowed here: `allow` in the settings of {narrow}, now inspect, grants it" in told
    outside.ok("locals", "--session", "app")
    settings.write_text('ask = "exec"\n')
    assert "which is asked about here" in outside.fails("eval", "x", "--session", "app", code=7, error="denied")
    assert answered(outside, b"y\n", "eval", "x", "--session", "app").out == "x = 1\n"
    settings.unlink()
    outside.ok("eval", "x", "--session", "app")
    outside.ok("stop", "--session", "app")
