"""Below the source: memory, instructions, registers, watched data and time, on each debugger that reaches down there."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from stillframe.adapters.finding import Needs, find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB
from stillframe.adapters.ruby import RUBY
from stillframe.errors import AdapterUnresponsive, NotFound, StillframeError, Unsupported, UsageError, WrongState
from stillframe.model.backend import BreakpointChanged, Capability, CatchRule, Ended, Move, Output, Stopped, Wanted
from stillframe.model.places import HitRule
from stillframe.transport.newcomers import newcomer

from ..guard import gone
from .driver import PATIENCE, Driven, plan, started, states, write

PROGRAM = Path(__file__).parent.parent / "languages" / "c" / "machine.c"


def needs(needed: Needs) -> Any:
    found = find(needed, os.environ, ".")
    return pytest.mark.skipif(not found.path or bool(found.problem), reason=f"{needed.tool} is not installed")


GDB_HERE, LLDB_HERE, RUBY_HERE = needs(GDB.needs[0]), needs(LLDB.needs[0]), needs(RUBY.needs[0])
both = pytest.mark.parametrize("adapter", [pytest.param("gdb", marks=GDB_HERE), pytest.param("lldb", marks=LLDB_HERE)])


def mark(name: str) -> int:
    lines = PROGRAM.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"// @{name}"))


def at(name: str, id: str = "b1", **terms: Any) -> Wanted:
    return Wanted(id, file=str(PROGRAM), line=mark(name), **terms)


@asynccontextmanager
async def held(
    adapter: str, *wanted: Wanted, args: tuple[str, ...] = (), **changes: Any
) -> AsyncIterator[tuple[Driven, Any, str]]:
    """The program at its first stop, its backend, and the frame that it is held in."""
    async with started(plan(PROGRAM, *args, adapter=adapter, **changes), *wanted, catch=CatchRule()) as driven:
        await driven.stop()
        yield driven, driven.backend, await frame(driven)


async def frame(driven: Driven) -> str:
    found = (await driven.look()).at
    assert found is not None
    return found.id


async def watched(driven: Driven, text: str, id: str, *others: Wanted, **terms: Any) -> Wanted:
    """One more thing to watch, beside what is wanted already."""
    backend: Any = driven.backend
    data = await backend.watchable(await frame(driven), text, terms.get("watching", "write"))
    made = Wanted(id, data=data.data, **terms)
    bindings = await backend.set_breakpoints([*others, made])
    assert bindings[-1].state == "bound", bindings
    return made


@both
async def test_memory_is_read_as_far_as_it_can_be_and_written_whole_or_not_at_all(adapter: str) -> None:
    async with held(adapter, at("print")) as (driven, backend, here):
        numbers = await backend.read_memory(here, "numbers", 0, 16)
        assert numbers.hex == "01000000020000000300000004000000"
        assert (await backend.read_memory(here, "numbers", 4, 4)).hex == "02000000"
        assert (await backend.read_memory(here, "word", 0, 6)).text == "hello."
        assert (await backend.read_memory(here, "&first", 0, 4)).text == "fig."
        assert (await backend.read_memory(here, "first.next->name", 0, 4)).text == "pear"
        assert (await backend.read_memory(here, numbers.address, 0, 4)).hex == "01000000"
        for nowhere in ("0x10", "no_such_name", "total + 1"):
            with pytest.raises(NotFound):
                await backend.read_memory(here, nowhere, 0, 8)
        edge = int(numbers.address, 0) | 0xFFFFFFF  # far behind the last byte of the stack
        start = int(numbers.address, 0)
        part = await backend.read_memory(here, hex(start), 0, min(edge - start, 1 << 20))
        assert part.size + part.unreadable == min(edge - start, 1 << 20)
        assert part.size > 0, "as much as there is"
        assert (await backend.write_memory(here, "numbers", 4, b"\x2a\x00", partial=False)).size == 2
        assert await driven.value("numbers[1]") == "42"
        with pytest.raises(NotFound, match="written"):
            await backend.write_memory(here, "0x10", 0, b"x", partial=True)
        behind = start + part.size
        with pytest.raises(NotFound, match="written"):
            await backend.write_memory(here, hex(behind - 2), 0, b"abcd", partial=False)
        assert (await backend.write_memory(here, hex(behind - 2), 0, b"ab", partial=True)).size == 2
        assert (await backend.write_memory(here, hex(behind - 2), 0, b"cdef", partial=True)).size == 2


@both
async def test_instructions_registers_and_sources(adapter: str) -> None:
    async with held(adapter, at("sum")) as (driven, backend, here):
        told = (await backend.disassemble(here, None, 0, 3, symbols=True)).instructions
        assert [each.here for each in told] == [True, False, False]
        assert (told[0].symbol, told[0].line) == ("add", mark("sum"))
        bare = (await backend.disassemble(here, None, 0, 3, symbols=False)).instructions
        assert [(each.symbol, each.address) for each in bare] == [(None, each.address) for each in told]
        around = (await backend.disassemble(here, None, -2, 4, symbols=True)).instructions
        assert around[2].address == told[0].address
        assert around[3].address == told[1].address
        behind = (await backend.disassemble(here, None, 1, 2, symbols=True)).instructions
        assert [each.address for each in behind] == [each.address for each in told[1:]]
        (first,) = (await backend.disassemble(here, "main", 0, 1, symbols=True)).instructions
        assert first.symbol == "main"
        with pytest.raises(NotFound):
            await backend.disassemble(here, "0x10", 0, 3, symbols=True)
        frames = (await driven.look()).frames.frames
        caller = (await backend.disassemble(frames[1].id, None, 0, 1, symbols=True)).instructions
        assert (caller[0].symbol, caller[0].here) == ("main", True)
        registers = {each.name: each.value for each in (await backend.registers(here, bounds())).values}
        assert int(registers["rip"].split()[0], 0) == int(told[0].address, 0)
        assert not any(name.startswith(("xmm", "zmm", "st")) for name in registers)
        named = (await backend.registers(here, bounds(), ("xmm0", "EAX", "nosuch"))).values
        more = {each.name: each.value for each in named if each.value}
        assert len(more) > len(registers) and "xmm0" in more and "nosuch" not in more
        assert int(more["eax"].split()[0], 0) == int(registers["rax"].split()[0], 0) % (1 << 32)
        await driven.value("$rax = -2")
        wide = {
            each.name: each.value for each in (await backend.registers(here, bounds(), ("rax", "eax", "al"))).values
        }
        assert [int(wide[each].split()[0], 0) for each in ("rax", "eax", "al")] == [2**64 - 2, 2**32 - 2, 2**8 - 2]
        assert await driven.value("&calls == 0 ? 1 : *&calls + add(1, 2)") in ("3", "4")
        sources, modules = await backend.sources(), (await backend.modules()).modules
        assert str(PROGRAM) in [each.file for each in sources]
        assert modules[0].kind == "user"
        assert not [each.name for each in (*sources, *modules) if "lldb" in each.name], (
            "what evaluates is not the program's"
        )


def bounds() -> Any:
    from stillframe.model.backend import Bounds

    return Bounds()


@both
async def test_watched_data_stops_where_it_is_written_and_tells_what_it_was(adapter: str) -> None:
    async with held(adapter, at("loop")) as (driven, backend, _):
        calls = await watched(driven, "calls", "b2", condition="calls > 1")
        stop = await driven.move()
        known = {"gdb": "1", "lldb": "0"}[adapter]  # lldb takes no note of changes that do not count
        assert (stop.reason, stop.breakpoints, stop.notes) == ("watchpoint", ("b2",), (f"calls: {known} -> 2",))
        assert await driven.line() == mark("return")
        await backend.set_breakpoints([at("sum")])
        await driven.move()
        mine = await watched(driven, "sum", "b3")
        seen = [await driven.move(), await driven.move()]
        assert [each.breakpoints for each in seen] == [("b3",), ("b3",)]
        assert seen[0].notes[0].startswith("sum: ")
        assert seen[1].notes == ("sum is gone: its call has returned",)
        gone = [each.binding for each in driven.events(BreakpointChanged)]
        assert [(each.id, each.state) for each in gone][-1:] == [("b3", "failed")]
        assert await driven.value("at") == "2"
        for nothing in ("no_such_name", "total + 1"):
            try:
                data = await backend.watchable(await frame(driven), nothing, "write")
                assert states(await backend.set_breakpoints([Wanted("b9", data=data.data)])) == ["failed"]
            except (NotFound, AssertionError):
                assert nothing == "no_such_name" or adapter == "gdb", "gdb watches any expression of data in memory"
        here = await frame(driven)
        items = [await backend.watchable(here, f"numbers[{number}]", "write") for number in range(4)]
        items.append(await backend.watchable(here, "total", "write"))
        many = [Wanted(f"b{20 + number}", data=each.data) for number, each in enumerate(items)]
        assert states(await backend.set_breakpoints(many))[-1] == "failed", (
            "the machine has four places, and no word is lost"
        )
        await backend.set_breakpoints([])
        assert {calls.id, mine.id} == {"b2", "b3"}
        await driven.go()
        assert (await driven.ended()).exit_code == 0


@GDB_HERE
async def test_of_watches_on_the_same_data_those_are_told_that_stopped() -> None:
    async with held("gdb", at("loop")) as (driven, _, _):
        every = await watched(driven, "calls", "b2")
        late = await watched(driven, "calls", "b3", every, condition="calls > 1")
        here = Wanted("b5", file=str(PROGRAM), line=mark("return"), condition="calls == 3")
        await watched(driven, "calls", "b4", every, late, here, watching="readWrite")
        seen = [await driven.move() for _ in range(6)]
        assert [each.breakpoints for each in seen] == [
            ("b4",), ("b2", "b4"), ("b4",), ("b2", "b3", "b4"), ("b4",), ("b2", "b3", "b5", "b4"),
        ]  # fmt: skip
        assert [each.notes[0] for each in seen[:4]] == ["calls is 0", "calls: 0 -> 1", "calls is 1", "calls: 1 -> 2"]


@both
async def test_data_that_is_watched_for_reading_may_be_written_and_lldb_watches_the_same_data_once(
    adapter: str,
) -> None:
    async with held(adapter, at("loop")) as (driven, backend, here):
        first = await watched(driven, "calls", "b2", watching="read")
        if adapter == "lldb":
            data = await backend.watchable(here, "calls", "write")
            _, refused = await backend.set_breakpoints([first, Wanted("b3", data=data.data)])
            assert refused.state == "failed"
            assert "calls is watched already" in (refused.message or "")
            await backend.set_breakpoints([first])
        seen = [await driven.move() for _ in range(4)]
        assert [each.breakpoints for each in seen] == [("b2",)] * 4
        assert [each.notes for each in seen] == [(f"calls is {number}",) for number in range(4)]
        await driven.go()
        assert (await driven.ended()).exit_code == 0


@both
async def test_of_breakpoints_on_the_same_line_those_are_told_whose_condition_holds(adapter: str) -> None:
    wanted = [
        at("sum", "b1", condition="a > 2"),
        at("sum", "b2", condition="a > 0"),
        at("sum", "b3", condition="a > 9"),
    ]
    async with held(adapter, *wanted) as (driven, backend, _):
        assert await driven.value("a") == "1"
        seen = [driven.events(Stopped)[-1].breakpoints, (await driven.move()).breakpoints]
        await backend.set_breakpoints([wanted[2], at("sum", "b4"), wanted[0]])
        seen.append((await driven.move()).breakpoints)
        assert [set(each) for each in seen] == [{"b2"}, {"b1", "b2"}, {"b1", "b4"}]
        *_, counting = await backend.set_breakpoints([at("sum", "b4"), at("sum", "b5", hit=HitRule("exactly", 3))])
        assert counting.state == {"gdb": "bound", "lldb": "failed"}[adapter], "lldb has one for each place"


@both
async def test_watched_data_is_counted_as_lines_are(adapter: str) -> None:
    async with held(adapter, at("loop")) as (driven, _, _):
        await watched(driven, "calls", "b2", hit=HitRule("exactly", 2), condition="calls > 0")
        stop = await driven.move()
        assert (stop.reason, stop.breakpoints, await driven.value("calls")) == ("watchpoint", ("b2",), "2")


@both
async def test_single_instructions_a_breakpoint_on_one_and_a_jump(adapter: str) -> None:
    async with held(adapter, at("sum")) as (driven, backend, here):
        told = (await backend.disassemble(here, None, 0, 4, symbols=True)).instructions
        assert (await driven.move(Move.STEP_INSTRUCTION)).reason == "step"
        now = (await backend.disassemble(await frame(driven), None, 0, 1, symbols=True)).instructions
        assert now[0].address == told[1].address
        inside = Wanted("b4", address=f"{told[2].address}+1")
        wanted = [Wanted("b2", address=told[3].address, condition="a == 0"), Wanted("b3", address="0x10"), inside]
        *made, refused = await backend.set_breakpoints(wanted)
        assert states(made) == ["bound", "failed"]
        middle = f"is in the middle of an instruction, which begins at {told[2].address}"
        assert (refused.state, middle in (refused.message or "")) == ("failed", True)
        assert (await driven.move()).breakpoints == ("b2",)
        await backend.set_breakpoints([])
        assert (await driven.move(Move.NEXT_INSTRUCTION)).reason == "step"
        await backend.jump(driven.thread, str(PROGRAM), mark("return"))
        assert (await driven.stop()).reason == "jump"
        assert await driven.line() == mark("return")
        with pytest.raises(NotFound, match="is none of add"):
            await backend.jump(driven.thread, str(PROGRAM), mark("print"))
        await backend.jump(driven.thread, str(PROGRAM), mark("sum"))
        assert (await driven.stop()).reason == "jump"
        await driven.go()
        assert (await driven.ended()).exit_code == 0
        assert driven.printed() == "hello pear 10\n"


@both
async def test_an_exit_code_and_the_signal_of_that_number_are_told_apart_and_the_debugger_does_not_abort(
    adapter: str,
) -> None:
    async with started(plan(PROGRAM, "eleven", adapter=adapter), catch=CatchRule()) as driven:
        end = await driven.ended()
        assert (end.exit_code, end.signal) == (11, None)
        left = await asyncio.wait_for(driven.backend._family.process.exited, PATIENCE)
        assert left.signal != "SIGABRT", "a debugger that was told goodbye does not abort"
    async with held(adapter, args=("crash",)) as (driven, backend, _):
        error = await backend.exception(driven.thread)
        assert (error.type, error.mode) == ("SIGSEGV", "uncaught")
        assert error.message == "invalid memory access at address 0x0"
        assert await driven.line() == mark("crash")
        await driven.go()
        end = await driven.ended()
        assert (end.exit_code, end.signal) == (None, "SIGSEGV")
    async with started(plan(PROGRAM, "crash", adapter=adapter), catch=CatchRule(frozenset())) as driven:
        assert (await driven.ended()).signal == "SIGSEGV"


@both
async def test_a_program_does_not_outlive_its_debugger(adapter: str) -> None:
    async with held(adapter, at("sum")) as (driven, backend, _):
        program = psutil.Process(backend.pid)
        tracer = tracer_of(program.pid)
        (tracer if adapter == "gdb" else tracer.parent()).kill()
        end = await driven.next(Ended)
        assert end.lost or end.signal or end.cause
        with pytest.raises(StillframeError):
            await backend.stack(driven.thread)
    assert gone(program)


def tracer_of(pid: int) -> Any:
    return psutil.Process(int(Path(f"/proc/{pid}/status").read_text().split("TracerPid:")[1].split()[0]))


@GDB_HERE
async def test_gdb_goes_back_to_where_the_recording_begins_and_forward_to_its_end() -> None:
    async with held("gdb", at("print"), record=True) as (driven, backend, _):
        assert Capability.STEP_BACK in backend.capabilities
        assert (await driven.move(Move.STEP_BACK)).reason == "step"
        assert await driven.line() in (mark("loop"), mark("loop") - 1)
        assert await driven.value("total") == "10"
        await backend.set_breakpoints([at("calls", condition="calls == 1")])
        assert (await driven.move(Move.REVERSE)).breakpoints == ("b1",)
        assert (await driven.value("a"), await driven.value("sum")) == ("1", "3")
        await backend.set_breakpoints([])
        first = await driven.move(Move.REVERSE)
        assert (first.reason, first.notes) == ("no more history", ("this is where the recording begins",))
        assert (await driven.move(Move.STEP_BACK)).reason == "no more history"
        last = await driven.move()
        assert (last.reason, last.notes) == ("no more history", ("this is where the recording ends",))
        assert await driven.line() == mark("print")
        assert (await driven.move()).reason == "about to exit"
        await driven.go()
        assert (await driven.ended()).exit_code == 0
    async with held("gdb", at("print")) as (driven, backend, _):
        with pytest.raises(Unsupported, match="goes back only in a run that was recorded"):
            await backend.resume(Move.STEP_BACK, driven.thread)


@RUBY_HERE
async def test_ruby_goes_back_through_its_lines_and_the_variables_of_then(tmp_path: Path) -> None:
    shop = "def price(item, count)\n  cost = item.size * count\n  cost\nend\n\ntotal = 0\n"
    program = write(
        tmp_path, shop + "[1, 2, 3].each do |count|\n  total += price('fig', count)\nend\nputs total\n", "shop.rb"
    )
    wanted = [Wanted("b1", file=str(program), line=10), Wanted("b2", file=str(program), line=3, condition="count == 2")]
    async with started(plan(program, record=True), *wanted, catch=CatchRule()) as driven:
        backend = driven.backend
        await driven.stop()
        assert await driven.line() == 3
        await driven.move(Move.STEP_BACK)
        assert (await driven.line(), await driven.value("item * count")) == (2, '"figfig"')
        await driven.move(Move.NEXT)
        await driven.move()
        assert (await driven.line(), await driven.value("total")) == (10, "18")
        back = await driven.move(Move.REVERSE)
        assert (back.reason, await driven.line(), await driven.value("count")) == ("breakpoint", 3, "2")
        await backend.set_breakpoints([])
        first = await driven.move(Move.REVERSE)
        assert (first.reason, first.notes) == ("no more history", ("this is where the recording begins",))
        last = await driven.move()
        assert (last.reason, await driven.line()) == ("no more history", 10)
        await driven.go()
        assert (await driven.ended()).exit_code == 0
        assert driven.printed() == "18\n"


RELOADS = """
#include <dlfcn.h>
static int told(int which) {
    return which;
}
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        int (*run)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "run");
        run(told, i);
        dlclose(library);
    }
    return 0;
}
"""


def reloading(folder: Path) -> Path:
    """A program and two libraries with the same code, in one of them three lines further down; the program's source."""
    run = "int run(int (*tell)(int), int which) {\n    return tell(which);\n}\n"
    for name, above in (("old", ""), ("new", "// made anew\n" * 3)):
        text = write(folder, above + run, f"{name}.c")
        subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", "-o", folder / f"{name}.so", text], check=True)
    source = write(folder, RELOADS, "reloads.c")
    subprocess.run(["cc", "-g", "-O0", "-o", folder / "reloads", source, "-ldl"], check=True)
    return source


