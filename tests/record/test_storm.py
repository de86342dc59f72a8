"""A storm of kills: whatever moment the writer is killed at, no acknowledged hit is lost and the record stays whole."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

KILLS = int(os.environ.get("STILLFRAME_STORM", "10"))
"""A thousand in a long run; a few in every run."""


WHOLE = """
SELECT r.name, h.number, p.line, p.source, (SELECT count(*) FROM cell c WHERE c.hit=h.id AND c.place=h.place)
FROM hit h JOIN run r ON r.id=h.run JOIN place p ON p.id=h.place
"""
"""What each hit has: the text of the source around it, and its values."""


def lines_of(text: bytes) -> list[str]:
    return zlib.decompress(text).decode().split("\n")


def storm(state: Path, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("storm.py")), str(state), name], stdout=subprocess.PIPE
    )


def acknowledged(process: subprocess.Popen[bytes], kill_after: int) -> Iterator[tuple[str, int]]:
    """The hits that a process said were written, killed in the midst of writing more."""
    assert process.stdout is not None
    for count, line in enumerate(process.stdout, 1):
        name, number, notes = line.split()
        assert notes == b"0", "it was told that it is not recorded"
        yield name.decode(), int(number)
        if count == kill_after:
            process.send_signal(signal.SIGKILL)
    process.stdout.close()
    process.wait(30)


def test_killing_the_writers_at_any_moment_loses_nothing_and_corrupts_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    written: set[tuple[str, int]] = set()
    for kill in range(0, KILLS, 2):
        pair = [storm(tmp_path, f"a-{kill}"), storm(tmp_path, f"b-{kill}")]  # two hosts at one record
        for process in pair:
            written |= set(acknowledged(process, chance.choice((1, 1, chance.randint(2, 60)))))
        record = sqlite3.connect(f"file:{tmp_path / 'record.sqlite'}?mode=ro", uri=True)
        rows = record.execute("SELECT r.name, h.number FROM hit h JOIN run r ON r.id=h.run").fetchall()
        assert written <= set(rows)
        assert record.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        texts = {
            id: (first, lines_of(text)) for id, first, text in record.execute("SELECT id, first, text FROM source")
        }
        for name, number, line, source, cells in record.execute(WHOLE):
            first, lines = texts[source]
            assert (lines[line - first], cells) == (f"{name} line {line}", 10), (name, number)
        record.close()
    numbers: dict[str, list[int]] = {}
    for name, number in sorted(rows):
        numbers.setdefault(name, []).append(number)
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values()), "numbers have gaps"
