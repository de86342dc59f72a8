"""What the record answers: hits, groups of them, how they differ, runs, operations, events, and what was done to the record."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .outcomes import SourceLine
from .values import Value


class Hit(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One stop that was kept. `hit` is its handle in its run, `run` that of the run."""

    hit: str
    run: str
    session: str
    time: float
    reason: str
    place: str
    function: str = ""
    step: bool = False
    """Somebody stepped there; nothing was set to stop it."""
    thread: str = ""
    breakpoints: tuple[str, ...] = ()
    count: int | None = None
    """How often its breakpoint had been hit by then."""
    locals: tuple[Value, ...] = ()
    locals_total: int | None = None
    exception: str | None = None


class Group(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Hits that have something in common: what, how many, the first and the last."""

    value: str
    count: int
    first: str = ""
    last: str = ""


class Hits(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    hits: tuple[Hit, ...] = ()
    total: int = 0
    start: int = 0
    groups: tuple[Group, ...] = ()
    groups_total: int | None = None
    by: str | None = None
    """What they were grouped or counted by."""
    counted: bool = False
    without: int = 0
    """Hits in which that is not recorded."""
    run: str = ""
    notes: tuple[str, ...] = ()


class Difference(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One name of two hits; None where it was not there."""

    name: str
    old: str | None = None
    new: str | None = None
    old_type: str | None = None
    """Only where the types differ."""
    new_type: str | None = None


class HitDiff(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    first: Hit
    second: Hit
    differences: tuple[Difference, ...] = ()
    same: int = 0
    """Names whose values are the same."""
    stack: tuple[str, ...] = ()
    """How the calls that led there differ, where they do."""
    notes: tuple[str, ...] = ()


class Trend(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One name over all hits of a place."""

    place: str
    name: str
    hits: int
    """Hits of the place; `numbers` of them had a number there."""
    numbers: int
    least: float | None = None
    most: float | None = None
    first: float | None = None
    last: float | None = None
    spark: str = ""
    others: tuple[Group, ...] = ()
    """Values that are no numbers, the most frequent first."""
    plot: str | None = None
    """The file that was drawn."""
    run: str = ""
    notes: tuple[str, ...] = ()


class RunInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One run in a line."""

    run: str
    session: str
    began: float
    state: str
    command: tuple[str, ...] = ()
    tool: str = ""
    seconds: float | None = None
    hits: int = 0
    parent: str | None = None
    saved: tuple[str, ...] = ()
    imported: str | None = None
    root: str | None = None


class OperationInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    op: str
    began: float
    seconds: float
    outcome: str
    run: str | None = None
    session: str | None = None
    args: dict[str, Any] = msgspec.field(default_factory=dict)


class FateInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What became of a breakpoint, and when."""

    breakpoint: str
    time: float
    state: str
    hits: int = 0
    place: str = ""
    message: str | None = None


class History(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Runs, newest first; or of one run its operations and the fate of its breakpoints."""

    runs: tuple[RunInfo, ...] = ()
    total: int = 0
    start: int = 0
    operations: tuple[OperationInfo, ...] = ()
    operations_total: int | None = None
    breakpoints: tuple[FateInfo, ...] = ()
    problem: str | None = None
    """Why nothing is recorded at the moment."""
    unrecorded: Literal["off", "paused"] | None = None
    """That nothing is, and whether the settings of this project say so."""


class RecordedEvent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    id: int
    time: float
    kind: str
    session: str | None = None
    run: str | None = None
    text: str = ""
    hit: str | None = None
    data: str | None = None
    """What was printed."""


class Events(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    events: tuple[RecordedEvent, ...]
    cursor: str
    """Give it as --since, and each later event comes once."""
    total: int = 0
    """Events from the cursor on; more than are shown where the page is full."""
    notes: tuple[str, ...] = ()

    def first(self, count: int) -> Events:
        """So many of them, those that were written down first, with the cursor behind these: where there is no room for all."""
        if count >= len(self.events):
            return self
        last = sorted(each.id for each in self.events)[count - 1]
        kept = tuple(each for each in self.events if each.id <= last)
        return msgspec.structs.replace(self, events=kept, cursor=str(last))


class PlaceDiff(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A place that both runs came to, and the first of its hits at which they differ."""

    place: str
    """In the second run; `was` is where it was in the first, if elsewhere."""
    was: str | None = None
    function: str = ""
    hits: tuple[int, int] = (0, 0)
    """How often each came there; left out where a probe kept only some of its hits."""
    first: int | None = None
    """Which hit of the place differs first."""
    handles: tuple[str, str] | None = None
    differences: tuple[Difference, ...] = ()


class RunDiff(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    first: RunInfo
    second: RunInfo
    both: int = 0
    """Places that both came to."""
    only_first: tuple[Group, ...] = ()
    only_second: tuple[Group, ...] = ()
    different: tuple[PlaceDiff, ...] = ()
    """Places in common whose hits or values differ, in the order in which the difference came up."""
    notes: tuple[str, ...] = ()


class Saved(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    run: RunInfo
    replaced: str | None = None
    """The run that went by this name before."""


class Exported(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    file: str
    format: Literal["jsonl", "html"]
    bytes: int
    runs: tuple[str, ...]
    hits: int
    notes: tuple[str, ...] = ()


class Imported(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    file: str
    runs: tuple[RunInfo, ...]
    hits: int
    replaced: str | None = None
    """The run that went by the name before under which it is saved."""


class Pruned(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What prune removed, and what is left."""

    runs: int = 0
    hits: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    kept_saved: int = 0
    """Runs that would have gone but are saved under a name."""
    dry_run: bool = False


class Crossed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One symbol: where the program was in it, its source, and its instructions where the debugger has them."""

    symbol: str
    file: str | None = None
    source: tuple[SourceLine, ...] = ()
    places: tuple[Group, ...] = ()
    hits: tuple[Hit, ...] = ()
    total: int = 0
    disassembly: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
