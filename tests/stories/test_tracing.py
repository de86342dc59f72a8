"""One call's whole life: `trace` tells it line by line, by what the program itself wrote down, and says where it could not."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import pytest

from ..conftest import INTERPRETERS
from .conftest import User

VERSIONS = [each for each in ("3.8", "3.11", "3.13") if each in INTERPRETERS]
"""By `sys.settrace`, and by `sys.monitoring`."""

SHOP = """\
def price_of(item):
    return item["price"]

def total(items):
    out = 0
    for item in items:
        price = price_of(item)
        if price == "free":
            price = 0
        out += price * item[
            "qty"]
    for item in items: seen = item
    return out

def never():
    return total([])

class Cart:
    def checkout(self, items):
        self.sum = total(items)
        return self.sum

cart = Cart()
print(cart.checkout([{"price": n, "qty": 2} for n in range(5)] + [{"price": "free", "qty": 1}, {"price": 7, "qty": 1}]))
try:
    cart.checkout([{"price": 1}])
except KeyError:
    pass
"""


def trace(user: User, version: str, *words: str) -> dict[str, Any]:
    return user.json("trace", *words[:-1], "--python", INTERPRETERS[version], "--", "python", words[-1])


def rows(steps: list[dict[str, Any]]) -> list[tuple[int, dict[str, str]]]:
    """Lines with what they changed to, loops left out."""
    return [(each["line"], {one["name"]: one["new"] for one in each.get("changes", [])}) for each in steps]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_call_is_told_with_its_arguments_lines_loops_calls_and_its_end(user: User, version: str) -> None:
    user.file("shop.py", SHOP)
    report = trace(user, version, "total", "shop.py")
    life = report["life"]
    assert (report["verdict"], report["calls"], report["raised"], report["raising"]) == ("traced", 2, 1, 2)
    assert (life["function"], life["number"], life["caller"]["symbol"]) == ("total", 1, "Cart.checkout")
    assert life["arguments"][0]["value"].startswith("[{'price': 0, 'qty': 2}")
    first, loop, in_a_line, last = life["steps"]
    assert rows([first]) == [(5, {"out": "0"})]
    assert (loop["line"], loop["turns"], loop["ways"]) == (6, 7, 2)
    turns = {each["number"]: each for each in loop["told"]}
    assert {number: each["why"] for number, each in turns.items()} == {1: "first", 6: "differs", 7: "last"}
    assert [each["line"] for each in turns[6]["steps"]] == [6, 7, 8, 9, 10], "several lines of a statement are one"
    assert rows(turns[6]["steps"])[1:4] == [(7, {"price": "'free'"}), (8, {}), (9, {"price": "0"})]
    (call,) = turns[1]["steps"][1]["calls"]
    assert (call["function"], call["arguments"][0]["value"], call["result"]) == (
        "price_of",
        "{'price': 0, 'qty': 2}",
        "0",
    )
    assert in_a_line["line"] == 12
    if version != "3.13":  # from 3.12 on such a loop is told as the one line that it is
        assert (in_a_line["turns"], [each["number"] for each in in_a_line["told"]]) == (7, [1, 7])
    assert (last["line"], life["end"], life["result"]) == (13, "returned", "27")
    text = user.ok("trace", "total", "--call", "2", "--python", INTERPRETERS[version], "--", "python", "shop.py")
    assert text.startswith("total(items=[{'price': 1}]) shop.py:4, call 2 of 2, from Cart.checkout shop.py:20\n")
    assert "\n! KeyError: 'qty' at line 10\n" in text
    assert text.endswith('output: "27\\n"\nrecorded: values only (--hold keeps it live)\n')
    (hit,) = user.json("hits", "total")["hits"]
    assert (hit["reason"], hit["place"], hit["locals"][0]["value"]) == ("trace", "shop.py:5", "[{'price': 1}]")
    assert ("sys.settrace, which slows" in text) is (version != "3.13")


ODD = """\
import os, signal, sys, threading

def numbers(start):
    n = start
    while True:
        yield n
        n += 1

def down(n):
    if n == 0:
        return 0
    return 1 + down(n - 1)

def deep():
    print(down(10000))

def killed(n):
    for i in range(n):
        if i == 500:
            os.kill(os.getpid(), signal.SIGKILL)

