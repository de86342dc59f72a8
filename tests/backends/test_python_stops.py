"""A real Python program through the Backend contract: stop, look, move, end."""

from __future__ import annotations

import asyncio
import os

import pytest

from stillframe.errors import EvalFailed, StillframeError, WrongState
from stillframe.model.backend import Bounds, CatchRule, Ended, Move, Output, Stopped, Wanted
from stillframe.transport.trees import wait_pid

from ..conftest import INTERPRETERS
from .driver import PATIENCE, PROGRAM, at, mark, plan, started, write

SERVERS = ("boot", "stock", "adapter")


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
async def test_a_program_stops_shows_its_locals_steps_and_exits(server, monkeypatch):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", server)
    async with started(plan(), at("loop")) as run:
        stop = await run.stop()
        assert (stop.reason, stop.breakpoints) == ("breakpoint", ("b1",))
        look = await run.look()
        assert (look.at.function, look.at.line) == ("main", mark("loop"))
        assert {value.name: value.value for value in look.values.values}["total"] == "0"
        assert (await run.move(Move.STEP)).reason == "step"
        assert (await run.look()).at.function == "price"
        await run.move(Move.FINISH)
        look = await run.look()
        assert (look.at.function, look.returned[-1].value) == ("main", "10")
        await run.backend.set_breakpoints(())
        await run.go()
        end = await run.ended()
        assert (end.exit_code, end.signal, end.lost) == (0, None, False)
        assert run.printed().splitlines()[-1] == "done 34"


@pytest.mark.parametrize("version", sorted(INTERPRETERS))
async def test_every_supported_interpreter_is_debugged_without_debugpy_of_its_own(version):
    async with started(plan(interpreter=INTERPRETERS[version]), at("call")) as run:
        await run.stop()
        assert await run.value("__import__('sys').version_info[:2]") == f"({version.replace('.', ', ')})"
        assert await run.value("item") == "'apple'"
        found = await run.value("__import__('importlib.util').util.find_spec('debugpy')")
        assert found == "None", "it has no debugpy, nor does ours become one that it could import"
        await run.backend.set_breakpoints(())
        await run.go()
        assert (await run.ended()).exit_code == 0


async def test_what_was_printed_before_a_stop_is_told_before_it(tmp_path):
    program = write(tmp_path, "print('one', flush=True)\nx = 1  # @here\n")
    async with started(plan(program), at("here", program=program)) as run:
        await run.stop()
        kinds = [type(event) for event in run.seen if isinstance(event, Output | Stopped)]
        assert kinds == [Output, Stopped]


async def test_stop_on_entry_holds_the_first_line(tmp_path):
    program = write(tmp_path, "x = 1\ny = 2\n")
    async with started(plan(program, stop_on_entry=True)) as run:
        assert (await run.stop()).reason == "entry"
        assert await run.line() == 1


async def test_an_uncaught_exception_stops_once_with_its_type_and_message():
    async with started(plan(PROGRAM, "--bad"), catch=CatchRule()) as run:
        assert (await run.stop()).reason == "exception"
        found = (await run.look()).exception
        assert (found.type, found.message, found.mode) == ("ValueError", "too much: 2000", "uncaught")
        await run.go()
        assert (await run.ended()).exit_code == 1
        assert "ValueError: too much: 2000" in run.printed("stderr")


RAISING = """
def deep():
    raise KeyError("k")  # @raise


def middle():
    deep()


for _ in range(2):
    try:
        middle()
    except KeyError:
        pass
try:
    int("x")  # @library
except ValueError:
    pass
"""


async def test_a_raised_exception_stops_once_however_many_frames_it_passes(tmp_path):
    program = write(tmp_path, RAISING)
    async with started(plan(program), catch=CatchRule(frozenset({"raised"}))) as run:
        lines = []
        for _ in range(3):
            await run.stop()
            lines.append(await run.line())
            await run.go()
        assert lines == [mark("raise", program), mark("raise", program), mark("library", program)]
        assert (await run.ended()).exit_code == 0


async def test_one_exception_class_is_caught_and_others_pass(tmp_path):
    program = write(tmp_path, RAISING)
    async with started(plan(program), catch=CatchRule(frozenset({"uncaught"}), ("ValueError",))) as run:
        await run.stop()
        assert await run.line() == mark("library", program)
        await run.go()
        assert (await run.ended()).exit_code == 0


