"""A step ends in the next code of the user that runs, also when an exception or a generator is what leads there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import PYTHONS
from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

LEFT = """
import json
def fails(x):
    y = 1
    return y / x  # @here
def hook(pairs):
    return fails(0)
def passes_on():
    return json.loads("{}", object_hook=hook)
def handles():
    try:
        passes_on()
    except ZeroDivisionError:  # @handler
        b = 2
    return 1
handles()
print("over")
"""


def mark(text: str, name: str) -> int:
    return 1 + next(i for i, row in enumerate(text.splitlines()) if name in row)


def moved(peer: Peer, thread: int, *commands: str, reason: str = "step") -> list[Any]:
    """Where each of these moves ended: function and line."""
    peer.request("setBreakpoints", source={"path": peer.stop(thread)["frames"][0]["file"]}, breakpoints=[])
    passed = []
    for command in commands:
        peer.resume(command, thread)
        peer.stopped(reason=reason)
        stop = peer.stop(thread)
        top = stop["frames"][stop["at"]]
        passed.append((top["function"], top["line"]))
    return passed


def assert_runs_to_its_end(target: Target, peer: Peer, thread: int) -> None:
    peer.resume("continue", thread)
    assert not [event for event in peer.rest() if event["event"] == "stopped"]
    assert target.end() == (0, "over\n", "")


def monitored(python: str) -> bool:
    """Whether this interpreter is watched by sys.monitoring. sys.settrace also tells of frames that are left on the way."""
    return python in map(PYTHONS.get, ("3.12", "3.13", "3.14"))


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_a_step_out_of_a_frame_that_raises_ends_in_the_handler(run_to: RunTo, deep_python: str, command: str) -> None:
    target, peer, thread = run_to(deep_python, LEFT)
    handler = ("handles", mark(LEFT, "@handler"))
    passed = moved(peer, thread, command)
    while passed[-1] != handler:
        assert not monitored(deep_python) and passed[-1][0] in ("hook", "passes_on", "handles")
        passed += moved(peer, thread, "next")
    assert peer.stop(thread)["returned"] == []
    assert moved(peer, thread, "next") == [("handles", mark(LEFT, "b = 2"))]
    assert_runs_to_its_end(target, peer, thread)


def test_so_it_does_on_every_version(run_to: RunTo, other_python: str) -> None:
    text = (
        "def f():\n    raise KeyError  # @here\ntry:\n    f()\nexcept KeyError:  # @handler\n    pass\nprint('over')\n"
    )
    target, peer, thread = run_to(other_python, text)
    assert moved(peer, thread, "next") == [("<module>", 5)]
    assert_runs_to_its_end(target, peer, thread)


DEEP = """
def down(n):
    if n:
        return down(n - 1)
    raise KeyError(n)  # @here
def top():
    for n in range(2):
        try:
            down(300 * n)
        except KeyError:  # @handler
            pass
top()
print("over")
"""


def test_a_raise_through_many_frames_ends_a_step_in_their_callers_handler(run_to: RunTo, new_python: str) -> None:
    target, peer, thread = run_to(new_python, DEEP)
    assert moved(peer, thread, "stepOut") == [("top", mark(DEEP, "@handler"))]
    assert moved(peer, thread, *["next"] * 5)[-1] == ("top", mark(DEEP, "@handler"))
    assert_runs_to_its_end(target, peer, thread)


CLEANING = """
class Guard:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.closed = True  # @exit
def fails():
    raise ValueError  # @here
def guarded():
    with Guard():
        fails()
def finally_too():
    try:
        guarded()
    finally:
        done = 1  # @finally
try:
    finally_too()
except ValueError:
    pass