def often(n):
    return n

if sys.argv[1] == "often":
    for n in range(10**6):
        often(n)
elif sys.argv[1] == "deep":
    sys.setrecursionlimit(20000)
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=deep)
    thread.start()
    thread.join()
elif sys.argv[1] == "generator":
    kept = numbers(5)
    print(next(kept), next(kept))
else:
    killed(10**6)
"""


@pytest.mark.long
@pytest.mark.parametrize("version", [each for each in ("3.11", "3.13") if each in INTERPRETERS])
def test_what_never_ends_is_told_as_far_as_it_came(user: User, version: str) -> None:
    user.file("odd.py", ODD)
    words = ("--python", INTERPRETERS[version], "--", "python", "odd.py")
    life = user.json("trace", "numbers", *words, "generator")["life"]
    assert (life["end"], life["at"]) == ("suspended", 6)
    report = user.json("trace", "down", "--depth", "1", *words, "deep")
    life = report["life"]
    assert (report["calls"], life["result"], life["thread"] != "") == (10001, "10000", True)
    (below,) = life["steps"][-1]["calls"]
    assert (below["arguments"][0]["value"], [each["line"] for each in below["steps"]]) == ("9999", [10, 12])
    report = user.json("trace", "killed", *words, "kill")
    life = report["life"]
    assert (report["end"]["signal"], life["end"], life["at"]) == ("SIGKILL", "running", 20)
    assert life["steps"][0]["turns"] == 501, "none of the lines before the kill is lost"
    if version != "3.11":  # where each of a million calls costs some microseconds
        text = user.ok("trace", "often", "--call", "1000000", *words, "often")
        assert text.startswith("often(n=999999) odd.py:22, call 1,000,000 of 1,000,000, from <module> odd.py:")


HEADED = """\
def charge(order):
    due = order["due"]
    return due * 2

made = {}
exec("def charge(order):\\n    return 1", made)  # as libraries do that ask what a function may be called with
made["charge"]({"due": 5})
charge({"due": 5})
"""


@pytest.mark.parametrize("version", [each for each in ("3.11", "3.13") if each in INTERPRETERS])
def test_a_function_of_a_file_is_meant_and_not_one_that_was_made_by_its_name(user: User, version: str) -> None:
    user.file("headed.py", HEADED)
    report = trace(user, version, "charge", "headed.py")
    assert (report["calls"], report["life"]["result"], len(report["found"])) == (1, "10", 1)


@pytest.mark.parametrize("version", [each for each in ("3.8", "3.13") if each in INTERPRETERS])
def test_a_function_is_found_by_the_name_that_a_crash_gives_it(user: User, version: str) -> None:
    user.file("kinds.py", "def outer(n):\n    def inner(v):\n        return 1 / v\n    return inner(n)\n\nouter(0)\n")
    life = trace(user, version, "outer.<locals>.inner", "kinds.py")["life"]
    assert (life["function"], life["at"], life["end"]) == ("outer.inner", 3, "raised")


@pytest.mark.long
@pytest.mark.own_daemon
def test_a_call_that_cannot_be_told_is_said_why(user: User) -> None:
    user.file("shop.py", SHOP)
    words = ("--", "python3", "shop.py")
    for verb in ("trace", "probe"):
        assert f"dbg {verb} total -- python app.py" in user.fails(verb, "total", code=2, error="usage")
    report = user.json("trace", "totl", *words)
    assert (report["verdict"], report["near"]) == ("no such function", ["total"])
    report = user.json("trace", "never", *words)
    assert (report["verdict"], "total" in report["near"]) == ("never called", True)
    report = user.json("trace", "total", "--if", "items == missing", *words)
    assert (report["verdict"], report["calls"]) == ("not chosen", 2)
    assert any("NameError" in each for each in report["notes"])
    assert "no expression of Python" in user.fails("trace", "total", "--if", "items ==", *words, code=2, error="usage")
    user.fails("trace", "total", "--call", "0", *words, code=2, error="usage")
    small = user.ok("trace", "total", "--budget", "300", *words)
    assert small.startswith("total(items=[{'price': 0") and "\n= 27\n" in small and len(small) <= 301
    life = user.json("trace", "shop.py:19")["life"]
    assert (life["function"], life["steps"][0]["changes"][0]["name"]) == ("Cart.checkout", "self")
    report = user.json("trace", "total", "--env", "SAID=1")
    said = "no command was given, so the last one of this project was run: shop.py"
    assert (report["verdict"], report["assumed"], report["notes"][0]) == ("traced", True, said)
    user.ok("daemon", "stop")  # the next one knows it, too
    report = user.json("crash")
    assert (report["verdict"], report["assumed"], report["notes"]) == ("ended well", True, [said])


def test_isolated_python_is_stepped_through_and_said_to_be(user: User) -> None:
    user.file("shop.py", SHOP)
    report = user.json("trace", "Cart.checkout", "--hold", "--", "python3", "-I", "shop.py")
    assert (report["how"].partition(",")[0], report["life"]["result"]) == ("steps", "27")
    assert [each["line"] for each in report["life"]["steps"]] == [20, 21]
    assert report["notes"][0] == "python -I keeps the recorder out (isolated mode)"
    assert report["held"] == {"session": "trace-shop", "lease": 600}, "this very run, behind the call"
    assert user.json("eval", "cart.sum")["values"][0]["value"] == "27"
    user.ok("stop")
    end = user.json("trace", "Cart.checkout", "--do", "sleep 600", "--", "python3", "-I", "shop.py")["end"]
    assert end["cause"] == "ended by the trace, which had seen the call"
    assert [(each["command"], each["running"]) for each in end["do"]] == [("sleep 600", True)]


FAMILY = """\
import datetime, decimal, enum, os, subprocess, sys, time

