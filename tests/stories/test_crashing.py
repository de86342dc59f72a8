"""`crash`: one call from a failing program to its reason, whichever way it fails; and a good end is told as one."""

from __future__ import annotations

import re
import sys

import psutil
import pytest

from ..conftest import INTERPRETERS
from .conftest import User, eventually, gone

SHOP = """\
import sys

def total(items):
    out = 0
    for item in items:
        price = item["price"]
        out += price * item["qty"]
    return out

def checkout(cart, user):
    try:
        return total(cart)
    except KeyError as missing:
        raise ValueError(f"bad cart of {user}") from missing

print("loaded")
checkout([{"price": 2.0, "qty": 12}, {"price": 4.0}], "ann")
"""


def test_an_uncaught_exception_is_told_with_its_causes_its_calls_and_its_end(user: User) -> None:
    user.file("shop.py", SHOP)
    text = user.ok("crash", "--", "python3", "shop.py")
    rows = text.splitlines()
    assert rows[0].startswith("ValueError: bad cart of ann at shop.py:14 in checkout; exit 1 after ")
    assert rows[1] == "  from KeyError: 'qty' at shop.py:7 in total"
    assert rows[2].startswith("    out=24.0, price=4.0, item={'price': 4.0}, items=[")
    assert '> 14          raise ValueError(f"bad cart of {user}") from missing' in rows
    assert "  user='ann', cart=[{'price': 2.0, 'qty': 12}, {'price': 4.0}]" in rows
    assert '< <module> shop.py:17  checkout([{"price": 2.0, "qty": 12}, {"price": 4.0}], "ann")' in rows
    assert 'output: "loaded\\n"' in rows
    assert rows[-1] == "recorded: values only (--hold keeps it live)"
    report = user.json("crash", "--", "python3", "shop.py")
    failure = report["failure"]
    assert (report["verdict"], report["end"]["exit_code"]) == ("crashed", 1)
    assert [frame["function"] for frame in failure["stack"]["frames"]] == ["checkout", "<module>"]
    assert "Traceback" in report["end"]["stderr"]
    assert not any("ref" in value for frame in failure["stack"]["frames"] for value in frame.get("values", ()))
    assert user.json("sessions")["sessions"] == []
    assert "shop.py:14" in user.ok("hits", "shop.py:14")
    small = user.ok("crash", "--budget", "200")
    assert (
        small.startswith("ValueError: bad cart of ann at shop.py:14 in checkout; exit 1 after ") and len(small) <= 201
    )
    user.file("stillframe.toml", "record = false\n")
    assert user.ok("crash").splitlines()[-1] == "not recorded: recording is turned off (--hold keeps it live)"


WAYS = """\
import asyncio, atexit, logging, multiprocessing, os, sys, threading, traceback; LIMIT = 1

def by_code(limit):
    sys.exit(3)

def at_once(limit):
    os._exit(4)

def deep(n):
    return deep(n + 1)

async def job(n):
    raise RuntimeError(f"job {n}")

async def main():
    asyncio.create_task(job(7))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

def work(n):
    assert n < LIMIT, f"n is {n}"

class Kept:
    def __init__(self, n): self.n = n
    def __del__(self):
        work(self.n)

def bye(names):
    print(names["nme"])

def load(path):
    return {}[path]

def logs(path):
    try:
        return load(path)
    except KeyError:
        logging.exception("no file")
        return 5

def quiet(path):
    try:
        return load(path)
    except KeyError:
        return 5

match sys.argv[1]:
    case "code":
        by_code(9)
    case "once":
        at_once(9)
    case "deep":
        deep(0)
    case "task":
        asyncio.run(main())
    case "thread":
        for n in range(3):
            thread = threading.Thread(target=work, args=(n,), name=f"w{n}")
            thread.start()
            thread.join()
    case "child":
        child = multiprocessing.get_context("fork").Process(target=work, args=(8,))
        child.start()
        child.join()
    case "abort":
        os.abort()
    case "kill":
        os.kill(os.getpid(), 9)
    case "well":
        print("fine")
    case "pool":
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.map(work, [8])
    case "del":
        Kept(1)
        print("on")
    case "late":
        kept = Kept(2)
    case "atexit":
        atexit.register(bye, {"name": 1})
    case "logged":
        sys.exit(logs("cfg"))
    case "silent":
        sys.exit(quiet("cfg"))
    case "printed":
        try:
            logs("cfg") and work(5)
        except AssertionError:
            traceback.print_exc()
            sys.exit(6)
    case "uvloop":
        import uvloop

        asyncio.Runner(loop_factory=uvloop.new_event_loop).run(main())
"""