print("over")
"""


def test_what_cleans_up_on_the_way_is_stepped_through(run_to: RunTo, new_python: str) -> None:
    target, peer, thread = run_to(new_python, CLEANING)
    assert moved(peer, thread, "next") == [("guarded", mark(CLEANING, "with Guard()"))]
    assert moved(peer, thread, "stepIn") == [("Guard.__exit__", mark(CLEANING, "@exit"))]
    assert moved(peer, thread, "stepOut", "stepOut")[-1] == ("finally_too", mark(CLEANING, "@finally"))
    assert_runs_to_its_end(target, peer, thread)


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_an_uncaught_exception_stops_once_where_it_was_raised(run_to: RunTo, deep_python: str, command: str) -> None:
    text = "def fails():\n    x = 1\n    raise KeyError(x)  # @here\ndef calls():\n    fails()\ncalls()\n"
    target, peer, thread = run_to(deep_python, text, catch=["uncaught"])
    stops = []
    reason = ""
    while reason != "exception":  # until 3.11 steps end in each caller on the way
        peer.resume(command, thread)
        reason = peer.event("stopped")["reason"]
        stops.append(reason)
    assert stops == ["exception"] or not monitored(deep_python)
    stop = peer.stop(thread)
    assert (stop["exception"]["type"], stop["exception"]["mode"]) == ("KeyError", "uncaught")
    assert (stop["frames"][0]["function"], stop["frames"][0]["line"]) == ("fails", 3)
    peer.resume("continue", thread)
    assert not [event for event in peer.rest() if event["event"] == "stopped"]
    assert target.end()[0] == 1


RESUMED = """
def counts():
    n = 0
    while n < 3:
        n += 1
        yield n
        print(end="")  # @inside
    return n
def delegates():
    result = yield from counts()
total = 0
for i in {kind}():
    total += i  # @here
print("over")
"""


@pytest.mark.parametrize("kind", ["counts", "delegates"])
def test_a_step_goes_into_a_generator_that_is_resumed(run_to: RunTo, deep_python: str, kind: str) -> None:
    text = RESUMED.format(kind=kind)
    target, peer, thread = run_to(deep_python, text)
    assert moved(peer, thread, "stepIn", "stepIn") == [
        ("<module>", mark(text, "@here") - 1),
        ("counts", mark(text, "@inside")),
    ]
    assert moved(peer, thread, "next", "next", "next")[-1] == ("counts", mark(text, "yield n"))
    assert moved(peer, thread, "stepOut")[0][0] in ("<module>", "delegates")
    assert_runs_to_its_end(target, peer, thread)


THROWN = """
def holds():
    try:
        yield 1
    except KeyError:
        x = 1  # @inside
    yield 2
def fails():
    yield 1
    raise ValueError
g = holds()
next(g)
g.throw(KeyError)  # @here
try:
    for each in fails():
        pass  # @body
except ValueError:  # @handler
    pass
print("over")
"""


def test_a_step_goes_into_a_generator_that_is_thrown_into_and_out_of_one_that_raises(
    run_to: RunTo, new_python: str
) -> None:
    target, peer, thread = run_to(new_python, THROWN)
    places = moved(peer, thread, "stepIn", "stepIn")
    assert ("holds", mark(THROWN, "@inside")) in places or ("holds", mark(THROWN, "@inside") - 1) in places
    while moved(peer, thread, "stepIn") != [("<module>", mark(THROWN, "@body"))]:
        pass
    assert moved(peer, thread, "next", "stepIn")[-1] == ("fails", mark(THROWN, "raise ValueError"))
    assert moved(peer, thread, "next") == [("<module>", mark(THROWN, "@handler"))]
    assert_runs_to_its_end(target, peer, thread)


TASKS = """
import asyncio
async def stepped():
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # @here
    z = 3  # @next
async def other():
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    y = 2
async def main():
    await asyncio.gather(other(), stepped(), other())
    print("over")
asyncio.run(main())
"""


def test_a_step_over_an_await_ends_in_its_own_task(run_to: RunTo, deep_python: str) -> None:
    target, peer, thread = run_to(deep_python, TASKS)
    assert moved(peer, thread, "next") == [("stepped", mark(TASKS, "@next"))]
    assert_runs_to_its_end(target, peer, thread)


FULL_SPEED = """
import sys
def fails():
    raise KeyError  # @here
try:
    fails()
except KeyError:
    pass
x = 1
print([sys.monitoring.get_tool(n) for n in (3, 4)])
"""


def test_nothing_listens_while_nobody_steps(run_to: RunTo, new_python: str) -> None:
    target, peer, thread = run_to(new_python, FULL_SPEED)
    assert moved(peer, thread, "next")[0] == ("<module>", mark(FULL_SPEED, "except"))
    frame = peer.stop(thread)["frames"][0]["id"]
    tools = "[sys.monitoring.get_tool(n) for n in (3, 4)]"
    assert (
        peer.call("eval", frameId=frame, expressions=[tools])["results"][0]["value"]["value"] == "[None, 'stillframe']"
    )
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "[None, None]\n", "")


AWAITING = """
import asyncio
async def work(name):
    a = name  # @here
    await asyncio.sleep(0.001)
    b = name
    await asyncio.sleep(0)
    c = name
