"""What a program prints goes to the record in whole lines, all of it where there is little, the newest of it in a flood."""

from __future__ import annotations

import asyncio
import time

from hypothesis import given
from hypothesis import strategies as st

from stillframe.record.pen import OUTPUT_BYTES
from stillframe.record.spool import BURST, LINE_BYTES, PACE, Piece, Spool

LINE = b"x" * 99 + b"\n"


def spooled(prints: list[tuple[str, bytes]]) -> list[Piece]:
    handed: list[Piece] = []

    async def run() -> None:
        spool = Spool(handed.append)
        for stream, data in prints:
            spool.add(stream, data)
        spool.flush()

    asyncio.run(run())
    return handed


def text_of(handed: list[Piece], stream: str) -> bytes:
    return b"".join(each.data for each in handed if each.stream == stream)


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=300) | st.just(LINE * 100))))
def test_all_of_a_little_is_handed_on_in_order(prints: list[tuple[str, bytes]]) -> None:
    handed = spooled(prints)
    for stream in ("stdout", "stderr"):
        assert text_of(handed, stream) == b"".join(data for where, data in prints if where == stream)
        at = 0
        for piece in (each for each in handed if each.stream == stream):
            assert piece.at == at
            at += len(piece.data)


def test_a_line_is_not_cut_where_a_read_ended() -> None:
    password = b"password=hunter2hunter2\n"
    handed = spooled([("stdout", LINE * 200 + password[:12]), ("stdout", password[12:] + LINE)])
    assert all(each.data.endswith(b"\n") for each in handed)
    assert any(password in each.data for each in handed)


def test_a_line_without_an_end_waits_for_so_long() -> None:
    handed = spooled([("stdout", b"y" * LINE_BYTES), ("stdout", b"y"), ("stdout", b"z")])
    assert [len(each.data) for each in handed] == [LINE_BYTES + 1, 1]


async def test_of_a_flood_the_pace_is_kept_and_the_newest_stays() -> None:
    handed: list[Piece] = []
    spool, began = Spool(handed.append), time.monotonic()
    for _ in range(400):
        spool.add("stdout", LINE * 1000)
    took = time.monotonic() - began
    during = sum(len(each.data) for each in handed)
    assert BURST < during <= BURST + PACE * took + 2 * len(LINE * 1000)
    spool.add("stderr", b"the other stream is not pushed out\n")
    spool.flush()
    assert text_of(handed, "stderr")
    tail = [each for each in handed if each.stream == "stdout" and each.at >= 40_000_000 - OUTPUT_BYTES]
    assert [each.at for each in tail] == [tail[0].at + 100_000 * number for number in range(len(tail))]
    assert sum(len(each.data) for each in tail) > OUTPUT_BYTES - 100_000
    assert spool.offset("stdout") == 40_000_000


async def test_what_waits_goes_on_by_itself() -> None:
    handed: list[Piece] = []
    whole = asyncio.Event()

    def take(piece: Piece) -> None:
        handed.append(piece)
        if sum(len(each.data) for each in handed) == 12 * len(LINE * 1000):
            whole.set()

    spool = Spool(take)
    for _ in range(12):
        spool.add("stdout", LINE * 1000)
    assert not whole.is_set()
    async with asyncio.timeout(30):
        await whole.wait()
