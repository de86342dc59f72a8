"""Values come as bounded text, whatever they are, and the program can go on afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

VALUES = """
import array, collections, dataclasses, enum, threading, types
class Order:
    def __init__(self, id): self.id, self.lines = id, [1, 2, 3]
class Slotted:
    __slots__ = ("a", "b")
    def __init__(self): self.a = 1
class Empty: pass
class Loud:
    calls = []
    def __repr__(self): Loud.calls.append(1); return "<Loud>"
class Raises:
    def __repr__(self): raise ValueError("bad")
class Returns:
    def __repr__(self): return 7
class Exits:
    def __repr__(self): raise SystemExit(3)
class Huge:
    def __repr__(self): return "x" * 30000000
class Rows(list): pass
class Liar:
    @property
    def __class__(self): raise RuntimeError("asked")
    @property
    def trap(self): raise RuntimeError("asked")
@dataclasses.dataclass
class Point:
    x: int
    rows: list
@dataclasses.dataclass
class Own:
    x: int
    def __repr__(self): return "own repr"
Pair = collections.namedtuple("Pair", "left right")
class Colour(enum.Enum): RED = 1
def numbers():
    yield 1
    yield 2
def main():
    million = list(range(1000000))
    text = "a" * 30000000
    table = {i: str(i) for i in range(100000)}
    loop = [1]; loop.append(loop)
    knot = {}; knot["self"] = knot
    deep = [[[[[1]]]]]
    nasty = "nul\\0 esc\\x1b lone\\ud800 bidi\\u202e"
    raw, block = bytes(range(256)) * 100, bytearray(bytes(300) + b"z")
    zeros, buffer, seven = bytes(5000), bytearray(300), bytes(7)
    big = 1 << 100000
    small = {"a": 1, "b": [1, 2]}
    single = (1,)
    none = set()
    frozen = frozenset([1])
    queue = collections.deque(range(3))
    order, slotted, empty, loud = Order(7), Slotted(), Empty(), Loud()
    raises, returns, exits, huge = Raises(), Returns(), Exits(), Huge()
    rows = Rows(range(100))
    liar = Liar()
    point, own, pair = Point(1, list(range(100))), Own(1), Pair(1, "b")
    counter = collections.Counter("aab")
    default = collections.defaultdict(list, a=[1])
    keys = {1: 2}.keys()
    error = KeyError("k")
    red = Colour.RED
    numbers_ = numbers(); next(numbers_)
    items = iter([1, 2, 3]); next(items); used = map(str, [1]); list(used); closed = map(str, (n for n in [1])); list(closed)
    pairs, found, asked, walked = zip("abc", [1, 2]), filter(None, [0, 1]), map(str, numbers()), enumerate({1: 2})
    cells = array.array("i", range(100))
    space = types.SimpleNamespace(a=1)
    lock = threading.Lock()
    function, module, klass, method = main, types, Order, [].append
    print("go")  # @here
    print("done", len(loud.calls))