async def main():
    await asyncio.gather(*(work(name) for name in "xyz"))
asyncio.get_event_loop_policy().new_event_loop().run_until_complete(main())
"""


@pytest.mark.parametrize("command", ["next", "stepIn"])
def test_a_step_at_an_await_stays_in_its_task(run_to: RunTo, deep_python: str, command: str) -> None:
    _, peer, thread = run_to(deep_python, AWAITING)
    path = peer.stop(thread)["frames"][0]["file"]
    peer.request("setBreakpoints", source={"path": path}, breakpoints=[])
    seen = []
    for _ in range(4):
        peer.resume(command, thread)
        peer.stopped(reason="step")
        stop = peer.stop(thread)
        seen.append((stop["frames"][0]["line"], stop["locals"][0]["value"]))
    assert seen == [(line, "'x'") for line in (5, 6, 7, 8)]


RECURSIVE = """
def down(n):
    if n == 0:
        return 0  # @here
    return 1 + down(n - 1)
down(3)
print("over")
"""


def test_next_off_a_return_ends_in_the_caller_with_the_value(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, RECURSIVE)
    for depth in (1, 2, 3):
        assert moved(peer, thread, "next") == [("down", 5)]
        stop = peer.stop(thread)
        assert stop["locals"][0]["value"] == str(depth)
        assert [one["value"] for one in stop["returned"]] == [str(depth - 1)]
    assert_runs_to_its_end(target, peer, thread)


CALLED = """
import asyncio, json, threading
async def inner(n):
    await asyncio.sleep(0)
    return n * 2
async def waits(n):
    return await inner(n)  # @coroutine
async def main():
    tasks = [asyncio.ensure_future(waits(n)) for n in (3, 4)]
    for task in tasks:
        await task
def hook(pairs):
    return len(pairs)  # @callback
def works():
    return "done"  # @thread
asyncio.run(main())
json.loads("{}", object_hook=hook)
worker = threading.Thread(target=works)
worker.start()
worker.join()
print("over")
"""


def test_functions_that_a_library_called_are_held_as_they_return(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, CALLED, "# @coroutine")
    for kind, value, following in (
        ("coroutine", "6", "callback"),
        ("callback", "0", "thread"),
        ("thread", "'done'", ""),
    ):
        top = peer.stop(thread)["frames"][0]
        function, line = top["function"], mark(CALLED, "# @" + kind)
        assert moved(peer, thread, "stepOut", reason="return") == [(function, line)]
        assert [(one["name"], one["value"]) for one in peer.stop(thread)["returned"]] == [(function, value)]
        if following:
            next_one = [{"line": mark(CALLED, "# @" + following)}]
            peer.request("setBreakpoints", source={"path": top["file"]}, breakpoints=next_one)
            peer.resume("continue", thread)
            thread = peer.stopped(reason="breakpoint")
    assert_runs_to_its_end(target, peer, thread)


ENDS = """
import asyncio, functools, sys, threading
async def handles(n):
    await asyncio.sleep(0)
    for each in range(n):  # @task
        each += 1
async def awaited(n):
    return n + 1  # @awaited
async def main():
    tasks = {asyncio.ensure_future(handles(1))}
    for task in list(tasks):
        task.add_done_callback(tasks.discard)
    while tasks:
        await asyncio.sleep(0)
    found = await asyncio.ensure_future(awaited(1))
    print(found)  # @waits
def called(n):
    asyncio.get_running_loop().call_soon(soon, n)
def soon(n):
    return n * 2  # @soon
async def later():
    called(3)
    await asyncio.sleep(0)
def works(left):
    if left:  # @thread
        left.pop()
class Server(threading.Thread):
    def run(self):
        works([1])
        self.done = True  # @run
def compare(a, b):
    return a - b  # @compare
asyncio.run(main())
asyncio.run(later())
for make in (functools.partial(threading.Thread, target=works, args=([],)), Server):
    thread = make()
    thread.start()
    thread.join()
