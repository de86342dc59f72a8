"""`hang`: who waits where, for what and held by whom, of a program that does not end; a session looked at so runs on."""

from __future__ import annotations

import re
import sys

import psutil
import pytest

from ..backends.npm import newer_node
from .conftest import User, eventually

LOCKS = """\
import multiprocessing, os, queue, subprocess, sys, threading

a, b, plain, lost = threading.RLock(), threading.RLock(), threading.Lock(), threading.Lock()
both, jobs = threading.Barrier(2), queue.Queue()

def transfer(source, target):
    with source:
        both.wait()
        with target:
            pass

def keep():
    with plain:
        kept.set() or both_kept.wait()

def want():
    plain.acquire()

def miss():
    with lost:
        pass

def take():
    return jobs.get()

def run():
    return subprocess.Popen(["sh", "-c", "head -c 1000000 /dev/zero; true"], stdout=subprocess.PIPE).wait()

def read():
    return os.read(os.pipe()[0], 1)

def put(items):
    for item in items:
        full.put(item)

full = multiprocessing.Queue(1)
both_kept, kept = threading.Event(), threading.Event()
lost.acquire()
for name, target, args in (
    ("one", transfer, (a, b)), ("two", transfer, (b, a)), ("keeper", keep, ()), ("first", want, ()),
    ("second", want, ()), ("misser", miss, ()),
    ("runner", run, ()), ("reader", read, ()), ("putter", put, ("ab",)), ("taker", take, ()),
):
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    if name == "keeper":
        kept.wait()
print("up", flush=True)
thread.join()
"""


@pytest.mark.long
def test_threads_are_told_by_place_with_what_they_wait_for_and_who_holds_it(user: User) -> None:
    user.file("locks.py", LOCKS)
    report = user.json("hang", "--timeout", "2", "--ready", "up", "--", "python3", "locks.py")
    told = {tuple(sorted(each["names"])): each for each in report["groups"]}

    def waits(*names: str) -> tuple[str, str | None]:
        group = told[names]
        return group["waits_for"], group.get("held_by")

    assert set(report["cycle"]) == {"one", "two"}
    assert waits("one") == ("RLock target", "two")
    assert waits("two") == ("RLock target", "one")
    assert waits("keeper") == ("an Event that is not set", None)
    assert waits("misser") == ("Lock lost", "unknown")
    assert waits("taker") == ("an item of a Queue that is empty", None)
    assert waits("MainThread") == ("thread taker to end", None)
    assert re.fullmatch(
        r"process \d+ to end, head \(pid \d+\) waits for room in a pipe that this process is to read \(fd \d+\)",
        waits("runner")[0],
    )
    assert waits("reader")[0].startswith("os.read(os.pipe()[0], 1): data from a pipe (fd ")
    assert waits("reader")[0].endswith(" could write to"), waits("reader")
    assert waits("putter") == ("room in a Queue, 1 of 1", None)
    wanting = [names for names in told if "first" in names or "second" in names]
    assert wanting == [("first", "second")]
    assert waits("first", "second") == ("Lock plain", "keeper (inside its with, locks.py:13)")
    frame = told["one",]["stack"]["frames"][0]
    assert (frame["function"], frame["line"]) == ("transfer", 9)
    assert user.json("sessions")["sessions"] == []
    hits = user.json("hits", "locks.py:9")["hits"]
    assert {(each["reason"], each["thread"]) for each in hits} == {("hang", "one"), ("hang", "two")}, (
        "it is in the record"
    )


FED = """\
import multiprocessing

def fill(queue):
    queue.put("x" * 1000000)

queue = multiprocessing.get_context("fork").Queue()
process = multiprocessing.get_context("fork").Process(target=fill, args=(queue,))
process.start()
process.join()
"""


@pytest.mark.long
def test_a_process_whose_queue_nobody_reads_is_told_by_its_parent_and_by_itself(user: User) -> None:
    user.file("fed.py", FED)
    report = user.json("hang", "--timeout", "2", "--", "python3", "fed.py")
    told = {each["names"][0]: (each["waits_for"], each.get("state")) for each in report["groups"]}
    assert re.fullmatch(
        r"process \d+ to end, which waits for room in a pipe that this process is to read \(fd \d+\)",
        told["MainThread in hang-fed"][0],
    )
    assert told["MainThread in hang-fed.1"] == ("thread QueueFeederThread to end", None)


