"""How a process ended is told when what it left on its line has been read, however long a busy machine takes for that."""

from __future__ import annotations

import asyncio

from stillframe.backends.ending import Signs, ended
from stillframe.errors import AdapterDied, StillframeError
from stillframe.model.backend import Ended
from stillframe.transport.process import Exit

PIECES = 12


def gone(heard: list[int]) -> Signs:
    """A process that is over, with a line that was not read to its end."""
    loop = asyncio.get_running_loop()
    process: asyncio.Future[Exit] = loop.create_future()
    process.set_result(Exit(code=3, signal=None))
    line: asyncio.Future[StillframeError] = loop.create_future()
    return Signs(line, loop.create_future(), loop.create_future(), process, heard=lambda: len(heard))


async def test_what_a_process_left_on_its_line_is_read_to_the_end() -> None:
    heard: list[int] = []
    signs = gone(heard)
    loop = asyncio.get_running_loop()

    def read() -> None:
        heard.append(1)
        if len(heard) < PIECES:
            loop.call_later(0.05, read)
        else:
            signs.line.set_result(AdapterDied("the line ended"))

    read()
    assert await ended(signs, 1) == Ended(exit_code=3)
    assert len(heard) == PIECES


async def test_a_line_that_a_child_holds_open_in_silence_is_not_waited_for() -> None:
    signs = gone([])
    assert await ended(signs, 1) == Ended(exit_code=3)
    assert not signs.line.done()
