"""Which hits of a stretch fulfil a condition: by SQLite, or where a part of a value is compared by its column."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import compress

import msgspec

from .cells import listed as listed_values
from .cells import numbers
from .columns import Column, Columns
from .conditions import Compared, Condition, Constant, Judge, Path, Told, Verdict
from .stretches import SQL, Stretch
from .where import Conjunct

MANY = 1000
"""Numbers that differ, of which each is compared as it is; fewer are judged once each."""


def asked(hits: Sequence[int]) -> SQL:
    """Some hits as a question for them."""
    return "SELECT value FROM json_each(?)", [msgspec.json.encode(hits)]


def listed(connection: sqlite3.Connection, sql: str, given: Sequence[object]) -> list[int]:
    """The hits that a question is for: quicker as one text than as a row for each."""
    (text,) = connection.execute(f"WITH q(id) AS ({sql}) SELECT group_concat(id) FROM q", given).fetchone()
    return numbers(text or "")


def matching(
    connection: sqlite3.Connection, columns: Columns, stretch: Stretch, conjuncts: Sequence[Conjunct]
) -> list[int] | None:
    """The hits of a stretch in which all of these hold; None where one is about the lack of a name, or cannot be told so."""
    found: list[int] | None = None
    for each in conjuncts:
        if _holds_of_nothing(connection, each) and not all(columns.cells.fills(stretch, name) for name in each.names):
            return None
        hits = _judged(columns, stretch, each) if _is_judged(each) else _by_value(connection, columns, stretch, each)
        if hits is None and len(each.names) == 1:
            hits = listed(connection, *stretch.cells("c0.hit", each.names[0], *_tested(stretch, each)))
        if hits is None:
            return None
        found = hits if found is None else _in_both(found, hits)
    return found


def _in_both(some: list[int], others: Sequence[int]) -> list[int]:
    wanted = set(others)
    return [hit for hit in some if hit in wanted]


def _is_judged(part: Conjunct) -> bool:
    """Whether SQLite would have to ask functions of ours, or look up several names for each hit."""
    return part.looks_inside or len(part.names) > 1


def _by_value(connection: sqlite3.Connection, columns: Columns, stretch: Stretch, part: Conjunct) -> list[int] | None:
    """The hits in which it holds, where the values of its name are few: SQLite is asked about each once."""
    few = columns.few(stretch, part.names[0])
    if few is None:
        return None
    hits, values, known = few
    value = f"v{part.numbers[0]}"
    sql = f"SELECT {value}.id FROM value {value} WHERE {value}.id IN (SELECT value FROM json_each(?)) AND {part.sql}"
    holds = {row[0] for row in connection.execute(sql, (listed_values(known), *part.parameters))}
    return list(compress(hits, map(holds.__contains__, values)))


def _judged(columns: Columns, stretch: Stretch, part: Conjunct) -> list[int] | None:
    """The hits in which it holds; None where what its paths lead to cannot tell."""
    paths = tuple(dict.fromkeys(part.condition.paths))
    each = [columns.of(stretch, path) for path in paths] if part.condition.judged else []
    read = [column for column in each if column is not None]
    if not read or len(read) < len(paths):
        return None
    condition = part.condition
    if len(read) == 1:
        return _of_one(read[0], paths[0], condition)
    if isinstance(condition, Compared) and read[0].hits == read[1].hits:
        return _of_two(read, paths, condition)
    hits, rows = _side_by_side(read)
    return list(compress(hits, map(_Verdicts(paths, condition.judge()).__getitem__, rows)))


def _of_one(column: Column, path: Path, condition: Condition) -> list[int]:
    """Of what is alike it is asked once; of very many numbers that differ, by these numbers."""
    all_told = set(column.told)
    match condition:
        case Compared(right=Constant(float() | int() as wanted)) if len(all_told) > MANY:
            return list(compress(column.hits, _by_number(column, condition, wanted)))
    needle, judge = condition.needle, condition.judge()
    if needle is not None:
        all_told = {told for told in all_told if isinstance(told, str) and (needle in told or "\\" in told)}
    holds = {told for told in all_told if judge({path: told})}
    return list(compress(column.hits, map(holds.__contains__, column.told)))


def _by_number(column: Column, condition: Compared, wanted: float) -> Iterator[bool]:
    """As `Compared` judges it, for all at once: what is no number is only ever unlike one."""
    by, unlike = condition.by, condition.op == "!="
    return (
        by(height, wanted) if height is not None else unlike and told is not None
        for height, told in zip(column.heights, column.told, strict=True)
    )


def _of_two(read: Sequence[Column], paths: Sequence[Path], condition: Compared) -> list[int]:
    """Two paths compared: by their numbers where both are such."""
    one, other = read
    by, verdicts = condition.by, _Verdicts(paths, condition.judge())
    if None not in one.heights and None not in other.heights:
        return list(compress(one.hits, map(by, one.heights, other.heights)))
    pairs = zip(one.heights, other.heights, one.told, other.told, strict=True)
    holds = (by(x, y) if x is not None and y is not None else verdicts[a, b] for x, y, a, b in pairs)
    return list(compress(one.hits, holds))


class _Verdicts(dict[tuple[Told, ...], Verdict]):
    """Whether a condition holds of what its paths lead to: of what is alike it is asked once."""

    def __init__(self, paths: Sequence[Path], judge: Judge) -> None:
        super().__init__()
        self._paths = paths
        self._judge = judge

    def __missing__(self, row: tuple[Told, ...]) -> Verdict:
        self[row] = holds = self._judge(dict(zip(self._paths, row, strict=True)))
        return holds


def _side_by_side(several: Sequence[Column]) -> tuple[Sequence[int], Iterator[tuple[Told, ...]]]:
    """What some paths lead to in each hit that has one of their names."""
    first, *others = several
    if all(each.hits == first.hits for each in others):
        return first.hits, zip(*(each.told for each in several), strict=True)
    known = [dict(zip(each.hits, each.told, strict=True)) for each in several]
    hits = sorted(set[int]().union(*known))
    return hits, (tuple(each.get(hit) for each in known) for hit in hits)


def _tested(stretch: Stretch, part: Conjunct) -> tuple[SQL, str]:
    """What a cell is to fulfil, and what must be joined for that. To look into a text takes long: each value is, once."""
    value = f"v{part.numbers[0]}"
    if not part.looks_inside:
        return (f" AND {part.sql}", part.parameters), f" JOIN value {value} ON {value}.id=c0.value"
    all_values, at = stretch.cells("c0.value", part.names[0])
    chosen = f"SELECT {value}.id FROM value {value} WHERE {value}.id IN ({all_values}) AND {part.sql}"
    return (f" AND c0.value IN ({chosen})", [*at, *part.parameters]), ""


def _holds_of_nothing(connection: sqlite3.Connection, part: Conjunct) -> bool:
    """Whether it is true where its names were not recorded at all, as `not (x != 3)` is: no cell tells of such a hit."""
    nothing = "SELECT NULL AS id, NULL AS type, NULL AS text, NULL AS number, NULL AS total, NULL AS rest"
    values = ", ".join(f"({nothing}) v{number}" for number in part.numbers)
    (answer,) = connection.execute(f"SELECT {part.sql} FROM {values}", part.parameters).fetchone()
    return bool(answer)