TASKS = """\
import asyncio

async def first(box):
    await box["second"]

async def second(box):
    await asyncio.sleep(0)
    await box["first"]

async def main():
    box = {}
    box["second"] = asyncio.create_task(second(box), name="second")
    box["first"] = asyncio.create_task(first(box), name="first")
    nobody = asyncio.get_running_loop().create_future()
    waits = [asyncio.create_task(idle(nobody), name=f"idle-{n}") for n in range(3)]
    print("up", flush=True)
    await asyncio.gather(*box.values(), *waits)

async def idle(never):
    await never

asyncio.run(main())
"""


@pytest.mark.long
def test_tasks_are_told_with_what_they_await_and_a_cycle_of_them_is_named(user: User) -> None:
    user.file("tasks.py", TASKS)
    text = user.ok("hang", "--timeout", "2", "--ready", "up", "--do", "true", "--hold", "--", "python3", "tasks.py")
    rows = text.splitlines()
    assert "python3 tasks.py still running after 2 s; " in rows[0], "a command that ran beside it shortens nothing"
    assert any(row.startswith("do: true ") for row in rows), rows
    assert rows[1] in (
        "cycle: first waits for second waits for first",
        "cycle: second waits for first waits for second",
    )
    assert "1x first at tasks.py:4 in first, waits for task second" in rows
    assert "3x idle-0, idle-1, idle-2 at tasks.py:20 in idle, waits for a Future that nobody has set" in rows
    assert len(text) <= 4000
    assert rows[-1].startswith(
        "kept: session hang-tasks, given up after 10 minutes unused; it is blocked where nothing"
    )
    assert "<module> tasks.py:22" in user.ok("stack"), "what is kept can be looked at"
    small = user.ok("hang", "--budget", "400")
    assert len(small) <= 400 and small.startswith("hang-tasks still running; ")
    user.ok("stop")


def test_a_program_that_spins_is_held_where_it_does(user: User) -> None:
    user.file("spin.py", "def spin(items):\n    while items:\n        pass\nspin([1, 2])\n")
    held = user.json("hang", "--timeout", "1", "--hold", "--", "python3", "spin.py")["held"]
    assert held == {"session": "hang-spin", "lease": 600.0}
    assert user.json("eval", "len(items)")["values"][0]["value"] == "2"
    assert [each["value"] for each in user.json("expand", "items")["values"]] == ["1", "2"]
    assert user.json("frame", "f1")["frame"]["line"] == 4
    user.ok("stop")


POOLED = """\
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor

def inner():
    return 1

def outer():
    return pool.submit(inner).result()

async def crossed(mine, other):
    async with mine:
        await asyncio.sleep(0)
        async with other: pass

async def blocks():
    await asyncio.sleep(0.1)
    pool.submit(outer).result()

async def main():
    a, b = asyncio.Lock(), asyncio.Lock()
    tasks = [asyncio.create_task(crossed(a, b), name="ab"), asyncio.create_task(crossed(b, a), name="ba")]
    await asyncio.gather(*tasks, asyncio.create_task(blocks(), name="blocks"))

pool = ThreadPoolExecutor(1, thread_name_prefix="pool")
asyncio.run(main())
"""


@pytest.mark.long
def test_a_pool_that_waits_for_itself_and_a_task_that_blocks_its_loop_are_told_as_that(user: User) -> None:
    user.file("pooled.py", POOLED)
    report = user.json("hang", "--timeout", "2", "--", "python3", "pooled.py")
    waits = {each["names"][0]: each.get("waits_for") for each in report["groups"]}
    assert waits["MainThread"] == "the result of a Future that pool_0 works on"
    assert waits["pool_0"] == "the result of a Future that no worker has begun"
    assert waits["blocks"] == "what its thread waits for"
    held = {each["names"][0]: each.get("held_by") for each in report["groups"]}
    assert held["ab"] == "ba (inside its with, pooled.py:11)", "who waits in a with on one line holds nothing by it"


ALONE = """\
import asyncio, uvloop

async def refill(lock):
    async with lock:
        return 1

async def main():
    lock = asyncio.Lock()
    asyncio.get_running_loop().call_soon(lambda: print("up", flush=True))
    async with lock:
        await refill(lock)

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
"""


@pytest.mark.long
def test_tasks_of_a_loop_of_another_make_are_told_too_and_one_that_waits_for_itself(user: User) -> None:
    user.file("alone.py", ALONE)
    rows = user.ok("hang", "--timeout", "2", "--ready", "up", "--", sys.executable, "alone.py").splitlines()
    (task,) = [row for row in rows if " in refill, " in row]
    name = task.split()[1]
    assert rows[1] == f"cycle: {name} waits for itself", rows
    assert task == f"1x {name} at alone.py:4 in refill, waits for a Lock, held by {name} (inside its with, alone.py:10)"
    assert any(row.endswith("waits for its event loop, where nothing is ready") for row in rows), rows


