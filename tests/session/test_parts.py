"""The parts of objects that a line reads are found in its text, whatever the language."""

from __future__ import annotations

import pytest

from stillframe.adapters.go_values import value_text
from stillframe.session.parts import paths_on


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        (
            "return self.rate * self.items[0].price + self.rate",
            [("self", ".rate"), ("self", ".items", "[0]", ".price")],
        ),
        ("for (; n; n = n->next) sum += n->data->weight;", [("n", "->next"), ("n", "->data", "->weight")]),
        ("if got != tc.want {", [("tc", ".want")]),
        ("this.orders?.first.total()", [("this", ".orders", "?.first")]),
        ("out += orders[i]['price'] * rates[\"a\"]", [("orders", "[i]", "['price']"), ("rates", '["a"]')]),
        ("xs[i + 1] = handlers[name](x)", []),
        ("x = open(name).read() + shop.open ()", []),
    ],
)
def test_parts_are_read_off_a_line_and_methods_are_none(line: str, paths: list[tuple[str, ...]]) -> None:
    assert paths_on(line) == paths


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ('struct { a string; b struct { c int } } {a: "x/y.z {", b: {c: 1}}', '{a: "x/y.z {", b: {c: 1}}'),
        (
            '*example.com/bank.Ledger {all: [(*"example.com/bank.Entry")(0x30)]}',
            "*bank.Ledger {all: [(*bank.Entry)(0x30)]}",
        ),
        ("[]struct { A int } len: 1, cap: 1, [{A: 1}]", "[]struct len: 1, cap: 1, [{A: 1}]"),
        ('"http://example.com/a.html"', '"http://example.com/a.html"'),
    ],
)
def test_values_of_go_are_told_without_paths_of_packages_and_fields_of_nameless_types(told: str, text: str) -> None:
    assert value_text(told) == text
