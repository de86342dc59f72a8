"""Lines to a debugger over sockets: what was said is heard, also of somebody who has just gone."""

from __future__ import annotations

import asyncio
import socket

from stillframe.transport.streams import SocketLine


async def test_last_words_are_heard_though_a_write_came_too_late() -> None:
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    _, line = await loop.create_connection(SocketLine, sock=ours)
    heard: list[bytes] = []
    ended: asyncio.Future[str | None] = loop.create_future()
    line.listen(heard.append, ended.set_result)
    theirs.sendall(b"this is the end")
    theirs.close()
    line.write(b"are you there?")  # before anything could be read: the line breaks here
    assert await asyncio.wait_for(ended, 30)
    assert b"".join(heard) == b"this is the end"
