"""Lines of ours are left out of what a program prints, in whatever pieces it is read."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from stillframe.backends.hiding import LONGEST, Hiding

MARKS = (b"__ours.", b"/ours/")
DYING = b"""\
Fatal Python error: Segmentation fault

Stack (most recent call first):
  File "/home/ann/test_deadly.py", line 11 in test_b
  File "/opt/ours/sf_unittest.py", line 161 in _main
  File "/opt/ours/sf_unittest.py", line 170 in <module>
  File "<frozen runpy>", line 88 in _run_code
"""
LINES = (
    b"plain\n", b"\n", b"   ^\n", b"at app.js:7\n", b"at app.js:7\r\n", b"__ours.line(3); total += 1\n", b'  File "/ours/a.py"\n',
    b"\r", b"no end", b"7", b":", b"/", b"ours/", b"__ours", b".",
)  # fmt: skip


def told(pieces: list[bytes]) -> bytes:
    hiding = Hiding(MARKS)
    return b"".join([*(hiding.shown(each) for each in pieces), hiding.rest()])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = [0, *sorted(each % (len(data) + 1) for each in places), len(data)]
    return [data[low:high] for low, high in itertools.pairwise(ends)]


@given(st.lists(st.sampled_from(LINES), max_size=30).map(b"".join), st.lists(st.integers(0, 2000), max_size=40))
def test_the_same_is_told_however_it_was_cut(data: bytes, places: list[int]) -> None:
    assert told(cut(data, places)) == told([data])


@given(st.lists(st.integers(0, 2000), max_size=40))
def test_a_report_that_is_written_a_word_at_a_time_has_all_of_the_programs_lines_and_none_of_ours(
    places: list[int],
) -> None:
    theirs = [line for line in DYING.splitlines(keepends=True) if b"/ours/" not in line]
    assert told(cut(DYING, places)) == b"".join(theirs)


def test_with_a_line_of_source_goes_the_one_that_says_where_it_is_and_what_points_into_it() -> None:
    assert told([b"before\nat app.js:7\n__ours.line(3); total += 1\n     ^\nError: x\n"]) == b"before\nError: x\n"
    assert told([b"at app.js:7\n", b"Error: x\n"]) == b"at app.js:7\nError: x\n"


def test_what_goes_on_without_an_end_is_told_as_it_comes() -> None:
    hiding = Hiding(MARKS)
    assert hiding.shown(b"x" * 10) == b""
    assert hiding.shown(b"x" * LONGEST) == b"x" * (LONGEST + 10)
    assert (hiding.shown(b"/ours/"), hiding.rest()) == (b"", b"")


def test_a_line_that_has_not_ended_is_told_when_somebody_asks() -> None:
    hiding = Hiding(MARKS)
    assert (hiding.shown(b"one\npassword? "), hiding.rest()) == (b"one\n", b"password? ")
    assert (hiding.shown(b"wrong\n"), hiding.rest()) == (b"wrong\n", b"")
