"""A call in this process: by `--no-daemon`, or of a verb that needs no daemon. Heavy imports live here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...registry import Call


def run(request: dict[str, Any]) -> int:
    """Run one request as the daemon would, and write its reply; a signal ends it and what it started."""
    _see_packages()
    import asyncio
    import signal

    from ..daemon.server import Refusal, call_from
    from .main import EXIT_CANCELLED, fail, out, say

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # while it runs, a pipe that broke is the program's, not our reader's
    try:
        text, talk, code = asyncio.run(_call(call_from(request), request))
    except Refusal as refusal:
        return fail(refusal.code, refusal.message, 2, bool(request["json"]), str(request["op"]))
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except Ended as ended:
        return 128 + ended.number
    finally:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    out(text)
    say(talk)
    return code


class Ended(Exception):
    """A signal told us to end; everything that the call had started is gone."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


async def _call(call: Call, request: dict[str, Any]) -> tuple[str, str, int]:
    import asyncio
    import signal

    from ..daemon.stack import real
    from ..surroundings import Terminal

    told: list[int] = []
    loop = asyncio.get_running_loop()
    async with real(around=Terminal()) as (dispatcher, _, render):
        task = asyncio.ensure_future(dispatcher.run(call))

        def end(number: int) -> None:
            told.append(number)
            task.cancel()

        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, end, number)
        try:
            reply = await task
        except asyncio.CancelledError:
            if not told:
                raise
        else:
            return render(reply, as_json=bool(request["json"]), budget=request["budget"])
    raise Ended(told[0])


def _see_packages() -> None:
    """`dbg` runs without `site`; our dependencies may be behind a `.pth` file, as in an editable install."""
    if "site" not in sys.modules or not getattr(sys.modules["site"], "ENABLE_USER_SITE", None):
        import site

        site.main()
