"""Native programs under lldb-dap: what is its own, beside the story that every debugger tells."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

import stillframe
from stillframe.adapters import understand
from stillframe.adapters.finding import find, numbers
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB
from stillframe.errors import AdapterDied, AdapterMissing, NotFound, WrongState
from stillframe.model.outcomes import AnyOutcome, Exited, Lost, Stop
from stillframe.model.plans import Plan
from stillframe.settings import directory

from ..guard import gone

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
    (tmp_path / ".lldbinit").write_text(f"script open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    stop = stopped(await dbg.launch("./parted", breaks=["inner"], adapter="lldb", env=[f"HOME={tmp_path}"]))
    assert not (tmp_path / "ran").exists(), "what somebody set for his own terminal"
    told = [each.function for each in stop.stack]
    assert told[0] == "inner"
    assert ("main" in told) != any("finds no caller of" in each for each in stop.notes)


CONTAINERS = """
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
using Table = std::unordered_map<int, int>;
struct Base { virtual ~Base() = default; virtual int cost() const = 0; };
struct Paid : Base { int cost() const override { return 4; } };
struct Closing { int code; void operator()(std::string *text) const { delete text; } };
int main() {
    Table table{{1, 2}};
    std::variant<int, std::string> either{"one"};
    std::unique_ptr<Base> owner = std::make_unique<Paid>(), nobody;
    std::unique_ptr<std::string, Closing> text{new std::string("own"), Closing{7}};
    int number = 7, *pointer = &number, *&again = pointer;
    return table.size() + owner->cost() + *again; // @held
}
"""


async def test_a_hash_table_by_another_name_and_an_owner_of_something_abstract_are_told(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "table.cpp").write_text(CONTAINERS)
    stop = stopped(await dbg.launch("table.cpp", breaks=['table.cpp@"@held"'], adapter="lldb"))
    assert stop.local("table") == "size=1 {[1] = 2}", "lldb 19.1 takes it for empty"
    told = {each.name: each.value for each in stop.locals}
    assert re.fullmatch(r"(0x[0-9a-f]+) \{pointer = \1\}", told["owner"]), "lldb 22.1 dies of its own formatter"
    assert told["nobody"].startswith("nullptr")
    assert '{pointer = "own"' in told["text"]
    (behind,) = (await dbg.eval("*again")).values
    assert (behind.value, behind.type) == ("7", "int"), "to lldb itself it would be the pointer that it refers to"
    await dbg.stop()


async def test_what_a_header_keeps_is_no_local_of_a_function_that_has_lines_of_its_numbers(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "rates.h").write_text("\n\n\nstatic int rate = 4;\n")
    (tmp_path / "main.cpp").write_text(
        '#include "rates.h"\nint main() {\n  static int runs = 1;\n  int n = rate;\n  n += runs;\n  return n - 5;\n}\n'
    )
    stop = stopped(await dbg.launch("main.cpp", breaks=["main.cpp:5"], adapter="lldb"))
    assert sorted(each.name for each in stop.locals) == ["n", "runs"]
    (passed,) = stopped(await dbg.next()).trail
    assert [(each.name, each.new) for each in passed.changes] == [("n", "5")]
    page = await dbg.expand(next(each.ref for each in (await dbg.scopes()).scopes if each.name == "globals"))
    assert any(each.name.endswith("rate") for each in page.values)


def xcrun(folder: Path, body: str) -> None:
    """The command of Xcode's that tells where things are."""
    (folder / "xcrun").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "xcrun").chmod(0o755)