print(sorted([2, 1], key=functools.cmp_to_key(compare)), sys.getprofile())
print("over")
"""


def test_a_step_off_the_end_of_what_nothing_of_the_users_called_is_held_there(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, ENDS, "# @task")
    file = peer.stop(thread)["frames"][0]["file"]

    def at(kind: str) -> int:
        return mark(ENDS, "# @" + kind)

    def until(kind: str) -> int:
        peer.request("setBreakpoints", source={"path": file}, breakpoints=[{"line": at(kind)}])
        peer.resume("continue", thread)
        found = peer.stopped(reason="breakpoint")
        peer.request("setBreakpoints", source={"path": file}, breakpoints=[])
        return found

    def stepped(reason: str, command: str = "next") -> tuple[int, list[str]]:
        peer.resume(command, thread)
        assert peer.event("stopped")["reason"] == reason
        stop = peer.stop(thread)
        return stop["frames"][stop["at"]]["line"], [one["value"] for one in stop["returned"]]

    peer.request("setBreakpoints", source={"path": file}, breakpoints=[])
    assert stepped("step")[0] == at("task") + 1
    assert stepped("step")[0] == at("task")
    assert stepped("return") == (at("task"), ["None"])
    thread = until("awaited")
    assert stepped("step")[0] == at("waits"), "which goes on with it"
    thread = until("soon")
    assert stepped("return") == (at("soon"), ["6"])
    thread = until("thread")
    assert stepped("return", "stepIn") == (at("thread"), ["None"])
    thread = until("run")
    assert stepped("return") == (at("run"), ["None"])
    thread = until("compare")
    assert stepped("step")[0] >= mark(ENDS, "print(sorted"), "its caller goes on, by way of the library"
    peer.resume("continue", thread)
    assert target.end() == (0, "2\n[1, 2] None\nover\n", "")


DRIVEN = """
import _thread, contextlib, queue, socket, socketserver, threading, weakref
@contextlib.contextmanager
def opened(n):
    yield n
    n += 1  # @generator
def uses():
    with opened(1):
        n = 1
    return n
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        answer = b"yes"
        self.request.sendall(answer)  # @handler
def asks(server):
    with socket.create_connection(server.server_address) as line:
        line.recv(3)
    server.shutdown()
def alone(held):
    held.add(1)  # @alone
uses()
with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=asks, args=(server,)).start()
    server.serve_forever()  # @serves
held, ended = set(), queue.SimpleQueue()
gone = weakref.ref(held, ended.put)
_thread.start_new_thread(alone, (held,))
del held
ended.get()
print("over")
"""


def test_a_generators_end_is_its_callers_to_go_on_with_and_a_handlers_and_a_bare_threads_nobodys(
    run_to: RunTo, python: str
) -> None:
    target, peer, thread = run_to(python, DRIVEN, "# @generator")
    file = peer.stop(thread)["frames"][0]["file"]
    assert moved(peer, thread, "next")[0][0] == "uses"
    for kind in ("handler", "alone"):
        peer.request("setBreakpoints", source={"path": file}, breakpoints=[{"line": mark(DRIVEN, "# @" + kind)}])
        peer.resume("continue", thread)
        thread = peer.stopped(reason="breakpoint")
        assert moved(peer, thread, "next", reason="return")[0][1] == mark(DRIVEN, "# @" + kind)
    assert_runs_to_its_end(target, peer, thread)


BROKEN = """
import sys
from concurrent.futures import ThreadPoolExecutor
def divides(n):
    return n / 0  # @here
with ThreadPoolExecutor(1) as pool:
    print(type(pool.submit(divides, 1).exception()).__name__, pool.submit(sys.getprofile).result())
print("over")
"""


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_a_step_off_what_nobody_goes_on_with_is_held_as_an_exception_leaves_it(
    run_to: RunTo, python: str, command: str
) -> None:
    target, peer, thread = run_to(python, BROKEN)
    peer.resume(command, thread)
    said = peer.event("stillframe", kind="untraced")["message"]
    assert peer.stopped(reason="step") == thread
    by_error = "divides raised ZeroDivisionError: division by zero"
    assert said == (by_error if monitored(python) else "divides is left by an exception that it does not catch")
    top = peer.stop(thread)["frames"][0]
    assert (top["function"], top["line"]) == ("divides", mark(BROKEN, "@here"))
    peer.resume("continue", thread)
    assert not [event for event in peer.rest() if event["event"] == "stopped"]
    assert target.end() == (0, "ZeroDivisionError None\nover\n", "")


FAILING = """
import asyncio
async def handler(n):
    await asyncio.sleep(0)
    x = n  # @here
    return x / 0  # @left
async def main():
    task = asyncio.create_task(handler(3))
    await asyncio.wait([task])  # @waits
    print(task.exception())
