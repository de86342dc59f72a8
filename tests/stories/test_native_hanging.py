"""`hang` of native programs: who holds a mutex, where the C library keeps that, and *unknown* where nobody does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters import Adapter
from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO as GO_ADAPTER
from stillframe.adapters.lldb import LLDB
from stillframe.ops.hanging import takes_lock

SOURCE = Path(__file__).resolve().parents[1] / "languages" / "c" / "deadlock.c"


def mark(name: str) -> int:
    (found,) = [at for at, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith(name)]
    return found


@pytest.mark.parametrize("adapter", [GDB, LLDB], ids=lambda each: each.name)
async def test_mutexes_are_told_with_their_holders_and_a_cycle_of_threads_is_named(
    tmp_path: Path, adapter: Adapter
) -> None:
    found = find(adapter.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip(f"{adapter.name} is not installed, or has no debug adapter")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.hang(str(SOURCE), adapter=adapter.name, ready="up", timeout=1)
    told = {each.waits_for: each for each in report.groups}
    one, two, third = told["mutex right"], told["mutex left"], told["mutex lost"]
    crossed = f"at {SOURCE}:{mark('@crossed')}"
    assert set(report.cycle) == {*one.names, *two.names} and len(report.cycle) == 2
    assert (one.held_by, two.held_by) == (f"{two.names[0]} {crossed}", f"{one.names[0]} {crossed}")
    assert (third.held_by or "").endswith(", which is none of this process now")
    main = told[f"thread {one.names[0]} to end"]
    assert main.held_by is None
    lines = [each.stack.frames[0].line for each in (one, two, third, main)]
    assert lines == [mark("@crossed"), mark("@crossed"), mark("@missed"), mark("@joined")]


GO = """\
package main

import (
	"fmt"
	"sync"
	"time"
)

var mutex sync.Mutex
var jobs = make(chan int)

func take() {
	fmt.Println(<-jobs)
}

func main() {
	mutex.Lock()
	for range [3]int{} {
		go take()
	}
	go time.Sleep(time.Hour) // or Go itself would see that nobody can go on
	go func() { fmt.Println("up"); mutex.Lock() }()
	mutex.Lock()
}
"""


async def test_goroutines_are_grouped_and_the_holder_of_a_mutex_is_unknown(tmp_path: Path) -> None:
    if find(GO_ADAPTER.needs[0], os.environ, ".").path is None or shutil.which("go") is None:
        pytest.skip("go, or dlv, is not installed")
    (tmp_path / "main.go").write_text(GO)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.hang("main.go", ready="up", timeout=1)
    told = {(each.count, each.stack.frames[0].function): each for each in report.groups}
    assert (told[3, "main.take"].what, told[3, "main.take"].waits_for) == ("goroutine", "something from a channel")
    assert told[1, "main.main"].held_by == told[1, "main.main.func1"].held_by == "unknown"
    assert (told[1, "main.main"].waits_for, report.cycle) == ("sync.(*Mutex).Lock", ())


def test_locks_that_know_no_holder_are_known_by_the_calls_that_take_them() -> None:
    takes = ("pthread_rwlock_rdlock", "std::mutex::lock", "sync.(*Mutex).Lock", "std::sync::Mutex<i32>::lock<i32>")
    assert [each for each in (*takes, "std::condition_variable::wait", "block", "read") if takes_lock(each)] == [*takes]