async def test_an_app_of_a_simulator_is_joined_by_the_exact_name_of_its_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loop.c").write_text(LOOP)
    await asyncio.to_thread(subprocess.run, ["cc", "-g", "-o", tmp_path / "app", tmp_path / "loop.c"], check=True)
    app = await asyncio.create_subprocess_exec(tmp_path / "app", stdout=subprocess.DEVNULL)
    try:
        rows = [(app.pid, "com.example.shop[1f2e][rb-legacy]"), ("-", "com.example.shop.old[3a][rb-legacy]")]
        told = "".join(f"{pid}\\t0\\tUIKitApplication:{label}\\n" for pid, label in rows)
        xcrun(tmp_path, f'[ "$*" = "simctl spawn booted launchctl list" ] && printf "PID\\tStatus\\tLabel\\n{told}"')
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
            for other, why in (
                ("com.example", "no app com.example; there: com.example.shop, "),
                ("com.example.shop.old", "not run"),
            ):
                with pytest.raises(NotFound, match=why):
                    await dbg.attach(bundle=other)
            await dbg.attach(bundle="com.example.shop")
            status = await dbg.status()
            assert (status.pid, status.tool, status.attached) == (app.pid, "lldb-dap", True)
            await dbg.stop()
        assert app.returncode is None, "what was joined is left running"
    finally:
        app.kill()
        await app.wait()


async def test_gdb_is_chosen_where_there_is_one_lldb_stands_in_for_it_and_who_names_one_gets_it(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    plan = Plan(("app.c",), "file", program="app.c", cwd=str(tmp_path), env=dict(os.environ))
    gdb = find(GDB.needs[0], os.environ, ".")
    assert understand(plan).adapter == ("gdb" if gdb.path and not gdb.problem else "lldb")
    assert understand(replace(plan, adapter="lldb")).adapter == "lldb"
    without = {**os.environ, "PATH": str(tmp_path), "STILLFRAME_TOOLS": str(tmp_path)}
    lldb = find(LLDB.needs[0], os.environ, ".").path
    assert lldb is not None
    (tmp_path / "lldb-dap").symlink_to(lldb)
    assert understand(replace(plan, env=without)).adapter == "lldb"
    (tmp_path / "lldb-dap").rename(tmp_path / "lldb-dap-22")
    assert find(LLDB.needs[0], without, ".").path == str(tmp_path / "lldb-dap-22"), "as Debian calls it"
    assert understand(replace(plan, env=without)).adapter == "lldb"
    (tmp_path / "lldb-dap-22").unlink()
    xcrun(tmp_path, f'[ "$1 $2" = "--find lldb-dap" ] && echo {lldb}')
    assert understand(replace(plan, env=without)).adapter == "lldb"
    (tmp_path / "xcrun").unlink()
    with pytest.raises(AdapterMissing, match="gdb"):
        await GDB.launch(replace(understand(replace(plan, env=without)), cwd=str(tmp_path)))


async def test_lldb_is_reached_by_a_port_where_settings_say_so(dbg: stillframe.Debugger, tmp_path: Path) -> None:
    lldb = find(LLDB.needs[0], os.environ, ".")
    words = ["--port", "${port}"] if numbers(lldb.version) < (20,) else ["--connection", "listen://127.0.0.1:${port}"]
    settings = directory("config") / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        f'[adapters.by-port]\ncommand = {json.dumps([lldb.path, *words])}\ntransport = "tcp"\nclaims = ["*.bin"]\n'
        'launch = { program = "${program}", args = "${args}", cwd = "${cwd}" }\n'
    )
    (tmp_path / "app.c").write_text("int main(void) {\n    int n = 3;\n    return n;\n}\n")
    await asyncio.to_thread(subprocess.run, ["cc", "-g", "app.c", "-o", "app.bin"], cwd=tmp_path, check=True)
    stop = stopped(await dbg.launch("./app.bin", breaks=["app.c:3"]))
    assert stop.frame is not None
    assert (stop.frame.function.partition("(")[0], stop.frame.line, stop.local("n")) == ("main", 3, "3")
    end = await dbg.continue_()
    assert isinstance(end, Exited)
    assert end.exit_code == 3


FORK = """
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, 0, 0);
    return 0;
}
"""


