"""An endless recursion ends as it does without a debugger: the same error, caught or not, and the program goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

CAUGHT = """
import sys
def down(n):
    return down(n + 1)
def tried():
    try:
        down(0)
    except RecursionError as error:
        print(type(error) is RecursionError, error, error.__context__)
tried()
sys.setrecursionlimit(400)
tried()
print(sys.getrecursionlimit())  # @here
print("over")
"""
PLAIN = "True maximum recursion depth exceeded None\n" * 2 + "400\nover\n"


def test_an_overflow_that_is_caught_is_the_programs_own(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, CAUGHT, catch=["uncaught"])
    peer.resume("continue", thread)
    assert not [event for event in peer.rest() if event["event"] == "stopped"]
    assert target.end() == (0, PLAIN, "")


def test_an_overflow_that_nobody_catches_is_held_and_has_no_cause(
    start: Callable[..., Target], python: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text("def down(n):\n    return down(n + 1)\ndown(0)\n")
    target = start(python, program)
    peer = target.accept()
    peer.configure(catch=["uncaught"])
    peer.go()
    thread = peer.stopped(reason="exception")
    stop = peer.stop(thread)
    error = stop["exception"]
    assert (error["type"], error["mode"], error["cause"]) == ("RecursionError", "uncaught", None)
    assert error["message"].startswith("maximum recursion depth exceeded")
    assert stop["total"] > 900 and stop["locals"][0]["name"] == "n"
    peer.resume("continue", thread)
    status, _, errors = target.end()
    assert status == 1 and "pydevd" not in errors and "_target" not in errors


STEPPED = """
def down(n):
    if n == 990:
        n = n + 1  # @here
        n = n + 1
    return down(n + 1)
try:
    down(0)
except RecursionError:
    print("over")
"""


def test_a_stop_near_the_limit_is_a_stop_like_any(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, STEPPED)
    peer.resume("next", thread)
    peer.stopped(reason="step")
    assert peer.stop(thread)["frames"][0]["line"] == 5
    peer.resume("continue", thread)
    assert target.end() == (0, "over\n", "")