@pytest.mark.long
def test_each_way_to_fail_is_named_and_a_good_end_is_none(user: User) -> None:
    user.file("ways.py", WAYS)

    def told(way: str) -> list[str]:
        return user.ok("crash", "--", sys.executable, "ways.py", way).splitlines()

    code = told("code")
    assert code[0].startswith("SystemExit: 3 at ways.py:4 in by_code; exit 3 after "), code
    assert "  limit=9" in code
    assert told("once")[0].startswith("os._exit: 4 at ways.py:7 in at_once; exit 4 after ")
    deep = told("deep")
    assert deep[0].startswith("RecursionError: maximum recursion depth exceeded"), deep
    assert any("calls" in row for row in deep) and any(row.startswith("< <module> ways.py:") for row in deep), deep
    assert len("\n".join(deep)) <= 4000
    for way in ("task", "uvloop"):
        task = told(way)
        assert task[0].startswith("RuntimeError: job 7 at ways.py:13 in job; exit 0 after "), task
    thread = told("thread")
    assert thread[0].startswith("AssertionError: n is 1 at ways.py:21 in work, thread w1; exit 0 after "), thread
    assert "  n=1, LIMIT=1" in thread
    assert "also: AssertionError: n is 2 at ways.py:21 in work, thread w2" in thread
    child = told("child")
    assert child[0].startswith("AssertionError: n is 8 at ways.py:21 in work, in its child crash-ways.1; exit 0"), child
    pool = told("pool")
    assert pool[0].startswith("AssertionError: n is 8 at ways.py:73 in <module>; exit 1 after "), pool
    assert re.fullmatch(
        r"  from RemoteTraceback: in another process at .*ways.py:21 in work: AssertionError: n is 8", pool[1]
    )
    assert pool[2].startswith("    n=8"), pool
    kept = told("del")
    assert kept[0].startswith("AssertionError: n is 1 at ways.py:21 in work; exit 0 after "), kept
    assert "< Kept.__del__ ways.py:26  work(self.n)  self=Kept(n=1)" in kept and 'output: "on\\n"' in kept, kept
    assert not any("ignored" in row for row in kept), kept
    late = told("late")
    assert late[0].startswith("AssertionError: n is 2 at ways.py:21 in work; exit 0 after "), late
    assert any("no values" in row for row in late) and not late[-1].startswith("recorded:"), late
    assert told("atexit")[0].startswith("KeyError: 'nme' at ways.py:29 in bye; exit 0 after ")
    logged = told("logged")
    assert logged[0].startswith("SystemExit: 5 at ways.py:"), logged
    assert "handled before the exit: KeyError: 'cfg' at ways.py:32 in load" in logged and "  path='cfg'" in logged
    assert 'stderr: "ERROR:root:no file\\n"' in logged, logged
    (note,) = (row for row in told("silent") if row.startswith("note: "))
    assert "dbg launch --catch raised -- " in note and "silent" in note
    printed = told("printed")
    assert printed[0].startswith("SystemExit: 6 at ") and printed[1].startswith(
        "  while handling AssertionError: n is 5"
    )
    assert "handled before the exit: KeyError: 'cfg' at ways.py:32 in load" in printed, printed
    abort = told("abort")
    assert abort[0].startswith("SIGABRT: Aborted at ways.py:66 in <module>; ended by SIGABRT after "), abort
    assert not any("_target" in row for row in abort), abort
    assert "ended by SIGKILL" in told("kill")[0]
    well = told("well")
    assert "ended well: exit 0 after" in well[0] and well[1:] == ['output: "fine\\n"'], well


