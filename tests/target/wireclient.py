"""A tiny synchronous DAP client for the tests of the code inside the target: plain sockets, one deadline per wait."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import debugpy

from ..interpreters import PYCACHE

TARGET = Path(__file__).resolve().parents[2] / "src" / "stillframe" / "_target"
VENDORED = Path(debugpy.__file__).parent / "_vendored" / "pydevd"
TOKENS = ("server-secret", "client-secret")
PATIENCE = 30.0
"""The deadline of a wait that only a hang would reach."""

Message = dict[str, Any]


class LineEnded(Exception):
    """The target closed the connection."""


class NeverCame(Exception):
    """The target ended before it connected."""


class Peer:
    """One connection of a target: requests are answered by sequence number, events are kept in order."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.seq = 0
        self.answers: dict[int, Message] = {}
        self.events: list[Message] = []
        self.ended = False

    def _pump(self, deadline: float) -> None:
        """Read once and sort the messages that are whole."""
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        readable, _, _ = select.select([self.sock], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            raise TimeoutError(f"nothing came; events so far: {[event['event'] for event in self.events]}")
        try:
            data = self.sock.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            self.ended = True
            raise LineEnded
        self.buffer += data
        while (message := self._next()) is not None:
            if message["type"] == "response":
                self.answers[message["request_seq"]] = message
            else:
                self.events.append(message)

    def _next(self) -> Message | None:
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return None
        length = int(head.split(b":")[1])
        if len(rest) < length:
            return None
        message: Message = json.loads(rest[:length])
        self.buffer = rest[length:]
        return message

    def send(self, command: str, **arguments: Any) -> int:
        self.seq += 1
        request = {"type": "request", "seq": self.seq, "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        self.sock.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self.seq

    def answer(self, seq: int, patience: float = PATIENCE) -> Message:
        deadline = time.monotonic() + patience
        while seq not in self.answers:
            self._pump(deadline)
        return self.answers.pop(seq)

    def request(self, command: str, **arguments: Any) -> Message:
        answer = self.answer(self.send(command, **arguments))
        assert answer["success"], answer
        return answer.get("body") or {}

    def call(self, name: str, **arguments: Any) -> Message:
        return self.request("stillframe", call=name, **arguments)

    def refusal(self, name: str, **arguments: Any) -> str:
        answer = self.answer(self.send("stillframe", call=name, **arguments))
        assert not answer["success"], answer
        return str(answer["message"])

    def event(self, name: str, **body: Any) -> Message:
        """The next event of that name whose body holds these values; those before it are dropped."""
        deadline = time.monotonic() + PATIENCE
        while True:
            while self.events:
                event = self.events.pop(0)
                told = event.get("body") or {}
                if event["event"] == name and all(told.get(key) == value for key, value in body.items()):
                    return told
            self._pump(deadline)

    def rest(self) -> list[Message]:
        """Every event until the target ends the line."""
        deadline = time.monotonic() + PATIENCE
        with contextlib.suppress(LineEnded):
            while True:
                self._pump(deadline)
        events, self.events = self.events, []
        return events

    def authorize(self) -> None:
        body = self.request("pydevdAuthorize", debugServerAccessToken=TOKENS[0])
        assert body["clientAccessToken"] == TOKENS[1]

    def configure(self, breaks: dict[str, list[Any]] | None = None, start: str = "launch", **options: Any) -> None:
        """initialize to just before configurationDone; a break is a line, or a dict of a whole DAP breakpoint."""
        catch = options.pop("catch", [])
        self.authorize()
        self.request("initialize", adapterID="test", pathFormat="path")
        self.request(start, **{"justMyCode": True, "showReturnValue": True, **options})
        for path, lines in (breaks or {}).items():
            rows = [line if isinstance(line, dict) else {"line": line} for line in lines]
            self.request("setBreakpoints", source={"path": path}, breakpoints=rows)
        self.request("setExceptionBreakpoints", filters=catch)

    def go(self) -> None:
        self.request("configurationDone")

    def stopped(self, **body: Any) -> int:
        """Wait for a stop and give its thread."""
        return int(self.event("stopped", **body)["threadId"])

    def resume(self, command: str = "continue", thread: int = 0) -> None:
        self.request(command, threadId=thread)

    def stop(self, thread: int, **bounds: Any) -> Message:
        return self.call("stop", threadId=thread, **bounds)

    def close(self) -> None:
        self.sock.close()


class Target:
    """A program started through our start-up script; children dial in to the same listener."""

    def __init__(self, python: str, words: list[str], **options: Any) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.peers: list[Peer] = []
        flags = ["--multiprocess"] if options.pop("children", False) else []
        flags += ["--module"] if options.pop("module", False) else []
        env = dict(options.pop("env", os.environ))
        env.update(
            STILLFRAME_PYDEVD=str(VENDORED),
            STILLFRAME_TOKENS=":".join(TOKENS),
            STILLFRAME_ON_EOF=options.pop("on_eof", "kill"),
            STILLFRAME_PYCACHE=str(PYCACHE),
            PYDEVD_DISABLE_FILE_VALIDATION="1",
        )
        port = str(self.listener.getsockname()[1])
        boot = [python, "-X", "frozen_modules=off", *options.pop("flags", []), str(TARGET / "pydevd.py")]
        boot += ["--json-dap-http", "--client", "127.0.0.1", "--port", port, "--skip-notify-stdin", *flags, "--file"]
        options = {"stdin": subprocess.DEVNULL, "start_new_session": True, **options}
        self.process = subprocess.Popen(
            boot + words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    def accept(self) -> Peer:
        """The next connection; a process that ends without one fails at once."""
        deadline = time.monotonic() + PATIENCE
        while True:
            if select.select([self.listener], [], [], 0.05)[0]:
                peer = Peer(self.listener.accept()[0])
                self.peers.append(peer)
                return peer
            if self.process.poll() is not None:
                raise NeverCame
            if time.monotonic() > deadline:
                raise TimeoutError("no connection came")

    def end(self) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of a program that is about to end."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def close(self) -> None:
        for peer in self.peers:
            peer.close()
        self.listener.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        for pipe in (self.process.stdout, self.process.stderr, self.process.stdin):
            if pipe is not None:
                pipe.close()
        self.process.wait()


@contextlib.contextmanager
def started(python: str, *words: str, **options: Any) -> Iterator[Target]:
    target = Target(python, list(words), **options)
    try:
        yield target
    finally:
        target.close()