main()
"""
EXPECTED = {
    "million": ("list", "[0, 1, 2, 3, 4, 5, 6, 7, …]", 1000000),
    "loop": ("list", "[1, [...]]", 2),
    "knot": ("dict", "{'self': {...}}", 1),
    "deep": ("list", "[[[[…]]]]", 1),
    "small": ("dict", "{'a': 1, 'b': [1, 2]}", 2),
    "single": ("tuple", "(1,)", 1),
    "none": ("set", "set()", 0),
    "frozen": ("frozenset", "frozenset({1})", 1),
    "queue": ("deque", "deque([0, 1, 2])", 3),
    "big": ("int", "<int of 100001 bits>", None),
    "order": ("Order", "Order(id=7, lines=[1, 2, 3])", None),
    "slotted": ("Slotted", "Slotted(a=1)", None),
    "empty": ("Empty", "<Empty>", None),
    "loud": ("Loud", "<Loud>", None),
    "raises": ("Raises", "<repr raised ValueError: bad>", None),
    "returns": ("Returns", "<repr raised TypeError: __repr__ returned non-string (type int)>", None),
    "exits": ("Exits", "<repr raised SystemExit: 3>", None),
    "rows": ("Rows", "Rows([0, 1, 2, 3, 4, 5, 6, 7, …])", 100),
    "liar": ("Liar", "<Liar>", None),
    "point": ("Point", "Point(x=1, rows=[0, 1, 2, 3, 4, 5, 6, 7, …])", None),
    "own": ("Own", "own repr", None),
    "pair": ("Pair", "Pair(left=1, right='b')", 2),
    "counter": ("Counter", "Counter({'a': 2, 'b': 1})", 2),
    "default": ("defaultdict", "defaultdict({'a': [1]})", 1),
    "keys": ("dict_keys", "dict_keys([1])", 1),
    "error": ("KeyError", "KeyError('k')", None),
    "red": ("Colour", "<Colour.RED: 1>", None),
    "numbers_": ("generator", "<generator numbers, suspended at line 37>", None),
    "items": ("list_iterator", "<list_iterator, 2 left>", None),
    "used": ("map", "<map, 0 left>", None),
    "closed": ("map", "<map, 0 left>", None),
    "pairs": ("zip", "<zip, 2 left>", None),
    "found": ("filter", "<filter, at most 2 left>", None),
    "asked": ("map", "<map>", None),
    "walked": ("enumerate", "<enumerate, 1 left>", None),
    "space": ("SimpleNamespace", "namespace(a=1)", None),
    "lock": ("lock", "<unlocked _thread.lock object>", None),
}


def test_every_kind_of_value_has_a_short_true_text(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, VALUES)
    stop = peer.stop(thread, values=100)
    told = {row["name"]: row for row in stop["locals"]}
    seen = {name: (told[name]["type"], told[name]["value"], told[name]["total"]) for name in EXPECTED}
    assert seen == EXPECTED
    assert not {"function", "module", "klass", "method"} & set(told)
    assert {name for name, row in told.items() if row["error"]} == {"raises", "returns", "exits"}
    assert all(len(row["value"]) <= 160 for row in told.values())
    assert told["text"]["total"] == 30000000 and told["text"]["truncated"]
    assert told["nasty"]["value"] == r"'nul\x00 esc\x1b lone\ud800 bidi\u202e'"
    assert told["raw"]["value"].endswith("'…") and told["table"]["value"].endswith("…}")
    assert re.fullmatch(r"bytearray\(b'(\\x00)+'\)…", told["block"]["value"]), "no escape is cut through"
    assert [told[name]["value"] for name in ("zeros", "buffer")] == [r"b'\x00' * 5000", r"bytearray(b'\x00') * 300"]
    assert told["seven"]["value"] == repr(bytes(7)) and told["zeros"]["total"] == 5000
    assert len(json.dumps(stop)) < 16000
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "go\ndone 1\n", "")


def by_name(peer: Peer, thread: int) -> dict[str, Any]:
    return {row["name"]: row for row in peer.stop(thread, values=100)["locals"]}


def test_a_value_whose_text_is_cut_can_be_expanded_in_pages(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, VALUES)
    told = by_name(peer, thread)
    assert {name for name in ("small", "single", "order", "empty", "loop") if told[name]["ref"] is not None} == set()

    page = peer.call("expand", ref=told["million"]["ref"], start=999998, count=10)
    assert (page["total"], [(row["name"], row["value"]) for row in page["values"]]) == (
        1000000,
        [("[999998]", "999998"), ("[999999]", "999999")],
    )
    page = peer.call("expand", ref=told["table"]["ref"], start=5, count=1)
    assert [(row["name"], row["value"]) for row in page["values"]] == [("[5]", "'5'")]
    page = peer.call("expand", ref=told["text"]["ref"], start=29999000, count=5, text=1000)
    assert (page["total"], [row["name"] for row in page["values"]]) == (30000000, ["[29999000:30000000]"])
    assert page["values"][0] == {
        "name": "[29999000:30000000]",
        "type": "str",
        "value": repr("a" * 1000),
        "total": 1000,
        "truncated": False,
        "ref": None,
        "error": False,
    }
    page = peer.call("expand", ref=told["point"]["ref"], start=0, count=10)
    assert [(row["name"], row["total"]) for row in page["values"]] == [("x", None), ("rows", 100)]
    page = peer.call("expand", ref=told["deep"]["ref"], start=0, count=10)
    assert page["values"][0]["value"] == "[[[[…]]]]"


def test_a_reference_ends_with_its_stop(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, VALUES)
    stop = peer.stop(thread)
    ref = next(row["ref"] for row in stop["locals"] if row["ref"] is not None)
    peer.resume("next", thread)
    peer.stopped()
    assert peer.refusal("expand", ref=ref).startswith("stale: ")
    assert peer.refusal("expand", ref=987654).startswith("stale: ")


@pytest.mark.parametrize("bounds", [{"text": 8, "items": 1}, {"text": 20, "items": 3}, {"text": 5000, "items": 500}])
def test_any_bounds_are_kept(run_to: RunTo, bounds: dict[str, int]) -> None:
    import sys

    _, peer, thread = run_to(sys.executable, VALUES)
    for row in peer.stop(thread, values=100, **bounds)["locals"]:
        assert len(row["value"]) <= max(bounds["text"], 62), row


PAUSABLE = """
def numbers(a):
    yield a
async def waits(): pass
async def counts():
    yield 1
def main(k=3):
    def inner():
        yield k
    fresh, inside, begun, over, expression = numbers(1), inner(), numbers(1), numbers(1), (x for x in range(k))
    coroutine, counting = waits(), counts()
    next(begun), list(over)
    coroutine.close()
    coroutine = waits()
    k = k + 1  # @here
    coroutine.close()
    return inside
main()
"""


def test_a_generator_that_was_never_started_is_told_from_one_that_waits(run_to: RunTo, spread_python: str) -> None:
    _, peer, thread = run_to(spread_python, PAUSABLE)
    told = {name: row["value"].strip("<>").partition(", ")[2] for name, row in by_name(peer, thread).items()}
    fresh = {"fresh", "inside", "expression", "coroutine", "counting"}
    assert {name for name in told if told[name] == "created"} == fresh
    assert (told["begun"], told["over"]) == ("suspended at line 3", "closed")
