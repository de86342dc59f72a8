"""The daemon's socket, spoken to byte by byte: bounds, bad requests, other users, other versions, many at once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stillframe.faces.cli.catalogue import HASH, VERSION

from ...guard import eventually
from ..conftest import DEADLINE, Tiny, begin, call, start_tiny

HELLO = {"v": 1, "catalogue": HASH, "version": VERSION}


def socket_path() -> str:
    return os.environ["XDG_RUNTIME_DIR"] + "/stillframe/daemon.sock"


def dial() -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.connect(socket_path())
    line.settimeout(DEADLINE)
    return line


def ask(request: Any) -> list[tuple[str, bytes]]:
    data = request if isinstance(request, bytes) else json.dumps(request).encode() + b"\n"
    with dial() as line:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            line.sendall(data)
            if not data.endswith(b"\n"):
                line.shutdown(socket.SHUT_WR)
        return list(frames(line))


def frames(line: socket.socket) -> Iterator[tuple[str, bytes]]:
    """Every frame until the end, which may be a reset: the daemon does not read what it has refused."""
    data = b""
    while True:
        while b"\n" in data:
            header, _, rest = data.partition(b"\n")
            kind, number = chr(header[0]), int(header[1:])
            size = 0 if kind == "x" else number
            if len(rest) < size:
                break
            yield kind, b"%d" % number if kind == "x" else rest[:size]
            data = rest[size:]
        try:
            chunk = line.recv(65536)
        except ConnectionResetError:
            return
        if not chunk:
            return
        data += chunk


def test_a_reply_is_a_row_of_frames(tiny: Tiny) -> None:
    got = ask({**HELLO, "op": "tool", "json": False})
    assert [kind for kind, _ in got] == ["a", "o", "e", "x"]
    assert json.loads(got[1][1])["op"] == "tool"


BAD = [
    b"\n",
    b"not json\n",
    b"[1]\n",
    b'{"v": 2}\n',
    b"[" * 100_000 + b"\n",
    b"\xff\xfe\n",
    b"\x00" * 100 + b"\n",
    *[
        json.dumps({**HELLO, "op": "tool", **part}).encode() + b"\n"
        for part in (
            {"args": [1]},
            {"env": "x"},
            {"umask": "x"},
            {"session": 3},
            {"budget": "x"},
            {"allow": "root"},
            {"args": {}, "env": {"a": 1}},
            {"cwd": 7},
        )
    ],
]


@pytest.mark.parametrize("data", BAD, ids=lambda data: repr(data[:60]))
def test_a_bad_request_is_a_usage_error(tiny: Tiny, data: bytes) -> None:
    got = ask(data)
    assert got[-1] == ("x", b"2")
    assert tiny.process.poll() is None


def test_a_request_beyond_the_bound_is_refused_and_the_daemon_stays_small(tiny: Tiny) -> None:
    import psutil

    before = psutil.Process(tiny.process.pid).memory_info().rss
    got = ask(b'{"v": 1, "args": "' + b"x" * (32 << 20))
    assert got == [] or got[-1] == ("x", b"2")
    assert psutil.Process(tiny.process.pid).memory_info().rss - before < 40 << 20
    assert call("tool").code == 0


def test_an_environment_of_two_megabytes_travels(tiny: Tiny) -> None:
    env = {f"NAME_{number}": "x" * 1000 for number in range(2000)}
    got = ask({**HELLO, "op": "launch", "args": {}, "env": env})
    assert json.loads(got[1][1])["env"] == env


def test_half_a_request_is_nothing(tiny: Tiny) -> None:
    assert ask(b'{"v": 1, "op": "pause"') == []
    assert json.loads(call("tool").out)["live"] == 0


def test_a_request_in_single_bytes_is_read_whole(tiny: Tiny) -> None:
    with dial() as line:
        for byte in json.dumps({**HELLO, "op": "tool"}).encode() + b"\n":
            line.send(bytes([byte]))
        assert [kind for kind, _ in frames(line)][-1] == "x"


def test_connections_beyond_the_bound_are_told_so_and_the_rest_still_work(tiny: Tiny) -> None:
    held = [dial() for _ in range(256)]
    try:
        got = ask({**HELLO, "op": "tool"})
        assert got[-1] == ("x", b"3")
        assert b"calls open" in got[0][1]
        said = call("launch", "app.py", env={"BIG": "x" * 100_000})
        assert (said.code, said.err.count("calls open")) == (3, 1)
    finally:
        for line in held:
            line.close()
    assert call("tool").code == 0


def test_the_socket_and_its_directory_are_the_users_alone(tiny: Tiny) -> None:
    assert os.stat(socket_path()).st_mode & 0o777 == 0o600
    assert tiny.runtime.stat().st_mode & 0o777 == 0o700
    assert (Path(os.environ["XDG_STATE_HOME"]) / "stillframe" / "daemon.log").stat().st_mode & 0o777 == 0o600


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")

DIAL_AS_NOBODY = """
import os, socket, sys
line = socket.socket(socket.AF_UNIX)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
line.connect(sys.argv[1])
data = b""
try: line.sendall(sys.argv[2].encode() + b"\\n")
except BrokenPipeError: pass
try:
    while chunk := line.recv(65536): data += chunk
