"""MCP over HTTP: the standard job in both eras, and every request that is not addressed to us, from us, with the token."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from ...guard import COOKIE, command, marked
from ..conftest import CLIENT, DEADLINE, call
from ..daemon.test_server import DIAL_AS_NOBODY, as_root
from .conftest import COUNT, LEGACY, META, MODERN, text_of


class Served:
    """A server of the test's own."""

    def __init__(self, cwd: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*CLIENT, "mcp", "--http", *words], cwd=cwd, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]
        self.token = self.process.stdout.readline().split()[-1]
        self.port = int(re.findall(r":(\d+)/", self.url)[0])

    def end(self) -> int:
        self.process.terminate()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(DEADLINE)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(tmp_path)
    yield server
    assert server.end() == 0
    call("daemon", "stop")


@contextlib.asynccontextmanager
async def connected(server: Served, mode: str) -> Any:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=DEADLINE) as http_client,
        Client(streamable_http_client(server.url, http_client=http_client), mode=mode) as client,
    ):
        yield client


async def test_a_token_of_the_users_own_is_not_handed_to_what_is_debugged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILLFRAME_MCP_TOKEN", "a-token-of-mine")
    (tmp_path / "look.py").write_text("import os\nprint('given', os.environ.get('STILLFRAME_MCP_TOKEN'))\n")
    server = Served(tmp_path)
    try:
        assert server.token == "a-token-of-mine"
        async with connected(server, MODERN) as client:
            assert "given None" in text_of(await client.call_tool("launch", {"program": ["look.py"]}))
    finally:
        assert server.end() == 0
        call("daemon", "stop")


async def test_the_standard_job_over_http_in_both_eras(served: Served, tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNT)
    for mode in (LEGACY, MODERN):
        async with connected(served, mode) as client:
            assert "launch" in [tool.name for tool in (await client.list_tools()).tools]
            stop = await client.call_tool("launch", {"program": ["count.py"], "breaks": ["count.py:3"]})
            assert stop.structured_content["result"]["frame"]["line"] == 3
            looked = await client.call_tool("eval", {"expressions": ["word"]})
            assert "word = 'a'" in text_of(looked)
            moved = await client.call_tool("go", {"how": "next", "count": 2})
            assert len(moved.structured_content["result"]["trail"]) == 2
            assert "ended" in text_of(await client.call_tool("stop", {}))


LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}})


def status(server: Served, method: str, *, host: str, origin: str | None, token: str | None, body: str = LIST) -> int:
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)
    try:
        line.putrequest(method, "/mcp", skip_host=True)
        headers = {
            "Host": host,
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "tools/list",
        }
        if origin is not None:
            headers["Origin"] = origin
        if token is not None:
            headers["Authorization"] = token
        for name, value in headers.items():
            line.putheader(name, value)
        line.endheaders(body.encode())
        return line.getresponse().status
    finally:
        line.close()


def test_only_a_request_to_us_from_us_with_the_token_passes(served: Served) -> None:
    own = f"127.0.0.1:{served.port}"
    hosts = [own, "127.0.0.1", "evil.example", f"evil.example:{served.port}"]
    origins = [None, f"http://{own}", "http://localhost:3000", "https://evil.example", "null"]
    methods = ["POST", "GET", "DELETE", "OPTIONS", "PUT"]
    right = f"Bearer {served.token}"
    passed = []
    for host, origin, method in itertools.product(hosts, origins, methods):
        got = status(served, method, host=host, origin=origin, token=right)
        if got < 400:
            passed.append((host, origin, method))
        elif host != own:
            assert got == 421
        elif origin not in (None, f"http://{own}"):
            assert got == 403
    assert passed == [(own, None, "POST"), (own, f"http://{own}", "POST")]
    for token in (None, "", "Bearer", "Bearer ", "Bearer x", right + "x", right.lower(), f"Basic {served.token}"):
        assert status(served, "POST", host=own, origin=None, token=token) == 401
    assert status(served, "POST", host=f"localhost:{served.port}", origin=None, token=right) == 200
    assert status(served, "POST", host=own, origin=None, token=f"bearer {served.token}") == 200
    assert status(served, "POST", host=own, origin=None, token=right, body="x" * 2_000_000) == 413


def test_it_listens_on_loopback_only_and_a_port_that_is_taken_is_said_to_be(served: Served, tmp_path: Path) -> None:
    listening = [
        each.laddr for each in psutil.Process(served.process.pid).net_connections("inet") if each.status == "LISTEN"
    ]
    assert [(each.ip, each.port) for each in listening] == [("127.0.0.1", served.port)]
    taken = call("mcp", "--http", "--port", str(served.port), cwd=tmp_path)
    assert (taken.code, taken.out) == (2, "")
    assert f"error usage: cannot listen on port {served.port}" in taken.err


@pytest.mark.own_daemon
def test_nothing_listens_for_tcp_unless_it_is_asked_for(tmp_path: Path, pipe: Any) -> None:
    line = pipe()
    assert line.ask("tools/list")["result"]["tools"]
    mine = marked(COOKIE, os.environ[COOKIE])
    hosts = [each for each in mine if any(word.endswith("/mcp/__main__.py") for word in command(each))]
    assert len(hosts) == 1
    assert hosts[0].net_connections("inet") == []
    runtime = Path(os.environ["XDG_RUNTIME_DIR"], "stillframe")
    (path,) = runtime.glob("mcp-*.sock")
    assert (path.stat().st_mode & 0o777, runtime.stat().st_mode & 0o777) == (0o600, 0o700)
    # A line that is none of ours is refused, and the host goes on.
    for data, said in (
        (b"hello\n", b"-error usage"),
        (b'{"v":2}\n', b"-error usage"),
        (b'{"v":1,"cwd":3}\n', b"-error usage"),
    ):
        with socket.socket(socket.AF_UNIX) as odd:
            odd.connect(str(path))
            odd.sendall(data)
            assert odd.recv(1000).startswith(said)
    assert line.ask("tools/list")["result"]["tools"]


@pytest.mark.own_daemon
@as_root
def test_another_user_is_refused_even_where_the_modes_let_it_through(pipe: Any) -> None:
    line = pipe()
    assert line.ask("tools/list")["result"]["tools"]
    runtime = Path(os.environ["XDG_RUNTIME_DIR"], "stillframe")
    (path,) = runtime.glob("mcp-*.sock")
    above = [runtime, *runtime.parents[:2]]
    before = {folder: folder.stat().st_mode for folder in above}
    dial = [sys.executable, "-IS", "-c", DIAL_AS_NOBODY, str(path), json.dumps({"v": 1, "cwd": "/"})]
    for folder in above:
        folder.chmod(0o777)
    path.chmod(0o777)
    try:
        done = subprocess.run(dial, capture_output=True, text=True, timeout=DEADLINE, check=False)
    finally:
        for folder, mode in before.items():
            folder.chmod(mode)
    assert done.stdout.startswith("-error denied: "), done.stderr
    assert line.ask("tools/list")["result"]["tools"]
