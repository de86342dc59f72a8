"""Native programs under lldb-dap: what is its own, beside the story that every debugger tells."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.lldb import LLDB
from stillframe.model.outcomes import AnyOutcome, Stop

PARTED = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((cold, noinline)) static void complain(int n) { printf("bad %d\\n", n); }
__attribute__((noinline)) int inner(int n) { puts("inner"); return n * 3; }
__attribute__((noinline)) int parted(int n) {
    if (__builtin_expect(n < 0, 0)) { complain(n); complain(n + 1); puts("x"); exit(3); }
    int r = inner(n);
    return r + 1;
}
int main(int argc, char **argv) { return parted(argc) == 4 ? 0 : 1; }
"""
"""Its compiler puts what is unlikely in `parted` elsewhere."""


@pytest.fixture(autouse=True)
def lldb() -> None:
    found = find(LLDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("lldb-dap is not installed")


@pytest.fixture
async def dbg(tmp_path: Path) -> AsyncIterator[stillframe.Debugger]:
    async with stillframe.Debugger(cwd=str(tmp_path)) as debugger:
        yield debugger


def stopped(outcome: AnyOutcome) -> Stop:
    assert isinstance(outcome, Stop), outcome
    return outcome


async def test_callers_that_lldb_does_not_find_are_said_to_be_missing(dbg: stillframe.Debugger, tmp_path: Path) -> None:
    (tmp_path / "parted.c").write_text(PARTED)
    await asyncio.to_thread(subprocess.run, ["cc", "-g", "-O2", "parted.c", "-o", "parted"], cwd=tmp_path, check=True)
    stop = stopped(await dbg.launch("./parted", breaks=["inner"], adapter="lldb"))
    told = [each.function for each in stop.stack]
    assert told[0] == "inner"
    assert ("main" in told) != any("finds no caller of" in each for each in stop.notes)
