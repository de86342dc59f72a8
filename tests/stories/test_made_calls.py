"""The calls behind a failing line of a Python test: those that changed what it uses, and those that nothing in it spells out."""

from __future__ import annotations

import pytest

from .conftest import User
from .test_testing import OURS

CART = """\
class Cart:
    def __init__(self):
        self.items = []

    def add(self, price, count=1):
        self.items.append(price * count if count > 1 else 0)

def test_total():
    cart = Cart()
    cart.add(5)
    cart.add(2, 3)
    assert sum(cart.items) == 11
"""


def test_calls_that_changed_what_the_failing_line_uses_are_told(user: User) -> None:
    user.file("test_cart.py", CART)
    rows = user.ok("test", "test_cart.py").splitlines()
    assert [row for row in rows if row.startswith("  Cart.add(")] == [
        "  Cart.add(self=Cart(items=[]), price=5, count=1) = None test_cart.py:6  self=Cart(items=[0])",
        "  Cart.add(self=Cart(items=[0]), price=2, count=3) = None test_cart.py:6  self=Cart(items=[0, 6])",
    ], rows


PARTS = """\
class Cell:
    def __init__(self):
        self.kept = 0

    @property
    def v(self):
        return self.kept

    @v.setter
    def v(self, given):
        self.kept = given + 1

class Shelf(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)

    def __delitem__(self, key):
        pass

def price(n):
    return n + 1

def test_items():
    prices = {}
    for n in range(2):
        prices[n] = price(n)
    assert prices == {0: 0, 1: 1}

def test_own():
    shelf = Shelf()
    shelf["a"] = 4
    assert dict(shelf) == {"a": 4}

def test_gone():
    shelf = Shelf(a=1)
    del shelf["a"]
    assert "a" not in shelf

def test_setter():
    cell = Cell()
    cell.v = 4
    assert cell.kept == 4
"""


@pytest.mark.long
def test_calls_behind_parts_that_were_given_values_or_taken_out_are_told(user: User) -> None:
    user.file("test_parts.py", PARTS)
    for test, call in (
        ("test_items", "  price(n=1) = 2"),
        ("test_own", "  Shelf.__setitem__(self=Shelf({}), key='a', value=4) = None"),
        ("test_gone", "  Shelf.__delitem__(self=Shelf({'a': 1}), key='a') = None"),
        ("test_setter", "  Cell.v(self=Cell(kept=0), given=4) = None"),
    ):
        rows = user.ok("test", f"test_parts.py::{test}", *OURS).splitlines()
        assert any(row.startswith(call) for row in rows), rows


IMPLIED = """\
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return abs(self.cents - other.cents) < 1

    def __len__(self):
        return len(str(self.cents))

class Cart:
    def __init__(self, prices):
        self.prices = prices

    @property
    def total(self):
        return Money(sum(self.prices) + 1)

cart = Cart([5, 6])

def test_property():
    assert cart.total.cents == 11

def test_operator():
    sum_of_it, wanted = Money(11), Money(12)
    assert sum_of_it == wanted

def test_builtin(money=Money(111)):
    assert len(money) == 2
"""


@pytest.mark.parametrize("test, call", [
    ("test_property", "  Cart.total(self=Cart(prices=[5, 6])) = Money(cents=12) test_implied.py:17"),
    ("test_operator", "  Money.__eq__(self=Money(cents=11), other=Money(cents=12)) = False test_implied.py:6"),
    ("test_builtin", "  Money.__len__(self=Money(cents=111)) = 3 test_implied.py:9"),
])  # fmt: skip
def test_calls_of_properties_and_of_a_classs_own_operators_are_told_too(user: User, test: str, call: str) -> None:
    user.file("test_implied.py", IMPLIED)
    rows = user.ok("test", f"test_implied.py::{test}", *OURS).splitlines()
    assert rows[0].endswith("1 of 1 failed, ran 2x"), rows
    assert call in rows, rows


