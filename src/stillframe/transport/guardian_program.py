"""The guardian's own program: reads the host's list until its pipe ends, then kills the groups on it and removes the directories.

Run by path under `python -IS`; it uses nothing but the standard library, and as little of that as will do.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

LEAVING = 3.0
"""Seconds in which a debugger that is attached to what lives on may leave it by itself."""
LAST_WORD = 2.0
"""Seconds that it has after it was asked to."""
LOOK = 0.02
"""Seconds between two looks at a process, where nothing tells of its end."""


def start_time(pid: int) -> str | None:
    """When a process started, in the kernel's ticks; with it a pid is not mistaken for a later process's."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


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
            _send(os.killpg, group, signal.SIGKILL)
    for pid in roots | below:
        _send(os.kill, pid, signal.SIGKILL)


def _send(how: object, pid: int, number: signal.Signals) -> None:
    try:
        how(pid, number)  # type: ignore[operator]
    except OSError:
        return


def _see_off(watched: dict[int, str]) -> None:
    """Debuggers that hold what is to live on: killed in the middle they may take it along."""
    left = {pid for pid, started in watched.items() if start_time(pid) == started}
    left = _outliving(left, LEAVING)
    for pid in left:
        _send(os.kill, pid, signal.SIGTERM)
    _kill({pid: watched[pid] for pid in _outliving(left, LAST_WORD)})


def _outliving(pids: set[int], seconds: float) -> set[int]:
    """Those that still live after this time, or as soon as all others have ended."""
    fds: dict[int, int] = {}
    for pid in pids:
        try:
            fds[os.pidfd_open(pid)] = pid
        except ProcessLookupError:
            continue
        except (
            AttributeError,
            OSError,
        ):  # macOS has no pidfd, old kernels neither, nor Pythons made for old C libraries
            return _outliving_by_looks(pids, seconds)
    waiting = select.poll()
    for fd in fds:
        waiting.register(fd, select.POLLIN)
    while fds and (ended := waiting.poll(seconds * 1000)):
        for fd, _event in ended:
            waiting.unregister(fd)
            os.close(fd)
            del fds[fd]
    return set(fds.values())


def _outliving_by_looks(pids: set[int], seconds: float) -> set[int]:
    deadline, began = time.monotonic() + seconds, {pid: start_time(pid) for pid in pids}
    while (
        alive := {pid for pid in pids if began[pid] and start_time(pid) == began[pid]}
    ) and time.monotonic() < deadline:
        time.sleep(LOOK)
    return alive


def _remove(directory: str) -> None:
    try:
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
        os.rmdir(directory)
    except OSError:
        return


def main() -> None:
    """Read the host's list until it ends, then end what is on it."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    watched: dict[int, str] = {}
    gently: dict[int, str] = {}
    directories: set[str] = set()
    for line in sys.stdin:
        if line.startswith(("+", "~")):
            pid, _, started = line[1:].strip().partition(" ")
            (watched if line.startswith("+") else gently)[int(pid)] = started
        elif line.startswith("-"):
            watched.pop(int(line[1:]), None)
            gently.pop(int(line[1:]), None)
        elif line.startswith("/"):
            directories.add(line.rstrip("\n"))
        elif line.startswith("!"):
            directories.discard(line[1:].rstrip("\n"))
    _kill(watched)
    _see_off(gently)
    for each in directories:
        _remove(each)


if __name__ == "__main__":
    main()
