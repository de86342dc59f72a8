"""Who listens on a port of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import psutil  # type: ignore[import-untyped]


def owners_of(port: int) -> Iterator[str]:
    """The names of the programs that listen there, as far as we may see them."""
    for each in _listening(port):
        try:
            yield each.name()
        except psutil.Error:  # it ended, or is somebody else's
            continue


def commands_of(port: int) -> Iterator[str]:
    """The commands by which those were started."""
    for each in _listening(port):
        try:
            yield " ".join(each.cmdline())
        except psutil.Error:
            continue


def _listening(port: int) -> Iterator[psutil.Process]:
    try:
        found = psutil.net_connections("tcp")
    except psutil.Error:
        return
    for each in found:
        if each.pid and each.status == psutil.CONN_LISTEN and each.laddr.port == port:
            try:
                yield psutil.Process(each.pid)
            except psutil.Error:
                continue
