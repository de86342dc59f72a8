"""How Node programs end, and that nothing of them or of us is left: no process, no port, no file."""

from __future__ import annotations

import os
import re
import signal
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

from ..faces.conftest import DEADLINE
from .conftest import User, eventually, gone

ENDS = {
    "its own code": ("process.exit(3)", {"exit_code": 3}, ""),
    "a code to come": ("process.exitCode = 4", {"exit_code": 4}, ""),
    "an error": ("throw new Error('boom')", {"exit_code": 1}, "Error: boom"),
    "a rejection": ("Promise.reject(new Error('lost'))", {"exit_code": 1}, "Error: lost"),
    "an abort": ("process.abort()", {"signal": "SIGABRT"}, ""),
    "the code of one": ("process.exit(134)", {"exit_code": 134}, ""),
    "a crash": ("process.kill(process.pid, 'SIGSEGV')", {"signal": "SIGSEGV"}, ""),
    "a kill": ("process.kill(process.pid, 'SIGKILL')", {"signal": "SIGKILL"}, ""),
    "a missing module": ("require('./nope')", {"exit_code": 1}, "Cannot find module './nope'"),
    "a syntax error": ("const x = ;", {"exit_code": 1}, "SyntaxError: Unexpected token ';'"),
    "a partial line": ("process.stderr.write('no newline')", {"exit_code": 0}, "no newline"),
}


@pytest.mark.parametrize("way", ENDS)
def test_an_end_is_told_as_it_was_with_nothing_but_the_programs_own_words(user: User, way: str) -> None:
    code, how, said = ENDS[way]
    user.file("app.js", code + "\n")
    end = user.json("launch", "app.js", "--catch", "off")
    assert end["state"] == "exited"
    assert {name: end[name] for name in ("exit_code", "signal") if name in end} == how
    assert said in end.get("stderr", "")
    assert "ebugger" not in end.get("stderr", ""), "no word of the inspector"


def test_a_heap_that_is_full_is_a_stop_and_then_the_end_by_v8_in_its_own_words(user: User) -> None:
    user.file("app.js", "const kept = [];\nfor (;;) kept.push(new Array(1e4).fill(kept.length + 0.5));\n")
    stop = user.json("launch", "--", "node", "--max-old-space-size=20", "app.js")
    assert (stop["state"], stop["reason"], stop["frame"]["line"]) == ("stopped", "out of memory", 2)
    end = user.json("continue")
    assert (end["state"], end["signal"], end.get("exit_code")) == ("exited", "SIGABRT", None)
    assert re.search("FATAL ERROR: .*heap out of memory", end["stderr"])


def test_a_step_over_the_end_is_the_end(user: User) -> None:
    user.file("app.js", "let a = 1;\nprocess.exit(7);\nlet b = 2;\n")
    user.ok("launch", "app.js", "--break", "app.js:2")
    end = user.json("next")
    assert (end["state"], end["exit_code"]) == ("exited", 7)


@pytest.mark.parametrize(
    "code",
    [
        "function f() { return Promise.resolve().then(f); }\nf();\n",
        "for (;;) {}\n",
        "process.on('SIGTERM', () => {});\nfor (;;) {}\n",
    ],
    ids=["microtasks", "a loop", "a loop that takes the signal"],
)
def test_a_program_that_never_comes_to_rest_is_ended_by_stop(user: User, code: str) -> None:
    user.file("app.js", code)
    assert user.json("launch", "app.js", "--timeout", "0.2")["state"] == "running"
    process = user.pid()
    user.ok("stop")
    eventually(lambda: gone(process), "stop left it")


@pytest.mark.parametrize("line", ["", "\\n"], ids=["without newlines", "in lines"])
def test_a_flood_of_output_freezes_neither_the_program_nor_us(user: User, line: str) -> None:
    user.file(
        "app.js",
        f"const some = Buffer.from(('x'.repeat(99) + '{line}').repeat(10000));\n"
        "for (let i = 0; i < 100; i++) process.stdout.write(some);\nconsole.error('over');\n",
    )
    end = user.json("launch", "app.js", "--timeout", str(DEADLINE))
    assert (end["state"], end["exit_code"], end["stderr"]) == ("exited", 0, "over\n")
    assert end["dropped"] > 90_000_000


def test_input_is_fed_and_ended(user: User) -> None:
    user.file("app.js", "process.stdin.on('data', (d) => console.log('got ' + d)).on('end', () => process.exit(6));\n")
    user.ok("launch", "app.js", "--stdin", "-", "--timeout", "0")
    user.ok("input", "hello")
    user.ok("input", "--eof")
    end = user.json("wait")
    assert (end["exit_code"], end["output"]) == (6, "got hello\n\n")


def test_a_program_that_closes_the_inspector_is_told_as_such(user: User) -> None:
    user.file(
        "app.js",
        "require('inspector').close();\nconsole.log('on');\nif (process.argv[2]) setInterval(() => {}, 1000);\n",
    )
    end = user.json("launch", "app.js")
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, "on\n")
    assert "it ran on without a debugger" in end["notes"][0]
    lost = user.json("launch", "app.js", "stay")
    assert (lost["state"], lost["output"]) == ("lost", "on\n")
    assert "the program closed it" in lost["cause"]
    process = psutil.Process(int(lost["cause"].rpartition("process ")[2].split()[0]))
    user.ok("stop")
    eventually(lambda: gone(process), "what we launched is ended, though we lost sight of it")


