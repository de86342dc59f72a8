"""Claims checked over a whole run: every hit is counted inside the program, and a violated claim has its counter-example."""

from __future__ import annotations

import pytest

from ..conftest import INTERPRETERS
from .conftest import User
from .test_truths import LAYOUT, PASSES

VERSIONS = [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS]
"""By `sys.settrace`, and by `sys.monitoring`."""

PRICES = """\
import os, signal, sys, threading

def add(price, seen):
    seen.append(price)
    return len(seen)

def work(prices):
    seen = []
    for price in prices:
        add(price, seen)

threads = [threading.Thread(target=work, args=(list(range(100)),)) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
work([0.5, "12.50", -3])
if sys.argv[1:] == ["kill"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


LONG = """\
def f(pair, many):
    return pair

for turn in range(2500):
    f({"odd": turn % 2}, list(range(100)) + [turn % 40] * 100)
"""


def test_no_more_is_said_of_values_than_was_compared(user: User) -> None:
    user.file("long.py", LONG)
    asked = ("--eval", "pair", "--eval", "many", "--eval", "str(many)", "--eval", "sum(many)")
    report = user.json("probe", "long.py:2", *asked, "--", "python", "long.py")
    pair, many, text, total = report["places"][0]["gathered"]
    assert (pair["distinct"], pair["looked"], pair.get("more"), pair.get("cut")) == (2, 2000, None, None)
    assert (many["distinct"], many["looked"], many["cut"]) == (1, 2000, True)
    assert (text["distinct"], text.get("cut"), text.get("looked")) == (40, None, None)
    assert (total["distinct"], total.get("looked")) == (40, None)
    rows = user.ok("probe", "long.py:2", *asked, "--", "python", "long.py").splitlines()
    assert rows[1] == "  pair: 2 values in the first 2,000 hits, dict ({'odd': 0}, {'odd': 1})"
    assert rows[2].startswith("  many: at least 1 value in the first 2,000 hits, list ([0, 1, ")
    assert rows[3].startswith("  str(many): 40 values, str")


COUNTS = {
    "count.py": "def f(i):\n    return i\n\nfor i in range(9000):\n    f(i)\n",
    "count.js": "function f(i) {\n  return i;\n}\nfor (let i = 0; i < 9000; i++) f(i);\n",
}


@pytest.mark.parametrize(("file", "command"), [("count.py", "python"), ("count.js", "node")])
def test_what_the_record_keeps_of_many_hits_lies_evenly_and_is_told_to_be_a_part(
    user: User, file: str, command: str
) -> None:
    user.file(file, COUNTS[file])
    user.ok("probe", f"{file}:2", "--eval", "i", "--", command, file)
    trend = user.json("hit-trend", f"{file}:2", "i")
    assert 100 <= trend["hits"] <= 500
    note = f"{file}:2: {trend['hits']} of 9,000 hits are in the record, evenly over the run"
    assert trend["notes"] == [note]
    half = user.json("hits", f"{file}:2", "--where", "i < 4500")
    assert half["notes"] == [note]
    assert abs(half["total"] - trend["hits"] / 2) <= 2
    for asked in (("hits",), ("hits", "--count-by", "i"), ("cross", "f")):
        assert f"note: {note}\n" in user.ok(*asked)
    user.ok("probe", f"{file}:2 if i < 90", "--eval", "i", "--", command, file)
    few = user.json("hits", f"{file}:2")
    assert (few["total"], few.get("notes")) == (90, None), "of all hits nothing is said"


@pytest.mark.parametrize("version", VERSIONS)
def test_values_are_gathered_and_claims_held_or_violated_over_every_hit(user: User, version: str) -> None:
    user.file("prices.py", PRICES)
    words = ("--python", INTERPRETERS[version], "--", "python", "prices.py", "kill")
    asked = (
        "--eval",
        "price",
        "--expect",
        "price >= 0",
        "--expect",
        "seen is not None",
        "--expect",
        "isinstance(price, int)",
    )
    report = user.json("probe", "prices.py:4", "prices.py:5 if price == 7", "add", "nothing.py:1", *asked, *words)
    line, seven, entry, absent = report["places"]
    assert [line["count"], seven["count"], entry["count"], absent["state"]] == [403, 4, 403, "unbound"]
    assert report["end"]["signal"] == "SIGKILL", "what was counted before a kill is not lost"
    (price,) = line["gathered"]
    assert (price["distinct"], price["least"], price["most"], price["others"]) == (103, "-3", "99", 1)
    assert price["types"] == ["str"]
    positive, always, whole = line["claims"]
    assert (positive["held"], positive["violated"], positive["errors"], positive["error_hit"]) == (401, 1, 1, 402)
    assert positive["counter"]["locals"][0]["value"] == "-3"
    assert (always["held"], "counter" in always) == (403, False)
    assert (whole["violated"], whole["counter"]["hit"]) == (2, 401)
    assert [each["function"] for each in whole["counter"]["stack"]] == ["add", "work", "<module>"]
    trend = user.json("hit-trend", "prices.py:4", "price")
    assert (trend["hits"], trend["numbers"], trend["least"], trend["most"]) == (403, 402, -3, 99)


SEVERAL = {
    "several.py": """\
