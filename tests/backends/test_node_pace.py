"""Much that is said to Node at once: it takes a part of a message for the whole where its own reads cut one near its end."""

from __future__ import annotations

import asyncio
import re
import shutil

import pytest

from stillframe.backends.cdp.client import CdpClient
from stillframe.errors import StillframeError
from stillframe.transport.websocket import open_websocket

from .driver import PATIENCE

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

MANY = 40_000
"""Short messages: a cut between any two bytes of them comes near an end once in ten times, and these are cut forty times."""


async def test_however_much_is_said_at_once_node_hears_each_message_whole() -> None:
    node = await asyncio.create_subprocess_exec(
        "node", "--inspect-brk=127.0.0.1:0", "-e", "0", stderr=asyncio.subprocess.PIPE
    )
    ended: list[StillframeError] = []
    try:
        assert node.stderr is not None
        told = (await asyncio.wait_for(node.stderr.readline(), PATIENCE)).decode()
        address = re.search(r"ws://\S+", told)
        assert address, told
        client = CdpClient(
            await open_websocket(address[0], PATIENCE), on_event=lambda *_: None, on_end=ended.append, timeout=PATIENCE
        )
        with client.gathering():
            answers = [client.send("Runtime.enable") for _ in range(MANY)]
            await asyncio.wait(answers, timeout=4 * PATIENCE)
        assert not ended, ended
        assert all(each.done() and each.result() == {} for each in answers)
        client.close()
    finally:
        node.kill()
        await node.wait()
