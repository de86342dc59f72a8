"""A live edit over a slow line: nothing is asked of V8 while the call that was held is on its way to its beginning."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve

import stillframe
from stillframe.errors import EvalFailed

from .driver import write
from .nodes import is_18, place, stopped
from .test_node_endings import inspected
from .test_node_moving import PRICES

ENDLESS = PRICES.replace("if (i > 3) clearInterval(t);", "")

LATE = 0.5
"""How late the news of a pause comes: time enough for whoever does not wait for it to ask something."""


class SlowLine:
    """Passes messages between a debugger and an inspector; after an edit the pause that follows comes late."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._edited = False
        self._asked = asyncio.Event()
        self.early: list[str] = []
        """What was asked after an edit was answered and before the debugger heard of the pause."""

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        async with serve(self._came, "127.0.0.1", 0, max_size=None) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            yield f"ws://127.0.0.1:{port}{urlsplit(self._url).path}"

    async def _came(self, near: ServerConnection) -> None:
        async with connect(self._url, max_size=None, compression=None) as far:
            back = asyncio.create_task(self._back(far, near))
            async for text in near:
                message = json.loads(text)
                if self._edited:
                    self.early.append(message["method"])
                    self._asked.set()
                self._edited |= message["method"] == "Debugger.setScriptSource" and not message["params"].get("dryRun")
                await far.send(text)
        await back

    async def _back(self, far: ClientConnection, near: ServerConnection) -> None:
        async for text in far:
            if self._edited and json.loads(text).get("method") == "Debugger.paused":
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._asked.wait(), LATE)
                self._edited = False
            await near.send(text)


async def test_nothing_is_asked_while_an_edited_call_is_on_its_way_to_its_beginning(tmp_path: Path) -> None:
    program = write(tmp_path, ENDLESS, "prices.js")
    async with inspected(program) as (_, url):
        line = SlowLine(url)
        async with line.open() as address, stillframe.Debugger(cwd=str(tmp_path)) as dbg:
            await dbg.attach(address)
            await dbg.break_("prices.js:3")
            assert place(await dbg.wait()) == ("price", 3)
            program.write_text(program.read_text().replace("x * rate", "x * rate * 10"))
            if is_18():
                with pytest.raises(EvalFailed, match="this Node can begin no call again"):
                    await dbg.hotpatch("prices.js")
                return
            assert (await dbg.hotpatch("prices.js")).notes
            assert (line.early, stopped(await dbg.state()).reason) == ([], "restart")