asyncio.run(main())
"""


def test_finish_of_a_coroutine_that_fails_stops_and_says_so(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, FAILING)
    peer.resume("stepOut", thread)
    said = peer.event("stillframe", kind="untraced")["message"]
    peer.stopped(reason="step")
    assert said in (
        "handler is left by an exception that it does not catch",
        "handler raised ZeroDivisionError: division by zero",
    )
    stop = peer.stop(thread)
    top = stop["frames"][stop["at"]]
    assert (top["function"], top["line"]) in (("handler", mark(FAILING, "@left")), ("main", mark(FAILING, "@waits")))
    peer.resume("continue", thread)
    assert target.end() == (0, "division by zero\n", "")


LEADING = """
class Quiet:
    def __enter__(self): return self
    def __exit__(self, *error): return True
def parse(text):
    return int(text)
def load(text):
    try:
        return parse(text)
    except ValueError as error:
        raise error from None
def main():
    with Quiet():
        parse("x")  # @here
    try:
        load("x")  # @loads
    except ValueError:
        pass
main()
print("over")
"""


def test_a_step_says_what_led_it_to_the_line_of_a_with_or_was_raised_again(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, LEADING)
    raised = "%s raised ValueError: invalid literal for int() with base 10: 'x'"
    if python not in (PYTHONS.get("3.8"), PYTHONS.get("3.9")):  # there a step goes past the `with` at once
        peer.resume("next", thread)
        block = "an exception leaves this block"
        assert peer.event("stillframe", kind="untraced")["message"] in (raised % "parse", block)
        assert peer.stopped(reason="step") and peer.stop(thread)["frames"][0]["line"] == mark(LEADING, "with Quiet")
    again = {"path": peer.stop(thread)["frames"][0]["file"]}
    peer.request("setBreakpoints", source=again, breakpoints=[{"line": mark(LEADING, "raise error")}])
    peer.resume("continue", thread)
    thread = peer.stopped(reason="breakpoint")
    peer.request("setBreakpoints", source=again, breakpoints=[])  # 3.9 comes by that line twice
    peer.resume("next", thread)
    assert peer.event("stillframe", kind="untraced")["message"] == raised % "load"
    peer.stopped(reason="step")
    assert_runs_to_its_end(target, peer, thread)


FED = """
import asyncio, time
def slow(n):
    double = n * 2
    time.sleep(0.01)
    return double
async def feeds(loop):
    for n in (1, 2):
        fed = await loop.run_in_executor(None, slow, n)  # @here
        yield fed
    seen.append("end")
async def asks(loop, n):
    asked = n  # @asks
    return await loop.run_in_executor(None, slow, n)
async def main():
    loop = asyncio.get_running_loop()
    async for fed in feeds(loop):
        seen.append(fed)
    asking = asyncio.ensure_future(asks(loop, 3))
    await asyncio.sleep(0)
    seen.append(await asking)
    print("over")
seen = []
asyncio.run(main())
"""


def test_a_step_where_an_asynchronous_generator_waits_for_a_thread_stays_in_it(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, FED)
    assert moved(peer, thread, "next") == [("feeds", mark(FED, "yield fed"))]
    peer.resume("stepOut", thread)
    peer.stopped()
    frame = peer.stop(thread)["frames"][0]["id"]
    seen = peer.call("eval", frameId=frame, expressions=["seen"])["results"][0]["value"]["value"]
    assert seen == "[2, 4, 'end']"
    assert_runs_to_its_end(target, peer, thread)


def test_finish_of_a_coroutine_that_returns_what_a_thread_makes_lets_that_thread_run(
    run_to: RunTo, python: str
) -> None:
    target, peer, thread = run_to(python, FED, mark="# @asks")
    peer.request("setDebuggerProperty", multiThreadsSingleNotification=True)  # a stop holds all threads
    assert moved(peer, thread, "next") == [("asks", mark(FED, "@asks") + 1)]
    assert moved(peer, thread, "stepOut", reason="return") == [("asks", mark(FED, "@asks") + 1)]
    assert [one["value"] for one in peer.stop(thread)["returned"]] == ["6"]
    assert_runs_to_its_end(target, peer, thread)


BESIDE = """
import asyncio
async def feeds():
    for n in (1, 2):
        await asyncio.sleep(0.01)  # @here
        yield n
async def beside(over):
    while not over.done():
        await asyncio.sleep(0)
async def main():
    over = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(beside(over))
    async for fed in feeds():
        last = fed
    over.set_result(last)
    await task
    print("over")
