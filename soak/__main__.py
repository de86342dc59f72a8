"""`./dev soak [MINUTES] [--only NAME …]`: long runs of what the tests do in moments, and the figures that they are held against.

Every part has directories and a daemon of its own, ends by itself, and looks for what it left behind. The more minutes there are,
the more sessions, kills, bytes and cases. The exit code is 1 where a promise is broken: something lost, left, or not caught.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import corpus, ends, fuzz, load, storms
from .ground import Ground, stopwatch
from .table import Row, lines, none_of

MINUTES = 10.0
PARTS: dict[str, tuple[float, Callable[[Ground], Any]]] = {
    "L1": (0.20, load.many_sessions),
    "L2": (0.08, load.calls_in_a_flood),
    "L3": (0.10, load.a_gigabyte),
    "L4": (0.12, load.one_after_another),
    "F2": (0.18, storms.kills),
    "F3": (0.08, storms.starts_at_once),
    "F4": (0.05, storms.back_again),
    "B1": (0.13, fuzz.framings),
    "E1": (0.05, ends.stubborn),
    "S3": (0.01, corpus.recall),
}
"""The parts by the names of their figures, and what share of the time each has."""


def run(name: str, minutes: float) -> list[Row]:
    """One part, and what it left behind; one that fails altogether is a promise broken, and ends no other."""
    share, part = PARTS[name]
    with Ground(minutes * 60 * share) as ground:
        try:
            found = part(ground)
            rows: list[Row] = asyncio.run(found) if inspect.iscoroutine(found) else found
        except Exception as error:
            rows = [none_of(f"{name} failed", "", [f"{type(error).__name__}: {error}"], "failures")]
        return [*rows, ground.left_at_the_end(f"{name} left behind")]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev soak")
    parser.add_argument("minutes", nargs="?", type=float, default=MINUTES, help="about how long all parts may take")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts alone")
    asked = parser.parse_args(words)
    rows: list[Row] = []
    for name in asked.only:
        with stopwatch() as took:
            rows += run(name, asked.minutes)
        print(f"{name} took {took[0]:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(lines(rows)))
    return int(any(each.broken for each in rows))


if __name__ == "__main__":
    sys.exit(main())
