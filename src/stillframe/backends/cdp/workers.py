"""Worker threads: their conversation inside that of their process, and the place where one is ready but has run nothing yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ...errors import AdapterUnresponsive, ProtocolError
from ...model.backend import Ended
from ..ending import Signs
from .client import Body, CdpClient
from .evidence import failure

_MAIN = "node:internal/main/worker_thread"
"""The script of the runtime that every worker runs before the program's."""
START = "Break on start"
"""Why a worker that waited for a debugger pauses again at its program's first line, which nobody asked for (Node 18 to 24)."""


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

    def write(self, message: bytes) -> None:
        if not self._over:
            params = {"sessionId": self._session, "message": message.decode()}
            self._client.send("NodeWorker.sendMessageToWorker", params)

    def close(self) -> None:
        if not self._over:
            self._client.send("NodeWorker.detach", {"sessionId": self._session})
            self.ended()


class Threshold:
    """Where a new worker is held for us: it waits for a debugger before its runtime is set up, when nothing can be loaded.

    Seen with Node 18 to 24: there is no `process` yet, or `require` throws. The first line of its main script comes after.
    """

    def __init__(self, client: CdpClient, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._reached: asyncio.Future[Body] = asyncio.get_running_loop().create_future()

    def paused(self, body: Body) -> bool:
        """Whether this pause is the one that is waited for."""
        if self._reached.done():
            return False
        self._reached.set_result(body)
        return True

    async def cross(self, expression: str) -> None:
        """Let it run to there, and evaluate this with the runtime's own `require`."""
        place = {"url": _MAIN, "lineNumber": 0}
        set_there = await self._client.request("Debugger.setBreakpointByUrl", place)
        await self._client.request("Runtime.runIfWaitingForDebugger")
        try:
            async with asyncio.timeout(self._timeout):
                top = (await self._reached)["callFrames"][0]
        except TimeoutError:
            raise AdapterUnresponsive(f"a worker did not come up within {self._timeout:g} s") from None
        self._client.send("Debugger.removeBreakpoint", {"breakpointId": set_there.get("breakpointId")})
        there = {"callFrameId": top.get("callFrameId"), "expression": expression, "silent": True}
        answer = await self._client.request("Debugger.evaluateOnCallFrame", there)
        if details := answer.get("exceptionDetails"):
            raise ProtocolError(f"a worker cannot be prepared: {failure(details)}")


def end_of_worker(signs: Signs) -> Ended:
    """How a worker ended, whose conversation is over."""
    if signs.detached:
        return Ended(detached=True)
    if signs.exit_code is None:
        return Ended(cause="it ended without a word: terminated, or with its process")
    return Ended(exit_code=signs.exit_code)
