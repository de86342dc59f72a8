"""Processes that we start: output to the last byte, the true end, nothing left alive, and the guardian behind it all."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import psutil
import pytest

import stillframe
from stillframe.errors import LaunchFailed
from stillframe.transport.folders import private_folder, remove_folder
from stillframe.transport.guardian import GUARDIAN
from stillframe.transport.guardian_program import start_time
from stillframe.transport.process import Exit, spawn
from stillframe.transport.streams import Listener, dial, dial_unix
from stillframe.transport.trees import MARK, end_tree, marked, wait_pid

from ..guard import Guard

PATIENCE = 20


class Run:
    """A spawned `python -c` with its output kept."""

    def __init__(self, code: str, **options) -> None:
        self.out = {"stdout": b"", "stderr": b""}
        self._news = asyncio.Event()
        env = {**os.environ, **options.pop("env", {})}
        self.process = spawn(
            [sys.executable, "-c", textwrap.dedent(code)], cwd=os.getcwd(), env=env, on_output=self._take, **options
        )

    def _take(self, stream, data) -> None:
        self.out[stream] += data
        self._news.set()

    async def until(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.out["stdout"]:
                self._news.clear()
                await self._news.wait()

    async def exit(self) -> Exit:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.shield(self.process.exited)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_output_is_complete_when_the_exit_is_told():
    run = Run("import sys; sys.stdout.write('x' * 500000); sys.stderr.write('e'); sys.exit(4)")
    assert await run.exit() == Exit(4)
    assert (len(run.out["stdout"]), run.out["stderr"]) == (500000, b"e")
    run.process.close()


async def test_a_signal_is_told_by_its_name():
    run = Run("import os; os.kill(os.getpid(), 9)")
    assert await run.exit() == Exit(None, "SIGKILL")
    run.process.close()


async def test_an_orphan_that_holds_the_pipes_does_not_delay_the_end():
    run = Run(
        """
        import os, subprocess, sys
        reading, writing = os.pipe()
        code = f"import os, time; os.write({writing}, b'up'); time.sleep(60)"
        child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, pass_fds=[writing])
        os.read(reading, 2)  # its exec is over, so that its environment can be read
        print(child.pid, flush=True)
        """,
        env={MARK: "orphan"},
    )
    assert await run.exit() == Exit(0)
    child = int(run.out["stdout"])
    assert alive(child) and child in marked("orphan")
    await end_tree(child, group=False)
    run.process.close()


async def test_terminate_ends_a_stubborn_tree_within_its_time():
    run = Run(
        """
        import signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
        child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        print("child", child.pid, flush=True)
        time.sleep(60)
        """
    )
    await run.until(b"up")
    await run.until(b"child")
    child = int(run.out["stdout"].split(b"child")[1].split()[0])
    await run.process.terminate()
    assert run.process.exited.result() == Exit(None, "SIGKILL")
    assert not alive(child)
    run.process.close()


async def test_terminate_is_heard_by_a_program_that_listens(monkeypatch):
    monkeypatch.setattr("stillframe.transport.trees.TERM_GRACE", PATIENCE)
    run = Run(
        "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(5)); print('up', flush=True); time.sleep(60)"
    )
    await run.until(b"up")
    await run.process.terminate()
    assert run.process.exited.result() == Exit(5)
    run.process.close()


async def test_a_stopped_process_is_ended_too():
    run = Run("import os, time; print('up', flush=True); os.kill(os.getpid(), 19); time.sleep(60)")
    await run.until(b"up")
    await run.process.terminate()
    assert run.process.exited.result().signal in ("SIGKILL", "SIGTERM")
    run.process.close()


async def test_output_that_is_held_back_waits_in_the_pipe_and_is_not_lost():
    run = Run("import sys; sys.stdout.write('x' * 300000)")
    run.process.pause_output()
    run.process.resume_output()
    await run.exit()
    assert len(run.out["stdout"]) == 300000
    run.process.close()


async def test_input_larger_than_a_pipe_is_fed_as_it_is_read():
    run = Run("import sys; print(len(sys.stdin.read()))", stdin="-")
    await run.process.feed(b"x" * 1_000_000, eof=True)
    await run.exit()
    assert run.out["stdout"] == b"1000000\n"
    with pytest.raises(BrokenPipeError):
        await run.process.feed(b"more", eof=False)
    run.process.close()


async def test_a_program_that_does_not_exist_is_named():
    with pytest.raises(LaunchFailed, match="cannot start /no/such"):
        spawn(["/no/such"], cwd=os.getcwd(), env={}, on_output=lambda *_: None)
    with pytest.raises(LaunchFailed, match="no such directory"):
        spawn([sys.executable], cwd="/no/such", env={}, on_output=lambda *_: None)


async def test_one_that_is_let_go_when_it_has_already_ended_leaves_no_pipe():
    first = Run("print('the guardian has come')")
    await first.exit()
    first.process.close()
    before = set(os.listdir("/proc/self/fd"))
    run = Run("print('over')")
    await run.exit()
    assert set(os.listdir("/proc/self/fd")) > before
    run.process.release()
    assert set(os.listdir("/proc/self/fd")) <= before


async def test_a_foreign_process_s_end_is_noticed():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)  # noqa: ASYNC220
    waiting = asyncio.create_task(wait_pid(process.pid))
    await asyncio.sleep(0)
    assert not waiting.done()
    process.stdin.close()
    await asyncio.wait_for(waiting, PATIENCE)
    process.wait()
    await asyncio.wait_for(wait_pid(process.pid), PATIENCE)


async def test_a_line_is_dialled_accepted_and_ends():
    lines = asyncio.Queue()
    listener = Listener(lines.put_nowait)
    await listener.open()
    ours = await dial(listener.host, listener.port, PATIENCE)
    theirs = await lines.get()
    got, ended = asyncio.Queue(), asyncio.Queue()
    ours.write(b"early")
    theirs.listen(got.put_nowait, ended.put_nowait)
    assert await asyncio.wait_for(got.get(), PATIENCE) == b"early"
    ours.close()
    await asyncio.wait_for(ended.get(), PATIENCE)
    listener.close()
    with pytest.raises(LaunchFailed, match="nothing answers"):
        await dial(listener.host, listener.port, PATIENCE)


async def test_a_unix_socket_is_a_line_too(tmp_path):
    server = await asyncio.start_unix_server(
        lambda reader, writer: (writer.write(b"hi"), writer.close()), str(tmp_path / "s")
    )
    line = await dial_unix(str(tmp_path / "s"), PATIENCE)
    got = asyncio.Queue()
    line.listen(got.put_nowait, lambda _reason: got.put_nowait(None))
    assert await asyncio.wait_for(got.get(), PATIENCE) == b"hi"
    line.close()
    server.close()
    await server.wait_closed()


# The guardian

HOST = """
import asyncio, os, sys
from stillframe.transport.process import spawn
code = '''
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(100)
'''
async def main():
    def told(stream, data):
        print(guarded.pid, data.decode(), flush=True)
    guarded = spawn([sys.executable, "-c", code], cwd=".", env=dict(os.environ), on_output=told)
    await asyncio.sleep(100)
