"""Ruby through rdbg: our code behind its door, errors, threads, values, and programs that were there before us."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.ruby import RUBY
from stillframe.adapters.ruby.command import understood
from stillframe.errors import LaunchFailed, NotFound, UsageError, WrongState
from stillframe.model.outcomes import AnyOutcome, Stop
from stillframe.model.plans import Plan

from ..guard import free_port
from .nodes import exited, place, returned, stopped, where
from .ports import PATIENCE, printed, until

_FOUND = find(RUBY.needs[0], os.environ, ".")
pytestmark = pytest.mark.skipif(not _FOUND.path or bool(_FOUND.problem), reason="rdbg is not installed")


@asynccontextmanager
async def debugged(
    folder: Path, text: str, *args: str, **options: object
) -> AsyncIterator[tuple[stillframe.Debugger, AnyOutcome]]:
    (folder / "app.rb").write_text(text.lstrip("\n"))
    async with stillframe.Debugger(cwd=str(folder)) as dbg:
        yield dbg, await dbg.launch("app.rb", *args, **options)  # type: ignore[arg-type]


CART = """
class Cart
  def initialize(owner)
    @owner = owner
    @items = []
  end

  def add(item)
    @items << item
    self
  end

  def self.make(owner) = new(owner)
end

cart = Cart.make('ann')
%w[fig pear plum].each do |word|
  cart.add(word)
end
puts 'done'
"""


async def test_methods_are_places_before_they_exist_and_say_where_they_are_then(tmp_path: Path) -> None:
    async with debugged(tmp_path, CART, breaks=["Cart#add", "Cart.make", "no_such"]) as (dbg, first):
        assert place(first) == ("Cart.make", 12)
        stop = stopped(await dbg.continue_())
        assert (place(stop)[0], stop.local("item")) == ("Cart#add", '"fig"')
        assert stop.local("self") == '#<Cart @owner="ann", @items=[]>'
        states = {each.id: (each.state, each.actual and each.actual.line) for each in (await dbg.breaks()).breakpoints}
        assert states == {"b1": ("bound", 7), "b2": ("bound", 12), "b3": ("pending", None)}
        await dbg.unbreak("b1")
        await dbg.break_("Cart#add", condition="item.start_with?('pl')")
        assert stopped(await dbg.continue_()).local("item") == '"plum"'
        out = stopped(await dbg.finish())
        assert returned(out) == '#<Cart @owner="ann", @items=["fig", "pear", "plum"]>'
        assert exited(await dbg.continue_()).output == "done\n"


async def test_a_step_leaves_no_line_out_and_judges_the_breakpoints_that_it_comes_to(tmp_path: Path) -> None:
    text = """
total = 0
(1..3).each do |n|
  total += n
end
total += 1; total += 2
puts total
"""
    async with debugged(tmp_path, text, breaks=["app.rb:1"]) as (dbg, _):
        await dbg.break_("app.rb:3", condition="n == 9")
        await dbg.break_("app.rb:5", condition="total == 6")
        lines = []
        while isinstance(outcome := await dbg.next(), Stop):
            lines.append((place(outcome)[1], outcome.reason))
        assert lines == [(2, "step"), (5, "breakpoint"), (6, "step")]
        assert exited(outcome).output == "9\n"
        never = [each.id for each in outcome.never_hit]
        assert never == ["b2"]


async def test_a_step_off_the_end_of_what_nothing_of_the_users_called_is_held_there_with_its_value(
    tmp_path: Path,
) -> None:
    text = """
def serve(price)
  [1, 2].each do |n|
    price += n
  end
end
Thread.new do
  total = serve(5)
  total.sum + 4
end
begin
  sleep
ensure
  puts 'over'
end
"""
    for move, at in (("next", 8), ("step", 8), ("finish", 7)):
        async with debugged(tmp_path, text, breaks=[f"app.rb:{at}"]) as (dbg, first):
            block = place(first)[0]
            ended = stopped(await (dbg.next() if move == "next" else dbg.step() if move == "step" else dbg.finish()))
            assert (place(ended), ended.reason, returned(ended)) == ((block, 9), "return", "7"), move
            assert (await dbg.eval("total")).values[0].value == "[1, 2]"
            assert not isinstance(await dbg.next(timeout=1), Stop), (
                "that call is over, and nothing else of the user's runs"
            )
    async with debugged(tmp_path, text, breaks=["app.rb:3 if n == 2"]) as (dbg, first):
        assert place(stopped(await dbg.next())) == ("block in <main>", 8), "there is a line of the user's to come to"


async def test_a_method_made_of_a_block_ends_once(tmp_path: Path) -> None:
    text = """
