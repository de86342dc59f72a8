"""Whether a program of this machine rests, by what the kernel says of each of its threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_SLEEPS = "S"
_TICK = 1 / os.sysconf("SC_CLK_TCK")


def rests(pid: int) -> bool:
    """Whether there was a moment just now at which every thread of it waited for something from outside, or it is gone."""
    # A thread that wakes another and then sleeps is told by its count: the same before and after means that nobody did.
    before = _naps(pid)
    return all(state == _SLEEPS for state in _states(pid)) and _naps(pid) == before


def work_of(pid: int) -> float:
    """The seconds of processor time that it has taken."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * _TICK


def _naps(pid: int) -> dict[str, str]:
    """How often each thread went to sleep of its own will."""
    return {
        task: next(line for line in text.splitlines() if line.startswith("voluntary"))
        for task, text in _threads(pid, "status")
    }


def _states(pid: int) -> list[str]:
    return [text.rpartition(")")[2].split()[0] for _, text in _threads(pid, "stat")]


def _threads(pid: int, file: str) -> Iterator[tuple[str, str]]:
    """Each thread's number and what that file of the kernel's says of it."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            yield task.name, (task / file).read_text(errors="replace")
        except OSError:  # it has ended
            continue
