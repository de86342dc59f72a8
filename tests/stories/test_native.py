"""Native programs under gdb: built from their sources, stopped where they fail, joined, let go, and told as they are."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB
from stillframe.errors import (
    AdapterMissing,
    Busy,
    EvalFailed,
    LaunchFailed,
    NotFound,
    Unsupported,
    UsageError,
    WrongState,
)
from stillframe.model.outcomes import AnyOutcome, Exited, Lost, Stop
from stillframe.render.reports import crash as rendered
from stillframe.session.reporting import DEEP, OUTER

from ..guard import gone

LANGUAGES = Path(__file__).resolve().parents[1] / "languages"
SOURCE = LANGUAGES / "c" / "native.c"


@pytest.fixture(autouse=True)
def gdb() -> str:
    found = find(GDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("gdb is not installed, or has no debug adapter")
    return found.path


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("native") / "native"
    subprocess.run(["cc", "-g", "-O0", "-pthread", str(SOURCE), "-o", str(made)], check=True)
    return made


@pytest.fixture
async def dbg(tmp_path: Path) -> AsyncIterator[stillframe.Debugger]:
    async with stillframe.Debugger(cwd=str(tmp_path)) as debugger:
        yield debugger


@pytest.fixture
def waiting(binary: Path) -> Iterator[psutil.Process]:
    """A program that nobody debugs, and that runs until it is ended."""
    process = subprocess.Popen([str(binary), "wait"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    yield psutil.Process(process.pid)
    process.kill()
    process.wait(60)  # a debugger that a failed test leaves holds it beyond its end


def mark(name: str) -> int:
    (found,) = [at for at, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith(name)]
    return found


def stopped(outcome: AnyOutcome) -> Stop:
    assert isinstance(outcome, Stop), outcome
    return outcome


def exited(outcome: AnyOutcome) -> Exited:
    assert isinstance(outcome, Exited), outcome
    return outcome


# Built and run


@pytest.mark.long
async def test_a_program_gets_its_arguments_and_its_environment_exactly_and_its_streams_stay_apart(
    dbg: stillframe.Debugger, binary: Path
) -> None:
    words = ("a b", "it's", "*", '"', "$HOME", "new\nline", "", "\\", "ü")
    end = exited(await dbg.launch(str(SOURCE), "args", *words))
    assert (end.output, end.stderr, end.exit_code) == ("".join(f"[{each}]" for each in words), "to stderr\n", 3)
    assert exited(await dbg.launch(str(binary), "env")).exit_code == 0
    whole = (
        await dbg.output(limit=100_000)
    ).stdout  # a reply has the newest part of it, and an environment may be large
    told = {each.partition("=")[0] for each in whole.split("\0") if each}
    assert told - {"STILLFRAME_MARK"} == set(os.environ)


async def test_a_source_is_built_again_only_when_something_that_it_is_made_of_changed(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "number.h").write_text("#define NUMBER 3\n")
    (tmp_path / "main.c").write_text('#include "number.h"\nint main(void) { return NUMBER; }\n')
    assert exited(await dbg.launch("main.c")).exit_code == 3
    (tmp_path / "number.h").write_text("#define NUMBER 14\n")
    assert exited(await dbg.launch("main.c")).exit_code == 14


@pytest.mark.skipif(not shutil.which("make") and os.environ.get("STILLFRAME_ALL") != "1", reason="no make here")
async def test_what_makes_the_program_runs_first_and_again_before_a_restart(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "Makefile").write_text("made: made.c\n\tcc -g made.c -o made\n")
    (tmp_path / "made.c").write_text("int main(void) { return 3; }\n")
    with pytest.raises(LaunchFailed, match=r"no such file: .*made; to make it first: --build 'make made'"):
        await dbg.launch("./made")
    with pytest.raises(LaunchFailed, match=r"(?s)'echo \$MORE; cc -g no.c' failed with exit code 1:\nwords\n.*no\.c"):
        await dbg.launch("./made", build="echo $MORE; cc -g no.c", env=["MORE=words"])
    end = exited(await dbg.launch("./made", build="echo making && make made"))
    assert (end.exit_code, end.output) == (3, "")
    (note,) = end.notes
    assert note.startswith("built by 'echo making && make made' in ")
    assert (await dbg.output(kind="console")).console == "making\ncc -g made.c -o made\n"
    (tmp_path / "made.c").write_text("int main(void) { return 14; }\n")
    assert exited(await dbg.restart()).exit_code == 14


@pytest.mark.skipif(not shutil.which("cmake") and os.environ.get("STILLFRAME_ALL") != "1", reason="no cmake here")
async def test_a_target_of_cmake_is_made_as_the_refusal_says_and_debugged(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(made C)\nadd_executable(made made.c)\n"
    )
    (tmp_path / "made.c").write_text("int main(void) {\n  int seven = 7;\n  return seven;\n}\n")
    with pytest.raises(LaunchFailed, match="no such file: ") as refused:
        await dbg.launch("build/made")
    line = str(refused.value).partition("to make it first: --build ")[2].strip("'")
    stop = stopped(await dbg.launch("build/made", build=line, breaks=["made.c:3"]))
    assert (stop.frame and stop.frame.line, stop.local("seven")) == (3, "7")
    assert exited(await dbg.continue_()).exit_code == 7


async def test_what_others_print_while_the_program_is_held_can_be_read(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    line = "while [ ! -e go ]; do sleep 0.05; done; echo of a child"
    (tmp_path / "held.c").write_text(
        f'#include <stdlib.h>\nint main(void) {{\n    system("({line}) &");\n    return 0;\n}}\n'
    )
    stopped(await dbg.launch("held.c", breaks=["held.c:4"]))
    (tmp_path / "go").touch()
    assert (await dbg.output(since="0.0.0.0", kind="stdout", wait=True)).stdout == "of a child\n"
    assert (await dbg.status()).state == "stopped"


async def test_what_cannot_be_run_says_why(dbg: stillframe.Debugger, tmp_path: Path, binary: Path) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(LaunchFailed, match=r"(?s)failed:.*bad\.c:1:25: error: .nothing. undeclared"):
        await dbg.launch("bad.c")
    (tmp_path / "bad.cpp").write_text("int main() { return nothing; }\n")
    with pytest.raises(LaunchFailed, match=r"(?s)failed:.*bad\.cpp:1:21: error: .nothing. was not declared"):
        await dbg.launch("bad.cpp")
    if shutil.which("rustc") is not None:
        (tmp_path / "bad.rs").write_text("fn main() { nothing(); }\n")
        with pytest.raises(LaunchFailed, match=r"(?s)rustc failed:\nerror\[E0425\].*bad\.rs:1:13"):
            await dbg.launch("bad.rs")
    with pytest.raises(LaunchFailed, match="no such file"):
        await dbg.launch("missing.c")
    shutil.copy(binary, tmp_path / "unmarked").chmod(0o644)
    with pytest.raises(LaunchFailed, match="not executable"):
        await dbg.launch("./unmarked")
    made_for_another_machine(binary, tmp_path / "foreign")
    with pytest.raises(LaunchFailed, match="a program for s390x"):
        await dbg.launch("./foreign")


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
async def test_a_program_of_another_language_is_never_given_to_gdb_where_its_own_debugger_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gdb: str
) -> None:
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    run("go", "build", "-ldflags=-s -w", "-o", "made", "main.go", cwd=tmp_path)
    (tmp_path / "app.rb").write_text("puts 1\n")
    (tmp_path / "script").write_text("#!/usr/bin/env ruby\nputs 1\n")
    (tmp_path / "app.js").write_text("1\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gdb").write_text(f'#!/bin/sh\nexec "{gdb}" "$@"\n')
    (tmp_path / "bin" / "gdb").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("STILLFRAME_TOOLS", str(tmp_path / "none"))
    delve = "dlv is not installed: go install github.com/go-delve/delve/cmd/dlv@latest"
    ruby, node = "no ruby on PATH: apt install ruby", "no node on PATH: apt install nodejs"
    lines = {"./made": delve, "main.go": delve, "app.rb": ruby, "script": ruby, "app.js": node}
    commands = {"./made": delve, "go run main.go": delve, "ruby app.rb": ruby, "node app.js": node}
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        for program, line in lines.items():
            with pytest.raises(AdapterMissing) as missing:
                await dbg.launch(program)
            assert (missing.value.message, missing.value.hint and missing.value.hint.op) == (line, "setup"), program
        for command, line in commands.items():
            with pytest.raises(AdapterMissing) as missing:
                await dbg.launch(command=tuple(command.split()))
            assert missing.value.message == line, command


def made_for_another_machine(program: Path, copy: Path) -> None:
    head = bytearray(program.read_bytes())
    struct.pack_into("<H", head, 18, 22)
    copy.write_bytes(head)
    copy.chmod(0o755)


def run(*words: str, cwd: Path) -> None:
    subprocess.run(words, cwd=cwd, check=True, capture_output=True)


@pytest.mark.long
async def test_a_program_without_debug_information_and_a_source_that_is_newer_are_said_to_be_so(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "small.c").write_text("int main(void) {\n    return 5;\n}\n")
    run("cc", "-g", "small.c", "-o", "small", cwd=tmp_path)
    run("strip", "small", "-o", "bare", cwd=tmp_path)
    end = exited(await dbg.launch("./bare", breaks=["small.c:2"]))
    assert end.exit_code == 5
    assert [each.state for each in end.never_hit] == ["pending"]
    assert any("no debug information" in note for note in end.notes)
    run("objcopy", "--only-keep-debug", "small", "small.debug", cwd=tmp_path)
    run("objcopy", "--add-gnu-debuglink=small.debug", "bare", "linked", cwd=tmp_path)
    stop = stopped(await dbg.launch("./linked", breaks=["small.c:2"]))
    assert not stop.notes, "it is in a file of its own"
    await dbg.stop()
    future = (tmp_path / "small").stat().st_mtime + 10
    os.utime(tmp_path / "small.c", (future, future))
    stop = stopped(await dbg.launch("./small", breaks=["main"]))
    assert any("small.c is newer than small" in note for note in stop.notes)


def _installed(adapter: Any) -> Any:
    there = find(adapter.needs[0], os.environ, ".").path is not None
    return pytest.param(adapter.name, marks=pytest.mark.skipif(not there, reason=f"{adapter.name} is not installed"))


by_each = pytest.mark.parametrize("kind", [_installed(GDB), _installed(LLDB)])


TWICE = """
#include <cstdio>
int twice(int n) {
    return n * 2;
}
double twice(double n) {
    return n * 2;
}
int once(int n) {
    return n;
}
int main() {
    for (int i = 0; i < 3; i++)
        once(i);
    return twice(1) + (int) twice(0.5) - 3;
}
"""


@pytest.mark.long
@by_each
async def test_a_log_point_of_a_function_prints_at_each_call_and_never_holds_the_program(
    dbg: stillframe.Debugger, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "twice.cpp").write_text(TWICE.lstrip("\n"))
    stopped(await dbg.launch("twice.cpp", breaks=["main"], adapter=kind))
    made = await dbg.break_("once", log="n is {n}")
    assert (made.state, made.actual and made.actual.line) == ("bound", 9)
    several = await dbg.break_("twice", log="{n}")
    if kind == "lldb":
        assert (several.state, "name a line of twice" in (several.message or "")) == ("failed", True)
    await dbg.unbreak(several.id)
    end = exited(await dbg.continue_())
    assert (end.exit_code, end.log.splitlines()) == (0, ["n is 0", "n is 1", "n is 2"])


@pytest.mark.long
@by_each
async def test_a_program_without_any_names_is_held_before_its_main_and_there(
    dbg: stillframe.Debugger, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "small.c").write_text("int main(void) {\n    return 5;\n}\n")
    run("cc", "-g", "small.c", "-o", "small", cwd=tmp_path)
    run("strip", "small", "-o", "bare", cwd=tmp_path)
    stop = stopped(await dbg.launch("./bare", stop_on_entry=True, adapter=kind))
    assert stop.reason == "entry"
    assert any("is given main's address" in note for note in stop.notes)
    assert [each for each in stop.notes if each.startswith("bare has no debug information: build it with -g")]
    (given,) = (await dbg.registers("rdi")).values
    address = given.value.split()[0]
    made = await dbg.break_insn(address)
    assert stopped(await dbg.continue_()).breakpoints == (made.id,)
    first, second = (await dbg.disasm(count=2)).instructions
    assert int(first.address, 0) == int(address, 0)
    made = await dbg.break_insn(first.address, offset=int(second.address, 0) - int(first.address, 0))
    assert (made.state, stopped(await dbg.continue_()).breakpoints) == ("bound", (made.id,))
    assert (await dbg.disasm(count=1)).instructions[0].address == second.address
    assert exited(await dbg.continue_()).exit_code == 5
    process = await asyncio.create_subprocess_exec("sleep", "1000")
    try:
        joined = await dbg.attach(pid=process.pid, adapter=kind, timeout=0)
        assert any("has no debug information: build it with -g" in note for note in joined.notes)
        assert (await dbg.stop()).action == "detached"
    finally:
        process.kill()
        await process.wait()


async def test_the_outermost_call_cannot_be_finished_and_the_refusal_names_what_goes_on(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "one.c").write_text("int main(void) {\n    int n = 3;\n    n += 1;\n    return n;\n}\n")
    stopped(await dbg.launch("one.c", breaks=["one.c:3"], adapter="gdb"))
    with pytest.raises(WrongState, match="no call of the program made this one") as refused:
        await dbg.finish()
    assert refused.value.hint is not None and refused.value.hint.op == "continue"
    stop = stopped(await dbg.next())
    assert (stop.frame and stop.frame.line, stop.local("n")) == (4, "4"), "it is held as before"
    assert exited(await dbg.continue_()).exit_code == 4


async def test_a_program_reads_what_input_gives_it(dbg: stillframe.Debugger, binary: Path) -> None:
    await dbg.launch(str(binary), "echo", stdin="-", timeout=0)
    await dbg.input("two\nlines")
    await dbg.input(eof=True)
    assert exited(await dbg.wait()).output == "two\nlines\n"


# Stopped and looked into


async def test_structs_texts_arrays_and_pointers_are_told_and_expanded(dbg: stillframe.Debugger, binary: Path) -> None:
    stop = stopped(await dbg.launch(str(binary), "look", breaks=[f"{SOURCE}:{mark('@look')}"]))
    told = {each.name: each for each in stop.locals}
    assert told["last"].value == '{name = "plum", qty = 3, next = 0x0}'
    assert told["table"].value == "{{1, 2, 3}, {4, 5, 6}}"
    assert told["word"].value == '"hello"'
    assert "not readable" in told["nowhere"].value
    assert "later" not in told, "it has no value before its line has run"
    pointer, broken = (await dbg.eval("first.next", "*nowhere")).values
    assert pointer.value.endswith('{name = "plum", qty = 3, next = 0x0}')
    assert broken.error
    assert pointer.ref is not None
    parts = await dbg.expand(pointer.ref)
    assert [(each.name, each.value) for each in parts.values] == [("name", '"plum"'), ("qty", "3"), ("next", "0x0")]
    (called,) = (await dbg.eval("twice(21)")).values
    assert called.value == "42"
    assert stopped(await dbg.state()).frame == stop.frame, "a call of ours is no stop of the program's"
    with pytest.raises(EvalFailed, match="timed out"):
        await dbg.eval("forever()", timeout=1)
    failed = await dbg.break_("twice", condition="no_such_name == 1")
    assert (failed.state, "no_such_name" in (failed.message or "")) == ("failed", True)
    await dbg.break_(f"{SOURCE}:{mark('@look') + 1}", condition="first.next->next->qty == 1")
    doubtful = stopped(await dbg.continue_())
    assert (doubtful.hit, [note for note in doubtful.notes if "raised Cannot access memory" in note] != []) == (
        None,
        True,
    )
    end = await dbg.stop()
    assert (end.action, end.exit_code) == ("terminated", None), "gdb 18.1 says 0 of what it killed"


@pytest.mark.long
async def test_a_fatal_signal_stops_with_its_address_and_is_how_the_program_ends(
    dbg: stillframe.Debugger, binary: Path, tmp_path: Path
) -> None:
    stop = stopped(await dbg.launch(str(binary), "crash"))
    assert stop.exception is not None
    assert (stop.reason, stop.exception.type, stop.exception.mode) == ("exception", "SIGSEGV", "uncaught")
    assert "0x8" in stop.exception.message
    assert (stop.frame.line if stop.frame else 0) == mark("@crash")
    end = exited(await dbg.continue_())
    assert (end.signal, end.exit_code) == ("SIGSEGV", None)
    end = exited(await dbg.launch(str(binary), "crash", catch=("off",)))
    assert (end.signal, end.exit_code) == ("SIGSEGV", None)
    end = exited(await dbg.launch(str(binary), "handled"))
    assert end.exit_code == signal.SIGUSR1, "a signal that the program handles stops nobody"
    (tmp_path / "half.c").write_text("#include <assert.h>\nint main(int n) { assert(n % 2 == 0); return n / 2; }\n")
    with pytest.raises(LaunchFailed, match=r"not executable: it runs without the `--` before it, as in: half\.c -- 2"):
        await dbg.crash(command=("./half.c", "2"))
    failure = (await dbg.crash("half.c")).failure
    assert failure is not None and failure.what == "SIGABRT: assertion failed: n % 2 == 0"


async def test_what_crash_holds_has_no_breakpoints_of_ours(dbg: stillframe.Debugger, tmp_path: Path) -> None:
    (tmp_path / "half.c").write_text("int main(void) {\n    int *none = 0;\n    return *none;\n}\n")
    report = await dbg.crash("half.c", hold=True)
    assert report.held is not None
    assert (await dbg.breaks()).breakpoints == ()
    end = await dbg.continue_()
    assert isinstance(end, Exited) and (end.signal, end.never_hit) == ("SIGSEGV", ())


@pytest.mark.long
@pytest.mark.parametrize(("ending", "adapter"), [("c", "gdb"), ("c", "lldb"), ("rs", "gdb")])
async def test_a_stack_that_overflows_is_called_so_and_its_calls_are_not_told_as_all_that_there_were(
    dbg: stillframe.Debugger, tmp_path: Path, ending: str, adapter: str
) -> None:
    if adapter == "lldb" and find(LLDB.needs[0], os.environ, ".").path is None:
        pytest.skip("lldb-dap is not installed")
    if ending == "rs" and shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (tmp_path / "deep.c").write_text(
        "int down(int n) { return 1 + down(n + 1); }\nint main(void) { return down(0); }\n"
    )
    (tmp_path / "deep.rs").write_text(
        'fn down(n: u64) -> u64 { let all = [n; 100]; down(n + 1) + all[5] }\nfn main() { println!("{}", down(0)); }\n'
    )
    report = await dbg.crash(f"deep.{ending}", adapter=adapter)
    assert report.failure is not None
    assert report.failure.what.startswith("SIGSEGV: stack overflow, invalid memory access at address 0x")
    stack, told = report.failure.stack, rendered(report, 4000)
    assert "down deep" in told and f" x {DEEP - 1}" in told
    count = sum(each.times for each in stack.frames)
    if stack.goes_on:
        assert count == DEEP and "further calls, too many to be counted" in told
    else:  # they could be counted in the time for that: then the outermost are told as well
        assert count == DEEP + OUTER and (stack.total or 0) > 1000 and "too many" not in told


THROWS = """\
#include <stdexcept>
int check(int n) {
    if (n > 1) throw std::runtime_error("bad");
    return n;
}
int main() {
    try { check(2); } catch (const std::exception &) {}
    return check(0);
}
"""


async def test_a_step_that_an_exception_takes_into_another_call_changes_nothing_there(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "throws.cpp").write_text(THROWS)
    assert stopped(await dbg.launch("throws.cpp", breaks=["throws.cpp:3"], adapter="gdb")).local("n") == "2"
    again = stopped(await dbg.next())
    assert (again.frame and again.frame.line, again.local("n"), again.same_frame) == (3, "0", False)
    assert [each.changes for each in again.trail] == [()]
    await dbg.stop()
    report = await dbg.trace("check")  # of what was last run
    assert report.life is not None and (report.life.end, report.life.at, report.life.lines) == ("left", 3, 1)


async def test_a_step_over_a_call_that_never_returns_can_be_paused(dbg: stillframe.Debugger, binary: Path) -> None:
    await dbg.launch(str(binary), "forever", breaks=[f"{SOURCE}:{mark('@forever')}"])
    await dbg.next(timeout=0)
    stop = stopped(await dbg.pause(timeout=30))
    # it may be found before it has made the call
    assert (stop.reason, stop.frame and stop.frame.function in ("main", "forever")) == ("pause", True)
    assert (await dbg.stop()).action == "terminated"


@pytest.mark.long
async def test_many_threads_a_fork_and_much_output(dbg: stillframe.Debugger, binary: Path) -> None:
    stop = stopped(await dbg.launch(str(binary), "many", breaks=["twice"]))
    assert stop.local("number") == "4"
    assert len((await dbg.threads(count=500)).threads) == 201
    await dbg.stop()
    stop = stopped(await dbg.launch(str(binary), "fork", breaks=["twice"]))
    assert (stop.local("number"), stop.output) == ("2", "child 2\n"), "the child runs on by itself"
    assert [each.partition(": ")[2] for each in stop.notes if each.startswith("the program forked process ")] == [
        "gdb holds one process, and those that are forked run without it; dbg attach --pid N joins one"
    ]
    assert exited(await dbg.continue_()).exit_code == 7
    end = exited(await dbg.launch(str(binary), "output"))
    assert len(end.output) + end.dropped == 50_000 * 100


async def test_a_program_that_detached_itself_is_told_of_and_ended_when_asked(
    dbg: stillframe.Debugger, binary: Path
) -> None:
    assert exited(await dbg.launch(str(binary), "daemon")).exit_code == 0
    (left,) = (await dbg.stop()).left
    process = psutil.Process(left)
    assert process.cmdline()[1:] == ["daemon"]
    assert (await dbg.stop(tree=True)).left == ()
    assert gone(process)


# Joined and let go


async def test_a_running_program_is_joined_looked_into_and_runs_on(
    dbg: stillframe.Debugger, waiting: psutil.Process, gdb: str
) -> None:
    stop = stopped(await dbg.attach(pid=waiting.pid, breaks=["twice"]))
    assert stop.frame is not None
    assert stop.frame.function == "twice"
    with pytest.raises(Busy, match=r"debugged here already, as session pid-\d+"):
        await dbg.attach(pid=waiting.pid, name="again")
    await dbg.continue_(timeout=0)
    assert (await dbg.stop()).action == "detached"
    assert (waiting.is_running(), tracer(waiting.pid)) == (True, 0)
    with pytest.raises(NotFound):
        await dbg.attach(pid=2**22 + 1, adapter="gdb")


@pytest.mark.long
@by_each
async def test_the_next_program_of_a_name_is_joined(
    dbg: stillframe.Debugger, binary: Path, tmp_path: Path, kind: str
) -> None:
    late = Path(shutil.copy(binary, tmp_path / f"late{os.getpid()}"))
    begun: list[asyncio.subprocess.Process] = []

    async def joined(**how: Any) -> Any:
        joining = asyncio.create_task(dbg.attach(wait_for=late.name, adapter=kind, **how))
        while not joining.done():  # the first one may have been there before anybody looked
            begun.append(await asyncio.create_subprocess_exec(str(late), "wait", stdout=asyncio.subprocess.DEVNULL))
            await asyncio.wait({joining}, timeout=5)
        return await joining

    try:
        stop = stopped(await joined(breaks=["twice"]))
        assert stop.frame is not None and stop.frame.function == "twice"
        pid = (await dbg.status()).pid
        assert pid in [each.pid for each in begun]
        assert (await dbg.stop()).action == "detached"
        assert (psutil.pid_exists(pid), tracer(pid)) == (True, 0)
        # The time is for the program to come up in: where no stop is wanted, none is waited for.
        async with asyncio.timeout(300):
            assert isinstance(await joined(timeout=3000), stillframe.Running)
        assert (await dbg.stop()).action == "detached"
    finally:
        for each in begun:
            each.kill()
            await each.wait()


async def test_a_launched_program_can_be_let_go(dbg: stillframe.Debugger, binary: Path) -> None:
    await dbg.launch(str(binary), "wait", breaks=["twice"])
    pid = (await dbg.status()).pid
    assert pid is not None
    program = psutil.Process(pid)
    assert (await dbg.detach()).action == "detached"
    assert (program.is_running(), tracer(pid)) == (True, 0)
    program.kill()
    await asyncio.to_thread(program.wait, 30)


async def test_a_core_is_looked_at_and_does_not_move(
    dbg: stillframe.Debugger, binary: Path, tmp_path: Path, gdb: str
) -> None:
    quiet = ("-q", "-nx", "-batch", "-iex", "set debuginfod enabled off")
    run(gdb, *quiet, "-ex", "run crash", "-ex", "generate-core-file left.core", str(binary), cwd=tmp_path)
    stop = stopped(await dbg.attach(core="left.core", program=str(binary)))
    assert stop.exception is not None
    assert stop.exception.type == "SIGSEGV"
    assert (await dbg.eval("argc")).values[0].value == "2"
    assert [each.value for each in (await dbg.locals()).values if each.name == "argc"] == ["2"]
    for moving in (dbg.continue_(), dbg.next()):
        with pytest.raises(WrongState, match="core"):
            await moving
    assert (await dbg.stop()).action == "terminated"
    with pytest.raises(LaunchFailed, match="is no core"):
        await dbg.attach(core=str(binary))


@pytest.mark.long
async def test_a_core_tells_whose_it_is_and_is_not_read_with_another_program(
    dbg: stillframe.Debugger, binary: Path, tmp_path: Path, gdb: str
) -> None:
    mine = shutil.copy2(binary, tmp_path / "mine")
    quiet = ("-q", "-nx", "-batch", "-iex", "set debuginfod enabled off")
    run(gdb, *quiet, "-ex", "run crash", "-ex", "generate-core-file left.core", str(mine), cwd=tmp_path)
    stop = stopped(await dbg.attach(core="left.core"))
    assert (stop.frame.line if stop.frame else 0) == mark("@crash"), "found without --program"
    await dbg.stop()
    with pytest.raises(LaunchFailed, match=rf"left\.core was left by {mine}, of which /.*/true is no copy"):
        await dbg.attach(core="left.core", program=shutil.which("true"))
    moved = shutil.move(mine, tmp_path / "moved")
    stop = stopped(await dbg.attach(core="left.core"))
    assert f"{mine}, which left it, is not there as it was: --program FILE names a copy" in stop.notes
    await dbg.stop()
    stop = stopped(await dbg.attach(core="left.core", program=str(moved)))
    assert (stop.frame.line if stop.frame else 0) == mark("@crash")


@pytest.mark.long
async def test_a_program_behind_gdbserver_is_joined(
    dbg: stillframe.Debugger, binary: Path, gdb: str, tmp_path: Path
) -> None:
    server = Path(gdb).with_name("gdbserver")
    if not server.exists():
        pytest.skip("no gdbserver beside gdb")
    with serving(server, "--once", "127.0.0.1:0", str(binary), "args") as process:
        stop = stopped(await dbg.attach(place_of(process), breaks=["main"]))
        assert stop.local("argc") == "2"
        assert exited(await dbg.continue_()).exit_code == 3
    with serving(server, "--once", "127.0.0.1:0", str(binary), "forever") as process:
        place = place_of(process)
        with pytest.raises(Unsupported, match="lldb loses its place in a program behind gdbserver: join it with gdb"):
            await dbg.attach(place, adapter="lldb")
        assert isinstance(await dbg.attach(place, timeout=0.5), stillframe.Running)
        assert (await dbg.break_("twice")).state == "bound", "while it runs"
        assert stopped(await dbg.pause()).reason == "pause"
        (program,) = psutil.Process(process.pid).children()
        await dbg.stop()
        program.kill()
        process.kill()
    with serving(server, "--once", "--multi", "127.0.0.1:0") as process:
        place = place_of(process)
        with pytest.raises(UsageError, match="--program"):
            await dbg.attach(place)
        stop = stopped(await dbg.attach(place, program=str(binary), breaks=["main"]))
        assert stop.local("argc") == "1", "it has started what was named"
        assert isinstance(await dbg.continue_(), stillframe.Exited)


def serving(server: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([str(server), *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def place_of(server: subprocess.Popen[str]) -> str:
    assert server.stderr is not None
    port = next(line.split()[-1] for line in server.stderr if line.startswith("Listening on port"))
    return f"127.0.0.1:{port}"


def tracer(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("TracerPid")))


# A debugger that fails


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
async def test_a_debugger_that_fails_takes_its_program_along(
    dbg: stillframe.Debugger, binary: Path, how: signal.Signals
) -> None:
    await dbg.launch(str(binary), "wait", breaks=["twice"])
    pid = (await dbg.status()).pid
    assert pid is not None
    program = psutil.Process(pid)
    debugger = program.parent()
    assert debugger is not None
    debugger.send_signal(how)
    if how is signal.SIGKILL:
        async with asyncio.timeout(60):
            while not isinstance(await dbg.state(), Lost):
                await asyncio.to_thread(psutil.wait_procs, [debugger], timeout=1)
    else:
        assert (await dbg.stop()).action == "terminated"
    await asyncio.to_thread(psutil.wait_procs, [program, debugger], timeout=30)
    assert gone(program)
    assert gone(debugger)


# Projects


@pytest.mark.long
async def test_a_cargo_project_is_built_and_run_by_its_directory_a_command_or_a_test(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    (tmp_path / "src").mkdir()
    package = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'
    bare = '[profile.release]\nstrip = "debuginfo"\n'  # as cargo has it since 1.77
    (tmp_path / "Cargo.toml").write_text(package + bare)
    (tmp_path / "src" / "main.rs").write_text(
        "fn double(n: usize) -> usize {\n    n * 2\n}\nfn main() {\n    println!(\"{}\", double(std::env::args().count()));\n}\n"
        "#[test]\nfn doubles() {\n    assert_eq!(double(2), 5);\n}\n"
    )  # fmt: skip
    command = ("cargo", "run", "-q", "--", "x")
    for start in (dbg.launch(".", "x", breaks=["double"]), dbg.launch(command=command, breaks=["double"])):
        stop = stopped(await start)
        assert (stop.frame.function if stop.frame else "", stop.local("n")) == ("small::double", "2")
        assert exited(await dbg.continue_()).output == "4\n"
    stop = stopped(await dbg.launch(command=("cargo", "test", "doubles")))
    assert stop.exception is not None
    assert (stop.exception.type, stop.frame.line if stop.frame else 0) == ("panic", 9)
    await dbg.stop()
    end = exited(await dbg.launch(command=("cargo", "run", "-q", "--release")))
    assert any("small has no debug information" in note and "debug = true" in note for note in end.notes)
    (tmp_path / "src" / "main.rs").write_text("fn main() {\n    nothing();\n}\n")
    for start in (dbg.launch("src"), dbg.launch(command=command)):
        with pytest.raises(LaunchFailed, match=r"(?s)cargo failed:.*error\[E0425\].*src/main\.rs:2:5"):
            await start


@pytest.mark.long
async def test_a_file_of_a_cargo_project_runs_the_program_that_it_is_a_source_of_and_a_stray_one_itself(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    for folder in ("src/bin", "examples", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\ndefault-run = "second"\n'
    )
    says = 'fn main() {{\n    println!("{}");\n}}\n'
    files = {"src/main.rs": "first", "src/bin/second.rs": "second", "examples/shown.rs": "shown", "stray.rs": "stray"}
    for name, text in files.items():
        (tmp_path / name).write_text(says.format(text))
    (tmp_path / "src" / "main.rs").write_text("mod part;\n" + says.format("first"))
    (tmp_path / "src" / "part.rs").write_text("")
    (tmp_path / "src" / "lost.rs").write_text("pub fn lost() {}\n")
    (tmp_path / "tests" / "it.rs").write_text('#[test]\nfn holds() {\n    println!("it");\n}\n')
    for name, text in {**files, "src/part.rs": "first"}.items():
        assert exited(await dbg.launch(name)).output == f"{text}\n", name
    assert exited(await dbg.launch(command=("cargo", "run", "-q"))).output == "second\n"
    assert "it" in exited(await dbg.launch("tests/it.rs", "--nocapture")).output.splitlines()
    with pytest.raises(stillframe.StillframeError, match=r"lost\.rs is part of no program that cargo builds here"):
        await dbg.launch("src/lost.rs")


GENERIC = """\
mod deep {
    pub struct Stack<T> { pub items: Vec<T> }
    impl<T> Stack<T> {
        pub fn push(&mut self, x: T) -> usize {
            self.items.push(x);
            self.items.len()
        }
    }
    pub fn largest<T: PartialOrd + Copy>(xs: &[T]) -> T {
        let mut best = xs[0];
        for &x in xs { if x > best { best = x; } }
        best
    }
}
fn main() {
    println!("{}", deep::largest(&[1.5, 0.5]));
    println!("{}", deep::largest(&[1, 9]));
    let add: Box<dyn Fn(i32) -> i32> = Box::new(|x| x + 1);
    println!("{}", deep::Stack { items: vec![add(0)] }.push(3));
}
"""


@pytest.mark.long
async def test_a_function_that_rust_makes_for_each_type_is_stopped_at_by_its_name_for_all_of_them(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (tmp_path / "kinds.rs").write_text(GENERIC)
    names = ["largest", "Stack::push", "largest::nothing"]
    stop = stopped(await dbg.launch("kinds.rs", breaks=names, adapter="gdb"))
    assert stop.frame is not None and (stop.frame.line, stop.breakpoints) == (10, ("b1",))
    assert stopped(await dbg.continue_()).breakpoints == ("b1",)
    stop = stopped(await dbg.continue_())
    assert stop.frame is not None and (stop.frame.line, stop.breakpoints) == (5, ("b2",))
    assert (stop.local("self") or "").endswith(" kinds::deep::Stack<i32> {items: Vec(size=1) = {1}}"), (
        "what it leads to"
    )
    stop = stopped(await dbg.finish())
    assert [each.type for each in stop.locals if each.name == "add"] == ["Box<dyn Fn<(i32), Output=i32>>"]
    assert stop.local("add") and not [note for note in stop.notes if "nternal error" in note]
    assert [each.id for each in exited(await dbg.continue_()).never_hit] == ["b3"]
    if find(LLDB.needs[0], os.environ, ".").path:
        seen = [
            stopped(await dbg.launch("kinds.rs", breaks=["largest"], adapter="lldb")),
            stopped(await dbg.continue_()),
        ]
        assert [(each.frame and each.frame.line, each.breakpoints) for each in seen] == [(10, ("b1",))] * 2
        assert [each.frame and each.frame.function for each in seen] == ["kinds::deep::largest"] * 2


PLUGGED = """\
#include <dlfcn.h>
#include <stdio.h>
static void wait_for_it(void) {}
int main(int argc, char **argv) {
    wait_for_it();
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*run)(int) = (int (*)(int)) dlsym(library, "run");
    printf("%d\\n", run(3));
}
"""
PLUGIN = """\
namespace shop { int price(int pieces) { return pieces * 2; } }
extern "C" int run(int pieces) { return shop::price(pieces); }
"""


async def test_a_function_is_looked_for_again_when_something_was_loaded_and_only_then(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "main.cpp").write_text(PLUGGED)
    (tmp_path / "plugin.cpp").write_text(PLUGIN)
    makes = "c++ -g -shared -fPIC -o plugin.so plugin.cpp && c++ -g -o main main.cpp -ldl"
    made = await asyncio.create_subprocess_shell(makes, cwd=tmp_path)
    assert await made.wait() == 0
    await dbg.launch("./main", "./plugin.so", breaks=["wait_for_it", "price"], adapter="gdb")
    search = "python import sf_gdb_places as places; {}"
    await dbg.raw(search.format("places.kept, places._search = places._search, None"))
    assert [each.state for each in (await dbg.breaks()).breakpoints] == ["bound", "pending"]
    await dbg.raw(search.format("places._search = places.kept"))
    stop = stopped(await dbg.continue_())
    assert (stop.frame and stop.frame.function, stop.local("pieces")) == ("shop::price", "3")
    await dbg.stop()


SHAPES = """\
struct Shape { int side; int area() const { return side * side; } };
template <class T> T twice(T x) { T y = x + x; return y; }
extern "C" int run(int side) {
    Shape shape{side};
    int sum = shape.area();
    sum += (int) twice(1.5);
    sum += twice(side);
    return sum;
}
"""


@by_each
async def test_functions_of_a_library_that_is_loaded_later_are_each_told_by_their_own_breakpoint(
    dbg: stillframe.Debugger, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "main.cpp").write_text(PLUGGED)
    (tmp_path / "shapes.cpp").write_text(SHAPES)
    makes = "c++ -g -shared -fPIC -o shapes.so shapes.cpp && c++ -g -o main main.cpp -ldl"
    made = await asyncio.create_subprocess_shell(makes, cwd=tmp_path)
    assert await made.wait() == 0
    places = ["twice", "never", "Shape::area", "main.cpp!run", "run"]
    seen = [stopped(await dbg.launch("./main", "./shapes.so", breaks=places, adapter=kind))]
    seen += [stopped(await dbg.continue_()) for _ in range(3)]
    names = [(each.frame.function.partition("<")[0], each.breakpoints) for each in seen if each.frame]
    assert names == [("run", ("b5",)), ("Shape::area", ("b3",)), ("twice", ("b1",)), ("twice", ("b1",))]
    told = [seen[0].local("side"), seen[2].local("x"), seen[3].local("x")]
    assert told == ["3", "1.5", "3"], "each is held where it has got its arguments"
    listed = {each.id: each for each in (await dbg.breaks()).breakpoints}
    assert [listed[f"b{number}"].state for number in range(1, 6)] == ["bound", "pending", "bound", "pending", "bound"]
    assert "in a file called main.cpp" in (listed["b4"].message or "")
    await dbg.break_("Shape::area", hit="2")
    assert exited(await dbg.continue_()).exit_code == 0, "its stub in the library is no call of it"


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="native debugging is proven on Linux only")


@by_each
async def test_sources_of_a_program_that_was_built_elsewhere_are_those_that_launch_json_says(
    dbg: stillframe.Debugger, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "far.c").write_text("int main(void) {\n    int n = 3;\n    return n;\n}\n")
    line = ["cc", "-g", f"-ffile-prefix-map={tmp_path}=/built/there", str(tmp_path / "far.c"), "-o", "far"]
    await asyncio.to_thread(subprocess.run, line, cwd=tmp_path, check=True)
    sources = {"/built/there": "${workspaceFolder}"}
    configuration = {"name": "far", "type": kind, "request": "launch", "program": "far", "sourceMap": sources}
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [configuration]}))
    await dbg.trust()
    stop = stopped(await dbg.launch(config="far", breaks=["far.c:3"]))
    assert stop.frame is not None
    assert (stop.frame.file, stop.frame.line, stop.local("n")) == ("far.c", 3, "3")
    assert [each.text.strip() for each in stop.source if each.here] == ["return n;"]


@pytest.mark.parametrize("kind", ["gdb", "lldb", "python"])
async def test_what_a_project_brings_for_its_debugger_to_run_is_not_run(
    dbg: stillframe.Debugger, tmp_path: Path, binary: Path, kind: str
) -> None:
    needed = {"gdb": GDB.needs[0], "lldb": LLDB.needs[0]}.get(kind)
    if needed and find(needed, os.environ, ".").path is None:
        pytest.skip(f"{kind} is not installed")
    (tmp_path / ".gdbinit").write_text("shell touch run\n")
    (tmp_path / ".lldbinit").write_text("platform shell touch run\n")
    (tmp_path / ".pdbrc").write_text("open('run', 'w')\n")
    (tmp_path / "held.py").write_text("import pdb\npdb.set_trace()\nx = 1\n")
    if needed:
        await dbg.launch(str(binary), "env", adapter=kind)
    else:
        assert stopped(await dbg.launch("held.py")).frame is not None
    assert sorted(os.listdir(tmp_path)) == [".gdbinit", ".lldbinit", ".pdbrc", "held.py"]


WORDY_PANIC = """\
fn fail(total: usize) {
    panic!("too much: {}", total);
}
fn main() {
    std::panic::set_hook(Box::new(|info| {
        eprintln!("thread 'main' {}", info);
        for call in 0..200 {
            eprintln!("  {}: somewhere in a library", call);
        }
    }));
    if std::env::args().count() > 1 {
        let _ = std::panic::catch_unwind(|| fail(6));
    }
    let _ = std::thread::spawn(|| fail(7)).join();
    fail(8);
}
"""


async def test_what_a_panic_says_is_told_where_it_stops_however_long_its_backtrace_is(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (tmp_path / "wordy.rs").write_text(WORDY_PANIC)
    for debugger in ("gdb", "lldb"):
        stop = stopped(await dbg.launch("wordy.rs", adapter=debugger))
        assert stop.exception is not None and stop.exception.type == "panic"
        assert "too much: 7" in stop.stderr_began and "0: somewhere" in stop.stderr_began
        assert "too much" not in stop.stderr
        await dbg.stop()
    report = await dbg.crash("wordy.rs", "one that is caught first", adapter="gdb")
    assert report.failure is not None and report.failure.what == "panic: too much: 7"
    assert [each.what for each in report.also] == ["panic: too much: 8"]
