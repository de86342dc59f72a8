"""Go through Delve: what is built, what is joined, what stops it, and what is left when it ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

import stillframe
from stillframe.adapters.finding import find, located, needed
from stillframe.adapters.go import GO, is_library, thread_name
from stillframe.adapters.go.building import is_go_binary, notes_of
from stillframe.adapters.go.command import parsed
from stillframe.adapters.go.panics import panic_text
from stillframe.errors import (
    AdapterDied,
    EvalFailed,
    LaunchFailed,
    NotFound,
    Unsupported,
    UsageError,
    WrongState,
)
from stillframe.model.outcomes import AnyOutcome
from stillframe.model.plans import Plan
from stillframe.model.values import Frame
from stillframe.render.reports import crash as crash_text
from stillframe.render.reports import hang as rendered

from ..guard import free_port, gone
from .nodes import exited, place, stopped, where
from .ports import PATIENCE, printed, until

_FOUND = find(GO.needs[0], os.environ, ".")
pytestmark = pytest.mark.skipif(not _FOUND.path or bool(_FOUND.problem), reason="dlv is not installed")

FILES = {
    "go.mod": "module shop\n\ngo 1.21\n",
    "main.go": """
package main

import (
	"fmt"
	"os"
	"shop/cart"
	"sync"
	"syscall"
	"time"
)

func main() {
	here := &cart.Cart{Owner: "ann", Items: []string{"fig", "pear"}}
	switch os.Args[1] {
	case "sum":
		fmt.Println(here.Sum(3), name) // @sum
	case "index":
		fmt.Println(here.Items[len(os.Args)+7]) // @index
	case "deadlock":
		var group sync.WaitGroup
		group.Add(1)
		group.Wait() // @wait
	case "abort":
		syscall.Kill(os.Getpid(), syscall.SIGABRT) // @abort
		time.Sleep(time.Minute)
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "read":
		var line string
		_, problem := fmt.Scanln(&line)
		fmt.Fprintln(os.Stderr, line, problem)
		where, _ := os.Getwd()
		fmt.Println(where, os.Getenv("SHOP"), os.Getenv("GO_TELEMETRY_CHILD") == "")
	case "handed":
		fmt.Println("serving")
		for _, missing := os.Stat("asked"); missing != nil; _, missing = os.Stat("asked") {
			time.Sleep(time.Millisecond)
		}
		var number int
		fmt.Sscan("x", &number)
		fmt.Println(label{here.Items})
		safely(here.Items)
	case "crowd":
		var group sync.WaitGroup
		for number := 0; number < 12; number++ {
			group.Add(1)
			go func() {
				here.Sum(1) // @crowd
				group.Done()
			}()
		}
		group.Wait()
	case "tick":
		fmt.Println("ticking")
		for n := 0; ; n++ {
			here.Sum(n)
			time.Sleep(10 * time.Millisecond)
		}
	}
}

type label struct{ words []string }

func (label label) String() string { return label.words[5] } // @label

func safely(words []string) (text string) {
	defer func() { recover() }()
	return words[6]
}
""",
    "name.go": 'package main\n\nvar name = "of another file"\n',
    "cart/cart.go": """
package cart

type Cart struct {
	Owner string
	Items []string
}

func (cart *Cart) Sum(n int) int {
	sum := 0
	for at := 0; at < n; at++ {
		sum += at // @add
	}
	return sum // @return
}
""",
    "cart/cart_test.go": """
package cart

import "testing"

func TestSum(t *testing.T) {
	got := (&Cart{}).Sum(4)
	if got != 7 { // @got
		t.Errorf("got %d", got)
	}
}