class Shop
  define_method(:serve) do
    price = 1
    price + 1
  end
end
Thread.new(&Shop.new.method(:serve))
sleep
"""
    async with debugged(tmp_path, text, breaks=["app.rb:4"]) as (dbg, _):
        ended = stopped(await dbg.next())
        assert (place(ended)[1], returned(ended)) == (5, "2")
        assert not isinstance(await dbg.next(timeout=1), Stop)


async def test_threads_that_come_to_a_stop_at_once_are_told_one_by_one_each_where_it_is(tmp_path: Path) -> None:
    text = """
jobs = Array.new(40) { |each| each }
sums = []
workers = Array.new(3) do
  Thread.new do
    while (job = jobs.shift)
      job += 1
      sums << job
    end
  end
end
workers.each(&:join)
"""
    async with debugged(tmp_path, text, breaks=["app.rb:7"]) as (dbg, outcome):
        seen = 0
        while isinstance(outcome, Stop) and place(outcome)[1] in (5, 6, 7):
            before, outcome = outcome, await dbg.next()
            seen += isinstance(outcome, Stop) and outcome.reason == "breakpoint"
            if isinstance(outcome, Stop):
                at = (outcome.reason, place(outcome)[1])
                assert at in (("breakpoint", 7), ("step", 5), ("step", 6), ("return", 9)), "where that is so"
                assert outcome.reason == "breakpoint" or outcome.thread == before.thread, (
                    "nobody asked that one to step"
                )
        assert seen > 10
        await dbg.unbreak("b1")
        while isinstance(outcome, Stop):
            outcome = await dbg.continue_()
        assert exited(outcome).exit_code == 0


@pytest.mark.long
async def test_values_are_told_in_a_line_and_what_does_not_answer_is_cut_off(tmp_path: Path) -> None:
    text = """
class Slow
  def inspect = loop {}
end
class Bad
  def inspect = raise('no')
end
slow = Slow.new
bad = Bad.new
deep = { a: { b: { c: { d: 1 } } } }
long = 'x' * 1000
nothing = nil
later = 1
puts later
"""
    async with debugged(tmp_path, text, breaks=["app.rb:12"]) as (dbg, first):
        stop = stopped(first)
        values = {each.name: each for each in stop.locals}
        assert "took longer" in values["slow"].value
        assert "raised RuntimeError" in values["bad"].value
        assert values["deep"].value == "{:a=>{:b=>{…}}}" or "…" in values["deep"].value
        assert values["long"].truncated
        assert values["nothing"].value == "nil"
        assert "later" not in values, "it is assigned on the line that is about to run"
        ref = values["deep"].ref
        assert ref is not None
        assert [each.name for each in (await dbg.expand(ref)).values] == [":a"]
        told = (await dbg.eval("sleep 60", "1 + 1", "raise 'x'", timeout=2)).values
        assert [bool(each.error) for each in told] == [True, False, True]
        assert told[1].value == "2"
        assert exited(await dbg.continue_()).exit_code == 0
        with pytest.raises(NotFound, match="handles went with the program"):
            await dbg.expand(ref)


async def test_to_name_a_call_runs_nothing_of_the_program(tmp_path: Path) -> None:
    text = """
class Shop
  def self.to_s = raise('asked')
  def self.open(bell) = new.sell(bell)
  def sell(bell)
    [bell].each { |one| one.ring }
  end
end
class Bell
  def inspect
    File.write('inspected', 'x')
    'a bell'
  end
  def to_s = inspect
end
bell = Bell.new
def bell.ring
  Desk.put_down
end
module Desk
  def self.put_down
    puts 'here'
  end