async def test_a_process_that_is_forked_is_said_to_run_without_a_debugger(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "fork.c").write_text(FORK.lstrip())
    stop = stopped(await dbg.launch("fork.c", breaks=["fork.c:7"], adapter="lldb"))
    child = stop.local("child")
    way = "lldb-dap holds one process, and those that are forked run without it; dbg attach --pid N joins one"
    assert [each for each in stop.notes if "forked" in each] == [f"the program forked process {child}: {way}"]


LOOP = """
#include <stdio.h>
int main(void) {
    volatile long turns = 1;
    puts("up");
    fflush(stdout);
    while (1) turns = turns + 1;
}
"""


@dataclass
class Looping:
    """A program that runs on and on under lldb-dap."""

    dbg: stillframe.Debugger
    program: psutil.Process
    lldb: psutil.Process

    async def is_lost(self) -> bool:
        """Whether the session knows that its debugger is gone, within a moment."""
        await asyncio.to_thread(psutil.wait_procs, [self.lldb], timeout=0.5)
        return isinstance(await self.dbg.state(), Lost)


@pytest.fixture
async def looping(tmp_path: Path) -> AsyncIterator[Looping]:
    """Program and debugger are gone when the test is over, and what the debugger had on disk."""
    (tmp_path / "loop.c").write_text(LOOP)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        await dbg.launch("loop.c", adapter="lldb", ready="up")
        program = psutil.Process((await dbg.status()).pid)
        lldb = next(each for each in program.parents() if "lldb-dap" in each.name())
        scratch = lldb.environ()["TMPDIR"]
        assert program.environ().get("TMPDIR") == os.environ.get("TMPDIR"), "the program's own is as it was"
        old = numbers(find(LLDB.needs[0], os.environ, ".").version) < (20,)
        assert os.listdir(scratch) or not old, "lldb 22 has nothing there"
        yield Looping(dbg, program, lldb)
        await asyncio.to_thread(psutil.wait_procs, [program, lldb], timeout=30)
        assert gone(program)
        assert gone(lldb)
    assert not await asyncio.to_thread(os.path.exists, scratch)


async def test_an_lldb_that_is_killed_in_the_middle_of_a_request_takes_its_program_along(looping: Looping) -> None:
    dbg = looping.dbg
    stopped(await dbg.pause(timeout=30))
    await dbg.raw("script import os; _ = os.write(1, b'Content-Length: no protocol\\n\\n')")
    assert (await dbg.eval("turns > 0")).values[0].value == "true", "what is printed into the line harms nothing"
    with pytest.raises(AdapterDied):
        await dbg.raw("script import os; os.kill(os.getpid(), 9)")
    async with asyncio.timeout(60):
        while not await looping.is_lost():
            pass


async def test_an_lldb_that_hangs_is_ended_with_its_program(looping: Looping) -> None:
    looping.lldb.suspend()
    assert (await looping.dbg.stop()).action == "terminated"


THREADED = """
#include <pthread.h>
#include <unistd.h>
static void *idle(void *with) { pause(); return with; }
int main(void) {
    pthread_t other;
    int n = 3;
    pthread_create(&other, 0, idle, 0);
    *(volatile int *)0 = n;
}
"""


async def test_no_thread_of_a_core_moves_however_many_there_are(dbg: stillframe.Debugger, tmp_path: Path) -> None:
    (tmp_path / "dies.c").write_text(THREADED.lstrip("\n"))
    if find(GDB.needs[0], os.environ, ".").problem or find(GDB.needs[0], os.environ, ".").path is None:
        pytest.skip("gdb is not installed, which leaves cores as the system does")
    await dbg.launch("dies.c", adapter="gdb")
    program = os.readlink(f"/proc/{(await dbg.status()).pid}/exe")
    await dbg.raw(f"gcore {tmp_path / 'left.core'}")
    shutil.copy(program, tmp_path / "dies")
    await dbg.stop()
    stop = stopped(await dbg.attach(core="left.core", program="dies", adapter="lldb"))
    assert len((await dbg.threads()).threads) == 2
    assert [each.value for each in (await dbg.locals()).values if each.name == "n"] == ["3"]
    for moving in (dbg.continue_, dbg.next):
        with pytest.raises(WrongState, match="core"):
            await moving()
    assert stopped(await dbg.state()).frame == stop.frame


