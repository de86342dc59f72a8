"""Which hits of a stretch fulfil a condition: by SQLite, or where a part of a value is compared by its column."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from .columns import Columns
from .stretches import SQL, Stretch
from .where import Comparison, Conjunct


def matching(
    connection: sqlite3.Connection, columns: Columns, stretch: Stretch, conjuncts: Sequence[Conjunct]
) -> SQL | None:
    """The hits of a stretch in which all of these hold; None where one is about several names, or about the lack of one."""
    found: SQL | None = None
    for each in reversed(conjuncts):
        if len(each.names) != 1 or _holds_of_nothing(connection, each):
            return None
        hits = _compared(columns, stretch, each.comparison) if each.comparison else None
        if hits is not None:
            further, given = (f" WHERE value IN ({found[0]})", found[1]) if found else ("", [])
            found = f"SELECT value FROM json_each(?){further}", [msgspec.json.encode(hits), *given]
        else:
            test = (f" AND c0.hit IN ({found[0]})", found[1]) if found else ("", [])
            found = stretch.cells("c0.hit", each.names[0], *_tested(stretch, each, test))
    return found


def _compared(columns: Columns, stretch: Stretch, comparison: Comparison) -> list[int] | None:
    """The hits in which a part compares so; None where its column cannot tell."""
    if not comparison.sensible or (column := columns.of(stretch, comparison.path)) is None:
        return None
    holds = comparison.among(told for told in set(column.told) if told is not None)
    return [hit for hit, told in zip(column.hits, column.told, strict=True) if told in holds]


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
    """Whether it is true where its name was not recorded at all, as `not (x != 3)` is: no cell tells of such a hit."""
    nothing = "SELECT NULL AS id, NULL AS type, NULL AS text, NULL AS number, NULL AS total, NULL AS rest"
    (answer,) = connection.execute(f"SELECT {part.sql} FROM ({nothing}) v{part.numbers[0]}", part.parameters).fetchone()
    return bool(answer)
