"""How the tests of the faces run the client and a daemon: as processes, in the guard's private directories."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
TINY = Path(__file__).resolve().parent / "daemon" / "tiny_daemon.py"
ENTRY = f"import sys; sys.path.insert(0, {str(SRC)!r}); from stillframe.faces.cli.main import entry; entry()"
CLIENT = [sys.executable, "-IS", "-c", ENTRY]
"""The client as `bin/dbg` starts it, from the source tree."""
DEADLINE = 150.0
"""Seconds that only a hang would need."""


@dataclass(frozen=True)
class Said:
    """What a call wrote, and how it ended."""

    out: str
    err: str
    code: int


Dbg = Callable[..., Said]


def call(*words: str | bytes, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Said:
    done = subprocess.run(
        [*CLIENT, *words],
        env={**os.environ, **(env or {})},
        cwd=cwd,
        capture_output=True,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
    )
    return Said(done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode(errors="replace"), done.returncode)


def begin(*words: str, **how: Any) -> subprocess.Popen[bytes]:
    """A call that goes on by itself and hears Ctrl-C, even where the tests run as a background job that does not."""

    def hear() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    return subprocess.Popen([*CLIENT, *words], preexec_fn=hear, stdin=subprocess.DEVNULL, **how)


@pytest.fixture
def dbg(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dbg]:
    """The client with the real daemon behind it: that of all tests, or one of its own, which is ended after it."""
    if request.node.get_closest_marker("own_daemon"):
        yield call
        call("daemon", "stop")
        return
    resident = request.getfixturevalue("resident")
    resident.receive(monkeypatch)
    yield call
    if left := resident.take_leave():
        pytest.fail("left behind:\n  " + "\n  ".join(left), pytrace=False)


@dataclass
class Tiny:
    """A toy daemon in a process of its own."""

    process: subprocess.Popen[bytes]
    runtime: Path

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(DEADLINE)


def start_tiny(env: Mapping[str, str] | None = None) -> Tiny:
    """Start a toy daemon and wait until it serves."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, str(TINY), str(writing)],
        pass_fds=[writing],
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    assert said == "ready\n", said
    return Tiny(process, Path(os.environ["XDG_RUNTIME_DIR"]) / "stillframe")


@pytest.fixture
def tiny() -> Iterator[Tiny]:
    made = start_tiny()
    yield made
    made.end()
