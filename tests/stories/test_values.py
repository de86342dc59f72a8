"""Values of every size and malice: bounded, told truly, escaped, and never in the way of moving on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ..interpreters import INTERPRETERS, SPREAD
from .conftest import User

BIG = """\
class Quiet:
    def __init__(self): self.count = 0
    def __repr__(self):
        self.count += 1
        return f"<Quiet {self.count}>"

class Rude:
    def __repr__(self): raise RuntimeError("no repr today")

class Endless:
    def __repr__(self):
        while True: pass

def big():
    numbers = list(range(1_000_000))
    text = "x" * 30_000_000
    ring = [1]
    ring.append(ring)
    rude = Rude()
    quiet = Quiet()
    return numbers, text, ring  # line 21

def nasty():
    escape = "\\x1b[31mred\\x1b[0m\\x07"
    nul = "a\\0b"
    bidi = "user\\u202eadmin\\u2066"
    half = "\\ud800 lone"
    raw = bytes(range(256))
    return escape  # line 29

def endless():
    stuck = Endless()
    after = 1
    return after  # line 34

def deep(n):
    if n:
        return deep(n - 1)
    return "bottom"  # line 39

import sys
sys.setrecursionlimit(30_000)
what = sys.argv[1]
if what == "deep":
    import threading
    threading.stack_size(512 * 1024 * 1024)
    t = threading.Thread(target=deep, args=(10_000,))
    t.start(); t.join()
else:
    globals()[what]()
print("end")
"""


def values(told: dict[str, object]) -> dict[str, dict[str, object]]:
    return {each["name"]: each for each in told["locals"]}  # type: ignore[attr-defined]


def test_a_million_elements_and_thirty_megabytes_are_told_by_their_ends_and_their_size(user: User) -> None:
    user.file("big.py", BIG)
    text = user.ok("launch", "big.py", "big", "--break", "big.py:21")
    assert len(text) <= 4000
    assert "(1,000,000)" in text and "(30,000,000)" in text
    said = user.says("state", "--json")
    assert len(said.out) <= 65536
    held = values(json.loads(said.out)["result"])
    assert (held["numbers"]["total"], held["numbers"]["truncated"]) == (1_000_000, True)
    assert (held["text"]["total"], held["text"]["truncated"]) == (30_000_000, True)
    assert "RuntimeError" in str(held["rude"]["value"]) and "no repr today" in str(held["rude"]["value"])
    assert held["rude"]["error"] is True
    assert held["ring"]["value"] == "[1, [...]]"
    page = user.json("expand", str(held["numbers"]["ref"]), "--start", "999998")
    assert [each["value"] for each in page["values"]] == ["999998", "999999"]
    assert page["total"] == 1_000_000
    slices = user.json("expand", str(held["text"]["ref"]), "--start", "0", "--count", "3")
    assert slices["values"]
    assert len(user.ok("eval", "text", "numbers")) <= 4100
    assert len(user.ok("eval", "text", "--budget", "300")) <= 400
    assert user.json("eval", "len(text)")["values"][0]["value"] == "30000000"
    assert user.json("continue")["output"] == "end\n"


def test_text_that_could_steer_a_terminal_is_shown_not_sent(user: User) -> None:
    user.file("big.py", BIG)
    text = user.ok("launch", "big.py", "nasty", "--break", "big.py:29")
    assert "\\x1b[31mred" in text
    for char in ("\x1b", "\0", "\u202e", "\u2066", "\x07"):
        assert char not in text
    for expression in ("escape", "nul", "bidi", "half", "raw"):
        said = user.says("eval", expression)
        assert said.code == 0, said
        assert not {"\x1b", "\0", "\u202e", "\u2066"} & set(said.out)
        exact = user.says("eval", expression, "--json")
        assert json.loads(exact.out)["result"]["values"][0]["value"]
    assert user.json("continue")["output"] == "end\n"


@pytest.mark.long
def test_a_repr_that_never_returns_is_told_as_such_and_stepping_goes_on(user: User) -> None:
    user.file("big.py", BIG)
    told = user.json("launch", "big.py", "endless", "--break", "big.py:33")
    stuck = values(told)["stuck"]
    assert stuck["error"] is True
    told = user.json("next")
    assert (told["frame"]["line"], values(told)["after"]["value"]) == (34, "1")
    assert user.json("eval", "after + 1")["values"][0]["value"] == "2"
    assert user.json("continue")["output"] == "end\n"


def test_a_repr_with_side_effects_is_not_run_again_by_looking_at_the_stop_again(user: User) -> None:
    user.file("big.py", BIG)
    first = values(user.json("launch", "big.py", "big", "--break", "big.py:21"))["quiet"]["value"]
    again = values(user.json("state"))["quiet"]["value"]
    assert first == again
    user.ok("stop")


RESTLESS = """
class Counted:
    def __init__(self): self.count = 0
    def __repr__(self):
        self.count += 1
        return f"asked {self.count} times"

