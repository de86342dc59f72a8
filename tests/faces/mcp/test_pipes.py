"""Whatever the pump's standard input and output are: pipes and sockets it hands over, of all else it moves the bytes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

from ..conftest import CLIENT, DEADLINE
from .conftest import META

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}).encode() + b"\n"


def _tools(answer: bytes) -> list[str]:
    return [each["name"] for each in json.loads(answer)["result"]["tools"]]


def _start(source: Any, sink: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*CLIENT, "mcp"], stdin=source, stdout=sink)


def test_pipes_are_answered_on_and_are_left_as_they_were(hosts: None) -> None:
    (source, asking), (hearing, sink) = os.pipe(), os.pipe()
    pump = _start(source, sink)
    os.write(asking, LIST)
    answer = b""
    while not answer.endswith(b"\n"):
        answer += os.read(hearing, 65536)
    assert "launch" in _tools(answer)
    assert not os.get_blocking(source) and not os.get_blocking(sink), "the host waits for them itself"
    os.close(asking)
    assert pump.wait(DEADLINE) == 0
    assert os.get_blocking(source) and os.get_blocking(sink)
    for each in (source, sink, hearing):
        os.close(each)


def test_an_agent_that_reads_no_more_has_gone_though_it_could_still_write(hosts: None) -> None:
    pump = subprocess.Popen([*CLIENT, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert pump.stdin is not None and pump.stdout is not None
    pump.stdin.write(LIST)
    pump.stdin.flush()
    assert _tools(pump.stdout.readline())
    pump.stdout.close()
    assert pump.wait(DEADLINE) == 0
    pump.stdin.close()


def test_sockets_files_and_a_single_socket_are_answered_on_too(hosts: None, tmp_path: Path) -> None:
    pairs = [socket.socketpair() for _ in range(3)]
    (source, asking), (hearing, sink), (ours, both) = pairs
    pumps = [_start(source, sink), _start(both, both)]
    asked = tmp_path / "asked"
    asked.write_bytes(LIST)
    with asked.open() as file, (tmp_path / "said").open("wb") as said:
        assert _start(file, said).wait(DEADLINE) == 0
    for each in (asking, ours):
        each.sendall(LIST)
        each.shutdown(socket.SHUT_WR)
    for each in (source, sink, both):
        each.close()
    answers = [each.makefile("rb").read() for each in (hearing, ours)]
    assert [pump.wait(DEADLINE) for pump in pumps] == [0, 0]
    assert {tuple(_tools(each)) for each in (*answers, (tmp_path / "said").read_bytes())} == {tuple(_tools(answers[0]))}
    for one, other in pairs:
        one.close()
        other.close()
