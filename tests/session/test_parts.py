"""The parts of objects that a line reads are found in its text, whatever the language."""

from __future__ import annotations

import pytest

from stillframe.adapters.go.values import value_text
from stillframe.session.parts import names_of, path_of, paths_on


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


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("cart.lines[-1].qty", ("cart", ".lines", "[-1]", ".qty")),
        ("order['a.b'][\"c\"]", ("order", "['a.b']", '["c"]')),
        ("p->next->weight", ("p", "->next", "->weight")),
        ("pair.0", ("pair", ".0")),
        ("@lines[:sku]", ("@lines", "[:sku]")),
        ("user?.name", ("user", "?.name")),
        ("cart", None),
        ("cart.total()", None),
        ("a + b.c", None),
        ("xs[i + 1]", None),
    ],
)
def test_a_path_that_is_asked_for_is_read_in_steps_and_no_other_expression_is(
    text: str, path: tuple[str, ...] | None
) -> None:
    assert path_of(text) == path


def test_a_step_has_the_names_that_debuggers_give_a_part() -> None:
    assert names_of("[-1]", {}, 3) == ("-1", "[-1]", "[2]", "2"), "a key, else counted from the end"
    assert names_of("[-5]", {}, 3) == ("-5", "[-5]")
    assert names_of("[i]", {"i": "2"}, 9)[:2] == ("2", "[2]")
    assert "['sku']" in names_of(".sku", {}, 1) and names_of(".sku", {}, 1)[0] == "sku"
