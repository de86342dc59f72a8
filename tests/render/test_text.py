"""Text within its budget, whatever there is to tell; the outcome and the totals are never cut."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillframe import ops
from stillframe.dispatch import Dispatched, ErrorReply, Reply
from stillframe.model.backend import Tool
from stillframe.model.outcomes import Change, Exited, Lost, Passed, RawReply, Running, Stop
from stillframe.model.recorded import Hit, Hits
from stillframe.model.reports import Failure
from stillframe.model.values import Frame, Frames, Modules, Thread, Value, Values
from stillframe.model.values import Module as LoadedModule
from stillframe.model.views import OutputPage, ProbedPlace, ProbeReport, Threads
from stillframe.render.outcomes import Room
from stillframe.render.parts import value_list
from stillframe.render.replies import text
from stillframe.render.reports import printed as printed_of
from stillframe.render.text import spelled

from .test_json import EVENTS, happened, stop

SIZES = st.integers(0, 120)
BUDGETS = st.sampled_from((400, 1000, 4000, 12000))


def said(result: object, budget: int) -> str:
    reply = Reply(ok=True, op="state", session="shop", via=Tool("debugpy", "1.8.22"), result=result)
    out, err = text(Dispatched(reply=reply, introduce=True), budget)
    assert err == ""
    assert out.endswith("\n") and "\n\n" not in out
    return out


@settings(max_examples=80)
@given(SIZES, SIZES, st.integers(0, 3000), st.integers(0, 5), st.integers(0, 300), BUDGETS)
def test_a_stop_stays_within_the_budget(
    locals: int, frames: int, printed: int, lines: int, wide: int, budget: int
) -> None:
    out = said(stop(locals, frames, printed, lines, wide), budget)
    assert len(out) <= budget
    assert out.startswith("[via debugpy 1.8.22] shop stopped: breakpoint at a.py:3 in f\n")
    if locals and f"n{locals - 1}=" not in out:
        assert f" of {locals} shown" in out


@settings(max_examples=40)
@given(st.integers(1, 120), st.integers(0, 300), st.integers(0, 2000), BUDGETS)
def test_a_long_trail_and_a_loud_end_stay_within_the_budget(steps: int, wide: int, printed: int, budget: int) -> None:
    trail = tuple(
        Passed(file="a.py", line=number, changes=(Change(name="x", old="o" * wide, new="n" * wide),))
        for number in range(steps)
    )
    held = stop(3, 3, printed, 3, 10)
    moved = Stop(reason="step", frame=held.frame, source=held.source, trail=trail, same_frame=True, output=held.output)
    assert len(said(moved, budget)) <= budget
    ended = said(Exited(exit_code=3, output="o\n" * printed, stderr="e" * printed, trail=trail, after=0.5), budget)
    assert len(ended) <= budget
    assert "shop exited 3 after 0.50 s" in ended


@settings(max_examples=40)
@given(st.integers(0, 2000), st.integers(0, 400), BUDGETS)
def test_lists_stay_within_the_budget_and_tell_the_total(number: int, wide: int, budget: int) -> None:
    values = tuple(Value(name=f"[{index}]", type="str", value="v" * wide) for index in range(number))
    threads = tuple(Thread(id=f"t{index}", name="n" * wide) for index in range(number))
    modules = tuple(LoadedModule(name=f"m{index}", file="f" * wide) for index in range(number))
    for result in (
        Values(values=values, total=number),
        Frames(frames=stop(0, number, 0, 0, 0).stack, total=number),
        Threads(threads=threads, total=number),
        Modules(modules=modules, total=number),
    ):
        out = said(result, budget)
        assert len(out) <= budget, type(result)
        if len(out.splitlines()) < number:
            assert f"of {number:,} shown" in out


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 10), st.integers(0, 60), st.integers(0, 300), BUDGETS)
def test_a_probe_of_many_places_stays_within_the_budget(
    places: int, hits: int, locals: int, wide: int, budget: int
) -> None:
    seen = stop(locals, 5, 0, 3, wide)
    probed = tuple(
        ProbedPlace(
            location=f"a.py:{number}",
            state="reached",
            count=hits,
            hits=(seen,) * hits,
            values=((Value(name="e", value="v" * wide),),) * hits,
        )
        for number in range(places)
    )
    report = ProbeReport(command=("python", "a.py"), places=probed, end=Exited(exit_code=0, output="x\n" * 500))
    out = said(report, budget)
    assert "python a.py exited 0" in out
    if budget >= 60 * places + 200:
        assert len(out) <= budget


@settings(max_examples=40)
@given(st.text(st.characters(), max_size=3000), BUDGETS)
def test_a_page_of_output_stays_within_the_budget_and_keeps_its_cursor(printed: str, budget: int) -> None:
    page = OutputPage(stdout=printed * 4, stderr=printed, total=99, cursor="1.2.3.4", dropped=7)
    out = said(page, budget)
    assert len(out) <= budget
    assert "cursor " in out


@settings(max_examples=40)
@given(st.integers(0, 120), st.integers(0, 30), st.booleans())
def test_no_budget_is_so_small_that_the_outcome_is_cut(budget: int, steps: int, trailing: bool) -> None:
    trail = tuple(Passed(file="a.py", line=number) for number in range(steps if trailing else 0))
    held = stop(3, 3, 10, 3, 10)
    assert "shop stopped: " in said(Stop(reason="step", frame=held.frame, trail=trail), budget)
    assert "shop exited 3 after 0.50 s" in said(Exited(exit_code=3, output="o\n" * 9, trail=trail, after=0.5), budget)
    assert "shop running after 2 s" in said(Running(after=2, trail=trail), budget)
    assert "shop lost: it broke" in said(Lost(cause="it broke"), budget)


def test_an_error_and_a_few_rows_are_told_at_any_budget() -> None:
    failed = Dispatched(reply=Reply(ok=False, op="eval", error=ErrorReply(code="eval_failed", message="no name 'x'")))
    assert text(failed, 3) == ("", "error eval_failed: no name 'x'\n")
    rows = tuple(Frame(id=f"f{n}", function="total", file="shop.py", line=n) for n in range(1, 40))
    told = said(Frames(frames=rows, total=39), 3)
    assert "f1 total shop.py:1\n" in told and "of 39 shown" in told


def test_a_probe_of_more_places_than_have_room_tells_the_verdict_of_each() -> None:
    seen = stop(20, 5, 0, 3, 60)
    states: list[Literal["reached", "not_reached", "unbound"]]
    states = ["reached"] * 200 + ["not_reached"] * 90 + ["unbound"] * 10
    places = tuple(
        ProbedPlace(location=f"a.py:{n}", state=state, count=1, hits=(seen,))
        if state == "reached"
        else ProbedPlace(location=f"a.py:{n}" if n % 2 else f"b.py:{n} if x", state=state)
        for n, state in enumerate(states)
    )
    out = said(ProbeReport(command=("python", "a.py"), places=places, end=Exited(exit_code=0)), 4000)
    assert len(out) <= 4000
    assert "reached once (200 of 300): a.py:0-199\n" in out
    missed = next(row for row in out.splitlines() if row.startswith("not reached (90 of 300): "))
    assert all((f"a.py:{n}" if n % 2 else f"b.py:{n} if x") in missed for n in range(200, 290))
    assert "unbound (10 of 300): " in out
    assert "of 300 shown" in out, "how much of the evidence is missing is said"


def test_a_stack_whose_depth_nobody_knows_says_that_there_may_be_more() -> None:
    frames = stop(0, 20, 0, 0, 0).stack
    assert "20 from 9,000; there may be more (--start 9020)" in said(Frames(frames=frames, start=9000), 4000)
    assert said(Stop(reason="step", frame=frames[0], stack=frames), 4000).rstrip().endswith("… more")
    assert "more" not in said(Stop(reason="step", frame=frames[0], stack=frames, stack_total=20), 4000)


def test_what_a_debuggers_console_says_keeps_its_tabs_and_steers_no_terminal() -> None:
    told = said(RawReply(text="=> 0x1 <f>:\tret\n\x1b[31m"), 4000)
    assert told.splitlines()[0].endswith("=> 0x1 <f>:\tret")
    assert told.splitlines()[1] == "\\x1b[31m"


def test_the_next_call_is_spelled_as_it_can_be_typed() -> None:
    ops.load_all()
    assert spelled({"op": "hits", "args": {"at": "a.py:3", "run": "r2"}}) == "dbg hits a.py:3 --run r2"
    assert spelled({"op": "eval", "args": {"expressions": ["a + b", "c"]}}) == "dbg eval 'a + b' c"
    assert spelled({"op": "setup", "args": {"": "go"}}) == "dbg setup go"
    assert spelled({"op": "sessions", "args": {"all": True}}) == "dbg sessions --all"
    place = {"program": ["a.py"], "breaks": ["a.py:3"]}
    assert spelled({"op": "launch", "args": place}) == "dbg launch a.py --break a.py:3"


def test_a_long_value_that_every_hit_has_is_told_once() -> None:
    def hit(number: int, cart: str) -> Hit:
        values = (Value(name="cart", value=cart), Value(name="n", value=str(number)))
        return Hit(
            hit=f"h{number}", run="r1", session="shop", time=0.0, reason="breakpoint", place="a.py:3", locals=values,
            locals_total=2,
        )  # fmt: skip

    long = "[" + "1, " * 40 + "…]"
    same = said(Hits(run="r1", hits=tuple(hit(number, long) for number in (1, 2, 3)), total=3), 4000)
    assert same.count("cart=") == 1 and f"\nin each of them: cart={long}\n" in same, same
    assert all(f"  n={number}" in same for number in (1, 2, 3))
    other = said(Hits(run="r1", hits=(hit(1, long), hit(2, long), hit(3, long + "x")), total=3), 4000)
    assert other.count("cart=") == 3


@pytest.mark.parametrize(
    ("stderr", "dropped", "lines"),
    [
        ("app.rb:3:in `load': unexpected token (JSON::ParserError)\n\tfrom app.rb:9:in `<main>'\n", 0, 2),
        (
            "lock_on\n   at a.rs:3\n   7: main\n   at b.rs:1\nnote: Some details are omitted, run with `RUST_BACKTRACE=full`\n",
            9,
            5,
        ),
        ('ib/a.py", line 3, in main\n    go()\n  File "/lib/a.py", line 9, in go\n    raise\nlib.Error: bad\n', 9, 5),
    ],
)
def test_what_a_runtime_wrote_of_an_error_itself_is_said_in_a_word(stderr: str, dropped: int, lines: int) -> None:
    rows = printed_of(
        Exited(exit_code=1, stderr=stderr, dropped=dropped),
        Room(4000),
        told=(Failure(what="Error: bad", kind="exception"),),
    )
    assert rows[0] == f"stderr: the error's own report, {lines} lines"
    assert not any("main" in row for row in rows)


GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/lib/routing.py", line 9, in app
  |     await handle()
  |   File "/app/api.py", line 33, in group
  |     async with TaskGroup() as tg:
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/api.py", line 31, in job
    |     raise ValueError("job 2")
    | ValueError: job 2
    +------------------------------------
"""


