"""What the daemon serves: the sessions of this host, dispatch over them, and the rendering of replies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ... import render
from ...dispatch import Dispatcher, Reply
from .serve import Houses
from .server import Dispatches, Renders


def rendered(reply: Reply, *, as_json: bool, budget: int | None) -> tuple[str, str, int]:
    """A reply as the command line shows it: stdout, stderr and the exit code."""
    if as_json:
        return render.json(reply, budget), "", reply.exit_code
    out, err = render.text(reply, budget)
    return out, err, reply.exit_code


@asynccontextmanager
async def real() -> AsyncIterator[tuple[Dispatches, Houses, Renders]]:
    raise NotImplementedError
    yield Any
