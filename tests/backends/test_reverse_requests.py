"""What a debugger asks of us, over every transport: to run the program for it, and to debug another process of it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from stillframe.backends import open_backend
from stillframe.backends.dap.launch import (
    PORT,
    SOCKET,
    Calls,
    DapLaunch,
    Listens,
    ListensUnix,
    PrintedAddress,
    Stdio,
)
from stillframe.model.backend import CatchRule, ChildOpened, Ended, Move, Output, Tool, Wanted

from .driver import PATIENCE, Driven, write

FAKE = Path(__file__).parent.parent / "fakes" / "adapter.py"
LINE = Wanted("b1", "/p/app.x", 3)
WAYS = {
    "stdio": (Stdio(), "stdio"),
    "tcp": (Listens(), f"listen:{PORT}"),
    "printed": (PrintedAddress(re.compile(r"listens at (\S+)\n")), "print"),
    "unix": (ListensUnix(), f"unix:{SOCKET}"),
    "dials": (Calls(), f"dial:{PORT}"),
}
QUIET = {"configurationDone": [{"answer": {}}]}


def launch(script, way="stdio", **changes) -> DapLaunch:
    reach, word = WAYS[way]
    given = {
        "tool": Tool("fake", "1"),
        "reach": reach,
        "request": "launch",
        "arguments": {"program": "x"},
        "argv": (sys.executable, "-S", str(FAKE), json.dumps(script), word),
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "start_timeout": 10.0,
        "request_timeout": 10.0,
    }
    return DapLaunch(**{**given, **changes})


@asynccontextmanager
async def fake(script, way="stdio", **changes):
    run = Driven(await open_backend(launch(script, way, **changes)))
    try:
        yield run
    finally:
        for child in run.events(ChildOpened):
            await child.backend.close()
        await run.close()


async def answered(run) -> dict:
    """What we answered to the debugger, as it tells it."""
    while True:
        told = (await run.next(Output)).data.decode()
        if told.startswith("answered "):
            return json.loads(told.removeprefix("answered "))


def asks(command, **arguments):
    return [{"answer": {}}, {"ask": command, "arguments": arguments}, {"await": True}]


@pytest.mark.parametrize("way", WAYS)
async def test_a_session_that_the_debugger_asks_for_gets_exactly_its_configuration_and_ends_by_itself(way):
    asked = asks("startDebugging", request="attach", configuration={"__child": 7, "name": "worker"})
    child = {"attach": [{"event": "initialized"}, {"answer": {}}]}
    async with fake({"configurationDone": asked, "child": child}, way) as run:
        await run.backend.start([LINE], CatchRule())
        opened = await run.next(ChildOpened)
        assert opened.name == "worker"
        assert (await answered(run))["success"] is True
        young = Driven(opened.backend)
        await young.backend.start([LINE], CatchRule())
        assert (await young.stop()).breakpoints == ("b1",)
        await young.go()
        assert (await young.ended()).exit_code == 3
        await young.close()
        assert not run.events(Ended), "its parent is another session"
        await run.backend.resume(Move.CONTINUE, "0")
        assert (await run.ended()).exit_code == 3


@pytest.mark.parametrize("way", ["stdio", "tcp"])
async def test_ending_the_parent_ends_the_sessions_that_its_debugger_opened(way):
    asked = asks("startDebugging", request="launch", configuration={"__child": 1})
    async with fake({"configurationDone": asked, "child": QUIET}, way) as run:
        await run.backend.start([], CatchRule())
        opened = await run.next(ChildOpened)
        young = Driven(opened.backend)
        await young.backend.start([], CatchRule())
        await run.backend.end(terminate=True)
        await run.ended()
        await young.backend.end(terminate=True)
        assert not (await young.ended()).lost
        await young.close()


PROGRAM = """
import os, sys
print("in", os.getcwd(), os.environ.get("GIVEN"), os.environ.get("TAKEN"), sys.argv[1:], flush=True)
print("err", file=sys.stderr, flush=True)
print("read", sys.stdin.readline().strip(), flush=True)
sys.exit(5)
"""


@pytest.mark.parametrize("way", WAYS)
async def test_a_program_that_the_debugger_has_us_run_is_the_program(way, tmp_path, monkeypatch):
    monkeypatch.setenv("TAKEN", "yes")
    program = write(tmp_path, PROGRAM)
    words = [sys.executable, str(program), "a b", "$HOME"]
    asked = asks("runInTerminal", cwd=str(tmp_path), args=words, env={"GIVEN": "x", "TAKEN": None})
    async with fake({"configurationDone": asked}, way, stdin="-") as run:
        await run.backend.start([], CatchRule())
        answer = await answered(run)
        assert answer == {"success": True, "body": {"processId": run.backend.pid}}
        await run.backend.feed(b"a line\n", eof=True)
        end = await run.ended()
        assert (end.exit_code, end.lost) == (5, False)
        assert run.printed() == f"in {tmp_path} x None ['a b', '$HOME']\nread a line\n"
        assert "err" in run.printed("stderr")


async def test_a_program_that_we_ran_for_a_debugger_ends_with_its_session(tmp_path, monkeypatch):
    monkeypatch.setattr("stillframe.transport.trees.TERM_GRACE", PATIENCE)
    program = write(tmp_path, "import signal\nprint('up', flush=True)\nsignal.pause()\n")
    asked = asks("runInTerminal", cwd="", args=[sys.executable, str(program)])
    async with fake({"configurationDone": asked}) as run:
        await run.backend.start([], CatchRule())
        while "up" not in run.printed():
            await run.next(Output)
        process = psutil.Process(run.backend.pid)
        await run.backend.end(terminate=True)
        assert (await run.ended()).signal == "SIGTERM"
        assert not process.is_running()


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("runInTerminal", {"args": []}),
        ("runInTerminal", {"args": ["/no/such/program"]}),
        ("startDebugging", {"request": "dance", "configuration": {}}),
        ("startDebugging", {"request": "launch", "configuration": 3}),
        ("makeCoffee", {}),
    ],
)
async def test_what_cannot_be_done_is_refused_and_the_session_goes_on(command, arguments):
    async with fake(
        {"configurationDone": [*asks(command, **arguments), {"event": "stopped", "body": {"threadId": 0}}]}
    ) as run:
        await run.backend.start([], CatchRule())
        answer = await answered(run)
        assert answer["success"] is False and answer["body"]["error"]["format"]
        await run.stop()


LLDB = shutil.which("lldb-dap") or shutil.which("lldb-dap-19")
CC = shutil.which("cc")


@pytest.mark.long
@pytest.mark.skipif(not (LLDB and CC), reason="no lldb-dap or no C compiler here")
async def test_lldb_has_its_program_run_by_us_and_its_exit_code_is_the_programs(tmp_path):
    source = write(tmp_path, '#include <stdio.h>\nint main(void) {\n  puts("from C");\n  return 7;\n}\n', "app.c")
    binary = tmp_path / "app"
    compiler = await asyncio.create_subprocess_exec(CC, "-g", "-O0", "-o", str(binary), str(source))
    assert await compiler.wait() == 0
    arguments = {"program": str(binary), "cwd": str(tmp_path), "runInTerminal": True}
    changes = {"argv": (LLDB,), "arguments": arguments, "start_timeout": 30.0, "catches": {}}
    async with fake({}, **changes) as run:
        await run.backend.start([Wanted("b1", str(source), 4)], CatchRule())
        stop = await run.stop()
        assert stop.breakpoints == ("b1",) and run.backend.pid is not None
        await run.backend.resume(Move.CONTINUE, stop.thread)
        assert (await run.ended()).exit_code == 7
        assert run.printed() == "from C\n"
