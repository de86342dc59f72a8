"""A call that is told by steps, in languages without a recorder: which one it was, how it ended, and what nothing tells."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters import Adapter
from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO
from stillframe.adapters.lldb import LLDB
from stillframe.adapters.ruby import RUBY
from stillframe.model.outcomes import Exited, Stop
from stillframe.model.traces import Life, Step, TraceReport
from stillframe.render.traces import trace as rendered

C = """\
struct cart { const char *name; double prices[4]; long stock; int pieces; };
static int add(struct cart *cart, int pieces) {
    for (int i = 0; i < pieces; i++) {
        cart->pieces += 1;
    }
    return cart->pieces;
}
static void clear(struct cart *cart) {
    cart->pieces = 0;
}
int main(void) {
    struct cart cart = {"a cart with a name that is long enough to fill a line", {1.5, 2.5, 3.5, 4.5}, 123456789, 0};
    add(&cart, 1);
    add(&cart, 2);
    clear(&cart);
    return 0;
}
"""
GOES = """\
package main

func add(pieces int) int {
	return pieces + 1
}

func main() {
	println(add(1) + add(2))
}
"""
RUBIES = """\
class Cart
  def add(pieces)
    sum = pieces + 1
    sum
  end

  def check(pieces)
    @checked = Integer(pieces)
  ensure
    @over = true
  end

  def try(pieces)
    found = 0
    check(pieces)
  rescue ArgumentError
    found += 1
    nil
  end
end

cart = Cart.new
cart.add(1)
begin
  cart.check('x')
rescue ArgumentError => e
  said = e.message
