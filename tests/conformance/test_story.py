"""The one story that every language must pass: launched, stopped, looked into, moved, changed, ended."""

from __future__ import annotations

import psutil
import pytest

from stillframe import Debugger
from stillframe.errors import EvalFailed, NotFound, StaleHandle, StillframeError, Unsupported, UsageError, WrongState
from stillframe.model.outcomes import AnyOutcome, Exited, Running, Stop

from .story import STORIES, Story


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "story" in metafunc.fixturenames:
        metafunc.parametrize("story", STORIES, ids=lambda story: story.name, indirect=True)


@pytest.fixture
def story(request: pytest.FixtureRequest) -> Story:
    found: Story = request.param
    if found.missing:
        pytest.skip(found.missing)
    return found


def stopped(outcome: AnyOutcome) -> Stop:
    assert isinstance(outcome, Stop), outcome
    return outcome


def exited(outcome: AnyOutcome) -> Exited:
    assert isinstance(outcome, Exited), outcome
    return outcome


def line(outcome: AnyOutcome) -> int | None:
    frame = stopped(outcome).frame
    return frame.line if frame else None


async def test_the_first_stop_tells_all_that_one_needs_and_stop_leaves_no_process(story: Story) -> None:
    async with story.launched(breaks=["@cost"]) as (dbg, first):
        await everything_is_told(story, dbg, stopped(first))
        await frames_scopes_source_and_threads_are_told(story, dbg)
        await what_it_can_is_told_and_raw_reaches_it(story, dbg)
        await what_it_lacks_is_an_error_that_harms_nothing(story, dbg)
        pid = (await dbg.status()).pid
        assert pid is not None
        assert (await dbg.stop()).action == "terminated"
        assert not psutil.pid_exists(pid)
        assert (await dbg.stop()).action == "already_ended"
        assert (await dbg.status()).state == "exited"


async def everything_is_told(story: Story, dbg: Debugger, stop: Stop) -> None:
    assert (stop.reason, stop.breakpoints, stop.hit) == ("breakpoint", ("b1",), 1)
    assert stop.frame is not None
    where = (stop.frame.function, stop.frame.file, stop.frame.line)
    assert where == (story.function("price"), story.file, story.mark("@cost"))
    assert (stop.local("count"), stop.local("item")) == ("1", story.text("fig"))
    assert stop.local("cost") is None, "the line is about to run, it has not run"
    user = [each.function for each in stop.stack if each.kind == "user"]
    assert user[:3] == [story.function(each) for each in story.outer]
    (here,) = [each for each in stop.source if each.here]
    assert here.line == story.mark("@cost")
    assert "cost" in here.text
    status = await dbg.status()
    assert (status.state, status.tool, status.breakpoints, status.bound) == ("stopped", story.tool, 1, 1)
    again = stopped(await dbg.state())
    assert (again.frame, again.locals) == (stop.frame, stop.locals)


async def frames_scopes_source_and_threads_are_told(story: Story, dbg: Debugger) -> None:
    frames = await dbg.stack(count=2)
    assert [each.function for each in frames.frames] == [story.function(each) for each in ("price", "shop")]
    assert (frames.total or 0) >= 3
    assert [each.id for each in (await dbg.stack(start=1, count=1)).frames] == ["f1"]
    up = await dbg.frame("up")
    assert (up.frame.function, up.frame.line) == (story.function("shop"), story.mark("@loop"))
    assert (await dbg.eval("total")).values[0].value == "0", "the selected frame is what eval looks into"
    assert (await dbg.frame("down")).frame.function == story.function("price")
    for beyond in ("down", "f99"):
        with pytest.raises(NotFound):
            await dbg.frame(beyond)
    scopes = await dbg.scopes()
    assert scopes.scopes
    source = await dbg.source(around=1)
    assert [each.line for each in source.lines] == [story.mark("@cost") + by for by in (-1, 0, 1)]
    threads = await dbg.threads()
    assert (len(threads.threads), threads.focus) == (1, threads.threads[0].id)


async def what_it_can_is_told_and_raw_reaches_it(story: Story, dbg: Debugger) -> None:
    told = await dbg.capabilities()
    assert told.can
    assert not set(told.can) & set(told.cannot)
    tool = await dbg.tool()
    assert (tool.tool, tool.pid) == (story.tool, (await dbg.status()).pid)
    assert (await dbg.raw(story.raw)).text.strip() == "2"
    command, answer = story.request
    body = (await dbg.request(command)).body
    assert body is not None
    assert body[answer]


