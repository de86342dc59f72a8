"""The long runs, at their smallest: each part comes to its figures, breaks no promise, and leaves nothing behind."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from soak.fuzz import READERS, Reader, mutated, tried
from soak.table import Row, lines, none_of

ROOT = Path(__file__).parent.parent


@pytest.mark.own_daemon
def test_the_smallest_runs_keep_their_promises_and_say_what_they_did() -> None:
    parts = ["L4", "S3"]
    words = [sys.executable, "-m", "soak", "0.05", "--only", *parts]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["figure", "what", "was", "done", "found", "(goal)"]
    assert {row.split()[0] for row in rows} == set(parts)
    assert not [row for row in rows if row.endswith("BROKEN")]
    assert [row for row in rows if "10 sessions one after another" in row]


def test_a_promise_that_is_broken_is_marked_and_a_measure_that_is_missed_is_not_one() -> None:
    rows = [none_of("a", "", ["x"], "lost"), Row("b", "", "3 ms", "<= 2 ms", met=False), none_of("c", "", [], "lost")]
    assert [each.broken for each in rows] == [True, False, False]
    assert [line.rpartition("  ")[2] for line in lines(rows)[1:3]] == ["BROKEN", "missed"]


def test_a_reader_that_raises_what_it_does_not_promise_is_told_with_the_bytes() -> None:
    def careless(_chance: random.Random, data: bytes) -> None:
        int(data)

    cases, faults = tried(Reader("careless", [b"12", b"345"], careless, (OverflowError,)), 0, seed=1)
    assert 0 < len(faults) < cases
    assert all("careless: ValueError" in each and "test_soak.py" in each for each in faults)
    assert tried(Reader("careful", [b"12"], careless, (ValueError,)), 0, seed=1)[1] == []


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_what_is_tried_is_many_things_and_some_of_them_as_they_were(reader: Reader) -> None:
    data = [mutated(random.Random(number), reader.seeds) for number in range(50)]
    assert len(set(data)) > len(data) / 2
    assert any(each in data for each in reader.seeds)