RUNS = """\
import sys

def load(path):
    return {}[path]

def run(path):
    try:
        load(path)
    except KeyError:
        sys.excepthook(*sys.exc_info())
        return int(sys.excepthook is sys.__excepthook__)

sys.exit(run("cfg"))
"""


def test_an_error_that_a_program_gives_to_the_hook_itself_is_told(user: User) -> None:
    user.file("runs.py", RUNS)
    rows = user.ok("crash", "runs.py").splitlines()
    assert rows[0].startswith("SystemExit: 1 at runs.py:13 in <module>; exit 1 after "), rows
    assert "handled before the exit: KeyError: 'cfg' at runs.py:4 in load" in rows and "  path='cfg'" in rows, rows


CARRYING = """\
import json, sys

class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"refused with {status}")
        self.status, self.body, self.cause = status, body, None

def order(quantity):
    try:
        raise Refused(422, {"quantity": quantity})
    except Refused as error:
        if sys.version_info >= (3, 11):
            error.add_note("the 3rd of\\n5 orders, password='hunter2hunter2'")
        raise

if len(sys.argv) > 1:
    json.loads(" " * 100 + "[1, 2,]") if sys.argv[1] == "parse" else b"caf\\xe9!".decode()
order(-1)
"""


def test_what_an_error_carries_beside_its_message_is_told(user: User) -> None:
    user.file("order.py", CARRYING)
    rows = user.ok("crash", "--", sys.executable, "order.py").splitlines()
    assert rows[0].startswith("Refused: refused with 422 at order.py:10 in order")
    assert rows[1:3] == [
        "  noted: the 3rd of 5 orders, password='[redacted: named password]'",
        "  with body={'quantity': -1}",
    ]
    assert "with object=b'caf\\xe9!'" in user.ok("crash", "--", sys.executable, "order.py", "decode")
    at = 65 if sys.version_info >= (3, 14) else 66  # which tells where the comma is, not what follows it
    assert f"with doc[{at}:{at + 80}]=" in user.ok("crash", "--", sys.executable, "order.py", "parse")
    user.file("broken.py", "def f():\n    if True\n        pass\n")
    user.file("order_in.py", "import broken\n")
    told = user.ok("crash", "--", sys.executable, "order_in.py").splitlines()[1]
    assert told.startswith("  with filename='") and told.endswith("broken.py', text='if True'")
    user.file("test_order.py", "import order_of\n\ndef test_order():\n    order_of.order(-1)\n")
    user.file("order_of.py", CARRYING.replace("\norder(-1)\n", "\n").replace("len(sys.argv) > 1", "False"))
    (failure,) = user.json("test", "test_order.py", "--once")["failures"]
    assert (failure["added"], [each["name"] for each in failure["held"]]) == (
        ["the 3rd of\n5 orders, password='[redacted: named password]'"],
        ["body"],
    )


LOGGING = """\
import atexit, logging, sys, threading

def load(rows):
    return rows["first"]

atexit.register(print, "a lock is left behind", file=sys.stderr)
try:
    load({})
except KeyError:
    logging.exception("nothing loaded")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
print("going on", file=sys.stderr)
try:
    raise ValueError("two\\nlines")
except ValueError as error:
    raise RuntimeError("three\\nmore\\nlines") from error
"""


def test_only_what_the_runtime_wrote_of_the_told_errors_is_left_out_of_what_was_printed(user: User) -> None:
    user.file("logs.py", LOGGING)
    report = user.json("crash", "--", "python3", "logs.py")
    assert [each["what"] for each in (report["failure"], *report["also"])] == [
        "ZeroDivisionError: division by zero",
        "RuntimeError: three\nmore\nlines",
    ]
    text = user.ok("crash", "--", "python3", "logs.py")
    _, _, said = text.partition("stderr: the error's own report, ")
    rows = [row.strip() for row in said.splitlines()]
    assert [row for row in rows if not row.startswith(("File ", "^", "~"))][1:] == [
        "stderr:",
        "ERROR:root:nothing loaded",
        "Traceback (most recent call last):",
        "load({})",
        'return rows["first"]',
        "KeyError: 'first'",
        "going on",
        "a lock is left behind",
        "recorded: values only (--hold keeps it live)",
    ]


