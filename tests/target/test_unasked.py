"""What is seen where a step ends is told right behind the word of it, where somebody has wanted that once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .wireclient import Peer, Target

RunTo = Callable[..., tuple[Target, Peer, int]]

PROGRAM = """
import time
class Odd:
    def __init__(self, sleeps):
        self.sleeps = sleeps
    def __repr__(self):
        until = time.monotonic() + self.sleeps
        while time.monotonic() < until:
            pass
        return "odd"
def total(words):
    seen = {}
    for word in words:
        seen[word] = len(word)  # @here
    return seen
found = total(["a", "bb"])
odd = Odd(0)
odd.sleeps = 1000
found = total([])
"""
WANTED: dict[str, Any] = {"levels": 20, "watch": [], "inside": 0, "values": 40, "text": 160, "items": 8, "seconds": 0.3}


def unbroken(peer: Peer, thread: int) -> None:
    peer.request("setBreakpoints", source={"path": peer.stop(thread)["frames"][0]["file"]}, breakpoints=[])


def stepped(peer: Peer, thread: int) -> dict[str, Any] | None:
    """What a step's own word says of what follows it."""
    peer.resume("next", thread)
    told: dict[str, Any] | None = peer.event("stopped", reason="step").get("stillframe")
    return told


def followed(peer: Peer, thread: int) -> dict[str, Any]:
    told = peer.event("stillframe", kind="stop", threadId=thread)
    assert told["error"] is None, told
    stop: dict[str, Any] = told["stop"]
    return stop


def test_what_follows_a_step_is_what_would_have_been_asked_for(run_to: RunTo, python: str) -> None:
    _, peer, thread = run_to(python, PROGRAM)
    unbroken(peer, thread)
    assert stepped(peer, thread) == {"follows": False}, "nobody has wanted it"
    peer.call("follow", **WANTED)
    for _ in range(3):
        assert stepped(peer, thread) == {"follows": True}
        found = followed(peer, thread)
        asked = peer.stop(thread, **WANTED)
        assert [each["line"] for each in found["frames"]] == [each["line"] for each in asked["frames"]]
        assert [(row["name"], row["value"]) for row in found["locals"]] == [
            (row["name"], row["value"]) for row in asked["locals"]
        ]
        assert found["returned"] == asked["returned"]
    peer.call("hello")
    assert stepped(peer, thread) == {"follows": False}, "whoever says hello has not wanted it yet"


def test_a_breakpoint_is_told_without_it(run_to: RunTo, edge_python: str) -> None:
    _, peer, thread = run_to(edge_python, PROGRAM)
    peer.call("follow", **WANTED)
    peer.resume("continue", thread)
    assert "stillframe" not in peer.event("stopped", reason="breakpoint")


def test_a_repr_that_never_returns_is_cut_off_there_too(run_to: RunTo, python: str) -> None:
    _, peer, thread = run_to(python, PROGRAM)
    unbroken(peer, thread)
    peer.call("follow", **WANTED)
    while True:
        assert stepped(peer, thread) == {"follows": True}
        found = followed(peer, thread)
        values = {row["name"]: row["value"] for row in found["locals"]}
        if found["frames"][0]["line"] == PROGRAM.splitlines().index("found = total([])") + 1:
            break
    assert values["odd"] == "<repr did not return within 0.3 s>"