except ConnectionResetError: pass
print(data.decode())
"""


@as_root
def test_another_user_cannot_reach_the_socket(tiny: Tiny) -> None:
    done = as_nobody({**HELLO, "op": "tool"})
    assert done.returncode != 0
    assert "PermissionError" in done.stderr


@as_root
def test_another_user_is_refused_even_where_the_modes_let_it_through(tiny: Tiny) -> None:
    above = [tiny.runtime, *tiny.runtime.parents[:2]]
    before = {folder: folder.stat().st_mode for folder in above}
    for folder in above:
        folder.chmod(0o777)
    Path(socket_path()).chmod(0o777)
    try:
        done = as_nobody({**HELLO, "op": "pause"})
    finally:
        for folder, mode in before.items():
            folder.chmod(mode)
    assert "error denied: " in done.stdout, done.stderr
    assert "x7" in done.stdout
    assert json.loads(call("tool").out)["live"] == 0


def as_nobody(request: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-IS", "-c", DIAL_AS_NOBODY, socket_path(), json.dumps(request)]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)


@as_root
def test_the_client_refuses_a_socket_that_another_user_holds(tmp_path: Path) -> None:
    """Our directory, but a foreign listener in it: our environment must not go there."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    code = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX); listener.bind(sys.argv[1])
