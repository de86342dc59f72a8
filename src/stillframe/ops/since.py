"""`--since REV`: the same command in a clean copy of an earlier revision, and the first thing that is otherwise now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import Annotated

from msgspec.structs import replace

from ..adapters import for_plan
from ..adapters.revisions import FindsImports, Revision, laid_out, with_its_own_modules
from ..adapters.runners.shown import shown_from
from ..errors import Unsupported
from ..model import wording
from ..model.outcomes import AnyOutcome
from ..model.places import BreakSpec, LinePlace
from ..model.plans import Caller, Plan
from ..model.reports import ReportFrame
from ..model.sinces import Divergence, Since
from ..registry import Param
from ..session.breakpoints import absolute
from ..session.sessions import Sessions
from .called_since import Beside
from .common import NO_CUE, Cue
from .repeating import ended_well
from .walking import Walk, first_difference, walk

SinceWord = Annotated[
    str | None,
    Param("also run it in a clean copy of this git revision, and tell the first difference", metavar="REV"),
]
MOST_PLACES = 12

Then = Callable[[Revision, Plan, Caller], Awaitable[tuple[str, AnyOutcome]]]
"""The same question asked of the revision: its verdict in a line, and the end of the program."""
Behind = Callable[[Revision, Plan, Caller], Awaitable[Beside | None]]
"""Both recorded, for what lies behind the places: called with the moved plan."""


async def since(
    sessions: Sessions,
    caller: Caller,
    plan: Plan,
    name: str,
    places: Iterable[LinePlace],
    then: Then | None,
    seconds: float,
    cue: Cue = NO_CUE,
    *,
    leaving: Container[LinePlace] = (),
    alone: Plan | None = None,
    failed_in: LinePlace | None = None,
    behind: Behind | None = None,
) -> Since:
    """Ask the revision the same, then walk both through the places and compare; those of `leaving` are lines by which a call
    ends, and are compared by what it returns, too. `alone` is what failed by itself, walked instead where it fails so, too;
    `failed_in` the line of the outermost call that failed, and what came after it is not compared; `behind` tells what they
    differ in before they come to the places."""
    async with laid_out(name, plan.cwd, caller.env) as old:
        await old.check_built(plan, caller.env)
        lent = await asyncio.to_thread(old.lend, plan)
        moved = await with_its_own_modules(for_plan(plan), old.moved(plan), old)
        there = replace(caller, cwd=moved.cwd)
        pairs, unpaired = _paired(places, caller, old)
        notes = lent + unpaired
        verdict, end = await then(old, moved, there) if then is not None else ("", None)
        if not pairs:
            verdict = verdict or "none of these lines is there"
            return Since(revision=name, commit=old.commit, then=verdict, end=end, notes=notes)
        outer = next((number for number, (each, _) in enumerate(pairs) if each == failed_in), None)
        ends = {number for number, (each, _) in enumerate(pairs) if each in leaving}
        present, past = ([BreakSpec(place=pair[which]) for pair in pairs] for which in (0, 1))
        now = await walk(sessions, caller, alone or plan, present, seconds, cue, leaving=ends)
        if alone is not None and not ended_well(now.end):
            moved = await with_its_own_modules(for_plan(alone), old.moved(alone), old)
        elif alone is not None:
            now = await walk(sessions, caller, plan, present, seconds, cue, leaving=ends)
        strange = _present_ones(old, caller, pairs) if isinstance(for_plan(plan), FindsImports) else []
        was = await walk(sessions, there, moved, [*past, *strange], seconds, cue, leaving=ends)
        check_own(old, (frame.file for _, stop in was.seen for frame in stop.stack if frame.file), there)
        recorded = await behind(old, moved, there) if behind is not None else None
    cut = (f"only the first {len(now.seen):,} hits were compared",) if now.cut or was.cut else ()
    held = first_difference(was, now, lambda text: text.replace(str(old.folder), str(old.top)), failed_in=outer)
    difference = _earlier(held, recorded, shown_from(caller.cwd))
    return Since(
        revision=name,
        commit=old.commit,
        then=verdict or _reached(was, [there for _, there in pairs], old),
        end=end or was.end,
        places=len(pairs),
        hits=(len(was.seen), len(now.seen)),
        difference=difference,
        notes=(*notes, *cut, *_nor_behind(difference, recorded)),
    )


def _earlier(
    held: Divergence | None, recorded: Beside | None, show: Callable[[str | None], str | None]
) -> Divergence | None:
    """What lies behind the places, if it is more than the error itself, which these may explain by their values."""
    apart = recorded.apart if recorded is not None else None
    if apart is None or (apart.is_the_error and held is not None and held.differences):
        return held
    found = apart.told()
    return replace(found, file=show(found.file))


def _nor_behind(difference: Divergence | None, recorded: Beside | None) -> tuple[str, ...]:
    """That more was compared, where nothing was found."""
    if difference is not None or recorded is None:
        return ()
    return (f"nor in the first {recorded.steps:,} lines and calls that were recorded",)


def _reached(walked: Walk, places: Sequence[LinePlace], old: Revision) -> str:
    """How often each place was come to: all there is to say where nothing else was asked."""
    return ", ".join(
        f"{Path(place.file).relative_to(old.folder)}:{place.line} reached {_times(len(walked.at(number)))}"
        for number, place in enumerate(places)
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def places_of(frames: Iterable[ReportFrame], caller: Caller) -> list[LinePlace]:
    """The lines of the user's calls that a report tells, the outermost first: what leads to a failure."""
    found = [
        LinePlace(absolute(each.file, caller.cwd), each.line)
        for each in frames
        if each.file and each.line and not each.library
    ]
    return list(dict.fromkeys(reversed(found)))[-MOST_PLACES:]


def _paired(
    places: Iterable[LinePlace], caller: Caller, old: Revision
) -> tuple[list[tuple[LinePlace, LinePlace]], tuple[str, ...]]:
    """Each present place with its counterpart there; lines that were written since have none."""
    pairs: list[tuple[LinePlace, LinePlace]] = []
    new: list[str] = []
    for place in places:
        file = Path(absolute(place.file, caller.cwd))
        if not file.is_relative_to(old.top):
            continue
        line = old.line(file, place.line)
        if line is None:
            new.append(f"{file.relative_to(old.top)}:{place.line}")
        else:
            pairs.append((place, LinePlace(str(old.folder / file.relative_to(old.top)), line)))
    return pairs, (f"not there in {old.name}: {', '.join(new)}",) if new else ()


def _present_ones(old: Revision, caller: Caller, pairs: Iterable[tuple[LinePlace, LinePlace]]) -> list[BreakSpec]:
    """The present lines of the same places, at which a run of the revision is held only where it loads the present file."""
    present = (LinePlace(absolute(each.file, caller.cwd), each.line) for each, _ in pairs)
    return [BreakSpec(place=each) for each in present if old.strays([each.file])]


def check_own(old: Revision, files: Iterable[str], there: Caller) -> None:
    """Refuse what the run of the revision came to in the present tree."""
    if strays := old.strays(absolute(each, there.cwd) for each in files):
        asked = wording.option("since", old.name)
        raise Unsupported(
            f"{asked}: the run of it ran {strays[0]}, a file of the present tree, so that nothing is compared"
        )
