"""What `install` and `uninstall` did, file by file."""

from __future__ import annotations

from typing import Literal

import msgspec

PlacedState = Literal["written", "updated", "unchanged", "kept", "removed", "absent"]


class Placed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One file or entry: where it belongs and what became of it."""

    agent: str
    kind: Literal["skill", "mcp", "subagent"]
    path: str
    state: PlacedState
    """`kept`: somebody has edited it, or another agent reads it, too, so it was left as it is."""
    backup: str | None = None
    note: str | None = None


class Installation(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything that was placed or removed; with `dry_run`, that would be."""

    placed: tuple[Placed, ...]
    dry_run: bool = False
    notes: tuple[str, ...] = ()
