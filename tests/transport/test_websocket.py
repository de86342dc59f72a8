"""A WebSocket to a real inspector: the kernel acknowledges at once what comes there."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import sys

import pytest

from stillframe.transport.websocket import open_websocket

EXCHANGES = 20


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the option")
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_what_an_inspector_says_is_acknowledged_at_once_however_often_one_asks() -> None:
    """Who asks and is answered by turns is soon taken by the kernel for somebody who will send an answer anyway, onto which it
    can put its acknowledgement: 40 ms later, if none comes. The kernel itself says whether it waits so."""
    node = await asyncio.create_subprocess_exec(
        "node", "--inspect-brk=127.0.0.1:0", "-e", "0", stderr=asyncio.subprocess.PIPE
    )
    try:
        assert node.stderr is not None
        told = (await asyncio.wait_for(node.stderr.readline(), 60)).decode()
        found = re.search(r"ws://\S+", told)
        assert found, told
        line = await open_websocket(found[0], 60)
        plain = line._line._socket
        assert plain is not None
        at_once: list[int] = []
        heard = asyncio.Event()

        def answered(message: bytes) -> None:
            heard.set()

        line.listen(answered, lambda reason: heard.set())
        for number in range(EXCHANGES):
            heard.clear()
            line.write(json.dumps({"id": number, "method": "Runtime.evaluate", "params": {"expression": "1"}}).encode())
            await asyncio.wait_for(heard.wait(), 60)
            at_once.append(plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK))
        assert at_once == [1] * EXCHANGES
        line.close()
    finally:
        node.kill()
        await node.wait()
