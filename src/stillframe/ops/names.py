"""Names like the one that was asked for and is not there."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

NEAR = 6
"""Names that are offered."""


def near(asked: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names most like the one asked for, its last part counting as much as the whole; any where none is like it."""
    last = asked.rpartition(".")[2].rpartition("!")[2].lower()
    ends: dict[str, list[str]] = {}
    for name in names:
        ends.setdefault(name.rpartition(".")[2].lower(), []).append(name)
    close = [name for end in difflib.get_close_matches(last, list(ends), NEAR, 0.5) for name in ends[end]]
    whole = difflib.get_close_matches(asked, list(names), NEAR, 0.6)
    return tuple(dict.fromkeys([*close, *whole]))[:NEAR] or tuple(names[:NEAR])