end
Shop.open(bell)
"""
    async with debugged(tmp_path, text, breaks=["app.rb:21"]) as (dbg, first):
        stack = await dbg.stack()
        names = [each.function for each in stack.frames]
        mine = ["Desk.put_down", "#<Bell>.ring", "block in sell", "Shop#sell", "Shop.open", "<main>"]
        assert [each for each in names if each != "[C] Array#each"] == mine  # written in Ruby from 3.4 on
        assert not (tmp_path / "inspected").exists(), "no variable of this call is one"
        assert stopped(first).frame is not None
        assert exited(await dbg.continue_()).exit_code == 0


async def test_a_step_makes_no_more_garbage_than_it_tells(tmp_path: Path) -> None:
    """A program of a few objects is not to wait for its collector at every third step."""
    text = "def work(a, b)\n" + "  a += b\n" * 40 + "end\nwork(1, 2)\n"
    async with debugged(tmp_path, text, breaks=["app.rb:2"]) as (dbg, first):
        stopped(first)

        async def made() -> int:
            return int((await dbg.eval("GC.stat(:total_allocated_objects)")).values[0].value)

        await dbg.next()
        await made()
        asked = -await made() + await made()  # what asking makes
        before = await made()
        for _ in range(10):
            stopped(await dbg.next())
        each = (await made() - before - asked) / 10
        assert each < 600, "the code of each call unfolded, some times over, is thousands"


async def test_an_error_that_nothing_catches_is_shown_where_it_was_raised_after_all_ensures_have_run(
    tmp_path: Path,
) -> None:
    text = """
$stdout.sync = true
def inner(price)
  raise KeyError, "no #{price}"
end
begin
  begin
    inner(1)
  rescue KeyError
    inner(2)
  end
ensure
  puts 'cleaned'
end
"""
    async with debugged(tmp_path, text) as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None
        assert (stop.exception.type, stop.exception.message, stop.exception.mode) == ("KeyError", "no 2", "uncaught")
        assert (where(stop), stop.local("price"), stop.output) == ("app.rb:3", "2", "cleaned\n")
        with pytest.raises(WrongState, match="ended"):
            await dbg.next()
        assert (await dbg.eval("price + 1")).values[0].value == "3"
        end = exited(await dbg.continue_())
        assert end.exit_code == 1
        assert "no 2 (KeyError)" in end.stderr


@pytest.mark.long
async def test_hang_tells_what_threads_wait_for_held_or_not(tmp_path: Path) -> None:
    text = (
        "lock = Mutex.new\nholder = Thread.new { lock.synchronize { sleep } }\nThread.pass until lock.locked?\n"
        "def wait(queue) = queue.pop\n[Thread.new { wait(Queue.new) }, holder, Thread.new { holder.join }]\n"
        "  .zip(%w[popper holder joiner]) { |each, name| each.name = name }\nlock.synchronize { 1 }\n"
    )
    (tmp_path / "app.rb").write_text(text)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.hang("app.rb", timeout=2)
        main = next(each for each in report.groups if each.names == ("main",))
        assert (main.waits_for, main.held_by) == ("Thread::Mutex#synchronize", "unknown")
        others = {each.names[0]: (each.waits_for, each.stack.frames[0].function) for each in report.groups}
        assert others["joiner"] == ("Thread#join", "block in <main>")
        assert others["popper"] == ("Thread::Queue#pop or Thread::SizedQueue#pop", "wait"), "a method of the user's own"
        assert others["holder"] == ("Thread::Mutex#sleep or Kernel#sleep", "block (2 levels) in <main>")


LEAVES = """
def leave(mode)
  case mode
  when 'exit' then exit 3
  when 'abort' then abort 'no way'
  when 'kept' then begin; exit 4; rescue SystemExit; puts 'stayed'; end
  when 'deep' then leave(mode) && 1
  end
end
leave(ARGV[0])
"""


async def test_crash_tells_the_call_that_ends_a_program_and_a_stack_that_overflows(tmp_path: Path) -> None:
    (tmp_path / "app.rb").write_text(LEAVES.lstrip("\n"))
    told = {"exit": ("SystemExit: exit", 3, 3), "abort": ("SystemExit: no way", 4, 1)}
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        for mode, (what, line, code) in told.items():
            report = await dbg.crash("app.rb", mode)
            assert report.failure is not None
            top = report.failure.stack.frames[0]
            assert (report.failure.what, report.failure.kind, top.line) == (what, "exit", line)
            assert [each.value for each in top.values if each.name == "mode"] == [f'"{mode}"']
            assert exited(report.end).exit_code == code
        assert (await dbg.crash("app.rb", "kept")).verdict == "ended well"
        assert exited(await dbg.launch("app.rb", "exit")).exit_code == 3
        deep = (await dbg.crash("app.rb", "deep")).failure
        assert deep is not None and deep.what == "SystemStackError: stack level too deep"
        first, last = deep.stack.frames[0], deep.stack.frames[-1]
        assert (first.line, first.values, last.line) == (6, (), 9)
        assert (deep.stack.total or 0) > 1000


async def test_crash_tells_the_error_that_a_library_ends_the_program_for(tmp_path: Path) -> None:
    (tmp_path / "Rakefile").write_text("def price(of)\n  raise KeyError, of\nend\ntask(:ask) { price('tea') }\n")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.crash(command=("rake", "ask"))
        assert report.failure is not None
        top = report.failure.stack.frames[0]
        assert (report.failure.what, top.file, top.line) == ("KeyError: tea", "Rakefile", 2)
        assert exited(report.end).exit_code == 1


async def test_the_program_sees_nothing_of_us_and_ends_as_it_would(tmp_path: Path) -> None:
    text = """
