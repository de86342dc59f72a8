"""What is around a host: the user's daemon, asked over its socket without starting one, and perhaps somebody at a terminal."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import msgspec

from ..model.health import DaemonInfo
from ..render.escape import lines
from .cli import link, rendezvous
from .cli.catalogue import HASH, VERSION

_YES = ("y", "yes")


class Surroundings:
    """A host that nobody watches: a daemon, or a library in somebody's program."""

    async def daemon(self) -> DaemonInfo:
        return await asyncio.to_thread(_status)

    async def ask(self, question: str) -> bool | None:
        return None

    def show(self, text: str) -> None:
        """Nobody is there to see it."""


class Terminal(Surroundings):
    """The command line's own process: what goes on is shown on standard error, and whoever types there is asked."""

    async def ask(self, question: str) -> bool | None:
        if not (os.isatty(0) and os.isatty(2)):
            return None
        self.show(f"{question} [y/N] ")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()

        def typed() -> None:
            loop.remove_reader(0)
            answer.set_result(os.read(0, 4096))

        loop.add_reader(0, typed)
        try:
            return (await answer).decode(errors="replace").strip().lower() in _YES
        finally:
            loop.remove_reader(0)

    def show(self, text: str) -> None:
        os.write(2, lines(text).encode("utf-8", "backslashreplace"))


def _status() -> DaemonInfo:
    """What the daemon says of itself; where it cannot be reached, why not."""
    request = {
        "v": 1,
        "catalogue": HASH,
        "version": VERSION,
        "op": "daemon",
        "args": {"action": "status"},
        "json": True,
    }
    said: list[bytes] = []

    def keep(stream: int, data: bytes) -> None:
        said.append(data)

    try:
        link.converse((json.dumps(request) + "\n").encode(), keep, start=False)
    except link.NoDaemon:
        return DaemonInfo(running=False)
    except (link.Gone, rendezvous.Unsafe) as error:
        return DaemonInfo(running=False, problem=str(error))
    except ValueError:  # too many wait for it to be taken, and only a process's main thread could wait in their line
        return DaemonInfo(running=True, problem="it takes no calls just now")
    reply: dict[str, Any] = json.loads(b"".join(said))
    return msgspec.convert(reply["result"], DaemonInfo)