class Colour(enum.Enum):
    RED = 1
    def __repr__(self): raise RuntimeError("asked")

def job(n):
    known = datetime.date(2026, 1, 2), decimal.Decimal("1.50"), Colour.RED
    many, word = list(range(1200)), "x" * 1200
    twice = n * 2
    return twice

if __name__ == "__main__":
    while not os.path.exists("go"):  # which somebody beside it makes
        time.sleep(0.01)
    job(1)
    if not os.fork():
        job(2)
        os._exit(0)
    os.wait()
    subprocess.run([sys.executable, "-c", "import family; family.job(33)"], check=True)
"""


def test_every_process_of_a_run_is_recorded_and_a_held_one_is_at_the_call(user: User) -> None:
    user.file("family.py", FAMILY)
    report = user.json(
        "trace", "job", "--if", "n > 2", "--do", "touch go; exec sleep 600", "--", sys.executable, "family.py"
    )
    assert (report["calls"], report["life"]["result"]) == (3, "66")
    assert [each["command"] for each in report["end"]["do"]] == ["touch go; exec sleep 600"]
    known, long = (dict(each) for _, each in rows(report["life"]["steps"][:2]))
    assert known == {"known": "(datetime.date(2026, 1, 2), Decimal('1.50'), <Colour.RED: 1>)"}
    assert long["many"] == "[0, 1, 2, 3, 4, 5, 6, 7, … 1,192 more (1,200 ints, 0 to 1199)]"
    assert long["word"].endswith("x'… of 1,200")
    user.file("shop.py", SHOP)
    held = user.json("trace", "total", "--call", "2", "--hold", "--", "python3", "shop.py")["held"]
    assert held == {"session": "shop", "lease": 600, "again": True}
    assert user.json("eval", "items")["values"][0]["value"] == "[{'price': 1}]"
    user.ok("stop")


@pytest.mark.parametrize("how", ["env -i python3 app.py", "python3 -S app.py", "env -i node app.js"])
def test_that_no_program_had_a_recorder_is_said_and_nothing_of_its_calls(user: User, how: str) -> None:
    user.file("app.py", "def f(n):\n    return n + 1\nprint(f(1))\n")
    user.file("app.js", "function f(n) {\n  return n + 1;\n}\nconsole.log(f(1));\n")
    runner = how.split()[-2] if how.startswith("env") else "python3"
    command = ("--", "sh", "-c", how.replace(runner, shutil.which(runner) or runner, 1))
    reason = "nothing was recorded: no Python or Node in it loaded the recorder (those in isolated mode, -I, -E or -S,"
    report = user.json("trace", "f", *command)
    assert (report["verdict"], report.get("life"), report["end"]["exit_code"]) == ("not recorded", None, 0), report
    assert report["notes"][0].startswith(reason)
    (place,) = user.json("probe", f"{how.split()[-1]}:2", "--expect", "n < 1", *command)["places"]
    assert (place["state"], place["message"].startswith(reason)) == ("unbound", True), place


@pytest.mark.skipif("3.11" not in INTERPRETERS, reason="from 3.12 on there is room for several")
def test_a_tracer_that_takes_the_recorders_place_is_named(user: User) -> None:
    user.file("other.py", "import sys\ndef start():\n    sys.settrace(lambda *_: None)\n")
    user.file("app.py", "import other\ndef f():\n    return 1\nother.start()\nf()\n")
    report = trace(user, "3.11", "f", "app.py")
    assert report["verdict"] == "not recorded", "whether it was called is not known"
    words = ("--eval", "1", "--", INTERPRETERS["3.11"], "app.py")
    unheard, heard = user.json("probe", "app.py:3", "app.py:4", *words)["places"]
    assert (unheard["state"], heard["state"], heard["count"]) == ("unbound", "reached", 1)
    assert unheard["message"] == "not recorded: whether it was reached cannot be told (see the note)"
    assert heard["message"] == "counted as far as the recorder heard of the program (see the note)"
    assert any("another tracer (other, other.py:3) took the place of the recorder" in each for each in report["notes"])


@pytest.mark.skipif("3.11" not in INTERPRETERS, reason="from 3.12 on there is room for several")
def test_a_tracer_in_c_that_takes_the_recorders_place_is_named_too(user: User) -> None:
    user.file(
        "app.py",
        "import ctypes, os\ndef f():\n    return 1\nctypes.pythonapi.PyEval_SetTrace(None, None)\nf()\nos._exit(0)\n",
    )
    report = trace(user, "3.11", "f", "app.py")
    assert report["verdict"] == "not recorded", "whether it was called is not known"
    assert any("(__main__, app.py:4) took the place of the recorder" in each for each in report["notes"])


@pytest.mark.skipif("3.13" not in INTERPRETERS, reason="until Python 3.11 there is no room for several")
def test_a_monitoring_tool_that_holds_its_lock_while_it_asks_for_events_is_not_kept_waiting(user: User) -> None:
    user.file("app.py", BESIDE)
    report = trace(user, "3.13", "f", "app.py")
    assert (report["verdict"], report["end"]["exit_code"]) == ("traced", 0), "as with coverage's core of this kind"


BESIDE = """\
import sys, threading

