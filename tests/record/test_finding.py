"""Finding what was recorded by the names that people write."""

from __future__ import annotations

import pytest

from stillframe.record.finding import without_arguments


@pytest.mark.parametrize(
    ("symbol", "written"),
    [
        ("shop::Cart<shop::(anonymous namespace)::Item, 3>::total", "shop::Cart::total"),
        ("shop::Cart<std::map<int, std::vector<int> > >::operator+=", "shop::Cart::operator+="),
        ("shop::Money<int>::operator<", "shop::Money::operator<"),
        ("shop::Bag<shop::Item>::push<shop::Item>", "shop::Bag::push"),
        ("shop::push::<i64>", "shop::push"),
        ("<shop::Item as shop::Price>::price", "<shop::Item as shop::Price>::price"),
        ("cart.(*Cart[...]).Add", "cart.Cart.Add"),
        ("cart.Map[...]", "cart.Map"),
        ("main.main.func1", "main.main.func1"),
        ("Cart.get total", "Cart.total"),
        ("Cart.#check", "Cart.#check"),
        ("Shop::Item#total", "Shop::Item#total"),
        ("block in <main>", "block in <main>"),
        ("outer.<locals>.<lambda>", "outer.<locals>.<lambda>"),
        ("<module>", "<module>"),
        ("operator()", "operator()"),
    ],
)
def test_a_symbol_is_also_known_without_what_a_compiler_added(symbol: str, written: str) -> None:
    assert without_arguments(symbol) == written
