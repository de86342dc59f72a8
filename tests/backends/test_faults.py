"""A debug adapter that misbehaves in every way: each time a named error inside a deadline, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stillframe.backends import open_backend
from stillframe.backends.dap.launch import DapLaunch, PrintedAddress, Quirk, Stdio
from stillframe.errors import (
    AdapterDied,
    AdapterUnresponsive,
    LaunchFailed,
    ProtocolError,
    StillframeError,
    Unsupported,
    WrongState,
)
from stillframe.model.backend import (
    Bounds,
    Capability,
    CatchRule,
    Continued,
    Ended,
    Move,
    Output,
    Stopped,
    Tool,
    Wanted,
)
from stillframe.model.places import parse_hit

from .driver import Driven

FAKE = Path(__file__).parent.parent / "fakes" / "adapter.py"
LINE = Wanted("b1", "/p/app.x", 3)
DEFAULT = [{"default": True}]


def launch(script, **changes) -> DapLaunch:
    given = {
        "tool": Tool("fake", "1"),
        "reach": Stdio(),
        "request": "launch",
        "arguments": {"program": "x"},
        "argv": (sys.executable, "-S", str(FAKE), json.dumps(script)),
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "start_timeout": 10.0,
        "request_timeout": 10.0,
    }
    return DapLaunch(**{**given, **changes})


@asynccontextmanager
async def fake(script=None, **changes):
    run = Driven(await open_backend(launch(script or {}, **changes)))
    try:
        yield run
    finally:
        await run.close()


async def begin(run) -> Driven:
    await run.backend.start([LINE], CatchRule())
    await run.stop()
    return run


async def test_a_good_adapter_is_driven_from_start_to_end():
    async with fake() as run:
        bindings = await run.backend.start([LINE], CatchRule())
        assert [(each.state, each.line) for each in bindings] == [("bound", 3)]
        stop = await run.stop()
        assert (stop.thread, stop.breakpoints) == ("0", ("b1",))  # thread 0 is a thread
        look = await run.look()
        assert (look.at.function, look.values.values[0].value) == ("main", "1")
        await run.backend.resume(Move.CONTINUE, stop.thread)
        end = await run.ended()
        assert (end.exit_code, end.lost) == (3, False)


INITIALIZED = {"event": "initialized"}


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            {"initialize": [*DEFAULT, INITIALIZED], "launch": [{"answer": {}}]}, id="initialized before launch"
        ),
        pytest.param({"launch": [INITIALIZED, {"answer": {}}]}, id="initialized before the answer"),
        pytest.param(
            {"initialize": [INITIALIZED, *DEFAULT], "launch": [{"answer": {}}]}, id="an event before the first answer"
        ),
        pytest.param(
            {"launch": [INITIALIZED], "configurationDone": [*DEFAULT, {"answer_to": 2}]}, id="launch answered last"
        ),
        pytest.param({"*": [{"chunk": 1}]}, id="one byte at a time"),
        pytest.param(
            {"*": [{"raw": "Welcome to fake 1.0\n\n"}], "launch": [{"raw": "building...\n"}, *DEFAULT]}, id="chatter"
        ),
        pytest.param({"threads": [{"twice": {}}], "launch": [{"answer_to": 99}, *DEFAULT]}, id="answers to nothing"),
        pytest.param(
            {"launch": [{"ask": "runInTerminal"}, {"ask": "startDebugging"}, *DEFAULT]}, id="it asks for things"
        ),
        pytest.param({"launch": [{"event": "unheardOf", "body": {"a": 1}}, *DEFAULT]}, id="an unknown event"),
    ],
)
async def test_every_order_and_every_chatter_of_the_handshake_comes_up(script):
    async with fake(script) as run:
        await begin(run)
        assert (await run.look()).at.line == 3


async def test_a_refused_launch_is_the_reason_and_nothing_more_is_sent():
    async with fake({"launch": [{"error": "cannot find {name}"}], "configurationDone": [{"kill": 9}]}) as run:
        with pytest.raises(LaunchFailed, match="cannot find X"):
            await run.backend.start([LINE], CatchRule())


async def test_a_launch_that_fails_late_is_still_its_failure():
    refused = [{"answer": {}}, {"refuse_to": 2, "message": "it has no symbols"}]
    async with fake({"launch": [INITIALIZED], "configurationDone": refused}) as run:
        with pytest.raises(LaunchFailed, match="it has no symbols"):
            await run.backend.start([LINE], CatchRule())
    script = {
        "launch": [INITIALIZED],
        "configurationDone": [{"answer": {}}, {"event": "output", "body": {"output": "no"}}],
    }
    async with fake(script, start_timeout=2.0) as run:
        with pytest.raises(AdapterUnresponsive, match="launch"):
            await run.backend.start([LINE], CatchRule())


@pytest.mark.parametrize(
    "command", ["initialize", "launch", "setBreakpoints", "setExceptionBreakpoints", "configurationDone"]
)
async def test_death_at_any_point_of_the_start_is_told_with_its_last_words(command):
    script = {command: [{"stderr": "segmentation fault in foo"}, {"exit": 13}]}
    with pytest.raises(StillframeError) as caught:
        async with fake(script) as run:
            await run.backend.start([LINE], CatchRule())
    assert isinstance(caught.value, AdapterDied | LaunchFailed)
    assert "exit code 13" in caught.value.message and "segmentation fault in foo" in caught.value.message


@pytest.mark.parametrize("command", ["threads", "stackTrace", "scopes", "variables", "evaluate", "next", "modules"])
async def test_death_in_the_middle_of_a_request_fails_it_and_ends_the_stream(command):
    async with fake({command: [{"kill": 9}]}) as run:
        await begin(run)
        with pytest.raises(AdapterDied, match="SIGKILL"):
            await _everything(run)
        assert (await run.next(Ended)).lost
        with pytest.raises(AdapterDied):
            await run.backend.threads()


async def _everything(run) -> None:
    await run.backend.threads()
    look = await run.look()
    await run.backend.evaluate(look.at.id, ["1"], Bounds(), 5.0)
    await run.backend.modules()
    await run.backend.resume(Move.NEXT, run.thread)


@pytest.mark.parametrize("cut", [1, 15, 25])
async def test_death_in_the_middle_of_a_message_is_told_as_such(cut):
    async with fake({"threads": [{"cut": cut}, *DEFAULT]}) as run:
        await begin(run)
        with pytest.raises(AdapterDied, match="exit code 9"):
            await run.backend.threads()


@pytest.mark.parametrize("command", ["initialize", "launch", "setBreakpoints", "configurationDone"])
async def test_an_adapter_that_hangs_at_the_start_meets_a_deadline(command):
    with pytest.raises(AdapterUnresponsive):
        async with fake({command: [{"hang": True}]}, start_timeout=2.0, request_timeout=2.0) as run:
            await run.backend.start([LINE], CatchRule())


async def test_an_adapter_that_hangs_fails_the_request_alone_and_can_still_be_ended():
    async with fake({"threads": [{"hang": True}]}, request_timeout=2.0) as run:
        await begin(run)
        with pytest.raises(AdapterUnresponsive, match="did not answer threads"):
            await run.backend.threads()
        await run.backend.end(terminate=True)
        assert isinstance(await run.next(Ended), Ended)


@pytest.mark.long
async def test_a_stopped_adapter_is_ended_all_the_same():
    async with fake({"threads": [{"kill": int(signal.SIGSTOP)}]}, request_timeout=2.0) as run:
        await begin(run)
        with pytest.raises(AdapterUnresponsive):
            await run.backend.threads()


@pytest.mark.parametrize(
    "bad",
    [
        {"oversize": 200_000_000},
        {"raw": "Content-Length: -1\r\n\r\n"},
        {"raw": "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"},
        {"raw": "Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc"},
        {"raw": "Content-Length: 3\r\n\r\nabc"},
    ],
)
async def test_what_is_no_protocol_ends_the_session_with_that_name(bad):
    async with fake({"threads": [bad]}) as run:
        await begin(run)
        with pytest.raises(ProtocolError):
            await run.backend.threads()
        end = await run.next(Ended)
        assert end.lost and end.cause


async def test_messages_of_no_known_shape_are_passed_over():
    odd = 'Content-Length: 14\r\n\r\n{"type": "odd"}'.replace("14", "15")
    async with fake({"threads": [{"raw": odd}, {"raw": "Content-Length: 2\r\n\r\n{}"}, *DEFAULT]}) as run:
        await begin(run)
        assert len(await run.backend.threads()) == 1


@pytest.mark.parametrize("body", [{}, {"threads": None}, {"threads": [1, None, {}]}, {"threads": [{"id": "x"}]}])
async def test_answers_with_missing_parts_do_not_break_anything(body):
    async with fake({"threads": [{"answer": body}], "stackTrace": [{"answer": {}}]}) as run:
        await begin(run)
        await run.backend.threads()
        look = await run.look()
        assert (look.at, look.frames.frames) == (None, ())


async def test_threads_that_a_debugger_does_not_list_while_the_program_runs_are_those_of_its_news():
    news = [("started", 3), ("started", 12), ("exited", 3)]
    told = [{"event": "thread", "body": {"reason": reason, "threadId": number}} for reason, number in news]
    script = {"launch": [*told, *DEFAULT], "threads": [{"refuse": "notStopped"}], "pause": [{"echo": True}, *DEFAULT]}
    async with fake(script) as run:
        await begin(run)
        assert [each.id for each in await run.backend.threads()] == ["12"]
        await run.backend.pause(None)
        assert '"threadId": 12' in (await run.next(Output)).data.decode()


async def test_a_log_text_that_comes_line_by_line_is_one():
    lines = ["\x01b1\x01one\n", "warning: two\n", "three\x02\n"]
    told = [{"event": "output", "body": {"category": "console", "output": each}} for each in lines]
    async with fake({"threads": [*told, *DEFAULT]}, quirks=frozenset({Quirk.LOG_POINTS_ARE_CONSOLE})) as run:
        await begin(run)
        await run.backend.threads()
        logged = await run.next(Output)
        assert (logged.stream, logged.data, logged.breakpoints) == ("log", b"one\nwarning: two\nthree\n", ("b1",))


async def test_an_unverified_breakpoint_is_pending_with_its_reason_until_an_event_says_more():
    told = {"id": 100, "verified": False, "message": "no code yet"}
    later = {"reason": "changed", "breakpoint": {"id": 100, "verified": True, "line": 4}}
    script = {
        "setBreakpoints": [{"answer": {"breakpoints": [told]}}],
        "threads": [{"event": "breakpoint", "body": later}, *DEFAULT],
    }  # fmt: skip
    async with fake(script) as run:
        (binding,) = await run.backend.start([LINE], CatchRule())
        assert (binding.state, binding.message) == ("pending", "no code yet")
        await run.stop()
        await run.backend.threads()
        changed = next(each.binding for each in run.seen if type(each).__name__ == "BreakpointChanged")
        assert (changed.id, changed.state, changed.line) == ("b1", "bound", 4)


async def test_what_an_adapter_lacks_is_refused_by_name():
    async with fake() as run:
        for wanted in (Wanted("b1", "/p/a", 1, log="x"), Wanted("b1", "/p/a", 1, hit=parse_hit("3"))):
            with pytest.raises(Unsupported, match="fake has no"):
                await run.backend.start([wanted], CatchRule())
        with pytest.raises(Unsupported, match="cannot catch userUnhandled"):
            await run.backend.set_catch(CatchRule(frozenset({"user"})))
        with pytest.raises(Unsupported):
            await run.backend.set_catch(CatchRule(frozenset(), ("KeyError",)))
        with pytest.raises(Unsupported):
            await run.backend.jump("0", "/p/a", 1)


async def test_capabilities_that_come_late_are_merged():
    late = {"event": "capabilities", "body": {"capabilities": {"supportsLogPoints": True}}}
    async with fake({"configurationDone": [late, *DEFAULT]}) as run:
        assert Capability.LOG_POINTS not in run.backend.capabilities
        await begin(run)
        assert {Capability.LOG_POINTS, Capability.CONDITIONS} <= run.backend.capabilities


async def test_a_stop_that_overtakes_the_answer_of_its_request_is_told():
    stop = {"event": "stopped", "body": {"reason": "step", "threadId": 0}}
    async with fake({"next": [{"event": "continued", "body": {"threadId": 0}}, stop, {"answer": {}}]}) as run:
        await begin(run)
        assert (await run.move(Move.NEXT)).reason == "step"
        assert [type(each) for each in run.seen if isinstance(each, Continued | Stopped)] == [
            Stopped,
            Continued,
            Stopped,
        ]


async def test_a_refused_move_says_so():
    async with fake({"next": [{"refuse": "not now"}]}) as run:
        await begin(run)
        with pytest.raises(WrongState, match="not now"):
            await run.backend.resume(Move.NEXT, "0")


@pytest.mark.parametrize(
    ("ending", "exit_code", "lost"),
    [
        ([{"event": "terminated"}, {"event": "terminated"}], None, False),
        ([{"event": "exited", "body": {"exitCode": 5}}, {"exit": 0}], 5, False),
        ([{"event": "terminated"}, {"event": "exited", "body": {"exitCode": 6}}], 6, False),
        ([{"exit": 0}], None, True),
    ],
)
async def test_the_end_is_told_once_from_any_subset_of_its_signs(ending, exit_code, lost):
    async with fake({"continue": [{"answer": {}}, *ending]}) as run:
        await begin(run)
        await run.go()
        end = await run.ended()
        assert (end.exit_code, end.lost) == (exit_code, lost)
        assert len(run.events(Ended)) == 1


async def test_a_debugger_that_dies_with_its_program_before_it_answers_the_move_is_an_end_like_others():
    told = [{"event": "exited", "body": {"exitCode": 5}}, {"event": "terminated"}]
    async with fake({"continue": [*told, {"kill": signal.SIGABRT}]}) as run:
        await begin(run)
        await run.go()
        assert (await run.ended()).exit_code == 5


async def test_an_event_storm_arrives_in_order():
    storm = [{"event": "output", "body": {"category": "stdout", "output": f"{n}\n"}} for n in range(500)]
    async with fake({"threads": [*storm, *DEFAULT]}) as run:
        await begin(run)
        await run.backend.threads()
        assert run.printed().split() == [str(n) for n in range(500)]


async def test_an_adapter_that_prints_its_address_is_dialled(tmp_path):
    import re

    code = (
        "import socket,sys,os;s=socket.create_server(('127.0.0.1',0));print('noise');"
        "print('listening at: 127.0.0.1:%d' % s.getsockname()[1],flush=True);c,_=s.accept();"
        "os.dup2(c.fileno(),0);os.dup2(c.fileno(),1);os.execv(sys.executable,[sys.executable,'-S',*sys.argv[1:]])"
    )
    argv = (sys.executable, "-S", "-c", code, str(FAKE), "{}")
    reach = PrintedAddress(re.compile(r"listening at: (\S+)\s"))
    run = Driven(await open_backend(launch({}, argv=argv, reach=reach)))
    await begin(run)
    await run.go()
    assert (await run.ended()).exit_code == 3
    await run.close()


async def test_an_adapter_that_never_prints_its_address_fails_with_its_words():
    import re

    argv = (sys.executable, "-S", "-c", "import sys; sys.exit('no licence')")
    with pytest.raises(LaunchFailed, match="no licence"):
        await open_backend(launch({}, argv=argv, reach=PrintedAddress(re.compile(r"at (\S+)"))))


async def test_what_a_program_prints_through_its_adapter_is_told_by_stream():
    events = [
        {"event": "output", "body": {"category": category, "output": category or "none"}}
        for category in ("stdout", "stderr", "console", "important", "telemetry", None)
    ]
    async with fake({"threads": [*events, *DEFAULT]}) as run:
        await begin(run)
        await run.backend.threads()
        assert [(each.stream, each.data) for each in run.events(Output)] == [
            ("stdout", b"stdout"), ("stderr", b"stderr"), ("console", b"console"), ("console", b"important"),
            ("console", b"none"),
        ]  # fmt: skip
