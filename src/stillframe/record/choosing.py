"""Which hits of a stretch fulfil a condition: by SQLite, or where a part of a value is compared by its column."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import compress

import msgspec

from .columns import Column, Columns, numbers
from .conditions import Judge, Path, Told, Verdict
from .stretches import SQL, Stretch
from .where import Conjunct

Chosen = SQL | list[int]
"""Some hits: the question for them, or they themselves."""


def asked(hits: Chosen) -> SQL:
    return hits if isinstance(hits, tuple) else ("SELECT value FROM json_each(?)", [msgspec.json.encode(hits)])


def listed(connection: sqlite3.Connection, sql: str, given: Sequence[object]) -> set[int]:
    """The hits that a question is for: quicker as one text than as a row for each."""
    (text,) = connection.execute(f"WITH q(id) AS ({sql}) SELECT group_concat(id) FROM q", given).fetchone()
    return set(numbers(text or ""))


def matching(
    connection: sqlite3.Connection, columns: Columns, stretch: Stretch, conjuncts: Sequence[Conjunct]
) -> Chosen | None:
    """The hits of a stretch in which all of these hold; None where one is about the lack of a name, or cannot be told so."""
    found: Chosen | None = None
    for each in sorted(conjuncts, key=lambda each: not _is_judged(each)):
        if _holds_of_nothing(connection, each):
            return None
        hits = _judged(columns, stretch, each) if _is_judged(each) else None
        if hits is not None and not isinstance(found, tuple):
            found = hits if found is None else sorted(set(found).intersection(hits))
        elif len(each.names) == 1:
            test: SQL = (f" AND c0.hit IN ({found[0]})", found[1]) if isinstance(found, tuple) else ("", [])
            sql, given = stretch.cells("c0.hit", each.names[0], *_tested(stretch, each, test))
            found = (
                sorted(listed(connection, sql, given).intersection(found)) if isinstance(found, list) else (sql, given)
            )
        else:
            return None
    return found


def _is_judged(part: Conjunct) -> bool:
    """Whether SQLite would have to ask functions of ours, or look up several names for each hit."""
    return part.looks_inside or len(part.names) > 1


def _judged(columns: Columns, stretch: Stretch, part: Conjunct) -> list[int] | None:
    """The hits in which it holds; None where what its paths lead to cannot tell."""
    paths = tuple(dict.fromkeys(part.condition.paths))
    each = [columns.with_whole(stretch, path) for path in paths] if part.condition.judged else []
    read = [column for column in each if column is not None]
    if not read or len(read) < len(paths):
        return None
    judge, needle = part.condition.judge(), part.condition.needle
    if len(read) == 1:
        (only,), (path,) = read, paths
        all_told = set(only.told)
        if needle is not None:
            all_told = {told for told in all_told if isinstance(told, str) and (needle in told or "\\" in told)}
        holds = {told for told in all_told if judge({path: told})}
        return [hit for hit, told in zip(only.hits, only.told, strict=True) if told in holds]
    hits, rows = _side_by_side(read)
    return list(compress(hits, map(_Verdicts(paths, judge).__getitem__, rows)))


class _Verdicts(dict[tuple[Told, ...], Verdict]):
    """Whether a condition holds of what its paths lead to: of what is alike it is asked once."""

    def __init__(self, paths: Sequence[Path], judge: Judge) -> None:
        super().__init__()
        self._paths = paths
        self._judge = judge

    def __missing__(self, row: tuple[Told, ...]) -> Verdict:
        self[row] = holds = self._judge(dict(zip(self._paths, row, strict=True)))
        return holds


def _side_by_side(several: Sequence[Column]) -> tuple[list[int], Iterator[tuple[Told, ...]]]:
    """What some paths lead to in each hit that has one of their names."""
    first, *others = several
    if all(each.hits == first.hits for each in others):
        return first.hits, zip(*(each.told for each in several), strict=True)
    known = [dict(zip(each.hits, each.told, strict=True)) for each in several]
    hits = sorted(set[int]().union(*known))
    return hits, (tuple(each.get(hit) for each in known) for hit in hits)


def _tested(stretch: Stretch, part: Conjunct, further: SQL) -> tuple[SQL, str]:
    """What a cell is to fulfil, and what must be joined for that. To look into a text takes long: each value is, once."""
    value = f"v{part.numbers[0]}"
    if not part.looks_inside:
        return (
            f" AND {part.sql}{further[0]}",
            [*part.parameters, *further[1]],
        ), f" JOIN value {value} ON {value}.id=c0.value"
    all_values, at = stretch.cells("c0.value", part.names[0])
    chosen = f"SELECT {value}.id FROM value {value} WHERE {value}.id IN ({all_values}) AND {part.sql}"
    return (f" AND c0.value IN ({chosen}){further[0]}", [*at, *part.parameters, *further[1]]), ""


def _holds_of_nothing(connection: sqlite3.Connection, part: Conjunct) -> bool:
    """Whether it is true where its names were not recorded at all, as `not (x != 3)` is: no cell tells of such a hit."""
    nothing = "SELECT NULL AS id, NULL AS type, NULL AS text, NULL AS number, NULL AS total, NULL AS rest"
    values = ", ".join(f"({nothing}) v{number}" for number in part.numbers)
    (answer,) = connection.execute(f"SELECT {part.sql} FROM {values}", part.parameters).fetchone()
    return bool(answer)
