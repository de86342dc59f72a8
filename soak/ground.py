"""Where a part of the soak runs: directories, a daemon and a cookie of its own, and a search for what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil  # type: ignore[import-untyped]

from tests.faces.conftest import call
from tests.faces.daemon.test_election import daemons
from tests.guard import Guard, eventually, notice_births
from tests.session.test_declared import declare, entry

from .table import Row, none_of

notice_births()
_MB = 1024 * 1024


class Ground:
    """The surroundings of one part, as a test has them; the environment of this process is theirs meanwhile."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        """How long the part may take, about."""
        self._ends = time.monotonic() + seconds
        self._before = dict(os.environ)
        cache = Path(sys.prefix, "soak-cache")
        cache.mkdir(exist_ok=True)
        self._guard = Guard(cache)
        self.project = self._guard.root / "project"
        self._temporary = self._guard.temporary

    def __enter__(self) -> Self:
        env = self._guard.environment(self._before)
        self.project.mkdir(mode=0o700)
        os.environ.clear()
        os.environ.update(env)
        (self.project / "stillframe.toml").touch()
        declare(entry(script={}))  # the tests' scripted adapter, for files called *.foo
        self.file("a.foo", "1\n2\n3\n4\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        call("daemon", "stop")
        self._guard.left_elsewhere()  # which ends the processes, too
        os.environ.clear()
        os.environ.update(self._before)
        self._guard.remove()

    @property
    def is_time_left(self) -> bool:
        return time.monotonic() < self._ends

    def part_of_time(self, share: float) -> float:
        """When so much of the part's time, from now on, is over."""
        return time.monotonic() + self.seconds * share

    def file(self, name: str, text: str) -> Path:
        path = self.project / name
        path.write_text(text)
        return path

    def daemon(self) -> psutil.Process:
        """The daemon, started where there is none."""
        call("sessions")
        return psutil.Process(self.status()["pid"])

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(call("daemon", "status", "--json").out)["result"]
        return found

    def log_of_failures(self) -> list[str]:
        """What the daemon wrote down as its own failures."""
        log = Path(os.environ["XDG_STATE_HOME"], "stillframe", "daemon.log")
        return re.findall(r"^\w*(?:Error|Exception)\b.*", log.read_text(errors="replace"), re.M) if log.exists() else []

    def left_by_sessions(self, name: str, done: str) -> Row:
        """What there is of ended sessions while their daemon lives on: processes, ports and files."""
        daemon = self.daemon()

        def others() -> list[str]:
            found = [each for each in daemon.children(recursive=True) if "guardian" not in " ".join(_words(each))]
            return [f"process {' '.join(_words(each))}" for each in found]

        with suppress(AssertionError):  # then they are told
            eventually(lambda: not others(), "processes go")
        ports = [
            f"port {each.laddr.port}" for each in daemon.net_connections("inet") if each.status == psutil.CONN_LISTEN
        ]
        files = [f"file {each.name}" for each in self._temporary.rglob("*")]
        runtime = [
            f"file {each.name}" for each in Path(os.environ["XDG_RUNTIME_DIR"]).rglob("*")
            if not each.is_dir() and not each.name.startswith("daemon.") and each.suffix != ".lock"
        ]  # fmt: skip
        return none_of(name, done, others() + ports + files + runtime, "left")

    def left_at_the_end(self, name: str) -> Row:
        """What there is once the daemon was told to go."""
        call("daemon", "stop")
        found = self._guard.left_elsewhere() + [f"daemon {pid}" for pid in daemons()]
        return none_of(name, "after the daemon's end", found, "left behind")


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def rss(process: psutil.Process) -> float:
    """Megabytes that it has in memory."""
    return float(process.memory_info().rss) / _MB


def peak(process: psutil.Process) -> float:
    """The most megabytes that it ever had in memory."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
    assert found
    return int(found[1]) / 1024


@contextmanager
def stopwatch() -> Iterator[list[float]]:
    """Seconds that the block took, as the only item."""
    took: list[float] = []
    began = time.perf_counter()
    yield took
    took.append(time.perf_counter() - began)
