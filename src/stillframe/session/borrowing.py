"""Source that is in no file (made while the program runs, deleted since, carried by a source map) is asked of the debugger."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..errors import StillframeError
from ..model.sources import HoldsSource

if TYPE_CHECKING:
    from .session import Session


async def borrow(session: Session, file: str | None, frame: str | None) -> None:
    """Have the lines of a frame at hand where no file has them."""
    if file is None or session.sources.is_readable(file) or not isinstance(session.backend, HoldsSource):
        return
    with contextlib.suppress(StillframeError):  # then there are no lines to show, as of any file that is gone
        if found := await session.backend.source_text(file, frame):
            session.sources.borrow(file, found)
