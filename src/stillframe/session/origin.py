"""Where a session came from: what it was made for, by whom, and the places that its files are shown against."""

from __future__ import annotations

import msgspec

from ..model.backend import CatchRule
from ..model.plans import AttachPlan, Plan


class Origin(msgspec.Struct, frozen=True):
    """Who made a session, from where, and what for."""

    plan: Plan | AttachPlan
    base: str
    """The directory that places are read and shown against: the caller's."""
    root: str
    """The project that it belongs to."""
    client: str = ""
    catch: CatchRule = msgspec.field(default_factory=CatchRule)
    kept: bool = True
    """False for a replay and for a program of ours that only proves a debugger: nothing to record, nor to start again."""
