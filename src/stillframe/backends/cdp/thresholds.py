"""Where what is new is held for us before the program's first line, and how it is sent over."""

from __future__ import annotations

import asyncio
from typing import Any

from ...errors import AdapterUnresponsive, ProtocolError
from .asking import failure
from .client import Body, CdpClient
from .greetings import Words

PASSED = "__stillframe_passed"
"""The binding by which our preloaded script says that it goes on."""
_AGAIN = 0.05
"""Seconds after which an order to run that was not heard is given again."""
_MAIN = "node:internal/main/worker_thread"
"""The script of the runtime that every worker runs before the program's."""
START = "Break on start"
"""Why a worker that waited for a debugger pauses again at its program's first line, which nobody asked for (Node 18 to 24)."""


class Gate:
    """Where a new process is held for us: in our own preloaded script.

    It tells of itself first and waits then, so that an order to run may come too early and be lost. It says when it goes on,
    and is told until it does.
    """

    def __init__(self, client: CdpClient, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_passed(self) -> bool:
        return self._passed.done()

    def passed(self) -> None:
        if not self._passed.done():
            self._passed.set_result(None)

    async def open(self, line: asyncio.Future[Any], words: Words = ()) -> None:
        """Let the program run; returns when it does, or when the line has ended. `words`: what is to be heard by a program that
        waits for sure."""
        self._client.send("Runtime.enable")
        self._client.send("Runtime.addBinding", {"name": PASSED})
        deadline = asyncio.get_running_loop().time() + self._timeout
        while not self._passed.done() and not line.done():
            if asyncio.get_running_loop().time() > deadline:
                raise AdapterUnresponsive(f"the program did not go on within {self._timeout:g} s")
            for method, params in words:
                self._client.send(method, params)
            self._client.send("Runtime.runIfWaitingForDebugger")
            await asyncio.wait({self._passed, line}, timeout=_AGAIN, return_when=asyncio.FIRST_COMPLETED)


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
