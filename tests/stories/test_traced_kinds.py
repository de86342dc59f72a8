"""`trace` of each kind of function: generators, coroutines, what pauses and goes on, lambdas, cases of a match."""

from __future__ import annotations

import re

import pytest

from ..interpreters import INTERPRETERS, NEWEST
from .conftest import User
from .test_tracing import VERSIONS, rows, trace

GIVING = """\
from array import array
from collections import deque

def windows(items, n):
    last, sizes = deque(maxlen=n), array("i")
    for each in items:
        last.append(each)
        sizes.append(len(last))
        if len(last) == n:
            yield tuple(last)

def counted():
    n = 0
    yield (n := n + 1)
    yield {"password": "hunter2"}
    return n

def use():
    given = list(counted())
    lines = map(str, [1, 2])
    some = (n for n in "ab")
    taken = [*some, *lines]
    return next(windows(range(9), 3)), len(given), taken

use(); list(windows(range(4), 3))
"""


@pytest.mark.parametrize("version", [each for each in ("3.11", "3.13") if each in INTERPRETERS])
def test_a_generator_is_told_by_what_it_gave_and_what_it_filled_by_what_it_holds(user: User, version: str) -> None:
    user.file("giving.py", GIVING)
    life = trace(user, version, "windows", "--call", "2", "giving.py")["life"]
    (loop,) = (each for each in life["steps"] if each["type"] == "loop")
    changed = {each["name"]: each["new"] for step in loop["told"][-1]["steps"] for each in step.get("changes", [])}
    assert (changed["last"], changed["sizes"]) == ("deque([1, 2, 3])", "array('i', [1, 2, 3, 3])")
    steps = trace(user, version, "counted", "giving.py")["life"]["steps"]
    assert [(each["line"], [one["new"] for one in each.get("changes", [])]) for each in steps[:2]] == [
        (13, ["0"]),
        (14, ["1"]),
    ], "what a line changed before it gave a value"
    text = user.ok("trace", "use", "--python", INTERPRETERS[version], "--", "python", "giving.py")
    assert "counted() yields 1, {'password': '[redacted: named password]'}, = 1 giving.py:12" in text
    (taken,) = (line for line in text.splitlines() if "taken = [" in line)
    assert "lines <map, 2 left> -> <map, 0 left>" in taken and "<genexpr>, closed>" in taken, "they are used up"
    assert "windows(items=range(0, 9), n=3) yields (0, 1, 2), is suspended giving.py:4" in text


STOCK = """\
import logging
from dataclasses import dataclass

@dataclass
class Item:
    sku: str
    qty: int

class Stock:
    def __init__(self, count):
        self.items = {f"s{n}": Item(f"s{n}", n) for n in range(count)}
        self.log = []
        self.keys = {}
        self.logger = logging.getLogger("stock")

    def take(self, sku, qty):
        self.items[sku] = Item(sku, qty)
        self.log.append((sku, qty))
        self.keys["password"] = "hunter2 and more"
        self.items[sku].qty -= 1
        self.logger.debug("taken")
        return len(self.log)

Stock(12).take("s9", 40)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_of_a_large_value_the_part_is_told_that_a_line_changed(user: User, version: str) -> None:
    user.file("stock.py", STOCK)
    text = user.ok("trace", "take", "--python", INTERPRETERS[version], "--", "python", "stock.py")
    assert re.search(
        r"17 +self.items\[sku\] = Item\(sku, qty\) +self.items\['s9'\]=Item\(sku='s9', qty=40\)\n", text
    ), text
    assert re.search(r"18 +self.log.append\(\(sku, qty\)\) +self.log\[0\]=\('s9', 40\)\n", text), text
    assert re.search(r"self.keys\['password'\]='?\[redacted: named password\]'?\n", text), text
    assert re.search(r"20 +self.items\[sku\].qty -= 1 +self.items\['s9'\].qty=39\n", text), "three levels deep"
    assert re.search(r"21 +self.logger.debug\(.taken.\)\n", text), "what a library keeps inside is no news"
    assert "hunter2" not in text.replace('= "hunter2 and more"', "")
    assert "__create_fn__" not in text


PAUSING = """\
import asyncio

async def poll(n):
    for i in range(n):
        await asyncio.sleep(0)
    return n

def after(n):
    try:
        1 / 0
    except ZeroDivisionError:
        pass
    yield None
    yield
    return n

def thrown():
    while True:
        try:
            yield
        except ValueError:
            done = 1

async def numbers(n):
    try:
        {}[n]
    except KeyError:
        pass
    for i in range(n):
        await asyncio.sleep(0)
        yield i * 10
    yield

