"""Processes that a Python program starts: each dials in, is announced, and can be debugged or let go."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from stillframe.model.backend import CatchRule, ChildOpened, Ended, Stopped

from .driver import PATIENCE, Driven, at, mark, opened, plan, started, write

CHILD = """
import sys
answer = 40 + 2  # @child
print("child", answer, flush=True)
"""

PARENT = """
import subprocess, sys
done = subprocess.run([sys.executable, sys.argv[1]])
print("parent", done.returncode, flush=True)
"""

FORK = """
import multiprocessing, sys

def work(n):
    return n + 1  # @work

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    child = context.Process(target=work, args=(41,), name="one")
    child.start()
    child.join()
    print("parent", child.exitcode, flush=True)
"""


async def child_of(run: Driven) -> Driven:
    announced = await run.next(ChildOpened)
    assert announced.pid is not None and announced.pid != run.backend.pid
    return Driven(announced.backend)


@pytest.mark.parametrize("server", ["boot", "stock"])
async def test_a_subprocess_becomes_a_child_that_stops_by_itself(tmp_path, monkeypatch, server):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", server)
    script = write(tmp_path, CHILD, "child.py")
    program = write(tmp_path, PARENT)
    async with started(plan(program, str(script))) as run:
        child = await child_of(run)
        await child.backend.start([at("child", program=script)], CatchRule())
        assert (await child.stop()).breakpoints == ("b1",)
        assert await child.line() == mark("child", script)
        await child.go()
        assert not (await child.ended()).lost
        await child.close()
        assert (await run.ended()).exit_code == 0
        assert run.printed() == "child 42\nparent 0\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
async def test_a_multiprocessing_child_is_announced_once_and_its_parent_ends(tmp_path, method):
    program = write(tmp_path, FORK)
    async with started(plan(program, method)) as run:
        child = await child_of(run)
        await child.backend.start([at("work", program=program)], CatchRule())
        await child.stop()
        assert await child.value("n") == "41"
        await child.go()
        await child.ended()
        await child.close()
        end = await run.ended()
        assert (end.exit_code, run.printed()) == (0, "parent 0\n")
        assert len(run.events(ChildOpened)) == 1


@pytest.mark.parametrize("server", ["boot", "stock"])
async def test_a_child_that_nobody_wants_runs_on_undebugged(tmp_path, monkeypatch, server):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", server)
    script = write(tmp_path, CHILD, "child.py")
    program = write(tmp_path, PARENT)
    async with started(plan(program, str(script))) as run:
        child = await child_of(run)
        await child.backend.close()
        assert (await run.ended()).exit_code == 0
        assert run.printed() == "child 42\nparent 0\n"
        await child.close()


async def test_a_forked_child_that_nobody_wants_runs_on_undebugged(tmp_path):
    program = write(tmp_path, FORK)
    async with started(plan(program, "fork")) as run:
        child = await child_of(run)
        await child.backend.close()
        assert (await run.ended()).exit_code == 0
        assert run.printed() == "parent 0\n"
        await child.close()


async def test_children_are_not_followed_when_that_is_not_wanted(tmp_path):
    script = write(tmp_path, CHILD, "child.py")
    program = write(tmp_path, PARENT)
    async with started(plan(program, str(script), children=False)) as run:
        assert (await run.ended()).exit_code == 0
        assert run.printed() == "child 42\nparent 0\n"
        assert run.events(ChildOpened) == []


async def test_a_grandchild_is_announced_by_its_own_parent(tmp_path):
    script = write(tmp_path, CHILD, "child.py")
    middle = write(tmp_path, "import subprocess, sys\nsubprocess.run([sys.executable, sys.argv[1]])\n", "middle.py")
    program = write(tmp_path, "import subprocess, sys\nsubprocess.run([sys.executable, *sys.argv[1:]])\n")
    async with started(plan(program, str(middle), str(script))) as run:
        child = await child_of(run)
        await child.backend.start((), CatchRule())
        grandchild = await child_of(child)
        await grandchild.backend.start([at("child", program=script)], CatchRule())
        await grandchild.stop()
        await grandchild.go()
        for each in (grandchild, child, run):
            await each.ended()
        await grandchild.close()
        await child.close()


async def test_ending_the_parent_ends_a_child_that_is_held(tmp_path):
    script = write(tmp_path, CHILD, "child.py")
    program = write(tmp_path, PARENT)
    async with started(plan(program, str(script))) as run:
        child = await child_of(run)
        await child.backend.start([at("child", program=script)], CatchRule())
        await child.stop()
        pid = child.backend.pid
        await run.backend.end(terminate=True)
        await run.ended()
        assert isinstance(await child.next(Ended, Stopped), Ended)
        await child.close()
        assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_child_outlives_its_parent_and_is_still_debugged(tmp_path):
    script = write(tmp_path, CHILD, "child.py")
    program = write(
        tmp_path, "import subprocess, sys\nsubprocess.Popen([sys.executable, sys.argv[1]])\nsys.stdin.read()\n"
    )
    async with started(plan(program, str(script), stdin="-")) as run:
        child = await child_of(run)
        await run.backend.feed(b"", eof=True)
        assert (await run.ended()).exit_code == 0
        await child.backend.start([at("child", program=script)], CatchRule())
        await child.stop()
        await run.close()
        await child.go()
        assert not (await child.ended()).lost
        assert child.printed() == "child 42\n"
        await child.close()


LEAVING = """
import os, subprocess, sys
if sys.argv[1:] == ["fork"]:
    pid = os.fork()
