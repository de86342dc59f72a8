"""The floor: a bare client straight on debugpy's stock server, with quick ACKs, that does nothing but the standard job."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STEPS = 10

APART: dict[str, Any] = {"start_new_session": True}
"""As ours is started. Linux shares turns out among sessions before processes, so that on a busy machine a debugger in the
session of its client and one outside are two different things."""


def vendored() -> Path:
    """The stock server's folder inside the installed debugpy."""
    spec = importlib.util.find_spec("debugpy")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "_vendored" / "pydevd"


class Wire:
    """A conversation by one blocking socket."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._is_tcp = line.family == socket.AF_INET
        if self._is_tcp:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""
        self._seq = 0

    def send(self, command: str, **arguments: Any) -> int:
        self._seq += 1
        body = json.dumps({"seq": self._seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self._line.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self._seq

    def receive(self) -> dict[str, Any]:
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if found:
                length = int(head.rpartition(b":")[2])
                if len(rest) >= length:
                    self._buffer = rest[length:]
                    message: dict[str, Any] = json.loads(rest[:length])
                    return message
            if self._is_tcp and hasattr(socket, "TCP_QUICKACK"):
                self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            chunk = self._line.recv(65536)
            if not chunk:
                raise EOFError
            self._buffer += chunk

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        number = self.send(command, **arguments)
        while True:
            message = self.receive()
            if message.get("request_seq") == number:
                body: dict[str, Any] = message.get("body") or {}
                return body

    def event(self, name: str) -> dict[str, Any]:
        while True:
            message = self.receive()
            if message.get("event") == name:
                body: dict[str, Any] = message.get("body") or {}
                return body


class Bare(Wire):
    """One target and one blocking socket."""

    def __init__(self, program: Path) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-X", "frozen_modules=off", str(vendored() / "pydevd.py"), "--json-dap-http",
             "--client", "127.0.0.1", "--port", str(port), "--skip-notify-stdin", "--file", str(program)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
            **APART,
        )  # fmt: skip
        self._listener.settimeout(30)
        super().__init__(self._listener.accept()[0])

    def look(self, thread: int) -> int:
        """Stack and locals of the top frame, as a client needs them at each stop; the frame's id."""
        frame = self.ask("stackTrace", threadId=thread)["stackFrames"][0]["id"]
        scope = self.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        self.ask("variables", variablesReference=scope)
        return int(frame)

    def close(self) -> None:
        self._line.close()
        self._listener.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()


def job(program: Path, line: int) -> dict[str, float]:
    """The standard job; times in milliseconds."""
    bare = Bare(program)
    try:
        bare.ask("initialize", adapterID="bare", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        bare.send("launch", justMyCode=True)
        bare.event("initialized")
        bare.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": line}])
        bare.send("configurationDone")
        thread = bare.event("stopped")["threadId"]
        frame = bare.look(thread)
        first = time.perf_counter() - bare.began
        bare.ask("evaluate", expression="len(words)", frameId=frame, context="repl")
        steps = []
        for _ in range(STEPS):
            began = time.perf_counter()
            bare.send("next", threadId=thread)
            bare.event("stopped")
            bare.look(thread)
            steps.append(time.perf_counter() - began)
        bare.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[])
        bare.send("continue", threadId=thread)
        bare.event("terminated")
    finally:
        bare.close()
    return {"first stop": first * 1000, "step": statistics.median(steps) * 1000}