async def fails():
    await asyncio.sleep(0)
    await asyncio.wait_for(refuse(), 60)

async def refuse():
    await asyncio.sleep(0)
    raise OSError("no")

async def late():
    coming = asyncio.get_running_loop().create_future()
    coming.get_loop().call_soon(coming.set_exception, OSError("late"))
    try:
        await coming
    except OSError:
        coming = None

async def main():
    await poll(2)
    await late()
    async for _ in numbers(2):
        pass
    await fails()

list(after(3))
held = thrown()
next(held), held.throw(ValueError()), next(held)
asyncio.run(main())
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.10", "3.11", "3.13", NEWEST) if each in INTERPRETERS])
def test_what_pauses_is_told_apart_from_what_ends_and_from_errors_that_it_caught(user: User, version: str) -> None:
    user.file("pausing.py", PAUSING)

    def told(function: str) -> str:
        text = user.ok("trace", function, "--python", INTERPRETERS[version], "--", "python", "pausing.py")
        assert "raised by" not in text, "nothing ended that was only left for a while"
        return text

    assert re.search(r"4-5  loop, 2 turns\n.*\n.*waits\n  turn 2: i 0 -> 1 waits\n  6  return n\n= 2\n", told("poll"))
    after = told("after")
    assert "10      1 / 0                           raises ZeroDivisionError: division by zero\n" in after
    assert after.count("yields None") == 2 and "\n= 3\n" in after, after
    thrown = told("thrown")
    assert "loop, 3 turns, 3 ways\n" in thrown and "yields None  raises ValueError\n" in thrown, thrown
    assert "suspended at line" in thrown, thrown
    numbers = told("numbers")
    assert "await asyncio.sleep(0)          waits\n" in numbers and "yields 0\n" in numbers, numbers
    assert "turn 2: i 0 -> 1 waits yields 10\n" in numbers and "yields None\n= None\n" in numbers, numbers
    assert "\n! OSError: no at line 36\n" in told("fails")
    late = told("late")
    assert late.count("await coming") == 1 and "waits  raises OSError: late\n" in late, (
        "thrown into it, it is not begun anew"
    )
    claim = ("probe", 'pausing.py@"await coming"', "--eval", "1", "--python", INTERPRETERS[version])
    assert "reached once\n" in user.ok(*claim, "--", "python", "pausing.py")


MAKING = """\
import argparse
from collections import namedtuple
from dataclasses import dataclass

Pair = namedtuple("Pair", "one two")

@dataclass
class Held:
    pair: Pair

double = lambda x: x * 2

class Sizes:
    key = lambda self, name: name.upper()

def make(items, bound):
    largest = lambda: max(items)
    return Held(Pair(double(largest()), bound))

make([1, 2], 5); make([1, 9], 5); Sizes().key("a")
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_lambdas_have_the_name_that_they_are_given_and_what_a_library_makes_is_the_librarys(
    user: User, version: str
) -> None:
    user.file("making.py", MAKING)
    condition = "any(item > bound for item in items)"
    report = trace(user, version, "make", "--if", condition, "making.py")
    assert (report["life"]["number"], report["calls"]) == (2, 2)
    (step,) = (each for each in report["life"]["steps"] if each["line"] == 18)
    called = [each["function"].rpartition(".")[2] for each in step["calls"]]
    assert called == ["largest", "double", "__init__"], "and none of namedtuple's own"
    for name, given in (("double", ["2"]), ("Sizes.key", ["<Sizes>", "'a'"]), ("largest", [])):
        life = trace(user, version, name, "making.py")["life"]
        assert life["function"].rpartition(".")[2] == name.rpartition(".")[2]
        assert [each["value"] for each in life.get("arguments", ())] == given
    imported = trace(user, version, "making.py:1", "making.py")["life"]
    (first,) = (each for each in imported["steps"] if each["line"] == 1)
    assert "calls" not in first, "what the standard library makes as it is imported"


MATCHING = """\
def kind(told):
    match (
        told
    ):
        case [x, y]:
            x += y
        case {
            "k": x,
        }:
            pass
        case _: return None
    return x

