"""The client as a process, against a toy daemon: what travels, what comes out, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stillframe.faces.cli.catalogue import VERSION

from ... import sandbox
from ..conftest import CLIENT, DEADLINE, ENTRY, SRC, Tiny, begin, call

HEAVY = {
    "os",
    "re",
    "json",
    "socket",
    "asyncio",
    "typing",
    "enum",
    "signal",
    "argparse",
    "subprocess",
    "msgspec",
    "dataclasses",
}


def reply(*words: str | bytes, **how: Any) -> dict[str, Any]:
    said = call(*words, **how)
    assert said.code == 0, said
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_a_call_travels_with_all_that_the_operation_needs(tiny: Tiny, tmp_path: Path) -> None:
    got = reply("eval", "a b", "--session", "shop", "--budget", "99", "--allow", "inspect", cwd=tmp_path)
    assert got["op"] == "eval"
    assert got["args"] == {"expressions": ["a b"]}
    assert (got["session"], got["budget"], got["allow"], got["cwd"]) == ("shop", 99, "inspect", str(tmp_path))
    assert got["client"] == f"sid:{os.getsid(0)}"


def test_the_whole_environment_and_umask_travel_with_a_starting_verb_only(tiny: Tiny) -> None:
    assert reply("tool")["env"] == {}
    env = reply("launch", "app.py", env={"ODD": "ü\n\x01"})["env"]
    assert env["ODD"] == "ü\n\x01"
    assert set(os.environ) <= set(env)
    assert reply("continue", "--do", "true", env={"ODD": "1"})["env"]["ODD"] == "1"
    masked = subprocess.run(
        [*CLIENT, "launch", "app.py"], umask=0o027, capture_output=True, timeout=DEADLINE, check=True
    )
    assert json.loads(masked.stdout)["umask"] == 0o027


def test_bytes_that_are_no_text_survive_the_way(tiny: Tiny) -> None:
    got = reply("eval", b"\xff\x00".replace(b"\x00", b"\x80"), "\u202e\x1b")
    assert got["args"]["expressions"] == ["\udcff\udc80", "\u202e\x1b"]
    for locale in ("C", "POSIX", "C.UTF-8"):
        got = reply("eval", "ü".encode(), env={"LC_ALL": locale})
        assert got["args"]["expressions"] == ["ü"], locale


def test_the_session_and_the_client_may_be_named_by_the_environment(tiny: Tiny) -> None:
    named = {"STILLFRAME_SESSION": "web", "STILLFRAME_CLIENT": "agent-7"}
    got = reply("tool", env=named)
    assert (got["session"], got["client"]) == ("web", "agent-7")
    assert reply("tool", "--session", "shop", env=named)["session"] == "shop"


def test_stdout_is_data_and_stderr_is_talk_and_the_exit_code_is_the_replys(tiny: Tiny) -> None:
    said = call("detach")
    assert (said.code, said.err) == (3, "talk\n")
    assert call("detach", "--json").err == ""


def test_a_large_reply_arrives_whole(tiny: Tiny) -> None:
    assert len(reply("output")["big"]) == 3_000_000


def test_a_fault_of_the_daemon_is_told_and_harms_no_other_call(tiny: Tiny) -> None:
    said = call("stop")
    assert (said.code, said.out) == (70, "")
    assert said.err.startswith("error internal: ")
    assert reply("tool")["op"] == "tool"


def test_usage_errors_are_told_in_the_callers_form() -> None:
    said = call("brek", "shop.py:3")
    assert (said.out, said.err) == ("", "error usage: unknown verb 'brek'; did you mean: dbg break shop.py:3\n")
    assert said.code == 2
    asked = call("--json", "brek", "shop.py:3")
    error = json.loads(asked.out)["error"]
    assert (asked.code, asked.err, error["code"]) == (2, "", "usage")
    assert error["hint"]["line"] == "dbg --json break shop.py:3"


@pytest.mark.parametrize("words", [("--version",), ("version",), ("-V",)])
def test_the_version_needs_no_daemon(words: tuple[str, ...]) -> None:
    assert call(*words).out == f"stillframe {VERSION}\n"
    assert reply("--json", *words) == {"ok": True, "op": "version", "result": {"version": VERSION}}


@pytest.mark.parametrize(
    ("words", "op"), [(("help", "next"), "help"), (("next", "--help"), "help"), (("completion", "bash"), "completion")]
)
def test_pages_and_scripts_have_the_envelope_of_every_reply(words: tuple[str, ...], op: str) -> None:
    plain = call(*words).out
    assert plain
    assert reply(*words, "--json") == {"ok": True, "op": op, "result": {"text": plain}}


def test_the_daemons_json_is_as_compact_as_any(tiny: Tiny) -> None:
    said = call("daemon", "status", "--json").out
    assert said.rstrip("\n") == json.dumps(json.loads(said), separators=(",", ":"))


def test_the_client_imports_nothing_heavy(tiny: Tiny) -> None:
    code = f"""import sys; sys.path.insert(0, {str(SRC)!r})