@both
async def test_callers_are_those_of_the_library_that_lies_at_their_address_now(adapter: str, tmp_path: Path) -> None:
    source = reloading(tmp_path)
    names = ("old", "new", "old")
    wish = plan(tmp_path / "reloads", *(str(tmp_path / f"{each}.so") for each in names), adapter=adapter)
    async with started(wish, Wanted("b1", file=str(source), line=3), catch=CatchRule()) as driven:
        seen = []
        for _ in names:
            await driven.stop()
            caller = (await driven.look()).frames.frames[1]
            seen.append((Path(caller.file or "").name, caller.line))
            await driven.go()
        assert seen == [("old.c", 2), ("new.c", 5), ("old.c", 2)]
        assert (await driven.ended()).exit_code == 0


@LLDB_HERE
async def test_rusts_enums_hold_what_they_hold_though_lldb_forgets_half_of_their_numbers(tmp_path: Path) -> None:
    source = """
enum Shape { Dot, Named(String), Sized { w: u32, h: u32 } }
fn main() {
    let named = Some(Shape::Named("abc".to_string()));
    let none: Option<Shape> = None;
    let dot = Shape::Dot;
    let sized = Some(Shape::Sized { w: 3, h: 4 });
    let empty: Option<Vec<u8>> = Some(Vec::new());
    let boxed: Option<Box<i32>> = None;
    let number = Some(7i32);
    println!("{}", named.is_some() && none.is_none() && matches!(dot, Shape::Dot)); // @stop
    println!("{} {} {} {}", sized.is_some(), empty.is_some(), boxed.is_none(), number.is_some());
}
"""
    program = write(tmp_path, source, "shapes.rs")
    line = next(at for at, text in enumerate(program.read_text().splitlines(), 1) if "@stop" in text)
    wish = plan(program, adapter="lldb")
    async with started(wish, Wanted("b1", file=str(program), line=line), catch=CatchRule()) as driven:
        await driven.stop()
        told = {each.name: each.value for each in (await driven.look()).values.values}
        assert told["named"] == 'Some(Named("abc"))'
        assert (told["none"], told["dot"], told["boxed"]) == ("None", "Dot", "None")
        assert told["sized"] == "Some(Sized{w = 3, h = 4})"
        assert told["empty"].startswith("Some(size=0")
        assert told["number"] == "Some(7)"