end
cart.try('y')
puts cart.add(2)
"""


@pytest.fixture
async def dbg(tmp_path: Path) -> AsyncIterator[stillframe.Debugger]:
    (tmp_path / "cart.c").write_text(C)
    (tmp_path / "main.go").write_text(GOES)
    (tmp_path / "go.mod").write_text("module cart\n\ngo 1.19\n")
    (tmp_path / "cart.rb").write_text(RUBIES)
    async with stillframe.Debugger(cwd=str(tmp_path)) as debugger:
        yield debugger


@pytest.fixture
def need() -> Callable[[Adapter], None]:
    def check(adapter: Adapter) -> None:
        found = find(adapter.needs[0], os.environ, ".")
        if found.path is None or found.problem:
            pytest.skip(f"{adapter.needs[0].tool} is not installed")
        if adapter in (GDB, LLDB) and shutil.which("cc") is None:
            pytest.skip("there is no C compiler")

    return check


def life(report: TraceReport) -> Life:
    assert report.life is not None, report
    return report.life


def lines(report: TraceReport) -> list[int]:
    return [each.line for each in life(report).steps if isinstance(each, Step)]


@pytest.mark.long
@pytest.mark.parametrize("adapter", [GDB, LLDB], ids=["gdb", "lldb"])
async def test_a_native_call_tells_what_it_returned(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None], adapter: Adapter
) -> None:
    need(adapter)
    second = await dbg.trace("add", command=["cart.c"], call=2, adapter=adapter.name)
    assert (life(second).number, life(second).end, life(second).result, life(second).at) == (2, "returned", "3", 7)
    nothing = await dbg.trace("clear", command=["cart.c"], adapter=adapter.name)
    assert (life(nothing).end, life(nothing).result) == ("returned", None)
    changed = next(row for row in rendered(nothing, 4000).splitlines() if row.lstrip().startswith("9 "))
    assert changed.endswith("cart->pieces 3 -> 0"), (changed, nothing)
    whole = await dbg.trace("main", command=["cart.c"], adapter=adapter.name)
    assert lines(whole)[-1] == life(whole).at == 17


@pytest.mark.long
@pytest.mark.parametrize(
    ("adapter", "file", "condition", "fault"),
    [
        (GDB, "cart.c", "pieces > 1", "nowhere > 1"),
        (LLDB, "cart.c", "pieces > 1", "nowhere > 1"),
        (GO, "main.go", "pieces > 1", "pieces > )"),
        (RUBY, "cart.rb", "pieces > 1", "pieces > )"),
    ],
    ids=["gdb", "lldb", "go", "ruby"],
)
async def test_calls_in_which_the_condition_did_not_hold_are_not_said_to_be_none(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None], adapter: Adapter, file: str, condition: str, fault: str
) -> None:
    need(adapter)
    told = await dbg.trace("add", command=[file], condition=condition, adapter=adapter.name)
    assert life(told).number is None, "it is the second one, which nobody has counted"
    tool = told.how.removeprefix("steps, ")
    assert told.how != tool
    assert f"\nnote: seen by steps of {tool}, at most 400: the calls" in rendered(told, 4000)
    assert [each.value for each in life(told).arguments if each.name == "pieces"] == ["2"]
    none = await dbg.trace("add", command=[file], condition="pieces > 9", adapter=adapter.name)
    assert (none.verdict, none.calls) == ("not chosen", 0)
    assert rendered(none, 4000).startswith("add: no call was the one asked for; how many others there were")
    wrong = await dbg.trace("add", command=[file], condition=fault, adapter=adapter.name)
    assert wrong.verdict in ("not recorded", "not chosen")
    assert fault.split()[0] in rendered(wrong, 4000)
    missing = await dbg.trace("take_one_away", command=[file], adapter=adapter.name)
    assert missing.verdict == "no such function"


@pytest.mark.parametrize(
    ("adapter", "file", "line", "value", "seen"),
    [
        (GDB, "cart.c", 4, "cart->pieces", ("0", "2")),
        (LLDB, "cart.c", 4, "cart->pieces", ("0", "2")),
        (RUBY, "cart.rb", 4, "sum", ("2", "3")),
    ],
    ids=["gdb", "lldb", "ruby"],
)
async def test_claims_are_checked_at_stops_and_said_to_be_so(
    dbg: stillframe.Debugger,
    need: Callable[[Adapter], None],
    adapter: Adapter,
    file: str,
    line: int,
    value: str,
    seen: tuple[str, str],
) -> None:
    need(adapter)
    claims = [f"{value} < {seen[1]}", f"{value} >= 0"]
    report = await dbg.probe(f"{file}:{line}", eval=[value], expect=claims, command=[file], adapter=adapter.name)
    (place,), (note,) = report.places, report.notes
    (told,) = place.gathered
    assert (place.state, told.distinct, told.least, told.most) == ("reached", place.count, *seen), place
    assert [(each.held, each.violated) for each in place.claims] == [(place.count - 1, 1), (place.count, 0)]
    counter = place.claims[0].counter
    assert counter is not None
    assert (counter.hit, counter.frame and counter.frame.line) == (place.count, line)
    assert note.startswith("each hit was a stop of ")
    assert note.endswith("; at most 1,000 of a place are looked at")
    alone = await dbg.probe(f"{file}:{line}", eval=[value], command=[file], adapter=adapter.name)
    assert (alone.places[0].count, alone.places[0].gathered) == (place.count, place.gathered), "of values alone, too"
    assert alone.notes == (note,)


async def test_no_more_than_four_hundred_steps_are_taken_and_that_is_said(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None], tmp_path: Path
) -> None:
    need(RUBY)
    (tmp_path / "many.rb").write_text(
        "def many(n)\n  sum = 0\n  while sum < n\n    sum += 1\n  end\n  sum\nend\nmany(1000)\n"
    )
    told = await dbg.trace("many", command=["many.rb"])
    assert (life(told).end, life(told).cut, life(told).lines) == ("running", ("lines",), 400)
    assert isinstance(told.end, Exited)
    assert told.end.cause == "ended by the trace, which had seen 400 steps of the call"
    assert "… too many lines: what followed was not written down\n" in rendered(told, 4000)


async def test_a_ruby_call_tells_what_it_returned_also_where_the_program_ends_with_it(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None]
) -> None:
    need(RUBY)
    first = await dbg.trace("Cart#add", command=["cart.rb"])
    assert (life(first).end, life(first).result, lines(first)) == ("returned", "2", [3, 4])
    assert [(each.name, each.value) for each in life(first).arguments] == [("pieces", "1")]
    last = await dbg.trace("Cart#add", command=["cart.rb"], call=2)
    assert (life(last).end, life(last).at, lines(last)) == ("ended", 4, [3, 4])
    assert last.end.notes == ("Cart#add returned 3, and nothing of your code went on with that",)


@pytest.mark.long
async def test_a_call_that_outlasts_the_time_is_not_said_to_have_been_seen(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None], tmp_path: Path
) -> None:
    need(RUBY)
    (tmp_path / "slow.rb").write_text("def slow(pieces)\n  sum = pieces + 1\n  sleep 600\n  sum\nend\nslow(3)\n")
    told = await dbg.trace("slow", command=["slow.rb"], timeout=5)
    assert (life(told).end, life(told).at, lines(told)) == ("running", 3, [2])
    assert isinstance(told.end, Exited)
    assert told.end.cause == "ended by the trace, whose time was over"


async def test_a_ruby_call_that_an_error_leaves_is_not_said_to_have_returned(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None]
) -> None:
    need(RUBY)
    left = await dbg.trace("Cart#check", command=["cart.rb"])
    assert (life(left).end, life(left).result, lines(left)) == ("left", None, [8, 10])
    await dbg.launch("cart.rb", breaks=["cart.rb:8"])
    out = await dbg.finish()
    assert isinstance(out, Stop)
    assert out.frame is not None
    assert (out.frame.function, out.frame.line, out.returned) == ("<main>", 27, None), "the caller's own rescue"
    await dbg.stop()


async def test_a_rescue_is_of_the_call_that_it_stands_in(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None]
) -> None:
    need(RUBY)
    told = await dbg.trace("Cart#try", command=["cart.rb"])
    assert (life(told).end, life(told).result, lines(told)) == ("returned", "nil", [14, 15, 17, 18])
    await dbg.launch("cart.rb", breaks=["cart.rb:15"])
    inside = await dbg.next()
    assert isinstance(inside, Stop)
    assert [(each.function, each.line) for each in inside.stack] == [("Cart#try", 17), ("<main>", 29)]
    after = await dbg.finish()
    assert isinstance(after, Stop)
    assert (after.frame and after.frame.line, after.returned and after.returned.value) == (30, "nil")
    await dbg.stop()


async def test_a_ruby_function_that_no_condition_held_in_was_there(
    dbg: stillframe.Debugger, need: Callable[[Adapter], None]
) -> None:
    need(RUBY)
    ended = await dbg.launch("cart.rb", breaks=["Cart#add if pieces > 9", "take_one_away if true"])
    assert ended.state == "exited"
    assert [(each.id, each.state) for each in ended.never_hit] == [("b1", "bound"), ("b2", "pending")]
