"""What a part of the soak found: a row for each figure, and which of them may never be otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure: what was done for it, what came out, and what it is held against."""

    name: str
    done: str
    figure: str
    goal: str
    met: bool
    must: bool = False
    """Whether it is a promise rather than a measure, so that a run which breaks it has failed."""

    @property
    def broken(self) -> bool:
        return self.must and not self.met


def none_of(name: str, done: str, found: Sequence[object], what: str) -> Row:
    """A promise that there are none; the first few where there are some."""
    shown = "; ".join(str(each) for each in found[:3])
    return Row(name, done, f"{len(found)} {what}{': ' + shown if shown else ''}", "0", not found, must=True)


def at_most(name: str, done: str, figure: float, most: float, unit: str) -> Row:
    return Row(name, done, f"{figure:.1f} {unit}", f"<= {most:g} {unit}", figure <= most)


def lines(rows: Sequence[Row]) -> list[str]:
    """The rows below each other, with a mark where a goal is missed and a louder one where a promise is broken."""
    cells = [("figure", "what was done", "found", "goal")] + [
        (each.name, each.done, each.figure, each.goal) for each in rows
    ]
    name, done = (max(len(row[at]) for row in cells) for at in (0, 1))
    marks = [""] + ["BROKEN" if each.broken else "" if each.met else "missed" for each in rows]
    return [
        f"{row[0]:<{name}}  {row[1]:<{done}}  {row[2]}  ({row[3]})  {mark}".rstrip()
        for row, mark in zip(cells, marks, strict=True)
    ]
