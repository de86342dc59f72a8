"""Output of any shape: pages add up, characters stay whole, what is gone is counted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stillframe.errors import UsageError
from stillframe.session import output
from stillframe.session.output import STREAMS, Cursor, OutputLog, Ring, Spill, decode, unfinished

CHUNKS = st.lists(st.binary(max_size=60), max_size=40)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rings and spill files so small that every test overflows them."""
    monkeypatch.setattr(output, "SPILL", 64)


def ring(size: int) -> tuple[Ring, tempfile.TemporaryDirectory[str]]:
    folder = tempfile.TemporaryDirectory()
    return Ring(Spill(Path(folder.name) / "stdout"), size), folder


@given(CHUNKS, st.integers(1, 80), st.integers(4, 50))
def test_pages_and_what_is_gone_add_up_to_what_was_written(chunks: list[bytes], size: int, limit: int) -> None:
    made, folder = ring(size)
    with folder:
        for chunk in chunks:
            made.write(chunk)
        whole = b"".join(chunks)
        offset = gone = 0
        pieces: list[bytes] = []
        for _ in range(len(whole) + 2):
            data, missing = made.page(offset, limit)
            assert len(data) <= limit
            gone += missing
            offset += missing + len(data)
            pieces.append(data)
            if not data and not missing:
                break
        read = b"".join(pieces)
        assert (offset, made.total) == (len(whole), len(whole))
        assert gone + len(read) == len(whole)
        assert whole.endswith(read), "only the oldest may be gone"
        assert gone == 0 or len(read) >= min(len(whole), 64), "at least a whole segment is kept"
        made.close()
        assert list(Path(folder.name).iterdir()) == []


@given(TEXTS, st.integers(4, 30), st.integers(10, 60))
def test_no_page_splits_a_character(text: str, limit: int, size: int) -> None:
    made, folder = ring(size)
    with folder:
        data = text.encode()
        for at in range(0, len(data), 7):
            made.write(data[at : at + 7])
        offset, read = 0, ""
        while offset < len(data):
            page, gone = made.page(offset, limit)
            read += page.decode()  # raises where a character was cut
            offset += gone + len(page)
        assert text.endswith(read)
        made.close()


@given(TEXTS, st.integers(4, 200))
def test_the_newest_part_begins_at_a_character(text: str, limit: int) -> None:
    made, folder = ring(1000)
    with folder:
        made.write(text.encode())
        data, gone = made.since(0, limit)
        assert text.endswith(data.decode())
        assert gone + len(data) == len(text.encode())
        made.close()


@given(st.lists(st.tuples(st.sampled_from(STREAMS), st.binary(max_size=50), st.booleans()), max_size=30))
def test_news_tells_every_byte_once(events: list[tuple[output.Stream, bytes, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = OutputLog(Path(folder) / "run")
        told = dict.fromkeys(STREAMS, "")
        written = dict.fromkeys(STREAMS, b"")
        for stream, data, ask in events:
            log.write(stream, data)
            written[stream] += data
            if ask:
                pieces, dropped = log.news(10_000)
                assert dropped == 0
                for piece in pieces:
                    told[piece.stream] += piece.text
        for piece in log.news(10_000, final=True)[0]:
            told[piece.stream] += piece.text
        for stream in STREAMS:
            assert told[stream] == decode(written[stream])
        assert log.news(10_000) == ((), 0)
        assert log.total == sum(map(len, written.values()))
        log.close()
        assert list(Path(folder).iterdir()) == []


@given(
    st.lists(st.tuples(st.sampled_from(STREAMS), st.binary(min_size=1, max_size=50)), max_size=20), st.integers(8, 60)
)
def test_a_cursor_reads_every_stream_to_its_end(events: list[tuple[output.Stream, bytes]], limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = OutputLog(Path(folder) / "run")
        for stream, data in events:
            log.write(stream, data)
        cursor = Cursor()
        for _ in range(2000):
            _, following = log.read(cursor, limit, STREAMS)
            assert Cursor.parse(str(following)) == following
            if following == cursor:
                break
            cursor = following
        assert cursor == log.cursor
        log.close()


@given(st.text(max_size=30) | st.text("0123456789.²", max_size=30))
@example("²5.0.0.0")
@example("9" * 5000 + ".0.0.0")
def test_what_is_no_cursor_is_refused_and_never_crashes(text: str) -> None:
    try:
        assert str(Cursor.parse(text)).count(".") in (3, 4)
    except UsageError as error:
        assert "cursor" in error.message


@given(st.text(min_size=1, max_size=20), st.integers(0, 3))
def test_an_unfinished_character_is_found_and_only_that(text: str, cut: int) -> None:
    data = text.encode("utf-8", "replace")
    last = len(text[-1].encode("utf-8", "replace"))
    kept = data[: len(data) - min(cut, last - 1)]
    assert unfinished(kept) == (last - min(cut, last - 1)) % last
    assert unfinished(data) == 0


@given(st.binary(max_size=100))
def test_any_bytes_can_be_told_as_text(data: bytes) -> None:
    decode(data).encode("utf-8")  # raises where it is no text
    assert unfinished(data) <= 3


def test_a_disk_without_room_loses_the_oldest_and_says_how_much(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    made = Ring(Spill(blocked / "below" / "stdout"), 10)
    for _ in range(10):
        made.write(b"0123456789")
    data, gone = made.page(0, 1000)
    assert (data, gone, made.total) == (b"0123456789", 90, 100)