elif sys.argv[1:] == ["start"]:
    pid = subprocess.Popen([sys.executable, __file__]).pid
else:
    pid = 0
if pid:
    os._exit(4)
answer = 40 + 2  # @child
print("child", answer, flush=True)
"""


@pytest.mark.parametrize("how", ["fork", "start"])
async def test_a_child_whose_parent_ends_at_once_is_announced_before_that_end(tmp_path, how):
    program = write(tmp_path, LEAVING)
    async with started(plan(program, how)) as run:
        child = await child_of(run)
        await child.backend.start([at("child", program=program)], CatchRule())
        assert (await child.stop()).breakpoints == ("b1",)
        assert (await run.ended()).exit_code == 4
        await child.go()
        assert not (await child.ended()).lost
        await child.close()


async def test_the_adapter_of_debugpy_says_that_it_follows_no_children(tmp_path, monkeypatch):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", "adapter")
    async with started(plan(write(tmp_path, "print(1)\n"))) as run:
        await run.ended()
        assert "child processes are not followed" in run.printed("console")


DETACHING = """
import subprocess, sys, time
code = "import time; print('adrift', flush=True); time.sleep(600)"
subprocess.Popen(["sh", "-c", 'exec "$0" -c "$1"', sys.executable, code], start_new_session=True)
"""


async def test_what_a_program_left_behind_is_found_by_its_mark_and_ended_when_asked(tmp_path):
    program = write(tmp_path, DETACHING)
    async with started(plan(program)) as run:
        assert (await run.ended()).exit_code == 0
        (left,) = await run.backend.left_behind(end=False)
        assert _runs(left)
        assert await run.backend.left_behind(end=True) == ()
        assert not _runs(left)


async def test_a_program_that_replaces_itself_goes_on_as_a_child_with_its_exit_code(tmp_path):
    other = write(tmp_path, "x = 1  # @other\nraise SystemExit(7)\n", "other.py")
    program = write(tmp_path, "import os, sys\nos.execv(sys.executable, [sys.executable, sys.argv[1]])\n")
    async with started(plan(program, str(other))) as run:
        announced = await run.next(ChildOpened)
        assert announced.pid == run.backend.pid
        child = Driven(announced.backend)
        await child.backend.start([at("other", program=other)], CatchRule())
        await child.stop()
        await child.go()
        assert (await child.ended()).exit_code == 7
        assert (await run.ended()).exit_code == 7
        await child.close()


async def test_a_stranger_on_the_port_is_no_child_and_does_no_harm(tmp_path):
    program = write(tmp_path, "import time\nprint('up', flush=True)\nx = 1  # @here\n")
    async with opened(plan(program)) as run:
        listening = [each.laddr.port for each in psutil.Process().net_connections("inet") if each.status == "LISTEN"]
        reader, writer = await asyncio.open_connection("127.0.0.1", listening[0])
        writer.write(b"GET / HTTP/1.1\r\n\r\nContent-Length: -1\r\n\r\n")
        assert b"pydevdAuthorize" in await asyncio.wait_for(reader.read(200), PATIENCE)
        await run.backend.start([at("here", program=program)], CatchRule())
        await run.stop()
        await run.go()
        assert (await run.ended()).exit_code == 0
        assert run.events(ChildOpened) == []
        writer.close()
