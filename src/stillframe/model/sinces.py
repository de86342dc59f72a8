"""What two runs of the same command differ in first: one now and one of an earlier revision, or a failing and a passing one."""

from __future__ import annotations

import msgspec

from .outcomes import AnyOutcome
from .recorded import Difference


class Divergence(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The first hit at which the second run is otherwise than the first."""

    function: str
    file: str | None = None
    line: int | None = None
    hit: int = 1
    hits: tuple[int, int] = (0, 0)
    """How often each of them came there."""
    differences: tuple[Difference, ...] = ()
    """Values that differ; none where only one of them came there that often."""


class Since(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The same command in an earlier revision, beside the present one."""

    revision: str
    commit: str
    then: str
    """What came of it there, in a line."""
    end: AnyOutcome | None = None
    places: int = 0
    """How many places both were looked at in."""
    hits: tuple[int, int] = (0, 0)
    difference: Divergence | None = None
    notes: tuple[str, ...] = ()