async def what_it_lacks_is_an_error_that_harms_nothing(story: Story, dbg: Debugger) -> None:
    with pytest.raises(Unsupported, match="stdin"):
        await dbg.input("nobody reads this")
    with pytest.raises((Unsupported, UsageError), match="caught"):
        await dbg.catch("caught")
    with pytest.raises(StillframeError, match="noSuchRequest"):
        await dbg.request("noSuchRequest")
    with pytest.raises((Unsupported, NotFound)):
        await dbg.jump(story.at("@done"))
    assert (await dbg.eval("count")).values[0].value == "1", "none of it harmed the session"


async def to_the_end(dbg: Debugger) -> tuple[list[Stop], Exited]:
    """Every stop that is still to come, and the end."""
    stops = []
    while isinstance(outcome := await dbg.continue_(), Stop):
        stops.append(outcome)
    return stops, exited(outcome)


def rounds(story: Story, stops: list[Stop], *marks: str) -> list[tuple[str, str | None]]:
    """At which of these marks each stop was, and in which round of the loop."""
    names = {story.mark(each): each for each in marks}
    return [(names[line(each) or 0], each.local("count")) for each in stops]


async def test_hit_counts_stop_by_their_rule_and_a_log_point_prints_and_never_stops(story: Story) -> None:
    async with story.launched(breaks=["@total"]) as (dbg, _):
        rules = {"@loop": "3", "@print": ">=5", "@cost": "%2"}
        for mark, rule in rules.items():
            await dbg.break_(story.at(mark), hit=rule)
        made = await dbg.break_(story.at("@return"), log="count {count} cost {count * 3}")
        assert made.state == "bound"
        stops, end = await to_the_end(dbg)
        assert rounds(story, stops, *rules) == [
            ("@cost", "2"), ("@loop", "3"), ("@cost", "4"), ("@print", "5"), ("@cost", "6"), ("@print", "6"),
        ]  # fmt: skip
        logged = "".join(each.log for each in (*stops, end))
        assert logged.splitlines() == [f"count {n} cost {n * 3}" for n in range(1, 7)]
        assert (end.exit_code, end.never_hit) == (0, ())


async def test_with_a_condition_the_count_is_of_the_times_it_holds_and_once_is_gone_after_its_stop(
    story: Story,
) -> None:
    async with story.launched(breaks=["@total"]) as (dbg, _):
        rules = {"@loop": "2", "@print": ">=2", "@cost": "%3"}
        for mark, rule in rules.items():
            await dbg.break_(story.at(mark), condition="count % 2 == 0", hit=rule)
        await dbg.break_(story.at("@return"), once=True)
        assert stopped(await dbg.continue_()).local("count") == "1"
        assert [each.id for each in (await dbg.breaks()).breakpoints] == ["b1", "b2", "b3", "b4"]
        stops, end = await to_the_end(dbg)
        assert rounds(story, stops, *rules) == [("@loop", "4"), ("@print", "4"), ("@cost", "6"), ("@print", "6")]
        assert end.exit_code == 0


async def test_breakpoints_are_disabled_and_removed_and_a_function_a_text_and_until_are_places_too(
    story: Story,
) -> None:
    async with story.launched(breaks=["@total", "@cost", "@print"]) as (dbg, _):
        listed = await dbg.disable("b2")
        assert [(each.id, each.enabled) for each in listed.breakpoints] == [("b1", True), ("b2", False), ("b3", True)]
        assert line(await dbg.continue_()) == story.mark("@print")
        await dbg.enable("b2")
        assert line(await dbg.continue_()) == story.mark("@cost")
        left = await dbg.unbreak("b2", "b3")
        assert [each.id for each in left.breakpoints] == ["b1"]
        function = await dbg.break_("price", hit="2")
        text = await dbg.break_(f'{story.file}@"return total +"')
        assert (function.state, text.state) == ("bound", "bound")
        assert text.actual is not None
        assert text.actual.line == story.mark("@numbers")
        stop = stopped(await dbg.continue_())
        assert stop.frame is not None
        assert (stop.frame.function, stop.breakpoints) == (story.function("price"), (function.id,))
        assert stop.local("count") == "4", "two calls after the one in which it was set"
        stop = stopped(await dbg.until(story.at("@print")))
        assert (stop.reason, line(stop), stop.breakpoints) == ("until", story.mark("@print"), ())
        assert [each.id for each in (await dbg.breaks()).breakpoints] == ["b1", function.id, text.id]
        with pytest.raises(NotFound):
            await dbg.until(f"{story.file}:99999")
        assert line(await dbg.state()) == story.mark("@print")
        assert line(await dbg.continue_()) == story.mark("@numbers")
        assert (await dbg.unbreak(all=True)).breakpoints == ()
        assert exited(await dbg.continue_()).exit_code == 0


