"""The record, as a user meets it: everything seen can be asked again, in this run, after it died, and against another run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stillframe.adapters.finding import find, tools_directory
from stillframe.adapters.ruby import RUBY as RUBY_TOOL
from stillframe.record.schema import PAGE_BYTES

from ..interpreters import INTERPRETERS
from .conftest import CLIENT, User, eventually, gone

pytestmark = pytest.mark.own_daemon

PYTHON = """\
class Cart:
    def __init__(self, n):
        self.items, self.note, self.last = [{"sku": "a", "qty": n}], "a note " * 40, n

    def total(self, k):
        out = 0
        for item in self.items:
            out += item["qty"] * k
        return out


password = "tiger" + "99"
for i in range(6):
    print("total", Cart(i).total(2))
"""
NODE = """\
class Cart {
  constructor(n) {
    this.items = [{ sku: 'a', qty: n }]; this.note = 'a note '.repeat(40); this.last = n;
  }
  total(k) {
    let out = 0;
    for (const item of this.items) {
      out += item.qty * k;
    }
    return out;
  }
}
const password = 'tiger' + '99';
for (let i = 0; i < 6; i++) {
  console.log('total', new Cart(i).total(2));
}
"""


NATIVE = """\
#include <stdio.h>
struct item { int qty; };
static int total(struct item item, int k) {
  int out = item.qty * k;
  return out;
}
int main(void) {
  for (int i = 0; i < 6; i++) {
    struct item item = {i};
    printf("%d\\n", total(item, 2));
  }
}
"""
GO = """\
package main

import "fmt"

type item struct{ qty int }

func total(it item, k int) int {
	out := it.qty * k
	return out
}

func main() {
	for i := 0; i < 6; i++ {
		fmt.Println(total(item{i}, 2))
	}
}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text", "line", "path", "function", "tool"),
    [("shop.c", NATIVE, 5, "item.qty", "total", "gdb"), ("shop.go", GO, 9, "it.qty", "main.total", "dlv")],
)
def test_runs_of_compiled_programs_are_recorded_and_asked_the_same_way(
    user: User, name: str, text: str, line: int, path: str, function: str, tool: str
) -> None:
    if not (shutil.which(tool) or any(tools_directory(os.environ).rglob(tool))):
        pytest.skip(f"{tool} is not installed")
    user.file(name, text)
    run_through(user, f"{name}:{line}", 4, name)
    found = user.json("hits", f"{name}:{line}", "--where", f"{path} > 1 and out >= 4")
    assert [each["hit"] for each in found["hits"]] == ["h3", "h4"]
    assert {each["function"] for each in found["hits"]} == {function}
    assert user.ok("hits", "--count-by", "k") == "2 4\n"
    crossed = user.json("cross", "total")
    assert (crossed["symbol"], crossed["total"], "notes" in crossed) == (function, 4, False)
    assert [each["line"] for each in crossed["source"] if each.get("here")] == [line]
    (first,) = user.json("disasm", crossed["disassembly"][0].partition(" ")[0], "--count", "1")["instructions"]
    assert (first["line"], first.get("here")) == (line - 2, None), "from the first instruction of the function on"
    item = path.partition(".")[0]
    changed = {each["name"] for each in user.json("hit-diff", "h2", "h4")["differences"]}
    assert changed == {"out", item}
    assert "0 .. 6 over 4 hits" in user.ok("hit-trend", f"{name}:{line}", "out")
    stops = user.json("events", "--kind", "stop")["events"]
    assert [(each["hit"], each["text"]) for each in stops] == [
        (f"h{number}", f"breakpoint at {name}:{line} in {function}") for number in (1, 2, 3, 4)
    ]
    user.ok("save", "one")
    user.ok("export", "one.jsonl")
    if tool == "gdb":  # which runs whatever it is given as an expression, and a name in an import may be anything
        lines = (user.here / "one.jsonl").read_text().splitlines(keepends=True)
        evil = json.dumps(f'$_shell("touch {user.here}/ran").total')
        user.file("forged.jsonl", sealed(each.replace('"symbol":"total"', f'"symbol":{evil}') for each in lines))
        user.ok("import", "forged.jsonl", "--name", "forged")
        assert "no disassembly: " in user.ok("cross", "total", "--run", "forged", "--allow", "inspect")
        assert not (user.here / "ran").exists()
    user.ok("stop")
    user.file(name, text.replace("* k", "* k + 1"))
    run_through(user, f"{name}:{line}", 2, name)
    user.ok("stop")
    assert "post mortem" in user.ok("locals")
    (different,) = user.json("diff", "one")["different"]
    assert (different["hits"], different["first"]) == ([4, 2], 1)
    assert [(each["name"], each["old"], each["new"]) for each in different["differences"]] == [("out", "0", "1")]
    user.ok("import", "one.jsonl", "--name", "again")
    for run in ("one", "again"):
        user.ok("replay", run)
        stop = user.json("continue", "--count", "2")
        assert user.json("state")["locals"] == stop["locals"]
        shown = {each["name"]: each["value"] for each in user.json("locals")["values"]}
        assert (shown["k"], shown["out"]) == ("2", "4")
        assert user.json("stack")["frames"][0]["function"] == function
        (here,) = (each["text"] for each in user.json("source")["lines"] if each.get("here"))
        assert here.strip() == "return out" + ";" * name.endswith(".c"), "as it was then"
        assert "is not held at an exception" in user.fails("exception", code=1, error="not_found")
        user.ok("stop")


CPP = """\
namespace shop {
template <typename T> struct Cart {
  T sum = 0;
  void add(T price) {
    sum += price;
  }
};
}
int main() { shop::Cart<int> cart; cart.add(2); return cart.sum - 2; }
"""
RUST = """\
struct Cart { sum: i64 }
impl Cart {
    fn add(&mut self, price: i64) {
        self.sum += price;
    }
}
fn main() { let mut cart = Cart { sum: 0 }; cart.add(2); println!("{}", cart.sum); }
"""


