"""Writing: acknowledged is on disk, numbers have no gaps, and nothing that the disk or a file does ends the debugging."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import itertools
import os
import sqlite3
import stat
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stillframe.errors import NotFound, StoreFull, Unsupported, UsageError
from stillframe.model.outcomes import Breakpoint, Exited, Spot
from stillframe.model.plans import Caller
from stillframe.model.recording import Operated, Tape
from stillframe.model.values import Frame, Value
from stillframe.ops.keeping import export, import_, prune
from stillframe.ops.record import events, history
from stillframe.record import chronicle, disk, finding, hits, reading, schema, scopes
from stillframe.record.finding import View
from stillframe.record.jobs import BACKLOG, Settled
from stillframe.record.pen import Pen
from stillframe.record.record import Record
from stillframe.record.writer import QUICK_SECONDS, WAL_BYTES
from stillframe.registry import Meant

from .conftest import LINES, facts, opened, stop_at

CURSOR_HITS = int(os.environ.get("STILLFRAME_CURSOR_HITS", "400"))
CURSOR_PAGE = 50
"""Ten thousand hits, and as many pages, in a long run; a few in every run."""


async def all_hits(record: Record, here: Path) -> list[str]:
    view = View(str(here), str(here))
    run = await record.look(lambda c: finding.run(c, str(here), None))
    found = await record.look(lambda c: hits.listed(scopes.scope(c, run, view, None, None), 0, 10_000))
    return [each.hit for each in found.hits]


async def test_a_stop_is_on_disk_when_it_is_acknowledged_and_reads_back_as_it_was(
    record: Record, tmp_path: Path
) -> None:
    tape = record.begin(facts(tmp_path), None)
    stop = stop_at(out=24.0, item={"qty": 3}, name="ann")
    assert await tape.stop(stop, LINES) == ()
    other = sqlite3.connect(f"file:{record.path}?mode=ro", uri=True)
    assert other.execute("SELECT count(*) FROM hit").fetchone() == (1,)
    other.close()
    (row,) = await record.look(lambda c: reading.rows(c, [1]))
    again = await record.look(lambda c: reading.stop(c, row, View(str(tmp_path), str(tmp_path))))
    assert (again.frame, again.stack, again.locals) == (stop.frame, stop.stack, stop.locals)
    assert [(line.line, line.here) for line in again.source] == [(2, False), (3, False), (4, True)]
    assert stat.S_IMODE(os.stat(record.path).st_mode) == 0o600
    reader = schema.open_for_reading(record.path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM hit")
    reader.close()


async def test_many_stops_of_many_runs_at_once_are_numbered_without_gaps(record: Record, tmp_path: Path) -> None:
    tapes = [record.begin(facts(tmp_path, f"shop-{n}"), None) for n in range(5)]
    await asyncio.gather(*(tape.stop(stop_at(i=i), LINES) for i in range(40) for tape in tapes))
    rows = await record.look(lambda c: c.execute("SELECT run, number FROM hit ORDER BY run, number").fetchall())
    assert rows == [(run, number) for run in range(1, 6) for number in range(1, 41)]


async def test_the_values_of_a_name_at_a_place_follow_each_other_whatever_else_is_recorded(
    record: Record, tmp_path: Path
) -> None:
    """Else each is searched for by itself when all of them are asked about."""
    tape = record.begin(facts(tmp_path), None)
    for n in range(100):
        await tape.stop(stop_at(line=4 + n % 2, i=n, out=n * 1.5, same="x"), LINES)
    rows = await record.look(
        lambda c: c.execute("SELECT place, name, value FROM cell ORDER BY place, name, hit").fetchall()
    )
    for lane in {(place, name) for place, name, _ in rows}:
        values = list(dict.fromkeys(value for place, name, value in rows if (place, name) == lane))
        jumps = [pair for pair in itertools.pairwise(values) if pair[1] != pair[0] + 1]
        assert len(values) in (1, 50) and len(jumps) <= 3, "8 and 16 and 32 are set aside, one lot after the other"


async def test_two_hosts_that_write_in_turn_never_give_a_number_twice(tmp_path: Path) -> None:
    async with opened(tmp_path / "state") as one, opened(tmp_path / "state") as other:
        tapes = [each.begin(facts(tmp_path, f"shop-{n}"), None) for n, each in enumerate((one, other))]
        for n in range(40):
            for who, tape in enumerate(tapes):
                assert await tape.stop(stop_at(i=n, who=f"{who}-{n}"), LINES) == ()
        sql = (
            "SELECT r.name, v.text FROM cell c JOIN hit h ON h.id=c.hit JOIN run r ON r.id=h.run JOIN value v ON v.id=c.value"
            " JOIN name n ON n.id=c.name WHERE n.text='who' ORDER BY h.id"
        )
        rows = await one.look(lambda c: c.execute(sql).fetchall())
        assert rows == [(f"shop-{who}", repr(f"{who}-{n}")) for n in range(40) for who in range(2)]


async def test_a_log_that_has_grown_is_moved_and_is_short_again(record: Record, tmp_path: Path) -> None:
    tape = record.begin(facts(tmp_path), None)
    log, largest = f"{record.path}-wal", 0
    while largest <= WAL_BYTES:
        tape.printed("stdout", b"x" * 1_000_000 + b"\n")
        await tape.stop(stop_at(), LINES)
        largest = os.stat(log).st_size
    async with asyncio.timeout(30):
        while os.stat(log).st_size > WAL_BYTES / 2:  # moved when nobody waits, and begun again with the next stop
            await tape.stop(stop_at(), LINES)
            await record.news(0.05)


async def test_values_of_hostile_size_and_text_are_bounded_and_never_harm(record: Record, tmp_path: Path) -> None:
    tape = record.begin(facts(tmp_path), None)
    hostile = tuple(
        Value(name=name, type="str", value=text)
        for name, text in {
            "long": "x" * 5_000_000, "nul": "a\0b", "half": "\udc80", "esc": "\x1b[2J", "sql": "'; DROP TABLE hit; --",
            "n" * 9000: "1", "number": "9" * 400, "bidi": "\u202egpj", "": "no name",
        }.items()
    )  # fmt: skip
    many = tuple(Value(name=f"v{n}", value="y" * 3000, total=2**80) for n in range(300))
    deep = Value(name="deep", value="deep")
    for _ in range(60):
        deep = Value(name="deep", value="deep", children=(deep,) * 3)
    for values in (hostile, many, (deep,)):
        stop = stop_at()
        frame = Frame(function="f\udc80\0" * 400, file="\udcff.py", line=1, id="f0")
        assert (
            await tape.stop(type(stop)(reason="breakpoint", frame=frame, stack=(frame,), locals=values), ["\udc80"])
            == ()
        )
    assert await all_hits(record, tmp_path) == ["h1", "h2", "h3"]
    assert os.stat(record.path).st_size + os.stat(f"{record.path}-wal").st_size < 3_000_000


async def test_words_that_are_no_text_and_conditions_full_of_quotes_do_not_spoil_what_is_asked_later(
    record: Record, tmp_path: Path
) -> None:
    run = msgspec.structs.replace(facts(tmp_path), command=("shop.py", "caf\udce9"))
    tape = record.begin(run, None)
    condition = 'password == "tiger99" and token != \'a\\"\''
    spot = Spot(file="shop.py", line=4)
    tape.breakpoints([Breakpoint(id="b1", requested=spot, state="bound", condition=condition)])
    part = Value(name="['caf\udce9']", value="1")
    named = Frame(function='f(password="x")', file="shop.py", line=4, id="f0")
    stop = stop_at(4, x=1)
    cut = Value(name="args", value="{…}", children=(part,))
    await tape.stop(msgspec.structs.replace(stop, frame=named, stack=(named,), locals=(cut,)), LINES)
    record.operation(Operated(op="eval", args={"expressions": ["'\udce9'"]}, root=str(tmp_path)), tape)
    tape.ended(Exited(exit_code=1, stderr='password: "tiger99\\"'), "exited")
    meant, caller = Meant(None, str(tmp_path)), Caller(cwd=str(tmp_path))
    await export(meant, caller, record, "run.html")
    await export(meant, caller, record, "run.jsonl")
    await import_(meant, caller, record, "run.jsonl")
    for each in ("r1", "r2"):
        told = await history(meant, record, each)
        assert told.runs[0].command == run.command
        assert told.operations[0].args == {"expressions": ["'\udce9'"]}
        assert [fate.place for fate in told.breakpoints] == ["shop.py:4"]
    rows = await record.look(lambda c: reading.rows(c, [1, 2]))
    for row in rows:
        (value,) = await record.look(lambda c, row=row: reading.values(c, row))  # type: ignore[misc]
        assert value.children == (part,)
    assert b"tiger99" not in (tmp_path / "run.jsonl").read_bytes()


async def test_a_text_that_an_export_claims_to_be_a_files_is_never_shown_of_a_run_of_ours(
    record: Record, tmp_path: Path
) -> None:
    meant, caller = Meant(None, str(tmp_path)), Caller(cwd=str(tmp_path))
    await record.begin(facts(tmp_path), None).stop(stop_at(x=1), LINES)
    await export(meant, caller, record, "run.jsonl")
    *told, _ = (tmp_path / "run.jsonl").read_text().splitlines(keepends=True)
    body = "".join(told).replace("out += item", "out += steal(item)")
    seal = {"kind": "end", "lines": len(told), "digest": hashlib.sha256(body.encode()).hexdigest()}
    (tmp_path / "forged.jsonl").write_text(body + msgspec.json.encode(seal).decode() + "\n")
    async with opened(tmp_path / "elsewhere") as other:
        for file in ("forged.jsonl", "forged.jsonl"):
            await import_(meant, caller, other, file)
        await other.begin(facts(tmp_path), None).stop(stop_at(x=1), LINES)
        await import_(meant, caller, other, "run.jsonl")
        rows = await other.look(lambda c: reading.rows(c, [1, 2, 3, 4]))
        lines = [await other.look(lambda c, row=row: finding.line_of(c, row.source, row.line)) for row in rows]
    assert [each.strip() for each in lines] == ["out += steal(item)"] * 2 + ["out += item"] * 2
    assert rows[0].source == rows[1].source and rows[2].source == rows[3].source, "a text is kept once"


async def test_the_text_of_a_file_is_there_after_all_where_who_was_to_write_it_died(tmp_path: Path) -> None:
    async with opened(tmp_path / "state") as record:
        await record.begin(facts(tmp_path), None).stop(stop_at(x=1), LINES)
        await record.settled()
    with sqlite3.connect(record.path) as died:  # as a kill leaves it between the stop and what could wait
        died.execute("UPDATE source SET text=x''")
    died.close()
    async with opened(tmp_path / "state") as again:
        await again.begin(facts(tmp_path), None).stop(stop_at(x=1), LINES)
        (row,) = await again.look(lambda c: reading.rows(c, [1]))
        assert await again.look(lambda c: finding.line_of(c, row.source, row.line)) == LINES[3]


async def test_of_a_large_file_the_lines_around_each_stop_are_kept(record: Record, tmp_path: Path) -> None:
    """Of one that is bearable the rest as well, when everybody has been answered; of a larger one only these."""
    for length, whole in ((3000, True), (60_000, False)):
        lines = [f"line {n} of {length}" for n in range(1, length + 1)]
        tape = record.begin(facts(tmp_path), None)
        for line in (5, 2000, 7):
            await tape.stop(stop_at(line), lines)
        last = await record.look(lambda c: c.execute("SELECT max(id) FROM hit").fetchone()[0])
        rows = await record.look(lambda c, last=last: reading.rows(c, [last - 2, last - 1, last]))  # type: ignore[misc]
        kept = [await record.look(lambda c, row=row: finding.source_lines(c, row.source)) for row in rows]  # type: ignore[misc]
        for (first, text), row in zip(kept, rows, strict=True):
            assert text[row.line - first] == lines[row.line - 1]
        assert [(first, text) == (1, lines) for first, text in kept] == [whole, whole, whole]


async def test_a_secret_that_a_name_tells_later_leaves_the_texts_together_with_what_told_it(
    record: Record, tmp_path: Path
) -> None:
    tape = record.begin(facts(tmp_path), None)
    await tape.stop(stop_at(), [*LINES, "enter('ann', 'lion77roar')", *(f"x = {n}" for n in range(500))])
    await record.settled()
    reader = sqlite3.connect(f"file:{record.path}?mode=ro", uri=True)
    (before,) = reader.execute("SELECT text FROM source").fetchone()
    assert b"lion77roar" in zlib.decompress(before)
    async with opened(record.path.parent) as other:  # whoever else writes makes us forget what we know by number
        await other.begin(facts(tmp_path, "other"), None).stop(stop_at(), LINES)
    await tape.stop(msgspec.structs.replace(stop_at(password="lion77roar"), frame=None, stack=()), ())
    for (text,) in reader.execute("SELECT text FROM source"):
        assert b"lion77roar" not in zlib.decompress(text)
    reader.close()
    async with asyncio.timeout(30):  # and it is nowhere in the files any more, as soon as nobody waits
        while any(before[-60:] in path.read_bytes() for path in record.path.parent.iterdir()):
            await record.settled()


@pytest.mark.parametrize("lives", [False, True], ids=["no run", "a run"])
async def test_what_is_too_old_leaves_the_record_while_a_host_lives(
    record: Record, tmp_path: Path, lives: bool
) -> None:
    for name in ("old", "saved", "young"):
        tape = record.begin(facts(tmp_path, name), None)
        await tape.stop(stop_at(), LINES)
        tape.ended(Exited(exit_code=0), "exited")
    changed = "UPDATE run SET began=began-8*86400 WHERE name!='young'"
    await record.change(lambda pen: pen.connection.execute(changed).rowcount)
    saved = "INSERT INTO saved(name, root, run, made) SELECT 'good', root, id, 0 FROM run WHERE name='saved'"
    await record.change(lambda pen: pen.connection.execute(saved).rowcount)
    asked = await prune(Meant(None, str(tmp_path)), record, days=7.0, dry_run=True)
    assert (asked.runs, asked.hits, asked.kept_saved) == (1, 1, 1), "by hand it is the same"
    record.keep_within(days=7.0, megabytes=0.0, **({"every": 0.05} if lives else {}))
    tape = record.begin(facts(tmp_path, "this"), None)
    if not lives:  # as long as it does, it is looked at now and then only
        tape.ended(Exited(exit_code=0), "exited")
    left = [("saved",), ("young",), ("this",)]
    async with asyncio.timeout(30):
        while await record.look(lambda c: c.execute("SELECT name FROM run ORDER BY id").fetchall()) != left:
            await record.news(1.0)
    assert await record.look(lambda c: c.execute("SELECT count(*) FROM hit").fetchone()) == (2,)


async def test_a_disk_that_takes_nothing_pauses_recording_visibly_and_all_is_there_afterwards(tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where the directory should be")
    async with opened(blocked / "stillframe") as record:
        tape = record.begin(facts(tmp_path), None)
        (note,) = await tape.stop(stop_at(i=1), LINES)
        assert note.startswith("recording is paused: ") and "debugging goes on" in note
        assert await tape.stop(stop_at(i=2), LINES) == ()  # said once
        with pytest.raises((NotFound, StoreFull)):
            await all_hits(record, tmp_path)
        blocked.unlink()
        (note,) = await tape.stop(stop_at(i=3), LINES)
        assert note.startswith("recording goes on")
        assert await all_hits(record, tmp_path) == ["h1", "h2", "h3"]


async def test_a_disk_that_is_full_pauses_recording_and_all_is_there_when_it_has_room_again(
    record: Record, tmp_path: Path
) -> None:
    """SQLite says the same of a file that must not grow as it says of a disk without room."""
    tape = record.begin(facts(tmp_path), None)
    await tape.stop(stop_at(i=1), LINES)
    await record.change(lambda pen: pen.connection.execute("PRAGMA max_page_count=1").fetchall())
    (note,) = await tape.stop(stop_at(**{f"v{n}": f"{n}" * 1500 for n in range(20)}), LINES)
    assert note.startswith("recording is paused: ") and "full" in note
    await record.change(lambda pen: pen.connection.execute("PRAGMA max_page_count=100000").fetchall())
    await tape.stop(stop_at(i=3), LINES)
    assert await all_hits(record, tmp_path) == ["h1", "h2", "h3"]


async def test_what_waits_for_a_full_disk_is_tried_by_its_oldest_alone_and_then_written_in_order(
    record: Record, tmp_path: Path
) -> None:
    """Or else each stop takes as long as all before it, and the debugging does not go on."""
    tape = record.begin(facts(tmp_path), None)
    await tape.stop(stop_at(i=0), LINES)
    done: list[str] = []

    def fill(pen: Pen) -> None:
        pen.connection.execute("PRAGMA max_page_count=1").fetchall()
        pen.connection.set_trace_callback(done.append)

    def make_room(pen: Pen) -> None:
        pen.connection.set_trace_callback(None)
        pen.connection.execute("PRAGMA max_page_count=100000").fetchall()

    await record.change(fill)
    stops = BACKLOG + 200
    for i in range(1, stops):
        await tape.stop(stop_at(**{f"v{n}": f"{i * n}" * 50 for n in range(9)}, i=i), LINES)
    tried = sum(each.startswith("INSERT INTO hit(") for each in done)
    assert tried < 2 * stops, "one or two a stop, however many wait"
    await record.change(make_room)
    (note,) = await tape.stop(stop_at(i=stops), LINES)
    assert note.startswith("recording goes on")
    rows = await record.look(lambda c: c.execute("SELECT number, locals != '[]' FROM hit ORDER BY id").fetchall())
    assert [number for number, _ in rows] == list(range(1, stops + 2))
    bare = [number for number, has_locals in rows if not has_locals]
    assert bare and bare == list(range(bare[0], stops + 1 - BACKLOG)), "of the oldest that waited, the bare facts"


async def test_a_record_that_is_a_link_is_not_written_through_and_that_is_said(record: Record, tmp_path: Path) -> None:
    record.path.parent.mkdir(parents=True)
    record.path.symlink_to(tmp_path / "elsewhere")
    (note,) = await record.begin(facts(tmp_path), None).stop(stop_at(), LINES)
    assert "is a link, and the record is written through none" in note
    with pytest.raises(StoreFull, match=r"nothing has been recorded yet: recording is paused: .* is a link"):
        await all_hits(record, tmp_path)
    assert not (tmp_path / "elsewhere").exists()


async def test_a_record_that_is_deleted_meanwhile_is_begun_again(record: Record, tmp_path: Path) -> None:
    tape = record.begin(facts(tmp_path), None)
    await tape.stop(stop_at(i=1), LINES)
    for path in record.path.parent.glob("record.sqlite*"):
        path.unlink()
    assert await tape.stop(stop_at(i=2), LINES) == ()
    assert await all_hits(record, tmp_path) == ["h2"]


async def test_while_another_host_writes_a_stop_waits_beside_the_loop_and_holds_nobody_up(
    record: Record, tmp_path: Path
) -> None:
    tape = record.begin(facts(tmp_path), None)
    for i in (1, 2):
        await tape.stop(stop_at(i=i), LINES)
    lock = os.open(record.path.with_suffix(".lock"), os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = asyncio.create_task(tape.stop(stop_at(i=3), LINES))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert await waiting == ()
    finally:
        os.close(lock)
    assert await all_hits(record, tmp_path) == ["h1", "h2", "h3"]


@pytest.mark.parametrize("slow", [True, False], ids=["disk", "processor"])
async def test_a_disk_that_made_somebody_wait_is_left_to_the_thread_for_a_while_and_a_busy_processor_is_not(
    record: Record, tmp_path: Path, slow: bool
) -> None:
    """Both take as long; only the first gives up the processor meanwhile, as whoever waits for a disk does."""
    tape = record.begin(facts(tmp_path), None)
    await tape.stop(stop_at(i=1), LINES)
    writer = record._writer
    async with asyncio.timeout(60):
        while not writer.at_once(Settled()):
            await record.settled()

    class Held:
        def reduced(self) -> None:
            return None

        def write(self, pen: Pen) -> None:
            until = time.monotonic() + 2 * QUICK_SECONDS
            if slow:
                subprocess.run(["true"], check=True)
            while time.monotonic() < until:
                pow(3, 20_000)

    before = disk.waits()
    assert writer.at_once(Held())
    waited = disk.waits() != before
    assert waited or not slow
    assert (writer._slow_until > time.monotonic()) is waited
    assert not (slow and writer.at_once(Settled()))
    assert await tape.stop(stop_at(i=2), LINES) == ()
    assert await all_hits(record, tmp_path) == ["h1", "h2"]


async def test_operations_wait_for_company_behind_the_stops_and_are_told_in_the_order_of_what_happened(
    record: Record, tmp_path: Path
) -> None:
    tape = record.begin(facts(tmp_path), None)
    await tape.stop(stop_at(i=0), LINES)
    for i in range(1, 6):
        record.operation(Operated(op=f"next-{i}", root=str(tmp_path), began=time.time()), tape)
        await tape.stop(stop_at(i=i), LINES)
        tape.moved()
    await record.settled()
    view = View(str(tmp_path), str(tmp_path))
    first = await record.look(lambda c: chronicle.events(c, str(tmp_path), None, 0, (), 100, view))
    assert [each.kind for each in first.events] == ["start", "stop", *("operation", "stop") * 5]
    assert await record.look(lambda c: c.execute("SELECT op FROM operation ORDER BY id").fetchall()) == [
        (f"next-{i}",) for i in range(1, 6)
    ]
    after = await record.look(lambda c: chronicle.events(c, str(tmp_path), None, int(first.cursor), (), 100, view))
    assert after.events == (), "each once"
    record.operation(Operated(op="last", root=str(tmp_path)), tape)
    other = sqlite3.connect(f"file:{record.path}?mode=ro", uri=True)
    async with asyncio.timeout(30):
        while other.execute("SELECT count(*) FROM operation").fetchone() != (6,):
            await record.news(1.0)
    other.close()


async def test_two_hosts_write_into_one_record_at_the_same_time(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        tapes = [each.begin(facts(tmp_path), None) for each in (one, other)]
        await asyncio.gather(*(tape.stop(stop_at(i=n), LINES) for n in range(50) for tape in tapes))
        assert await one.look(lambda c: c.execute("SELECT count(*), count(DISTINCT run) FROM hit").fetchone()) == (
            100,
            2,
        )
        assert await other.look(lambda c: c.execute("PRAGMA integrity_check").fetchone()) == ("ok",)


async def test_output_is_kept_by_stream_and_its_end_with_the_run(record: Record, tmp_path: Path) -> None:
    tape = record.begin(facts(tmp_path), None)
    for line in (
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIItiger99",
        "tiger99==",
        "-----END RSA PRIVATE KEY-----",
        "after it",
    ):
        tape.printed("stderr", f"{line}\n".encode())
    tape.printed("stderr", b"-----BEGIN EC PRIVATE KEY-----\n")
    tape.printed("stderr", b"tiger99\n")
    for _ in range(20):
        tape.printed("stderr", b"-" * 1000 + b"\n")
    tape.printed("stderr", b"no key is as long\n")
    for n in range(2000):
        tape.printed("stdout", f"line {n} {'x' * 2000}\n".encode())
    tape.printed("stderr", b"password=tiger99\n\xff\xfe")
    tape.ended(Exited(exit_code=3), "exited")
    await record.settled()
    run = await record.look(lambda c: finding.run(c, str(tmp_path), None))
    told, total, missing = await record.look(lambda c: chronicle.output(c, run, ("stdout", "stderr"), 100_000))
    assert told["stdout"].endswith("x\n") and "tiger99" not in told["stderr"] and told["stderr"].endswith("\\xff\\xfe")
    assert "\nafter it\n" in told["stderr"] and "\nno key is as long\n" in told["stderr"]
    assert total > 4_000_000 and missing > 3_000_000
    info = await record.look(lambda c: finding.info(c, run.id))
    assert info.state == "exited 3" and info.seconds is not None
    await record.change(lambda pen: pen.connection.execute("UPDATE run SET ended=began-3600"))
    info = await record.look(lambda c: finding.info(c, run.id))
    assert info.seconds is None, "the clock was set back meanwhile; it did not take less than no time"


def test_a_foreign_file_is_refused_by_name_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "record.sqlite"
    path.write_bytes(b"this is no database at all, only some text that is long enough\n" * 20)
    before = path.read_bytes()
    with pytest.raises(Unsupported, match="no record of Stillframe"):
        schema.open_for_writing(path)
    assert path.read_bytes() == before
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs(x)")
    other.commit()
    other.close()
    with pytest.raises(Unsupported, match="no record of Stillframe"):
        schema.open_for_writing(path)


async def test_a_damaged_record_is_named_and_debugging_goes_on(record: Record, tmp_path: Path) -> None:
    await record.begin(facts(tmp_path), None).stop(stop_at(), LINES)
    await record.close()
    reader = sqlite3.connect(record.path)
    (size,), (page,) = (
        reader.execute(asked).fetchone()
        for asked in ("PRAGMA page_size", "SELECT rootpage FROM sqlite_master WHERE name='run_named'")
    )
    reader.close()
    with record.path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
    before = record.path.read_bytes()
    async with opened(record.path.parent) as again:
        (note,) = await again.begin(facts(tmp_path), None).stop(stop_at(), LINES)
        assert note.startswith("recording is paused: ")
        with pytest.raises(Unsupported, match=r"is damaged: .*; move it away to begin a new one"):
            await all_hits(again, tmp_path)
    assert record.path.read_bytes() == before


async def test_a_record_of_a_newer_version_is_refused_by_name_and_debugging_goes_on(tmp_path: Path) -> None:
    path = schema.path_in(tmp_path)
    schema.open_for_writing(path).close()
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version={schema.NEWEST + 1}")
    newer.close()
    before = path.read_bytes()
    async with opened(tmp_path) as record:
        (note,) = await record.begin(facts(tmp_path), None).stop(stop_at(), LINES)
        assert "written by a newer Stillframe" in note
        with pytest.raises(Unsupported, match="newer Stillframe"):
            await all_hits(record, tmp_path)
    assert path.read_bytes() == before


async def test_a_record_that_becomes_a_newer_ones_while_it_is_open_is_written_no_more(
    record: Record, tmp_path: Path
) -> None:
    tape = record.begin(facts(tmp_path), None)
    assert await tape.stop(stop_at(i=1), LINES) == ()
    newer = sqlite3.connect(record.path)
    newer.execute(f"PRAGMA user_version={schema.NEWEST + 1}")
    (note,) = await tape.stop(stop_at(i=2), LINES)
    assert "written by a newer Stillframe" in note
    assert newer.execute("SELECT max(number) FROM hit").fetchone() == (1,)
    newer.execute(f"PRAGMA user_version={schema.NEWEST}")
    newer.close()
    (note,) = await tape.stop(stop_at(i=3), LINES)
    assert note.startswith("recording goes on") and await all_hits(record, tmp_path) == ["h1", "h2", "h3"]


OLD = {int(path.stem.rpartition("-")[2]): path for path in Path(__file__).parent.glob("old/version-*.sql")}
"""A record of each version of the schema, as the Stillframe of its time wrote it. A new version adds one, and changes none."""


def tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name").fetchall()


def test_every_version_of_the_schema_has_a_record_that_a_later_one_is_tried_on(tmp_path: Path) -> None:
    assert set(OLD) == set(range(1, schema.NEWEST + 1))
    new = schema.open_for_writing(tmp_path / "record.sqlite")
    for path in OLD.values():
        older = sqlite3.connect(":memory:", isolation_level=None)
        older.executescript(path.read_text())
        schema.migrate(older)
        assert tables(older) == tables(new)
        older.close()
    new.close()


@pytest.mark.parametrize("version", OLD)
async def test_an_older_record_answers_and_is_written_on(tmp_path: Path, version: int) -> None:
    path = schema.path_in(tmp_path)
    older = sqlite3.connect(path, isolation_level=None)
    older.executescript(OLD[version].read_text())
    assert schema.version(older) == version
    older.close()
    view = View("/p", "/p")
    async with opened(tmp_path) as record:
        run = await record.look(lambda c: finding.run(c, "/p", "good"))
        found = await record.look(lambda c: hits.listed(scopes.scope(c, run, view, None, "item.qty > 0"), 0, 9))
        assert [(each.hit, each.place) for each in found.hits] == [("h2", "shop.py:4"), ("h3", "shop.py:4")]
        assert (await record.look(lambda c: finding.info(c, run.id))).state == "exited 0"
        told, _, _ = await record.look(lambda c: chronicle.output(c, run, ("stdout",), 1000))
        assert told == {"stdout": "turn 0\nturn 1\nturn 2\n"}
        page = await events(Meant(None, "/p"), Caller(cwd="/p"), record, kind=("stop", "end"))
        assert [each.kind for each in page.events] == ["stop"] * 4 + ["end"]
        assert await record.begin(facts(Path("/p")), None).stop(stop_at(i=9), LINES) == ()
        assert await all_hits(record, Path("/p")) == ["h1"]
    connection = sqlite3.connect(path)
    assert (schema.version(connection), connection.execute("PRAGMA integrity_check").fetchone()) == (
        schema.NEWEST,
        ("ok",),
    )
    connection.close()


def test_a_name_that_is_a_path_is_no_name(tmp_path: Path) -> None:
    from stillframe.session.names import check_name

    for name in ("../x", "/etc/passwd", "a/b", "a\0", "", "A"):
        with pytest.raises(UsageError):
            check_name(name)


async def test_whoever_waits_for_events_hears_of_another_hosts_too(tmp_path: Path) -> None:
    here, meant = Caller(cwd=str(tmp_path)), Meant(None, str(tmp_path))
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        since = "0"
        for i in (1, 2):  # the first of all, and one after it
            asked = events(meant, here, one, since=since, kind=("stop",), wait=True, timeout=60.0)
            waiting = asyncio.create_task(asked)
            await other.begin(facts(tmp_path), None).stop(stop_at(i=i), LINES)
            seen = await waiting
            assert [(each.run, each.hit) for each in seen.events] == [(f"r{i}", "h1")]
            since = seen.cursor


async def test_a_client_that_comes_back_with_its_cursor_gets_each_hit_once(tmp_path: Path) -> None:
    """Each time by a record opened anew, while two hosts write, and with other events between the hits."""
    here, meant = Caller(cwd=str(tmp_path)), Meant(None, str(tmp_path))
    seen: list[tuple[str | None, str | None]] = []
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        tapes = [each.begin(facts(tmp_path), None) for each in (one, other)]

        async def write(tape: Tape) -> None:
            for i in range(CURSOR_HITS // 2):
                tape.printed("stdout", b"between\n")
                await tape.stop(stop_at(i=i), LINES)

        tapes[0].printed("stdout", b"so that there is a record\n")
        await one.settled()
        writing = asyncio.gather(*map(write, tapes))
        cursor, over = "0", False
        while not over:
            all_written = writing.done()
            async with opened(tmp_path) as again:
                page = await events(meant, here, again, since=cursor, kind=("stop",), count=CURSOR_PAGE)
            seen += [(each.run, each.hit) for each in page.events]
            cursor, over = page.cursor, all_written and not page.events
        await writing
    assert sorted(seen) == sorted((f"r{run}", f"h{number + 1}") for run in (1, 2) for number in range(CURSOR_HITS // 2))


class Interrupted(sqlite3.Connection):
    """A reader in whose first question another host makes the record."""

    made = False

    def execute(self, *words: Any) -> sqlite3.Cursor:
        if self.made:
            return super().execute(*words)
        self.made = True
        (answer,) = super().execute(*words).fetchone()
        path = super().execute("PRAGMA database_list").fetchone()[2]
        schema.open_for_writing(Path(path)).close()
        return super().execute("SELECT ?", (answer,))


def test_a_record_that_is_made_while_it_is_looked_at_is_no_foreign_database(tmp_path: Path) -> None:
    path = tmp_path / "record.sqlite"
    reader = sqlite3.connect(path, factory=Interrupted, isolation_level=None)
    try:
        schema.check(reader, path)
        assert schema.version(reader) == schema.NEWEST
    finally:
        reader.close()