def test_a_session_that_is_looked_at_goes_on_as_before(user: User) -> None:
    user.file(
        "late.py",
        "import os, threading, time\n"
        "def look():\n"
        "    while not os.path.exists('go'):\n"
        "        time.sleep(0.01)\n"
        "    done.set()\n"
        "done = threading.Event()\n"
        "threading.Thread(target=look).start()\n"
        "done.wait()\n"
        "print('went on')\n",
    )
    user.ok("launch", "late.py", "--break", "late.py:8")
    text = user.ok("hang")
    assert text.startswith("late held; ") and text.endswith("\nrecorded: values; late stays held\n"), text
    assert user.ok("continue", "--timeout", "0").startswith("late running")
    eventually(lambda: "at late.py:8 in <module>, waits for an Event that is not set" in user.ok("hang"), "no wait")
    user.file("go", "")
    told = user.json("wait", "--timeout", "20")
    assert (told["state"], told["exit_code"], told["output"]) == ("exited", 0, "went on\n")


def test_of_an_idle_event_loop_it_tells_what_keeps_it_alive_and_serves_on(user: User) -> None:
    user.file(
        "serve.js",
        "const server = require('http').createServer((request, response) => {\n"
        "  response.end('served');\n"
        "  server.close();\n"
        "}).listen(0, () => require('fs').writeFileSync('port', String(server.address().port)));\n",
    )
    user.ok("launch", "--timeout", "0", "--", "node", "serve.js")
    eventually(lambda: bool((user.here / "port").exists() and (user.here / "port").read_text()), "it never listened")
    text = user.ok("hang")
    assert "1x main, waits for its event loop: TCPServerWrap" in text
    assert text.startswith("serve still running; ") and text.endswith("\nrecorded: values; serve runs on\n"), text
    port = (user.here / "port").read_text()
    ask = f"python3 -c 'import urllib.request as u; print(u.urlopen(\"http://localhost:{port}\").read())'"
    until_its_end = f"timeout 60 tail --pid={user.pid().pid} -s 0.01 -f /dev/null"
    told = user.json("wait", "--do", f"{ask}; {until_its_end}", "--timeout", "60")
    assert (told["state"], told["exit_code"]) == ("exited", 0)


AWAITS = """\
const box = {};
const connect = () => new Promise(() => {});
async function load(n) {
  await null;
  return await connect();
}
async function first() {
  await null;
  await box.second;
}
async function second() {
  await box.first;
}
box.first = first();
box.second = second();
Promise.all([load(1), load(2)]).then(() => console.log('never'));
setInterval(() => {}, 1e6);
console.log('up', Promise.resolve(1));
"""


CHAINS = """\
const box = {};
function left() {
  return new Promise((resolve) => setImmediate(() => resolve(box.right)));
}
async function right() {
  return both().catch(() => 0);
}
function both() {
  return Promise.all([box.racer, box.left]);
}
async function racer() {
  await Promise.race([box.late, new Promise(() => {})]);
}
box.late = new Promise((resolve) => setImmediate(() => resolve(box.racer)));
box.racer = racer();
box.left = left();
box.right = right();
setImmediate(() => console.log('up'));
setInterval(() => {}, 1e6);
"""


ENDS = """\
async function fetch2() {
  await new Promise(() => {});
}
process.on('exit', () => console.log('bye'));
never();
"""