async def test_a_condition_stops_once_where_values_are_evaluated_changed_entered_and_expanded(story: Story) -> None:
    async with story.launched(breaks=[("@loop", "count == 4")]) as (dbg, first):
        stop = stopped(first)
        assert (stop.hit, stop.local("count"), stop.local("total")) == (1, "4", "18")
        await one_expression_that_fails_spoils_no_other(story, dbg)
        (new,) = (await dbg.set("total", "5")).values
        assert (new.name, new.value) == ("total", "5")
        assert (await dbg.eval("total")).values[0].value == "5"
        assert ("total", "5") in [(each.name, each.value) for each in (await dbg.locals()).values]
        assert stopped(await dbg.state()).local("total") == "5", "the stop tells what is there now"
        await step_goes_in_and_finish_comes_out_with_the_value(story, dbg)
        await a_long_value_is_expanded_until_the_program_goes_on(story, dbg)
        end = exited(await dbg.continue_())
        assert (end.exit_code, end.never_hit) == (0, ())
        assert end.output.endswith("done 50\n"), "what was set is what the program went on with"


async def one_expression_that_fails_spoils_no_other(story: Story, dbg: Debugger) -> None:
    values = (await dbg.eval("count + 1", story.nothing, "total * 2")).values
    assert [each.name for each in values] == ["count + 1", story.nothing, "total * 2"]
    assert (values[0].value, values[2].value) == ("5", "36")
    assert values[1].error
    assert story.nothing_says in values[1].value
    with pytest.raises(EvalFailed, match=story.nothing_says):
        await dbg.eval(story.nothing)
    stack = stopped(await dbg.state()).stack
    main = next(each.id for each in stack if each.function == story.function(story.outer[-1]))
    assert (await dbg.eval("what", frame=main)).values[0].value == story.text("shop")


async def step_goes_in_and_finish_comes_out_with_the_value(story: Story, dbg: Debugger) -> None:
    inside = stopped(await dbg.step())
    assert (inside.frame.function if inside.frame else "") == story.function("price")
    first = (story.mark("@cost"), story.mark("@cost") - 1)
    assert line(inside) in first, "its first line, or the one that names it"
    out = stopped(await dbg.finish())
    assert out.frame is not None
    assert out.frame.function == story.function("shop")
    if story.tells_returned:
        assert out.returned is not None
        assert out.returned.value == "12"
    over = stopped(await dbg.next(2))
    assert over.frame is not None
    assert over.frame.function == story.function("shop")


async def a_long_value_is_expanded_until_the_program_goes_on(story: Story, dbg: Debugger) -> None:
    stop = stopped(await dbg.until(story.at("@numbers")))
    numbers = next(each for each in stop.locals if each.name == "numbers")
    assert (numbers.total, numbers.truncated) == (100, True)
    assert numbers.ref is not None
    page = await dbg.expand(numbers.ref, start=90, count=5)
    assert [each.value for each in page.values] == ["90", "91", "92", "93", "94"]
    assert (page.total, page.start) == (100, 90)
    assert len((await dbg.expand(numbers.ref, start=95)).values) == 5
    assert (await dbg.expand(numbers.ref, start=1000)).values == ()
    named = await dbg.expand(numbers.name, start=90, count=5)
    assert [each.value for each in named.values] == [each.value for each in page.values]
    for path, value in (("numbers[0]", "0"), ("numbers[-1]", "99")):
        assert [(each.name, each.value) for each in (await dbg.expand(path)).values] == [(path, value)]
    with pytest.raises(NotFound, match=r"there is no numbers\[100\]: it has \[?0\]?, \[?1\]?, .*, … 92 more"):
        await dbg.expand("numbers[100]")
    with pytest.raises(NotFound, match="no variable numbesr in this frame; there are numbers"):
        await dbg.expand("numbesr")
    await dbg.eval("total")
    again = next(each for each in stopped(await dbg.state()).locals if each.name == "numbers")
    for ref in (numbers.ref, again.ref):
        assert ref is not None
        assert (await dbg.expand(ref, count=1)).values[0].value == "0", "eval keeps handles"
    await dbg.next()
    with pytest.raises(StaleHandle):
        await dbg.expand(numbers.ref)
    with pytest.raises((StaleHandle, NotFound)):
        await dbg.expand("v999")
    with pytest.raises(NotFound, match=r"no variable no_numbers\[0\] in this frame"):
        await dbg.expand("no_numbers[0]")