p $0, ARGV, ENV.keys.grep(/RUBYOPT|STILLFRAME_RUBY/), $LOAD_PATH.grep(/debug|stillframe/)
$stderr.puts $stdin.read.inspect
system('ruby', '-e', 'exit 3')
p $?.exitstatus
pid = fork { exit!(4) }
Process.wait(pid)
p $?.exitstatus
Process.kill(:TERM, $$)
sleep
"""
    async with debugged(tmp_path, text, "a b", "--c") as (_, first):
        end = exited(first)
        assert end.output == '"app.rb"\n["a b", "--c"]\n[]\n[]\n3\n4\n'
        assert (end.stderr, end.signal) == ('""\n', "SIGTERM")


async def test_what_cannot_run_says_why(tmp_path: Path) -> None:
    async with debugged(tmp_path, "def x(\n  puts 1\n") as (dbg, first):
        assert exited(first).exit_code == 1
        assert "syntax error" in exited(first).stderr
        with pytest.raises(LaunchFailed, match="no such file"):
            await dbg.launch("missing.rb")
        with pytest.raises(UsageError, match="no program"):
            await dbg.launch(command=("ruby", "-v"))


async def test_the_door_is_a_socket_that_only_we_can_reach(tmp_path: Path) -> None:
    async with debugged(tmp_path, "sleep", timeout=0) as (dbg, _):
        pid = (await dbg.status()).pid
        assert pid is not None
        process = psutil.Process(pid)
        assert process.net_connections("tcp") == []
        (place,) = {each.laddr for each in process.net_connections("unix") if each.laddr}
        assert Path(place).parent.stat().st_mode & 0o777 == 0o700
        assert stopped(await dbg.pause(timeout=30)).reason == "pause"
        await dbg.stop()
        assert not Path(place).parent.exists()


async def test_a_program_that_rdbg_listens_in_is_joined_twice_and_lives_on(tmp_path: Path) -> None:
    (tmp_path / "loop.rb").write_text("def tick(n)\n  n + 1\nend\nn = 0\nloop do\n  n = tick(n)\n  sleep 0.01\nend\n")
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        _FOUND.path or "", "--open", "--port", str(port), "--nonstop", "--", "loop.rb", cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        await printed(process, "can attach")
        async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
            for _ in range(2):
                with pytest.raises(UsageError, match="is joined by the HOST:PORT that rdbg listens on"):
                    await dbg.attach(pid=process.pid)
                stop = stopped(await dbg.attach(f"127.0.0.1:{port}", breaks=["tick"]))
                assert stop.frame is not None, stop
                assert place(stop)[0] == "tick"
                now = int(stop.local("n") or 0)
                assert (await dbg.eval("n * 2")).values[0].value == str(now * 2)
                assert (await dbg.stop()).action == "detached"
        lives = psutil.Process(process.pid)
        await until(lambda: lives.status() == psutil.STATUS_SLEEPING)
        assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


async def test_a_program_that_only_compiles_code_is_paused_all_the_same(tmp_path: Path) -> None:
    text = "n = 0\nloop { n = eval('n + 1'); $stderr.print n if n % 100 == 0 }\n"
    async with debugged(tmp_path, text, ready="100") as (dbg, _):
        first = stopped(await dbg.pause(timeout=30))
        assert (first.reason, place(first)[1]) == ("pause", 2)
        cursor = (await dbg.output()).cursor
        await dbg.continue_(timeout=0)
        assert (await dbg.output(since=cursor, wait=True, timeout=60)).stderr
        assert stopped(await dbg.pause(timeout=30)).local("n") != first.local("n")


async def test_a_pause_at_once_comes_to_a_line_of_the_program(tmp_path: Path) -> None:
    """Also where it comes before the first line, and where the program has not yet left the stop that it was sent on from."""
    async with debugged(tmp_path, "n = 0\nloop { n = eval('n + 1') }\n", timeout=0) as (dbg, _):
        for _ in range(3):
            stop = stopped(await dbg.pause(timeout=30))
            assert (stop.reason, Path(where(stop)).name) in {("pause", "app.rb:1"), ("pause", "app.rb:2")}
            await dbg.continue_(timeout=0)


@pytest.mark.parametrize(
    ("command", "kind", "program", "flags", "args"),
    [
        ("ruby -W0 -I lib app.rb -x", "file", "app.rb", ("-W0", "-I", "lib"), ("-x",)),
        ("ruby -e 1+1 a", "code", "1+1", (), ("a",)),
        ("bundle exec ruby app.rb", "file", "app.rb", ("-rbundler/setup",), ()),
    ],
)
def test_a_ruby_command_is_taken_apart(
    command: str, kind: str, program: str, flags: tuple[str, ...], args: tuple[str, ...]
) -> None:
    plan = understood(Plan(command=tuple(command.split()), kind="command", env=dict(os.environ)))
    assert (plan.kind, plan.program, plan.interpreter_flags, plan.args) == (kind, program, flags, args)


async def test_threads_that_have_not_begun_are_told_and_terms_that_can_never_hold_fail_at_once(tmp_path: Path) -> None:
    asleep = "asleep = Thread.new { sleep }; Thread.pass until asleep.stop?\n"
    text = asleep + "19.times { Thread.new { sleep } }\ncount = Thread.list.size\nputs count\n"
    breaks = ["app.rb:3", "app.rb:4 if ((", "nosuch.rb:1"]
    async with debugged(tmp_path, text, breaks=breaks) as (dbg, first):
        assert stopped(first).breakpoints == ("b1",)
        told = (await dbg.breaks()).breakpoints
        assert [each.state for each in told] == ["bound", "failed", "failed"]
        assert (told[1].message or "").startswith("its condition: syntax error")
        assert "No such file or directory: " in (told[2].message or "")
        threads = (await dbg.threads()).threads
        async with asyncio.timeout(PATIENCE):
            while any(each.state == "running" for each in threads):  # it has not come to its sleep yet
                threads = (await dbg.threads()).threads
        assert threads[0].state == "stopped" and len(threads) == 21
        assert {each.state for each in threads[1:]} <= {"blocked", "stopped"}, (
            "rdbg holds those on their way to their sleep"
        )
        blocked = next(each.id for each in threads if each.state == "blocked")
        assert (await dbg.stack(thread=blocked)).frames
        with pytest.raises(WrongState, match="not held"):
            await dbg.thread(blocked)
        end = exited(await dbg.continue_())
        assert (end.exit_code, [each.id for each in end.never_hit]) == (0, ["b2", "b3"])


DOUBLES = """
def double(x)
  y = x + 1
  y * 2
