"""What a program waits for that does not come to its end: its threads, grouped by where they stand in the user's code."""

from __future__ import annotations

from ..model.reports import HangReport
from ..session.session import Session


async def gathered(session: Session, *, after: float, live: bool) -> HangReport:
    return HangReport(after=after)
