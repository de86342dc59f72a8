"""JSON within its budget: never over it, always an envelope, and what was cut is said with shown and total."""

from __future__ import annotations

import json as plain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillframe.dispatch import Dispatched, ErrorReply, Reply
from stillframe.errors import BY_CODE
from stillframe.model.backend import Tool
from stillframe.model.outcomes import Exited, SourceLine, Stop
from stillframe.model.recorded import Events, RecordedEvent
from stillframe.model.values import Frame, Frames, Value, Values
from stillframe.model.views import OutputPage, ProbedPlace, ProbeReport
from stillframe.render.json import json

SIZES = st.integers(0, 400)


def envelope(result: Any) -> Dispatched:
    return Dispatched(reply=Reply(ok=True, op="state", session="shop", via=Tool("debugpy", "1.8.22"), result=result))


def stop(locals: int, frames: int, printed: int, lines: int, wide: int) -> Stop:
    return Stop(
        reason="breakpoint",
        thread="t1",
        frame=Frame(function="f", file="a.py", line=3, id="f0"),
        source=tuple(SourceLine(number, "x" * 60, number == 3) for number in range(lines)),
        stack=tuple(
            Frame(function=f"f{number}", file="a.py", line=number, id=f"f{number}") for number in range(frames)
        ),
        stack_total=frames,
        locals=tuple(Value(name=f"n{number}", type="str", value="v" * wide) for number in range(locals)),
        locals_total=locals,
        output="é\x9b\x7f\n" * printed,
        number=1,
    )


@settings(max_examples=60)
@given(SIZES, SIZES, SIZES, st.integers(0, 40), st.integers(0, 300), st.integers(2000, 70000))
def test_a_stop_of_any_size_stays_within_the_budget(
    locals: int, frames: int, printed: int, lines: int, wide: int, budget: int
) -> None:
    text = json(envelope(stop(locals, frames, printed, lines, wide)), budget)
    assert len(text.encode()) <= budget + 1
    assert text.endswith("\n") and text.count("\n") == 1
    assert not {"\x9b", "\x7f"} & set(text), "no terminal is steered, cut or whole"
    reply = plain.loads(text)
    assert (reply["ok"], reply["op"], reply["session"], reply["via"]["tool"]) == (True, "state", "shop", "debugpy")
    result = reply["result"]
    assert result["state"] == "stopped"
    whole = {"locals": locals, "stack": frames, "source": lines}
    cut = {each["part"]: each for each in result.get("cut", [])}
    for part, total in whole.items():
        shown = len(result.get(part, []))
        if shown < total and "result" not in cut:
            assert (cut[part]["shown"], cut[part]["total"]) == (shown, total)
    assert result["reason"] == "breakpoint", "the outcome is never cut"
    assert result["frame"]["line"] == 3


def test_the_smallest_budget_leaves_the_outcome_and_says_what_is_gone() -> None:
    told = plain.loads(json(envelope(stop(30, 20, 100, 5, 50)), 100))["result"]
    assert (told["state"], told["reason"], told["frame"]["line"]) == ("stopped", "breakpoint", 3)
    assert told["cut"][0]["part"] == "result"


@pytest.mark.long
@settings(max_examples=40)
@given(st.integers(0, 1500), st.integers(0, 90_000), st.integers(1000, 70000))
def test_lists_and_printed_text_stay_within_the_budget(number: int, printed: int, budget: int) -> None:
    for result in (
        Values(values=tuple(Value(name=f"[{index}]", value=str(index)) for index in range(number)), total=number),
        Frames(frames=tuple(Frame(function="deep", file="a.py", line=1, id=f"f{index}") for index in range(number))),
        OutputPage(stdout="\x1b" * printed, total=printed, cursor="0.0.0.0"),
        Exited(exit_code=0, output="o" * printed, stderr="e" * printed),
        Values(values=(Value(name="one", value="x" * printed, total=printed),)),
    ):
        text = json(envelope(result), budget)
        assert len(text.encode()) <= budget + 1, type(result)
        assert plain.loads(text)["ok"] is True