async def test_a_class_of_the_program_is_caught_by_its_bare_name_also_before_it_exists(tmp_path):
    write(tmp_path, "class Late(Exception):\n    pass\ndef f():\n    raise Late('x')  # @late\n", "late.py")
    text = "class Own(Exception):\n    pass\ntry:\n    raise Own()  # @own\nexcept Own:\n    pass\nimport late\n"
    program = write(
        tmp_path,
        text
        + "x = 1  # @loaded\ntry:\n    int('x')\nexcept ValueError:\n    pass\ntry:\n    late.f()\nexcept late.Late:\n    pass\n",
    )
    rule = CatchRule(frozenset(), ("Own", "Late"))
    async with started(plan(program), at("loaded", program=program), catch=rule) as run:
        await run.stop()
        assert await run.line() == mark("own", program)
        assert (await run.move()).reason == "breakpoint"
        assert (await run.move()).reason == "exception"
        assert await run.line() == mark("late", tmp_path / "late.py")


async def test_jump_moves_the_point_of_execution(tmp_path):
    program = write(tmp_path, "x = 1\nx = 2  # @skip\nprint(x)  # @to\n")
    async with started(plan(program), at("skip", program=program)) as run:
        await run.stop()
        await run.backend.jump(run.thread, str(program), mark("to", program))
        assert (await run.stop()).reason == "jump"
        assert await run.line() == mark("to", program)
        await run.go()
        await run.ended()
        assert run.printed() == "1\n"


async def test_assign_changes_the_program_and_a_bad_one_names_the_error():
    async with started(plan(), at("call")) as run:
        await run.stop()
        frame = (await run.look()).at.id
        assert (await run.backend.assign(frame, "count", "100", Bounds())).value == "100"
        with pytest.raises(EvalFailed, match="ZeroDivisionError"):
            await run.backend.assign(frame, "count", "1/0", Bounds())
        await run.backend.set_breakpoints(())
        await run.go()
        await run.ended()
        assert run.printed().startswith("so far 500\n")


async def test_several_expressions_are_answered_in_one_call():
    async with started(plan(), at("call")) as run:
        await run.stop()
        frame = (await run.look()).at.id
        answers = await run.backend.evaluate(frame, ["item", "nothing", "[count] * 3"], Bounds(), 5.0)
        assert [each.value.value if each.value else each.error for each in answers] == [
            "'apple'", "NameError: name 'nothing' is not defined", "[2, 2, 2]",
        ]  # fmt: skip


async def test_scopes_locals_and_expand_page_through_values(tmp_path):
    program = write(tmp_path, "data = list(range(100))\nx = 1  # @here\n")
    async with started(plan(program), at("here", program=program)) as run:
        await run.stop()
        look = await run.look(items=3)
        data = next(value for value in look.values.values if value.name == "data")
        assert (data.total, data.truncated) == (100, True)
        page = await run.backend.expand(data.ref, Bounds(values=5), 10)
        assert [(value.name, value.value) for value in page.values] == [(f"[{n}]", str(n)) for n in range(10, 15)]
        assert page.total == 100
        scopes = await run.backend.scopes(look.at.id)
        assert [scope.name for scope in scopes] == ["locals", "globals"]
        names = [value.name for value in (await run.backend.expand(scopes[1].ref, Bounds(), 0)).values]
        assert "data" in names


async def test_raw_and_request_reach_the_debugger_itself():
    async with started(plan(), at("call")) as run:
        await run.stop()
        frame = (await run.look()).at.id
        assert await run.backend.raw(frame, "count + 1") == "3"
        body = await run.backend.request("threads", {}, 5.0)
        assert body["threads"][0]["name"] == "MainThread"
        with pytest.raises(StillframeError, match="bogus"):
            await run.backend.request("bogus", {}, 5.0)