HANDED = """\
import logging, queue, sys, threading, traceback

def share(order):
    return 10 / order["parts"]

def work(results):
    try:
        share({"parts": 0})
    except Exception as error:
        logging.exception("no share")
        results.put((type(error), error.args))

def kept():
    try:
        share({"parts": 0})
    except Exception as error:
        logging.exception("no share")
        traceback.clear_frames(error.__traceback__)
        return error

if sys.argv[1] == "kept":
    raise kept()
results = queue.Queue()
threading.Thread(target=work, args=(results,), name="sharer").start()
kind, given = results.get()
raise kind(*given)
"""


def test_an_error_that_was_made_anew_or_whose_calls_were_cleared_has_the_values_it_was_reported_with(
    user: User,
) -> None:
    user.file("handed.py", HANDED)
    rows = user.ok("crash", "--", "python3", "handed.py", "anew").splitlines()
    assert rows[0].startswith("ZeroDivisionError: division by zero at handed.py:26 in <module>; exit 1 after ")
    at = rows.index(
        "an equal error, handled before that: ZeroDivisionError: division by zero at handed.py:4 in share, thread sharer"
    )
    assert "  order={'parts': 0}" in rows[at:]
    rows = user.ok("crash", "--", "python3", "handed.py", "kept").splitlines()
    assert rows[0].startswith("ZeroDivisionError: division by zero at handed.py:4 in share; exit 1 after ")
    assert "  order={'parts': 0}" in rows and not any("an equal error" in each for each in rows)
    assert "note: its calls were cleared since it was caught: the values are those of then" in rows


def test_a_python_by_another_name_is_one_and_a_script_that_is_not_executable_is_told_how_to_run(user: User) -> None:
    user.file("shop.py", SHOP)
    (user.here / "py").symlink_to(sys.executable)
    assert user.json("crash", "--", "./py", "shop.py")["failure"]["what"] == "ValueError: bad cart of ann"
    assert "as in: shop.py" in user.fails("crash", "--", "./shop.py", code=1, error="launch_failed")


KILLED = """\
import ctypes, faulthandler, sys, threading

faulthandler.enable()
started, never = threading.Event(), threading.Event()

def background():
    started.set()
    never.wait()

def poke(address):
    return ctypes.string_at(address)

threading.Thread(target=background, daemon=True).start()
started.wait()
print("going", end=" ", file=sys.stderr, flush=True)
poke(0)
"""


def test_of_all_threads_that_python_writes_down_the_one_that_a_signal_hit_is_told(user: User) -> None:
    user.file("killed.py", KILLED)
    report = user.json("crash", "--", "python3", "killed.py")
    frames = [(each["function"], each["line"]) for each in report["failure"]["stack"]["frames"]]
    assert (report["failure"]["what"], frames) == ("SIGSEGV: Segmentation fault", [("poke", 11), ("<module>", 16)])
    said = report["end"]["stderr"]
    assert said.startswith("going ") and "in background" in said, "the program's other threads are what it wrote"
    assert "pydevd" not in said and "stillframe" not in said and "Current thread" not in said
    text = user.ok("crash", "--hold", "--", "python3", "killed.py")
    assert "there are places, and no values" in text and "--hold" not in text, "nothing was held, and nothing can be"


def test_a_program_that_cannot_even_begin_is_a_crash_and_one_that_is_not_there_an_error(user: User) -> None:
    user.fails("crash", code=2, error="usage")
    user.file("wrong.py", "def f(:\n")
    report = user.json("crash", "--", "python3", "wrong.py")
    assert (report["verdict"], report["end"]["exit_code"], "failure" in report) == ("crashed", 1, False)
    assert "SyntaxError" in report["end"]["stderr"]
    assert "no such file" in user.fails("crash", "none.py", code=1, error="launch_failed")
    user.file("some.py", "print(1)\n")
    assert "(try: dbg launch some.py --break some.py:1)" in user.fails("crash", "some.py:1", code=2, error="usage")
    assert user.json("crash")["command"] == ["python3", "wrong.py"], "what never ran is no last command"