class Said:
    def __init__(self): self.word = "before"
    def __repr__(self): return self.word

def run():
    counted, said = Counted(), Said()
    both = [counted, 1]
    n = 1
    n += 1  # line 16
    said.word = "after"
    return n

run()
"""


def test_what_only_looking_changes_is_not_said_of_the_line_that_ran(user: User) -> None:
    user.file("restless.py", RESTLESS)
    user.ok("launch", "restless.py", "--break", "restless.py:16")
    told = [user.ok("next").splitlines()[0] for _ in range(2)]
    assert told == ["restless.py:16 n 1 -> 2", "restless.py:17 said before -> after"]
    state = user.json("state")
    shapes = {name: value.get("shape") for name, value in values(state).items()}
    assert shapes["counted"] == shapes["both"] == "its repr says something else each time"
    assert shapes["said"] is None
    user.ok("stop")


def test_ten_thousand_frames_are_counted_and_paged(user: User) -> None:
    user.file("big.py", BIG)
    text = user.ok("launch", "big.py", "deep", "--break", "big.py:39")
    assert len(text) <= 4000
    assert "more" in text
    told = user.json("state")
    assert told["stack_total"] >= 10_001
    page = user.json("stack", "--start", "9990", "--count", "5")
    assert [each["id"] for each in page["frames"]] == [f"f{n}" for n in range(9990, 9995)]
    assert user.json("eval", "n", "--frame", "f9990")["values"][0]["value"] == "9990"
    assert user.json("continue")["output"] == "end\n"


@pytest.mark.long
def test_a_thousand_threads_are_listed_by_pages(user: User) -> None:
    user.file(
        "many.py",
        "import threading\nthreading.stack_size(64 * 1024)\ngate = threading.Event()\n"
        "ts = [threading.Thread(target=gate.wait) for _ in range(1000)]\n"
        "for t in ts: t.start()\nx = 1  # here\ngate.set()\nfor t in ts: t.join()\nprint('end')\n",
    )
    told = user.json("launch", "many.py", "--break", "many.py:6", "--timeout", "60")
    assert told["frame"]["line"] == 6
    text = user.ok("threads")
    assert len(text) <= 4000
    page = user.json("threads", "--start", "990", "--count", "100")
    assert (page["total"], len(page["threads"])) == (1001, 11)
    assert user.json("continue", "--timeout", "60")["output"] == "end\n"


HOSTILE = """\
def fails(*given, **named):
    raise ValueError("asked")

class Asked(type):
    __name__ = property(fails)
    __module__ = property(fails)
    __getattribute__ = __eq__ = __hash__ = __instancecheck__ = __repr__ = fails

class Proxy:
    __class__ = property(fails)
    __dict__ = property(fails)

class Lazy:
    made = 0
    @property
    def __dict__(self):
        Lazy.made += 1
        return {"made": Lazy.made}

class Kept(metaclass=Asked):
    def __init__(self):
        object.__setattr__(self, "part", 7)

def f(kept, proxy, lazy):
    pair = [kept, proxy]
    n = 1
    return n