func TestOther(t *testing.T) { t.Fatal("not asked for") }
""",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.lstrip("\n"))
    return tmp_path


def mark(folder: Path, file: str, name: str) -> str:
    lines = (folder / file).read_text().splitlines()
    return f"{file}:{next(number for number, line in enumerate(lines, 1) if line.endswith(f'// @{name}'))}"


@asynccontextmanager
async def launched(
    folder: Path, *words: str, **options: object
) -> AsyncIterator[tuple[stillframe.Debugger, AnyOutcome]]:
    async with stillframe.Debugger(cwd=str(folder)) as dbg:
        yield dbg, await dbg.launch(*words, **options)  # type: ignore[arg-type]


def built(shop: Path) -> Path:
    """The program, as somebody would have built it who wants to debug it."""
    path = shop / "shop"
    subprocess.run(["go", "build", "-gcflags=all=-N -l", "-o", str(path), "."], cwd=shop, check=True)
    return path


async def test_one_file_stands_for_its_package_and_methods_are_places_by_several_names(shop: Path) -> None:
    async with launched(shop, "main.go", "sum", breaks=["(*Cart).Sum"]) as (dbg, first):
        assert place(first)[0] == "cart.(*Cart).Sum"
        assert (await dbg.raw("dlv sources cart")).text == str(shop / "cart" / "cart.go"), "Delve's own commands"
        assert stopped(first).local("n") == "3"
        (made,) = (await dbg.breaks()).breakpoints
        assert made.state == "bound"
        assert made.actual is not None
        assert (made.actual.file or "").endswith("cart/cart.go")
        first_line = f"cart/cart.go:{made.actual.line}"
        shared = [await dbg.break_(name) for name in ("cart.(*Cart).Sum", "Sum", first_line)]
        assert {each.state for each in shared} == {"bound"}, "the same place by other names"
        assert len({each.actual.line for each in shared if each.actual}) == 1
        for each in (made, *shared[:2]):
            await dbg.unbreak(each.id)
        (kept,) = (await dbg.breaks()).breakpoints
        assert (kept.id, kept.state) == (shared[2].id, "bound"), "those that it shared the place with are gone"
        other = await dbg.break_("Sum", condition="n == 2")
        assert (other.state, other.actual and other.actual.line) == ("bound", made.actual.line)
        nowhere = await dbg.break_("no.such")
        assert (nowhere.state, bool(nowhere.message)) == ("failed", True)
        await dbg.unbreak(all=True)
        await dbg.break_(mark(shop, "cart/cart.go", "add"), condition="at == 2")
        stop = stopped(await dbg.continue_())
        assert (stop.local("sum"), stop.local("at")) == ("1", "2")
        with pytest.raises(EvalFailed, match="call"):
            await dbg.eval("cart.Sum(2)")
        watched = [await dbg.watch("cart.Owner"), await dbg.watch("sum")]
        assert [each.state for each in watched] == ["failed", "bound"], "a text is more than the machine can watch"
        stop = stopped(await dbg.continue_())
        assert (stop.reason, stop.breakpoints) == ("watchpoint", (watched[1].id,)), "there is but one"
        await dbg.unbreak(watched[1].id)
        await dbg.set("cart.Owner", '"bob"')
        assert (await dbg.eval("cart.Owner")).values[0].value == '"bob"'
        with pytest.raises(EvalFailed):
            await dbg.set("nothing", "1")
        end = exited(await dbg.continue_())
        assert end.output == "3 of another file\n"


GENERIC = """
package main

import "fmt"

type Item struct {
	SKU string `json:"sku"`
	Qty []int  `json:"qty"`
}

type Store[K comparable, V any] struct{ data map[K]V }

func (s *Store[K, V]) Put(k K, v V) {
	s.data[k] = v
}

func Each[T any](xs []T, f func(T)) {
	for _, x := range xs {
		f(x)
	}
}

func main() {
	s := &Store[string, Item]{data: map[string]Item{}}
	Each([]Item{{SKU: "a"}}, func(i Item) { s.Put(i.SKU, i) })
	fmt.Println(len(s.data))
}
"""


async def test_a_function_with_parameters_of_types_is_told_as_gos_own_stacks_tell_it(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(GENERIC.lstrip("\n"))
    breaks = ["main.(*Store[...]).Put"]  # as it is told, it can be asked for
    async with launched(tmp_path, "main.go", breaks=breaks) as (dbg, first):
        told = [each.function for each in stopped(first).stack][:4]
        assert told == ["main.(*Store[...]).Put", "main.main.func1", "main.Each[...]", "main.main"]
        assert stopped(first).local("k") == '"a"'
        assert place(await dbg.finish())[0] == "main.main.func1"


HANDED = """
package main

import (
	"fmt"
	"strings"
)

func upper(r rune) rune {
	return r - 32
}