def test_a_held_crash_is_an_ordinary_session_until_it_is_stopped(user: User) -> None:
    user.file("shop.py", SHOP)
    text = user.ok("crash", "--hold", "--", "python3", "shop.py")
    assert text.splitlines()[-1].startswith("held: session crash-shop, given up after 10 minutes unused")
    assert user.ok("eval", "len(cart) * 2", "user").splitlines() == ["len(cart) * 2 = 4", "user = 'ann'"]
    assert [each["value"] for each in user.json("expand", "cart")["values"]] == [
        "{'price': 2.0, 'qty': 12}", "{'price': 4.0}",
    ]  # fmt: skip
    assert user.json("frame", "f1")["frame"]["function"] == "<module>"
    held: psutil.Process = user.pid()
    user.ok("stop")
    eventually(lambda: gone(held), "the program was left behind")


FLAKY = """\
import pathlib

def merge(batch, seen):
    seen.extend(batch)
    assert seen == sorted(seen), f"out of order: {seen}"

def feed(n):
    batch = ["b", "a"] if n % 3 == 1 else ["a", "b"]
    merge(batch, [])

counter = pathlib.Path("count")
n = int(counter.read_text()) if counter.exists() else 0
counter.write_text(str(n + 1))
feed(n)
"""


SELDOM = """\
def pick():
    counter = pathlib.Path("count")
    n = int(counter.read_text()) + 1
    counter.write_text(str(n))
    return n % 2 == 0

if pick():
    raise OSError("this time")
"""


KINDS = """\
import pathlib
before = pathlib.Path("kinds").read_text() if pathlib.Path("kinds").exists() else ""
pathlib.Path("kinds").write_text(before + ".")
raise (ValueError if len(before) == 1 else KeyError)("no")
"""


@pytest.mark.long
def test_runs_again_and_again_tell_how_often_it_fails_and_what_is_otherwise_then(user: User) -> None:
    user.file("flaky.py", FLAKY)
    report = user.json("crash", "--repeat", "9", "--until-fail", "--", "python3", "flaky.py")
    repeated = report["repeated"]
    assert (repeated["runs"], repeated["failed"], repeated["first"]) == (2, 1, 2)
    assert [each["count"] for each in repeated["kinds"]] == [1]
    assert report["failure"]["what"] == "AssertionError: out of order: ['b', 'a']"
    assert repeated["compared"] == "1 of 3 further runs failed, held at 3 places of the failure"
    found = repeated["difference"]  # and not `n`, which is another one in every run
    assert (found["function"], found["line"]) == ("feed", 9)
    assert [(each["name"], each["old"], each["new"]) for each in found["differences"]] == [
        ("batch", "['a', 'b']", "['b', 'a']")
    ]
    user.file("seldom.py", FLAKY.split("counter =")[0] + SELDOM)
    text = user.ok("crash", "--repeat", "2", "--", "python3", "seldom.py")
    assert "\nfirst difference: seldom.py:15 in pick, hit 1: returned False -> True\n" in text, text
    assert "further runs failed, recorded with the calls that it made, " in text
    assert text.startswith("failed 1 of 2 runs, one kind of failure; the first was run ")
    user.file("kinds.py", KINDS)
    text = user.ok("crash", "--repeat", "3", "--", "python3", "kinds.py")
    assert text.startswith(
        "failed 3 of 3 runs, 2 kinds of failure; the first was run 1\n"
        "  2x KeyError at kinds.py:4 in <module>\n  1x ValueError at kinds.py:4 in <module>\n"
    ), text
    user.fails("crash", "--repeat", "0", "flaky.py", code=2, error="usage")
    user.fails("crash", "--repeat", "2", "--hold", "flaky.py", code=2, error="usage")