asyncio.run(main())
"""


@pytest.mark.parametrize("command", ["next", "stepIn"])
def test_a_step_where_an_asynchronous_generator_waits_goes_into_no_other_task(
    run_to: RunTo, python: str, command: str
) -> None:
    target, peer, thread = run_to(python, BESIDE)
    assert moved(peer, thread, command) == [("feeds", mark(BESIDE, "yield n"))]
    (passed,) = moved(peer, thread, command)
    assert passed[0] == ("feeds" if command == "next" else "main")
    assert_runs_to_its_end(target, peer, thread)


CANCELLED = """
import asyncio
async def feeds():
    while True:
        await asyncio.sleep(1000)  # @here
        yield 1
async def takes():
    async for fed in feeds():
        pass
async def main():
    task = asyncio.ensure_future(takes())
    await asyncio.sleep(0.01)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        last = 1
    print("over")
asyncio.run(main())
"""


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_a_step_in_an_asynchronous_generator_ends_where_its_task_is_cancelled(
    run_to: RunTo, python: str, command: str
) -> None:
    target, peer, thread = run_to(python, CANCELLED)
    moved(peer, thread, command)
    assert_runs_to_its_end(target, peer, thread)


RAISING = """
import asyncio
async def inner(n):
    await asyncio.sleep(0.01)
    return 7 // n
async def mid(n):
    x = await inner(n)  # @mid
    return x
async def ends(n):
    await mid(n)  # @ends
async def last():
    x = 1
    await asyncio.sleep(0.01)  # @last
async def beside(over):
    while not over.done():
        await asyncio.sleep(0)
async def main():
    over = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(beside(over))
    await last()
    try:
        await ends(0)
    except ZeroDivisionError:  # @handler
        over.set_result(1)
    await task
    print("over")
asyncio.run(main())
"""


@pytest.mark.parametrize("place", ["# @mid", "# @ends"])
@pytest.mark.parametrize("command", ["next", "stepOut"])
def test_a_step_at_an_await_that_raises_ends_in_the_handler(
    run_to: RunTo, python: str, command: str, place: str
) -> None:
    target, peer, thread = run_to(python, RAISING, mark=place)
    (passed,) = moved(peer, thread, command)
    while passed != ("main", mark(RAISING, "@handler")):
        assert not monitored(python) and passed == ("main", mark(RAISING, "await ends")), "left on the way"
        (passed,) = moved(peer, thread, "next")
    assert_runs_to_its_end(target, peer, thread)


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut"])
def test_a_coroutine_that_waits_on_its_last_line_has_not_returned(run_to: RunTo, python: str, command: str) -> None:
    target, peer, thread = run_to(python, RAISING, mark="# @last")
    assert [each[0] for each in moved(peer, thread, command)] == ["main"]
    assert [one["value"] for one in peer.stop(thread)["returned"]] == ["None"]
    assert_runs_to_its_end(target, peer, thread)


GIVING = """
def gives(n):
    for each in range(n):
        yield each  # @here
seen = []
for each in gives(2):
    seen.append(each)
print("over")
"""


def test_finish_of_a_generator_is_its_end_and_no_value_that_it_gives(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, GIVING)
    assert moved(peer, thread, "stepOut") == [("<module>", mark(GIVING, "for each in gives"))]
    stop = peer.stop(thread)
    assert [one["value"] for one in stop["returned"]] == ["None"]
    seen = peer.call("eval", frameId=stop["frames"][0]["id"], expressions=["seen"])["results"][0]["value"]["value"]
    assert seen == "[0, 1]"
    assert_runs_to_its_end(target, peer, thread)


NOBODYS = """
import asyncio
async def inner():
    await asyncio.sleep(0)
    raise ValueError("no")
async def handler():
    await inner()  # @here
async def beside():
    for turn in range(20):
        await asyncio.sleep(0)
async def main():
    task = asyncio.ensure_future(handler())
    await asyncio.gather(beside(), beside())
    task.exception()
    print("over")
asyncio.run(main())
"""


@pytest.mark.parametrize("command", ["next", "stepOut"])
def test_a_step_at_an_await_that_raises_is_held_there_where_nobody_goes_on_with_it(
    run_to: RunTo, python: str, command: str
) -> None:
    target, peer, thread = run_to(python, NOBODYS)
    assert moved(peer, thread, command) == [("handler", mark(NOBODYS, "@here"))]
    assert_runs_to_its_end(target, peer, thread)