@settings(max_examples=40)
@given(st.text(st.characters(), max_size=300))
def test_values_are_exact_whatever_they_hold(text: str) -> None:
    reply = plain.loads(json(envelope(Values(values=(Value(name="x", value=text),))), 65536))
    assert reply["result"]["values"][0].get("value", "") == text


def test_an_error_is_told_whole_in_its_envelope() -> None:
    failed = Dispatched(
        reply=Reply(ok=False, op="locals", session="shop", error=ErrorReply(code="wrong_state", message="m" * 500)),
        exit_code=3,
    )
    assert plain.loads(json(failed, 65536)) == {
        "ok": False, "op": "locals", "session": "shop", "error": {"code": "wrong_state", "message": "m" * 500},
    }  # fmt: skip


@given(st.integers(0, 100_000))
def test_even_an_error_stays_within_the_budget(length: int) -> None:
    failed = Dispatched(reply=Reply(ok=False, op="eval", error=ErrorReply(code="eval_failed", message="m" * length)))
    text = json(failed, 65536)
    assert len(text) <= 65537
    told = plain.loads(text)["error"]
    assert told["code"] == "eval_failed"
    assert ("cut" in told) == (len(told["message"]) < length)


def test_an_error_that_is_told_whole_says_of_no_cut_at_any_budget() -> None:
    failed = Dispatched(reply=Reply(ok=False, op="eval", error=ErrorReply(code="eval_failed", message="m" * 40)))
    assert plain.loads(json(failed, 3))["error"] == {"code": "eval_failed", "message": "m" * 40}


def test_a_probe_of_any_number_of_places_keeps_the_verdict_of_each() -> None:
    held = stop(30, 5, 0, 3, 60)
    places = tuple(
        ProbedPlace(location=f"a.py:{number}", state="reached", count=1, hits=(held,), message="m" * 200)
        for number in range(300)
    )
    report = ProbeReport(command=("python", "a.py"), places=places, end=Exited(exit_code=3, output="x" * 3000))
    result = plain.loads(json(envelope(report), 65536))["result"]
    assert [each["state"] for each in result["places"]] == ["reached"] * 300
    assert result["end"]["exit_code"] == 3
    assert result["cut"]


EXIT_CODES = {
    1: {"eval_failed", "launch_failed", "unsupported", "not_found"},
    2: {"usage"},
    3: {"no_session", "wrong_state", "stale_handle", "busy"},
    4: {"adapter_unresponsive"},
    5: {"adapter_missing"},
    6: {"adapter_died", "protocol_error"},
    7: {"denied"},
    8: {"store_full"},
    70: {"internal"},
}


def test_every_error_has_the_exit_code_that_is_promised() -> None:
    assert {name: cls.exit_code for name, cls in BY_CODE.items()} == {
        name: code for code, names in EXIT_CODES.items() for name in names
    }


EVENTS = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 50)), min_size=1, max_size=60)


def happened(written: list[tuple[int, int]]) -> Events:
    """Events in the order of their times, which is not quite that of their numbers."""
    made = [
        RecordedEvent(id=number + 1, time=number + late, kind="output", text="stdout", data="\x1b" * size)
        for number, (size, late) in enumerate(written)
    ]
    return Events(events=tuple(sorted(made, key=lambda each: each.time)), cursor="900", total=len(made))


@settings(max_examples=60)
@given(EVENTS, st.integers(2000, 40000))
def test_events_that_have_no_room_are_behind_the_cursor_and_none_is_passed_over(
    written: list[tuple[int, int]], budget: int
) -> None:
    whole = happened(written)
    said = json(envelope(whole), budget)
    assert len(said.encode()) <= budget + 1
    result = plain.loads(said)["result"]
    shown = {each["id"] for each in result["events"]}
    assert shown == set(range(1, len(shown) + 1))
    assert shown and result["cursor"] == ("900" if len(shown) == len(written) else str(max(shown)))
