"""Runs compared: of a run that a probe counted, what it did not ask for is not recorded, and nothing is claimed of it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from stillframe.model.outcomes import Stop
from stillframe.model.recorded import RunDiff
from stillframe.model.recording import PROBED, TRACED
from stillframe.model.values import Value
from stillframe.record import comparing, finding
from stillframe.record.finding import View
from stillframe.record.record import Record

from .conftest import LINES, facts, stop_at


def probed(hit: int, **values: object) -> Stop:
    stop = stop_at(4, PROBED, **values)
    return msgspec.structs.replace(stop, stack=stop.stack[:1], hit=hit)


async def ran(record: Record, here: Path, *stops: Stop) -> None:
    tape = record.begin(facts(here), None)
    for each in stops:
        await tape.stop(each, LINES)


async def compared(record: Record, here: Path, first: str, second: str) -> RunDiff:
    view = View(str(here), str(here))
    return await record.look(
        lambda connection: comparing.two_runs(
            connection, finding.run(connection, str(here), first), finding.run(connection, str(here), second), view
        )
    )


async def test_of_a_probes_run_only_what_it_asked_for_is_compared(record: Record, tmp_path: Path) -> None:
    await ran(record, tmp_path, *(stop_at(4, out=n, item=n + 1) for n in range(3)))
    await ran(record, tmp_path, *(probed(n + 1, out=n) for n in range(3)))
    await ran(record, tmp_path, *(probed(hit, out=n, more=n) for hit, n in enumerate((0, 7, 2), 1)))
    await ran(record, tmp_path, probed(1, item=9))
    same = await compared(record, tmp_path, "r1", "r2")
    assert (same.both, same.different) == (1, ())
    assert same.notes == ("of r2 only what a probe or trace told is recorded: out alone can be compared",)
    for first in ("r1", "r2"):
        (place,) = (await compared(record, tmp_path, first, "r3")).different
        assert (place.hits, place.first, place.handles) == ((3, 3), 2, (f"{first}.h2", "r3.h2"))
        assert [(each.name, each.old, each.new) for each in place.differences] == [("out", "1", "7")]
    nothing = await compared(record, tmp_path, "r2", "r4")
    assert [(each.hits, each.first) for each in nothing.different] == [((3, 1), None)]
    assert nothing.notes == ("of r2 and r4 only what a probe or trace told is recorded: there is no value to compare",)
    found = await record.look(lambda connection: comparing.two_hits(connection, 1, 4, View(str(tmp_path), "")))
    assert (found.differences, found.same, found.stack) == ((), 1, ())
    assert found.notes == same.notes


async def test_what_a_trace_told_without_types_is_the_same_and_lines_of_one_text_are_different_places(
    record: Record, tmp_path: Path
) -> None:
    traced = stop_at(4, TRACED, out=1)
    untyped = tuple(msgspec.structs.replace(each, type="") for each in traced.locals)
    await ran(record, tmp_path, msgspec.structs.replace(traced, locals=untyped))
    await ran(record, tmp_path, stop_at(4, out=1, item=2), stop_at(4, out=2, item=2))
    await ran(record, tmp_path, stop_at(2, out=1))
    same = await compared(record, tmp_path, "r1", "r2")
    assert same.different == () and comparing.SOME in same.notes
    found = await compared(record, tmp_path, "r1", "r3")
    assert (found.both, len(found.only_first), len(found.only_second)) == (0, 1, 1)


async def test_hits_that_a_probe_kept_of_many_are_compared_with_those_of_the_same_number(
    record: Record, tmp_path: Path
) -> None:
    await ran(record, tmp_path, *(stop_at(4, out=n) for n in range(1, 10)))
    await ran(record, tmp_path, *(probed(n, out=n) for n in range(1, 10, 2)))
    found = await compared(record, tmp_path, "r1", "r2")
    assert found.different == (), "neither the third hit, which is its fifth, nor that there are only five of them"
    assert comparing.SOME in found.notes


def cut(name: str, text: str, total: int, *parts: Value) -> Value:
    return Value(name=name, type="Cart", value=text, total=total, truncated=True, children=parts)


async def test_values_that_are_cut_are_compared_by_their_parts_and_their_length_and_no_more_is_claimed(
    record: Record, tmp_path: Path
) -> None:
    def stop(last: int, length: int) -> Stop:
        deep = Value(name="owner", value="Owner(…)", children=(Value(name="id", value=str(last)),))
        cart = cut("cart", "Cart(note='…', …)", 3, deep)
        return msgspec.structs.replace(
            stop_at(4, n=1), locals=(*stop_at(n=1).locals, cart, cut("text", "'aaa'…", length))
        )

    for last, length in ((1, 900), (1, 900), (2, 900), (1, 901)):
        await ran(record, tmp_path, stop(1, 900), stop(last, length))
    assert (await compared(record, tmp_path, "r1", "r2")).different == ()
    (part,) = (await compared(record, tmp_path, "r1", "r3")).different
    assert [(each.name, each.old, each.new) for each in part.differences] == [("cart.owner.id", "1", "2")]
    assert (part.first, part.handles) == (2, ("r1.h2", "r3.h2"))
    (longer,) = (await compared(record, tmp_path, "r1", "r4")).different
    assert [each.name for each in longer.differences] == ["text"]
    found = await record.look(lambda connection: comparing.two_hits(connection, 1, 6, View(str(tmp_path), "")))
    assert [each.name for each in found.differences] == ["cart.owner.id"]
    assert found.notes == ("compared as far as they are recorded, which is not whole: cart, text",)


async def test_of_a_hit_with_more_locals_than_are_recorded_none_is_said_to_be_missing(
    record: Record, tmp_path: Path
) -> None:
    few, many = stop_at(4, a=1, b=2), stop_at(4, a=1, c=3)
    await ran(record, tmp_path, few, msgspec.structs.replace(many, locals_total=50))
    found = await record.look(lambda connection: comparing.two_hits(connection, 1, 2, View(str(tmp_path), "")))
    assert [(each.name, each.old, each.new) for each in found.differences] == [("c", None, "3")], "but b may be there"
    assert found.notes == ("of r1.h2 2 of 50 locals are recorded, and compared",)