kind([1, 2]); kind({"k": 5}); kind(3)
"""


@pytest.mark.parametrize("version", [each for each in ("3.11", "3.13") if each in INTERPRETERS])
def test_the_cases_of_a_match_are_lines_of_their_own(user: User, version: str) -> None:
    user.file("kinds.py", MATCHING)
    lives = [trace(user, version, "kind", "--call", str(number), "kinds.py")["life"] for number in (1, 2, 3)]
    assert [each["line"] for each in lives[0]["steps"]] == [2, 5, 6, 12]
    assert rows(lives[0]["steps"])[1:3] == [(5, {"x": "1", "y": "2"}), (6, {"x": "3"})]
    assert [each["line"] for each in lives[1]["steps"]] == [2, 5, 7, 10, 12]
    assert [each["line"] for each in lives[2]["steps"]] == [2, 5, 7, 11]


def test_that_large_values_are_not_compared_whole_is_said(user: User) -> None:
    user.file(
        "large.py",
        "def fill(n):\n    held = [0] * n\n    held[n // 2] = 1\n    return sum(held)\n\nfill(4096); fill(5000)\n",
    )
    small, large = (user.ok("trace", "fill", "--call", each, "--", "python", "large.py") for each in "12")
    assert "held[n // 2] = 1" in small and "note: of values" not in small
    assert "note: of values with more than 4,096 items some alone are compared: a change may not be seen\n" in large
    user.file(
        "large.js",
        "function fill(n) {\n  const held = Array(n).fill(0);\n  held[n / 2] = 1;\n  return held;\n}\nfill(5000);\n",
    )
    told = user.ok("trace", "fill", "--", "node", "large.js")
    assert "note: of values with more than 4,096 parts, a change in the middle is not seen\n" in told


TAKING = """\
def large(n): return {"name": "item number %d" % n, "list": [x * 1000 + n for x in range(10)], "other": "more text %d" % n}

class Shelf:
    def __init__(self):
        self.items = {"k%d" % n: large(n) for n in range(5)}

def take(held, row, shelf):
    held.pop("k2")
    row.pop()
    del row[0]
    row.insert(1, 7)
    shelf.items.popitem()
    held["z"] = held.pop("k1")
    return len(row)

take({"k%d" % n: large(n) for n in (1, 2, 3)}, [large(n) for n in range(6)], Shelf())
"""

TAKING_IN_NODE = """\
const numbers = (n) => Array.from({ length: 10 }, (_, x) => x * 1000 + n);
const large = (n) => ({ name: `item number ${n}`, list: numbers(n), other: `more text ${n}` });
function take(held, object, row) {
  held.delete('k2');
  delete object.b;
  row.pop();
  row.shift();
  row.splice(1, 0, 'new');
  delete held.get('k1').other;
  return row.length;
}
take(new Map([1, 2, 3].map((n) => [`k${n}`, large(n)])), { a: large(1), b: large(2) }, [1, 2, 3, 4, 5].map(large));
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.13") if each in INTERPRETERS])
def test_what_was_taken_out_of_a_large_value_is_told_and_what_only_moved_is_not(user: User, version: str) -> None:
    user.file("take.py", TAKING)
    life = trace(user, version, "take", "take.py")["life"]
    parts = {
        each["line"]: [(part["path"], part["value"]) for part in each["changes"][0]["parts"]]
        for each in life["steps"][:-1]
    }
    assert [parts[line] for line in (8, 9, 10, 11, 12)] == [
        [("['k2']", "(gone)")],
        [("[5]", "(gone)")],
        [("[0]", "(gone)")],
        [("[1]", "7 (inserted)")],
        [(".items['k4']", "(gone)")],
    ]
    assert [(path, value[:30]) for path, value in parts[13]] == [
        ("['z']", "{'name': 'item number 1', 'lis"),
        ("['k1']", "(gone)"),
    ]


def test_what_was_taken_out_of_a_large_value_in_node_is_told(user: User) -> None:
    user.file("take.js", TAKING_IN_NODE)
    told = re.sub(" +", " ", user.ok("trace", "take", "--", "node", "take.js"))
    for line in (
        "held.delete('k2'); held['k2'] (gone)\n",
        "delete object.b; object.b (gone)\n",
        "row.pop(); row[4] (gone)\n",
        "row.shift(); row[0] (gone)\n",
        "row.splice(1, 0, 'new'); row[1]='new' (inserted)\n",
        "delete held.get('k1').other; held['k1'].other (gone)\n",
    ):
        assert line in told, told


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.13") if each in INTERPRETERS])
def test_what_a_step_changed_inside_of_a_large_value_is_told(user: User, version: str) -> None:
    user.file("take.py", TAKING)
    user.ok("launch", "take.py", "--python", INTERPRETERS[version], "--break", "take.py:8")
    assert user.ok("next", "6").splitlines()[:5] == [
        "take.py:8 held['k2'] (gone)",
        "take.py:9 row[5] (gone)",
        "take.py:10 row[0] (gone)",
        "take.py:11 row[1] = 7 (inserted)",
        "take.py:12 shelf.items['k4'] (gone)",
    ]
    again = user.json("state")["frame"]
    assert again["line"] == 14 and "parts" not in str(user.json("state")["locals"])
    user.ok("stop")
