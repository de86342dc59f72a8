"""No text of a program's can steer the terminal it is shown on."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from stillframe.model import exact
from stillframe.render.changes import change
from stillframe.render.escape import apart, escape, lines, quoted, shorten, source

WILD = st.text(st.characters(), max_size=80) | st.text(
    st.sampled_from(
        '\x00\x07\x1b\x7f\x85\x9b\n\r\t\u061c\u200b\u200e\u2028\u202e\u2066\u2069\ufeff\ud800\udfff\ufff9a"\\'
    ),
    max_size=40,
)
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def harmless(text: str, allowed: str = "") -> bool:
    return all(
        char in allowed
        or (unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") and unicodedata.bidirectional(char) not in BIDI)
        for char in text
    )


@given(WILD)
def test_a_line_holds_no_control_character_at_all(text: str) -> None:
    assert harmless(escape(text))
    escape(text).encode()  # raises where a lone surrogate is left
    assert escape(escape(text)) == escape(text), "what is safe stays as it is"


@given(WILD)
def test_text_of_several_lines_keeps_its_lines_and_nothing_else(text: str) -> None:
    assert harmless(lines(text), "\n")
    assert lines(text).count("\n") == text.count("\n")
    assert harmless(source(text), "\t")


@given(WILD)
def test_quoted_text_is_one_line_that_ends_where_it_ends(text: str) -> None:
    said = quoted(text)
    assert harmless(said)
    inner = said[1:-1]
    assert (said[0], said[-1]) == ('"', '"')
    assert '"' not in inner.replace("\\\\", "").replace('\\"', "")


@given(st.lists(WILD | st.dictionaries(WILD, WILD, max_size=3), max_size=3))
def test_json_holds_nothing_that_steers_a_terminal_and_is_read_as_the_very_same(value: list[object]) -> None:
    for said in (exact.harmless(exact.encode(value)).decode(), exact.indented(value)):
        assert harmless(said, "\n") and "\n" not in exact.harmless(exact.encode(value)).decode()
        assert escape(said.replace("\n", "")) == said.replace("\n", ""), "as in the text: zero widths, too"
        assert json.loads(said) == value
    plain = exact.encode(["héllo wörld", "日本語", "🐙 ok"])
    assert exact.harmless(plain) == plain


@given(st.text(max_size=80), st.integers(1, 60))
def test_shortened_text_is_never_longer_and_says_that_it_was_cut(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or short.endswith("…")


def test_plain_text_of_any_language_is_left_alone() -> None:
    for text in ("héllo wörld", "日本語", "🐙 ok", "עברית", "a\u0301"):
        assert escape(text) == text


def test_of_two_long_values_the_part_is_told_by_which_they_differ() -> None:
    begins = "0x55 {name = 'a name that is long enough', kind = 3, parts = {1, 2, 3, 4, 5, 6, 7, 8, 9}, "
    assert apart(f"{begins}left = 1, last = 0}}", f"{begins}left = 31, last = 0}}", 60) == (
        "… left = 1 …",
        "… left = 31 …",
    )
    assert apart(f"{begins}left = 1}}", f"{begins}left = 2}}", 60) == ("… left = 1", "… left = 2")
    assert apart("[1, 2]", "[1, 3]", 60) == ("[1, 2]", "[1, 3]"), "what is short is told whole"
    early = ("{a = 1, " + begins, "{a = 2, " + begins)
    assert apart(*early, 60) == tuple(shorten(each, 60) for each in early)
    text = "no part of it begins anywhere near where it differs"
    assert apart(f"{text}: one", f"{text}: two", 40) == ("… differs: one", "… differs: two")


@given(WILD, WILD, WILD, st.integers(8, 60))
def test_two_values_told_apart_stay_within_the_limit(same: str, old: str, new: str, limit: int) -> None:
    assert all(len(each) <= limit for each in apart(same + old, same + new, limit))


def test_a_part_that_differs_deep_inside_is_told_by_its_place_and_not_by_what_is_left_of_both_texts() -> None:
    def stock(lots: int) -> str:
        rows = ", ".join(["Lot(…)"] * lots)
        return f"Stock(lots=defaultdict({{'A': deque([Lot(…), Lot(…), Lot(…)]), 'B': deque([{rows}])}}), moved=24)"

    assert change("s", stock(4), stock(5), 160) == "s.lots['B'][4] = Lot(…), …"
