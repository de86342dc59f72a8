"""The text of scripts and files: what runs, which a loader may have made of the file that it is named after."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from .client import CdpClient, Refused
from .scripts import Script

_WHOLE = 1024 * 1024
"""Bytes of a file that is read here and now; V8 is asked for the text of a larger one."""
_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")


class Texts:
    """Reads each text once."""

    def __init__(self, client: CdpClient) -> None:
        self._client = client
        self._files: dict[str, list[str]] = {}
        self._running: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        self._are_patched = False
        """Some script may run another text than that which V8 has told the hash of."""

    async def running(self, script: Script) -> str:
        """What V8 runs; empty where it has forgotten the script."""
        if script.id not in self._running and not self._is_on_disk(script):
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
        """The lines that V8 runs, where they need not be asked for."""
        if script.id not in self._lines and (script.id in self._running or self._is_on_disk(script)):
            self._lines[script.id] = _LINE_END.split(self._running[script.id])
        return self._lines.get(script.id)

    def _is_on_disk(self, script: Script) -> bool:
        """Whether the file is what V8 runs, by the hash that it told (Node 20 and later); then its text is taken from there."""
        if self._are_patched or not script.hash or not script.is_file:
            return False
        try:
            if os.stat(script.path).st_size > _WHOLE:
                return False
            data = Path(script.path).read_bytes()
            if hashlib.sha256(data, usedforsecurity=False).hexdigest() != script.hash:
                return False
            self._running[script.id] = data.decode("utf-8")
        except (OSError, ValueError):
            return False
        return True

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
        self._are_patched = True
        self._files.clear()
        self._running.clear()
        self._lines.clear()