from stillframe.faces.cli import main, link, jsonline
before = main.run(["tool"])
sys.stderr.write("\\n".join(sys.modules))"""
    done = subprocess.run(
        [sys.executable, "-IS", "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True
    )
    assert set(done.stderr.split()) & HEAVY == set()


def test_ctrl_c_ends_the_waiting_with_130_and_the_daemon_hears_it(tiny: Tiny) -> None:
    waiting = begin("wait", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_taken(tiny, 1)
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=DEADLINE)
    assert (waiting.returncode, out, err) == (130, b"", b"")
    assert_cancelled(1)


def test_a_client_that_is_killed_in_mid_call_ends_its_own_waiting_only(tiny: Tiny) -> None:
    victims = [begin("wait", stdout=subprocess.DEVNULL) for _ in range(3)]
    wait_until_taken(tiny, 3)
    for victim in victims[:2]:
        victim.kill()
        victim.wait(DEADLINE)
    assert_cancelled(2)
    assert victims[2].poll() is None
    victims[2].kill()
    victims[2].wait(DEADLINE)
    assert_cancelled(3)


def wait_until_taken(tiny: Tiny, count: int) -> None:
    """Each taken call shows in the daemon's answer; asking again is itself the wait."""
    for _ in range(2000):
        if reply("tool")["waiting"] == count:
            return
    raise AssertionError("the daemon never took the calls")


def assert_cancelled(count: int) -> None:
    for _ in range(2000):
        if reply("tool")["cancelled"] == count:
            return
    raise AssertionError("the calls were not cancelled")


def test_a_reader_that_leaves_ends_the_client_silently(tiny: Tiny) -> None:
    line = f'\'{sys.executable}\' -IS -c "$0" output; echo "$?" >&2'
    done = subprocess.run(
        ["bash", "-c", f"{{ {line}; }} | head -c 5", ENTRY], capture_output=True, text=True, timeout=DEADLINE
    )
    assert (done.stdout, done.stderr) == ('{"big', "141\n")


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-", "2>&-"])
def test_closed_standard_streams_do_no_harm(tiny: Tiny, closed: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -IS -c \"$0\" tool {closed}", ENTRY], capture_output=True, timeout=DEADLINE
    )
    assert done.returncode == 0
    assert reply("tool")["op"] == "tool"


def test_a_full_disk_behind_stdout_is_an_error() -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -IS -c \"$0\" help >/dev/full", ENTRY],
        capture_output=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 70
    assert b"No space left" in done.stderr


def test_a_directory_that_is_gone_stops_only_what_would_run_there(tiny: Tiny, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    script = f"mkdir '{gone}'; cd '{gone}'; rmdir '{gone}'; '{sys.executable}' -IS -c \"$0\" \"$@\""
    runs = [
        subprocess.run(["bash", "-c", script, ENTRY, *words], capture_output=True, text=True, timeout=DEADLINE)
        for words in (["tool"], ["launch", "app.py"])
    ]
    assert [run.returncode for run in runs] == [0, 2]
    assert "current directory" in runs[1].stderr


def test_no_daemon_is_refused_for_verbs_that_leave_a_session() -> None:
    said = call("launch", "app.py", "--no-daemon")
    assert said.code == 2
    assert "probe" in said.err


@pytest.mark.skipif(not sandbox.KNOWN, reason="the kernel's numbers are not known here")
def test_a_sandbox_without_sockets_is_named_and_the_way_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    sandboxed = sandbox.without("network", *CLIENT)
    for words, why in (
        (["sessions"], "the daemon in "),
        (["probe", "a.py:1", "--no-daemon", "--", sys.executable, "a.py"], "no port can be opened on 127.0.0.1"),
    ):
        done = subprocess.run([*sandboxed, *words], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE)
        assert (done.returncode, done.stdout) == (7, ""), done
        assert done.stderr.startswith("error denied: ") and "sandbox" in done.stderr and why in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_a_python_that_spawns_no_sessions_starts_a_daemon_that_makes_its_own(tmp_path: Path) -> None:
    # As those are that uv brings: made for a C library that cannot do so.
    lacking = """\
import posix
spawn = posix.posix_spawn
def without(*words, setsid=False, **how):
    if setsid:
        raise NotImplementedError("posix_spawn: setsid unavailable on this platform")
    return spawn(*words, **how)
posix.posix_spawn = without
"""
    started = [*CLIENT[:-1], lacking + ENTRY, "launch", "-c", "print('hello')"]
    done = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE)
    try:
        assert "exited 0" in done.stdout, done
        pid = int(call("daemon", "status").out.split()[1].rstrip(","))
        assert os.getsid(pid) == pid
    finally:
        call("daemon", "stop")
