"""Golden texts, made from real runs: what a user reads, character by character.

`STILLFRAME_GOLDENS=write` in the environment writes them anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from ..backends.nodes import is_18
from ..stories.conftest import User

GOLDENS = Path(__file__).parent / "goldens"
WRITE = os.environ.get("STILLFRAME_GOLDENS") == "write"

SHOP = """\
def total(items):
    out = 0
    for item in items:
        price = item["price"]
        out += price * item["qty"]
    return out


def checkout(cart):
    print("checking", len(cart))
    return total(cart)


print(checkout([{"price": 2.0, "qty": 12}, {"price": "12.50", "qty": 3}]))
"""
COUNT = """\
def tally(words):
    seen = {}
    for word in words:
        seen[word] = seen.get(word, 0) + 1
    return seen


for name, number in tally(["a", "b", "a"]).items():
    print(name, number)
"""
SPIN = """\
import time

def spin():
    while True:
        time.sleep(0.01)

print("up", flush=True)
spin()
"""
SHOP_JS = """\
class Cart {
  constructor(items) { this.items = items; }
  total() {
    let out = 0;
    for (const item of this.items) {
      const price = item.price;
      out += price * item.qty;
    }
    return out;
  }
}

async function checkout(cart) {
  console.log('checking', cart.items.length);
  await null;
  const total = cart.total();
  if (!Number.isFinite(total)) throw new RangeError(`no total: ${total}`);
  return total;
}

const goods = [{ price: 2, qty: 12 }, { price: '12.50', qty: 3 }];
checkout(new Cart(goods)).then((total) => console.log(total));
"""
REPORTS = """\
import sys
import threading
import unittest


def price_of(item):
    return item["price"] if item["qty"] else 0


def total(items):
    out = 0
    for item in items:
        out += price_of(item) * item["qty"]
    return out


class Totals(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([{"price": 2, "qty": 3}]), 5)


def keep(lock):
    with lock:
        threading.Event().wait()


def wait():
    lock = threading.Lock()
    threading.Thread(target=keep, args=(lock,), name="keeper", daemon=True).start()
    while not lock.locked():
        pass
    print("up", flush=True)
    lock.acquire()


if sys.argv[1:] == ["wait"]:
    wait()
elif __name__ == "__main__":
    total([{"price": 2, "qty": 1}, {"price": 3, "qty": 0}, {"price": 4 if sys.argv[1:] else None, "qty": 2}])
