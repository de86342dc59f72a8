"""Values read in a row, by their numbers or once each: whichever way it is, they tell what each by itself tells."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.errors import NotFound
from stillframe.model.outcomes import Stop
from stillframe.model.places import parse_place
from stillframe.model.recording import RunFacts
from stillframe.model.values import Frame, Value
from stillframe.record import (
    cells,
    choosing,
    columns,
    comparing,
    finding,
    hits,
    scopes,
    shapes,
    sides,
    stretches,
    texts,
)
from stillframe.record.conditions import Path as Way
from stillframe.record.finding import View
from stillframe.record.record import Record

VIEW = View("/p", "/p")
HITS = 110  # more than `columns.WORTH`, from where on texts are read together

PATHS = (
    "few", "many", "mixed", "seldom", "item.qty", "item.sku", "item.tags[1]", "len(item)", "len(item.sku)", "len(mixed)",
    "type(mixed)", "type(item.sku)", "type(item)", "pool.qty", "pool.sku", "len(pool.sku)", "cut.qty", "cut.deep.er", "cut.nope",
    "beside.qty", "beside.text", "len(beside.text)", "type(beside.qty)", "type(beside.text)", "beside.list[1]", "beside.list[7]",
    "beside.nope", "beside.dict.a", "beside.dict.b", "len(beside.list)", "len(beside.dict)", "beside.more", "beside.list",
    "more.qty",
    "more.In.C", "more.nope", "len(more.In)", "short.a", "short.z", "len(short)", "opaque.n", "opaque.nope", "begun.text",
    "len(begun.text)",
    "type(begun.text)", "begun.nope", "seq[1]", "seq[3]", "seq[9]", "seq[1].a", "bare.x", "ü.ä",
    "strange", "strange.qty", "thread", "reason", "place", "function",
)  # fmt: skip
CONDITIONS = (
    "few > 2", "few != 2", "many > 100", "many != 7", "many >= 200.5", "mixed > 30", "mixed != 30", "mixed == 'x'", "seldom > 3",
    "not (few != 3)", "not (seldom != 3)", "not (many > 50 or few)", "many > few", "mixed > few", "mixed < many", "seldom >= few",
    "item.qty > few", "pool.qty == few", "item.sku == 'A-7'", "'A-1' in item.sku", "len(item) > 2", "len(item.sku) > 4",
    "len(mixed) == 3", "type(mixed) == 'str'", "type(item) == 'dict' and few > 1", "item and few", "strange", "strange.qty > 3",
    "many > 20 and many < 90 and few == 1", "cut.deep.er == 1 or few == 2", "cut.nope != 3", "few == few",
    "beside.qty > 20", "beside.qty != 3", "len(beside.text) > 4", "type(beside.qty) == 'int'", "beside.list[7] == 3",
    "short.z != 3",
    "begun.text == 'abc'", "opaque.n > 40", "not (beside.dict.b == 3)", "more.In.C >= many", "ü.ä > 5",
)  # fmt: skip


def stop(number: int, chance: random.Random) -> Stop:
    """Values of every kind: few, many, numbers among texts, cut ones, with parts beside them, with what stands between texts."""
    frame = Frame(function="total", file="shop.py", line=14, id="f0", module="shop")
    mixed = chance.choice(
        [str(number), f"{number / 7}", "None", "'x'", "1_000", "97 'a'", "10n", "[1, 2, 3]", " 7", "-0", "01"]
    )
    pool = chance.randrange(40)
    cut = chance.choice(
        [f"{{'qty': {number}}}", f"{{'qty': {number}, …}}", f"{{'qty': {number}, 'deep': {{…}}}}", "<Cart>"]
    )
    strange = chance.choice(
        ["{'qty': 'a\x02b'}", f"{{'qty': {number}}}", "'\x02'", "''", "", f"{{'qty': '{number}…'}}"]
    )
    deep = (Value(name="deep", type="dict", value="{'er': 1}", children=(Value(name="er", type="int", value="1"),)),)
    locals = [
        Value(name="few", type="int", value=str(chance.randrange(5))),
        Value(name="many", type="float", value=f"{number * 1.25}"),
        Value(name="mixed", type="str" if "'" in mixed else "int", value=mixed),
        Value(
            name="item",
            type="dict",
            value=f"{{'sku': 'A-{number}', 'qty': {number % 7}, 'tags': ['a', {number}]}}",
            total=3,
        ),
        Value(
            name="pool", type="dict", value=f"{{'sku': \"B{pool}\", 'qty': {pool % 6}}}", total=2 if pool % 9 else None
        ),
        Value(name="cut", type="dict", value=cut, total=9 if "…" in cut else 1, children=chance.choice([(), deep])),
        Value(name="strange", type="object", value=strange),
        *([Value(name="seldom", type="int", value=str(number % 8))] if chance.random() < 0.6 else []),
    ]
    locals += odd_ones(number, chance)
    how, by = ("breakpoint", ("b1",)) if chance.random() < 0.8 else ("step", ())
    return Stop(reason=how, thread=f"t{number % 3}", frame=frame, stack=(frame,), locals=tuple(locals), breakpoints=by)


def odd_ones(number: int, chance: random.Random) -> list[Value]:
    """Cut values with parts told beside them, in every way that these are written; with more than they show, or nothing."""
    deep = (Value(name="qty", type="int", value="5"),)
    beside = [
        Value(name="['text']", type="str", value=f"'{'x' * (number % 9)}\\n\"é'…", total=301),
        Value(name="['qty']", type="int", value=chance.choice([str(number), "", "…"])),
        Value(name="['list']", type="list", value=chance.choice(["[1, 2]", "[1, 2, …]", "<list>"]), total=number % 4),
        Value(name="['dict']", type="dict", value=f"{{'a': {number}}}", total=chance.choice([1, 2, None])),
        Value(
            name="other\udcff" if number % 11 == 3 else "other", value="x", children=deep if number % 13 == 5 else ()
        ),
    ]
    chance.shuffle(beside)
    told = tuple(beside[: chance.randrange(6)])
    kept = Value(name="n", type="int", value=str(number))
    return [
        Value(
            name="beside",
            type="dict",
            value=f"{{'qty': {number}, …}}",
            total=9,
            truncated=True,
            ref="v1",
            children=told,
        ),
        Value(name="more", type="Item", value=f"main.Item {{Qty: {number}, In: main.In {{C: {number}}}}}", ref="v1"),
        Value(name="short", type="dict", value=f"{{'a': {number}, 'b': 2}}", total=chance.choice([2, 5, None])),
        Value(name="opaque", type="Cart", value=f"<Cart at {number}>", ref="v1", children=chance.choice([(), (kept,)])),
        Value(
            name="begun", type="dict", value=f"{{'text': {chance.choice(['abc', 'b'])!r}…, 'no': {number}}}", total=2
        ),
        Value(
            name="seq", type="list", value=chance.choice([f"[{number}, {{'a': 1}}, …]", f"[{number}, 2]", "[]", "[…]"])
        ),
        Value(
            name="bare", type="str", value=chance.choice([f"'{number}'", str(number)]), ref=chance.choice([None, "v1"])
        ),
        Value(
            name="ü", type="dict", value="{…}", total=1, ref="v1", children=(Value(name="['ä']", value=str(number)),)
        ),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of one run by itself, then of two at once."""
    folder = tmp_path_factory.mktemp("columns")

    async def write() -> None:
        record = Record(folder, f"{os.getpid()}:0")
        alone, *both = (
            record.begin(RunFacts(name=name, root="/p", base="/p"), None) for name in ("alone", "left", "right")
        )
        chance = random.Random(1)
        for number in range(HITS):
            await alone.stop(stop(number, chance), ["line"] * 20)
        for number in range(HITS // 3):
            for tape in both:
                await tape.stop(stop(number, chance), ["line"] * 20)
        await record.close()

    asyncio.run(write())
    return folder


@pytest.fixture
def connection(folder: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(folder / "record.sqlite")) as found:
        yield found


def asked(connection: sqlite3.Connection, run: str, condition: str | None = None, steps: bool = True) -> scopes.Scope:
    found = finding.run(connection, "/p", run)
    return scopes.scope(connection, found, VIEW, parse_place("shop.py:14"), condition, steps=steps)


def told(connection: sqlite3.Connection, run: str, path: str, condition: str | None, steps: bool) -> list[object]:
    """All that is told of a path, or the miss."""
    found: list[object] = []
    for ask in (
        lambda scope: hits.grouped(scope, path, 7, counted=True),
        lambda scope: hits.trend(scope, path, "x", drawn=True) if path not in hits.OF_THE_HIT else None,
        lambda scope: [hits.listed(scope, *page) for page in ((0, 3), (7, 4), (5, 0))],
    ):
        try:
            found.append(ask(asked(connection, run, condition, steps)))
        except NotFound as miss:
            found.append(str(miss))
    return found


@pytest.fixture(params=["pieces", "whole"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces as small as hits are few, with patterns for few texts, or as it is with many."""
    if request.param == "pieces":
        monkeypatch.setattr(cells, "SLICE", 16)
        monkeypatch.setattr(shapes.Reader.__init__, "__defaults__", (1,))
        monkeypatch.setattr(columns, "WORTH", 2)
        monkeypatch.setattr(columns, "NEAR", 2)
        monkeypatch.setattr(choosing, "MANY", 10)


@pytest.mark.long
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("run", ["alone", "left"])
def test_what_is_read_in_a_row_is_what_each_hit_by_itself_tells(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    cases: list[tuple[str, str | None, bool]] = [(path, None, number % 2 > 0) for number, path in enumerate(PATHS)]
    cases += [(PATHS[number % len(PATHS)], each, number % 3 > 0) for number, each in enumerate(CONDITIONS)]
    for path, condition, steps in cases:
        in_a_row = told(connection, run, path, condition, steps)
        assert asked(connection, run).in_a_row
        with monkeypatch.context() as only:
            only.setattr(stretches, "LOOKED_UP", 0)
            only.setattr(hits, "LEAFED", 0)
            assert asked(connection, run).in_a_row is None, "each is looked at by itself"
            assert in_a_row == told(connection, run, path, condition, steps), (path, condition, steps)


_NUMBERS = st.one_of(
    st.floats().map(repr),
    st.integers().map(str),
    st.from_regex(r"-?[0-9_]{1,4}(\.[0-9]{0,3})?([eE][-+]?[0-9]{1,3})?(n| 'x')?", fullmatch=True),
    st.sampled_from(
        ["", " 7", "7 ", "1,2", "-", "1.", ".5", "+1", "01", "٣", "1e999", "9" * 60, "9" * 61, "true", "[1]", "\n1"]
    ),
    st.none(),
    st.integers(0, 9),
)


@given(st.lists(_NUMBERS, max_size=8))
def test_numbers_that_are_read_together_are_those_that_each_is(told: list[str | int | None]) -> None:
    assert list(map(repr, texts.numbers(told))) == [repr(texts.number(each)) for each in told]


@given(
    st.lists(
        st.sampled_from(["'a'", '"it\'s"', "''", "3", "", "'it\\'s'", "b'x'", "'a' 'b'", "None", "['a']"]), max_size=5
    )
)
def test_lengths_and_types_that_are_told_together_are_those_of_each(parts: list[str]) -> None:
    for of in ("len", "type"):
        way = Way("x", ("y",), of)  # type: ignore[arg-type]
        assert shapes.asked(parts, way) == [shapes.asked([each], way)[0] for each in parts]
        assert shapes.asked([""], way) == [shapes.UNREAD]


_MARKS = st.lists(st.sampled_from([-5, 5, 51, 1, 11]), max_size=6)


@given(_MARKS, _MARKS)
def test_marks_are_alike_as_far_as_each_of_them_is(one: list[int], other: list[int]) -> None:
    first, second = (sides._in_order(list(enumerate(each))) for each in (one, other))
    alike = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    assert first.alike(second) == second.alike(first) == alike


def test_runs_of_one_process_and_of_several_are_compared_alike(connection: sqlite3.Connection) -> None:
    """The marks of one process are told by the index; those of several are put in order first."""
    alone, left, right = (finding.run(connection, "/p", name) for name in ("alone", "left", "right"))
    for one, other in ((alone, left), (left, right), (right, alone)):
        several = [finding.Run(each.id, each.name, each.root, (*each.members, 9999)) for each in (one, other)]
        found = comparing.two_runs(connection, one, other, VIEW)
        assert found.different and found == comparing.two_runs(connection, several[0], several[1], VIEW)
        assert sides.Side.of(connection, one).hits(1) == sides.Side.of(connection, several[0]).hits(1)
