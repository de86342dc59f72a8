"""The grammar of places, conditions and hit counts: closed, and never surprised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.errors import UsageError
from stillframe.model.places import (
    BreakSpec,
    HerePlace,
    HitRule,
    LinePlace,
    SymbolPlace,
    TextPlace,
    parse_break,
    parse_hit,
    parse_place,
)

FILES = st.from_regex(r"[a-zA-Z0-9_./-]{1,20}\.py", fullmatch=True)
NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_.]{0,15}", fullmatch=True)


@given(FILES, st.integers(1, 10**9), st.none() | st.integers(1, 500))
def test_a_line_reads_back_as_it_is_written(file: str, line: int, column: int | None) -> None:
    place = LinePlace(file, line, column)
    assert parse_place(str(place)) == place


@given(FILES, st.text(min_size=1).filter(lambda text: text.strip() != ""))
def test_a_text_reads_back_whatever_stands_in_it(file: str, text: str) -> None:
    place = TextPlace(file, text)
    assert parse_place(str(place)) == place


@given(st.integers(1, 10**9))
def test_a_number_by_itself_is_a_line(line: int) -> None:
    assert parse_place(str(line)) == HerePlace(line)
    assert parse_break(f"{line} if x") == BreakSpec(HerePlace(line), "x")


@given(NAMES, st.none() | NAMES)
def test_a_symbol_reads_back(name: str, module: str | None) -> None:
    place = SymbolPlace(name, module)
    assert parse_place(str(place)) == place


@given(FILES, st.integers(1, 999), st.text(min_size=1).filter(lambda text: text.strip() != ""))
def test_the_condition_is_all_behind_the_first_if(file: str, line: int, condition: str) -> None:
    assert parse_break(f"{file}:{line} if {condition}") == BreakSpec(LinePlace(file, line), condition.strip())


def test_an_if_inside_the_text_of_a_place_splits_nothing() -> None:
    spec = parse_break('shop.py@"return a if b else c" if x > 3')
    assert spec == BreakSpec(TextPlace("shop.py", "return a if b else c"), "x > 3")
    assert parse_break("f.py:3 if x == ' if '") == BreakSpec(LinePlace("f.py", 3), "x == ' if '")


def test_a_text_is_a_place_without_the_quotes_that_a_shell_took() -> None:
    assert parse_place("cart.py@total += price") == TextPlace("cart.py", "total += price")
    assert parse_place("src/cart.go@half := New(5, 1)") == TextPlace("src/cart.go", "half := New(5, 1)")
    assert parse_place("node_modules/@shop/cart.js@return x") == TextPlace("node_modules/@shop/cart.js", "return x")
    assert parse_break("cart.py@if total < 0:") == BreakSpec(TextPlace("cart.py", "if total < 0:"))
    assert parse_place("a@2/cart.py:3") == LinePlace("a@2/cart.py", 3)
    with pytest.raises(UsageError, match=r"""'cart.py@"return a" if b else c'"""):
        parse_break("cart.py@return a if b else c")


def test_a_lone_apostrophe_in_a_path_is_no_quote() -> None:
    assert parse_break("/home/o'brien/app.py:3 if x") == BreakSpec(LinePlace("/home/o'brien/app.py", 3), "x")


@given(st.text(max_size=60))
def test_anything_is_a_place_or_a_usage_error(text: str) -> None:
    for parse in (parse_place, parse_break):
        try:
            parse(text)
        except UsageError as error:
            assert error.message


@given(st.sampled_from(["", ">=", "%"]), st.integers(1, 999_999_999))
def test_a_hit_count_reads_back(sign: str, number: int) -> None:
    rule = parse_hit(f"{sign}{number}")
    assert parse_hit(str(rule)) == rule
    assert rule.number == number


@given(st.text(max_size=20))
def test_nothing_that_could_be_evaluated_is_a_hit_count(text: str) -> None:
    try:
        rule = parse_hit(text)
    except UsageError:
        return
    assert isinstance(rule, HitRule)
    assert rule.number >= 1
    assert set(text.strip()) <= set("=>% ") | {char for char in text if char.isdigit()} | set(
        " \t\n\r\f\v\x1c\x1d\x1e\x1f\x85"
    )


@pytest.mark.parametrize("text", ["", "0", "-1", "> 3", ">3", "3.5", "1e3", "__import__('os')", "==", "%0", "9" * 10])
def test_these_are_no_hit_counts(text: str) -> None:
    with pytest.raises(UsageError, match="hit count"):
        parse_hit(text)


@pytest.mark.parametrize(
    "text", ["f.py:0", "f.py@''", 'f.py@" "', "", "two words", "f.py:3 if", "a!b!c", "f.py@", "@x y"]
)
def test_these_are_no_places(text: str) -> None:
    with pytest.raises(UsageError):
        parse_break(text)
