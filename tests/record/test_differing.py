"""The parts by which two texts of a value differ: each is really there, and together they are all; or nobody can tell."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillframe.record.differing import Part, inside

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
KEYS = st.text(max_size=4) | st.integers() | st.booleans()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def told(old: str, new: str) -> list[tuple[str, str | None, str | None]] | None:
    found = inside(old, new)
    return [(part.path, part.old, part.new) for part in found.parts] if found else None


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("{'a': 1, 'b': 2}", "{'a': 1, 'b': 3}", [("['b']", "2", "3")]),
        ("{}", "{'a': 1}", [("['a']", None, "1")]),
        ("Cart(n=1, lines=[1, 2])", "Cart(n=1, lines=[1, 2, 3])", [(".lines[2]", None, "3")]),
        ("Cart(n=1, lines=[1, 2])", "Cart(n=1, lines=[2])", [(".lines", "[1, 2]", "[2]")]),
        ("Counter({'a': 1})", "Counter({'a': 2})", [("['a']", "1", "2")]),
        ("Map(1) {'a' => {n: 1}}", "Map(1) {'a' => {n: 2}}", [("['a'].n", "1", "2")]),
        ("Order {id: 7, to: {zip: 1}}", "Order {id: 7, to: {zip: 2}}", [(".to.zip", "1", "2")]),
        ('main.Order {Id: "1", To: main.City {Zip: 1}}', 'main.Order {Id: "1", To: main.City {Zip: 2}}', [(".To.Zip", "1", "2")]),
        ("[]int len: 2, cap: 4, [7,8]", "[]int len: 3, cap: 4, [7,8,9]", [("[2]", None, "9")]),
        ('map[string]int ["k": 7, ]', 'map[string]int ["k": 8, ]', [('["k"]', "7", "8")]),
        ("{a = 1, b = {1, 2}}", "{a = 1, b = {1, 3}}", [(".b", "{1, 2}", "{1, 3}")]),
        ('{:a=>1, "b"=>2}', '{:a=>1, "b"=>3}', [('["b"]', "2", "3")]),
        ("{True: 1}", "{True: 2}", [("[True]", "1", "2")]),
        ("0x7ff {n = 3, m = 2}", "0x7ff {n = 0, m = 2}", [("->n", "3", "0")]),
    ],
)  # fmt: skip
def test_a_part_is_told_by_where_it_is(old: str, new: str, parts: list[tuple[str, str | None, str | None]]) -> None:
    assert told(old, new) == parts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1", "2"),
        ("{1, 2}", "{1, 3}"),  # a set has no order
        ("[1, 2, 3]", "[2, 3]"),
        ("Foo(1, 2)", "Foo(1, 3)"),  # the arguments of a repr are no items
        ("Foo(a=1)", "Bar(a=2)"),
        ("0x7f1 {n = 3, m = 2}", "0x7f2 {n = 0, m = 2}"),  # it points to another one
        ("{<Color.RED: 1>: 5}", "{<Color.RED: 1>: 6}"),
        ("Vec(size=3) = {1, 2, 3}", "Vec(size=3) = {1, 2, 4}"),
        ("{'a': 'x'…}", "{'a': 'xyz'…}"),  # the rest of the first may be `yz`
        ("{'a': [1, …]}", "{'a': [1, 2, …]}"),
        ("{'a': 1, …}", "{'a': 1, 'b': 2, …}"),
        ("[1, 2, 3, 4]", "[5, 6, 7, 8]"),  # better seen whole
        ("{'a': 1, 'b': 2", "{'a': 1, 'b': 3"),
    ],
)
def test_what_the_texts_do_not_show_is_not_told(old: str, new: str) -> None:
    assert told(old, new) is None


def test_more_may_differ_where_something_was_cut() -> None:
    found = inside("Cart(n=1, lines=[1, …], …)", "Cart(n=2, lines=[1, 2, …], …)")
    assert found is not None
    assert (found.parts, found.cut) == ((Part(".n", "1", "2"),), True)


@given(VALUES, VALUES)
def test_parts_are_what_both_values_have_there_and_all_that_differs(old: Any, new: Any) -> None:
    found = inside(repr(old), repr(new))
    if found is None or found.cut:
        return
    for part in found.parts:
        for value, text in ((old, part.old), (new, part.new)):
            if text is None:
                with pytest.raises((KeyError, IndexError)):
                    eval(f"value{part.path}", {"value": value})
            else:
                assert repr(eval(f"value{part.path}", {"value": value})) == text
    for part in found.parts:  # the old value with these changes is the new one
        step = ast.parse(f"value{part.path}", mode="eval").body
        assert isinstance(step, ast.Subscript)
        holder, key = eval(ast.unparse(step.value), {"value": old}), ast.literal_eval(step.slice)
        if part.new is None:
            del holder[key if isinstance(holder, dict) else -1]
        elif part.old is None and isinstance(holder, list):
            holder.append(eval(part.new))
        else:
            holder[key] = eval(part.new)
    assert repr(old) == repr(new) or old == new
