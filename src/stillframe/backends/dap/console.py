"""The way past us: lines for the debugger's own console, and requests of its protocol that we do not send ourselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import Unsupported
from .client import DapClient, Refused
from .evidence import wire_id
from .helper import Helper
from .launch import DapLaunch, Quirk


class Console:
    """What one process's debugger can be told directly."""

    tool: Any
    _client: DapClient
    _launch: DapLaunch
    _helper: Helper | None

    async def raw(self, frame: str | None, line: str) -> str:
        arguments: dict[str, Any] = {"expression": line, "context": "repl"}
        if frame is not None:
            arguments["frameId"] = wire_id(frame, "frame")
            if self._helper and Quirk.CONSOLE_KNOWS_NO_FRAME in self._launch.quirks:
                await self._helper.call("select", frameId=arguments["frameId"])
        try:
            said = str((await self._client.request("evaluate", arguments)).get("result", ""))
        except Refused as refused:
            if not self._launch.console:
                raise
            raise Refused("evaluate", f"{refused.message}; {self._launch.console}") from None
        return self._launch.echo.sub("", said, count=1) if self._launch.echo else said

    async def request(self, command: str, arguments: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        known = self._launch.requests
        if known is not None and command not in known:
            raise Unsupported(f"{self.tool.tool} would die of {command}, a request that it does not know")
        try:
            return await self._client.request(command, arguments, timeout=timeout)
        except Refused as refused:
            if command in refused.message:
                raise
            raise Refused(command, f"{command}: {refused.message}") from None
