"""Code of the program that never returns is cut off, and the paused thread can go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

ENDLESS = {
    "spins": "while True: pass",
    "sleeps": "time.sleep(3600)",
    "waits": "threading.Event().wait()",
    "swallows": """
        while True:
            try:
                while True: pass
            except BaseException:
                if hasattr(Slow, "before"): raise
                Slow.before = True""",
    "recurses": "return self.__repr__() if depth() else ''",
}
PROGRAM = """
import sys, threading, time
def depth():
    sys.setrecursionlimit(10000)
    time.sleep(0.01)
    return True
class Slow:
    def __repr__(self):
        {body}
def work():
    before, slow, after = 1, Slow(), 2
    x = 1  # @here
    y = 2
    print("went on", threading.active_count())
{run}
"""
ON_MAIN = "work()"
ON_WORKER = "t = threading.Thread(target=work)\nt.start()\nt.join()"


def cut_off(run_to: RunTo, python: str, body: str, run: str) -> tuple[Target, Peer, int, dict[str, Any]]:
    target, peer, thread = run_to(python, PROGRAM.format(body=body, run=run))
    told = {row["name"]: row for row in peer.stop(thread, seconds=0.1)["locals"]}
    return target, peer, thread, told


def assert_steps_on(target: Target, peer: Peer, thread: int, threads: int) -> None:
    before = peer.stop(thread, seconds=0.05)["frames"][0]["line"]
    for step in (1, 2):
        peer.resume("next", thread)
        peer.stopped(reason="step")
        assert peer.stop(thread, seconds=0.05)["frames"][0]["line"] == before + step
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, f"went on {threads}\n", "")


@pytest.mark.parametrize("kind", ["spins", "sleeps", "swallows"])
def test_a_repr_that_never_returns_on_the_main_thread_is_cut_off_and_stepping_goes_on(
    run_to: RunTo, deep_python: str, kind: str
) -> None:
    target, peer, thread, told = cut_off(run_to, deep_python, ENDLESS[kind], ON_MAIN)
    assert told["slow"]["value"] == "<repr did not return within 0.1 s>"
    assert told["slow"]["error"]
    assert (told["before"]["value"], told["after"]["value"]) == ("1", "2")
    assert_steps_on(target, peer, thread, 1)


@pytest.mark.parametrize("kind", ["waits", "recurses"])
def test_so_is_one_that_waits_or_recurses(run_to: RunTo, new_python: str, kind: str) -> None:
    target, peer, thread, told = cut_off(run_to, new_python, ENDLESS[kind], ON_MAIN)
    assert told["slow"]["value"] == "<repr did not return within 0.1 s>"
    assert_steps_on(target, peer, thread, 1)


@pytest.mark.parametrize("kind", ["spins", "swallows"])
def test_so_it_is_on_a_worker_thread(run_to: RunTo, deep_python: str, kind: str) -> None:
    target, peer, thread, told = cut_off(run_to, deep_python, ENDLESS[kind], ON_WORKER)
    assert told["slow"]["value"] == "<repr did not return within 0.1 s>"
    assert_steps_on(target, peer, thread, 2)


def test_so_it_is_on_every_version(run_to: RunTo, other_python: str) -> None:
    target, peer, thread, told = cut_off(run_to, other_python, ENDLESS["sleeps"], ON_MAIN)
    assert told["slow"]["value"] == "<repr did not return within 0.1 s>"
    assert_steps_on(target, peer, thread, 1)


def test_a_thread_that_cannot_be_freed_still_tells_where_it_is(run_to: RunTo, deep_python: str) -> None:
    _, peer, thread = run_to(deep_python, PROGRAM.format(body=ENDLESS["sleeps"], run=ON_WORKER))
    stop = peer.stop(thread, seconds=0.1)
    assert stop["frames"][0]["function"] == "work" and stop["locals_total"] == 3
    told = {row["name"]: (row["value"], row["error"]) for row in stop["locals"]}
    assert told == {"before": ("1", False), "slow": ("<repr does not return and cannot be interrupted>", True)}
    assert peer.refusal("stop", threadId=thread).startswith("stuck: ")
    assert peer.refusal("eval", frameId=stop["frames"][0]["id"], expressions=["1"]).startswith("stuck: ")
    assert peer.call("hello")["helper"] == 1
    assert len(peer.request("threads")["threads"]) == 2


def test_an_expression_that_never_returns_is_cut_off(run_to: RunTo, deep_python: str) -> None:
    target, peer, thread = run_to(deep_python, PROGRAM.format(body="return 'quick'", run=ON_MAIN))
    frame = peer.stop(thread)["frames"][0]["id"]
    words = ["time.sleep(3600)", "before + 1", "while True: pass"]
    results = peer.call("eval", frameId=frame, expressions=words, timeout=0.1)["results"]
    assert results[0] == {"error": "timed out after 0.1 s"} == results[2]
    assert results[1]["value"]["value"] == "2"
    assert_steps_on(target, peer, thread, 1)


def test_a_breakpoint_inside_a_repr_does_not_stop_the_one_who_looks(run_to: RunTo, deep_python: str) -> None:
    text = PROGRAM.format(body="z = 1\n        return 'slow'", run=ON_MAIN)
    target, peer, thread = run_to(deep_python, text)
    path = peer.stop(thread)["frames"][0]["file"]
    inside = 1 + text.splitlines().index("        return 'slow'")
    peer.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": inside}])
    told = {row["name"]: row["value"] for row in peer.stop(thread)["locals"]}
    assert told["slow"] == "slow"
    assert_steps_on(target, peer, thread, 1)


def test_the_handler_of_the_program_for_our_signal_stays(run_to: RunTo, deep_python: str) -> None:
    run = "import signal\nsignal.signal(signal.SIGURG, lambda *a: print('urgent'))\nwork()\nsignal.raise_signal(signal.SIGURG)"
    target, peer, thread, told = cut_off(run_to, deep_python, ENDLESS["sleeps"], run)
    assert told["slow"]["error"]
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "went on 1\nurgent\n", "")
