"""What a stop tells of an exception: the group's members within bounds, the frames above the user's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .wireclient import Target

MANY = """
def made(n):
    try:
        raise KeyError(n)
    except KeyError as error:
        return error
raise ExceptionGroup("many", [ExceptionGroup("few", [made(0)]), *(made(n) for n in range(1, 40))])
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


def test_a_group_of_many_is_told_in_part_and_counted(
    start: Callable[..., Target], deep_python: str, tmp_path: Path
) -> None:
    error = told(start, deep_python, tmp_path, MANY)["exception"]
    assert (error["type"], error["mode"], error["members_total"]) == ("ExceptionGroup", "uncaught", 40)
    first, second = error["members"][:2]
    assert (first["type"], first["members"][0]["message"]) == ("ExceptionGroup", "0")
    assert (second["type"], second["message"], second["frames"][0]["line"]) == ("KeyError", "1", 4)
    assert len(error["members"]) + len(first["members"]) == 16


def test_frames_of_a_library_between_the_users_own_stay_where_they_are(
    start: Callable[..., Target], python: str, tmp_path: Path
) -> None:
    stop = told(start, python, tmp_path, DEEP)
    functions = [frame["function"].rpartition(".")[2] for frame in stop["frames"]]
    assert (functions[0], functions[-2:]) == ("<lambda>", ["main", "<module>"])
    assert "sub" in functions and stop["at"] == 0
