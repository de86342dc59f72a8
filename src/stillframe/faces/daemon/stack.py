"""What the daemon serves: a host of sessions, dispatch over it, and replies rendered for the command line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ...model.host import Host
from ...render import replies
from ..host import host
from .serve import Houses
from .server import Beside, Dispatches, Renders

JSON_SHARE = 4
"""Bytes of JSON for each character of text beside it: JSON says the same in about as many times the room."""


@asynccontextmanager
async def real(
    directory: Path | None = None, around: Host | None = None
) -> AsyncIterator[tuple[Dispatches, Houses, Renders]]:
    """The real thing, for clients that reach it in this directory; ended with all that it holds when the block is left."""
    async with host(reached_in=directory, around=around) as dispatcher:

        def rendered(
            reply: Any, *, as_json: bool, budget: int | None, beside: Beside | None = None
        ) -> tuple[str, str, int]:
            if beside is not None:
                room = beside.room or reply.budget
                text = "".join(replies.text(reply, room - beside.around))
                return replies.json(reply, room * JSON_SHARE), text, reply.exit_code
            if as_json:
                return replies.json(reply, budget or reply.json_budget), "", reply.exit_code
            out, err = replies.text(reply, budget or reply.budget)
            return out, err, reply.exit_code

        yield dispatcher, dispatcher.sessions, rendered
