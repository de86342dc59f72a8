"""The floor for debug adapters: a bare client straight on a debugger as it comes, that does nothing but the standard job."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .bare import APART, STEPS, Wire

_LISTENS = re.compile(rb"server listening at|wait for debugger connection")


@dataclass(frozen=True)
class Floor:
    """How a debugger is started as its makers meant it, and what it calls the scopes that hold a frame's own variables."""

    argv: Sequence[str]
    """With {socket} for the Unix socket that it listens on; without, it speaks on its standard input and output."""
    request: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    scopes: tuple[str, ...] = ("locals", "arguments")
    holds_first: bool = False
    """The program is held before its first line, whatever one asks for."""

    def job(self, program: Path, line: int, source: Path, look: str) -> dict[str, float]:
        """The standard job; times in milliseconds."""
        with tempfile.TemporaryDirectory() as folder:
            bare = Bare(self, program, Path(folder) / "socket")
            try:
                return _job(bare, self, line, source, look, program)
            finally:
                bare.close()


class Bare(Wire):
    """One debugger, and one blocking socket to it."""

    def __init__(self, floor: Floor, program: Path, path: Path) -> None:
        words: list[str] = [word.format(program=program, socket=path) for word in floor.argv]
        self._scopes = floor.scopes
        self._process: subprocess.Popen[bytes]
        self._early: list[dict[str, Any]] = []
        self.began = time.perf_counter()
        if any("{socket}" in word for word in floor.argv):
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **APART
            )
            line = _dialled(self._process, path)
        else:
            line, theirs = socket.socketpair()
            self._process = subprocess.Popen(
                words, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL, **APART
            )
            theirs.close()
        line.settimeout(30)
        super().__init__(line)

    def receive(self) -> dict[str, Any]:
        message = super().receive()
        if "event" in message:
            self._early.append(message)
        return message

    def event(self, name: str) -> dict[str, Any]:
        """The next event of this name; others come in any order around it."""
        while True:
            for index, message in enumerate(self._early):
                if message["event"] == name:
                    del self._early[: index + 1]
                    body: dict[str, Any] = message.get("body") or {}
                    return body
            self.receive()

    def look(self, thread: int) -> int:
        """Stack and locals of the top frame, as a client needs them at each stop; the frame's id."""
        frame = self.ask("stackTrace", threadId=thread, levels=20)["stackFrames"][0]["id"]
        for scope in self.ask("scopes", frameId=frame)["scopes"]:
            if scope["name"].lower() in self._scopes:
                self.ask("variables", variablesReference=scope["variablesReference"])
        return int(frame)

    def close(self) -> None:
        self._line.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)


def _dialled(process: subprocess.Popen[bytes], path: Path) -> socket.socket:
    """The line to a debugger, once it says that it listens; rdbg 1.4 says so a moment before it does."""
    assert process.stdout is not None
    while not _LISTENS.search(said := process.stdout.readline()):
        if not said:
            raise EOFError(f"{process.args!r} ended before it listened")
    line, deadline = socket.socket(socket.AF_UNIX), time.monotonic() + 10
    while True:
        try:
            line.connect(os.fspath(path))
            return line
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.0005)


def _job(bare: Bare, floor: Floor, line: int, source: Path, look: str, program: Path) -> dict[str, float]:
    bare.ask("initialize", adapterID="bare", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
    bare.send(floor.request, **{**floor.arguments, **({"program": str(program)} if floor.request == "launch" else {})})
    bare.event("initialized")
    bare.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": line}])
    bare.send("configurationDone")
    thread = bare.event("stopped")["threadId"]
    if floor.holds_first:
        bare.send("continue", threadId=thread)
        thread = bare.event("stopped")["threadId"]
    frame = bare.look(thread)
    first = time.perf_counter() - bare.began
    bare.ask("evaluate", expression=look, frameId=frame, context="watch")
    steps = []
    for _ in range(STEPS):
        began = time.perf_counter()
        bare.send("next", threadId=thread)
        bare.event("stopped")
        bare.look(thread)
        steps.append(time.perf_counter() - began)
    bare.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[])
    bare.send("continue", threadId=thread)
    with contextlib.suppress(BrokenPipeError):  # the program may have ended by itself, and its debugger with it
        bare.send("disconnect", terminateDebuggee=True)
    return {"first stop": first * 1000, "step": statistics.median(steps) * 1000}
