"""Our code brought into a Ruby program that rdbg listens in: by an expression, in a first short conversation of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from ...errors import AdapterUnresponsive, LaunchFailed
from ...transport.folders import private_folder, remove_folder
from ...wire.dap import Decoder, Message, encode
from ..listening import listeners
from ..resting import rests, work_of

_EXPRESSION = """DEBUGGER__::ThreadClient.current.define_singleton_method(:on_trap) { |_| }
Thread.new {
  said = begin; load(%s); "loaded"; rescue Exception => e; e.full_message; end
  File.write(%s, said)
}.is_a?(Thread)"""
"""In a thread of its own: rdbg 1.4.0 holds the program in the handler of a signal, where little may be done. Further signals
that we sent wait for the end of that handler, and would hold the program once more after we have left; so they are muted,
until the next conversation."""
_PATIENCE = 15.0
_AGAIN = 0.05
"""Between two looks whether the program is held by now: rdbg says that it is before it is."""
_LOST = 0.3
"""After so long without a stop the program is asked for one again."""
_BUSY = 0.3
"""A program that never rests has surely passed its start-up after so many seconds of work."""


async def bring(script: Path, host: str, port: int) -> None:
    """Have the program load our script; it runs on afterwards, and the next one to connect finds our request."""
    folder = private_folder()
    word = Path(folder, "said")
    try:
        async with asyncio.timeout(_PATIENCE):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                await _started(port)
                expression = _EXPRESSION % (json.dumps(str(script)), json.dumps(str(word)))
                is_there = not await _Visit(reader, writer).evaluate(expression)
                # A thread of its own runs when the program does, and before that rdbg 1.4.0 dies of a closed conversation.
                said = "loaded" if is_there else await _told(word)
            finally:
                writer.close()
                await writer.wait_closed()
        if said != "loaded":
            raise LaunchFailed(f"our code could not be loaded into the program: {said}")
    except TimeoutError:
        raise AdapterUnresponsive(f"rdbg at {host}:{port} did not let our code in within {_PATIENCE:g} s") from None
    except OSError as error:
        raise LaunchFailed(f"nothing answers at {host}:{port}: {error.strerror or error}") from None
    finally:
        remove_folder(folder)


async def _started(port: int) -> None:
    """Return when the program can be spoken to: rdbg 1.4.0 opens its door too early, and a first word then ends the program."""
    listening = [each.pid for each in await asyncio.to_thread(lambda: list(listeners(port)))]
    worked = {pid: work_of(pid) for pid in listening}
    while True:
        if all(rests(pid) or work_of(pid) - worked[pid] > _BUSY for pid in listening):
            return
        await asyncio.sleep(_AGAIN)


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
            answer = await self._held("stackTrace", threadId=1)
            for frame in (answer.get("body") or {}).get("stackFrames", ()):
                told = await self._ask("evaluate", expression=expression, context="repl", frameId=frame["id"])
                if (told.get("body") or {}).get("result") == "true":
                    return
            await asyncio.sleep(_AGAIN)

    async def _held(self, command: str, **arguments: Any) -> Message:
        """What is answered only by a program that is held; rdbg 1.4.0 forgets to hold one that just loads a file."""
        number = self._send(command, **arguments)
        while True:
            try:
                async with asyncio.timeout(_LOST):
                    return await self._answer(number)
            except TimeoutError:
                self._send("pause", threadId=1)

    async def _ask(self, command: str, **arguments: Any) -> Message:
        return await self._answer(self._send(command, **arguments))

    def _send(self, command: str, **arguments: Any) -> int:
        self._number += 1
        self._writer.write(encode({"seq": self._number, "type": "request", "command": command, "arguments": arguments}))
        return self._number

    async def _answer(self, number: int) -> Message:
        while True:
            while self._waiting:
                message = self._waiting.pop(0)
                if message.get("type") == "response" and message.get("request_seq") == number:
                    return message
            data = await self._reader.read(65536)
            if not data:
                raise LaunchFailed("what listens there is no rdbg: it hung up")
            self._waiting += self._decoder.feed(data)
