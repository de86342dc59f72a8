"""The life of a session, as a table and nothing else.

A session is NEW until its debugger answers, CONFIGURING while breakpoints are handed over, then goes to and fro between
RUNNING and STOPPED. EXITED, DETACHED and LOST are ends: the program is gone, or we let go of it, or the debugger is gone.
`restart` makes a new run, which begins again at NEW. The docs' diagram is drawn from `TRANSITIONS`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Phase(enum.StrEnum):
    NEW = "new"
    CONFIGURING = "configuring"
    RUNNING = "running"
    STOPPED = "stopped"
    EXITED = "exited"
    DETACHED = "detached"
    LOST = "lost"


ENDED = frozenset({Phase.EXITED, Phase.DETACHED, Phase.LOST})

TRANSITIONS: Mapping[Phase, frozenset[Phase]] = {
    Phase.NEW: frozenset({Phase.CONFIGURING}) | ENDED,
    Phase.CONFIGURING: frozenset({Phase.RUNNING, Phase.STOPPED}) | ENDED,
    Phase.RUNNING: frozenset({Phase.STOPPED}) | ENDED,
    # A second thread may stop while the first is held, so STOPPED may follow STOPPED.
    Phase.STOPPED: frozenset({Phase.STOPPED, Phase.RUNNING}) | ENDED,
    Phase.EXITED: frozenset(),
    Phase.DETACHED: frozenset(),
    Phase.LOST: frozenset(),
}


def follows(before: Phase, after: Phase) -> bool:
    """Whether the table lets `after` come after `before`."""
    return after in TRANSITIONS[before]


def past(ended: Phase) -> str:
    """How a session that is over came to its end, after "has"."""
    return {Phase.EXITED: "exited", Phase.DETACHED: "been detached"}.get(ended, "lost its debugger")
