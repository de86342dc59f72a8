"""The life of a session, as a table and nothing else.

A session is NEW until its debugger answers, CONFIGURING while breakpoints are handed over, then goes to and fro between
RUNNING and STOPPED. EXITED and LOST are ends: the program is gone, or the debugger is. `restart` makes a new run, which
begins again at NEW. The docs' diagram is drawn from `TRANSITIONS`.
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
    LOST = "lost"


TRANSITIONS: Mapping[Phase, frozenset[Phase]] = {
    Phase.NEW: frozenset({Phase.CONFIGURING, Phase.EXITED, Phase.LOST}),
    Phase.CONFIGURING: frozenset({Phase.RUNNING, Phase.STOPPED, Phase.EXITED, Phase.LOST}),
    Phase.RUNNING: frozenset({Phase.STOPPED, Phase.EXITED, Phase.LOST}),
    # A second thread may stop while the first is held, so STOPPED may follow STOPPED.
    Phase.STOPPED: frozenset({Phase.STOPPED, Phase.RUNNING, Phase.EXITED, Phase.LOST}),
    Phase.EXITED: frozenset(),
    Phase.LOST: frozenset(),
}

ENDED = frozenset({Phase.EXITED, Phase.LOST})


def follows(before: Phase, after: Phase) -> bool:
    """Whether the table lets `after` come after `before`."""
    return after in TRANSITIONS[before]