GO_METHOD = """\
package main

type cart struct{ sum int }

func (c *cart) add(price int) {
	c.sum += price
}

func main() {
	c := &cart{}
	c.add(2)
	c.sum--
}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text", "line", "function", "adapter", "needed"),
    [
        ("shop.cpp", CPP, 5, "shop::Cart<int>::add", "gdb", "c++"),
        ("shop.rs", RUST, 4, "shop::Cart::add", "gdb", "rustc"),
        ("shop.cpp", CPP, 5, "shop::Cart<int>::add", "lldb", "c++"),
        ("shop.rs", RUST, 4, "shop::Cart::add", "lldb", "rustc"),
        ("shop.go", GO_METHOD, 6, "main.(*cart).add", "go", "go"),
    ],
)
def test_functions_are_recorded_by_their_plain_names_and_told_with_their_instructions(
    user: User, name: str, text: str, line: int, function: str, adapter: str, needed: str
) -> None:
    tool = {"gdb": "gdb", "lldb": "lldb-dap*", "go": "dlv"}[adapter]
    folders = [*map(Path, os.environ["PATH"].split(":")), *tools_directory(os.environ).glob("*/bin")]
    if not shutil.which(needed) or not any(any(each.glob(tool)) for each in folders):
        pytest.skip(f"{tool} or {needed} is not installed")
    user.file(name, text)
    user.ok("launch", "--adapter", adapter, name, "--break", f"{name}:{line}")
    assert [each["function"] for each in user.json("hits", f"{name}:{line}")["hits"]] == [function]
    crossed = user.json("cross", function)
    assert (crossed["symbol"], crossed["total"]) == (function, 1)
    assert [each["line"] for each in crossed["source"] if each.get("here")] == [line]
    written = function.replace("<int>", "").replace("(*cart)", "cart")
    assert f"is a place in {function} (try: dbg cross " in user.fails("cross", f"{name}:{line}", code=2, error="usage")
    assert user.json("hits", written)["total"] == user.json("cross", written)["total"] == 1, "as people write it"
    here = user.json("disasm", "--count", "1")["instructions"][0]
    addresses = [each.partition(" ")[0] for each in crossed["disassembly"]]
    if adapter == "go":  # Delve knows no method by its name
        assert addresses[0] == here["address"] and "from where f0 goes on" in crossed["notes"][0]
        return
    first = user.json("disasm", addresses[0], "--count", "1")["instructions"][0]
    assert int(first["address"], 0) < int(here["address"], 0), "from its first instruction on"
    assert (first["symbol"], first["line"], "notes" in crossed) == (here["symbol"], line - 1, False)


PRINTED = """\
#include <map>
#include <string>
#include <vector>
namespace {
struct Item { std::string sku; int qty; };
template <typename T> struct Cart {
  std::vector<T> items;
  std::map<std::string, int> left;
  int add(T item) {
    items.push_back(item);
    left[item.sku] = 9 - item.qty;
    return item.qty;
  }
};
}
int main() { Cart<Item> cart; for (int i = 0; i < 3; i++) cart.add({"s" + std::to_string(i), i}); }
"""


@pytest.mark.long
def test_what_gdbs_printers_write_of_collections_is_asked_about(user: User) -> None:
    if not shutil.which("c++") or not (shutil.which("gdb") or any(tools_directory(os.environ).rglob("gdb"))):
        pytest.skip("gdb or c++ is not installed")
    user.file("cart.cpp", PRINTED)
    run_through(user, "cart.cpp:12", 3, "cart.cpp")
    assert user.ok("hits", "Cart::add", "--count-by", "len(this.items)") == "1 1\n2 1\n3 1\n"
    found = user.json("hits", "--where", "this.items[0].sku == 's0' and this.left.s0 == 9")["hits"]
    assert [each["hit"] for each in found] == ["h1", "h2"], "of the third, too little was shown"
    assert "qty = 0" in user.ok("expand", "item", "--hit", "h1")


INHERITED = """\
class Shape {
  constructor(n) {
    this.n = n;
  }
  area(k) {
    return this.n * k;
  }
  static of(n) {
    return new this(n);
  }
  get size() {
    return this.n;
  }
}
class Square extends Shape {
  area(k) {
    return super.area(k) * 2;
  }
}
class Dot extends Shape {}
function Old(n) { this.n = n; }
Old.prototype.grow = function (by) {
  return this.n + by;
};
class Older extends Old {}
for (const made of [Shape.of(1), Square.of(2), Dot.of(3)]) {
  made.area(2);
  made.size;
}
new Older(1).grow(2);
"""


def test_a_method_has_one_name_whichever_class_it_is_called_on(user: User) -> None:
    """Else one and the same line would be several places, and a run before an edit would not compare with one after it."""
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    user.file("shapes.js", INHERITED)
    words = [word for line in (3, 6, 9, 12, 17, 23) for word in ("--break", f"shapes.js:{line}")]
    user.ok("launch", "shapes.js", *words)
    while "exited" not in user.ok("continue"):
        pass
    named = {
        (int(each["place"].partition(":")[2]), each["function"]) for each in user.json("hits", "--top", "50")["hits"]
    }
    assert named == {
        (3, "Shape.Shape"),
        (6, "Shape.area"),
        (9, "Shape.of"),
        (12, "Shape.get size"),
        (17, "Square.area"),
        (23, "Old.grow"),
    }
    assert user.json("cross", "Shape.area")["total"] == user.json("hits", "Shape.size")["total"] == 3
    assert user.json("hits", "--run", "shapes", "--top", "50")["total"] == 14


RUBY = """\
module Shop
  class Item
    def initialize(sku, qty)
      @sku, @qty = sku, qty
    end
    def total(k)
      out = @qty * k
      out
    end
    def self.make(n)
      it = new("s#{n}", n)
      it
    end
  end
  class Gift < Item
  end
end
4.times do |i|
  item = (i.even? ? Shop::Item : Shop::Gift).make(i)
  order = {qty: i, "note" => "n#{i}", first: item}
  puts item.total(2)
end
"""


@pytest.mark.long
def test_runs_of_ruby_are_recorded_and_asked_the_same_way(user: User) -> None:
    found = find(RUBY_TOOL.needs[0], os.environ, ".")
    if not found.path or found.problem:
        pytest.skip("rdbg is not installed")
    user.file("shop.rb", RUBY)
    user.ok("launch", "shop.rb", "--break", "Shop::Item.make", "--break", "shop.rb:8", "--break", "shop.rb:21")
    while "exited" not in user.ok("continue"):
        pass
    assert user.json("hits", "Shop::Item.make")["total"] == 4, "also where a class below it has it"
    assert user.json("cross", "Shop::Item#total")["total"] == 4

    def told(condition: str) -> list[str]:
        hits = user.json("hits", "shop.rb:21", "--where", condition)["hits"]
        return [value["value"] for each in hits for value in each["locals"] if value["name"] == "i"]

    assert told("order.qty >= 2") == told("item.qty > 1") == told("order.first.sku in ('s2', 's3')") == ["2", "3"]
    assert told("order.note == 'n1' and type(item) == 'Shop::Gift'") == ["1"]
    assert user.ok("hits", "shop.rb:21", "--count-by", "item.qty") == "0 1\n1 1\n2 1\n3 1\n"
    assert "0 .. 3 over 4 hits" in user.ok("hit-trend", "shop.rb:21", "order.first.qty")
    user.ok("save", "one")
    user.file("shop.rb", RUBY.replace("@qty * k", "@qty * k + 1"))
    user.ok("launch", "shop.rb", "--break", "shop.rb:8")
    user.ok("stop")
    (different,) = user.json("diff", "one")["different"]
    assert [(each["name"], each["old"], each["new"]) for each in different["differences"]] == [("out", "0", "1")]
    user.ok("export", "one.jsonl", "--run", "one")
    user.ok("import", "one.jsonl", "--name", "again")
    user.ok("replay", "again")
    assert user.json("continue")["frame"]["function"] == "block in <main>"
    assert user.ok("eval", "item.qty") == "item.qty = 0\n"


QUALIFIED = """\
class Shop:
    class Cart:
        def add(self, n):
            def inner(k):
                return k
            return [inner(each) for each in range(n)]

        @classmethod
        def of(cls):
            made = cls()
            return made


class Small(Shop.Cart):
    pass


