"""The way from the loader into a module that it is about to compile: up to the first line of what will really run."""

from __future__ import annotations

from .blackbox import Blackbox
from .client import Body, CdpClient, Refused
from .frames import Held

_WRAPPER = "typeof compiledWrapper === 'function' ? compiledWrapper : null"
"""The module as a function: a variable of `Module.prototype._compile` in Node 18 to 24."""


class Door:
    """Steps through the loader until the module's own function is there, and has V8 pause when that is called."""

    def __init__(self, client: CdpClient, held: Held, blackbox: Blackbox) -> None:
        self._client = client
        self._blackbox = blackbox
        self._looks_in = False
        """V8 does not pass over the loader."""
        self._loader = held.top.get("functionLocation")
        self._id = ""

    def is_open(self, held: Held) -> bool:
        return bool(self._id) and self._id in held.hits

    async def approach(self, held: Held) -> bool:
        """One step nearer; False where the loader has been left without coming to it, as for a syntax error."""
        if held.top.get("functionLocation") != self._loader:
            return False
        wrapper = await self._wrapper(held)
        if wrapper is None:
            self._look_in(True)
            await self._client.request("Debugger.stepOver")
            return True
        try:
            body = await self._client.request("Debugger.setBreakpointOnFunctionCall", {"objectId": wrapper})
        except Refused:
            return False
        self._id = str(body.get("breakpointId"))
        self._look_in(False)
        await self._client.request("Debugger.resume")
        return True

    async def _wrapper(self, held: Held) -> str | None:
        arguments = {"callFrameId": held.top.get("callFrameId"), "expression": _WRAPPER, "silent": True}
        answer = await self._client.request("Debugger.evaluateOnCallFrame", arguments)
        found: Body = answer.get("result") or {}
        return None if "exceptionDetails" in answer or found.get("type") != "function" else str(found.get("objectId"))

    def _look_in(self, looks_in: bool) -> None:
        if looks_in != self._looks_in:
            self._looks_in = looks_in
            self._blackbox.lift(looks_in)

    async def close(self) -> None:
        self._look_in(False)
        if self._id:
            await self._client.request("Debugger.removeBreakpoint", {"breakpointId": self._id})
