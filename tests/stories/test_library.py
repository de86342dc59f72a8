"""The library over the daemon: the same methods, results and errors, on the sessions that `dbg` sees too."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import psutil
import pytest

import stillframe
from stillframe.errors import Busy, EvalFailed, LaunchFailed, NoSession, UsageError, WrongState

from .conftest import User

RED = """\
import unittest

class App(unittest.TestCase):
    def test_f(self):
        got = 2
        self.assertEqual(got, 3)
"""
HOST = """\
import asyncio, stillframe, uvloop

async def main():
    async with stillframe.Debugger() as dbg:
        for program in ("app.py", "app.js"):
            stop = await dbg.launch(program, breaks=[f"{program}:2"], stdin="here.txt")
            print(stop.local("x"), repr((await dbg.continue_()).output))
    async with stillframe.connect() as dbg:
        print((await dbg.launch("app.js", breaks=["app.js:2"])).state)
        await dbg.stop()

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
"""
WAITS = "import threading\nprint('up', flush=True)\nthreading.Event().wait()\n"


@pytest.mark.long
async def test_a_program_and_a_shell_share_a_session(user: User) -> None:
    user.file("app.py", "def f(a):\n    b = a + 1\n    return b\n\nprint(f(1))\n")
    async with stillframe.connect(cwd=str(user.here)) as dbg:
        with pytest.raises(NoSession):
            await dbg.state()
        stop = await dbg.launch("app.py", breaks=["app.py:2"])
        assert isinstance(stop, stillframe.Stop)
        assert (stop.local("a"), stop.frame.line if stop.frame else None) == ("1", 2)
        assert user.json("state")["frame"]["line"] == 2, "the shell sees it"
        user.ok("next")
        stop = await dbg.state()
        assert isinstance(stop, stillframe.Stop)
        assert stop.local("b") == "2", "and the program sees what the shell did"
        with pytest.raises(EvalFailed, match="NameError"):
            await dbg.eval("nope")
        with pytest.raises(UsageError):
            await dbg.break_("")
        with pytest.raises(LaunchFailed, match=r"missing\.py"):
            await dbg.launch("missing.py")
        assert [each.name for each in (await dbg.sessions()).sessions] == ["app"]
    async with stillframe.connect(cwd=str(user.here)) as dbg:
        end = await dbg.continue_()
        assert isinstance(end, stillframe.Exited)
        assert (end.exit_code, end.output) == (0, "2\n")
        with pytest.raises(WrongState) as caught:
            await dbg.scopes()
        assert caught.value.hint is not None
        assert caught.value.hint.op == "restart"
        report = await dbg.probe("app.py:3", eval=["b"], command=["python3", "app.py"])
        assert report.places[0].gathered[0].values == ("2",)
        user.file("test_app.py", RED)
        red = await dbg.test("test_app.py", runner="unittest", once=True)
        assert (red.verdict, red.failures[0].line, red.ran) == ("red", 6, 1)
        failed = await dbg.crash(command=["python3", "-c", "x = 3\nassert x < 2"])
        assert failed.failure is not None
        assert (failed.verdict, failed.failure.what) == ("crashed", "AssertionError")
        user.file("wait.py", WAITS)
        hung = await dbg.hang(command=["python3", "wait.py"], ready="up", timeout=0)
        assert [(each.names, each.stack.frames[0].file) for each in hung.groups] == [(("MainThread",), "wait.py")]


async def test_in_process_leaving_the_block_ends_what_it_launched(user: User) -> None:
    user.file("spin.py", "while True:\n    pass\n")
    async with stillframe.Debugger(cwd=str(user.here)) as dbg:
        assert isinstance(await dbg.launch("spin.py", timeout=0), stillframe.Running)
        pid = (await dbg.status()).pid
    assert pid is not None
    assert not psutil.pid_exists(pid)
    with pytest.raises(RuntimeError):
        await dbg.status()


def test_it_runs_on_a_loop_of_another_make_as_servers_have_it(user: User) -> None:
    user.file("app.py", "x = input()\nprint(x)\n")
    user.file("app.js", "let x = 2;\nconsole.log(x);\n")
    user.file("here.txt", "yes\n")
    user.file("host.py", HOST)
    done = subprocess.run([sys.executable, "host.py"], cwd=user.here, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("'yes' 'yes\\n'\n2 '2\\n'\nstopped\n", "")


async def test_two_programs_at_once_are_two_sessions(user: User) -> None:
    user.file("a.py", "x = 'a'\ny = 1\n")
    user.file("b.py", "x = 'b'\ny = 1\n")
    async with stillframe.Debugger(cwd=str(user.here)) as dbg:
        await dbg.launch("a.py", breaks=["a.py:2"])
        await dbg.launch("b.py", breaks=["b.py:2"])
        for name in ("a", "b"):
            stop = await dbg.state(session=name)
            assert isinstance(stop, stillframe.Stop)
            assert stop.local("x") == f"'{name}'"
        assert isinstance(await dbg.continue_(session="a"), stillframe.Exited)
        assert isinstance(await dbg.state(session="b"), stillframe.Stop)


async def test_every_outcome_has_its_state_and_lists_are_refused_where_words_are_meant(user: User) -> None:
    user.file("app.py", "x = 1\ny = 2\nz = 3\n")
    async with stillframe.Debugger(cwd=str(user.here)) as dbg:
        states = [(await dbg.launch("app.py", breaks=["app.py:2"])).state]
        with pytest.raises(UsageError, match="plain text"):
            await dbg.eval(["x", "1/0"])  # type: ignore[arg-type]
        assert [each.value for each in (await dbg.eval("x", "x + 1")).values] == ["1", "2"]
        with pytest.raises(UsageError, match=r"places such as .* each by itself, not list"):
            await dbg.probe(["app.py:2"])  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="not list"):
            await dbg.until(["app.py:3"])  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=r"launch\(command=\[…\]\)"):
            await dbg.launch(["python3", "app.py"])  # type: ignore[arg-type]
        assert (await dbg.break_(3)).requested.line == 3, "a number is a line of the held file here, too"  # type: ignore[arg-type]
        states += [(await dbg.next()).state, (await dbg.continue_()).state]
    assert states == ["stopped", "stopped", "exited"]
    assert {"Debugger", "connect"} <= set(dir(stillframe))


async def test_a_protocol_request_takes_a_dict_or_its_json(user: User) -> None:
    user.file("app.py", "x = 1\ny = 2\n")
    for opened in (stillframe.Debugger(cwd=str(user.here)), stillframe.connect(cwd=str(user.here))):
        async with opened as dbg:
            await dbg.launch("app.py", breaks=["app.py:2"])
            assert "threads" in ((await dbg.request("threads", {})).body or {})
            body = (await dbg.request("evaluate", {"expression": "1 + 1"})).body or {}
            assert body["result"] == "2"
            assert (await dbg.request("evaluate", '{"expression": "1 + 2"}')).body["result"] == "3"  # type: ignore[index]
            with pytest.raises(UsageError, match="a JSON object"):
                await dbg.request("threads", "[]")
            await dbg.stop()


async def test_programs_launched_at_the_same_moment_have_names_of_their_own(user: User) -> None:
    user.file("app.py", "import sys\nword = sys.argv[1]\nprint(word)\n")
    async with stillframe.Debugger(cwd=str(user.here)) as dbg:
        stops = await asyncio.gather(*(dbg.launch("app.py", word, breaks=["app.py:3"]) for word in "abc"))
        assert [each.local("word") for each in stops if isinstance(each, stillframe.Stop)] == ["'a'", "'b'", "'c'"]
        assert sorted(each.name for each in (await dbg.sessions()).sessions) == ["app", "app-2", "app-3"]
        probed = await asyncio.gather(*(dbg.probe("app.py:3", command=["python3", "app.py", word]) for word in "de"))
        assert [each.places[0].state for each in probed] == ["reached", "reached"]
        first, second = await asyncio.gather(
            *(dbg.launch("app.py", "f", name="same", breaks=["app.py:3"]) for _ in range(2)), return_exceptions=True
        )
        assert isinstance(first, stillframe.Stop)
        assert isinstance(second, Busy)