async def test_restart_runs_it_again_with_the_breakpoints_and_its_output_is_told_once(story: Story) -> None:
    async with story.launched(breaks=[("@print", "count <= 3")]) as (dbg, _):
        await dbg.break_("price", once=True)
        was = (await dbg.status()).pid
        again = stopped(await dbg.restart())
        assert (await dbg.status()).pid != was
        assert again.frame is not None
        assert again.frame.function == story.function("price")
        assert stopped(await dbg.continue_()).output == ""
        assert stopped(await dbg.continue_()).output == "so far 3\n"
        page = await dbg.output(since="0.0.0.0")
        assert page.stdout == "so far 3\n"
        assert stopped(await dbg.continue_()).output == "so far 9\n"
        following = await dbg.output(since=page.cursor)
        assert (following.stdout, following.dropped) == ("so far 9\n", 0)
        end = exited(await dbg.continue_())
        assert end.exit_code == 0
        whole = await dbg.output(since="0.0.0.0")
        assert page.stdout + following.stdout + end.output == whole.stdout
        assert whole.total == len(whole.stdout)
        assert line(await dbg.restart()) == story.mark("@print"), "what was for once is used up, and an end is no bar"


async def test_steps_tell_the_lines_passed_and_what_each_changed(story: Story) -> None:
    async with story.launched("tally", breaks=["@empty"]) as (dbg, _):
        stop = stopped(await dbg.next())
        assert (stop.reason, line(stop)) == ("step", story.mark("@for"))
        assert [(each.name, each.old, each.new) for each in stop.trail[-1].changes] == [("seen", None, story.empty)]
        stop = stopped(await dbg.next(4))
        assert [each.line for each in stop.trail] == [story.mark(m) for m in ("@for", "@tally", "@for", "@tally")]
        assert [change.name for each in stop.trail for change in each.changes] == ["word", "seen", "word", "seen"]
        assert stop.trail[2].changes[0].old in (story.text("a"), None), "None where it is a new variable in each round"
        assert stop.trail[2].changes[0].new == story.text("b")
        assert stop.same_frame
        assert [each.name for each in stop.locals if each.changed] == ["seen"]


async def test_a_busy_loop_runs_on_after_the_timeout_and_can_be_paused(story: Story) -> None:
    async with story.launched("spin", timeout=0) as (dbg, first):
        assert isinstance(first, Running)
        assert "spinning" in (await dbg.output(since="0.0.0.0", wait=True)).stdout
        with pytest.raises(WrongState, match="running"):
            await dbg.locals()
        with pytest.raises(WrongState):
            await dbg.continue_()
        bound = await dbg.break_(story.at("@spin"))
        assert bound.state == "bound"
        assert line(await dbg.wait()) == story.mark("@spin"), "from here on it is in the loop, however slow the machine"
        await dbg.unbreak(bound.id)
        assert isinstance(await dbg.continue_(timeout=0), Running)
        stop = stopped(await dbg.pause(timeout=30))
        assert stop.reason == "pause"
        assert stop.frame is not None
        assert stop.frame.function == story.function("spin")


async def test_an_uncaught_exception_stops_with_its_message_where_it_was_raised(story: Story) -> None:
    async with story.launched("fail") as (dbg, first):
        stop = stopped(first)
        assert (stop.reason, line(stop)) == ("exception", story.mark("@raise"))
        assert stop.exception is not None
        assert stop.exception.type == story.error
        assert stop.exception.message == "too much: 2000" or not story.tells_message
        assert stop.exception.mode == "uncaught"
        assert stop.local("total") == "2000"
        info = await dbg.exception()
        assert (info.type, info.message) == (stop.exception.type, stop.exception.message)
        end = exited(await dbg.continue_())
        assert end.signal == story.dies_of if story.dies_of else end.exit_code not in (0, None)
        assert "too much: 2000" in stop.stderr + end.stderr


