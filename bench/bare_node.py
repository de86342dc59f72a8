"""The floor for Node: a bare client straight on V8's inspector, with quick ACKs, that does nothing but the standard job."""

from __future__ import annotations

import json
import re
import socket
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.protocol import State
from websockets.uri import parse_uri

from .bare import APART, STEPS


class Bare:
    """One target and one blocking socket."""

    def __init__(self, program: Path) -> None:
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            ["node", "--inspect-brk=127.0.0.1:0", "--inspect-publish-uid=stderr", str(program)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **APART,
        )  # fmt: skip
        assert self._process.stderr is not None
        url = ""
        while not (found := re.search(r"ws://\S+", url)):
            url = self._process.stderr.readline().decode()
        parts = urlsplit(found[0])
        self._line = socket.create_connection((parts.hostname, parts.port), timeout=30)
        self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._protocol = ClientProtocol(parse_uri(found[0]), max_size=None)
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        self._messages: list[dict[str, Any]] = []
        self._number = 0
        self._held: dict[str, Any] = {}
        while self._protocol.state is not State.OPEN:
            self._take()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            self._line.sendall(data)

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        self._protocol.send_text(json.dumps({"id": self._number, "method": method, "params": params}).encode())
        self._flush()
        return self._number

    def receive(self) -> dict[str, Any]:
        while not self._messages:
            self._take()
        return self._messages.pop(0)

    def _take(self) -> None:
        if hasattr(socket, "TCP_QUICKACK"):
            self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        chunk = self._line.recv(65536)
        if not chunk:
            raise EOFError
        self._protocol.receive_data(chunk)
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and event.data:
                self._messages.append(json.loads(bytes(event.data)))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = self.send(method, **params)
        while True:
            message = self.receive()
            if message.get("id") == number:
                result: dict[str, Any] = message.get("result") or {}
                return result

    def event(self, name: str) -> dict[str, Any]:
        while True:
            message = self.receive()
            if message.get("method") == name:
                params: dict[str, Any] = message.get("params") or {}
                return params

    def step(self) -> dict[str, Any]:
        """To the next line: V8 stops at several positions of one, such as a loop's, and a user's step is a line."""

        def line(paused: dict[str, Any]) -> tuple[int, Any, Any]:
            where = paused["callFrames"][0]["location"]
            return len(paused["callFrames"]), where["scriptId"], where["lineNumber"]

        before, seen = line(self._held), {self._held["callFrames"][0]["location"].get("columnNumber")}
        while True:
            self.send("Debugger.stepOver")
            self._held = self.event("Debugger.paused")
            column = self._held["callFrames"][0]["location"].get("columnNumber")
            if line(self._held) != before or column in seen:
                return self._held
            seen.add(column)

    def look(self, paused: dict[str, Any]) -> str:
        """The variables of the top frame's own scopes, as a client needs them at each stop; the frame's id."""
        self._held = paused
        frame = paused["callFrames"][0]
        for scope in frame["scopeChain"]:
            if scope["type"] in ("local", "block"):
                self.ask("Runtime.getProperties", objectId=scope["object"]["objectId"], generatePreview=True)
        return str(frame["callFrameId"])

    def close(self) -> None:
        self._line.close()
        try:
            self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def job(program: Path, line: int) -> dict[str, float]:
    """The standard job; times in milliseconds."""
    bare = Bare(program)
    try:
        bare.ask("Runtime.enable")
        bare.ask("Debugger.enable")
        bare.ask("Debugger.setBreakpointByUrl", url=program.as_uri(), lineNumber=line - 1)
        bare.send("Runtime.runIfWaitingForDebugger")
        bare.event("Debugger.paused")
        bare.send("Debugger.resume")
        frame = bare.look(bare.event("Debugger.paused"))
        first = time.perf_counter() - bare.began
        bare.ask("Debugger.evaluateOnCallFrame", callFrameId=frame, expression="words.length")
        steps = []
        for _ in range(STEPS):
            began = time.perf_counter()
            bare.look(bare.step())
            steps.append(time.perf_counter() - began)
        bare.send("Debugger.setBreakpointsActive", active=False)
        bare.send("Debugger.resume")
        bare.event("Runtime.executionContextDestroyed")
    finally:
        bare.close()
    return {"first stop": first * 1000, "step": statistics.median(steps) * 1000}