asyncio.run(main())
"""


async def test_what_was_launched_dies_with_its_host_even_by_sigkill():
    source = str(Path(stillframe.__file__).parent.parent)
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
    )
    line = await asyncio.wait_for(host.stdout.readline(), PATIENCE)
    pids = [int(word) for word in line.split()]
    assert len(pids) == 2 and all(map(alive, pids))
    host.send_signal(signal.SIGKILL)
    await host.wait()
    for pid in pids:
        await asyncio.wait_for(wait_pid(pid), PATIENCE)


GENTLY = """
import asyncio, os, sys
from stillframe.transport.process import spawn
stays = '''
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: open(sys.argv[1], "w").write("asked") and sys.exit())
print(1, flush=True)
signal.pause()
'''
leaves = '''
import sys, time
print(1, flush=True)
sys.stdin.read()
time.sleep(0.3)
open(sys.argv[1], "w").write("by itself")
'''
async def main():
    def told(stream, data):
        print(*(each.pid for each in started), flush=True)
    started = []
    for code, file in ((stays, "stays"), (leaves, "leaves")):
        words = [sys.executable, "-S", "-c", code, file]
        started.append(spawn(words, cwd=".", env=dict(os.environ), on_output=told, gently=True, stdin="-"))
    await asyncio.sleep(100)