func main() {
	text := strings.Map(upper, "ab")
	fmt.Println(text)
}
"""


async def test_a_step_out_into_library_code_says_that_the_line_shown_is_not_over(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(HANDED.lstrip("\n"))
    async with launched(tmp_path, "main.go", breaks=["main.go:9"]) as (dbg, first):
        assert stopped(first).notes == ()
        await dbg.unbreak("b1")
        for _ in range(2):
            inside = stopped(await dbg.finish() if place(first)[0] == "main.upper" else await dbg.next())
            assert (place(inside), inside.stack[0].function) == (("main.main", 13), "strings.Map")
            (note,) = inside.notes
            at = f"strings.go:{inside.stack[0].line}"
            assert note == (
                f"this line is not over: the step ended in library code that it called, in strings.Map ({at}); "
                "`finish` leaves one such call"
            )
            first = inside
        out = stopped(await dbg.finish())
        assert (place(out), out.stack[0].function, out.notes) == (("main.main", 13), "main.main", ())
        assert (place(await dbg.next()), exited(await dbg.continue_()).output) == (("main.main", 14), "AB\n")


OVERTAKEN = """
package main

func work(given, done chan int) {
	n := <-given
	n++
	done <- n
}

func main() {
	given, done := make(chan int), make(chan int)
	go work(given, done)
	given <- 4; n := <-done
	n = 2 * n
	println(n)
}
"""


async def test_a_step_that_another_goroutines_stop_has_overtaken_ends_no_later_move(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(OVERTAKEN.lstrip("\n"))
    async with launched(tmp_path, "main.go", breaks=["main.go:12", "main.go:5", "main.go:14"]) as (dbg, first):
        assert place(first) == ("main.main", 12)
        over = stopped(await dbg.next())
        assert (over.reason, place(over)) == ("breakpoint", ("main.work", 5))
        for move in (dbg.next, dbg.step, dbg.finish):
            with pytest.raises(WrongState, match="makes no step before that of another goroutine is over"):
                await move()
        behind = stopped(await dbg.continue_())
        assert (behind.reason, place(behind)) == ("breakpoint", ("main.main", 14))
        assert place(await dbg.next()) == ("main.main", 15)
        assert exited(await dbg.continue_()).exit_code == 0


async def test_tests_of_one_package_run_as_go_test_runs_them(shop: Path) -> None:
    breaks = [mark(shop, "cart/cart_test.go", "got")]
    command = ("go", "test", "-run", "TestSum", "-v", "./cart")
    async with stillframe.Debugger(cwd=str(shop)) as dbg:
        first = await dbg.launch(command=command, breaks=breaks)
        assert place(first)[0] == "cart.TestSum"
        assert stopped(first).local("got") == "6"
        assert [each.function for each in stopped(first).stack if each.kind == "user"] == ["cart.TestSum"]
        end = exited(await dbg.continue_())
        assert end.exit_code == 1
        assert "--- FAIL: TestSum" in end.output
        assert "TestOther" not in end.output
        with pytest.raises(UsageError, match="one package"):
            await dbg.launch(command=("go", "test", "./..."))


async def test_a_go_that_is_a_script_of_pythons_is_go_all_the_same(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = located("go", os.environ, str(shop))
    script = tmp_path / "bin" / "go"  # as pip installs it
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!{sys.executable}\nimport os, sys\nos.execv({real!r}, [{real!r}, *sys.argv[1:]])\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    async with stillframe.Debugger(cwd=str(shop)) as dbg:
        command = ("go", "test", "-run", "TestSum", "./cart")
        first = await dbg.launch(command=command, breaks=[mark(shop, "cart/cart_test.go", "got")])
        assert place(first)[0] == "cart.TestSum"


async def test_what_the_compiler_says_is_the_error_and_nothing_is_left_of_the_build(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shop / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    (shop / "name.go").write_text("package main\n\nvar name = missing\n")
    async with stillframe.Debugger(cwd=str(shop)) as dbg:
        with pytest.raises(LaunchFailed, match=r"name.go:3:12: undefined: missing"):
            await dbg.launch(".", "sum")
        with pytest.raises(LaunchFailed, match="package is not main"):
            await dbg.launch("cart")
        with pytest.raises(LaunchFailed, match="no such file"):
            await dbg.launch("missing.go")
    assert list(folder.iterdir()) == []


@pytest.mark.long
async def test_panics_and_deadlocks_stop_in_the_users_line(shop: Path) -> None:
    async with launched(shop, ".", "index") as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None
        assert (stop.exception.type, stop.exception.mode) == ("panic", "uncaught")
        assert stop.exception.message == "runtime error: index out of range [9] with length 2"
        assert where(stop) == mark(shop, "main.go", "index")
        assert exited(await dbg.continue_()).exit_code == 2
    async with launched(shop, ".", "deadlock") as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None
        assert stop.exception.message == "all goroutines are asleep - deadlock!"
        assert where(stop) == mark(shop, "main.go", "wait")
    async with stillframe.Debugger(cwd=str(shop)) as dbg:
        report = await dbg.hang(".", "deadlock")
        (group,) = report.groups
        assert report.said == "fatal error: all goroutines are asleep - deadlock!"
        at = group.stack.frames[0]
        assert (group.waits_for, f"{at.file}:{at.line}") == ("sync.(*WaitGroup).Wait", mark(shop, "main.go", "wait"))
        assert exited(report.end).exit_code == 2
        told = rendered(report, 4000)
        assert told.startswith(
            ". deadlock ended by itself: fatal error: all goroutines are asleep - deadlock!; exit 2 "
        )
        assert "goroutine 1 [" not in told and "the error's own report" in told
    async with launched(shop, ".", "index", catch=("off",)) as (_, first):
        assert exited(first).exit_code == 2


@pytest.mark.long
async def test_panics_that_somebody_recovers_from_are_told_of_what_is_asked_something(shop: Path) -> None:
    async with stillframe.Debugger(cwd=str(shop)) as dbg:
        report = await dbg.crash("main.go", "handed", ready="serving", do="touch asked")
        assert (report.verdict, report.failure is None) == ("handled", False)
        assert report.failure is not None
        assert report.failure.what == "panic: runtime error: index out of range [5] with length 2"
        assert report.failure.exception is not None
        assert report.failure.exception.mode == "user", "it is fmt that recovers"
        top = report.failure.stack.frames[0]
        assert f"{top.file}:{top.line}" == mark(shop, "main.go", "label")
        assert 'words: []string len: 2, cap: 2, ["fig","pear"]' in top.values[0].value
        assert [each.what for each in report.also] == ["panic: runtime error: index out of range [6] with length 2"], (
            "what fmt raises and handles itself, reading a number, is none"
        )
        (shop / "asked").unlink()
        (shop / "stillframe.toml").write_text("wait = 1\n")
        waits = await dbg.crash("main.go", "handed", ready="80", do="touch asked", timeout=0.5)
        assert "note: it was never ready: it has not printed '80' (a port is :80); --do was not run" in crash_text(
            waits, 4000
        )


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ('interface {}(runtime.plainError) "close of nil channel"', "close of nil channel"),
        ('interface {}(runtime.errorString) "integer divide by zero"', "runtime error: integer divide by zero"),
        (
            "interface {}(runtime.boundsError) {x: 5, y: 2, signed: true, code: BoundsSliceAcap (2)}",
            "runtime error: slice bounds out of range [:5] with capacity 2",
        ),
        ('interface {}(*fmt.wrapError) *{msg: "saving: full", err: error(*errors.errorString) *{s: "full"}}', "saving: full"),
        ("interface {}(*main.myErr) *{code: 3}", "*main.myErr {code: 3}"),
        ("interface {}(int) 42", "int 42"),
        ("interface {} nil", "interface {} nil"),
    ],
)  # fmt: skip
def test_what_a_program_panicked_with_is_told_as_go_would(told: str, text: str) -> None:
    assert panic_text(told) == text


async def test_goroutines_that_come_to_a_place_at_once_are_each_told(shop: Path) -> None:
    async with launched(shop, ".", "crowd", breaks=[mark(shop, "main.go", "crowd")]) as (dbg, outcome):
        seen = set()
        while isinstance(outcome, stillframe.Stop):
            assert outcome.breakpoints == ("b1",)
            seen.add(outcome.thread)
            (made,) = (await dbg.breaks()).breakpoints
            outcome = await dbg.continue_()
        assert (exited(outcome).exit_code, len(seen), made.hits) == (0, 12, 12)


BUSY = """
package main