lock, monitoring = threading.Lock(), sys.monitoring

def started(code, offset):
    with lock:
        return monitoring.DISABLE

def f(n):
    return n + 1

monitoring.use_tool_id(1, "another")
with lock:
    monitoring.set_events(1, monitoring.events.PY_START)
    monitoring.register_callback(1, monitoring.events.PY_START, started)
    monitoring.register_callback(1, monitoring.events.LINE, None)
f(1)
"""
TAKEN = """\
import os, sys

def f(n):
    return n + 1

for tool in range(6):
    if sys.monitoring.get_tool(tool) == "stillframe":
        if sys.argv[1] == "freed":
            sys.monitoring.free_tool_id(tool)
        elif sys.argv[1] == "deafened":
            sys.monitoring.set_events(tool, 0)
        else:
            for event in (sys.monitoring.events.PY_START, sys.monitoring.events.LINE):
                sys.monitoring.register_callback(tool, event, None)
print(f(1), flush=True)
os._exit(0)
"""


@pytest.mark.skipif("3.13" not in INTERPRETERS, reason="until Python 3.11 there is no room for several")
@pytest.mark.parametrize("how", ["freed", "deafened", "unheard"])
def test_a_program_that_takes_the_recorders_room_goes_on_as_ever_and_that_is_told(user: User, how: str) -> None:
    user.file("taken.py", TAKEN)
    words = ("--python", INTERPRETERS["3.13"], "--", "python", "taken.py", how)
    report = user.json("trace", "f", *words)
    assert (report["end"]["exit_code"], report["end"]["output"]) == (0, "2\n"), report
    assert report["verdict"] != "never called", "whether it was is not known"
    assert any("took the recorder's place among the monitoring tools" in each for each in report["notes"])


ALONE = """\
import os, subprocess, sys

def f(n):
    return n + 1