async def test_raised_and_a_class_by_name_stop_where_it_is_handled_too_and_off_never(story: Story) -> None:
    for words in (("raised",), (story.error,)) if story.catches_raised is not None else ():
        if not story.catches_raised:
            with pytest.raises(Unsupported, match="catch"):
                async with story.launched("careful", catch=words):
                    pass
            continue
        async with story.launched("careful", catch=words) as (dbg, first):
            stop = stopped(first)
            assert (stop.reason, line(stop)) == ("exception", story.mark("@raise"))
            assert stop.exception is not None
            assert stop.exception.message == "too much: 1" or not story.tells_message
            assert (await dbg.catch("off")).catch in ((), ("off",))
            assert exited(await dbg.continue_()).exit_code == 0
    async with story.launched("careful") as (_, first):
        assert exited(first).output == "recovered\n"
    async with story.launched("fail", breaks=["@raise"], catch=("off",)) as (dbg, first):
        assert stopped(first).reason == "breakpoint"
        assert (await dbg.catch("uncaught")).catch == ("uncaught",)
        assert stopped(await dbg.continue_()).reason == "exception", "it is heard while the program is held"
        assert (await dbg.catch("off")).catch in ((), ("off",))
        await dbg.unbreak(all=True)
        end = exited(await dbg.restart())
        assert end.signal == story.dies_of if story.dies_of else end.exit_code not in (0, None)


async def test_a_worker_thread_that_stops_is_the_one_shown(story: Story) -> None:
    async with story.launched("thread", breaks=["@worker"]) as (dbg, first):
        stop = stopped(first)
        assert line(stop) == story.mark("@worker")
        assert stop.local("mine") == story.text("of the worker")
        if story.workers == "sessions":
            states = {each.name: each.state for each in (await dbg.sessions()).sessions}
            assert states == {"story": "running", "story.1": "stopped"}
            assert exited(await dbg.continue_()).exit_code == 0
            assert (await dbg.status(session="story")).state == "exited"
            return
        assert story.worker in (stop.thread_name or "")
        threads = await dbg.threads()
        assert len(threads.threads) == 2
        assert threads.focus == stop.thread
        if story.tool in ("gdb", "lldb-dap"):
            assert "worker" in (await dbg.raw("bt 1")).text, "its own commands are about the stop that was told"
        (other,) = [each.id for each in threads.threads if each.id != stop.thread]
        frames = await dbg.stack(thread=other)
        assert story.function("main") in [each.function for each in frames.frames] or not story.unwinds_births
        assert exited(await dbg.continue_()).exit_code == 0


async def test_the_end_tells_the_code_and_the_breakpoints_that_were_never_hit(story: Story) -> None:
    async with story.launched("seven", breaks=["@loop", "@exit"]) as (dbg, first):
        assert line(first) == story.mark("@exit")
        past = await dbg.break_(f"{story.file}:99999")
        never = await dbg.break_("never-loaded-at-all.xyz:3")
        assert (past.state, never.state) in (("failed", "failed"), ("failed", "pending"))
        assert past.message
        end = exited(await dbg.continue_())
        assert end.exit_code == 7
        assert [(each.id, each.state) for each in end.never_hit][:2] == [("b1", "bound"), ("b3", "failed")]
        assert [each.id for each in end.never_hit] == ["b1", "b3", "b4"]
        for looking in (dbg.scopes(), dbg.next(), dbg.pause(), dbg.threads(), dbg.eval("1")):
            with pytest.raises(WrongState, match="exited"):
                await looking
        (note,) = (await dbg.locals()).notes
        assert note.startswith("post mortem, from the record")


async def test_what_was_seen_is_asked_of_the_record_through_the_operations(story: Story) -> None:
    async with story.launched(breaks=["@cost"]) as (dbg, first):
        second = stopped(await dbg.continue_())
        seen = [stopped(first), second]
        found = await dbg.hits()
        assert [each.hit for each in found.hits] == ["h1", "h2"]
        assert {each.function for each in found.hits} == {each.frame.function for each in seen if each.frame}
        assert {each.name for each in found.hits[0].locals} <= {each.name for each in seen[0].locals}
        assert (await dbg.hit_diff("h1", "h2")).differences
        assert [each.hit for each in (await dbg.events(since="0", kind=("stop",))).events] == ["h1", "h2"]
        await dbg.stop()
        values = await dbg.locals(hit="h1")
        assert [each.name for each in values.values] == [each.name for each in seen[0].locals]
        assert values.notes[0].startswith("post mortem, from the record")
        again = stopped(await dbg.replay(found.run))
        assert again.frame is not None and again.frame.line == line(first)
        assert line(await dbg.continue_()) == line(second)
        await dbg.stop()
