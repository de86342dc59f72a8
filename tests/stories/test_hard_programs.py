"""Programs and debuggers at their worst: vast values, raw bytes, processes left behind, a debugger that fails in mid-request."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import stillframe
from stillframe.adapters import Adapter
from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO
from stillframe.adapters.lldb import LLDB
from stillframe.adapters.ruby import RUBY
from stillframe.errors import AdapterDied, AdapterUnresponsive
from stillframe.model.outcomes import Exited, Stop

from ..guard import gone

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int many[1000000];
int forever(void) { puts("in"); fflush(stdout); while (1) many[0]++; }
int main(int argc, char **argv) {
    char raw[] = "ok\xff\xfe \x1b[2J\0\xe2\x80\xae" "end\n";
    char *vast = malloc((30 << 20) + 1);
    memset(vast, 'y', 30 << 20);
    vast[30 << 20] = 0;
    many[999999] = 8;
    if (!strcmp(argv[1], "look")) {
        fwrite(raw, 1, sizeof raw - 1, stdout);
        fflush(stdout);
        return 0; // @look
    }
    if (!strcmp(argv[1], "flood"))
        for (int at = 0; at < 100; at++) fwrite(vast, 1, 1000000, stdout);
    if (!strcmp(argv[1], "children")) {
        if (!fork()) { puts("of a child"); return 0; }
        wait(0);
        if (!fork()) { setsid(); while (1) pause(); }
    }
    return 3;
}
"""
GO_PROGRAM = r"""
package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func forever() int {
	os.Stdout.WriteString("in\n")
	for {
	}
}

func down(n int, many []int, vast, raw string) int {
	if n == 0 {
		return len(many) + len(vast) + len(raw) // @look
	}
	return down(n-1, many, vast, raw) + 1
}

func main() {
	switch os.Args[1] {
	case "look":
		raw := "ok\xff\xfe \x1b[2J\x00\u202eend\n"
		many := make([]int, 1000000)
		many[999999] = 8
		os.Stdout.WriteString(raw)
		down(10000, many, strings.Repeat("y", 30<<20), raw)
	case "children":
		first := exec.Command("echo", "of a child")
		first.Stdout = os.Stdout
		first.Run()
		second := exec.Command("sleep", "1000")
		second.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		second.Start()
		os.Exit(3)
	default:
		forever()
	}
}
"""
RUBY_PROGRAM = """
Process.wait(fork { puts "of a child" })
fork { Process.setsid; [$stdout, $stderr].each { |each| each.reopen("/dev/null") }; sleep }
exit 3
"""
ADAPTERS: dict[str, Adapter] = {"gdb": GDB, "lldb": LLDB, "go": GO, "ruby": RUBY}


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The programs by what they are made with, each made once."""
    folder = tmp_path_factory.mktemp("hard")
    (folder / "hard.c").write_text(C.lstrip())
    (folder / "hard.go").write_text(GO_PROGRAM.lstrip())
    (folder / "hard.rb").write_text(RUBY_PROGRAM.lstrip())
    made = {"c": str(folder / "in-c"), "go": str(folder / "in-go"), "ruby": str(folder / "hard.rb")}
    subprocess.run(["cc", "-g", "-O0", "hard.c", "-o", made["c"]], cwd=folder, check=True)
    if shutil.which("go"):
        command = ["go", "build", "-gcflags=all=-N -l", "-o", made["go"], "hard.go"]
        subprocess.run(command, cwd=folder, check=True)
    return made


class Hard:
    """One debugger, and the program that it is tried with."""

    def __init__(self, dbg: stillframe.Debugger, kind: str, binaries: dict[str, str]) -> None:
        self.dbg, self.kind = dbg, kind
        self.program = binaries.get(kind, binaries["c"])

    async def launched(self, word: str, **options: Any) -> Any:
        return await self.dbg.launch(self.program, word, adapter=self.kind, **options)

    def place(self, mark: str) -> str:
        return f'{Path(self.program).with_name("hard.go" if self.kind == "go" else "hard.c")}@"{mark}"'


@pytest.fixture
async def hard(request: pytest.FixtureRequest, tmp_path: Path, binaries: dict[str, str]) -> AsyncIterator[Hard]:
    needs = ADAPTERS[request.param].needs[0]
    found = find(needs, os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip(f"{needs.tool} is not installed")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        yield Hard(dbg, request.param, binaries)


def on(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("hard", kinds, indirect=True)


@on("gdb", "lldb", "go")
async def test_bytes_that_are_no_text_and_values_beyond_all_measure_are_told_within_bounds(hard: Hard) -> None:
    dbg = hard.dbg
    stop = await hard.launched("look", breaks=[hard.place("@look")])
    assert isinstance(stop, Stop), stop
    assert stop.output == "ok\\xff\\xfe \x1b[2J\0\u202eend\n", "as it is; whoever prints it escapes it"
    raw, vast, many = (await dbg.eval("raw", "vast", "many")).values
    assert raw.value.startswith((r'"ok\377\376 \033[2J', r'"ok\xff\xfe '))
    assert raw.value.isprintable()
    assert "y" in vast.value and vast.truncated and len(vast.value) <= 2000, "lldb told the address of a long text"
    assert all(len(each.value) <= 200 for each in stop.locals)
    assert (many.total, many.ref is None) == (1_000_000, False)
    late = await dbg.expand(many.ref or "", start=999_998)
    assert [each.value for each in late.values] == ["0", "8"]
    if hard.kind == "go":
        deep = await dbg.stack(start=9_999, count=10)
        assert [each.function for each in deep.frames][:3] == ["main.down", "main.down", "main.main"]
        assert len((await dbg.stack()).frames) < 100


@on("gdb")
async def test_a_hundred_megabytes_without_a_newline_are_counted_and_the_program_ends_as_it_does(hard: Hard) -> None:
    end = await hard.launched("flood", timeout=100)
    assert isinstance(end, Exited) and end.exit_code == 3
    assert len(end.output) + end.dropped == 100_000_000
    status = await hard.dbg.status()
    assert status.output_bytes == 100_000_000 > status.output_lost > 50_000_000


@on("gdb", "lldb", "go", "ruby")
async def test_a_program_that_forks_and_leaves_a_process_behind_ends_and_that_process_is_named(hard: Hard) -> None:
    end = await hard.launched("children")
    assert isinstance(end, Exited) and (end.output, end.exit_code) == ("of a child\n", 3)
    forks = [each for each in end.notes if each.startswith("the program forked process ")]
    assert bool(forks) == (hard.kind in ("gdb", "lldb"))
    (left,) = (await hard.dbg.stop()).left
    process = psutil.Process(left)
    assert (await hard.dbg.stop(tree=True)).left == ()
    assert gone(process)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
@on("gdb", "lldb", "go")
async def test_a_debugger_that_fails_in_the_middle_of_a_request_is_a_named_error_and_nothing_is_left(
    hard: Hard, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILLFRAME_REQUEST_TIMEOUT", "3")
    dbg = hard.dbg
    await hard.launched("hang" if hard.kind == "go" else "look", breaks=["main.main" if hard.kind == "go" else "main"])
    program = psutil.Process((await dbg.status()).pid)
    debugger = next(each for each in program.parents() if each.ppid() == os.getpid())
    endless = "call main.forever()" if hard.kind == "go" else "forever()"
    asking = asyncio.create_task(dbg.eval(endless, timeout=1))
    assert (await dbg.output(since="0.0.0.0", kind="stdout", wait=True)).stdout == "in\n", "it is at work"
    debugger.send_signal(how)
    failure = AdapterUnresponsive if how is signal.SIGSTOP else AdapterDied
    with pytest.raises(failure):
        await asking
    with pytest.raises(failure):
        await dbg.threads()
    assert (await dbg.stop()).action in ("terminated", "already_ended")
    await asyncio.to_thread(psutil.wait_procs, [program, debugger], timeout=30)
    assert gone(program) and gone(debugger)
