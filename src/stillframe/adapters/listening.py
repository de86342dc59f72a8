"""Who listens on a port of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTEN = "0A"
_LOOKS = 3
"""The kernel tells its sockets page by page, and one that closes meanwhile may hide another: one look is none."""


def owners_of(port: int) -> Iterator[str]:
    """The names of the programs that listen there, as far as we may see them."""
    for each in listeners(port):
        try:
            yield each.name()
        except psutil.Error:  # it ended, or is somebody else's
            continue


def program_of(pid: int) -> str:
    """The name of the program that a process runs; empty where there is none, or we may not see it."""
    try:
        return Path(psutil.Process(pid).exe()).name
    except (psutil.Error, OSError):
        return ""


def commands_of(port: int) -> Iterator[str]:
    """The commands by which those were started."""
    for each in listeners(port):
        try:
            yield " ".join(each.cmdline())
        except psutil.Error:
            continue


def listeners(port: int) -> Iterator[psutil.Process]:
    """Every process that holds a socket which listens there, as far as we may see them."""
    # All who hold the socket: psutil 7.2 names the newest alone, which may be a child between fork and exec.
    for _ in range(_LOOKS):
        if (sockets := _sockets(port)) and (holders := [pid for pid in psutil.pids() if _holds(pid, sockets)]):
            break
    else:
        return
    for pid in holders:
        try:
            yield psutil.Process(pid)
        except psutil.Error:
            continue


def _sockets(port: int) -> frozenset[str]:
    """The sockets that listen on it, by the names that they have in the table of a process."""
    found = set()
    for table in _TABLES:
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except FileNotFoundError:  # without IPv6
            continue
        for _, local, _, state, *_, inode in (line.split()[:10] for line in lines):
            if state == _LISTEN and int(local.rpartition(":")[2], 16) == port:
                found.add(f"socket:[{inode}]")
    return frozenset(found)


def _holds(pid: int, sockets: frozenset[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        return any(_leads_to(f"{folder}/{fd}") in sockets for fd in os.listdir(folder))
    except OSError:  # it ended, or is somebody else's
        return False


def _leads_to(link: str) -> str:
    try:
        return os.readlink(link)
    except FileNotFoundError:  # closed since it was listed
        return ""