asyncio.run(main())
"""


@pytest.mark.long
async def test_a_debugger_of_what_lives_on_may_leave_by_itself_and_is_then_asked_to(tmp_path):
    source = str(Path(stillframe.__file__).parent.parent)
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", GENTLY, stdout=subprocess.PIPE, cwd=tmp_path, env={**os.environ, "PYTHONPATH": source}
    )
    lines = [await asyncio.wait_for(host.stdout.readline(), PATIENCE) for _ in "ab"]
    host.send_signal(signal.SIGKILL)
    await host.wait()
    for pid in map(int, lines[1].split()):
        await asyncio.wait_for(wait_pid(pid), PATIENCE)
    assert [(tmp_path / name).read_text() for name in ("leaves", "stays")] == ["by itself", "asked"]


async def test_the_guardian_starts_late_comes_back_and_ends_with_its_host():
    GUARDIAN.close()  # of an earlier test
    assert GUARDIAN.pid is None
    run = Run("input()", stdin="-")
    first = GUARDIAN.pid
    assert first is not None and alive(first)
    os.kill(first, signal.SIGKILL)
    await wait_pid(first)
    other = Run("pass")
    await other.exit()
    second = GUARDIAN.pid
    assert second != first and alive(second)
    GUARDIAN.close()
    # It ends what was still on its list, the one that the first guardian was told of included.
    assert (await run.exit()).signal == "SIGKILL"
    assert not alive(second)
    run.process.close()
    other.process.close()


async def test_a_killed_guardian_is_reaped_and_replaced_at_once_by_one_that_knows_everything():
    """Nothing is spawned or ended meanwhile: the host itself looks out for its guardian."""
    runs = [Run("input()", stdin="-") for _ in "ab"]
    first = GUARDIAN.pid
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        while GUARDIAN.pid == first:
            await wait_pid(first)
    assert not psutil.pid_exists(first), "it must not stay as a zombie"
    os.kill(GUARDIAN.pid, signal.SIGKILL)  # the one in its place is looked out for just so
    second = GUARDIAN.pid
    async with asyncio.timeout(PATIENCE):
        while GUARDIAN.pid == second:
            await wait_pid(second)
    GUARDIAN.close()
    assert [(await run.exit()).signal for run in runs] == ["SIGKILL", "SIGKILL"]
    for run in runs:
        run.process.close()


async def test_nothing_is_left_running_or_lying_where_no_guardian_can_be_started(monkeypatch, tmp_path):
    GUARDIAN.close()
    sleep = shutil.which("sleep")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(LaunchFailed, match="cannot start the guardian, which ends programs when we die: No such file"):
        spawn([sleep, "100"], cwd="/", env={}, on_output=lambda stream, data: None)
    assert [each for each in psutil.Process().children() if each.name() == "sleep"] == []
    with pytest.raises(LaunchFailed, match="cannot start the guardian"):
        private_folder()
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(LaunchFailed, match="cannot make a folder for its files: No such file"):
        private_folder()
    monkeypatch.undo()
    run = Run("pass")
    assert await run.exit() == Exit(0)
    run.process.close()


async def test_children_of_a_program_that_ended_stay_guarded_until_we_let_go_of_it():
    run = Run("import subprocess; print(subprocess.Popen(['sleep', '100']).pid, flush=True)")
    assert await run.exit() == Exit(0)
    child = int(run.out["stdout"])
    assert alive(child)
    GUARDIAN.close()
    await asyncio.wait_for(wait_pid(child), PATIENCE)
    run.process.close()


def test_a_start_time_tells_one_process_from_the_next_of_the_same_number():
    assert start_time(os.getpid()) == start_time(os.getpid())
    assert start_time(2**22 + 1) is None


async def test_a_folder_of_ours_that_outlives_a_test_is_found_by_its_guard(guard: Guard) -> None:
    (guard.temporary / "the-programs-own").mkdir()
    folder = private_folder()
    assert guard.litter() == [f"temporary tmp/{Path(folder).name}"]
    remove_folder(folder)
    assert guard.litter() == []
