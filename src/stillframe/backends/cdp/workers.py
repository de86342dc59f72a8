"""Worker threads: their conversation, which travels inside that of their process, and how they end."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...model.backend import Ended
from ..ending import Signs
from .client import CdpClient

_BEYOND = re.compile("[^\0-\x7f]")


def in_ascii(message: bytes) -> str:
    """A message in JSON with everything beyond ASCII escaped: Node 20 passes on one byte of each character only."""
    return _BEYOND.sub(_escaped, message.decode())


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


class WorkerMessages:
    """The inspector of a worker thread, whose messages travel inside those of its process."""

    def __init__(self, client: CdpClient, session: str) -> None:
        self._client = client
        self._session = session
        self._early: list[bytes] = []
        self._on_message: Callable[[bytes], None] | None = None
        self._on_end: Callable[[str | None], None] | None = None
        self._over = False

    def listen(self, on_message: Callable[[bytes], None], on_end: Callable[[str | None], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        early, self._early = self._early, []
        for message in early:
            on_message(message)
        if self._over:
            on_end(None)

    def received(self, message: bytes) -> None:
        if self._on_message:
            self._on_message(message)
        else:
            self._early.append(message)

    def ended(self) -> None:
        if not self._over:
            self._over = True
            if self._on_end:
                self._on_end(None)

    def write(self, *messages: bytes) -> None:
        if not self._over:
            wrapped = ({"sessionId": self._session, "message": in_ascii(each)} for each in messages)
            self._client.send_all([("NodeWorker.sendMessageToWorker", each) for each in wrapped])

    def close(self) -> None:
        if not self._over:
            self._client.send("NodeWorker.detach", {"sessionId": self._session})
            self.ended()


def end_of_worker(signs: Signs) -> Ended:
    """How a worker ended, whose conversation is over."""
    if signs.detached:
        return Ended(detached=True)
    if signs.exit_code is None:
        return Ended(cause="it ended without a word: terminated, or with its process")
    return Ended(exit_code=signs.exit_code)