items = "all"

class Cart:
    def run(self, items):
        return len(items)

class Label:
    def run(self, name):
        return name

Label().run("k")
Cart().run([1, 2])
""",
    "several.js": """\
const items = "all";
class Cart {
  run(items) {
    return items.length;
  }
}
class Label {
  run(name) { return name; }
}
new Label().run('k');
new Cart().run([1, 2]);
""",
}


@pytest.mark.parametrize("version", [*VERSIONS, "node"])
def test_each_function_of_a_name_is_counted_and_asked_by_the_names_that_it_has(user: User, version: str) -> None:
    file = "several.js" if version == "node" else "several.py"
    user.file(file, SEVERAL[file])
    command = "node" if version == "node" else INTERPRETERS[version]
    claim = "items === name" if version == "node" else "items is name"
    report = user.json("probe", "run", "--eval", "items", "--expect", claim, "--", command, file)
    (place,) = report["places"]
    spots = [place["actual"], *place["also"]]
    assert [(each["line"], each["symbol"]) for each in spots] == [(4, "Cart.run"), (8, "Label.run")]
    assert place["count"] == 2
    assert place["gathered"][0]["values"] == ["'all'", "[1, 2]"]
    (judged,) = place["claims"]
    assert (judged["violated"], judged["errors"], judged["error_hit"]) == (1, 1, 2)
    assert {"name": "'k'"}.items() <= {each["name"]: each["value"] for each in judged["counter"]["locals"]}.items()
    text = user.ok("probe", "run", "--eval", "items", "--", command, file)
    assert text.startswith(f"run (at {file}:4, {file}:8) reached 2 times\n"), text
    assert "Label.run" in user.ok("hits", f"{file}:8") and "Cart.run" in user.ok("hits", f"{file}:4")


@pytest.mark.parametrize("version", VERSIONS)
def test_what_asks_for_the_locals_is_told_those_of_the_place(user: User, version: str) -> None:
    user.file("own.py", "def add(one, two):\n    both = one + two\n    return both\n\nadd(1, 2)\nadd('a', 3 * 'b')\n")
    asked = ("--eval", "sorted(locals())", "--eval", "eval('one')", "--eval", "[two for _ in dir()]")
    report = user.json(
        "probe", "own.py:3", *asked, "--expect", "vars()['both'] == 3", "--", INTERPRETERS[version], "own.py"
    )
    (place,) = report["places"]
    every, one, two = (each["values"] for each in place["gathered"])
    assert every == ["['both', 'one', 'two']"]
    assert (one, two) == (["1", "'a'"], ["[2, 2, 2]", "['bbb', 'bbb', 'bbb']"])
    assert (place["claims"][0]["held"], place["claims"][0]["violated"]) == (1, 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_statement_of_several_lines_is_counted_once_each_time(user: User, version: str) -> None:
    user.file("layout.py", LAYOUT)
    lines = {mark: LAYOUT[: LAYOUT.index(f"# @{mark}")].count("\n") + 1 for mark in PASSES}
    words = [f"layout.py:{line}" for line in lines.values()]
    report = user.json("probe", *words, "--eval", "1", "--python", INTERPRETERS[version])
    assert {mark: each["count"] for mark, each in zip(lines, report["places"], strict=True)} == PASSES


@pytest.mark.parametrize("version", VERSIONS)
def test_a_claim_that_is_neither_true_nor_false_is_an_error_of_the_claim_alone(user: User, version: str) -> None:
    program = """\
class Array:
    def __bool__(self):
        raise ValueError("neither")

def f(n):
    found = Array()
    return n

for n in range(300):
    f(n)