f(Kept(), Proxy(), Lazy())
print(Lazy.made)
"""


@pytest.mark.parametrize("version", SPREAD)
def test_what_a_class_does_when_it_is_asked_takes_nothing_else_away(user: User, version: str) -> None:
    user.file("hostile.py", HOSTILE)
    user.ok("launch", "hostile.py", "--python", INTERPRETERS[version], "--break", 'hostile.py@"n = 1"')
    told = user.json("state")
    assert told["frame"]["function"] == "f"
    assert {each["name"]: (each["type"], each["value"]) for each in told["locals"]} == {
        "kept": ("Kept", "Kept(part=7)"),
        "proxy": ("Proxy", "<Proxy>"),
        "lazy": ("Lazy", "<Lazy>"),
        "pair": ("list", "[Kept(part=7), <Proxy>]"),
    }
    assert user.ok("eval", "kept", "pair").startswith("kept = Kept(part=7)  (Kept)\n")
    assert user.ok("expand", "kept") == "part = 7\n"
    assert "n = 1" in user.ok("next")
    assert user.json("continue")["output"] == "0\n", "no code of the program has run"


def test_changing_values_and_running_statements(user: User) -> None:
    user.file("set.py", "def f(a, items):\n    b = a + 1\n    return b, items\n\nprint(f(1, [1, 2]))\n")
    user.ok("launch", "set.py", "--break", "set.py:2")
    assert user.ok("set", "a", "41") == "a = 41\n"
    assert user.ok("set", "items[0] = 'x'") == "items[0] = 'x'\n"
    assert user.json("eval", "import math", "math.floor(2.5)")["values"][-1]["value"] == "2"
    user.fails("set", "a", "1 +", code=1, error="eval_failed")
    said = user.fails("set", "itmes", "[]", code=1, error="eval_failed")
    assert "the program has no variable itmes here" in said, "which only our own expressions would have seen"
    user.ok("eval", "extra = 5", "extra + a")
    assert user.ok("set", "at_the_top", "3", "--frame", "f1") == "at_the_top = 3\n", "which a module has from then on"
    user.fails("eval", "1 / 0", code=1, error="eval_failed")
    said = user.says("eval", "a", "nope")
    assert said.code == 0
    assert "a = 41\n" in said.out and "NameError" in said.out
    assert user.json("continue")["output"] == "(42, ['x', 2])\n"


def test_an_expression_that_never_returns_is_given_up_at_its_deadline(user: User) -> None:
    user.file("set.py", "x = 1\ny = 2\n")
    user.ok("launch", "set.py", "--break", "set.py:2")
    said = user.says("eval", "[0 for _ in iter(int, 1)]", "--timeout", "1")
    assert said.code in (1, 4), said
    assert "1 s" in said.err or "deadline" in said.err or "time" in said.err
    assert user.ok("stop") == "set ended\n"


def test_pages_of_a_value_tell_where_they_begin_and_how_much_there_is(user: User) -> None:
    user.file("held.py", "text = 'abcdefghij' * 3000\nitems = list(range(188))\nx = 1\n")
    user.ok("launch", "held.py", "--break", "held.py:3")
    ref = {value["name"]: str(value["ref"]) for value in user.json("locals")["values"]}
    assert user.ok("expand", ref["items"], "--start", "1", "--count", "2").endswith("… 2 of 188 shown, from 1\n")
    assert user.ok("expand", ref["items"], "--start", "600") == "nothing from 600 on: there are 188\n"
    page = user.json("expand", ref["text"], "--start", "29990")
    assert (page["total"], page["start"], page["values"][0]["name"]) == (30000, 29990, "[29990:30000]")
    assert user.ok("expand", ref["text"], "--start", "990", "--count", "1").endswith(
        "… 160 of 30,000 shown, from 990\n"
    )
    user.ok("stop")


def test_a_function_that_called_itself_is_one_word_of_the_stack(user: User) -> None:
    user.file(
        "deep.py", "def fact(n):\n    if not n:\n        raise KeyError(n)\n    return n * fact(n - 1)\n\nfact(50)\n"
    )
    told = user.ok("launch", "deep.py")
    assert "stack: f0 fact deep.py:3 < f1-f19 fact deep.py:4 x 19 < … 32 more\n" in told
    assert "passed: fact deep.py:3 < fact deep.py:4 x" in user.ok("exception")
    user.ok("stop")


MANY_PYTHON = """\
import unittest

try:
    import numpy
    table = numpy.arange(-5, 1000)
except ImportError:
    table = None

def look(numbers, by_name, table):
    doubled = [2 * each for each in numbers]
    doubled.append(-1)
    assert len(numbers) == 3
    return doubled

class Looks(unittest.TestCase):
    def test_look(self):
        look(list(range(1000)), dict.fromkeys("abcdefghijklmnop", 1.5), table)

if __name__ == "__main__":
    Looks().test_look()
"""
MANY_NODE = """\
const test = require('node:test');

function look(numbers, map, table) {
  const doubled = numbers.map((each) => each * 2);
  doubled.push(-1);
  if (numbers.length > 3) throw new Error('too many');
  return doubled;
}

function start() {
  const numbers = Array.from({ length: 1000 }, (_, at) => at);
  look(numbers, new Map(numbers.map((each) => [`k${each}`, each])), Float64Array.from(numbers));
}

