"""How a debugger is found where it listens: in what it prints, at a socket in a directory of ours, or by its own call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...transport.folders import private_folder, remove_folder
from ...transport.streams import Listener, SocketLine

_PRINTED = 64 * 1024


class PrintedPlace:
    """Looks for an address in what a process prints; `found` holds it."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._text = ""
        self.found: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()

    def take(self, data: bytes) -> None:
        if self.found.done():
            return
        self._text = (self._text + data.decode("utf-8", "replace"))[-_PRINTED:]
        if match := self._pattern.search(self._text):
            host, _, port = match[1].rpartition(":")
            self.found.set_result((host or "127.0.0.1", int(port)))


class SocketPlace:
    """The path of a Unix socket in a directory that only we can enter."""

    def __init__(self) -> None:
        self._folder = private_folder()
        self.path = str(Path(self._folder, "socket"))

    def close(self) -> None:
        remove_folder(self._folder)


class Switchboard:
    """A loopback port for one debugger that dials us; whoever calls after it is not answered."""

    def __init__(self) -> None:
        self.listener = Listener(self._called)
        self.line: asyncio.Future[SocketLine] = asyncio.get_running_loop().create_future()

    def _called(self, line: SocketLine) -> None:
        if self.line.done():
            line.close()
        else:
            self.line.set_result(line)


def walked(value: Any, change: Callable[[str], str]) -> Any:
    """The same tables and lists with every text in them changed."""
    match value:
        case str():
            return change(value)
        case dict():
            return {name: walked(each, change) for name, each in value.items()}
        case list() | tuple():
            return [walked(each, change) for each in value]
    return value
