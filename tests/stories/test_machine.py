"""Below the source, as somebody at a shell meets it: data watched, memory and instructions read, a run gone back through."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB

from .conftest import User

SOURCE = (Path(__file__).parents[1] / "languages" / "c" / "machine.c").read_text()


def line(mark: str) -> int:
    return next(at for at, text in enumerate(SOURCE.splitlines(), 1) if text.endswith(f"// @{mark}"))


def is_written_paged_and_stepped_below_its_lines(user: User) -> None:
    """What the verbs make of their words, at a stop of a program in which `calls` is a number of four bytes."""
    assert re.fullmatch(r"wrote 4 bytes at 0x[0-9a-f]+\n", user.ok("memory", "calls", "--write", "07000000"))
    assert user.json("memory", "calls", "--write", "KgA=", "--as", "base64", "--partial")["size"] == 2
    assert user.json("eval", "calls")["values"][0]["value"] == "42"
    for words in (("--write", "0a1"), ("--write", "KgA", "--as", "base64")):
        assert "is no " in user.fails("memory", "calls", *words, code=2, error="usage")
    for verb in ("modules", "sources"):
        whole = user.json(verb, "--count", "2")
        second = user.json(verb, "--start", "1", "--count", "1")
        assert (second[verb], second["start"], second["total"]) == (whole[verb][1:], 1, whole["total"])
    told = user.json("disasm", "--count", "3")["instructions"]
    counted = user.json("break-insn", told[2]["address"], "--hit", "2")
    assert counted["state"] == "bound"
    for verb, at in (("step", 1), ("next", 2)):
        user.ok(verb, "--instruction")
        assert user.json("status")["instruction"] == told[at]["address"]
    stop = user.json("continue")
    assert (stop["breakpoints"], user.json("status")["instruction"]) == ([counted["id"]], told[2]["address"])


@pytest.mark.long
def test_a_variable_is_watched_memory_is_read_and_the_run_is_gone_back_through(user: User) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip("gdb is not installed")
    user.file("machine.c", SOURCE)
    first = user.ok("launch", "machine.c", "--record", "--break", f"machine.c:{line('loop')}")
    assert f"machine stopped: b1 hit 1 at machine.c:{line('loop')} in main" in first
    assert "note: recorded from main on" in first
    assert user.ok("watch", "calls") == "b2 bound at watch calls (write)\n"
    user.ok("unbreak", "b1")
    stop = user.ok("continue")
    assert f"b2 hit 1 at machine.c:{line('return')} in add" in stop
    assert "note: calls: 0 -> 1\n" in stop
    assert re.search(r"^0x[0-9a-f]+  01 00 00 00 +\.\.\.\.$", user.ok("memory", "calls", "--count", "4"), re.MULTILINE)
    for words in (("memory", "calls", "--write", "07000000"), ("set", "calls", "7"), ("eval", "add(1, 2)")):
        assert "a recorded program cannot be written to" in user.says(*words).err
    around = user.ok("disasm", "--back", "1", "--count", "3").splitlines()
    assert [each[:1] for each in around if each.startswith((">", " "))] == [" ", ">", " "]
    assert (told := re.match(r"rip = (0x[0-9a-f]+) ", user.ok("registers", "$rip")))
    assert user.json("status")["instruction"] == told[1]
    assert user.fails("registers", "nosuch", code=2, error="usage")
    assert {"registers", "step back", "exception info"} <= set(user.json("capabilities")["can"])
    assert user.fails("memory", "0x10", code=1, error="not_found")
    assert str(user.here / "machine.c") in user.ok("sources", "--match", "machine")
    user.ok("unbreak", "all")
    assert "no more history at machine.c" in user.ok("reverse-continue")
    assert user.json("step-back")["reason"] == "no more history"
    user.ok("until", f"machine.c:{line('return')}")
    assert user.ok("jump", str(line("calls"))).startswith(f"machine stopped: jump at machine.c:{line('calls')} in add")
    assert user.json("stop")


UNRECORDABLE = """#include <unistd.h>
int main(void) {
    int n = 1;
    n += syscall(1000);
    n = 2;
    return n - 2;
}
"""


@pytest.mark.long
def test_what_gdb_cannot_record_holds_the_program_until_the_recording_is_ended(user: User) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip("gdb is not installed")
    user.file("unknown.c", UNRECORDABLE)
    assert "unknown stopped: recording ended at unknown.c:4 in main" in user.ok("launch", "unknown.c", "--record")
    for verb in ("continue", "next", "finish"):
        assert "gdb cannot record `syscall`" in user.fails(verb, code=3, error="wrong_state")
        assert "n = 1" in user.ok("locals"), "it is held where it was"
    assert "stopped" in user.ok("threads")
    assert "recorded program cannot be written to" in user.says("set", "n", "7").err
    user.ok("raw", "record stop")
    user.ok("set", "n", "7")
    assert "unknown.c:5 in main" in user.ok("until", "unknown.c:5")
    assert "exited 0" in user.ok("continue")


@pytest.mark.long
def test_lldb_is_asked_for_by_name_and_runs_it_again_with_what_was_wanted(user: User) -> None:
    found = find(LLDB.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip("lldb-dap is not installed")
    user.file("machine.c", SOURCE)
    place = f"machine.c:{line('calls')} if a == 3"
    assert "[via lldb-dap" in user.ok("launch", "--adapter", "lldb", "machine.c", "--break", place)
    user.ok("watch", "sum", "--access")
    again = user.ok("restart")
    assert f"b1 hit 1 at machine.c:{line('calls')} in add" in again
    assert "watch sum" in again, "what cannot be wanted again is said"
    assert "b = 3" in user.ok("eval", "b")
    user.ok("unbreak", "all")
    user.ok("break", f"machine.c:{line('sum')}")
    user.ok("restart")
    user.ok("unbreak", "all")
    is_written_paged_and_stepped_below_its_lines(user)
    assert "registers" in user.json("capabilities")["can"]
    assert "cannot record" in user.fails(
        "launch", "--adapter", "lldb", "--record", "machine.c", code=1, error="unsupported"
    )


@pytest.mark.long
def test_whoever_may_only_look_runs_nothing_by_naming_a_place_in_memory(user: User) -> None:
    """gdb reckons what it is given: it calls functions, sets variables and, by `$_shell`, runs commands."""
    found = find(GDB.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip("gdb is not installed")
    user.file("machine.c", SOURCE)
    user.ok("launch", "machine.c", "--break", f"machine.c:{line('loop')}")
    before = user.json("eval", "calls")["values"]
    shell = f'$_shell("touch {user.here}/ran")'
    for verb in ("memory", "disasm"):
        for where in (
            shell,
            f"0 + {shell}",
            f"calls[{shell}]",
            "add(1, 2)",
            "calls = 7",
            "calls++",
            "(char *)calls",
            "*calls",
        ):
            told = user.fails(verb, where, "--allow", "control", code=7, error="denied")
            assert f"{verb} needs exec, and only control is allowed here" in told
    assert not (user.here / "ran").exists() and user.json("eval", "calls")["values"] == before
    for verb, where in (("memory", "&calls"), ("memory", "$rsp + 8"), ("disasm", "main"), ("disasm", "$pc")):
        assert user.ok(verb, where, "--allow", "inspect")
    assert user.ok("memory", "*&calls + (char *)&calls - calls", "--count", "1"), "exec takes any expression"
    user.ok("until", f"machine.c:{line('sum')}")
    user.ok("unbreak", "all")
    is_written_paged_and_stepped_below_its_lines(user)
    user.ok("stop")