Shop.Cart.of().add(1)
Small.of().add(1)
"""


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.10", "3.11", "3.13") if each in INTERPRETERS])
def test_functions_of_python_have_their_qualified_names_in_every_version(user: User, version: str) -> None:
    user.file("app.py", QUALIFIED)
    words = [word for line in (4, 5, 11) for word in ("--break", f"app.py:{line}")]
    user.ok("launch", "app.py", *words, "--python", INTERPRETERS[version])
    while "exited" not in user.ok("continue"):
        pass
    named = {(each["place"], each["function"]) for each in user.json("hits")["hits"]}
    assert named == {
        ("app.py:4", "Shop.Cart.add"),
        ("app.py:5", "Shop.Cart.add.<locals>.inner"),
        ("app.py:11", "Shop.Cart.of"),
    }
    assert user.json("cross", "Shop.Cart.of")["total"] == 2


@pytest.fixture(params=["shop.py", "shop.js"])
def program(request: pytest.FixtureRequest, user: User) -> str:
    name: str = request.param
    if name.endswith(".js") and not shutil.which("node"):
        pytest.skip("node is not installed")
    user.file(name, PYTHON if name.endswith(".py") else NODE)
    return name


def run_through(user: User, place: str, stops: int, program: str) -> None:
    user.ok("launch", program, "--break", place)
    for _ in range(stops - 1):
        user.ok("continue")


def daemon_pid(user: User) -> int:
    return int(user.ok("daemon", "status").split("pid ")[1].split(",")[0].split()[0])


def test_hits_are_listed_counted_filtered_and_followed_while_the_program_is_held_and_after(
    user: User, program: str
) -> None:
    place = f"{program}:8"
    run_through(user, place, 4, program)
    assert user.json("hits")["total"] == 4
    user.ok("next")
    found = user.json("hits", place)
    assert [each["hit"] for each in found["hits"]] == ["h1", "h2", "h3", "h4"]
    assert user.ok("hits", place, "--start", "9") == "nothing from 9 on: there are 4\n"
    assert user.ok("history", "--start", "9") == "nothing from 9 on: there are 1\n"
    assert {each["function"] for each in found["hits"]} == {"Cart.total"}
    assert user.json("hits", "Cart.total")["hits"][4]["step"] is True
    assert user.ok("hits", place, "--count-by", "item.qty").split("\n")[:4] == ["0 1", "1 1", "2 1", "3 1"]
    assert user.ok("hits", place, "--count-by", "item.qty", "--top", "2").startswith("0 1\n1 1\n")
    assert len(user.json("hits", place, "--count-by", "item.qty", "--top", "2")["groups"]) == 2
    assert user.ok("hits", "--count-by", "k", "--no-steps") == "2 4\n"
    for words in (("--where", "item.qty.more == 1"), ("--count-by", "item.nope")):
        assert "recorded in these hits" in user.fails("hits", place, *words, code=1, error="not_found")
    assert "item has " in user.fails("hit-trend", place, "item.nope", code=1, error="not_found")
    where = user.json("hits", place, "--where", "item.qty >= 2 and k == 2")
    assert [each["hit"] for each in where["hits"]] == ["h3", "h4"]
    # What is inside a value is recorded where its text does not tell it, and what is not, is said.
    cart = "self" if program.endswith(".py") else "this"
    assert [each["hit"] for each in user.json("hits", place, "--where", f"{cart}.last > 1")["hits"]] == ["h3", "h4"]
    assert "deeper than what was recorded" in user.ok("hits", place, "--where", f"{cart}.note == 'a note'")
    assert "0 .. 3 over 4 hits" in user.ok("hit-trend", place, "item.qty", "--plot", "t.svg")
    assert (user.here / "t.svg").read_text().startswith("<svg")
    spark = user.json("hit-trend", place, "item.qty")["spark"]
    assert len(spark) == 4 and list(spark) == sorted(set(spark)) and spark in user.ok("hit-trend", place, "item.qty")
    user.ok("hit-trend", place, "item.qty", "--plot", "t.svg")
    assert "is no drawing" in user.fails("hit-trend", place, "item.qty", "--plot", program, code=2, error="usage")
    changed = user.json("hit-diff", "h1", "h4")["differences"]
    assert "item" in {each["name"] for each in changed} and "k" not in {each["name"] for each in changed}
    assert "there are: " in user.fails("hits", f"{program}:3", code=1, error="not_found")
    assert "recorded there: " in user.fails("hits", place, "--where", "nope > 1", code=1, error="not_found")
    assert "ends too soon" in user.fails("hits", place, "--where", "k >", code=2, error="usage")
    crossed = user.json("cross", "Cart.total")
    assert (crossed["total"], crossed["file"]) == (5, program)
    assert any("total" in each["text"] for each in crossed["source"])
    user.ok("stop")
    assert user.ok("history", "r1", "--start", "1").endswith(" shown, from 1\n")
    told = user.json("history", "r1")
    done = [(each["op"], each["outcome"]) for each in told["operations"] if each["seconds"] > 0]
    assert done[:2] == [("launch", "stopped"), ("continue", "stopped")] and done[-1] == ("stop", "ok")
    assert [(each["breakpoint"], each["state"], each["hits"]) for each in told["breakpoints"]] == [("b1", "bound", 4)]
    assert user.json("hits")["total"] == 5
    assert "post mortem, from the record: r1.h5" in user.ok("locals")
    assert user.json("locals", "--frame", "f0", "--thread", "t1") == user.json("locals")
    for other in (("locals", "--frame", "f1"), ("expand", cart, "--frame", "f1"), ("stack", "--thread", "t2")):
        user.fails(*other, code=1, error="not_found")
    kept = {each["name"]: each for each in user.json("locals", "--hit", "h4")["values"]}
    assert [each["value"] for each in kept[cart]["children"] if each["name"] == "last"] == ["3"]
    assert "Cart.total" in user.ok("stack", "--hit", "h2")
    parts = user.json("expand", cart, "--hit", "h4")
    assert ("last", "3") in [(each["name"], each["value"]) for each in parts["values"]]
    assert "r1.h4" in parts["notes"][0]
    assert "qty = 3" in user.ok("expand", "item", "--hit", "h4")
    assert "nothing more that was recorded: 2" in user.fails("expand", "k", code=1, error="not_found")
    missed = user.fails("expand", "v1", code=1, error="not_found")
    assert "handles went with the program" in missed and cart in missed.split("there are: ")[1]
    assert "recorded there" in user.fails("expand", f"{cart}.nope", code=1, error="not_found")


@pytest.mark.long
def test_a_run_before_an_edit_compares_with_a_run_after_it_and_both_can_be_gone_through_again(
    user: User, program: str
) -> None:
    run_through(user, f"{program}:8", 6, program)
    user.ok("continue")
    user.ok("save", "before")
    user.fails("save", program.partition(".")[0], code=2, error="usage")
    comment = "# a line more\n" if program.endswith(".py") else "// a line more\n"
    text = (user.here / program).read_text()
    user.file(program, comment * 3 + text.replace("out = 0", "out = 0.5"))
    run_through(user, f"{program}:11", 3, program)
    user.ok("next")
    user.ok("stop")
    user.ok("save", "after")
    found = user.json("diff", "before", "after")
    assert (found["both"], found.get("only_first")) == (1, None)
    assert [each["count"] for each in found["only_second"]] == [1], "the place of the step"
    (different,) = found["different"]
    assert (different["place"], different["was"]) == (f"{program}:11", f"{program}:8")
    assert (different["hits"], different["first"]) == ([6, 3], 1)
    assert {each["name"]: (each["old"], each["new"]) for each in different["differences"]} == {"out": ("0", "0.5")}
    assert "note: an edit has moved the line: it was 8, and is 11\n" in user.ok("hit-diff", "r1.h1", "r2.h1")
    assert "note: they are hits of different places\n" in user.ok("hit-diff", "r1.h1", "r2.h4")
    assert user.says("diff", "before", "before").code == 2
    assert len(user.json("diff", "before", "after", "--top", "0")["different"]) == 1, "or there would seem to be none"
    missed = user.fails("hits", f"{program}:11", "--run", "r1", code=1, error="not_found")
    assert "was there" in missed and f"(try: dbg hits {program}:11 --run r2)" in missed
    for words in (("save", "r7"), ("save", "h7"), ("replay", ""), ("events", "--since", "99999")):
        user.fails(*words, code=2, error="usage")
    assert user.json("events", "--since", "1", "--count", "0")["cursor"] == "1"
    assert "stdout" not in user.json("output", "--session", "before", "--bytes", "0")

    assert f"at {program}:8 in Cart.total" in user.ok("replay", "before")
    assert "out=0" in user.ok("continue") and "3 of 6" in user.ok("next")
    assert user.ok("eval", "item.qty") == "item.qty = 2\n"
    assert "qty = 2\n" in user.ok("expand", "item"), "though its text shows all of it"
    assert "2 of 6" in user.ok("step-back")
    other = user.json("diff", "before")["second"]
    assert other["saved"] == ["after"], "not with itself, though it is the run that the current session goes through"
    assert "not recorded here" in user.says("eval", "nothing").out + user.says("eval", "nothing").err
    assert "(try: dbg replay r1)" in user.fails("restart", code=3, error="wrong_state")
    assert "(try: dbg capabilities)" in user.fails("memory", "0", code=1, error="unsupported")
    user.ok("capabilities")
    again = user.json("continue", "--count", "3")
    assert "5 of 6" in again["notes"][0] and "total 6\n" in again["output"], "what had been printed by then"
    assert "total 0\n" in user.json("output")["stdout"]
    for ending in ("threads", "stop"):  # while it is gone through, and after
        user.ok(ending)
        assert user.json("hits")["total"] == 6, "of the run that is gone through, not of the newest"
    assert user.json("history")["total"] == 2, "a replay is no run"
    user.ok("replay", "before")
    assert f"b1 failed at {program}:3: the recording has no hit there" in user.ok("break", f"{program}:3")
    over = user.ok("continue")
    assert "(try: dbg replay r1)" in user.fails("next", code=3, error="wrong_state")
    assert "exited 0: the recording is over (its program exited 0)" in over and "child processes" not in over


def test_a_session_is_asked_about_itself_whatever_else_has_its_name(user: User) -> None:
    user.file("app.py", "for i in range(3):\n    x = i\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    user.ok("export", "one.jsonl")
    user.ok("stop")
    user.ok("save", "kept")
    user.ok("launch", "app.py", "--break", "app.py:2")
    user.ok("continue", "--count", "2")
    user.ok("import", "one.jsonl")  # the newest run of that name, with a single hit
    for name in ("app", "r1", "h1", "a.1"):
        user.fails("import", "one.jsonl", "--name", name, code=2, error="usage")
    assert user.json("hits")["total"] == user.json("hits", "--session", "app")["total"] == 3
    user.ok("stop")
    assert "r2.h3" in user.ok("locals"), "its last stop, and not the import's"
    user.ok("launch", "app.py", "--name", "kept", "--break", "app.py:2")
    user.ok("next")
    assert user.json("hits")["run"] == user.json("hits", "--session", "kept")["run"] == "r4"
    assert user.json("hits", "--run", "kept")["run"] == "r1", "by the word that it was saved under"
    user.ok("launch", "app.py")
    assert "r5 (app) has no hits at all" in user.fails(
        "hits", "--where", "x > 1", "--run", "r5", code=1, error="not_found"
    )


def test_what_ran_since_a_session_ended_is_what_is_asked_about(user: User) -> None:
    user.file("app.py", "x = 1\nprint(x)\n")
    user.ok("launch", "app.py", "--break", "app.py:2")
    asked = ("probe", "app.py:1", "--eval", "'probed'", "--", "python", "app.py")
    user.ok(*asked)
    assert user.json("hits")["run"] == "r1", "a session that lives is nearer"
    user.ok("stop")
    assert user.json("hits")["run"] == "r1"
    user.ok(*asked)
    assert user.json("hits")["run"] == "r3"
    assert "r3.h1" in user.ok("locals", "--hit", "h1")
    assert "r1.h1" in user.ok("locals"), "the last stop of the session itself"
    assert user.json("hits", "--session", "app")["run"] == "r1"
    assert user.json("history")["runs"][0]["command"] == ["python", "app.py"], "as it was asked for"


def test_a_run_from_below_the_project_has_its_places_its_error_and_the_fates_of_its_breakpoints(user: User) -> None:
    user.file("stillframe.toml", "")
    user.file("app.py", "import late\ndef price(n):\n    return 10 / n\nprice(late.n)\n")
    user.file("late.py", "n = 5\nn = 0\n")
    below = User(user.here / "sub")
    below.here.mkdir()
    began = time.time()
    below.ok("launch", "../app.py", "--break", "../app.py:1")
    assert below.ok("break", "../late.py:2").startswith("b2 pending")
    assert below.ok("break", "../app.py:900").startswith("b3 failed")
    below.ok("unbreak", "b3")
    assert "b2 hit 1" in below.ok("continue")
    below.ok("continue")
    error = below.json("exception")
    below.ok("stop")
    told = user.json("hits")["hits"]
    assert [each["place"] for each in told] == ["app.py:1", "late.py:2", "app.py:3"], "as they are called from the root"
    assert [each.get("exception") for each in told] == [None, None, "ZeroDivisionError: division by zero"]
    assert began <= told[0]["time"] <= told[1]["time"] <= told[2]["time"] <= time.time()
    assert below.json("hits", "../app.py:3")["hits"][0]["place"] == "../app.py:3"
    fates = ["b1 bound", "b2 pending", "b3 failed", "b3 removed", "b2 bound"]
    seen = [each["text"] for each in user.json("events", "--kind", "breakpoint", "--since", "0")["events"]]
    assert [each for at, each in enumerate(seen) if each not in seen[:at]] == fates
    fate = {each["breakpoint"]: each for each in user.json("history", "r1")["breakpoints"]}
    assert {id: (each["state"], each["hits"]) for id, each in fate.items() if id != "b3"} == {
        "b1": ("bound", 1),
        "b2": ("bound", 1),
    }
    assert (fate["b3"]["state"], fate["b3"]["message"]) == ("removed", "app.py has 4 lines")
    user.ok("launch", "app.py", "--break", "app.py:1")
    user.ok("continue")
    user.ok("stop")
    compared = user.json("diff", "r1", "r2")
    assert (compared["both"], [each["value"] for each in compared["only_first"]]) == (2, ["late.py:2 in <module>"])
    user.ok("replay", "r1")
    user.ok("continue", "--count", "2")
    again = user.json("exception")
    assert (again["type"], again["message"]) == (error["type"], error["message"])
    user.ok("stop")
    user.ok("export", "run.html", "--run", "r1")
    assert "division by zero" in (user.here / "run.html").read_text()
    user.ok("export", "run.jsonl", "--run", "r1")
    kept = [json.loads(each) for each in (user.here / "run.jsonl").read_text().splitlines()]
    assert [each["module"] for each in kept if each["kind"] == "hit"] == ["__main__", "late", "__main__"]
    hashed = {each["file"]: each["digest"] for each in kept if each["kind"] == "source"}
    for name in ("app.py", "late.py"):
        text = (user.here / name).read_bytes().removesuffix(b"\n")
        assert hashed[name] == hashlib.blake2b(text, digest_size=16).hexdigest()
    missed = user.fails("hits", "--run", "nope", code=1, error="not_found")
    assert "no run nope is recorded here; there are: app (r2)" in missed


def test_the_source_of_a_function_is_shown_as_it_is_at_a_stop(user: User) -> None:
    user.file("app.py", "# one\n" * 7 + "def f(x):\n\ty = x\n\treturn y\nf(1)\n")
    stop = user.ok("launch", "app.py", "--break", "app.py:10").splitlines()
    user.ok("stop")
    crossed = user.ok("cross", "f").splitlines()
    shown = [each for each in stop if each.startswith(("  ", ">"))]
    assert len(shown) == 3 and "\\t" not in "".join(shown)
    assert [each for each in crossed if each in shown] == shown


def test_a_run_of_another_project_is_gone_through_with_its_files(user: User) -> None:
    they = User(user.here / "their")
    they.file("stillframe.toml", "")
    they.file("app.py", "x = 1\nprint(x)\n")
    they.ok("probe", "app.py:2", "--eval", "x", "--", "python", "app.py")
    shown = user.ok("replay", "r1").splitlines()
    assert shown[0].endswith("stopped: probe at their/app.py:2 in <module>")
    assert "> 2  print(x)" in shown
    assert "b1 bound at their/app.py:2" in user.ok("break", "their/app.py:2")
    assert user.ok("detach") == "replay-probe-app ended\n", "no program of a recording runs on"


def test_the_record_outlives_a_killed_daemon_and_says_what_it_is(user: User, program: str) -> None:
    run_through(user, f"{program}:8", 3, program)
    pid = daemon_pid(user)
    target = user.pid()
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: gone(target), "the program outlived its daemon")
    assert user.json("hits")["total"] == 3
    assert "lost with its daemon" in user.ok("history")
    assert "post mortem" in user.ok("locals")
    page = user.json("output")
    assert page["stdout"].startswith("total 0\n") and "post mortem" in page["notes"][0]


@pytest.mark.parametrize("named", [(), ("--session", "plain")])
def test_of_a_run_that_never_stopped_the_looking_verbs_say_so_after_its_daemon(
    user: User, named: tuple[str, ...]
) -> None:
    user.file("plain.py", "print(1)\n")
    user.ok("launch", "plain.py")
    user.ok("daemon", "stop")
    for verb in (("locals",), ("stack",), ("expand", "x")):
        assert "r1 (plain) was never stopped" in user.fails(*verb, *named, code=1, error="not_found")


def test_events_come_once_each_by_their_cursor_and_never_wait_behind_a_running_call(user: User) -> None:
    user.file("wait.py", "import time\nx = 1\nwhile True:\n    time.sleep(0.01)\n")
    user.ok("launch", "wait.py", "--break", "wait.py:2")
    first = user.json("events")
    assert [each["kind"] for each in first["events"]][:1] == ["start"] and "stop" in {
        each["kind"] for each in first["events"]
    }
    running = user.start("continue", "--timeout", "60")
    eventually(lambda: user.json("status")["state"] == "running", "it never ran")
    again = user.json("events", "--since", first["cursor"], "--kind", "stop", "--wait", "--timeout", "0.2")
    assert again["events"] == []
    waiting = user.start("events", "--json", "--since", first["cursor"], "--kind", "stop", "--wait", "--timeout", "60")
    user.ok("pause", "--timeout", "30")
    out, _ = waiting.communicate(timeout=60)
    assert b'"reason"' not in out and b'"hit":"h2"' in out
    running.communicate(timeout=60)
    user.fails("events", "--since", "soon", code=2, error="usage")


def sealed(lines: Iterable[str]) -> str:
    """An export with an end that fits the lines before its last one, whoever wrote them."""
    *body, _ = lines
    text = "".join(body)
    end = {"kind": "end", "lines": len(body), "digest": hashlib.sha256(text.encode()).hexdigest()}
    return f"{text}{json.dumps(end)}\n"


def without_texts(lines: Iterable[str], file: str) -> Iterator[str]:
    """An export whose hits are all in the second line of another file, of which it has no text."""
    for line in map(json.loads, lines):
        if line["kind"] == "source":
            continue
        if line["kind"] == "hit":
            line |= {"file": file, "line": 2, "source": 0}
            line["frames"] = [each | {"file": file, "line": 2} for each in line["frames"]]
        yield json.dumps(line) + "\n"


def everything_recorded() -> list[list[Any]]:
    """All runs of the record with what belongs to them, but not the calls that were made."""
    path = Path(os.environ["XDG_STATE_HOME"]) / "stillframe" / "record.sqlite"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as record:
        tables = ("run", "hit", "place", "source", "value", "cell", "saved")
        return [record.execute(f"SELECT * FROM {each}").fetchall() for each in tables]


def test_an_export_is_taken_in_elsewhere_whole_or_not_at_all(user: User, program: str, tmp_path: Path) -> None:
    run_through(user, f"{program}:8", 3, program)
    user.ok("export", "early.jsonl")
    user.ok("stop")
    user.ok("export", "run.jsonl")
    assert "is there already" in user.fails("export", "run.jsonl", code=2, error="usage")
    user.fails("export", "nowhere/run.jsonl", code=1, error="not_found")
    os.mkfifo(user.here / "pipe")
    assert "is no plain file" in user.fails("export", "pipe", "--force", code=2, error="usage")
    assert stat.S_ISFIFO((user.here / "pipe").stat().st_mode), "nothing but a plain file is replaced"
    (user.here / "link.jsonl").symlink_to("behind.jsonl")
    user.ok("export", "link.jsonl")
    assert (user.here / "link.jsonl").is_symlink() and (user.here / "behind.jsonl").is_file()
    assert oct((tmp_path / "run.jsonl").stat().st_mode & 0o777) == "0o600"
    there = User(tmp_path / "elsewhere")
    there.here.mkdir()
    (there.here / "pyproject.toml").touch()
    assert "imported 3 hits" in there.ok("import", "../run.jsonl", "--name", "theirs")
    assert there.ok("hits", "--run", "theirs", "--count-by", "item.qty") == "0 1\n1 1\n2 1\n"
    whole = (tmp_path / "run.jsonl").read_text()
    lines = whole.splitlines(keepends=True)
    bad = {
        "cut.jsonl": ("".join(lines[:-1]), "its end is missing"),
        "half.jsonl": (whole[: len(whole) // 2], "is no line of an export"),
        "changed.jsonl": (whole.replace('"t1"', '"t2"'), "was changed or cut"),
        "foreign.jsonl": ('{"a": 1}\n', "is no line of an export"),
        "empty.jsonl": ("", "is empty"),
        "escape.jsonl": (
            sealed(each.replace(f'"file":"{program}"', '"file":"../../etc/passwd"') for each in lines),
            "names a file outside its project: '../../etc/passwd'",
        ),
        "named.jsonl": (
            sealed(each.replace('"name":"shop"', '"name":"../../shop"') for each in lines),
            "has a name that no session has: '../../shop'",
        ),
        "endless.jsonl": (
            sealed(re.sub('"time":[0-9.e+]+', '"time":Infinity', each) for each in lines),
            "tells a time that there is not",
        ),
        "never.jsonl": (
            sealed(re.sub('"began":[0-9.e+]+', '"began":NaN', each) for each in lines),
            "tells a time that there is not",
        ),
        "ancient.jsonl": (
            sealed(re.sub('"began":[0-9.e+]+', '"began":-1e18', each) for each in lines),
            "tells a time that there is not",
        ),
        "far.jsonl": (
            sealed(each.replace('"first":1,', '"first":1000000000000000,') for each in lines),
            "begins at a line that no file has: 1000000000000000",
        ),
        "newer.jsonl": (
            sealed(each.replace('"format":1', '"format":9') for each in lines),
            "is of format 9, made by a newer Stillframe",
        ),
        "binary.jsonl": ("\x00\x01\x02", "is no line of an export"),
        "fate.jsonl": (
            sealed(each.replace('"requested":{', '"asked":{') for each in lines),
            "tells of what is no breakpoint: Object missing required field `requested`",
        ),
        "state.jsonl": (
            sealed(each.replace('"state":"bound"', f'"state":"{"b" * 9000}"') for each in lines),
            "tells of what is no breakpoint: Invalid enum value 'bbb",
        ),
    }
    before = everything_recorded()
    for name, (text, why) in bad.items():
        there.file(name, text)
        said = there.fails("import", name, code=2, error="usage")
        assert why in said and len(said) < 500, name
    assert everything_recorded() == before
    os.mkfifo(there.here / "pipe.jsonl")
    there.fails("import", "pipe.jsonl", code=2, error="usage")
    assert "is no plain file" in there.fails("import", ".", code=2, error="usage")
    there.fails("import", "absent.jsonl", code=1, error="not_found")
    assert there.json("history")["total"] == 1
    assert "was live when it was exported" in there.ok("import", "../early.jsonl")
    # The tool that an import says it was made by is shown as text.
    there.file("tool.jsonl", sealed(re.sub('"tool":"[^"]*"', r'"tool":"\\u001b]0;x\\u0007"', each) for each in lines))
    there.ok("import", "tool.jsonl", "--name", "tool")
    assert " shop, a recording of \\x1b]0;x\\x07 " in there.ok("replay", "tool")
    there.ok("stop")
    # A file of this machine that an import names and brings no text of is not shown as the import's.
    private = there.file("private", "what stands here\n" * 3)
    there.file("theirs.jsonl", sealed(without_texts(lines, str(private))))
    there.ok("import", "theirs.jsonl", "--name", "private")
    told = there.ok("replay", "private")
    assert f"stopped: breakpoint at {private.name}:2 in " in told
    said = [
        there.says(*each) for each in (("state",), ("frame", "f0"), ("stack",), ("source",), ("cross", "Cart.total"))
    ]
    said += [there.says("source", "private:2"), there.says("next")]
    assert "stands here" not in told + "".join(each.out + each.err for each in said)


@pytest.fixture
def rendered(user: User) -> Callable[[str], str]:
    """What a real browser makes of a page, as its text."""
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no browser is installed (./dev test installs chromium-headless-shell)")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={user.here}/profile", "--dump-dom")

    def dump(address: str) -> str:
        return subprocess.run(
            [browser, *flags, address], capture_output=True, text=True, timeout=100, check=True
        ).stdout

    return dump


def test_the_page_of_an_export_shows_everything_in_a_real_browser_and_runs_nothing_of_the_programs(
    user: User, rendered: Callable[[str], str]
) -> None:
    evil = "</script><script>document.title='run'</script><img src=x onerror=document.title='run'>"
    user.file("page.py", f"evil = {evil!r}\nfor i in range(3):\n    x = i * 7\nprint(evil)\n")
    user.ok("launch", "page.py", "--break", "page.py:3")
    user.ok("next", "--count", "4")
    user.ok("stop")
    user.ok("export", "page.html")
    shown = rendered((user.here / "page.html").as_uri() + "#h3")
    assert 'data-ready="5"' in shown and "<title>page - Stillframe</title>" in shown
    assert shown.count('<button data-index="') == 5 and "h3 " in shown.partition('id="view"')[2]
    for text in ("for i in range(3):", "&lt;/script&gt;", "Stack", "Locals"):
        assert text in shown.partition('id="view"')[2], text
    assert "http" not in (user.here / "page.html").read_text().replace("http-equiv", "")


def test_the_page_tells_the_hits_of_several_processes_apart_and_says_what_is_not_on_it(
    user: User, rendered: Callable[[str], str]
) -> None:
    user.file(
        "app.py",
        "import subprocess, sys\n"
        "def deep(n, turn):\n    if n:\n        return deep(n - 1, turn)\n    return turn\n"
        "if len(sys.argv) > 1:\n    deep(1, 'child')\nelse:\n"
        "    for turn in range(2):\n        deep(60, turn)\n        print('x' * 60_000)\n"
        "    subprocess.run([sys.executable, 'app.py', 'child'])\n"
        "    globals().update({f'v{n}': n for n in range(300)})\n    last = 1\n",
    )
    user.ok("launch", "app.py", "--break", "app.py:5", "--break", "app.py:14")
    while "exited" not in user.ok("continue"):
        pass
    assert "exported r1, r2 with 4 hits" in user.ok("export", "page.html")

    def view(hit: str) -> str:
        return rendered(f"{(user.here / 'page.html').as_uri()}#{hit}").partition('id="view"')[2]

    child = view("r2.h1")
    assert "<h2>r2.h1 of app.1 breakpoint at app.py:5 in deep</h2>" in child and ">'child'<" in child
    assert 'class="changed"' not in child, "the hit before it is another process's"
    second = view("h2")
    assert "<h2>h2 of app breakpoint at app.py:5 in deep</h2>" in second and 'class="changed">1<' in second
    assert "<h2>Stack (20 of 62 recorded)</h2>" in second
    assert "<h2>Output of the run (100,000 of 120,002 bytes, its end)</h2>" in second
    assert re.search("<h2>Locals [(][0-9]+ of 30[0-9] recorded[)]</h2>", view("h3"))
    shown = rendered((user.here / "page.html").as_uri())
    ticks = re.findall('<i title="([^ ]+) [^>]* style="left: ([0-9.]+)%', shown)
    assert [name for name, _ in ticks] == ["h1", "h2", "r2.h1", "h3"]
    places = [float(place) for _, place in ticks]
    assert places == sorted(places) and (places[0], places[-1]) == (0, 99), "a line of the time that it took"


MEASURED = """<script>
const rects = (cell) => { const all = document.createRange(); all.selectNodeContents(cell); return all.getClientRects().length; };
const cells = [...document.querySelectorAll('td:first-child')];
document.documentElement.dataset.torn = cells.filter((cell) => rects(cell) > 1).map((cell) => cell.textContent).join(' ');
const right = (id) => document.querySelector(id).getBoundingClientRect().right;
document.documentElement.dataset.inside = String(right('#filter') <= right('nav'));
</script></html>"""


def test_names_stand_whole_on_the_page_beside_long_values(user: User, rendered: Callable[[str], str]) -> None:
    user.file("wide.py", "customers = ['somebody with a name'] * 40\nmargin = 6.82\nprint(margin)\n")
    user.ok("launch", "wide.py", "--break", "wide.py:3")
    user.ok("stop")
    user.ok("export", "wide.html")
    text = re.sub("<meta http-equiv=[^>]*>", "", (user.here / "wide.html").read_text())
    (user.here / "measured.html").write_text(text.replace("</html>", MEASURED))
    shown = rendered((user.here / "measured.html").as_uri())
    assert ">margin<" in shown and ">customers<" in shown
    assert 'data-torn=""' in shown, "no name is broken into lines"
    assert 'data-inside="true"' in shown, "the filter stands inside of its column"


def test_secrets_are_nowhere_on_disk_and_what_is_left_out_says_so(user: User) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    user.file(
        "secrets_.py",
        "import sys\npassword = 'tig' + 'er99'\nlogin = {'user': 'ann', 'password': password}\n"
        "key = 'AKIA' + 'IOSFODNN7EXAMPLE'\nprint('password=' + password)\nprint(key)\nx = 1\n"
        "def enter(who, password):\n    return who\nenter('ann', 'lion77roar')\n",
    )
    stop = user.json("launch", "secrets_.py", "--break", "secrets_.py:7", "--", "--token", "abcdef0123456789")
    # Replies leave them out, too, and say so, unless they are asked for by name.
    for told in (stop["locals"], user.json("locals")["values"], user.json("state")["locals"]):
        (seen,) = (each["value"] for each in told if each["name"] == "password")
        assert seen == "[redacted: named password]"
    assert "tiger99" not in stop["output"] and key not in user.ok("output")
    assert user.ok("eval", "password") == "password = 'tiger99'\n"
    assert "'tiger99'" in user.ok("locals", "--reveal") and key in user.ok("output", "--reveal")
    user.fails("locals", "--reveal", "--allow", "control", code=7, error="denied")
    wrong = user.fails("expand", 'password="lion77"', code=1, error="not_found")
    assert 'no variable password="[redacted: named password]"' in wrong, "nor do errors tell"
    assert user.ok("expand", "login") == "['user'] = 'ann'\n['password'] = [redacted: named password]\n"
    shown = {each["name"]: each["value"] for each in user.json("hits")["hits"][0]["locals"]}
    assert shown["password"] == "[redacted: named password]"
    assert shown["login"] == "{'user': 'ann', 'password': '[redacted: named password]'}"
    assert "looks like an AWS key" in shown["key"]
    assert "lion77roar" not in user.ok("until", "secrets_.py:9")
    os.kill(daemon_pid(user), signal.SIGKILL)  # whatever was left for later stays undone
    user.ok("export", "run.jsonl")
    assert "enter('ann', '[redacted: named password]')" in (user.here / "run.jsonl").read_text(), "nor in the files"
    state = Path(os.environ["XDG_STATE_HOME"]) / "stillframe"
    with contextlib.closing(sqlite3.connect(f"file:{state / 'record.sqlite'}?mode=ro", uri=True)) as record:
        texts = b"".join(zlib.decompress(text) for (text,) in record.execute("SELECT text FROM source"))
    assert b"enter('ann', '[redacted: named password]')" in texts and b"lion77roar" not in texts
    for path in [*state.glob("record*"), user.here / "run.jsonl"]:
        for secret in ("tiger99", key, "abcdef0123456789", "lion77roar"):
            assert secret.encode() not in path.read_bytes(), (path.name, secret)


def test_a_full_disk_pauses_recording_visibly_and_debugging_goes_on(user: User) -> None:
    import resource

    user.file("loop.py", "rows = []\nfor i in range(400):\n    text = str(i) * 50\n    rows.append(text)\n")
    user.ok("launch", "loop.py", "--break", "loop.py:4")
    pid = daemon_pid(user)
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    held = user.json("continue", "--count", "3")
    assert any(note.startswith("recording is paused: ") for note in held["notes"]), "though it was at a stop on the way"
    assert "recording is paused" in user.ok("history")
    assert user.ok("eval", "i") == "i = 3\n"
    assert user.json("crash", "-c", "1/0")["unrecorded"] == "paused"
    user.ok("continue")
    user.ok("continue")
    assert len(user.json("hits")["hits"]) == 1
    # Every answer says that more was seen than it knows of; none takes the last that is written for the last there was.
    (said,) = (note.partition(";")[0] for note in held["notes"] if note.startswith("recording is paused: "))
    gap = f"{said}; what was seen since is not in this"
    for words in (
        ("hits",), ("hit-trend", "loop.py:4", "i"), ("hit-diff", "h1", "h1"), ("cross", "<module>"),
        ("events", "--since", "0"), ("export", "run.jsonl"), ("locals", "--hit", "h1"), ("stack", "--hit", "h1"),
    ):  # fmt: skip
        assert gap in user.ok(*words), words
    for words in (("hit-diff", "h1", "h2"), ("locals", "--hit", "h2"), ("diff", "loop", "r2"), ("hits", "loop.py:3")):
        assert gap in user.fails(*words, code=1, error="not_found"), words
    user.ok("stop")
    assert f"r1.h1, the last stop that is written; {gap}" in user.ok("locals")
    assert gap in user.ok("replay", "loop")
    user.ok("stop")
    user.ok("launch", "loop.py", "--break", "loop.py:4", "--name", "next")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    assert any(note.startswith("recording goes on") for note in user.json("continue")["notes"])
    assert [each["hit"] for each in user.json("hits", "--run", "loop")["hits"]] == ["h1", "h2", "h3", "h4", "h5", "h6"]
    assert "recording is paused" not in user.ok("events", "--since", "0") + user.ok("locals", "--hit", "r1.h6")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, User]]:
    """A user whose record goes to a file system of a megabyte, and where that is found. Nobody else sees it, and it ends with the
    last process there; whoever is not root is root of a namespace of its own, if there may be one."""
    home = Path(os.environ["XDG_STATE_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    apart, enter = (["--mount"], ["--mount"])
    if os.geteuid() != 0:
        apart, enter = ["--mount", "--user", "--map-root-user"], ["--mount", "--user", "--preserve-credentials"]
    mount = 'mount -t tmpfs -o size=1m,mode=0700 stillframe-test "$0" && echo mounted && exec cat'
    holder = subprocess.Popen(
        ["unshare", *apart, "sh", "-c", mount, str(home)],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdin is not None and holder.stdout is not None
    try:
        if holder.stdout.readline() != b"mounted\n":
            pytest.skip(f"no file system can be mounted here: {holder.communicate()[1].decode().strip()}")
        made = User(tmp_path, ["nsenter", f"--target={holder.pid}", *enter, "--wd", *CLIENT])
        yield Path(f"/proc/{holder.pid}/root{home}"), made
        made.says("daemon", "stop")
    finally:
        holder.communicate()


def test_a_disk_without_room_pauses_recording_and_every_stop_is_there_once_it_has_some(
    small_disk: tuple[Path, User],
) -> None:
    disk, user = small_disk
    user.file("loop.py", "rows = []\nfor i in range(400):\n    text = str(i) * 400\n    rows.append(text)\n")
    user.ok("launch", "loop.py", "--break", "loop.py:4")
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    assert shutil.disk_usage(disk).free == 0
    held = user.json("continue", "--count", "3")
    assert any(note.startswith("recording is paused: ") and "full" in note for note in held["notes"]), held["notes"]
    assert "recording is paused" in user.ok("history")
    assert (user.ok("eval", "i"), user.json("next")["frame"]["line"]) == ("i = 3\n", 2)
    for words in (("save", "kept"), ("export", f"{os.environ['XDG_STATE_HOME']}/run.jsonl")):
        user.fails(*words, code=8, error="store_full")
    filler.unlink()
    assert any(note.startswith("recording goes on") for note in user.json("continue")["notes"])
    found = user.json("hits")["hits"]
    assert [each["hit"] for each in found] == ["h1", "h2", "h3", "h4", "h5", "h6"]
    told = [value["value"] for each in found for value in each["locals"] if value["name"] == "i"]
    assert told == ["0", "1", "2", "3", "3", "4"], "with what was seen while nothing could be written"
    user.ok("daemon", "stop")
    shutil.copy(disk / "stillframe" / "record.sqlite", user.here)  # SQLite does not follow the way into another's files
    with contextlib.closing(sqlite3.connect(user.here / "record.sqlite")) as record:
        assert record.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert record.execute("SELECT max(number) FROM hit").fetchone() == (6,)


def test_a_home_that_takes_nothing_pauses_recording_visibly_and_debugging_goes_on(bound_user: User) -> None:
    home = Path(os.environ["XDG_STATE_HOME"])
    home.chmod(0o500)
    bound_user.file("a.py", "for i in range(3):\n    x = i\n")
    held = bound_user.json("launch", "a.py", "--break", "a.py:2")
    assert any(note.startswith("recording is paused: ") for note in held["notes"]), held["notes"]
    assert bound_user.ok("eval", "i") == "i = 0\n"
    home.chmod(0o700)
    assert any(note.startswith("recording goes on") for note in bound_user.json("continue")["notes"])
    assert [each["hit"] for each in bound_user.json("hits")["hits"]] == ["h1", "h2"]
    log = Path(bound_user.ok("daemon", "status").rpartition("log ")[2].strip())
    assert log.is_relative_to(os.environ["XDG_RUNTIME_DIR"]), "where else, when the daemon began"
    log.unlink()


def test_what_is_pruned_is_gone_and_what_is_saved_or_live_stays(user: User) -> None:
    user.file("a.py", "x = 1\ny = 2\n")
    for _ in range(3):
        user.ok("launch", "a.py", "--break", "a.py:2")
        user.ok("stop")
    user.ok("save", "good", "--run", "r1")
    user.ok("launch", "a.py", "--break", "a.py:2")
    assert "would remove 2 runs" in user.ok("prune", "--days", "0", "--dry-run")
    assert "would remove 2 runs" in user.ok("prune", "--megabytes", "0", "--dry-run")
    assert "removed 2 runs with 2 hits" in user.ok("prune", "--days", "0")
    assert [each["run"] for each in user.json("history")["runs"]] == ["r4", "r1"]
    user.ok("continue")
    user.fails("prune", code=2, error="usage")
    assert "removed 1 run with" in user.ok("prune", "--run", "good")
    assert user.json("hits")["total"] == 1


def test_a_family_leaves_the_record_as_a_whole_and_not_while_it_lives_or_a_child_of_it_is_saved(user: User) -> None:
    user.file("child.py", f"text = {'x' * 300_000!r}\nprint(text)\n")
    user.file("parent.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])\nx = 1\n")
    user.ok("launch", "parent.py", "--break", "child.py:2", "--break", "parent.py:3")
    assert "parent stopped" in user.ok("continue")
    assert "r2 (parent.1) is a child of r1" in user.fails("prune", "--run", "parent.1", code=2, error="usage")
    assert "r1 (parent) is live" in user.fails("prune", "--run", "parent", code=3, error="wrong_state")
    user.ok("stop")
    user.ok("save", "kept", "--run", "parent.1")
    assert "removed 0 runs" in user.ok("prune", "--days", "0") and user.json("hits")["total"] == 2
    planned = user.json("prune", "--run", "parent", "--dry-run")
    assert (planned["runs"], planned["hits"]) == (2, 2) and planned["bytes_after"] < planned["bytes_before"]
    assert user.json("prune", "--run", "parent") == {key: value for key, value in planned.items() if key != "dry_run"}
    assert "runs" not in user.json("history")


def test_a_breakpoint_in_code_that_was_given_by_itself_stops_a_replay(user: User) -> None:
    user.ok("launch", "-c", "for i in range(3):\n    x = i\n", "--name", "code", "--break", "<string>:2")
    user.ok("continue")
    user.ok("stop")
    user.ok("replay", "code")
    assert "b1 bound" in user.ok("break", "<string>:2")
    assert "replay-code stopped: b1 hit 1 at <string>:2" in user.ok("continue")
    user.ok("stop")


def test_a_project_whose_runs_are_not_recorded_is_told_so_where_it_looks_for_them(user: User) -> None:
    user.file("a.py", "x = 1\n")
    user.ok("launch", "a.py", "--break", "a.py:1")
    user.ok("stop")
    assert "turned off" not in user.ok("history")
    user.file("stillframe.toml", "record = false\n")
    user.ok("launch", "a.py", "--name", "unseen", "--break", "a.py:1")
    assert "(try: dbg history)" in user.fails("hits", code=1, error="not_found")
    assert user.ok("history").endswith("recording is turned off here (record = false)\n")
    user.ok("stop")


def test_a_replay_of_a_run_that_left_the_record_says_so_and_so_does_a_name_that_another_run_takes(user: User) -> None:
    user.file("a.py", "for i in range(3):\n    y = i\n")
    user.ok("launch", "a.py", "--break", "a.py:2")
    user.ok("continue")
    user.ok("stop")
    user.ok("export", "a.jsonl")
    assert "note" not in user.ok("import", "a.jsonl", "--name", "theirs")
    assert user.ok("import", "a.jsonl", "--name", "theirs").endswith("\nnote: its name was that of r2 before\n")
    user.ok("replay", "r1")
    user.ok("prune", "--run", "r1")
    assert "r1 a has left the record" in user.fails("next", code=1, error="not_found")
    assert "replay-a stopped" in user.ok("state")
    user.ok("stop")


@pytest.mark.long
def test_pruning_by_size_makes_the_record_that_small_whatever_fills_it(user: User) -> None:
    user.file("loud.py", "for i in range(20):\n    print('x' * 50_000)\n")
    user.file("a.py", "for i in range(5):\n    y = i\n")
    for _ in range(3):
        user.ok("launch", "loud.py")
        run_through(user, "a.py:2", 5, "a.py")
        user.ok("stop")
    limit = 1.5
    planned = user.json("prune", "--megabytes", str(limit), "--dry-run")
    assert user.json("history")["total"] == 6
    done = user.json("prune", "--megabytes", str(limit))
    sizes = "bytes_before", "bytes_after"
    assert {**done, "dry_run": True, **{key: planned[key] for key in sizes}} == planned
    grown = {done[key] - planned[key] for key in sizes}  # by the lines of the calls themselves
    assert all(each in range(0, 4 * PAGE_BYTES + 1, PAGE_BYTES) for each in grown), grown
    assert done["bytes_before"] > 3e6 and done["bytes_after"] <= limit * 1e6
    # No more than it takes: the newest of the loud ones is still there.
    assert "loud" in [each["session"] for each in user.json("history")["runs"]]


def test_a_daemon_keeps_the_record_within_its_bounds_for_as_long_as_it_lives(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILLFRAME_RECORD_MEGABYTES", "1.5")
    user.file("loud.py", "for i in range(12):\n    print('x' * 50_000)\n")
    for number in range(1, 5):
        user.ok("launch", "loud.py")
        if number == 1:
            user.ok("save", "good")

    def kept() -> list[str]:
        return [each["run"] for each in user.json("history")["runs"]]

    eventually(lambda: kept() == ["r4", "r1"], "the record has outgrown its bounds")


def test_names_that_are_paths_are_refused(user: User) -> None:
    user.file("a.py", "x = 1\ny = 2\n")
    user.ok("launch", "a.py", "--break", "a.py:2")
    for name in ("../x", "/tmp/x", "a/b", "A"):
        user.fails("save", name, code=2, error="usage")


def test_a_stop_of_another_thread_that_a_step_lets_go_is_recorded_too_without_its_locals(user: User) -> None:
    user.file(
        "two.py",
        "import threading\ngate = threading.Barrier(2)\ndef work(n):\n    gate.wait()\n    x = n\n    return x\n"
        "ts = [threading.Thread(target=work, args=(n,)) for n in range(2)]\n[t.start() for t in ts]\n[t.join() for t in ts]\n",
    )
    user.ok("launch", "two.py", "--break", "two.py:5")
    user.ok("next")
    found = user.json("hits", "two.py:5")["hits"]
    assert [(each["hit"], each["breakpoints"]) for each in found] == [("h1", ["b1"]), ("h2", ["b1"])]
    assert len({each["thread"] for each in found}) == 2
    assert "locals" in found[0] and "locals" not in found[1]


def test_hits_tell_first_what_their_condition_asks_and_a_class_of_numbers_is_compared_as_numbers(user: User) -> None:
    user.file(
        "pay.py",
        "from decimal import Decimal\n"
        "def pay(n):\n"
        "    a1, a2, a3, a4, a5, a6, a7, a8 = range(8)\n"
        "    due = Decimal(n) / 4\n"
        "    label = str(n * 10)\n"
        "    return due\n"
        "for n in range(5):\n    pay(n)\n",
    )
    run_through(user, "pay.py:6", 5, "pay.py")
    user.ok("save", "pay-run")
    found = user.json("hits", "--where", "due >= 0.75 and label")["hits"]
    assert [each["hit"] for each in found] == ["h4", "h5"]
    assert [each["name"] for each in found[0]["locals"]][:2] == ["due", "label"]
    assert "  due=Decimal('0.75'), label='30', n=3, " in user.ok("hits", "--where", "due >= 0.75 and label")
    assert "0 .. 1 over 5 hits" in user.ok("hit-trend", "pay.py:6", "due")
    # What cannot hold in any hit is no mere "no hits": a text is no number, and an object no text.
    told = "note: label was no number in 5 hits: '0' (1), '10' (1), '20' (1)\n"
    assert user.ok("hits", "--where", "label > 5") == f"no hits in r1\n{told}"
    assert user.ok("hits", "--where", "label > 5", "--count-by", "n").endswith(told)
    for word in ("pay-run", "r1"):
        told = user.fails("hits", word, code=1, error="not_found")
        assert f"; {word} is a run (try: dbg hits --run {word})" in told
    assert "note: due was no text in 5 hits: Decimal('0') (1), " in user.ok("hits", "--where", "due == 'much'")
    assert user.ok("hits", "--where", "due > 9 and label == 'x'") == "no hits in r1\n"
    user.ok("stop")


def test_a_condition_compares_dates_as_dates_and_takes_remainders_and_lists(user: User) -> None:
    user.file(
        "due.py",
        "import datetime\n"
        "def due(n):\n"
        "    when = datetime.datetime(2025, 9, 30, 8) + datetime.timedelta(days=30 * n)\n"
        "    order = {'day': when.date(), 'n': n}\n"
        "    return when\n"
        "for n in range(5):\n    due(n)\n",
    )
    run_through(user, "due.py:5", 5, "due.py")

    def found(condition: str) -> list[str]:
        return [each["hit"] for each in user.json("hits", "--where", condition)["hits"]]

    assert found("when > '2025-12-01'") == ["h4", "h5"], "as texts, all come behind it"
    assert found("order.day == '2025-10-30' or when < '2025-10-01'") == ["h1", "h2"]
    assert found("n % 2 == 1") == found("order.n % 2") == found("n in (1, 3)") == ["h2", "h4"]
    assert found("n not in [1, 3] and when >= order.day") == ["h1", "h3", "h5"]
    assert user.ok("hits", "--where", "when > '2027-01-01'") == "no hits in r1\n", "a date can be compared with one"
    assert "note: when was no number in 5 hits: " in user.ok("hits", "--where", "when % 2 == 1")
    user.ok("stop")


def test_hits_of_children_are_called_by_their_runs_wherever_they_are_told_beside_their_parents(user: User) -> None:
    """Each run counts its own, so that `h1` alone would be the parent's."""
    user.file(
        "app.py",
        "import os, subprocess, sys\n"
        "def work(i):\n    r = i * 2\n    return r\n"
        "work(int(sys.argv[1]))\n"
        "if sys.argv[1] == '0':\n    subprocess.run([sys.executable, 'app.py', '7'])\n",
    )
    user.ok("launch", "app.py", "--break", "app.py:4", "--", "0")
    while "exited" not in user.ok("continue"):
        pass
    groups = {each["value"]: each for each in user.json("hits", "app.py:4", "--group-by", "i")["groups"]}
    assert (groups["0"]["first"], groups["7"]["first"]) == ("h1", "r2.h1")
    assert "i 0 -> 7" in user.ok("hit-diff", groups["0"]["first"], groups["7"]["first"])
    crossed = user.ok("cross", "work")
    assert "app.py:4 2  h1 .. r2.h1" in crossed and "[app] h1 " in crossed and "[app.1] h1 " in crossed