import "fmt"

func spin() {
	turns := 0
	fmt.Println("spinning")
	for {
		turns++ // @spin
	}
}

func run() {
	spin()
}

func main() {
	go run()
	run()
}
"""


@pytest.mark.long
async def test_a_pause_tells_the_interrupted_call_and_its_line_though_a_signal_of_the_runtime_came_just_then(
    tmp_path: Path,
) -> None:
    (tmp_path / "busy.go").write_text(BUSY.lstrip("\n"))
    async with launched(tmp_path, "busy.go", timeout=0) as (dbg, _):
        page = await dbg.output(since="0.0.0.0", wait=True)
        if page.stdout.count("spinning") < 2:
            await dbg.output(since=page.cursor, wait=True)
        # Two goroutines on few processors: one pause in six comes with a signal that asks one of them to make room.
        for _ in range(40):
            stop = stopped(await dbg.pause())
            functions = [each.function for each in stop.stack if each.kind == "user"]
            assert functions in (["main.spin", "main.run"], ["main.spin", "main.run", "main.main"]), stop.stack
            assert (where(stop), stop.notes) == (mark(tmp_path, "busy.go", "spin"), ())
            await dbg.continue_(timeout=0)


async def test_streams_directory_and_environment_are_the_programs_own(shop: Path) -> None:
    elsewhere = str(shop.parent)  # its module is found by where it lies, not by where it runs
    async with launched(shop, "main.go", "read", stdin="-", cwd=elsewhere, env=("SHOP=open",), timeout=0) as (dbg, _):
        await dbg.input("typed")
        end = exited(await dbg.wait())
        assert (end.output, end.stderr) == (f"{elsewhere} open true\n", "typed <nil>\n")


@pytest.mark.long
async def test_a_running_program_is_joined_and_lives_on(shop: Path) -> None:
    binary = await asyncio.to_thread(built, shop)
    assert is_go_binary(binary)
    assert not is_go_binary(shop / "main.go")
    (note,) = notes_of(Path(_FOUND.path or ""))
    assert (note.startswith("dlv was optimised, and lacks lines"), notes_of(binary)) == (True, ())
    await is_said_to_lack_debug_information(shop, Path(shutil.copy(binary, shop / "bare")))
    process = await asyncio.create_subprocess_exec(str(binary), "tick", stdout=asyncio.subprocess.PIPE)
    try:
        await printed(process, "ticking")
        async with stillframe.Debugger(cwd=str(shop)) as dbg:
            stop = stopped(await dbg.attach(pid=process.pid, breaks=[mark(shop, "cart/cart.go", "return")]))
            assert stop.frame is not None
            assert stop.frame.function == "cart.(*Cart).Sum"
            assert (await dbg.stop()).action == "detached"
        assert not gone(psutil.Process(process.pid))
        await is_run_as_it_is(shop, binary)
    finally:
        process.kill()
        await process.wait()
    await is_joined_by_name(shop, Path(shutil.copy(binary, shop / f"late{os.getpid()}")))


async def is_said_to_lack_debug_information(shop: Path, binary: Path) -> None:
    """A program that was stripped, as `go build -ldflags='-s -w'` makes it: once, and with what to do."""
    await asyncio.to_thread(subprocess.run, ["strip", str(binary)], check=True)
    said = "bare has no debug information: go build without -ldflags='-s -w' keeps lines and variables"
    async with launched(shop, "./bare", "tick", breaks=["main.main"]) as (dbg, first):
        stop = stopped(first)
        assert [each for each in stop.notes if "debug info" in each] == [said]
        assert stop.stderr == "", "what Delve says of itself is not of the program's printing"
        process = await asyncio.create_subprocess_exec(str(binary), "tick", stdout=asyncio.subprocess.DEVNULL)
        try:
            joined = await dbg.attach(pid=process.pid, name="joined", timeout=0)
            assert [each for each in joined.notes if "debug info" in each] == [said]
            assert (await dbg.stop(session="joined")).action == "detached"
        finally:
            process.kill()
            await process.wait()


async def is_run_as_it_is(shop: Path, binary: Path) -> None:
    """A program that somebody has built, and the signals that end it."""
    async with launched(shop, f"./{binary.name}", "abort") as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None
        told = (stop.exception.type, stop.exception.mode, stop.exception.message)
        assert told == ("SIGABRT", "uncaught", "the program's runtime ends it for this signal")
        assert (where(stop), "here" in [each.name for each in stop.locals]) == (mark(shop, "main.go", "abort"), True)
        assert exited(await dbg.continue_()).exit_code == 2, "as Go itself ends it"
        end = exited(await dbg.launch(command=(str(binary), "kill")))
        assert (end.signal, end.exit_code) == ("SIGKILL", None)


async def is_joined_by_name(shop: Path, binary: Path) -> None:
    """Whoever waits for a program by its name has the next one of it."""
    begun: list[asyncio.subprocess.Process] = []
    async with stillframe.Debugger(cwd=str(shop)) as dbg:
        wish = dbg.attach(wait_for=binary.name, breaks=[mark(shop, "cart/cart.go", "return")])
        joining = asyncio.create_task(wish)
        try:
            while not joining.done():  # the first one may have been there before anybody looked
                begun.append(
                    await asyncio.create_subprocess_exec(str(binary), "tick", stdout=asyncio.subprocess.DEVNULL)
                )
                await asyncio.wait({joining}, timeout=5)
            assert place(await joining)[0] == "cart.(*Cart).Sum"
            assert (await dbg.status()).pid in [each.pid for each in begun]
            assert (await dbg.stop()).action == "detached"
        finally:
            for each in begun:
                each.kill()
                await each.wait()


@pytest.mark.parametrize("lives_on", [True, False])
async def test_a_delve_that_listens_is_joined_and_its_program_runs_on_where_delve_lets_it(
    shop: Path, lives_on: bool
) -> None:
    port = free_port()
    dlv = needed(GO.needs[0], os.environ, ".").path or ""
    binary = await asyncio.to_thread(built, shop)
    flags = ("--headless", *(("--accept-multiclient",) if lives_on else ()))
    process = await asyncio.create_subprocess_exec(
        dlv, "exec", str(binary), *flags, f"--listen=127.0.0.1:{port}", "--", "tick",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env={**os.environ, "GO_TELEMETRY_CHILD": "2"},
    )  # fmt: skip
    try:
        await printed(process, "listening")
        async with stillframe.Debugger(cwd=str(shop)) as dbg:
            stop = stopped(await dbg.attach(f"127.0.0.1:{port}", breaks=[mark(shop, "cart/cart.go", "return")]))
            assert place(stop)[0] == "cart.(*Cart).Sum"
            if not lives_on:
                with pytest.raises(Unsupported, match="it ends the program when we leave"):
                    await dbg.detach()
                assert (await dbg.stop()).action == "terminated"
                return
            assert (await dbg.stop()).action == "detached"
        (program,) = psutil.Process(process.pid).children()
        await until(lambda: program.status() in (psutil.STATUS_SLEEPING, psutil.STATUS_RUNNING))
        assert process.returncode is None
    finally:
        for each in (*psutil.Process(process.pid).children(), process) if lives_on else ():
            each.kill()
        await process.wait()


async def test_a_debugger_that_dies_takes_its_program_along_and_that_is_said(shop: Path) -> None:
    async with launched(shop, ".", "tick", breaks=[mark(shop, "cart/cart.go", "return")]) as (dbg, first):
        assert stopped(first)
        pid = (await dbg.status()).pid
        assert pid is not None
        program = psutil.Process(pid)
        program.parent().kill()
        with pytest.raises((AdapterDied, WrongState), match=r"lost|ended"):
            async with asyncio.timeout(PATIENCE):
                while True:
                    await dbg.threads()
        await until(lambda: gone(program))


@pytest.mark.long
async def test_a_core_can_be_looked_at_and_never_moves(shop: Path) -> None:
    gdb = shutil.which("gcore")
    if gdb is None:
        pytest.skip("gcore is not installed")
    binary = await asyncio.to_thread(built, shop)
    process = await asyncio.create_subprocess_exec(str(binary), "tick", stdout=asyncio.subprocess.PIPE)
    try:
        await printed(process, "ticking")
        made = await asyncio.create_subprocess_exec(
            gdb, "-o", str(shop / "core"), str(process.pid), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )  # fmt: skip
        assert await made.wait() == 0
        async with stillframe.Debugger(cwd=str(shop)) as dbg:
            dead = stopped(await dbg.attach(core=str(shop / f"core.{process.pid}"), program=str(binary)))
            assert (dead.reason, dead.exception) == ("died", None), "Delve calls it an error that it cannot go on"
            frames = await dbg.stack(count=20)
            (main,) = [each.id for each in frames.frames if each.function == "main.main"]
            assert "here" in [each.name for each in (await dbg.locals(frame=main)).values]
            (owner,) = (await dbg.eval("here.Owner", frame=main)).values
            assert owner.value == '"ann"'
            assert (await dbg.memory("here.Owner", count=3, frame=main)).text == "ann"
            for moving in (dbg.continue_(), dbg.step_back()):
                with pytest.raises(WrongState, match="core"):
                    await moving
            await dbg.stop()
            again = stopped(await dbg.attach(core=str(shop / f"core.{process.pid}")))
            assert again.reason == "died", "the core itself tells whose it is, and so that it is Go's"
            assert "main.main" in [each.function for each in (await dbg.stack(count=20)).frames]
            await dbg.stop()
        assert psutil.pid_exists(process.pid), "the process that has the core's number is none of ours"
    finally:
        process.kill()
        await process.wait()


async def test_what_delve_cannot_do_it_refuses_by_name(shop: Path) -> None:
    async with launched(shop, ".", "sum", breaks=[mark(shop, "cart/cart.go", "return")]) as (dbg, _):
        for words in (("raised",), ("SomeError",)):
            with pytest.raises(Unsupported, match=r"catch|exception classes"):
                await dbg.catch(*words)
        assert "dlv examinemem" in (await dbg.raw("dlv help")).text
        assert "showRegisters" in (await dbg.raw("dlv config -list")).text
        for other in ("dlv goroutines", "goroutines", "dlv", "step"):
            with pytest.raises(EvalFailed, match="the commands that `dlv help` lists"):
                await dbg.raw(other)
        with pytest.raises(Unsupported, match="write memory"):
            await dbg.memory("sum", write="07")
        refused = await dbg.break_("main.main", log="here")
        assert (refused.state, "log points on lines alone: name a line" in (refused.message or "")) == ("failed", True)
        await dbg.unbreak(refused.id)
        with pytest.raises(NotFound):
            await dbg.memory("0x10")


async def test_memory_instructions_and_registers_are_told_and_a_watch_as_what_stopped(shop: Path) -> None:
    async with launched(shop, ".", "sum", breaks=[mark(shop, "cart/cart.go", "add")]) as (dbg, _):
        await dbg.continue_()
        for where in ("n", "&n"):
            assert (await dbg.memory(where, count=8)).hex == "0300000000000000"
        owner = (await dbg.eval("cart.Owner")).values[0].value
        assert (await dbg.memory("cart.Owner", count=3)).text == owner.strip('"')[:3]
        assert (await dbg.memory("n", count=3000)).size == 3000
        await dbg.watch("sum")
        stop = stopped(await dbg.continue_())
        assert (stop.reason, stop.breakpoints) == ("watchpoint", ("b2",))
        assert [each.hits for each in (await dbg.breaks()).breakpoints] == [2, 1]
        await instructions_and_registers_are_told(dbg)


async def instructions_and_registers_are_told(dbg: stillframe.Debugger) -> None:
    first, second = (await dbg.disasm(count=2)).instructions
    registers = (await dbg.registers("rip", "rsp")).values
    assert [each.name for each in registers] == ["rip", "rsp"]
    assert int(registers[0].value, 0) == int(first.address, 0)
    assert "Registers" not in [each.name for each in (await dbg.scopes()).scopes], "only who asks is told"
    inside = await dbg.break_insn(first.address, offset=1)
    assert (inside.state, "no instruction begins at" in (inside.message or "")) == ("failed", True)
    await dbg.unbreak("b1", "b2")
    made = await dbg.break_insn(second.address)
    assert stopped(await dbg.continue_()).breakpoints == (made.id,)


@pytest.mark.parametrize(
    ("words", "targets", "flags", "args"),
    [
        ("run . a -b", (".",), (), ("a", "-b")),
        ("run -tags x,y -race a.go b.go -v", ("a.go", "b.go"), ("-tags=x,y", "-race"), ("-v",)),
        ("run --ldflags=-s ./cmd/two", ("./cmd/two",), ("-ldflags=-s",), ()),
        ("test -run A -v", (".",), (), ("-test.run=A", "-test.v")),
        ("test ./x -count=1 -tags t -args one -two", ("./x",), ("-tags=t",), ("-test.count=1", "one", "-two")),
        ("test ./x -test.run A -test.v", ("./x",), (), ("-test.run=A", "-test.v")),
        ("test ./x -update -run A -vet=off", ("./x",), ("-vet=off",), ("-update", "-test.run=A")),
        ("test -v -mine data -short -C d", (".",), (), ("-test.v", "-mine", "data", "-test.short")),
    ],
)
def test_a_go_command_is_taken_apart(
    words: str, targets: tuple[str, ...], flags: tuple[str, ...], args: tuple[str, ...]
) -> None:
    build = parsed(Plan(command=("go", *words.split()), kind="command"))
    assert (build.targets, build.flags, build.args) == (targets, flags, args)


@pytest.mark.parametrize(
    ("function", "file", "library"),
    [
        ("main.main", "/home/u/src/runtime/main.go", False),
        ("runtime.gopanic", "/usr/lib/go-1.19/src/runtime/panic.go", True),
        ("sync.runtime_Semacquire", "/usr/local/go/src/runtime/sema.go", True),
        ("net/http.(*Server).Serve", "/usr/local/go/src/net/http/server.go", True),
        ("shop/cart.(*Cart).Sum", "/home/u/src/shop/cart/cart.go", False),
        ("github.com/x/y.F", "/home/u/go/pkg/mod/github.com/x/y@v1.2.3/y.go", True),
        ("runtime.goexit", None, True),
    ],
)
def test_frames_of_go_itself_and_of_fetched_modules_are_the_librarys(
    function: str, file: str | None, library: bool
) -> None:
    assert is_library(Frame(function=function, file=file)) is library


@pytest.mark.long
async def test_a_function_that_libraries_have_too_is_the_one_of_the_module_and_a_module_may_be_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "go.mod").write_text("module shop\n\ngo 1.21\n")
    (tmp_path / "cart").mkdir()
    (tmp_path / "cart" / "cart.go").write_text(
        "package cart\n\nfunc Sum[T int | float64](xs []T) T {\n\tvar sum T\n\tfor _, x := range xs {\n\t\tsum += x\n\t}\n"
        "\treturn sum\n}\n\ntype Cart struct{}\n\nfunc (c *Cart) Write(n int) int {\n\treturn n\n}\n"
    )
    (tmp_path / "main.go").write_text(
        'package main\n\nimport (\n\t"crypto/sha1"\n\t"fmt"\n\t"shop/cart"\n)\n\nfunc main() {\n'
        "\tfmt.Println(sha1.New().Sum(nil)[0], cart.Sum([]int{1, 2}), (&cart.Cart{}).Write(2))\n}\n"
    )
    for name, line in {"Sum": 3, "cart!Sum": 3, "Write": 13}.items():
        async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
            stop = stopped(await dbg.launch("main.go", breaks=[name]))
            assert (stop.breakpoints, where(stop)) == (("b1",), f"cart/cart.go:{line}"), name
            life = (await dbg.trace(name, command=("go", "run", "."))).life
            assert life is not None
            assert [each.name for each in life.arguments] == (["c", "n"] if name == "Write" else ["xs"])


def test_goroutines_are_called_by_number_labels_and_function() -> None:
    assert thread_name("* [Go 1] main.main (Thread 12)") == "goroutine 1: main.main"
    assert thread_name("[Go 18 name:helper] runtime.gopark") == "goroutine 18 name:helper: runtime.gopark"


CROWD = """
package main

import "fmt"

func main() {
	block := make(chan int)
	for n := 0; n < 1500; n++ {
		go func() { <-block }()
	}
	items := []int{1, 2} // @items
	fmt.Println(items) // @log
}
"""


async def test_goroutines_that_delve_does_not_list_are_said_to_be_there_and_failures_in_log_texts_are_told_plainly(
    tmp_path: Path,
) -> None:
    (tmp_path / "go.mod").write_text("module crowd\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text(CROWD.lstrip())
    async with launched(tmp_path, ".", breaks=[mark(tmp_path, "main.go", "items")]) as (dbg, _):
        told = await dbg.threads(count=3)
        assert (len(told.threads), told.at_least) == (3, True)
        assert 1000 <= (told.total or 0) <= 1024
        await dbg.break_(mark(tmp_path, "main.go", "log"), log="{nosuch} {items[7]} {items[1]} {items+}")
        end = exited(await dbg.continue_())
        assert end.log == (
            "<could not find symbol value for nosuch> <index out of bounds> 2 <expected operand, found 'EOF'>\n"
        )