@pytest.mark.parametrize(("text", "dropped"), [(GROUP, 0), (GROUP[80:], 80)])
def test_a_group_that_a_library_reports_is_said_in_a_word_where_all_that_is_in_it_was_told(
    text: str, dropped: int
) -> None:
    def told(what: str) -> list[str]:
        end = Exited(exit_code=1, stderr=text + "INFO: on\n", dropped=dropped)
        return printed_of(end, Room(4000), told=(Failure(what=what, kind="exception"),))

    assert told("ValueError: job 2")[0].startswith("stderr: the error's own report, ")
    assert told("ValueError: job 2")[-1] == 'stderr: "INFO: on\\n"'
    assert any("ValueError: job 2" in row for row in told("ValueError: job 1"))


def test_a_long_value_leaves_room_for_the_short_ones_behind_it() -> None:
    held = (
        Value(name="session", type="Session", value=f"<Session {'x' * 190}>"),
        Value(name="request", type="dict", value=f"{{'body': '{'y' * 190}'}}"),
        Value(name="amount", type="int", value="3"),
        Value(name="fee", type="float", value="0.3"),
    )
    both = value_list(held, None, 300)
    assert both.startswith("session=<Session x") and both.endswith(", amount=3, fee=0.3"), both
    assert len(both) <= 300 and "shown" not in both
    assert value_list(held, None, 60) == "amount=3, fee=0.3, … (2 of 4 shown)", "rather whole than begun"
    assert value_list(held[:2], None, 60).endswith(", … (1 of 2 shown)")
    assert value_list(held[2:], 9, 60) == "amount=3, fee=0.3, … (2 of 9 shown)"