@LLDB_HERE
async def test_a_request_that_lldb_does_not_survive_is_refused_and_a_failing_condition_is_no_hit() -> None:
    wanted = [at("sum", condition="no_such_name > 1"), at("calls", "b2", log="a is {a} and {no_such_name}")]
    async with held("lldb", *wanted) as (driven, backend, _):
        stop = driven.events(Stopped)[0]
        assert (stop.breakpoints, stop.counts) == (("b1",), False)
        said = "the condition of b1 raised use of undeclared identifier 'no_such_name'\n"
        assert driven.printed("console") == said
        if backend.tool.version.startswith("19."):
            with pytest.raises(Unsupported, match="bogusRequest"):
                await backend.request("bogusRequest", {}, 5.0)
        assert (await backend.request("threads", {}, 5.0))["threads"]
        assert (await backend.raw(None, "script print(6 * 7)")).strip() == "42"
        await backend.raw(None, 'type summary add --python-script "while True: pass" int')
        slow = (await driven.look()).values
        assert slow.notes == ("the formatter of int does not come to an end: it is told without",)
        assert [(each.name, each.value) for each in slow.values][:2] == [("a", "0"), ("b", "1")]
        await backend.raw(None, "type summary delete int")  # lldb-dap's own log points would wait for it
        await backend.set_breakpoints(wanted[1:])
        await driven.go()
        assert (await driven.ended()).exit_code == 0
        logged = [each for each in driven.events(Output) if each.stream == "log"]
        assert [each.breakpoints for each in logged] == [("b2",)] * 4
        assert logged[0].data == b"a is 0 and <use of undeclared identifier 'no_such_name'>\n"


