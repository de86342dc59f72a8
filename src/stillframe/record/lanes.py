"""Numbers for values, such that those of one name at one place follow each other.

A question about a name goes along its cells and from each to its value. Values in a row are found by one step to the next, and
share their pages; values that lie among those of all other names take a search through the table each, which costs more than
all the reading.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable

FIRST = 8
"""Numbers that are set aside for a name at first: most places are come to a few times."""
MOST = 4096
"""And at the most at once; as many again are set aside each time that they are used up."""
LANES = 10_000
"""Names whose numbers are at hand."""


class Lanes:
    """Which number the next value of each name gets. Numbers are set aside in memory alone, so that nobody else may have written
    since: whoever sees that somebody did is to `forget` them. What was set aside and not used is nobody's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._open: dict[Hashable, tuple[int, int, int]] = {}
        """The next number, the one behind the last, and how many were set aside."""
        self._behind: int | None = None
        """The first number that is not set aside; None where the table is to be asked."""

    def forget(self) -> None:
        self._open.clear()
        self._behind = None

    def next(self, lane: Hashable) -> int:
        number, end, size = self._open.get(lane, (0, 0, 0))
        if number == end:
            if len(self._open) > LANES:
                self._open.clear()
            size = min(MOST, 2 * size) or FIRST
            number = self._set_aside(size)
            end = number + size
        self._open[lane] = (number + 1, end, size)
        return number

    def _set_aside(self, size: int) -> int:
        if self._behind is None:
            (last,) = self._connection.execute("SELECT max(id) FROM value").fetchone()
            self._behind = (last or 0) + 1
        begin, self._behind = self._behind, self._behind + size
        return begin