kept = {**os.environ, "PYTHONPATH": "/elsewhere"}
match sys.argv[1:]:
    case []:
        print(f(1))
    case ["isolated"]:
        subprocess.run([sys.executable, "-I", __file__])
    case ["cleaned"]:
        subprocess.run([sys.executable, __file__], env=kept)
    case ["spawned"]:
        os.waitpid(os.posix_spawn(sys.executable, [sys.executable, __file__], kept), 0)
    case ["other"]:
        subprocess.run(["true"], env={})
    case ["shell"]:
        print(subprocess.check_output(f"unset PYTHONPATH; {sys.executable} {__file__}", shell=True, text=True), end="")
    case ["system"]:
        os.system(f"env -u PYTHONPATH {sys.executable} {__file__}")
    case ["became"]:
        os.execve(sys.executable, [sys.executable, __file__], kept)
"""
ALONE_JS = """\
const { execFileSync, spawn } = require('child_process');
const { Worker, isMainThread } = require('worker_threads');

function f(n) {
  return n + 1;
}
const kept = { ...process.env, NODE_OPTIONS: '' };
const how = isMainThread ? process.argv[2] : undefined;
if (!how) console.log(f(1));
if (how === 'cleaned') console.log(execFileSync(process.execPath, [__filename], { env: kept }).toString().trim());
if (how === 'spawned') spawn('node', [__filename], { env: kept, stdio: 'inherit' });
if (how === 'worker') new Worker(__filename, { env: kept });
if (how === 'other') execFileSync('true', [], { env: {} });
if (how === 'shell') process.stdout.write(execFileSync('sh', ['-c', `env -u NODE_OPTIONS node ${__filename}`]));
"""


@pytest.mark.long
@pytest.mark.parametrize("how", ["isolated", "cleaned", "spawned", "became", "js cleaned", "js spawned", "js worker"])
def test_what_a_program_starts_without_the_recorder_is_told_and_no_word_said_of_what_ran_there(
    user: User, how: str
) -> None:
    user.file("alone.py", ALONE)
    user.file("alone.js", ALONE_JS)
    *script, way = how.split()
    file, line, runner = ("alone.js", 5, "node") if script else ("alone.py", 4, INTERPRETERS.get("3.13", "python3"))
    report = user.json("trace", "f", "--", runner, file, way)
    assert (report["verdict"], report["end"]["exit_code"], report["end"]["output"]) == ("not recorded", 0, "2\n")
    assert ", which the program started, came up without the recorder (" in report["notes"][-1]
    (place,) = user.json("probe", f"{file}:{line}", "--expect", "n > 0", "--", runner, file, way)["places"]
    assert (place["state"], place["message"][:12]) == ("unbound", "not recorded"), place
    if way == "cleaned":
        assert user.json("trace", "f", "--", runner, file, "other")["verdict"] == "never called", (
            "that is no Python or Node"
        )


@pytest.mark.parametrize("how", ["shell", "system", "js shell"])
def test_where_nothing_was_reached_the_programs_are_named_behind_which_something_may_have_been(
    user: User, how: str
) -> None:
    user.file("alone.py", ALONE)
    user.file("alone.js", ALONE_JS)
    *script, way = how.split()
    file, line, runner = ("alone.js", 5, "node") if script else ("alone.py", 4, "python3")
    report = user.json("trace", "f", "--", runner, file, way)
    assert (report["verdict"], report["end"]["output"]) == ("never called", "2\n")
    assert report["notes"][-1].startswith("the program also started `sh -c "), report["notes"]
    found = user.json("probe", f"{file}:{line}", "--expect", "n > 0", "--", runner, file, way)
    assert found["places"][0]["state"] == "not_reached"
    said = "what such a program runs with an environment of its own is not recorded"
    assert any(said in each for each in found["notes"])
    reached = user.json("probe", f"{file}:{line}", "--expect", "n > 0", "--", runner, file)
    assert not any("also started" in each for each in reached.get("notes", ())), "it was reached"


def test_of_a_program_that_was_killed_nobody_says_that_a_function_was_never_called_without_a_doubt(user: User) -> None:
    user.file(
        "killed.py",
        "import os, signal, sys\ndef f():\n    return 1\n"
        "if sys.version_info >= (3, 12):\n    sys.monitoring.set_events(4, 0)\n"
        "    f()\nos.kill(os.getpid(), signal.SIGKILL)\n",
    )
    report = user.json("trace", "f", "--", INTERPRETERS.get("3.13", "python3"), "killed.py")
    said = "SIGKILL ended the program before the recorder could say whether it had heard of all of it"
    assert (report["verdict"], report["notes"][-1]) == ("never called", said)


PLAIN = """\
def price(item):
    return item["price"] * 2

