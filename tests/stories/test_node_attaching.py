"""Node programs that run already: joined by pid, port or address, and left as they were found."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ..guard import free_port
from .conftest import User, eventually

LOOP = """\
const fs = require('fs');
let i = 0;
function tick() {
  i += 1; // here
  fs.writeFileSync('ticks', String(i));
}
setInterval(tick, 20);
"""
PLACE = "loop.js:4"
NODE = shutil.which("node") or "node"


class Running:
    """A Node program that somebody else started."""

    def __init__(self, here: Path, *words: str) -> None:
        self._said = here / "said.txt"
        self._ticks = here / "ticks"
        with open(self._said, "wb") as said:
            self.process = subprocess.Popen([NODE, *words], cwd=here, stdout=said, stderr=said)
        self.pid = self.process.pid

    @property
    def said(self) -> str:
        return self._said.read_text()

    def ticks(self) -> int:
        try:
            return int(self._ticks.read_text() or 0)
        except FileNotFoundError:
            return 0

    def ticks_on(self) -> None:
        before = self.ticks()
        eventually(lambda: self.ticks() > before + 2, "it does not run")

    def listens(self) -> bool:
        return any(each.status == psutil.CONN_LISTEN for each in psutil.Process(self.pid).net_connections("tcp"))

    def address(self) -> str:
        eventually(lambda: "ws://" in self.said, "it opened no inspector")
        found = re.search(r"ws://\S+", self.said)
        assert found is not None
        return found[0]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def here(user: User) -> Iterator[User]:
    user.file("loop.js", LOOP)
    yield user


def run(here: User, *words: str) -> Running:
    return Running(here.here, *words)


def test_a_process_is_joined_by_its_pid_and_left_running_without_an_inspector(here: User) -> None:
    # Its own port, since whoever is signalled takes the one that all share.
    running = run(here, "--inspect-port=0", "loop.js")
    try:
        running.ticks_on()
        assert not running.listens()
        said = here.ok("attach", "--pid", str(running.pid), "--name", "a", "--break", PLACE)
        assert re.search(r"\[via node \d+\.\d+\.\d+, attached\] a stopped: b1 hit 1 at loop.js:4 in tick\n", said)
        assert int(here.json("eval", "i")["values"][0]["value"]) > 0
        refused = here.says("attach", "--pid", str(running.pid), "--name", "b")
        assert (refused.code, refused.err.partition(":")[0]) == (3, "error busy"), (
            "two of us would be in each other's way"
        )
        assert "b1 hit 2" in here.ok("continue", "--session", "a"), "and the first is none the worse"
        assert here.json("stop")["action"] == "detached"
        eventually(
            lambda: not running.listens(), "the inspector that we opened is open still"
        )  # 24 ends our line first
        running.ticks_on()
        assert "hit 1" in here.ok("attach", "--pid", str(running.pid), "--break", PLACE), "and once more"
    finally:
        running.end()


def test_lines_of_what_a_running_program_was_compiled_from_are_places_at_once(here: User) -> None:
    """V8 tells of each script with its map, which takes a while where there are hundreds."""
    straight = ";".join(["AAAA", *["AACA"] * 6])
    here.file("loop.ts", LOOP)
    here.file("loop.js.map", json.dumps({"version": 3, "sources": ["loop.ts"], "names": [], "mappings": straight}))
    for number in range(300):
        here.file(f"parts/{number}.js", f"exports.part = {number};\n")
    parts = "for (let n = 0; n < 300; n++) require(`./parts/${n}.js`);\n"
    here.file("loop.js", f"{LOOP}{parts}//# sourceMappingURL=loop.js.map\n")
    running = run(here, "--inspect-port=0", "loop.js")
    try:
        running.ticks_on()
        stop = here.json("attach", "--pid", str(running.pid), "--break", "loop.ts:4")
        assert (stop["frame"]["file"], stop["frame"]["line"], stop["breakpoints"]) == ("loop.ts", 4, ["b1"])
        here.ok("detach")
        running.ticks_on()
    finally:
        running.end()


@pytest.mark.long
@pytest.mark.own_daemon
def test_a_process_that_is_held_runs_on_when_the_daemon_is_killed_and_can_be_joined_again(here: User) -> None:
    running = run(here, "--inspect-port=0", "loop.js")
    try:
        running.ticks_on()
        here.ok("attach", "--pid", str(running.pid), "--break", f"{PLACE} if i > 0", "--name", "a")
        os.kill(here.json("daemon", "status")["pid"], signal.SIGKILL)
        running.ticks_on()
        assert "hit 1" in here.ok("attach", "--pid", str(running.pid), "--break", PLACE, "--name", "b")
        here.ok("detach")
        eventually(lambda: not running.listens(), "the inspector that one of us opened is open still")
        running.ticks_on()
    finally:
        running.end()


@pytest.mark.parametrize("how", ["port", "address", "bare address"])
def test_an_inspector_of_somebody_else_is_joined_and_stays_open(here: User, how: str) -> None:
    running = run(here, "--inspect=127.0.0.1:0", "loop.js")
    try:
        url = running.address()
        where = url.removeprefix("ws://").partition("/")[0]
        word = {"port": where, "address": url, "bare address": f"ws://{where}"}[how]
        assert "stopped: b1 hit 1 at loop.js:4 in tick\n" in here.ok("attach", word, "--break", PLACE)
        here.ok("detach")
        running.ticks_on()
        assert running.listens()
    finally:
        running.end()


def test_a_program_that_waits_for_its_debugger_is_held_at_its_first_line(here: User) -> None:
    running = run(here, "--inspect-brk=127.0.0.1:0", "loop.js")
    try:
        stop = here.json("attach", running.address(), "--break", f"{PLACE} if i == 3")
        assert (stop["reason"], stop["frame"]["file"], stop["frame"]["line"]) == ("entry", "loop.js", 1)
        assert here.json("continue")["frame"]["line"] == 4
        assert here.json("eval", "i")["values"][0]["value"] == "3"
        here.ok("detach")
        running.ticks_on()
    finally:
        running.end()


@pytest.mark.long
@pytest.mark.parametrize("place", [PLACE, f"{PLACE} if i == 0", "tick"])
def test_a_program_that_is_joined_before_node_can_load_our_code_is_held_like_any_other(here: User, place: str) -> None:
    if subprocess.run([NODE, "--inspect-wait", "--version"], capture_output=True).returncode:
        pytest.skip("this Node has no --inspect-wait (20.15 has)")
    running = run(here, "--inspect-wait=127.0.0.1:0", "loop.js")
    try:
        stop = here.json("attach", running.address(), "--break", place)
        assert (stop["reason"], stop["frame"]["line"], stop["locals"][1]["name"]) == ("breakpoint", 4, "i")
        here.ok("detach")
        running.ticks_on()
    finally:
        running.end()


AT_ONCE = """\
let i = 0;
function tick() {
  i += 1;
}
tick();
tick();
setInterval(tick, 1000);
"""


@pytest.mark.parametrize("turn", ["0", "1"])
def test_conditions_hold_in_a_program_that_runs_before_our_code_is_in_it(here: User, turn: str) -> None:
    if subprocess.run([NODE, "--inspect-wait", "--version"], capture_output=True).returncode:
        pytest.skip("this Node has no --inspect-wait (20.15 has)")
    here.file("once.js", AT_ONCE)
    running = run(here, "--inspect-wait=127.0.0.1:0", "once.js")
    try:
        stop = here.json("attach", running.address(), "--break", f"once.js:3 if i == {turn}")
        assert (stop["reason"], stop["hit"], stop["frame"]["line"]) == ("breakpoint", 1, 3)
        assert here.json("eval", "i")["values"][0]["value"] == turn
        here.ok("detach")
    finally:
        running.end()


def test_workers_of_a_running_program_are_held_too_and_let_go(here: User) -> None:
    here.file(
        "crew.js",
        "const { Worker, isMainThread } = require('worker_threads');\n"
        "if (isMainThread) new Worker(__filename);\nelse require('./loop.js');\n",
    )
    running = run(here, "--inspect-port=0", "crew.js")
    try:
        running.ticks_on()
        said = here.ok("attach", "--pid", str(running.pid), "--name", "a", "--break", PLACE)
        assert "a.1 stopped: b1 hit 1 at loop.js:4 in tick\n" in said
        here.ok("stop", "--session", "a")
        running.ticks_on()
    finally:
        running.end()


@pytest.mark.long
def test_a_program_that_takes_the_signal_for_itself_is_left_alone_and_named(here: User) -> None:
    here.file("own.js", "process.on('SIGUSR1', () => console.log('mine'));\nrequire('./loop.js');\n")
    running = run(here, "--inspect-port=0", "own.js")
    try:
        running.ticks_on()
        said = here.fails("attach", "--pid", str(running.pid), code=4, error="adapter_unresponsive")
        assert "handles that signal itself" in said
        running.ticks_on()
    finally:
        running.end()


def test_a_port_that_is_taken_is_named_before_anything_is_signalled(here: User) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # who had it last may be gone only just
        with contextlib.suppress(OSError):  # somebody else of this machine has Node's own port just now: as good
            taken.bind(("127.0.0.1", 9229))
            taken.listen()
        running = run(here, "loop.js")
        try:
            running.ticks_on()
            said = here.fails("attach", "--pid", str(running.pid), code=3, error="busy")
            assert re.search(r"on port 9229, where process \d+ listens", said)
            assert running.said == "", "it was not signalled"
        finally:
            running.end()


def test_an_address_where_nobody_answers_is_a_failure_at_once(here: User) -> None:
    for word in (f"127.0.0.1:{free_port()}", f"ws://127.0.0.1:{free_port()}/x", f"ws://127.0.0.1:{free_port()}"):
        here.fails("attach", word, code=1, error="launch_failed")


SERVER = """\
const server = require('http').createServer((asked, answer) => answer.end('served'));
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
"""


def test_a_server_outlives_a_pause_that_had_not_come_when_it_was_left(here: User) -> None:
    """V8 comes to such a pause in what we say last, and a step behind that ended the program (Node 20)."""
    here.file("server.js", SERVER)
    running = run(here, "--inspect=127.0.0.1:0", "server.js")
    try:
        eventually(lambda: "port " in running.said, "it does not listen")
        port = running.said.partition("port ")[2].split()[0]

        def served() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
                return str(answer.read().decode())

        here.ok("attach", running.address())
        assert served() == "served"
        here.ok("pause", "--timeout", "1.2")  # Node has a timer of its own for the second in which it answered
        here.ok("detach")
        assert served() == "served"
    finally:
        running.end()


def test_what_a_process_listens_at_itself_is_not_asked_for_its_inspector(here: User) -> None:
    here.file("server.js", SERVER.replace("answer.end('served')", "console.log('ASKED', asked.url)"))
    here.file("started.js", "require('inspector').open(0);\n" + SERVER)
    plain, opened = run(here, "--inspect-port=0", "server.js"), None
    try:
        eventually(lambda: "port " in plain.said, "it does not listen")
        here.ok("attach", "--pid", str(plain.pid), "--timeout", "0")
        assert "ASKED" not in plain.said
        opened = run(here, "--inspect-port=0", "started.js")
        eventually(lambda: "port " in opened.said, "it does not listen")
        here.ok("attach", "--pid", str(opened.pid), "--name", "opened", "--timeout", "0")
        assert here.json("stop", "--session", "opened")["action"] == "detached"
        assert opened.listens()
    finally:
        plain.end()
        if opened is not None:
            opened.end()
