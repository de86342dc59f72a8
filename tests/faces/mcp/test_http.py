"""MCP over HTTP: the standard job in both eras, and every request that is not addressed to us, from us, with the token."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import psutil
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from stillframe.faces.mcp.http import Guard, Server
from stillframe.faces.mcp.lines import CONNECTIONS, LATE, Line

from ...guard import COOKIE, command, eventually, gone, marked
from ...resident import Resident
from ..conftest import CLIENT, DEADLINE, call
from ..daemon.test_server import DIAL_AS_NOBODY
from .conftest import COUNT, COUNT_JS, LEGACY, META, MODERN, text_of


class Served:
    """A server, and the folder that it was started in."""

    def __init__(self, here: Path, env: Mapping[str, str]) -> None:
        self.here = here
        self.said = here / "said"
        """What it says on standard error."""
        with self.said.open("w") as said:
            self.process = subprocess.Popen(
                [*CLIENT, "mcp", "--http"], cwd=here, stdout=subprocess.PIPE, stderr=said, text=True, env=dict(env)
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


@pytest.fixture(scope="module")
def server(resident: Resident, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests here: to load MCP's own library takes longer than most of them."""
    made = Served(tmp_path_factory.mktemp("http"), resident.environment)
    yield made
    assert made.end() == 0


@pytest.fixture
def served(server: Served, hosts: None) -> Served:
    return server


@contextlib.asynccontextmanager
async def connected(server: Served, mode: str, named: str = "", **how: Any) -> Any:
    headers = {"Authorization": f"Bearer {server.token}", **({"Stillframe-Client": named} if named else {})}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=DEADLINE) as http_client,
        Client(streamable_http_client(server.url, http_client=http_client), mode=mode, **how) as client,
    ):
        yield client


@pytest.mark.long
async def test_a_token_of_the_users_own_is_not_handed_to_what_is_debugged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILLFRAME_MCP_TOKEN", "a-token-of-mine")
    (tmp_path / "look.py").write_text("import os\nprint('given', os.environ.get('STILLFRAME_MCP_TOKEN'))\n")
    server = Served(tmp_path, os.environ)
    try:
        assert server.token == "a-token-of-mine"
        async with connected(server, MODERN) as client:
            assert "given None" in text_of(await client.call_tool("launch", {"program": ["look.py"]}))
    finally:
        assert server.end() == 0
        call("daemon", "stop")


async def test_the_standard_job_over_http_in_both_eras(served: Served) -> None:
    for file, text in {"count.py": COUNT, "count.js": COUNT_JS}.items():
        (served.here / file).write_text(text)
    files = ["count.py", "count.js"] if shutil.which("node") else ["count.py"]
    asked: list[str] = []

    async def agree(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={})

    for mode, file in itertools.product((LEGACY, MODERN), files):
        # Whom the settings want to be asked is asked over HTTP, too: before `launch` and `eval`, not before `go`.
        wish = 'ask = "exec"\n' if file == files[-1] else ""
        (served.here / "stillframe.toml").write_text(wish)
        asked.clear()
        async with connected(served, mode, elicitation_callback=agree) as client:
            assert "launch" in [tool.name for tool in (await client.list_tools()).tools]
            stop = await client.call_tool("launch", {"program": [file], "breaks": [f"{file}:3"]})
            assert stop.structured_content["result"]["frame"]["line"] == 3
            looked = await client.call_tool("eval", {"expressions": ["word"]})
            assert "word = 'a'" in text_of(looked)
            moved = await client.call_tool("go", {"how": "next", "count": 2})
            assert len(moved.structured_content["result"]["trail"]) == 2
            assert "ended" in text_of(await client.call_tool("stop", {}))
        assert ["launch" in each or "eval" in each for each in asked] == ([True] * 2 if wish else []), asked
    (served.here / "stillframe.toml").unlink()


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
    # The same without a length: it is read no further than that.
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=DEADLINE)
    with contextlib.closing(line):
        kinds = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        body = (b"x" * 100_000 for _ in range(11))
        with contextlib.suppress(ConnectionError):  # the answer comes before all of it is sent
            line.request("POST", "/mcp", body, {"Authorization": right, **kinds}, encode_chunked=True)
        assert line.getresponse().status == 413


def begun(host: str, token: str) -> tuple[bytes, ...]:
    """Of a request: nothing, a piece of its head, a piece of its body."""
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 9\r\n\r\n"
    return b"", head[:12].encode(), head.encode() + b"{"


def everything(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(1000), b""))


