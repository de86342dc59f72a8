"""The record: what was seen in this run and in earlier ones, asked again, counted and compared, also after the end."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ..errors import NotFound, Try, UsageError
from ..model.places import Place
from ..model.plans import Caller
from ..model.recorded import Events, History, HitDiff, Hits, RunDiff, Trend
from ..record import chronicle, comparing, finding, plots, scopes
from ..record import hits as hits_
from ..record.finding import Run, View
from ..record.record import Record
from ..registry import Access, Meant, Param, operation
from .common import Count, Start

RunWord = Annotated[
    str | None,
    Param(
        "the run: r12, a saved name or a session's name; if left out the current session's, or the newest since its end",
        metavar="RUN",
    ),
]
At = Annotated[
    Place | None, Param('a place: file:line, file@"text" or a function\'s name', positional=True, metavar="LOC")
]
Where = Annotated[
    str | None,
    Param(
        "only hits in which this holds: names, item.qty, type(x), len(x), == != < <= > >= % in, and, or, not; a date in quotes",
        metavar="EXPR",
    ),
]


def chosen(connection: sqlite3.Connection, meant: Meant, word: str | None = None) -> Run:
    """The run that a call is about: the one named, else the one of its session, unless that is over and something was run
    since (as `probe` does, which leaves no session), else the newest of the project."""
    later = None if word or meant.name or meant.over is None else finding.since(connection, meant.root, meant.over)
    if word:
        return finding.run(connection, meant.root, word)
    return later or finding.of_session(connection, meant.root, meant.name or meant.running)


def view_of(meant: Meant, caller: Caller) -> View:
    return View(caller.cwd, meant.root)


@operation(
    Access.READ, example="dbg hits shop.py:14 --where 'price > 10'\ndbg hits shop.py:14 --count-by 'type(price)'"
)
async def hits(
    meant: Meant,
    caller: Caller,
    record: Record,
    at: At = None,
    where: Where = None,
    group_by: Annotated[
        str | None, Param("group by a recorded path, or by place, function, thread or reason", metavar="PATH")
    ] = None,
    count_by: Annotated[str | None, Param("only count, by the same", metavar="PATH")] = None,
    top: Annotated[int, Param("hits or groups at the most", metavar="N")] = 20,
    start: Start = 0,
    run: RunWord = None,
    steps: Annotated[bool, Param("stops of steps, too")] = True,
) -> Hits:
    """Every stop of a run that was recorded, at one place or at all: listed, filtered, grouped or counted."""
    if group_by and count_by:
        raise UsageError("hits takes --group-by or --count-by, not both")
    view = view_of(meant, caller)
    by = group_by or count_by

    def ask(connection: sqlite3.Connection) -> Hits:
        scope = scopes.scope(connection, chosen(connection, meant, run), view, at, where, steps=steps)
        if by:
            return hits_.grouped(scope, by, top, counted=bool(count_by))
        return hits_.listed(scope, start, top)

    return await record.ask(ask)


HitWord = Annotated[str, Param("a hit: h3, or r2.h3 for one of another run", positional=True, metavar="HIT")]


@operation(Access.READ, example="dbg hit-diff h3 h9")
async def hit_diff(meant: Meant, caller: Caller, record: Record, first: HitWord, second: HitWord) -> HitDiff:
    """What differs between two hits: every local by its value and type, and the calls that led there."""

    def ask(connection: sqlite3.Connection) -> HitDiff:
        home = None
        if not all("." in each or ":" in each for each in (first, second)):
            home = chosen(connection, meant)
        one, other = (finding.hit(connection, meant.root, each, home) for each in (first, second))
        return comparing.two_hits(connection, one, other, view_of(meant, caller))

    return await record.ask(ask)


@operation(Access.READ, example="dbg hit-trend shop.py:14 out\ndbg hit-trend shop.py:14 'len(items)' --plot out.svg")
async def hit_trend(
    meant: Meant,
    caller: Caller,
    record: Record,
    at: Annotated[Place, Param("a place", positional=True, metavar="LOC")],
    name: Annotated[str, Param("a recorded name, item.qty or len(x)", positional=True, metavar="PATH")],
    where: Where = None,
    plot: Annotated[str | None, Param("draw it into this SVG file", metavar="FILE", access=Access.CONTROL)] = None,
    run: RunWord = None,
) -> Trend:
    """How a value went from hit to hit of a place, as a line of bars, and as a drawing if wanted."""

    points: list[tuple[int, float]] = []

    def ask(connection: sqlite3.Connection) -> Trend:
        scope = scopes.scope(connection, chosen(connection, meant, run), view_of(meant, caller), at, where)
        found, drawn = hits_.trend(scope, name, str(at), drawn=plot is not None)
        points.extend(drawn)
        return found

    found = await record.ask(ask)
    if plot is None:
        return found
    if not points:
        raise NotFound(f"{name} was never a number there, so there is nothing to draw")
    path = Path(caller.cwd) / plot
    drawn = plots.svg(points, f"{name} at {at} ({found.run})")
    await asyncio.to_thread(plots.write, path, drawn)
    return msgspec.structs.replace(found, plot=plot)


@operation(Access.READ, name="diff", example="dbg diff r3 r4\ndbg diff before after")
async def diff(
    meant: Meant,
    caller: Caller,
    record: Record,
    first: Annotated[str, Param("a run: r12, a saved name or a session's name", positional=True, metavar="RUN_A")],
    second: Annotated[
        str | None,
        Param(
            "the other; if left out the current session's, or the newest since its end",
            positional=True,
            metavar="RUN_B",
        ),
    ] = None,
    top: Annotated[int, Param("places that differ at the most", metavar="N")] = 20,
) -> RunDiff:
    """Compare two runs: places that only one came to, how often, and for each place the first hit whose values differ.

    Lines are matched by the text of the file as it was in each run, so that edits in between do not disturb it.
    """

    def ask(connection: sqlite3.Connection) -> RunDiff:
        one = finding.run(connection, meant.root, first)
        other = chosen(connection, meant, second)
        if one.id == other.id and second is None and meant.name is None:  # a replay of it is the current session
            other = finding.run(connection, meant.root, None)
        if one.id == other.id:
            raise UsageError(
                f"{first} and {second or 'the newest run'} are the same run, {one.handle}", hint=Try("history")
            )
        return comparing.two_runs(connection, one, other, view_of(meant, caller), top)

    return await record.ask(ask)


@operation(Access.READ, example="dbg history\ndbg history r12")
async def history(
    meant: Meant,
    record: Record,
    run: Annotated[
        str | None,
        Param(
            "a run, to see its operations and breakpoints: r12, a saved name, a session's name",
            positional=True,
            metavar="RUN",
        ),
    ] = None,
    all: Annotated[bool, Param("runs of other projects too")] = False,
    start: Start = 0,
    count: Count = 20,
) -> History:
    """The runs that are recorded, newest first; of one run every operation with its time and outcome."""
    word = run or meant.name

    def ask(connection: sqlite3.Connection) -> History:
        if word is None:
            return chronicle.runs(connection, None if all else meant.root, start, count)
        return chronicle.of_run(connection, finding.run(connection, meant.root, word), start, count)

    found = await record.look(ask)
    return msgspec.structs.replace(found, problem=record.problem)


Kind = Literal["start", "stop", "output", "breakpoint", "operation", "end"]
LONGEST_WAIT = 30.0


@operation(Access.READ, example="dbg events --since 120 --kind stop --wait")
async def events(
    meant: Meant,
    caller: Caller,
    record: Record,
    since: Annotated[
        str | None, Param("a cursor from an earlier reply: only what came after it", metavar="CURSOR")
    ] = None,
    kind: Annotated[tuple[Kind, ...], Param("only events of this kind; may be repeated")] = (),
    wait: Annotated[bool, Param("wait until there is one")] = False,
    timeout: Annotated[float | None, Param("seconds to wait at the most", metavar="S")] = None,
    count: Count = 50,
    run: Annotated[
        str | None,
        Param(
            "only of this run: r12, a saved name or a session's name; all of this project if left out", metavar="RUN"
        ),
    ] = None,
) -> Events:
    """What happened, in order, each with its number: starts, stops, output, breakpoints, operations, ends.

    It never waits behind a running `continue`. The cursor of a reply brings, with --since, each later event once.
    """
    word = run or meant.name
    begin = chronicle.cursor(since)

    def ask(connection: sqlite3.Connection) -> Events:
        chronicle.check_cursor(connection, begin)
        of = finding.run(connection, meant.root, word) if word else None
        return chronicle.events(connection, meant.root, of, begin, kind, count, view_of(meant, caller))

    async def look() -> Events:
        try:
            return await record.ask(ask)
        except NotFound:
            if word or not wait:
                raise
            return Events(events=(), cursor=str(begin), total=0)  # nothing is recorded yet, and something may come

    loop = asyncio.get_running_loop()
    deadline = loop.time() + (LONGEST_WAIT if timeout is None else timeout)
    if wait and since is None and record.path.exists():
        begin = await record.look(chronicle.newest)
    while True:
        news = asyncio.ensure_future(record.news(max(0.0, deadline - loop.time())))
        try:
            found = await look()
            if found.events or not wait or loop.time() >= deadline:
                return found
            await news
        finally:
            news.cancel()
            await asyncio.gather(news, return_exceptions=True)
