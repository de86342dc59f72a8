"""The functions by which SQLite looks into a value's text."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Sequence

from ..model import exact
from . import glances, moments, texts
from .conditions import remainder
from .figures import OPERATORS, exactly, number_of
from .pen import ValueRest


def teach(connection: sqlite3.Connection) -> None:
    """Makes them known to a connection."""
    connection.create_function("sf_number", 3, _sf_number, deterministic=True)
    connection.create_function("sf_height", 3, _sf_height, deterministic=True)
    connection.create_function("sf_exactly", 5, _sf_exactly, deterministic=True)
    connection.create_function("sf_both", 7, _sf_both, deterministic=True)
    connection.create_function("sf_remainder", 2, remainder, deterministic=True)
    connection.create_function("sf_rest", 4, _sf_rest, deterministic=True)
    connection.create_function("sf_moment", 3, _sf_moment, deterministic=True)
    connection.create_function("sf_text", 3, _sf_text, deterministic=True)
    connection.create_function("sf_shown", 3, _part, deterministic=True)
    connection.create_function("sf_type", 3, _sf_type, deterministic=True)
    connection.create_function("sf_length", 4, _sf_length, deterministic=True)
    connection.create_function("sf_beyond", 5, _sf_beyond, deterministic=True)


def _part(text: str | None, rest: str | None, steps: str) -> str | None:
    """The text of a part of a value, as it was written, with its quotes."""
    return _found(text, rest, steps)[0] if text is not None else None


@functools.lru_cache(maxsize=65_536)
def _found(text: str, rest: str | None, steps: str) -> tuple[str | None, str]:
    """The text and, where it is known, the type of a part of a value; the same values come again and again."""
    way = _read(steps)
    if (rest is None or '"children":[' not in rest) and (glanced := glances.part(text, way)) is not None:
        return glanced, ""
    found = texts.follow(texts.restored("", text, None, rest), way)
    return (None, "") if found is None else (found.value, found.type)


def _sf_number(text: str | None, rest: str | None, steps: str) -> float | None:
    found = _part(text, rest, steps)
    return number_of(found) if found is not None else None


def _exactly(text: str | None, rest: str | None, steps: str) -> float | None:
    found = _part(text, rest, steps) if steps else text
    return exactly(found) if found is not None else None


def _sf_height(text: str | None, rest: str | None, steps: str) -> float | None:
    """As SQLite compares it: with what no larger number is taken for, and the infinite."""
    number = _exactly(text, rest, steps)
    return None if number is None else float(number)


def _sf_exactly(text: str | None, rest: str | None, steps: str, op: str, wanted: str) -> bool | None:
    """Compared with a whole number that is no float."""
    number = _exactly(text, rest, steps)
    if number is None:
        there = text is not None and (not steps or _part(text, rest, steps) is not None)
        return there if op == "!=" else None
    return OPERATORS[op](number, int(wanted))


def _sf_both(
    text: str, rest: str | None, steps: str, op: str, other: str, its_rest: str | None, its_steps: str
) -> bool:
    """Two numbers of which one may be no float."""
    return OPERATORS[op](_exactly(text, rest, steps), _exactly(other, its_rest, its_steps))


def _sf_rest(text: str | None, rest: str | None, steps: str, divisor: float) -> float | None:
    found = remainder(_exactly(text, rest, steps), divisor)
    return None if found is None else float(found)


def _sf_moment(text: str | None, rest: str | None, steps: str) -> str | None:
    return moments.shown(_part(text, rest, steps) if steps else text)


def _sf_text(text: str | None, rest: str | None, steps: str) -> str | None:
    """Without its quotes."""
    found = _part(text, rest, steps) if steps else text
    return texts.plain(found) if found is not None else None


def _sf_type(text: str | None, rest: str | None, steps: str) -> str | None:
    if text is None:
        return None
    found, type = _found(text, rest, steps)
    return None if found is None else type or texts.type_of(found)


def _sf_length(text: str | None, total: int | None, rest: str | None, steps: str) -> int | None:
    if text is None:
        return None
    found = texts.follow(texts.restored("", text, total, rest), _read(steps))
    return texts.length_of(found) if found else None


def _sf_beyond(text: str, total: int | None, rest: str | None, steps: str, of: texts.Of) -> bool:
    more = exact.decode(rest, ValueRest).more if rest else False
    found = texts.restored("", text, total, rest)
    return texts.goes_beyond(found, more, _read(steps), of)


def written(steps: Sequence[texts.Step]) -> str:
    """Steps as one word for the functions that SQLite asks."""
    return "\x1f".join(f"#{each}" if isinstance(each, int) else f".{each}" for each in steps)


@functools.lru_cache(maxsize=64)
def _read(steps: str) -> tuple[texts.Step, ...]:
    return tuple(int(each[1:]) if each[0] == "#" else each[1:] for each in steps.split("\x1f") if each)