os.setgroups([]); os.setgid(65534); os.setuid(65534)
listener.listen(); print("listening", flush=True)
peer, _ = listener.accept(); print(len(peer.recv(65536)))
"""
    path = runtime / "daemon.sock"
    with subprocess.Popen([sys.executable, "-IS", "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as foreign:
        assert foreign.stdout is not None
        assert foreign.stdout.readline() == "listening\n"
        said = call("tool", env={"STILLFRAME_RUNTIME_DIR": str(runtime)})
        assert said.code == 7
        assert "uid 65534" in said.err
        assert foreign.stdout.readline() == "0\n"


def test_a_client_of_another_version_replaces_an_idle_daemon(tiny: Tiny) -> None:
    got = ask({**HELLO, "version": "9.9", "op": "tool"})
    assert got == [("v", VERSION.encode())]
    assert tiny.process.wait(DEADLINE) == 0
    assert not Path(socket_path()).exists()


def test_a_client_with_another_catalogue_is_told_what_to_do_while_sessions_live(tiny: Tiny) -> None:
    ask({**HELLO, "op": "pause"})
    got = ask({**HELLO, "version": "9.9", "op": "tool"})
    assert [kind for kind, _ in got] == ["e", "x"]
    for part in (VERSION.encode(), b"9.9", b"dbg daemon stop"):
        assert part in got[0][1]
    assert got[1][1] == b"3"
    as_json = ask({**HELLO, "catalogue": "other", "op": "tool", "json": True})
    assert json.loads(as_json[0][1])["error"]["code"] == "busy"
    assert tiny.process.poll() is None
    status = ask({**HELLO, "version": "9.9", "op": "daemon", "args": {"action": "status"}, "json": True})
    assert json.loads(status[1][1])["result"]["sessions"] == 1


def test_sixty_calls_at_once_are_all_answered(tiny: Tiny) -> None:
    with ThreadPoolExecutor(60) as pool:
        got = list(pool.map(lambda _: ask({**HELLO, "op": "tool"})[-1], range(60)))
    assert got == [("x", b"0")] * 60


def test_status_and_stop_tell_the_truth(tiny: Tiny) -> None:
    call("pause")
    status = json.loads(call("daemon", "status", "--json").out)["result"]
    assert (status["pid"], status["sessions"], status["version"]) == (tiny.process.pid, 1, VERSION)
    assert str(tiny.process.pid) in call("daemon").out
    said = call("daemon", "stop")
    assert (said.code, said.out) == (0, f"ended: pid {tiny.process.pid}, 1 session\n")
    assert tiny.process.wait(DEADLINE) == 0
    assert call("daemon", "status").out == "no daemon runs\n"
    assert json.loads(call("daemon", "stop", "--json").out)["result"] == {"running": False}


def test_a_waiting_call_is_told_that_the_daemon_ends(tiny: Tiny) -> None:
    with dial() as line:
        line.sendall(json.dumps({**HELLO, "op": "wait"}).encode() + b"\n")
        answer = frames(line)
        assert next(answer) == ("a", b"")
        tiny.process.send_signal(signal.SIGTERM)
        rest = list(answer)
    assert rest[-1] == ("x", b"70")
    assert tiny.process.wait(DEADLINE) == 0


def test_a_daemon_that_ends_says_of_every_request_that_it_has_not_taken_it(tiny: Tiny) -> None:
    request = json.dumps({**HELLO, "op": "tool", "keep": True}).encode() + b"\n"
    with dial() as kept, dial() as half, dial() as ending:
        kept.sendall(request)
        answer = frames(kept)
        assert [kind for kind, _ in (next(answer) for _ in range(4))] == ["a", "o", "e", "x"]
        half.sendall(request[:20])
        ending.sendall(json.dumps({**HELLO, "op": "daemon", "args": {"action": "stop"}}).encode() + b"\n")
        assert ("x", b"0") in frames(ending)
        assert list(answer) == [("n", b"")], "so that a request on its way is known not to have been taken"
        half.sendall(request[20:])
        assert list(frames(half)) == [("n", b"")]
    assert tiny.process.wait(DEADLINE) == 0


def test_a_client_whose_call_was_not_taken_asks_the_next_daemon(tiny: Tiny) -> None:
    tiny.process.send_signal(signal.SIGSTOP)  # so that it finds the call and the order to end at the same moment
    calling = begin("sessions", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    eventually(lambda: _has_a_socket(calling.pid), "it never asked")
    tiny.process.send_signal(signal.SIGTERM)
    tiny.process.send_signal(signal.SIGCONT)
    out, _ = calling.communicate(timeout=DEADLINE)
    assert json.loads(out) == {"ok": True, "op": "sessions", "result": {"sessions": []}}
    assert tiny.process.wait(DEADLINE) == 0
    call("daemon", "stop")


def _has_a_socket(pid: int) -> bool:
    return any(_is_a_socket(each) for each in Path(f"/proc/{pid}/fd").iterdir())


def _is_a_socket(handle: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):  # closed since it was listed: a starting Python opens and closes many
        return os.readlink(handle).startswith("socket:")
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_daemon_cleanly(tiny: Tiny, number: signal.Signals) -> None:
    assert tiny.end(number) == 0
    assert sorted(path.name for path in tiny.runtime.iterdir()) == ["daemon.lock"]


SOON = {"STILLFRAME_IDLE_SECONDS": "2"}  # time enough to call it, on the busiest machine
LONGER = 3.0


def test_an_idle_daemon_leaves() -> None:
    assert start_tiny({"STILLFRAME_IDLE_SECONDS": "0.1"}).process.wait(DEADLINE) == 0
    assert not Path(socket_path()).exists()


def test_a_daemon_with_a_session_is_not_idle() -> None:
    daemon = start_tiny(SOON)
    assert ask({**HELLO, "op": "pause"})[-1] == ("x", b"0")
    with pytest.raises(subprocess.TimeoutExpired):
        daemon.process.wait(LONGER)
    assert daemon.end() == 0


@pytest.mark.long
def test_a_daemon_with_a_call_under_way_is_not_idle() -> None:
    daemon = start_tiny(SOON)
    with dial() as line:
        line.sendall(json.dumps({**HELLO, "op": "wait"}).encode() + b"\n")
        with pytest.raises(subprocess.TimeoutExpired):
            daemon.process.wait(LONGER)
    assert daemon.process.wait(DEADLINE) == 0