"""
OF_18 = "-18"
"""Stories of what V8 of Node 18 cannot do: told there in the place of the one without that ending."""
STORIES: dict[str, tuple[str, str, list[str]]] = {
    "condition": ("shop.py", SHOP, ["launch shop.py --break 'shop.py:5 if not isinstance(price, float)'",
        "eval '[type(i[\"price\"]).__name__ for i in items]' out", "stack", "locals --frame f1", "threads", "stop"]),
    "uncaught": ("shop.py", SHOP, ["launch shop.py", "exception", "state", "continue", "state", "locals"]),
    "moving": ("count.py", COUNT, ["launch count.py --break count.py:4", "next --count 4", "finish", "unbreak b1", "continue"]),
    "stepping": ("shop.py", SHOP.replace('"12.50"', "12.5"),
        ["launch shop.py --break shop.py:11", "step", "next", "next 3", "finish", "stop"]),
    "nothing-pretends": ("count.py", COUNT, ["launch count.py --stop-on-entry", "break count.py:6", "break count.py:900",
        "break plugins/tax.py:7", "break nobody", "break tally --if 'len(words) > 9'", "breaks", "continue", "locals"]),
    "log-and-hits": ("count.py", COUNT, ["launch count.py --stop-on-entry", "break count.py:4 --log 'at {word}'",
        "break count.py:9 --hit 2", "continue", "breaks", "continue"]),
    "probe": ("count.py", COUNT, ["probe count.py:4 count.py:900 tally --eval word --hits 2 -- python3 count.py"]),
    "raised": ("shop.py", SHOP.replace('"12.50"', "12.5").replace("return out", "return out / 0"),
        ["launch shop.py --catch ZeroDivisionError", "catch off", "status", "continue"]),
    "running": ("spin.py", SPIN, ["launch spin.py --ready up", "locals", "continue", "break spin.py:5", "wait", "stop", "state"]),
    "exited": ("exit.py", "import sys\nprint('a')\nsys.exit(3)\n", ["launch exit.py", "output", "sessions", "restart"]),
    "lacking": ("shop.py", SHOP, ["launch shop.py --break shop.py:5", "restart-frame f1", "set-return 1",
        "hotpatch shop.py --dry-run", "eval --safe out", "source --generated", "stop"]),
    "wide": ("wide.py", "def f(rows, text):\n    return rows\n\nf([{'a': n} for n in range(100)], 'x' * 1000)\n",
        ["launch wide.py --break f", "expand v1 --start 98", "expand v2 --count 1 --text 20", "stop"]),
    "reports": ("shop.py", REPORTS, ["crash -- python3 shop.py", "trace total -- python3 shop.py fine",
        "probe price_of --expect 'item[\"qty\"]'", "test shop.py --runner unittest",
        "hang --timeout 1 --ready up -- python3 shop.py wait"]),
    "node-stops": ("shop.js", SHOP_JS, ["launch shop.js --break 'shop.js:7 if typeof price !== \"number\"'",
        "eval 'this.items.map((i) => typeof i.price)' out", "stack", "locals --frame f1", "scopes",
        "threads", "stop"]),
    "node-moving": ("shop.js", SHOP_JS, ["launch shop.js --break shop.js:14", "next 2", "step", "next --count 6", "finish",
        "set total 'NaN'", "continue", "exception", "continue"]),
    "node-breakpoints": ("shop.js", SHOP_JS, ["launch shop.js --stop-on-entry", "break Cart.total", "break shop.js:8",
        "break shop.js:900", "break later.js:3", "break nobody", "break shop.js:7 --log 'price {price}'",
        "break shop.js:18 --if 'total >'", "breaks", "continue", "unbreak b1", "continue"]),
    "node-changing": ("shop.js", SHOP_JS.replace("'12.50'", "12.5"), ["launch shop.js --break shop.js:9", "eval --safe 'out = 1'",
        "restart-frame f0", "continue", "set-return 'out * 2'", "jump shop.js:4", "hotpatch shop.js --dry-run", "continue"]),
    "node-changing-18": ("shop.js", SHOP_JS.replace("'12.50'", "12.5"), ["launch shop.js --break shop.js:9",
        "eval --safe 'out = 1'", "restart-frame f0", "set-return 'out * 2'", "jump shop.js:4", "hotpatch shop.js --dry-run",
        "continue"]),
}  # fmt: skip


def own(name: str) -> Any:
    """A golden text that names a run of the record by its number is told by a daemon that has no other."""
    golden = GOLDENS / f"{name}.txt"
    known = golden.exists() and not WRITE
    return name if known and " r1" not in golden.read_text() else pytest.param(name, marks=pytest.mark.own_daemon)


@pytest.mark.long
@pytest.mark.parametrize("name", [own(each) for each in STORIES if not each.endswith(OF_18)])
def test_what_a_user_reads(user: User, name: str) -> None:
    name += OF_18 if name + OF_18 in STORIES and is_18() else ""
    file, text, calls = STORIES[name]
    user.file(file, text)
    told = "".join(transcript(user, call) for call in calls)
    golden = GOLDENS / f"{name}.txt"
    if WRITE:
        golden.write_text(told)
    assert told == golden.read_text()


def transcript(user: User, call: str) -> str:
    """A call and its answer as a terminal shows it, with what differs from run to run made the same."""
    said = user.says(*shlex.split(call))
    text = said.out + said.err
    text = re.sub(r"after \d+(\.\d+)? s", "after N s", text)
    text = re.sub(r"pid \d+", "pid N", text).replace(str(user.here), "HERE")
    text = re.sub(r"unittest [\d.]+, \S+ [\d.]+:", "unittest N, PYTHON N:", text)
    text = re.sub(r"node \d+\.\d+\.\d+", "node N", text)
    text = re.sub(r"note: CPython \S+ recorded by sys.settrace.*\n", "", text)  # not from 3.12 on
    text = re.sub(r"(Node\.js v)[\d.]+|(node:internal/[\w/]+:)\d+(:\d+)?", r"\1\2N", text)
    text = re.sub(r"(?m)^ +(trigger\w+\(.*\n) +\^$", r"      \1      ^", text)  # as far in as Node's own line is
    text = re.sub(
        r"(f\d+)(-f\d+)?: \d+ in library", r"\1…: some in library", text
    )  # Node's own, which differ by version
    code = f" -> {said.code}" if said.code else ""
    return f"$ dbg {call}{code}\n{text}"


def test_every_golden_belongs_to_a_story() -> None:
    assert {path.stem for path in GOLDENS.glob("*.txt")} == set(STORIES)
