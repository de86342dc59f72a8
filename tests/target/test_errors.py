"""What a stop tells of an exception: the group's members within bounds, the frames above the user's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .wireclient import Target

MANY = """
import contextlib
def fails(n):
    with contextlib.nullcontext():
        raise KeyError(n)
def made(n):
    try:
        fails(n)
    except KeyError as error:
        return error
def caught():
    step = 1
    try:
        raise OSError("caught")
    except OSError as error:
        found = error
    step = 2
    return found
def here():
    found = 1
    try:
        raise IndexError("here")
    except IndexError as error:
        kept = error
    found = 2
    raise ExceptionGroup("many", [ExceptionGroup("few", [made(0)]), caught(), kept, *(made(n) for n in range(1, 38))])
here()
"""
DEEP = """
import re
class Odd:
    def __str__(self): raise ValueError("no text")
def main():
    re.sub("a", lambda found: json, "a")
main()
"""


def told(start: Callable[..., Target], python: str, folder: Path, text: str) -> dict[str, Any]:
    (folder / "program.py").write_text(text)
    peer = start(python, folder / "program.py").accept()
    peer.configure(catch=["uncaught"])
    peer.go()
    return peer.stop(peer.stopped(reason="exception"))


def test_a_group_of_many_is_told_in_part_and_counted_with_the_values_of_calls_that_are_over(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    error = told(start, deep_python, tmp_path, MANY)["exception"]
    assert (error["type"], error["mode"], error["members_total"]) == ("ExceptionGroup", "uncaught", 40)
    first, caught, here, second = error["members"][:4]
    assert (first["type"], first["members"][0]["message"]) == ("ExceptionGroup", "0")
    assert (second["type"], second["message"], second["frames"][0]["line"]) == ("KeyError", "1", 5)
    assert len(error["members"]) + len(first["members"]) == 16
    assert [(each["name"], each["value"]) for each in second["locals"]] == [("n", "1")]
    assert first["members"][0]["locals"][0]["value"] == "0"
    assert (caught["type"], here["type"], caught["locals"], here["locals"]) == ("OSError", "IndexError", [], [])


def test_frames_of_a_library_between_the_users_own_stay_where_they_are(
    start: Callable[..., Target], spread_python: str, tmp_path: Path
) -> None:
    stop = told(start, spread_python, tmp_path, DEEP)
    functions = [frame["function"].rpartition(".")[2] for frame in stop["frames"]]
    assert (functions[0], functions[-2:]) == ("<lambda>", ["main", "<module>"])
    assert "sub" in functions and stop["at"] == 0