@pytest.mark.long
def test_an_answer_beyond_all_bounds_ends_the_connection_by_name(user: User) -> None:
    user.file("app.js", "const big = 'z'.repeat(80e6);\nglobalThis.here = 1;\nconsole.log(big.length);\n")
    user.ok("launch", "app.js", "--break", "app.js:2")
    assert "a message of more than" in user.fails("raw", "big", code=6, error="adapter_died")
    end = user.json("wait")
    assert (end["state"], end["exit_code"], end["output"]) == ("exited", 0, "80000000\n")
    assert "it ran on without a debugger" in end["notes"][0], "it is not called held by nobody"


def test_the_inspector_has_a_random_port_a_secret_path_and_an_end(user: User) -> None:
    user.file("app.js", "globalThis.here = 1;\n")
    ports = set()
    for _ in range(2):
        user.ok("launch", "app.js", "--break", "app.js:1")
        listening = [each.laddr for each in user.pid().net_connections("tcp") if each.status == psutil.CONN_LISTEN]
        ((host, port),) = listening
        assert host == "127.0.0.1"
        for what in ("list", "version", ""):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/json/{what}", timeout=DEADLINE)
        user.ok("stop")
        eventually(lambda port=port: not listens(port), "somebody listens still")  # type: ignore[misc]
        ports.add(port)
    assert len(ports) == 2


def listens(port: int) -> bool:
    return any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in psutil.net_connections("tcp"))


@pytest.fixture
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for temporary files of this test's own daemon."""
    path = tmp_path / "tmp"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    return path


@pytest.mark.own_daemon
def test_no_meeting_place_is_left_by_a_stop_an_end_or_a_killed_daemon(user: User, own_tmp: Path) -> None:
    user.file("app.js", "globalThis.here = 1;\n")
    user.ok("launch", "app.js", "--break", "app.js:1")
    assert len(list(own_tmp.glob("stillframe-node-*"))) == 1
    user.ok("stop")
    eventually(lambda: not list(own_tmp.glob("stillframe-node-*")), "stop left a directory")
    user.file("parent.js", "require('child_process').fork('./app.js');\n")
    user.ok("launch", "parent.js", "--break", "app.js:1")
    processes = [user.pid("--session", name) for name in ("parent", "parent.1")]
    os.kill(user.json("daemon", "status")["pid"], signal.SIGKILL)
    for each in processes:
        eventually(lambda each=each: gone(each), "a launched process outlived the daemon")  # type: ignore[misc]
    eventually(lambda: not list(own_tmp.glob("stillframe-node-*")), "the killed daemon left a directory")
    assert "parent was lost with its daemon" in user.fails("state", code=3, error="no_session")
    assert "parent.1 stopped: b1 hit 1" in user.ok("restart")


def test_a_launched_program_that_is_detached_runs_on_without_an_inspector(user: User) -> None:
    user.file(
        "app.js",
        "const fs = require('fs');\nsetInterval(() => {\n  fs.appendFileSync('beats', '.'); // here\n}, 20);\n",
    )
    user.ok("launch", "app.js", "--break", "app.js:3")
    process = user.pid()
    try:
        user.ok("detach")
        eventually(lambda: (user.here / "beats").exists(), "it does not run on")
        eventually(
            lambda: not [each for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN],
            "its inspector is open still",
        )
    finally:
        process.kill()


def test_a_server_is_ready_when_it_listens_and_is_restarted_the_same_way(user: User) -> None:
    user.file(
        "serve.js",
        "const http = require('http');\nconst server = http.createServer((ask, answer) => {\n"
        "  answer.end('hello ' + ask.url); // here\n});\n"
        "server.listen(0, '127.0.0.1', () => console.log('ready on', server.address().port));\n",
    )
    user.ok("launch", "serve.js", "--ready", "ready on", "--break", "serve.js:3")
    for _ in range(2):
        port = user.json("output", "--since", "0.0.0.0")["stdout"].split()[-1]
        stop = user.json(
            "wait",
            "--do",
            f"{sys.executable} -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:{port}/x')\"",
        )
        assert (stop["state"], stop["frame"]["line"]) == ("stopped", 3)
        told = user.json("restart")
        assert told["state"] == "running"


def test_stop_ends_a_program_that_closed_its_inspector_and_says_so(user: User) -> None:
    user.file("app.js", "require('inspector').close();\nsetInterval(() => {}, 20);\n")
    lost = re.search(r"process (\d+) is still running", user.says("launch", "app.js", "--timeout", "20").out)
    assert lost is not None
    process = psutil.Process(int(lost[1]))
    assert user.ok("stop") == "app ended\n"
    eventually(lambda: gone(process), "stop left it")
    assert user.ok("stop") == "app had ended already\n"
