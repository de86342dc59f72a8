"""A daemon whose operations are a few toys: the real socket, lock, frames and life, without a debugger behind them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src"))

from stillframe.faces.daemon.__main__ import report
from stillframe.faces.daemon.lifecycle import Claim, Refused
from stillframe.faces.daemon.serve import serve
from stillframe.registry import Call


class Toys:
    """Answers by the verb: `tool` echoes the call, `wait` waits for ever, `stop` fails, `pause` counts a session."""

    def __init__(self) -> None:
        self.on_change = lambda: None
        self.live = 0
        self.cancelled = 0
        self.waiting = 0
        self.ended = 0

    async def run(self, call: Call) -> dict[str, Any]:
        match call.op:
            case "wait":
                self.waiting += 1
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.cancelled += 1
                    raise
            case "stop":
                raise ZeroDivisionError("a fault of our own")
            case "pause":
                self.live += 1
                self.on_change()
            case "breaks":
                return {"result": {"breakpoints": [{"id": "b1"}, {"id": "b2"}]}}
            case "sessions":
                return {"result": {"sessions": [{"name": "shop"}]}}
            case "output":
                return {"big": "x" * 3_000_000}
        caller = call.caller
        return {
            "op": call.op,
            "args": dict(call.args),
            "session": call.session,
            "cwd": caller.cwd,
            "env": dict(caller.env),
            "umask": caller.umask,
            "client": caller.client,
            "allow": call.allow.name.lower(),
            "budget": call.budget,
            "waiting": self.waiting,
            "cancelled": self.cancelled,
            "live": self.live,
        }


def rendered(reply: Any, *, as_json: bool, budget: int | None, beside: Any = None) -> tuple[str, str, int]:
    return json.dumps(reply) + "\n", "" if as_json else "talk\n", 0 if reply.get("op") != "detach" else 3


@asynccontextmanager
async def toys() -> AsyncIterator[tuple[Toys, Toys, Any]]:
    made = Toys()
    yield made, made, rendered
    made.ended = made.live
    made.live = 0


if __name__ == "__main__":
    ready = int(sys.argv[1])
    try:
        claim = Claim.take()
    except Refused as refused:
        report(ready, str(refused))
        sys.exit(1)
    try:
        serve(claim, on_ready=lambda: report(ready, "ready"), opened=toys)
    finally:
        claim.release()
