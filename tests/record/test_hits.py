"""Hits that lie in a row are read in a row: what is told of them is what a look at each single one tells."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from stillframe.errors import NotFound
from stillframe.model.outcomes import Stop
from stillframe.model.places import parse_place
from stillframe.model.recording import RunFacts
from stillframe.model.values import Frame, Value
from stillframe.record import finding, hits, scopes, stretches
from stillframe.record.finding import View
from stillframe.record.record import Record
from stillframe.record.tape import Tape

CONDITIONS = (
    None, "qty > 3", "not qty > 3", "qty != 3", "not (qty != 3)", "item.qty > 2", "not item.qty > 2", "item.qty != 2",
    "qty == 'x'", "qty > 1 and item.qty < 4", "qty > 1 and odd", "odd or qty > 4", "odd and qty > item.qty",
    "len(item) == 2 and qty < 6", "type(qty) == 'str'", "item.tags[0] == 'a' and not done", "qty > 1 and (odd or item.qty == 3)",
    "item.deep.er == 1", "qty > 99", "'a' in item.tags[0]", "item.qty", "not (item.qty == 2 or odd)", "qty >= item.qty",
    "item.qty == 3 or type(qty) == 'str'", "done != 'x' or item.qty > 1", "item and (odd or 'x' in qty)",
    "qty % 2 == 1", "not qty % 2 == 1", "item.qty % 2", "qty % 2 == 1 and odd", "qty in (1, 3)", "item.qty not in (1, 'x')",
    "qty > '2026-01-01'", "item.tags[0] != '2026-01-01'", "qty % 2 or item.qty == '2026-01-01'",
)  # fmt: skip
PATHS = (
    "qty", "item.qty", "type(qty)", "len(item)", "odd", "item.deep.er", "item.tags[0]", "len(item.tags)",
    "place", "thread", "reason",
)  # fmt: skip


def stop(number: int) -> Stop:
    """Names that are not always there, a number that is once a text, values that are cut; some are steps."""
    frame = Frame(function="total", file="shop.py", line=14 if number % 5 else 15, id="f0", module="shop")
    qty = (
        Value(name="qty", type="str", value="'x'")
        if number == 7
        else Value(name="qty", type="int", value=str(number % 6))
    )
    cut = ", 'deep': …" if number % 3 == 0 else ", 'tags': ['a', 'b']"
    item = Value(name="item", type="dict", value=f"{{'qty': {number % 5}{cut}}}", total=2)
    odd = [Value(name="odd", type="int", value="1")] if number % 2 else []
    done = Value(name="done", type="bool", value=str(number > 20))
    locals = [done, *([qty] if number != 11 else []), *([item] if number != 13 else []), *odd]
    how, by = ("breakpoint", ("b1",)) if number % 4 else ("step", ())
    thread = f"t{number % 3}"
    return Stop(reason=how, thread=thread, frame=frame, stack=(frame,), locals=tuple(locals), breakpoints=by)


async def told(tapes: list[Tape], numbers: range) -> None:
    for number in numbers:
        for tape in tapes:
            await tape.stop(stop(number), ["line"] * 20)


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    """Two runs of one program after each other, then two at once."""

    async def write() -> None:
        record = Record(tmp_path, f"{os.getpid()}:0")
        runs = [
            record.begin(RunFacts(name=name, root="/p", base="/p"), None) for name in ("one", "two", "left", "right")
        ]
        await told(runs[:1], range(1, 30))
        await told(runs[1:2], range(1, 30))
        await told(runs[2:], range(1, 30))
        await record.close()

    asyncio.run(write())
    return sqlite3.connect(tmp_path / "record.sqlite")


def test_hits_in_a_row_are_told_as_each_by_itself_is(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scope(run: str, place: str | None, condition: str | None, steps: bool) -> scopes.Scope:
        at = parse_place(place) if place else None
        found = finding.run(connection, "/p", run)
        return scopes.scope(connection, found, View("/p", "/p"), at, condition, steps=steps)

    cases = [("one", "total", True), ("two", "shop.py:14", False), ("left", "total", True), ("right", None, False)]
    for run, place, steps in cases:
        for number, condition in enumerate(CONDITIONS):
            all_, one = (scope(run, place, condition, steps) for _ in range(2))
            assert all_.in_a_row and all_.alone is (run in ("one", "two")), "others came to it meanwhile"
            assert steps or all_.left_out, "there are steps"
            with monkeypatch.context() as only:
                only.setattr(stretches, "LOOKED_UP", 0)
                assert one.in_a_row is None, "each is looked at by itself"
            assert hits.listed(all_, 2, 2) == hits.listed(one, 2, 2), condition
            for path in PATHS if condition is None else (PATHS[number % len(PATHS)],):
                grouped = hits.grouped(all_, path, 20, counted=True)
                assert grouped == hits.grouped(one, path, 20, counted=True), (condition, path)
                if path not in hits.OF_THE_HIT:
                    assert hits.trend(all_, path, "x", drawn=True) == hits.trend(one, path, "x", drawn=True)
        missed = []
        for rows in (stretches.LOOKED_UP, 0):
            with monkeypatch.context() as only, pytest.raises(NotFound) as miss:
                only.setattr(stretches, "LOOKED_UP", rows)
                hits.grouped(scope(run, place, None, steps), "nope", 20, counted=True)
            missed.append(str(miss.value))
        assert missed[0] == missed[1] and "recorded there: done, " in missed[0]
    connection.close()


IDS = ("9007199254740992", "9007199254740993", "18446744073709551615", "9007199254740994n", "-9007199254740993", "3")
LOSSES = ("inf", "-Infinity", "nan", "1e300", "+Inf", "Decimal('-Infinity')")
"""Numbers that are no float's, as 64 bits hold them, and those that every other is less or more than."""
EXACT = {
    "id == 9007199254740993": [2], "id != 9007199254740993": [1, 3, 4, 5, 6], "id > 9007199254740992": [2, 3, 4],
    "it.id == 9007199254740993": [2], "it.id <= 9007199254740992": [1, 5, 6], "not it.id > 9007199254740992": [1, 5, 6],
    "id == 9007199254740994": [4], "id < -9007199254740992": [5], "id == 18446744073709551616": [],
    "id == it.id": [1, 2, 3, 4, 5, 6], "id < next": [1, 2, 3, 4, 5, 6], "id >= next": [], "it.id != next": [1, 2, 3, 4, 5, 6],
    "id % 2 == 1": [2, 3, 5, 6], "it.id % 2 == 0": [1, 4], "id in (9007199254740992, 3)": [1, 6],
    "loss > 5": [1, 4, 5], "loss < 0": [2, 6], "it.loss > 5": [1, 4, 5], "it.loss < 0": [2, 6], "loss > id": [1, 4, 5],
    "loss == it.loss": [1, 2, 3, 4, 5, 6], "loss > 1e301 and id > 3": [1], "word > id": [], "word == id": [],
}  # fmt: skip