@pytest.mark.long
def test_of_pending_promises_it_tells_who_awaits_what_and_a_cycle_of_them_is_named(user: User) -> None:
    user.file("awaits.js", AWAITS)
    report = user.json("hang", "--timeout", "1", "--ready", "up", "--", "node", "awaits.js")
    awaits = [each for each in report["groups"] if each["what"] == "promise"]
    told = {tuple(each["names"]): (each["stack"]["frames"][0]["line"], each["waits_for"]) for each in awaits}
    assert set(report["cycle"]) == {"first", "second"}
    assert told["first",] == (9, "async call second")
    assert told["second",] == (12, "async call first")
    assert told["load", "load 2"] == (5, "new Promise made at awaits.js:2 in connect")
    assert told["<module>",] == (16, "Promise.all made at awaits.js:16 in <module>: load, load 2")
    assert report["end"]["output"] == "up Promise { 1 }\n", "promises are as in a plain run"
    report = user.json("crash", "--timeout", "1", "--ready", "up", "--", "node", "awaits.js")["hang"]
    assert set(report["cycle"]) == {"first", "second"}, "of what runs out of time crash tells the same"
    user.file("chains.js", CHAINS)
    report = user.json("hang", "--timeout", "1", "--ready", "up", "--", str(newer_node()), "chains.js")
    told = {each["names"][0]: each["waits_for"] for each in report["groups"] if each["what"] == "promise"}
    assert set(report["cycle"]) == {"left", "right", "right 2"}, "through `then`, `resolve`, `return` and `all`"
    assert told == {  # of what races, one may end the wait: no ring
        "left": "async call right",
        "right": "Promise.catch made at chains.js:6 in right: right 2",
        "right 2": "Promise.all made at chains.js:9 in both: racer, left",
        "racer": "Promise.race made at chains.js:12 in racer: <module>",
        "<module>": "async call racer",
    }
    user.file("ends.js", "const never = async () => {\n  await fetch2();\n};\n" + ENDS)
    rows = user.ok("hang", "--", "node", "ends.js").splitlines()
    assert rows[0].startswith("node ends.js does not hang: exit 0 after ")
    assert rows[0].endswith("; 2 calls still waited when it had nothing more to do")
    assert "1x never at ends.js:2 in never, waits for async call fetch2" in rows
    assert "1x fetch2 at ends.js:5 in fetch2, waits for new Promise made at ends.js:5 in fetch2" in rows
    assert rows[-2:] == ['output: "bye\\n"', "recorded: values only"]


@pytest.mark.long
def test_a_program_that_ends_does_not_hang_and_a_crash_that_takes_too_long_is_told_as_a_hang(user: User) -> None:
    user.file("late.py", "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\ntime.sleep(1.5)\n")
    late = user.ok("hang", "--timeout", "50", "--do", "touch go", "--", "python3", "late.py")
    assert "does not hang: exit 0 after" in late, "however long after the command that ran beside it"
    user.file(
        "spin.py",
        "import os\nopen('pid', 'w').write(str(os.getpid()))\nx = print('up', flush=True) or 1\nwhile x:\n    x += 1\n",
    )
    report = user.json("crash", "--timeout", "50", "--ready", "up", "--do", "true", "--", "python3", "spin.py")
    assert (report["verdict"], report["hang"]["after"]) == ("hangs", report["end"]["after"])
    assert report["notes"] == [
        "it was waited for until 1 s after the command of --do had ended, and was then ended",
        "no error left your code; dbg launch --catch raised with the same command stops at one that it catches itself",
    ]
    (group,) = report["hang"]["groups"]
    assert (group["names"], group["state"], group["stack"]["frames"][0]["line"] in (4, 5)) == (
        ["MainThread"],
        "running",
        True,
    )
    pid = int((user.here / "pid").read_text())
    eventually(lambda: not psutil.pid_exists(pid), "it was left behind")
    user.fails("hang", code=3, error="no_session")
    words = ("--env", "PYTHONUNBUFFERED=1", "--ready", "Serving", "--timeout", "0")
    served = user.json("hang", *words, "--", "python3", "-m", "http.server", "0", "--bind", "127.0.0.1")
    (group,) = served["groups"]
    assert (group["names"], group["stack"]["frames"][0]["library"]) == (["MainThread"], True), (
        "none of it is the user's"
    )
    plain = user.ok("hang", "--timeout", "0", "--", "sleep", "600")
    assert "\nnote: sleep itself runs without a debugger\n" in plain, plain


ATOMICS = """\
const { Worker, isMainThread, workerData } = require('worker_threads');
function wait(shared) {
  Atomics.wait(new Int32Array(shared), 0, 0);
}
if (isMainThread) {
  const shared = new SharedArrayBuffer(4);
  new Worker(__filename, { workerData: shared });
  wait(shared);
} else {
  wait(workerData);
}
"""


def test_threads_of_node_that_wait_for_each_other_are_said_to(user: User) -> None:
    user.file("atomics.js", ATOMICS)
    report = user.json("hang", "--timeout", "2", "--", "node", "atomics.js")
    told = {each["names"][0].partition(" in ")[0]: each.get("waits_for") for each in report["groups"]}
    assert told == {"main": "an Atomics.notify", "worker atomics.js": "an Atomics.notify"}