"""
    user.file("arrays.py", program)
    asked = ("--eval", "n", "--expect", "found", "--expect", "n < 280")
    report = user.json("probe", "arrays.py:7", *asked, "--python", INTERPRETERS[version], "--", "python", "arrays.py")
    assert report["end"]["exit_code"] == 0, "the program never sees it"
    (place,) = report["places"]
    found, small = place["claims"]
    assert (place["count"], found.get("held", 0), found["errors"], found["error_hit"]) == (300, 0, 300, 1)
    assert (small["held"], small["violated"], small["counter"]["hit"]) == (280, 20, 281)
    (number,) = place["gathered"]
    assert (number["least"], number["most"], number["distinct"], number["more"]) == ("0", "299", 256, True)


def test_the_text_says_each_verdict_in_a_line(user: User) -> None:
    user.file("prices.py", PRICES)
    text = user.ok("probe", "prices.py:4", "--eval", "price", "--expect", "price >= 0", "--expect", "len(seen) < 500")
    rows = text.splitlines()
    error = "TypeError: '>=' not supported between instances of 'str' and 'int', at hit 402"
    assert rows[:4] == [
        "prices.py:4 reached 403 times",
        "  price: 103 values, -3 to 99, and 1 str",
        f"  price >= 0: violated 1 of 403, first at hit 403: price=-3, error 1 ({error})",
        "  len(seen) < 500: held 403 times",
    ]
    assert "> 4      seen.append(price)" in rows
    assert rows[-1] == "recorded: values only (--hold keeps it live)"
    claimed = user.ok("probe", "prices.py:4", "--expect", "len(seen) < 500").splitlines()
    assert claimed[-1] == "not recorded: counted (--hold keeps it live)"
    assert user.says("hits", "--run", "probe-prices").out.startswith("no hits in r"), "and that is so"
    user.json("probe", "prices.py:4", "--expect", "price != '12.50'", "--hold")
    assert user.json("eval", "price")["values"][0]["value"] == "'12.50'", "held at the first counter-example"
    user.ok("stop")
    said = user.fails("probe", "prices.py:4", "--expect", "price >", code=2, error="usage")
    assert "no expression of Python" in said


def test_claims_are_checked_at_stops_where_nothing_can_be_recorded(user: User) -> None:
    user.file("prices.py", PRICES.partition("threads =")[0] + "work([1, 2, -3])\n")
    report = user.json(
        "probe", "prices.py:4", "--eval", "price", "--expect", "price > 0", "--hold", "--", "python3", "-I", "prices.py"
    )
    assert report["held"]["again"] is True
    assert user.json("eval", "price")["values"][0]["value"] == "-3"
    user.ok("stop")
    (claim,) = report["places"][0]["claims"]
    assert (claim["held"], claim["violated"], claim["counter"]["hit"]) == (2, 1, 3)
    assert report["notes"][0] == "python -I keeps the recorder out (isolated mode)"
    assert report["notes"][1].startswith("each hit was a stop of debugpy")


ONE_LINE = """\
def f(x): return x + 1
class A:
    def m(self, x): y = x + 1; return y
a = A()
for i in range(5):
    f(i)
    a.m(i)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_every_call_of_a_function_on_one_line_counts(user: User, version: str) -> None:
    user.file("one.py", ONE_LINE)
    words = ("probe", "one.py:1", "one.py:3", "--expect", "x < 3", "--", INTERPRETERS[version], "one.py")
    places = user.json(*words)["places"]
    told = [(each["count"], each["claims"][0]["held"], each["claims"][0]["violated"]) for each in places]
    assert told == [(5, 3, 2), (5, 3, 2)], places


CLASS_BODY = """\
def rate():
    return 3
limit: int = rate()
class Order:
    net: int = rate()
    gross = net * 2

    def total(self) -> int:
        return self.gross
print(Order().total())
"""


@pytest.mark.parametrize("version", [*VERSIONS, *(["3.14"] if "3.14" in INTERPRETERS else [])])
def test_statements_in_the_body_of_a_class_and_beside_annotations_are_reached(user: User, version: str) -> None:
    user.file("order.py", CLASS_BODY)
    lines = (3, 5, 6, 8, 9)
    words = (
        "probe",
        *(f"order.py:{line}" for line in lines),
        "--expect",
        "rate()",
        "--",
        INTERPRETERS[version],
        "order.py",
    )
    places = user.json(*words)["places"]
    told = [(each["actual"]["line"], each["count"], each["claims"][0]["held"]) for each in places]
    assert told == [(line, 1, 1) for line in lines]