async def test_a_running_program_is_paused_and_asked_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("stillframe.transport.trees.TERM_GRACE", PATIENCE)
    program = write(tmp_path, "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    async with started(plan(program)) as run:
        await run.next(Output)
        with pytest.raises(WrongState):
            await run.backend.capture("1", Bounds())
        await run.backend.pause(None)
        stop = await run.stop()
        assert stop.reason == "pause"
        assert (await run.look()).at.line in (3, 4)
        await run.backend.end(terminate=True)
        end = await run.ended()
        assert end.signal == "SIGTERM" and not end.lost


async def test_input_is_fed_to_a_program_that_waits_for_it(tmp_path):
    program = write(tmp_path, "import sys\nfor line in sys.stdin:\n    print('got', line.strip())\n")
    async with started(plan(program, stdin="-")) as run:
        await run.backend.feed(b"one\ntwo\n", eof=False)
        await run.backend.feed(b"three\n", eof=True)
        assert (await run.ended()).exit_code == 0
        assert run.printed() == "got one\ngot two\ngot three\n"


async def test_standard_input_is_empty_or_a_file(tmp_path):
    program = write(tmp_path, "import sys\nprint(repr(sys.stdin.read()))\n")
    (tmp_path / "in.txt").write_text("hello")
    for stdin, printed in ((None, "''\n"), (str(tmp_path / "in.txt"), "'hello'\n")):
        async with started(plan(program, stdin=stdin)) as run:
            await run.ended()
            assert run.printed() == printed


@pytest.mark.parametrize(
    ("code", "exit_code", "signal"),
    [("import os; os._exit(7)", 7, None), ("raise SystemExit(3)", 3, None), ("1/0", 1, None),
     ("import os; os.kill(os.getpid(), 11)", None, "SIGSEGV"), ("import os; os.abort()", None, "SIGABRT")],
)  # fmt: skip
async def test_the_end_is_told_with_the_process_s_own_code_or_signal(code, exit_code, signal):
    async with started(plan(code, kind="code")) as run:
        end = await run.ended()
        assert (end.exit_code, end.signal, end.lost) == (exit_code, signal, False)


async def test_modules_and_code_run_as_with_m_and_c(tmp_path):
    write(tmp_path, "import sys\nprint('module', sys.argv[1:])\n", "mod.py")
    async with started(plan("mod", "a", kind="module", cwd=str(tmp_path))) as run:
        await run.ended()
        assert run.printed() == "module ['a']\n"
    async with started(
        plan("import sys; x = 1\nprint('code', sys.argv)", "b", kind="code"), Wanted("b1", "<string>", 2)
    ) as run:
        await run.stop()
        assert await run.value("x") == "1"
        await run.go()
        await run.ended()
        assert run.printed() == "code ['-c', 'b']\n"


async def test_a_command_line_keeps_the_interpreter_s_own_flags(tmp_path):
    program = write(tmp_path, "import sys\nprint(sys.flags.optimize, sys.flags.dev_mode, sys.argv[1:])\n")
    words = ("python3", "-O", "-X", "dev", str(program), "--port", "x")
    async with started(_command(words)) as run:
        assert (await run.ended()).exit_code == 0
        assert run.printed() == "1 True ['--port', 'x']\n"


def _command(words):
    from msgspec.structs import replace

    return replace(plan("", kind="command"), command=words, program=None)


async def test_threads_are_listed_and_all_are_held_at_a_stop(tmp_path):
    program = write(
        tmp_path,
        """
import threading
ready = threading.Event()
ticks = 0

def work():
    x = 5
    ready.wait()  # @worker
    x += 1

def spin():
    global ticks
    while not ready.is_set():
        ticks += 1

threading.Thread(target=spin, name="spinner").start()
worker = threading.Thread(target=work, name="worker")
worker.start()
ready.set()
worker.join()
""",
    )
    async with started(plan(program), at("worker", program=program)) as run:
        stop = await run.stop()
        assert stop.all_threads
        threads = {thread.name: thread for thread in await run.backend.threads()}
        assert threads["worker"].id == stop.thread
        assert {thread.state for thread in threads.values()} == {"stopped"}
        assert await run.value("x") == "5"
        await run.go()
        assert (await run.ended()).exit_code == 0


async def test_library_frames_are_told_apart_and_stepped_into_only_when_wanted(tmp_path):
    program = write(tmp_path, "import json\ntext = json.dumps({})  # @call\nprint(text)\n")
    for mine, landed in ((True, "<module>"), (False, "dumps")):
        async with started(plan(program, just_my_code=mine), at("call", program=program)) as run:
            await run.stop()
            await run.move(Move.STEP)
            assert (await run.look()).at.function == landed
    program = write(
        tmp_path, "import functools\ndef f(a, b):\n    return a + b  # @inside\nfunctools.reduce(f, [1, 2])\n"
    )
    async with started(plan(program), at("inside", program=program)) as run:
        await run.stop()
        assert {frame.kind for frame in (await run.look()).frames.frames} == {"user"}


async def test_a_deep_stack_is_read_page_by_page(tmp_path):
    program = write(
        tmp_path,
        """
import sys
sys.setrecursionlimit(5000)
def down(n):
    if n:
        return down(n - 1)
    return 0  # @bottom
down(2000)
""",
    )
    async with started(plan(program), at("bottom", program=program)) as run:
        await run.stop()
        look = await run.look()
        assert (len(look.frames.frames), look.frames.total) == (20, 2002)
        page = await run.backend.stack(run.thread, 1995, 20)
        assert (len(page.frames), page.frames[-1].function, page.start) == (7, "<module>", 1995)


async def test_a_detached_program_that_we_launched_runs_on_and_is_not_killed(tmp_path):
    flag = tmp_path / "flag"
    text = (
        "import pathlib, sys\nx = 1  # @here\nsys.stdin.readline()\nprint('on')\npathlib.Path(%r).write_text('done')\n"
    )
    program = write(tmp_path, text % str(flag))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    keep = os.open(fifo, os.O_RDWR)
    async with started(plan(program, stdin=str(fifo)), at("here", program=program)) as run:
        await run.stop()
        pid = run.backend.pid
        await run.backend.end(terminate=False)
        assert (await run.ended()).detached
    os.write(keep, b"go\n")
    os.close(keep)
    await asyncio.wait_for(wait_pid(pid), 20)
    assert flag.read_text() == "done"


CUTTING = """
import os, signal, socket, stat, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for fd in range(3, 2000):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
while True:
    time.sleep(0.05)
"""


async def test_a_launched_program_dies_with_its_line(tmp_path):
    async with started(plan(write(tmp_path, CUTTING))) as run:
        assert (await run.ended()).signal == "SIGKILL"


@pytest.mark.long
async def test_a_dropped_line_with_a_living_process_is_lost_and_close_still_ends_it(tmp_path, monkeypatch):
    monkeypatch.setenv("STILLFRAME_PYTHON_SERVER", "stock")  # which lets the program run on
    async with started(plan(write(tmp_path, CUTTING))) as run:
        end = await run.ended()
        assert end.lost and f"process {run.backend.pid} is still running" in end.cause


async def test_values_that_no_encoding_carries_are_shown_escaped(tmp_path):
    program = write(
        tmp_path,
        """
class Odd:
    def __repr__(self):
        return "a" + chr(0xd800) + chr(0) + chr(27) + chr(0x202e)
odd = Odd()
text = chr(0xdc80)
x = 1  # @here
""",
    )
    async with started(plan(program), at("here", program=program)) as run:
        await run.stop()
        values = {value.name: value.value for value in (await run.look()).values.values}
        assert "ud800" in values["odd"] and "udc80" in values["text"]
        assert all(value.encode() for value in values.values())
        assert "dc80" in await run.value("chr(0xdc80)")


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS])
async def test_threads_that_stand_at_the_same_breakpoint_are_all_told(tmp_path, version):
    program = write(
        tmp_path,
        """
import threading
gate = threading.Barrier(4)
def work(n):
    gate.wait()
    return n  # @work
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for each in threads: each.start()
for each in threads: each.join()
""",
    )
    async with started(plan(program, interpreter=INTERPRETERS[version]), at("work", program=program)) as run:
        seen = []
        while isinstance(await run.next(Stopped, Ended), Stopped):
            crowd = await run.backend.also_stopped()
            for thread in (run.thread, *(each.thread for each in crowd)):
                look = await run.backend.capture(thread, Bounds())
                seen.append(next(value.value for value in look.values.values if value.name == "n"))
            assert all(each.breakpoints == ("b1",) for each in crowd)
            await run.go()
        assert sorted(seen) == ["0", "1", "2", "3"]
