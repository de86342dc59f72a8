"""Stops that the program itself asks for: `pdb.set_trace()` holds it for us as `breakpoint()` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .wireclient import Target

PROGRAM = """
import sys
assert "pdb" not in sys.modules
import pdb
def f(n):
    pdb.set_trace()
    first = n + 1
    pdb.Pdb().set_trace()
    from pdb import set_trace; set_trace()
    breakpoint()
    return first
print(f(1))
pdb.set_trace()
"""


def test_every_way_to_call_pdb_holds_the_program_at_the_next_line(
    start: Callable[..., Target], python: str, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    target = start(python, tmp_path / "program.py")
    peer = target.accept()
    peer.configure()
    peer.go()
    lines = []
    for _ in range(4):
        thread = peer.stopped(reason="breakpoint")
        stop = peer.stop(thread)
        lines.append((stop["frames"][0]["function"], stop["frames"][0]["line"]))
        peer.resume("continue", thread)
    peer.rest()
    assert lines == [("f", 7), ("f", 9), ("f", 10), ("f", 11)]
    assert target.end() == (0, "2\n", "")