end
3.times do |i|
  z = double(i)
  puts z
end
"""


async def test_what_was_recorded_is_gone_back_through_and_forth_again_as_it_was(tmp_path: Path) -> None:
    async with debugged(tmp_path, DOUBLES, breaks=["app.rb:3", "app.rb:7 if z == 4"], record=True) as (dbg, first):
        assert (place(first), first.local("y")) == (("double", 3), "1")
        back = stopped(await dbg.step_back())
        assert (place(back), back.reason, back.local("x")) == (("double", 2), "step", "0")
        assert (place(stopped(await dbg.next())), stopped(await dbg.state()).local("y")) == (("double", 3), "1")
        ended = stopped(await dbg.finish())
        assert (place(ended), returned(ended)) == (("block in <main>", 7), "2")
        back = stopped(await dbg.step_back())
        assert (place(back), back.returned) == (("block in <main>", 6), None), "nothing had returned there yet"
        held = stopped(await dbg.reverse_continue())
        assert (held.reason, place(held), held.returned) == ("no more history", ("<main>", 1), None)
        held = stopped(await dbg.continue_())
        assert (held.breakpoints, place(held), held.local("x")) == (("b1",), ("double", 3), "0"), (
            "as it was the first time"
        )
        now = stopped(await dbg.continue_())
        assert (now.reason, place(now), now.breakpoints) == ("no more history", ("block in <main>", 7), ())
        assert stopped(await dbg.continue_()).local("x") == "1", "from there it runs on"
        later = stopped(await dbg.continue_())
        assert (place(later), later.local("z"), later.breakpoints) == (("block in <main>", 7), "4", ("b2",))
        held = stopped(await dbg.reverse_continue())
        assert (place(held), held.local("x"), held.local("y")) == (("double", 3), "1", "2")
        assert (await dbg.eval("x + y")).values[0].value == "3", "of then, and not of now"
