"""Our code brought into a Ruby program that rdbg listens in: by an expression, in a first short conversation of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from ..errors import AdapterUnresponsive, LaunchFailed
from ..transport.folders import private_folder, remove_folder
from ..wire.dap import Decoder, Message, encode

_EXPRESSION = """Thread.new {
  said = begin; load(%s); "loaded"; rescue Exception => e; e.full_message; end
  File.write(%s, said)
}.is_a?(Thread)"""
"""In a thread of its own: rdbg 1.4.0 holds the program in the handler of a signal, where little may be done."""
_PATIENCE = 15.0
_AGAIN = 0.05
"""Between two looks whether the program is held by now: rdbg says that it is before it is."""


async def bring(script: Path, host: str, port: int) -> None:
    """Have the program load our script; it runs on afterwards, and the next one to connect finds our request."""
    folder = private_folder()
    word = Path(folder, "said")
    try:
        async with asyncio.timeout(_PATIENCE):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                expression = _EXPRESSION % (json.dumps(str(script)), json.dumps(str(word)))
                is_there = not await _Visit(reader, writer).evaluate(expression)
            finally:
                writer.close()
                await writer.wait_closed()
            said = "loaded" if is_there else await _told(word)
        if said != "loaded":
            raise LaunchFailed(f"our code could not be loaded into the program: {said}")
    except TimeoutError:
        raise AdapterUnresponsive(f"rdbg at {host}:{port} did not let our code in within {_PATIENCE:g} s") from None
    except OSError as error:
        raise LaunchFailed(f"nothing answers at {host}:{port}: {error.strerror or error}") from None
    finally:
        remove_folder(folder)


async def _told(path: Path) -> str:
    """What the program wrote there, as soon as it has."""
    while True:
        if said := await asyncio.to_thread(_read, path):
            return said
        await asyncio.sleep(_AGAIN)


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


class _Visit:
    """One conversation with rdbg as it is."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder = Decoder()
        self._waiting: list[Message] = []
        self._number = 0

    async def evaluate(self, expression: str) -> bool:
        """Have the program evaluate it, unless it answers as only our code does."""
        # No attach: rdbg 1.4.0 holds the program for whoever connects, and once more for an attach, also after we have left.
        offers = (await self._ask("initialize", adapterID="rdbg")).get("body") or {}
        try:
            if offers.get("supportsLogPoints"):  # rdbg 1.4.0 itself has none
                return False
            await self._somewhere(expression)
            return True
        finally:
            await self._ask("disconnect", terminateDebuggee=False)

    async def _somewhere(self, expression: str) -> None:
        """A frame of C has nothing to evaluate in; one of the others has."""
        while True:
            answer = await self._ask("stackTrace", threadId=1)
            for frame in (answer.get("body") or {}).get("stackFrames", ()):
                told = await self._ask("evaluate", expression=expression, context="repl", frameId=frame["id"])
                if (told.get("body") or {}).get("result") == "true":
                    return
            await asyncio.sleep(_AGAIN)

    async def _ask(self, command: str, **arguments: Any) -> Message:
        self._number += 1
        self._writer.write(encode({"seq": self._number, "type": "request", "command": command, "arguments": arguments}))
        while True:
            while self._waiting:
                message = self._waiting.pop(0)
                if message.get("type") == "response" and message.get("request_seq") == self._number:
                    return message
            data = await self._reader.read(65536)
            if not data:
                raise LaunchFailed("what listens there is no rdbg: it hung up")
            self._waiting += self._decoder.feed(data)
