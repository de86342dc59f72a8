"""The text of scripts and files: what runs, which a loader may have made of the file that it is named after."""

from __future__ import annotations

import re
from pathlib import Path

from .client import CdpClient, Refused
from .scripts import Script

_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")


class Texts:
    """Reads each text once."""

    def __init__(self, client: CdpClient) -> None:
        self._client = client
        self._files: dict[str, list[str]] = {}
        self._running: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}

    async def running(self, script: Script) -> str:
        """What V8 runs; empty where it has forgotten the script."""
        if script.id not in self._running:
            try:
                body = await self._client.request("Debugger.getScriptSource", {"scriptId": script.id})
            except Refused:
                return ""
            self._running[script.id] = str(body.get("scriptSource") or "")
        return self._running[script.id]

    async def lines(self, script: Script) -> list[str]:
        """The lines that V8 runs, as it counts them."""
        if script.id not in self._lines:
            self._lines[script.id] = _LINE_END.split(await self.running(script))
        return self._lines[script.id]

    def known(self, script: Script) -> list[str] | None:
        """The lines that V8 runs, where they have been read."""
        return self._lines.get(script.id)

    def file(self, path: str) -> list[str]:
        """The lines of a file; none where it cannot be read."""
        if path not in self._files:
            try:
                self._files[path] = Path(path).read_text("utf-8", "replace").splitlines()
            except OSError:
                self._files[path] = []
        return self._files[path]

    def forget(self) -> None:
        """Files and scripts may have changed since they were read."""
        self._files.clear()
        self._running.clear()
        self._lines.clear()
