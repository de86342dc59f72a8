"""What `--hold` of a report leaves behind: an ordinary session at the place that the report told of."""

from __future__ import annotations

from ..model.reports import Held
from ..session.session import Session

LEASE = 600.0
"""Seconds that a program is kept which nobody uses."""


def left_held(session: Session, *, again: bool = False, runs: bool = False) -> Held:
    """Its stop is told by the report, so that the next order goes on from there."""
    session.tell()
    return Held(session=session.name, lease=LEASE, again=again, runs=runs)