METER = """\
import pytest, sys

def pytest_addoption(parser):
    parser.addoption("--no-cov", action="store_true", dest="no_cov", default=False)

@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    if not early_config.known_args_namespace.no_cov:
        sys.settrace(lambda *event: None)
"""


def test_a_plugin_that_measures_as_pytest_cov_does_leaves_the_recorded_run_to_the_recorder(user: User) -> None:
    user.file("meter.py", METER)
    user.file("pytest.ini", "[pytest]\naddopts = -p meter\npythonpath = .\n")
    user.file("test_implied.py", IMPLIED)
    words = ("test_implied.py::test_property", *OURS)
    told = user.ok("test", *words, env={"PYTHONPATH": str(user.here)})
    assert "calls that led there, returned:\n  Cart.total(" in told, told


FIXTURES = """\
import pytest

def priced(name):
    return {"name": name, "cents": 0 if name == "pear" else 5}

@pytest.fixture(scope="module")
def shop():
    return [priced("apple")]

@pytest.fixture(params=["apple", "pear"])
def basket(request, shop):
    found = priced(request.param)
    yield [*shop, found]

def test_priced(basket):
    assert all(each["cents"] for each in basket)

def test_shop(basket, shop):
    prices = [each["cents"] for each in shop]
    assert prices == [7]
"""


@pytest.mark.long
def test_what_a_fixture_gave_is_told_by_the_calls_of_the_fixture(user: User) -> None:
    user.file("test_shop.py", FIXTURES)
    rows = user.ok("test", "test_shop.py::test_priced").splitlines()
    assert rows[0].endswith(": 1 of 2 failed, ran 2x"), rows
    made = rows.index("calls that made basket, returned:")
    assert rows[made + 1].startswith("  basket(request=") and ") yielded [{'name': 'apple'" in rows[made + 1], rows
    assert rows[made + 2].strip() == "priced(name='pear') = {'name': 'pear', 'cents': 0} test_shop.py:4", rows
    wide = user.ok("test", "test_shop.py::test_shop").splitlines()
    made = wide.index("calls that made shop, returned:")
    assert [each.strip() for each in wide[made + 1 : made + 3]] == [
        "shop() = [{'name': 'apple', 'cents': 5}] test_shop.py:8",
        "priced(name='apple') = {'name': 'apple', 'cents': 5} test_shop.py:4",
    ], wide
    assert "calls that made" not in user.ok("test", "--once", "test_shop.py::test_shop")


PREPARED = """\
import unittest

def priced(name):
    return {"name": name, "cents": 5}

class Shop(unittest.TestCase):
    def setUp(self):
        self.apple = priced("apple" if self.id().endswith("test_one") else "pear")

    @unittest.skip("not today")
    def test_none(self):
        pass

    def test_one(self):
        self.assertEqual(self.apple["cents"], 5)

    def test_other(self):
        found = self.apple["name"]
        self.assertTrue(found)
        self.assertEqual(found, "apple")

class TestPlain:
    def setup_method(self):
        self.apple = priced("apple")

    def test_plain(self):
        assert self.apple["cents"] == 6
"""


@pytest.mark.long
def test_what_was_prepared_before_a_test_is_told_by_the_calls_that_prepared_it(user: User) -> None:
    user.file("test_shop.py", PREPARED)
    for words in (("--runner", "unittest", "test_shop"), ("--runner", "pytest", "test_shop.py::Shop")):
        rows = user.ok("test", *words).splitlines()
        assert ": 1 of 3 failed (1 skipped), ran 2x" in rows[0], rows
        made = rows.index("calls that made self.apple, returned:")
        assert rows[made + 1].startswith("  Shop.setUp(self=Shop("), rows
        assert rows[made + 2].strip() == "priced(name='pear') = {'name': 'pear', 'cents': 5} test_shop.py:4", rows
    plain = user.ok("test", "--runner", "pytest", "test_shop.py::TestPlain").splitlines()
    assert "    priced(name='apple') = {'name': 'apple', 'cents': 5} test_shop.py:4" in plain, plain
