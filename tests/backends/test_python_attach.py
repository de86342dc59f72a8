"""Joining Python programs that run already: by pid or by address, and leaving them as they were."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

import stillframe
from stillframe.errors import AdapterMissing, Busy, LaunchFailed, NotFound
from stillframe.model.backend import CatchRule
from stillframe.model.plans import AttachPlan

from ..conftest import INTERPRETERS
from .driver import PATIENCE, at, mark, opened, started, write

needs_gdb = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")

TICKING = """
import sys, time

def tick(n):
    return n + 1  # @tick

n = 0
while True:
    n = tick(n)
    sys.stdout.write("%d\\n" % n)
    sys.stdout.flush()
    time.sleep(0.01)
"""


@asynccontextmanager
async def running(*argv: str, **options):
    process = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def count(process) -> int:
    return int(await asyncio.wait_for(process.stdout.readline(), PATIENCE))


async def goes_on(process) -> bool:
    """Whether it still ticks: reads on until a number that was not printed before now."""
    seen = await count(process)
    return await count(process) > seen and process.returncode is None


@needs_gdb
@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
async def test_a_process_is_joined_by_pid_stopped_and_left_running(tmp_path, version):
    program = write(tmp_path, TICKING)
    async with running(INTERPRETERS[version], str(program)) as process:
        await count(process)
        async with started(AttachPlan(pid=process.pid), at("tick", program=program)) as run:
            assert (run.backend.pid, run.backend.launched) == (process.pid, False)
            assert (await run.stop()).breakpoints == ("b1",)
            assert await run.line() == mark("tick", program)
            await run.backend.end(terminate=False)
            end = await run.ended()
            assert end.detached and not end.lost
        assert await goes_on(process)


@needs_gdb
async def test_closing_without_a_word_leaves_an_attached_process_running(tmp_path):
    program = write(tmp_path, TICKING)
    async with running(sys.executable, str(program)) as process:
        await count(process)
        async with started(AttachPlan(pid=process.pid), at("tick", program=program)) as run:
            await run.stop()
        assert await goes_on(process)


ATTACHER = """
import asyncio, sys
from stillframe.adapters import open_running
from stillframe.model.backend import (CatchRule, Stopped, Wanted)
from stillframe.model.plans import (AttachPlan)

async def main():
    backend = await open_running(AttachPlan(pid=int(sys.argv[1])))
    await backend.start([Wanted("b1", sys.argv[2], int(sys.argv[3]))], CatchRule())
    async for event in backend.events():
        if isinstance(event, Stopped):
            print("stopped", flush=True)

asyncio.run(main())
"""


@needs_gdb
async def test_our_own_death_leaves_an_attached_process_running(tmp_path):
    program = write(tmp_path, TICKING)
    source = str(Path(stillframe.__file__).parent.parent)
    async with running(sys.executable, str(program)) as process:
        await count(process)
        words = ("-c", ATTACHER, str(process.pid), str(program), str(mark("tick", program)))
        async with running(sys.executable, *words, env={**os.environ, "PYTHONPATH": source}) as host:
            assert await asyncio.wait_for(host.stdout.readline(), PATIENCE) == b"stopped\n"
            host.kill()
            await host.wait()
        assert await goes_on(process)


@needs_gdb
async def test_a_process_is_joined_once_at_a_time_and_again_after_it_was_left(tmp_path):
    program = write(tmp_path, TICKING)
    async with running(sys.executable, str(program)) as process:
        await count(process)
        async with started(AttachPlan(pid=process.pid)):
            with pytest.raises(Busy, match="already"):
                async with opened(AttachPlan(pid=process.pid)):
                    raise AssertionError("joined twice")
        async with started(AttachPlan(pid=process.pid), at("tick", program=program)) as again:
            assert (await again.stop()).breakpoints == ("b1",)
        assert await goes_on(process)


async def test_a_process_that_does_not_exist_is_named():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
    await process.wait()
    with pytest.raises(NotFound, match=str(process.pid)):
        async with opened(AttachPlan(pid=process.pid)):
            raise AssertionError("joined")


@needs_gdb
async def test_a_process_that_is_no_python_is_named():
    async with running("sleep", "60") as process:
        with pytest.raises(LaunchFailed, match="runs sleep, which is neither Python"):
            async with opened(AttachPlan(pid=process.pid, adapter="python")):
                raise AssertionError("joined")


async def test_without_gdb_the_error_names_the_line_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("STILLFRAME_TOOLS", str(tmp_path / "none"))
    with pytest.raises(AdapterMissing, match="apt install gdb"):
        async with opened(AttachPlan(pid=psutil.Process().pid)):
            raise AssertionError("joined")


LISTENING = """
import debugpy, sys, time
in_process = sys.argv[1] == "in-process"
host, port = debugpy.listen(("127.0.0.1", 0), in_process_debug_adapter=in_process)
print(port, flush=True)

def tick(n):
    return n + 1  # @tick

n = 0
while True:
    n = tick(n)
    time.sleep(0.01)
"""


@pytest.mark.parametrize("where", ["in-process", "adapter"])
async def test_a_program_that_listens_is_joined_by_its_address_and_left_running(tmp_path, where):
    program = write(tmp_path, LISTENING)
    async with running(sys.executable, "-X", "frozen_modules=off", str(program), where) as process:
        port = await count(process)
        plan = AttachPlan(host="127.0.0.1", port=port)
        async with started(plan, at("tick", program=program), catch=CatchRule()) as run:
            assert (await run.stop()).breakpoints == ("b1",)
            assert await run.line() == mark("tick", program)
            assert int(await run.value("n")) > 0
            await run.backend.end(terminate=False)
            assert (await run.ended()).detached
        assert process.returncode is None
        if where == "in-process":  # debugpy 1.8.22's adapter may still be busy with its last client
            async with started(plan, at("tick", program=program)) as again:
                await again.stop()


async def test_an_address_where_nobody_listens_is_named():
    with pytest.raises(LaunchFailed, match=r"nothing answers at 127\.0\.0\.1:1: Connection refused"):
        async with opened(AttachPlan(host="127.0.0.1", port=1)):
            raise AssertionError("joined")
