"""`--no-daemon`: the same call in this process, for sandboxes that forbid background ones. Heavy imports live here."""

from __future__ import annotations

import sys
from typing import Any


def run(request: dict[str, Any]) -> int:
    """Run one request as the daemon would, and write its reply; Ctrl-C ends it and what it started."""
    _see_packages()
    import asyncio

    from ..daemon.server import Refusal, call_from
    from .main import EXIT_CANCELLED, fail, out, say

    try:
        text, talk, code = asyncio.run(_call(call_from(request), request))
    except Refusal as refusal:
        return fail(refusal.code, refusal.message, 2, bool(request["json"]), str(request["op"]))
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    out(text)
    say(talk)
    return code


async def _call(call: Any, request: dict[str, Any]) -> tuple[str, str, int]:
    from ..daemon.stack import real

    async with real() as (dispatcher, _, render):
        reply = await dispatcher.run(call)
        return render(reply, as_json=bool(request["json"]), budget=request["budget"])


def _see_packages() -> None:
    """`dbg` runs without `site`; our dependencies may be behind a `.pth` file, as in an editable install."""
    if "site" not in sys.modules or not getattr(sys.modules["site"], "ENABLE_USER_SITE", None):
        import site

        site.main()