if (process.env.NODE_TEST_CONTEXT) test('look', start);
else start();
"""
UNITTEST = ("--python", sys.executable, "--once", "many.Looks.test_look", "--runner", "unittest")
GUESTS = Path(sys.prefix, "guests", ".".join(map(str, sys.version_info[:2])), "site-packages")


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "text", "run", "tests", "place", "claim", "words"),
    [
        pytest.param(
            "many.py", MANY_PYTHON, (sys.executable,), UNITTEST, "many.py:12",
            "len(numbers) < 3", ("1,000 ints, 0 to 999", "16 keys to float, 1.5 each", "1,001 ints, -1 to 1998"), id="python",
        ),
        pytest.param(
            "many.test.js", MANY_NODE, ("node",), ("many.test.js",), "many.test.js:6",
            "numbers.length < 3", ("1,000 numbers, 0 to 999", "string to number, 0 to 999", "1,000, 0 to 999"), id="node",
        ),
    ],
)  # fmt: skip
def test_every_verb_says_what_all_of_a_long_value_is_like(
    user: User,
    file: str,
    text: str,
    run: tuple[str, ...],
    tests: tuple[str, ...],
    place: str,
    claim: str,
    words: tuple[str, ...],
) -> None:
    user.file(file, text)
    env = {"PYTHONPATH": str(GUESTS)} if file.endswith(".py") and GUESTS.is_dir() else {}
    if env:
        words = (*words, "-5 to 999")  # the array's
    for verb in (
        ("crash", "--", *run, file),
        ("test", *tests),
        ("trace", "look", "--", *run, file),
        ("probe", place, "--eval", "numbers", "--expect", claim, "--", *run, file),
    ):
        told = user.ok(*verb, env=env)
        assert [each for each in words if each not in told] == [], told


PATHS = """\
class Line:
    def __init__(self, sku, qty):
        self.sku, self.qty = sku, qty

class Cart:
    def __init__(self, lines):
        self.lines = lines

    @property
    def asked(self):
        open("asked", "w").close()
        return 7

STORE = {"items": [{"sku": "A"}], "turns": list(range(3000))}

def check(cart, order, at):
    return cart, order  # line 17

check(Cart([Line("a", 1), Line("b", [2, {"deep": ("x" * 300)}])]), {"lines": [{"sku": "A"}], 5: "five", "none": []}, 1)
"""


def test_a_path_below_a_variable_is_walked_through_what_the_values_hold(user: User) -> None:
    user.file("paths.py", PATHS)
    user.ok("launch", "paths.py", "--break", "paths.py:17")

    def expand(path: str) -> list[tuple[str, str]]:
        page = user.json("expand", path, "--allow", "inspect")
        return [(each["name"], each["value"]) for each in page["values"]]

    assert expand("cart.lines[1].sku") == [("cart.lines[1].sku", "'b'")], "what holds nothing more is told itself"
    assert expand("cart.lines[at].qty[0]") == [("cart.lines[at].qty[0]", "2")]
    assert expand("cart.lines[-1]")[0] == ("sku", "'b'")
    assert expand("cart.lines[1].qty[1].deep")[1][0] == "[160:300]", "a long text by slices"
    assert (
        expand("order['lines'][0]") == expand('order["lines"][0]') == expand("order.lines[0]") == [("['sku']", "'A'")]
    )
    assert expand("order[5]") == [("order[5]", "'five'")]
    assert expand("STORE.turns[2500]") == [("STORE.turns[2500]", "2500")], "of the module, and far behind"
    for path, said in (
        ("cart.lins", "there is no cart.lins: it has lines (try: dbg eval cart.lins)"),
        ("cart.lines[2]", "there is no cart.lines[2]: it has [0], [1] (try"),
        ("cart.asked.x", "there is no cart.asked: it has lines (try: dbg eval cart.asked.x)"),
        ("order['none'][0]", "there is no order['none'][0]: order['none'] is [], without such parts"),
        ("order[5].x", "there is no order[5].x: order[5] is 'five', without such parts"),
        ("crt.lines", "there is no variable crt.lines in this frame; there are cart (try: dbg eval crt.lines)"),
        ("STORE.turns[9000]", "it has [0], [1], [2], [3], [4], [5], [6], [7], … 2,992 more (try"),
    ):
        assert said in user.fails("expand", path, code=1, error="not_found"), path
    assert not (user.here / "asked").exists(), "nothing of the program ran"
    user.ok("stop")


def test_the_parts_of_a_secret_are_left_out_by_name_path_and_handle(user: User) -> None:
    user.file(
        "login.py",
        "password = 'tig' + 'er99'\ntoken = 'x9' * 400\nlogin = {'password': password, 'api_key': token}\nprint(1)\n",
    )
    user.ok("launch", "login.py", "--break", "login.py:4")
    short = user.fails("expand", "password", code=1, error="not_found")
    assert "holds nothing more than it shows: [redacted: named password]" in short and "tiger99" not in short
    for word, name in (
        ("token", "token"), ("login['password']", "password"), ("login.api_key", "api_key"), ("v1", "token"),
    ):  # fmt: skip
        told = user.ok("expand", word, "--text", "5")
        assert told.endswith(f" = [redacted: named {name}]\n") and told.count("\n") == 1, told
    assert "[0:160] = 'x9x9" in user.ok("expand", "token", "--reveal")
    user.ok("stop")
