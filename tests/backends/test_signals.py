"""Signals of native programs: faults hold with the address that they are about, others are the program's own business."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import stillframe
from stillframe.adapters.finding import Needs, find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB

from .nodes import exited, stopped

PROGRAM = """
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static volatile sig_atomic_t got;
static void on(int number) { got += number; }
static sigjmp_buf back;
static void on_fault(int number) { siglongjmp(back, number); }
static int deep(int n) { volatile char room[4096]; room[0] = n; return deep(n + 1) + room[0]; }

int main(int argc, char **argv) {
  char *how = argv[1];
  volatile int zero = 0;
  if (!strcmp(how, "divide")) return 5 / zero;
  if (!strcmp(how, "instruction")) __builtin_trap();
  if (!strcmp(how, "bus")) {
    char *gone = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(tmpfile()), 0);
    gone[8] = 1;
  }
  if (!strcmp(how, "wild")) *(volatile long *)0x4141414141414141 = 3;
  if (!strcmp(how, "handled")) {
    signal(SIGSEGV, on_fault);
    if (!sigsetjmp(back, 1)) *(volatile int *)zero = 1;
    return 0;
  }
  if (!strcmp(how, "deep")) return deep(argc);
  if (!strcmp(how, "sent")) raise(SIGFPE);
  if (!strcmp(how, "term")) raise(SIGTERM);
  int all[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGPIPE, SIGALRM, SIGTERM, SIGWINCH, SIGCHLD, SIGQUIT, SIGPROF, SIGRTMIN + 3};
  int sum = 0;
  for (int at = 0; at < (int)(sizeof all / sizeof *all); at++) {
    signal(all[at], on);
    raise(all[at]);
    sum += all[at];
  }
  return got != sum;
}
"""


def needs(needed: Needs) -> Any:
    found = find(needed, os.environ, ".")
    return pytest.mark.skipif(not found.path or bool(found.problem), reason=f"{needed.tool} is not installed")


both = pytest.mark.parametrize(
    "adapter",
    [pytest.param("gdb", marks=needs(GDB.needs[0])), pytest.param("lldb", marks=needs(LLDB.needs[0]))],
)


@pytest.mark.long
@both
async def test_a_fault_is_told_with_the_address_that_the_machine_tells_and_no_other(
    adapter: str, tmp_path: Path
) -> None:
    (tmp_path / "faults.c").write_text(PROGRAM)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:

        async def told(how: str) -> tuple[str, str]:
            stop = stopped(await dbg.launch("faults.c", how, adapter=adapter))
            assert stop.exception is not None, stop
            assert stop.frame is not None and stop.frame.function in ("main", "deep")
            registers = (await dbg.registers()).values
            here = next(int(each.value.split()[0], 16) for each in registers if each.name == "rip")
            await dbg.stop()
            return stop.exception.type, stop.exception.message.replace(f"{here:#x}", "HERE")

        assert await told("divide") == ("SIGFPE", "bad arithmetic at address HERE")
        assert await told("instruction") == ("SIGILL", "bad instruction at address HERE")
        kind, words = await told("bus")
        assert (kind, words.startswith("bad memory access at address 0x"), words[-3:]) == ("SIGBUS", True, "008")
        assert await told("wild") == ("SIGSEGV", "invalid memory access at an address that the processor does not tell")
        kind, words = await told("deep")
        assert (kind, words.startswith("stack overflow, invalid memory access at address 0x")) == ("SIGSEGV", True)
        assert await told("sent") == ("SIGFPE", "bad arithmetic"), "its number would be the sender's"


@both
async def test_other_signals_go_to_the_program_as_in_a_plain_run(adapter: str, tmp_path: Path) -> None:
    (tmp_path / "faults.c").write_text(PROGRAM)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        assert exited(await dbg.launch("faults.c", "all", adapter=adapter)).exit_code == 0
        end = exited(await dbg.launch("faults.c", "term", adapter=adapter))
        assert (end.exit_code, end.signal) == (None, "SIGTERM"), end


@both
async def test_a_fault_that_the_program_has_a_handler_for_is_not_called_uncaught(adapter: str, tmp_path: Path) -> None:
    (tmp_path / "faults.c").write_text(PROGRAM)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("faults.c", "handled", adapter=adapter))
        assert stop.exception is not None
        assert (stop.exception.type, stop.exception.mode) == ("SIGSEGV", "unhandled")
        assert exited(await dbg.continue_()).exit_code == 0
        report = await dbg.crash("faults.c", "handled", adapter=adapter)
        assert (report.verdict, report.failure) == ("ended well", None)
        assert "handled after all: SIGSEGV: invalid memory access at address 0x0" in report.notes
