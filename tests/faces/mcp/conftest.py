"""How the tests speak MCP: with the SDK's own client over the pump, and by hand over its pipes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from ...resident import Resident
from ..conftest import CLIENT, DEADLINE, call

LEGACY, MODERN = "legacy", "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def hosts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The daemon and the host of MCP: those of all tests, or of its own, which end with it. What lives at the end is ended."""
    if request.node.get_closest_marker("own_daemon"):
        yield
        call("daemon", "stop")
        return
    resident: Resident = request.getfixturevalue("resident")
    resident.receive(monkeypatch, mcp=True)
    yield
    if left := resident.take_leave():
        pytest.fail("left behind:\n  " + "\n  ".join(left), pytrace=False)


@pytest.fixture
def agent(hosts: None, tmp_path: Path) -> Connect:
    """`async with agent("--allow", "read", mode=LEGACY) as client`."""

    @contextlib.asynccontextmanager
    async def connect(*words: str, mode: str = MODERN, **how: Any) -> AsyncIterator[Client]:
        server = StdioServerParameters(
            command=CLIENT[0], args=[*CLIENT[1:], "mcp", *words], env=dict(os.environ), cwd=str(tmp_path)
        )
        async with Client(server, mode=mode, **how) as client:
            yield client

    return connect


class Pipe:
    """The pump's two pipes, in the newer protocol, where every message stands for itself."""

    def __init__(self, words: Sequence[str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            [*CLIENT, "mcp", *words], cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._number = 0

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> int:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": META}}
        self.send(json.dumps(message).encode() + b"\n")
        return self._number

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert not re.search("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", line.decode()), line
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.request(method, **params))

    def answer(self, number: int | str) -> dict[str, Any]:
        while (said := self.hear()).get("id") != number:
            pass
        return said

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        said = self.ask("tools/call", name=tool, arguments=arguments)
        assert "result" in said, said
        found: dict[str, Any] = said["result"]
        return found

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, said.decode()


@pytest.fixture
def pipe(hosts: None, tmp_path: Path) -> Iterator[Callable[..., Pipe]]:
    made: list[Pipe] = []

    def open_pipe(*words: str) -> Pipe:
        made.append(Pipe(words, tmp_path))
        return made[-1]

    yield open_pipe
    for each in made:
        each.end()


def text_of(result: Any) -> str:
    (content,) = result.content
    assert content.type == "text"
    found: str = content.text
    return found


COUNT = """\
seen = {}
def add(word):
    seen[word] = seen.get(word, 0) + 1
    return seen
for word in "a b a c".split():
    add(word)
print(seen)
"""
COUNT_JS = """\
const seen = {};
function add(word) {
  seen[word] = (seen[word] || 0) + 1;
  return seen;
}
for (const word of "a b a c".split(" ")) add(word);
console.log(seen);
"""
