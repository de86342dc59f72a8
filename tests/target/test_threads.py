"""While one thread is held, the others are told apart truly, and those blocked in native code can be looked into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

POOL = """
import os, sys, threading, time
class Slow:
    def __repr__(self):
        {body}
def is_reading():
    top = sys._current_frames()[threading.main_thread().ident]
    return top.f_code is main.__code__ and top.f_lineno == main.__code__.co_firstlineno + 2
def work(n):
    double = n * 2
    while not is_reading():
        time.sleep(0.001)
    x = 1  # @here
    os.write(write, b"x")
def spin():
    while not over.is_set():
        time.sleep(0.001)
def main():
    note, slow, nested, after = "waiting", Slow(), [[1, 2], {{"k": list(range(50))}}], 2
    os.read(read, 1)
    over.set()
    print("over", note)
read, write = os.pipe()
over = threading.Event()
threading.Thread(target=spin, name="spinner").start()
threading.Thread(target=work, args=(21,), name="worker").start()
main()
"""
QUICK = POOL.format(body="return 'quick'")


def stopped_with_the_others(run_to: RunTo, python: str, text: str = QUICK) -> tuple[Target, Peer, dict[str, Any]]:
    """Run to the worker's line with every thread told to stop; each thread by name."""
    target, peer, _ = run_to(python, text, stopAllThreadsOnSuspend=True)
    return target, peer, {row["name"]: row for row in peer.call("crowd")["threads"]}


def finish(target: Target, peer: Peer, thread: int) -> None:
    path = peer.stop(thread)["frames"][0]["file"]
    peer.request("setBreakpoints", source={"path": path}, breakpoints=[])
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "over waiting\n", "")


def test_held_and_blocked_threads_are_told_apart_on_every_version(run_to: RunTo, python: str) -> None:
    target, peer, threads = stopped_with_the_others(run_to, python)
    told = {name: (row["held"], row["blocked"]) for name, row in threads.items()}
    assert told == {"MainThread": (False, True), "worker": (True, False), "spinner": (True, False)}
    listed = {row["name"]: row["id"] for row in peer.request("threads")["threads"]}
    assert listed == {name: row["threadId"] for name, row in threads.items()}
    held = {row["threadId"]: row["hit"] for row in peer.call("crowd", threads=False)["held"]}
    assert set(held) == {threads["worker"]["threadId"], threads["spinner"]["threadId"]}
    assert held[threads["worker"]["threadId"]] and not held[threads["spinner"]["threadId"]]
    stop = peer.stop(threads["MainThread"]["threadId"])
    assert stop["frames"][stop["at"]]["function"] == "main"
    finish(target, peer, threads["worker"]["threadId"])


def test_a_blocked_thread_is_looked_into_and_not_evaluated_in(run_to: RunTo, deep_python: str) -> None:
    target, peer, threads = stopped_with_the_others(run_to, deep_python)
    main = threads["MainThread"]["threadId"]
    stop = peer.stop(main)
    at = stop["frames"][stop["at"]]
    assert [row["function"] for row in stop["frames"]] == ["main", "<module>"]
    assert [(row["name"], row["value"]) for row in stop["locals"] if row["name"] != "nested"] == [
        ("note", "'waiting'"),
        ("slow", "quick"),
        ("after", "2"),
    ]
    assert (stop["returned"], stop["exception"]) == ([], None)
    listed = peer.request("stackTrace", threadId=main)["stackFrames"]
    assert [row["id"] for row in listed][: len(stop["frames"])] == [row["id"] for row in stop["frames"]]
    page = peer.call("locals", frameId=at["id"], start=1, count=2)
    assert ([row["name"] for row in page["values"]], page["total"]) == (["slow", "nested"], 4)
    inside = peer.call("expand", ref=page["values"][1]["ref"])["values"]
    again = peer.call("expand", ref=inside[1]["ref"])["values"]
    assert [row["name"] for row in again] == ["['k']"]
    refused = [
        peer.refusal("eval", frameId=at["id"], expressions=["note"]),
        peer.refusal("assign", frameId=at["id"], target="note", value="1"),
    ]
    assert set(refused) == {
        f"blocked: thread {main} is in native code or waits; it can be looked into, not evaluated in"
    }
    finish(target, peer, threads["worker"]["threadId"])


def test_what_was_seen_is_stale_once_the_stop_is_over(run_to: RunTo, deep_python: str) -> None:
    target, peer, threads = stopped_with_the_others(run_to, deep_python)
    main, worker = threads["MainThread"]["threadId"], threads["worker"]["threadId"]
    stop = peer.stop(main)
    frame = stop["frames"][stop["at"]]["id"]
    ref = next(row["ref"] for row in stop["locals"] if row["name"] == "nested")
    peer.resume("next", worker)
    peer.stopped(reason="step")
    assert peer.refusal("expand", ref=ref).startswith("stale: ")
    assert peer.call("locals", frameId=frame)["total"] == 4  # it never moved
    finish(target, peer, worker)


def test_a_repr_that_blocks_does_not_keep_anybody_from_being_looked_into(run_to: RunTo, deep_python: str) -> None:
    text = POOL.format(body="time.sleep(3600)")
    target, peer, threads = stopped_with_the_others(run_to, deep_python, text)
    main, worker = threads["MainThread"]["threadId"], threads["worker"]["threadId"]
    asked = peer.send("stillframe", call="stop", threadId=main, seconds=0.1)
    assert peer.call("hello")["helper"] == 1
    assert peer.stop(worker)["frames"][0]["function"] == "work"
    told = peer.answer(asked)["body"]
    assert [row["name"] for row in told["locals"]] == ["note", "slow"] and told["locals"][1]["error"]
    assert peer.refusal("stop", threadId=main).startswith("stuck: ")
    assert peer.call("eval", frameId=peer.stop(worker)["frames"][0]["id"], expressions=["double"])["results"]
    finish(target, peer, worker)


def test_a_thread_that_runs_is_neither_held_nor_blocked(run_to: RunTo, new_python: str) -> None:
    _, peer, thread = run_to(new_python, QUICK)  # only the worker is told to stop
    threads = {row["name"]: row for row in peer.call("crowd")["threads"]}
    assert not threads["spinner"]["held"] and not threads["spinner"]["blocked"]
    assert peer.refusal("stop", threadId=threads["spinner"]["threadId"]).startswith("running: ")
    assert peer.stop(thread)["frames"][0]["function"] == "work"


AT_ONCE = """
import sys
db = sys.modules["_pydevd_bundle.pydevd_constants"].get_global_debugger()
for each in (db._cmd_queue, db._thread_events):
    make, others = each._make, []
    def while_another_comes():
        each._make = make
        others.append(each["a thread"])
        return make()
    each._make = while_another_comes
    print(each["a thread"] is others[0])
here = 1  # @here
"""


def test_whoever_asks_first_for_what_there_is_one_of_for_a_thread_makes_it_for_all(
    run_to: RunTo, spread_python: str
) -> None:
    target, peer, thread = run_to(spread_python, AT_ONCE)
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "True\nTrue\n", "")
