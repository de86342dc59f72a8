"""Breakpoints that are set later stop what waited meanwhile: generators and coroutines that only go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

WAITING = """
import asyncio
def numbers():
    yield 1
    n = 2  # @generator
    yield n
async def works(turn, over):
    await turn.wait()
    done = True  # @coroutine
    try:
        await over.wait()
    except asyncio.CancelledError:
        cleaned = True  # @thrown
async def main():
    turn, over, held = asyncio.Event(), asyncio.Event(), numbers()
    next(held)
    task = asyncio.create_task(works(turn, over))
    await asyncio.sleep(0)
    began = True  # @here
    print(next(held))
    turn.set()
    await asyncio.sleep(0)
    task.cancel()
    await task
    print("over")
asyncio.run(main())
"""
DEEP = """
import sys
def numbers():
    yield 1
    yield 2
    yield 3  # @never
def deep(held, depth):
    return deep(held, depth - 1) if depth else next(held)
def deepest():
    for depth in range(sys.getrecursionlimit(), 0, -1):
        held = numbers()
        next(held)
        try:
            return depth, deep(held, depth)
        except RecursionError:
            pass
before = deepest()
began = True  # @here
print("over" if deepest() == before else before)
"""


def mark(text: str, name: str) -> int:
    return 1 + next(i for i, row in enumerate(text.splitlines()) if name in row)


def set_instead(peer: Peer, thread: int, *breakpoints: dict[str, Any]) -> None:
    path = peer.stop(thread)["frames"][0]["file"]
    peer.request("setBreakpoints", source={"path": path}, breakpoints=breakpoints)


def test_what_waited_when_its_breakpoint_was_set_stops_there(run_to: RunTo, python: str) -> None:
    target, peer, thread = run_to(python, WAITING)
    names = ("@generator", "@coroutine", "@thrown")
    set_instead(peer, thread, *({"line": mark(WAITING, name)} for name in names))
    places = []
    for _ in names:
        peer.resume("continue", thread)
        peer.stopped(reason="breakpoint")
        top = peer.stop(thread)["frames"][0]
        places.append((top["function"], top["line"]))
    peer.resume("continue", thread)
    assert places == [
        ("numbers", mark(WAITING, "@generator")),
        ("works", mark(WAITING, "@coroutine")),
        ("works", mark(WAITING, "@thrown")),
    ]
    peer.rest()
    assert target.end() == (0, "2\nover\n", "")


def test_what_goes_on_at_the_recursion_limit_goes_on_as_without_breakpoints(run_to: RunTo, new_python: str) -> None:
    target, peer, thread = run_to(new_python, DEEP)
    set_instead(peer, thread, {"line": mark(DEEP, "@never"), "condition": "False"})
    peer.resume("continue", thread)
    peer.rest()
    assert target.end() == (0, "over\n", "")