def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_fault_of_ours(served: Served) -> None:
    own, right = f"127.0.0.1:{served.port}", f"Bearer {served.token}"
    kinds = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    for more in ("", f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/list\r\n"):
        with socket.create_connection(("127.0.0.1", served.port), DEADLINE) as line:
            head = f"POST /mcp HTTP/1.1\r\nHost: {own}\r\nAuthorization: {right}\r\nContent-Length: 900\r\n{kinds}{more}\r\n"
            line.sendall(head.encode() + b"{")
            # Its head has been read by the time that somebody else is answered.
            assert status(served, "POST", host=own, origin=None, token=right) == 200
        assert status(served, "POST", host=own, origin=None, token=right) == 200
    assert served.said.read_text() == ""


def test_half_sent_requests_keep_nobody_out(served: Served) -> None:
    host, token = f"127.0.0.1:{served.port}", served.token
    with contextlib.ExitStack() as open_lines:

        def dial(data: bytes) -> socket.socket:
            line = open_lines.enter_context(socket.create_connection(("127.0.0.1", served.port), DEADLINE))
            line.sendall(data)
            return line

        def is_served() -> bool:
            return status(served, "POST", host=host, origin=None, token=f"Bearer {token}") == 200

        lines = [dial(half) for half in begun(host, token)]
        assert is_served()  # so what came before was read, too: a line that ends with something unread is reset
        lines += [dial(half) for half in begun(host, token) * (CONNECTIONS // 3 + 2)]
        assert is_served()
        # Those that waited longest made room for the others, which are still there.
        assert [everything(line) for line in lines[:3]] == [b"", LATE, LATE]
        lines[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            lines[-1].recv(1)
        # Without the token a line has one answer, whatever more it sends: none that nobody reads can hold its place.
        for data in (begun(host, "another")[2], f"GET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n".encode() * 3):
            said = everything(dial(data))
            assert said.startswith(b"HTTP/1.1 401") and said.count(b"HTTP/1.1") == 1, said


RESET = b"reset"
"""What is heard of a line that ended with something unread."""


class Hasty(Line):
    seconds = 0.5


async def test_a_request_has_a_time_to_be_whole_in_and_its_answer_has_none() -> None:
    """Without MCP behind the guard, so that an answer can be held back."""
    others_are_late = asyncio.Event()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        await others_are_late.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": '"\x9b\x7f"'.encode()})

    async def heard(data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*here)
        with contextlib.closing(writer):
            writer.write(data)
            return await reader.read()

    async def heard_by_drops() -> bytes:
        reader, writer = await asyncio.open_connection(*here)
        with contextlib.closing(writer):
            said = asyncio.create_task(reader.read())
            while not said.done():  # each byte comes in time, and the end of it never
                writer.write(b"x")
                await asyncio.wait({said}, timeout=Hasty.seconds / 10)
            try:
                return said.result()
            except ConnectionResetError:  # a drop after the end takes the answer away; it has ended all the same
                return RESET

    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = listener.getsockname()
        host = f"127.0.0.1:{here[1]}"
        server = Server(uvicorn.Config(Guard(answer, "right", [host]), http=Hasty, lifespan="off", access_log=False))
        serving = asyncio.create_task(server.serve([listener]))
        async with asyncio.timeout(DEADLINE):
            whole = asyncio.create_task(heard(begun(host, "right")[2] + b"23456789"))
            halves = await asyncio.gather(*map(heard, begun(host, "right")), heard_by_drops())
            assert halves[:3] == [b"", LATE, LATE] and halves[3] in (LATE, RESET)
            assert not whole.done()
            others_are_late.set()
            server.leave()  # which lets what was asked be answered
            head, _, body = (await whole).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200") and b"content-length: 14" in head
            assert body == rb'"\u009b\u007f"', "the same, and nothing that steers a terminal"
            await serving


SPIN = "import time\nprint('up \\x9b\\x7f', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


class Legacy:
    """A client of the older protocol by hand: one that can go away without a word."""

    def __init__(self, server: Served) -> None:
        self._server = server
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
        self._headers: dict[str, str] = {}
        line, answer = self.send("POST", {"id": 1, "method": "initialize", "params": about})
        self._headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        line.close()

    def send(
        self, method: str, message: dict[str, Any] | None = None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        line = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=DEADLINE)
        headers = {
            **self._headers,
            "Authorization": f"Bearer {self._server.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        line.request(method, "/mcp", json.dumps({"jsonrpc": "2.0", **message}) if message else None, headers)
        return line, line.getresponse()

    def status(self, method: str, message: dict[str, Any] | None = None) -> int:
        line, answer = self.send(method, message)
        line.close()
        return answer.status


def _call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def _started(*words: str) -> list[psutil.Process]:
    return [each for each in psutil.process_iter() if command(each)[-len(words) :] == list(words)]


def test_a_client_that_vanishes_takes_its_probe_with_it_and_no_session(served: Served, tmp_path: Path) -> None:
    (served.here / "spin.py").write_text(SPIN)
    client = Legacy(served)
    line, answer = client.send("POST", _call(2, "launch", program=["spin.py"], ready="up"))
    said = answer.read().decode()
    assert "running" in said and r'"up \u009b\u007f\n"' in said and not {"\x9b", "\x7f"} & set(said), said
    line.close()
    probe = _call(3, "probe", places=["spin.py:9"], command=["python3", "spin.py", str(tmp_path)], timeout=600)
    asking = [client.send("POST", probe), client.send("POST", _call(4, "go", how="wait"))]
    own = eventually(lambda: _started("spin.py", str(tmp_path)), "it never came to that")
    for line, answer in asking:
        answer.close()
        line.close()
    eventually(lambda: all(map(gone, own)), "the probe's program went on without anybody to hear of it")
    assert json.loads(call("status", "--json", cwd=served.here).out)["result"]["state"] == "running"
    heard = b""

    def told_of_both() -> bool:
        nonlocal heard
        line, answer = client.send("POST", _call(5, "state"))
        heard += answer.read()
        line.close()
        return b"the call of wait was cancelled; the program was left as it was" in heard and b"probe was" in heard

    eventually(told_of_both, "what it had asked for was given up, and nobody said so")
    assert b"probe was cancelled, and its program ended" in heard
    # The protocol's own end of a session takes nothing of the daemon's with it either.
    assert client.status("DELETE") == 200
    assert client.status("POST", _call(6, "state")) == 404
    assert json.loads(call("status", "--json", cwd=served.here).out)["result"]["state"] == "running"
    assert call("stop", cwd=served.here).code == 0


async def test_two_clients_have_their_own_project_and_each_hears_of_sessions_that_come_up(served: Served) -> None:
    (served.here / "deep").mkdir()
    (served.here / "deep" / "only.py").write_text(COUNT)
    heard = [asyncio.Event(), asyncio.Event()]

    def hears(event: asyncio.Event) -> Callable[[object], Awaitable[None]]:
        async def hear(message: object) -> None:
            if isinstance(message, types.ResourceListChangedNotification):
                event.set()

        return hear

    async with (
        connected(served, MODERN) as modern,
        connected(served, LEGACY, message_handler=hears(heard[0])) as one,
        asyncio.timeout(DEADLINE),
    ):
        assert not (await modern.call_tool("state", {"part": "sessions", "project": "deep"})).is_error
        held = await one.call_tool(
            "launch", {"program": ["only.py"], "breaks": ["only.py:3"], "project": "deep", "name": "held"}
        )
        assert held.structured_content["result"]["state"] == "stopped"
        await heard[0].wait()
        async with connected(served, LEGACY, message_handler=hears(heard[1])) as other:
            lost = await other.call_tool("launch", {"program": ["only.py"]})
            assert lost.is_error and f"no such file: {served.here / 'only.py'}" in text_of(lost)
            assert not (await other.call_tool("state", {"session": "held"})).is_error
            await heard[1].wait()
        # Of the newer protocol, which has no sessions, those that a header names are told apart as well.
        async with connected(served, MODERN, "a") as first, connected(served, MODERN, "b") as second:
            for client, name in ((first, "mine"), (second, "yours")):
                start = {"program": ["deep/only.py"], "breaks": ["deep/only.py:3"], "name": name}
                assert not (await client.call_tool("launch", start)).is_error
            assert "mine ended" in text_of(await first.call_tool("stop", {}))
            assert "yours ended" in text_of(await second.call_tool("stop", {}))
        assert "held ended" in text_of(await one.call_tool("stop", {}))


def test_it_listens_on_loopback_only_and_a_port_that_is_taken_is_said_to_be(served: Served) -> None:
    listening = [
        each.laddr for each in psutil.Process(served.process.pid).net_connections("inet") if each.status == "LISTEN"
    ]
    assert [(each.ip, each.port) for each in listening] == [("127.0.0.1", served.port)]
    taken = call("mcp", "--http", "--port", str(served.port), cwd=served.here)
    assert (taken.code, taken.out) == (2, "")
    assert f"error usage: cannot listen on port {served.port}" in taken.err


@pytest.mark.own_daemon
def test_nothing_listens_for_tcp_unless_it_is_asked_for_and_nobody_else_is_heard(tmp_path: Path, pipe: Any) -> None:
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
    if os.geteuid() == 0:
        another_user_is_refused_even_where_the_modes_let_it_through(runtime, path)
        assert line.ask("tools/list")["result"]["tools"]


def another_user_is_refused_even_where_the_modes_let_it_through(runtime: Path, path: Path) -> None:
    """As only root can try it."""
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