async def test_the_next_process_of_a_name_is_found_and_those_that_are_there_are_not(tmp_path: Path) -> None:
    name = f"{tmp_path.name}-worker.py"
    program = write(tmp_path, "import sys\nprint('up', flush=True)\nsys.stdin.read()\n", name)

    async def run() -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        made = await asyncio.create_subprocess_exec("python3", str(program), stdin=pipe, stdout=pipe)
        assert made.stdout is not None
        assert await made.stdout.readline() == b"up\n"
        return made

    before = await run()
    with pytest.raises(NotFound, match="came up"):
        await newcomer(name, 0.1)
    waiting = asyncio.create_task(newcomer(name, 30.0))
    await asyncio.sleep(0)  # it has looked at who is there
    fresh = await run()
    assert await waiting == fresh.pid
    for each in (before, fresh):
        await each.communicate(b"")
    with pytest.raises(UsageError):
        await newcomer("/usr/bin/worker", 1.0)


@both
async def test_a_core_is_looked_at_and_nothing_in_it_moves(adapter: str, tmp_path: Path) -> None:
    from stillframe.model.plans import AttachPlan

    core = tmp_path / "core"
    async with held("gdb" if find(GDB.needs[0], os.environ, ".").path else adapter, at("sum")) as (_, backend, __):
        save = "gcore" if backend.tool.tool == "gdb" else "process save-core"
        await backend.raw(None, f"{save} {core}")
        program = os.readlink(f"/proc/{backend.pid}/exe")
    wish = AttachPlan(core=str(core), program=program, adapter=adapter, cwd=str(tmp_path), env=dict(os.environ))
    async with started(wish, catch=CatchRule()) as driven:
        await driven.stop()
        core_backend: Any = driven.backend
        assert (await driven.value("a"), await driven.value("b")) == ("0", "1")
        assert (await core_backend.read_memory(await frame(driven), "&b", 0, 4)).hex == "01000000"
        for moving in (
            core_backend.resume(Move.CONTINUE, driven.thread),
            core_backend.jump(driven.thread, str(PROGRAM), mark("return")),
            core_backend.watchable(await frame(driven), "a", "write"),
            core_backend.assign(await frame(driven), "a", "3", bounds()),
        ):
            with pytest.raises((WrongState, AdapterUnresponsive), match="core"):
                await moving
        assert states(await core_backend.set_breakpoints([at("return")])) == ["failed"], "it would never be hit"
