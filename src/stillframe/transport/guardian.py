"""One small process per host that ends what the host launched when the host dies, even by SIGKILL.

It holds the read end of a pipe whose write end only the host has. The host writes `+pid starttime` for each process
group it launches and `-pid` when that one is gone; at end of file the guardian kills the groups that are still listed,
with their descendants, and exits. Attached processes are never listed. This file is also the guardian's own program:
run by path under `python -IS`, it uses nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def start_time(pid: int) -> str | None:
    """When a process started, in the kernel's ticks; with it a pid is not mistaken for a later process's."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


class Guardian:
    """The host's side of the pipe: started at the first process to watch, again if it died, ended by `close`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: dict[int, str] = {}

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def watch(self, pid: int) -> None:
        """From now on this process group dies with us."""
        self._watched[pid] = start_time(pid) or "-"
        self._tell(f"+{pid} {self._watched[pid]}\n")

    def forget(self, pid: int) -> None:
        """This process is gone, or is to live on without us."""
        if self._watched.pop(pid, None) is not None:
            self._tell(f"-{pid}\n")

    def close(self) -> None:
        """End the guardian; what is still watched ends with it."""
        process, self._process = self._process, None
        self._watched.clear()
        if process and process.stdin:
            process.stdin.close()
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
            line = "".join(f"+{pid} {started}\n" for pid, started in self._watched.items())
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            self._process.wait()
            self._tell(line)

    def _start(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        self._process = subprocess.Popen(
            [sys.executable, "-IS", __file__],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd="/", env={}, bufsize=0,
        )  # fmt: skip


GUARDIAN = Guardian()
"""The one guardian of this host process."""


def _descendants(roots: set[int]) -> set[int]:
    """Every process below these, by one look at /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(errors="replace")
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found: set[int] = set()
    grown = True
    while grown:
        grown = False
        for pid, parent in parents.items():
            if parent in roots | found and pid not in found:
                found.add(pid)
                grown = True
    return found


def _kill(watched: dict[int, str]) -> None:
    roots = {pid for pid, started in watched.items() if start_time(pid) == started}
    below = _descendants(roots)
    for group in watched:
        # A group outlives its leader, and the leader's pid is not given away while the group has members.
        if group in roots or start_time(group) is None:
            _send(os.killpg, group)
    for pid in roots | below:
        _send(os.kill, pid)


def _send(how: object, pid: int) -> None:
    try:
        how(pid, signal.SIGKILL)  # type: ignore[operator]
    except OSError:
        return


def main() -> None:
    """Read the host's list until it ends, then end what is on it."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    watched: dict[int, str] = {}
    for line in sys.stdin:
        if line.startswith("+"):
            pid, _, started = line[1:].strip().partition(" ")
            watched[int(pid)] = started
        elif line.startswith("-"):
            watched.pop(int(line[1:]), None)
    _kill(watched)


if __name__ == "__main__":
    main()