def test_who_ends_a_node_program_with_a_failing_code_is_told_and_can_be_held_there(user: User) -> None:
    user.file(
        "quit.js",
        "const CODES = { bad: 5 };\nfunction quit(state) {\n  if (state.bad) process.exit(CODES.bad);\n}\nquit({ bad: 1 });\n",
    )
    rows = user.ok("crash", "--", "node", "quit.js").splitlines()
    assert rows[0].startswith("exit called at quit.js:3 in quit; exit 5 after "), rows
    assert "  state={bad: 1}, CODES={bad: 5}" in rows
    user.ok("crash", "--hold", "--", "node", "quit.js")
    assert user.ok("eval", "state.bad + 1") == "state.bad + 1 = 2  (number)\n"
    code = "function f(x) { const y = x + 1; throw new Error('odd ' + y); } f(3)"
    rows = user.ok("crash", "--", "node", "-e", code).splitlines()
    assert rows[0].startswith("Error: odd 4 at [eval]:1 in f; exit 1 after "), rows
    assert "  x=3, y=4" in rows
    user.file("inner.js", "require('vm').runInThisContext('null.x');\n")
    user.file("unread.js", "function f( { return 1 }\n")
    unread = user.ok("crash", "--", "node", "unread.js")
    assert unread.startswith("SyntaxError: ") and " at unread.js:1 in <module>; exit 1 after " in unread, unread
    inner = user.ok("crash", "--", "node", "inner.js")
    assert inner.startswith("TypeError: Cannot read properties of null (reading 'x') at "), inner
    lost = "\nnote: nobody caught TypeError: Cannot read properties of null (reading 'x'), and V8 lost it"
    assert "; exit 1 after " in inner or lost in inner, inner  # V8 forgets it up to Node 22
    user.file(
        "fine.js",
        "const fs = require('fs');\ntry { null.x; } catch { fs.writeFileSync('up', ''); }\nconsole.log('serving');\n"
        "setInterval(() => fs.existsSync('asked') && process.exit(0), 5);\n",
    )
    asks = "test -e up && touch asked; exec sleep 600"  # which is waited for no longer than the program
    fine = user.ok("crash", "--ready", "serving", "--do", asks, "--", "node", "fine.js")
    assert "ended well: exit 0 after" in fine, "what was caught on the way did not call for the command"


THROWING = """\
const fs = require('fs');
for (let at = 0; at < 150; at++) try { JSON.parse('x' + at); } catch {}
function price(name) {
  const known = { a: { net: 3 } };
  return known[name].net;
}
const timer = setInterval(() => {
  if (!fs.existsSync('asked')) return;
  clearInterval(timer);
  try { price('c'); } catch {}
}, 5);
console.log('serving');
"""


def test_an_error_of_an_answer_is_told_however_many_a_server_threw_and_caught_as_it_came_up(user: User) -> None:
    user.file("server.js", THROWING)
    rows = user.ok("crash", "--ready", "serving", "--do", "touch asked", "--", "node", "server.js").splitlines()
    assert rows[0].startswith(
        "TypeError: Cannot read properties of undefined (reading 'net') at server.js:5 in price, "
    ), rows
    assert "  name='c', known={a: {net: 3}}" in rows or "  known={a: {net: 3}}, name='c'" in rows, rows
    assert not any("JSON" in row for row in rows), "what was caught before is no answer"


SERVER = """\
import io
import os
import sys
import time
from wsgiref.handlers import SimpleHandler

class Shop:
    def __init__(self):
        self.notes, self.prices = ["long"] * 90, {"a": 3}

    def answer(self, environ, start_response):
        name = environ["QUERY_STRING"]
        return [self.prices[name]]

print("serving", flush=True)
while not os.path.exists("asked"):
    time.sleep(0.01)
SimpleHandler(io.BytesIO(), io.BytesIO(), sys.stderr, {"QUERY_STRING": "c", "SERVER_PROTOCOL": "HTTP/1.0"}).run(Shop().answer)
"""


ITSELF = """\
def price(self, name):
        try:
            return self.prices[name]
        except KeyError:
            return b"none"

    def answer\
"""


POOL = """\
import os
import time
from concurrent.futures import ThreadPoolExecutor

def price(name):
    return {"a": 3}[name]

print("serving", flush=True)
while not os.path.exists("asked"):
    time.sleep(0.01)
with ThreadPoolExecutor() as pool:
    pool.submit(price, "c").result()
"""


