"""A conversation with an inspector that ends without the program's doing: told as lost, and the program runs on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from stillframe.errors import AdapterGone
from stillframe.model.backend import Continued, Ended, Move, Wanted
from stillframe.model.plans import AttachPlan

from .driver import PATIENCE, plan, started, write

LOOP = """
let i = 0;
setInterval(() => {
  i += 1; // here
  console.log(i);
}, 20);
"""


class Proxy:
    """Passes bytes on to a port until it is cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._came, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            self.cut()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers += [writer, far_writer]
        for one, other in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass(one, other))
            self._tasks.add(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)


@contextlib.asynccontextmanager
async def inspected(program: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A Node that somebody started with its inspector open, and its address."""
    process = await asyncio.create_subprocess_exec(
        "node", "--inspect=127.0.0.1:0", str(program), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=dict(os.environ),
    )  # fmt: skip
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            said = (await process.stderr.readline()).decode()
        yield process, said.split()[-1]
    finally:
        process.kill()
        await process.communicate()


async def test_a_connection_that_drops_is_lost_and_the_program_runs_on(tmp_path: Path) -> None:
    program = write(tmp_path, LOOP, "loop.js")
    async with inspected(program) as (process, url):
        assert process.stdout is not None
        parts = urlsplit(url)
        proxy = Proxy(parts.port or 0)
        async with proxy.open() as port:
            wish = AttachPlan(url=f"ws://127.0.0.1:{port}{parts.path}", host="127.0.0.1", port=port, adapter="node")
            async with started(wish, Wanted("b1", file=str(program), line=3)) as driven:
                await driven.stop()
                proxy.cut()
                await driven.next(Continued)
                end = await driven.next(Ended)
                assert end.lost
                assert "the inspector's connection ended" in (end.cause or "")
        async with asyncio.timeout(PATIENCE):
            for _ in range(5):
                assert await process.stdout.readline()


def leading(pid: int) -> dict[str, str]:
    """The environment that led a process to us."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def announced(program: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    """A Node that has come to the meeting place, where nobody has listened since: this returns to no event loop."""
    door = os.open(env["STILLFRAME_NODE"], os.O_RDONLY | os.O_NONBLOCK)
    try:
        process = subprocess.Popen(["node", str(program)], env=env, stdout=subprocess.PIPE, text=True)
        assert select.select([door], [], [], PATIENCE)[0]
    finally:
        os.close(door)
    return process


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_child_that_comes_up_while_we_leave_runs_on_without_us(tmp_path: Path, when: str) -> None:
    program = write(tmp_path, LOOP, "loop.js")
    late = write(tmp_path, "console.log('ran');\n", "late.js")
    async with started(plan(program), Wanted("b1", file=str(program), line=3)) as driven:
        await driven.stop()
        backend: Any = driven.backend
        env = leading(backend.pid)
        if when == "after":
            await backend.end(terminate=False)
        child = announced(late, env)
        try:
            await (backend.end(terminate=False) if when == "before" else backend.close())
            said, _ = await asyncio.to_thread(child.communicate, timeout=PATIENCE)
            assert (said, child.returncode) == ("ran\n", 0)
        finally:
            child.kill()
            child.wait()
            os.kill(backend.pid, signal.SIGKILL)
            await asyncio.wait({backend._process.exited}, timeout=PATIENCE)


async def test_what_ended_while_it_was_held_is_gone_and_not_said_to_run(tmp_path: Path) -> None:
    program = write(tmp_path, LOOP, "loop.js")
    async with started(plan(program), Wanted("b1", file=str(program), line=3)) as driven:
        await driven.stop()
        backend: Any = driven.backend
        os.kill(backend.pid, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE):
            await backend._signs.line
        with pytest.raises(AdapterGone):
            await backend.resume(Move.CONTINUE, None)