def total(items):
    out = 0
    for item in items:
        out += price(item)
    return out

import logging
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("logged")
total([{"price": 3}, {"pice": 4}])
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_report_of_the_very_error_that_was_told_is_said_in_a_word(user: User, version: str) -> None:
    user.file("plain.py", PLAIN)

    def told(*words: str) -> str:
        return user.ok(*words, "--python", INTERPRETERS[version], "--", "python", "plain.py")

    own, line = "\nstderr: the error's own report, ", "line 2, in price"
    for text in (
        told("trace", "price", "--call", "2"),
        told("trace", "total", "--depth", "1"),
        told("probe", "plain.py:2", "--expect", 'item["price"] > 0'),
        told("probe", "plain.py:2", "--eval", 'item["price"]'),
    ):
        assert own in text and line not in text and "ZeroDivisionError" in text, text
    deep = told("trace", "total", "--depth", "1")
    assert " price(item={'pice': 4}) ! KeyError: 'price' plain.py:1\n" in deep, "in whichever turn it failed"
    for text in (
        told("trace", "total"),  # which does not tell where the call that it made failed
        told("trace", "price"),  # of which another call failed
        told("probe", "plain.py:2", "--eval", "len(item)"),
        told("probe", "plain.py:7", "--expect", 'item["price"] > 0'),  # equal, but not the very one
    ):
        assert own not in text and line in text, text


def test_the_report_of_another_process_is_said_in_a_word_where_the_error_was_told(user: User) -> None:
    user.file(
        "pool.py",
        "from concurrent.futures import ProcessPoolExecutor\n"
        "def parse(row):\n    return int(row)\n"
        "def work(rows):\n    return [parse(each) for each in rows]\n"
        "if __name__ == '__main__':\n    with ProcessPoolExecutor(2) as pool:\n"
        "        print(list(pool.map(work, ['12', '3x'])))\n",
    )

    def told(*words: str) -> str:
        return user.ok("trace", *words, "--", sys.executable, "pool.py")

    deep = told("parse", "--if", "row == 'x'")
    assert "\nstderr: the error's own report, " in deep and "_RemoteTraceback" not in deep, deep
    assert "ValueError: invalid literal" in told("work", "--if", "'x' in rows").partition("\nstderr:")[2], (
        "where, it did not tell"
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_the_program_itself_is_a_module_by_the_name_that_it_would_be_imported_by(user: User, version: str) -> None:
    user.file("shop/cart.py", "def total():\n    return 3\n\ntotal()\n")
    user.file("shop/__main__.py", "from . import cart\n\ndef main():\n    return cart.total()\n\nmain()\n")
    python = INTERPRETERS[version]
    asked = {
        ("shop/cart.py",): ("cart!total", "shop.cart!total", "cart.total", "__main__!total"),
        ("-m", "shop"): ("shop!main", "shop.main", "__main__!main", "cart!total"),
    }
    for command, places in asked.items():
        for place in places:
            report = user.json("trace", place, "--", python, *command)
            assert report["verdict"] == "traced", (command, place, report)
    assert user.json("trace", "art!total", "--", python, "shop/cart.py")["verdict"] == "no such function"


SILENT = """\
class Endless:
    def __repr__(self):
        while True:
            pass

def work(what):
    try:
        raise ValueError(what)
    except ValueError:
        return [1, 2]

work(Endless())
work({"a": [1]})
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_no_text_of_an_error_is_asked_of_what_it_holds(user: User, version: str) -> None:
    user.file("silent.py", SILENT)
    text = user.ok("trace", "work", "--", INTERPRETERS[version], "silent.py")
    assert "raises ValueError: <Endless>\n" in text and "= [1, 2]\n" in text, text
    text = user.ok("trace", "work", "--call", "2", "--", INTERPRETERS[version], "silent.py")
    assert "raises ValueError: {'a': [1]}\n" in text, text