@pytest.mark.parametrize("times", [1, 400])
def test_numbers_are_compared_as_what_they_are_however_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    def stop(id: str, loss: str, number: int) -> Stop:
        frame = Frame(function="total", file="shop.py", line=14, id="f0", module="shop")
        texts = {"id": id, "loss": loss, "it": f"It(id={id}, loss={loss})", "word": "'x'", "turn": str(number)}
        texts["next"] = str(int(id.rstrip("n")) + 1)
        values = tuple(Value(name=name, type="int", value=text) for name, text in texts.items())
        return Stop(reason="breakpoint", thread="t1", frame=frame, stack=(frame,), locals=values)

    async def write() -> None:
        record = Record(tmp_path, f"{os.getpid()}:0")
        tape = record.begin(RunFacts(name="one", root="/p", base="/p"), None)
        each = [stop(id, loss, turn) for turn in range(times) for id, loss in zip(IDS, LOSSES, strict=True)]
        await asyncio.gather(*(tape.stop(one, ["line"] * 20, many=True) for one in each))
        await record.close()

    asyncio.run(write())
    connection = sqlite3.connect(tmp_path / "record.sqlite")
    for rows in (stretches.LOOKED_UP, 0):
        monkeypatch.setattr(stretches, "LOOKED_UP", rows)
        for condition, wanted in EXACT.items():
            asked = scopes.scope(connection, finding.run(connection, "/p", "one"), View("/p", "/p"), None, condition)
            assert sorted({(id - 1) % len(IDS) + 1 for id in asked.ids}) == wanted, (condition, rows)
            assert len(asked.ids) == times * len(wanted), (condition, rows)
        every = scopes.scope(connection, finding.run(connection, "/p", "one"), View("/p", "/p"), None, None)
        for path in ("loss", "it.loss"):
            trend, points = hits.trend(every, path, "x", drawn=True)
            assert (trend.numbers, trend.least, len(points)) == (times, 1e300, times), "what is infinite has no height"
            assert {each.value for each in trend.others} == set(LOSSES) - {"1e300"}
    connection.close()