@pytest.mark.parametrize("budget", [300, 400, 1000])
def test_what_all_hits_have_alike_takes_no_room_from_what_differs(budget: int) -> None:
    same = Value(name="session", type="Session", value=f"<Session {'x' * 190}>")
    hits = tuple(
        Hit(hit=f"h{n}", run="r1", session="shop", time=1.0, reason="breakpoint", place="a.py:3", function="f",
            locals=(same, Value(name="fee", type="int", value=str(n))), locals_total=2)
        for n in (1, 2, 3)
    )  # fmt: skip
    out = said(Hits(run="r1", total=3, hits=hits), budget)
    assert all(f"fee={n}" in out for n in (1, 2, 3)) and "in each of them: session=<Session x" in out, out
    assert len(out) <= budget


@settings(max_examples=60)
@given(EVENTS, BUDGETS)
def test_events_that_have_no_room_in_a_text_are_behind_its_cursor(written: list[tuple[int, int]], budget: int) -> None:
    rows = said(happened(written), budget).removeprefix("[via debugpy 1.8.22] ").splitlines()
    shown = {int(row.split()[0]) for row in rows if " output " in row}
    assert shown and shown == set(range(1, len(shown) + 1))
    assert rows[-1] == f"cursor {900 if len(shown) == len(written) else max(shown)}"
