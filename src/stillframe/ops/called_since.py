"""`--since REV`: both revisions recorded from the outermost call that fails now on, for the first line that is otherwise.

The lines of the calls that failed show what these were given. What gave it to them may have returned long before, and stands in
none of them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from ..adapters.recorders import Recording
from ..adapters.revisions import Numbering, Revision
from ..model.recorder import AnySaid, Ask, Call, TraceAsk, Where
from ..model.reports import ReportFrame
from ..record.pen import same_everywhere
from .lockstep import Apart, Terms, noise, parting, road

DEPTH = 8
"""How far below the outermost call the lines of calls are compared; below that, what calls are given and return."""
MOST_LINES, MOST_CALLS, TEXT = 50_000, 5_000, 400
_SUSPENDED = re.compile(r", suspended at line \d+")

Said = tuple[AnySaid, ...]
Record = Callable[[Ask], Awaitable[Said]]
"""A run in which what is asked for is written down; nothing where it was never come to."""


class Beside(msgspec.Struct, frozen=True):
    """What came of comparing two recordings."""

    apart: Apart | None = None
    steps: int = 0


async def beside(now: Record, then: Record, old: Revision, cwd: str, failed: Sequence[ReportFrame]) -> Beside | None:
    """Run the present twice, to know what is otherwise in each run, and the revision once; None where nothing can be recorded.
    Where a recorder does not write down the outermost of the failed calls, as Node's none of a module, it is the next."""
    own = [each for each in failed if each.file and each.line and not each.library]
    for frame in reversed(own[-2:]):
        wheres = _wheres(frame, cwd, old)
        present = await now(_ask(wheres[0])) if wheres else ()
        if wheres and _calls(present):
            again, past = await now(_ask(wheres[0])), await then(_ask(wheres[1]))
            return await asyncio.to_thread(_compared, present, again, past, old)
    return None


def _wheres(frame: ReportFrame, cwd: str, old: Revision) -> tuple[Where, Where] | None:
    """A call's function, now and then: by its name; what has none, by the line."""
    file = Path(cwd, frame.file or "").resolve()
    if not file.is_relative_to(old.top):
        return None
    there = old.folder / file.relative_to(old.top)
    name, line = frame.function, old.line(file, frame.line or 0)
    if "<" not in name and not (name.startswith("test") and line):  # several classes may have a test of one name
        return Where(file=str(file), function=name), Where(file=str(there), function=name)
    return (Where(file=str(file), line=frame.line), Where(file=str(there), line=line)) if line else None


def _ask(where: Where) -> Ask:
    trace = TraceAsk(where=where, call=1, depth=DEPTH, most_lines=MOST_LINES, most_calls=MOST_CALLS)
    return Ask(trace=trace, text=TEXT)


def what_was_said(recordings: Iterable[Recording]) -> Said:
    """What the process wrote down that came to the call."""
    told = (tuple(each.said) for each in recordings)
    return next((said for said in told if _calls(said)), ())


def _calls(said: Said) -> list[Call]:
    return [each for each in said if isinstance(each, Call)]


def _compared(present: Said, again: Said, past: Said, old: Revision) -> Beside:
    numbering = Numbering(old)
    moved = str(old.folder), str(old.top)

    def steady(text: str) -> str:
        return _SUSPENDED.sub("", same_everywhere(text.replace(*moved)))

    def functions(said: Said) -> set[tuple[str, str]]:
        return {(each.function, each.file.replace(*moved)) for each in _calls(said)}

    def terms(other: Said, number: Callable[[str, int], int | None], kept: Callable[[str, int], bool]) -> Terms:
        known = functions(other)

        def both(call: Call) -> bool:
            file = call.file.replace(*moved)
            return (call.function, file) in known or kept(file, call.line)

        return Terms(number, steady, both)

    here = terms(past, numbering.is_in_both, numbering.is_kept)
    now, twin = road(present, here), road(again, here)
    was = road(past, terms(present, numbering.present, numbering.was_kept))
    return Beside(parting(was, now, *noise(now, twin)), now.length)