OVERTAKEN = """
#include <pthread.h>
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int twice(int n) {
    int r = 2 * n;
    return r;
}
static void *work(void *arg) {
    pthread_mutex_lock(&gate);
    *(int *)arg = 5;
    return 0;
}
int main(void) {
    pthread_t other;
    int n = 0;
    pthread_mutex_lock(&gate);
    pthread_create(&other, 0, work, &n);
    pthread_mutex_unlock(&gate), pthread_join(other, 0);
    n = twice(n);
    return n - 10;
}
"""


async def test_a_step_that_a_breakpoint_has_overtaken_ends_no_later_move(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "over.c").write_text(OVERTAKEN)
    places = ["join(other", "= 5", "= twice", "2 * n"]
    stop = stopped(await dbg.launch("over.c", breaks=[f'over.c@"{each}"' for each in places], adapter="lldb"))
    assert (stop.reason, stop.stack[0].function) == ("breakpoint", "main")
    stop = stopped(await dbg.next())
    assert (stop.reason, stop.stack[0].function) == ("breakpoint", "work"), "while main waits in the middle of its line"
    stop = stopped(await dbg.next())
    assert (stop.reason, stop.stack[0].function) == ("step", "work")
    stop = stopped(await dbg.continue_())
    assert (stop.reason, stop.breakpoints, stop.stack[0].function) == ("breakpoint", ("b3",), "main")
    stop = stopped(await dbg.next())
    assert (stop.reason, stop.stack[0].function) == ("breakpoint", "twice")
    ended = await dbg.continue_()
    assert isinstance(ended, Exited) and ended.exit_code == 0, ended


MANY = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *work(void *arg) {
    int mine = *(int *)arg;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        total += mine;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void) {
    pthread_t all[6];
    int numbers[6] = {1, 2, 3, 4, 5, 6};
    for (int i = 0; i < 6; i++) pthread_create(&all[i], 0, work, &numbers[i]);
    for (int i = 0; i < 6; i++) pthread_join(all[i], 0);
    return total - 63;
}
"""


@pytest.mark.long
async def test_threads_that_come_to_a_breakpoint_while_others_step_are_told_once_each_and_left_whole(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "many.c").write_text(MANY)
    outcome = await dbg.launch("many.c", breaks=["many.c:6"], adapter="lldb")
    while isinstance(outcome, Stop):
        assert outcome.reason in ("breakpoint", "step"), outcome
        is_in_loop = bool(outcome.stack) and outcome.stack[0].function == "work" and (outcome.stack[0].line or 0) < 11
        outcome = await (dbg.next() if is_in_loop else dbg.continue_())
    assert isinstance(outcome, Exited) and (outcome.exit_code, outcome.signal) == (0, None), outcome
    (made,) = (await dbg.breaks()).breakpoints
    assert made.hits == 6


TRAPPED = """
#include <signal.h>
int main(void) {
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    return 3;
}
"""


async def test_a_trap_that_a_program_sends_itself_is_told_and_it_goes_on_behind_it(
    dbg: stillframe.Debugger, tmp_path: Path
) -> None:
    (tmp_path / "trapped.c").write_text(TRAPPED)
    stop = stopped(await dbg.launch("trapped.c", adapter="lldb"))
    assert (stop.reason, stop.source[-1].line if stop.source else None) == ("exception", 5), stop
    ended = await dbg.continue_()
    assert isinstance(ended, Exited) and (ended.exit_code, ended.signal) == (3, None), ended