def test_an_error_that_a_framework_caught_is_what_a_server_is_asked_about(user: User) -> None:
    user.file("server.py", SERVER)
    asks = "touch asked; exec sleep 600"
    rows = user.ok("crash", "--ready", "serving", "--do", asks, "--", "python", "server.py").splitlines()
    assert rows[0].startswith(
        "KeyError: 'c' at server.py:13 in Shop.answer, which library code caught; exit 0 after "
    ), rows
    part = "  self.prices={'a': 3}, self=Shop(notes=["  # what the line reads of an object that is told in part
    assert any(row.startswith(part) for row in rows), rows
    assert not any("catches itself" in row for row in rows), rows
    user.file("itself.py", SERVER.replace("self.prices[name]", "self.price(name)").replace("def answer", ITSELF))
    rows = user.ok("crash", "--ready", "serving", "--do", asks, "--", "python", "itself.py").splitlines()
    itself = (
        "no error left your code; dbg launch --catch raised with the same command stops at one that it catches itself"
    )
    assert f"note: {itself}" in rows, (
        "an error that is handled in the user's own code is common in Python, and not told"
    )
    user.file("pool.py", POOL)
    rows = user.ok("crash", "--ready", "serving", "--do", asks, "--", "python", "pool.py").splitlines()
    assert rows[0].startswith("KeyError: 'c' at pool.py:6 in price; exit 1 after "), rows
    assert not any(row.startswith("also: ") for row in rows), "one that was caught and raised again is one"


GROUPS = """\
import asyncio, logging

async def job(n):
    await asyncio.sleep(0)
    if n:
        raise ValueError(f"job {n}") if n == 1 else KeyError(n)

async def main():
    try:
        async with asyncio.TaskGroup() as tg:
            for n in range(3):
                tg.create_task(job(n))
    except* ValueError:
        logging.exception("lost")

asyncio.run(main())
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the groups of exceptions of 3.11")
def test_of_two_groups_that_say_the_same_only_the_report_of_the_one_that_was_told_is_left_out(user: User) -> None:
    user.file("groups.py", GROUPS)
    text = user.ok("crash", "--", sys.executable, "groups.py")
    assert "\n  KeyError: 2 at groups.py:6 in job\n" in text and "\nstderr: the error's own report, " in text, text
    _, _, printed = text.rpartition("\nstderr:")
    assert "| ValueError: job 1\n" in printed and "KeyError: 2" not in printed, text


def test_an_exit_in_a_library_after_an_error_that_was_only_printed_tells_how_to_stop_there(user: User) -> None:
    user.file(
        "app.py",
        "import argparse\nsaid = ''\ndef bad():\n    raise ValueError('no config')\n"
        "try:\n    bad()\nexcept ValueError as error:\n    said = str(error)\nargparse.ArgumentParser().exit(1, said)\n",
    )
    told = user.ok("crash", "--", "python", "app.py").splitlines()
    assert told[0].startswith("SystemExit: 1 at app.py:9 in <module>; exit 1 after "), told
    (note,) = (row for row in told if row.startswith("note: "))
    assert note.endswith("dbg launch --catch raised -- python app.py stops at one that is caught in silence"), note
    stopped = user.ok("launch", "--catch", "raised", "--", "python", "app.py")
    assert "stopped: ValueError: no config at app.py:4 in bad\n" in stopped, stopped
    user.ok("stop")


ENDLESS = """\
class Endless:
    def __repr__(self):
        while True:
            pass

try:
    raise KeyError(Endless())
except KeyError as error:
    raise ValueError(Endless()) from error
"""


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_an_error_whose_text_never_comes_is_held_where_it_was_raised(user: User, version: str) -> None:
    user.file("endless.py", ENDLESS)
    text = user.ok("crash", "--timeout", "12", "--", INTERPRETERS[version], "endless.py")
    assert text.startswith("ValueError at endless.py:9 in <module>; "), text
    assert "from KeyError at endless.py:7 in <module>" in text, text
    user.ok("launch", "--", INTERPRETERS[version], "endless.py")
    assert "ValueError, uncaught\n" in user.ok("exception")
    user.ok("stop")
