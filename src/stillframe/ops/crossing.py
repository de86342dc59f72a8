"""One symbol from every side: the hits in it, its source as it was, and its instructions where a live debugger has them."""

from __future__ import annotations

import sqlite3
from typing import Annotated

import msgspec

from ..errors import StillframeError
from ..model.outcomes import SourceLine
from ..model.places import SymbolPlace, parse_place
from ..model.plans import Caller
from ..model.recorded import Crossed
from ..record import finding, hits, scopes
from ..record.finding import Spot, View
from ..record.record import Record
from ..registry import Access, Meant, Param, operation
from ..session.session import Session
from .machine import disasm
from .record import RunWord, chosen

AROUND = 3
"""Lines of source before the first and behind the last place."""
MOST_LINES = 60
SHOWN = 3
"""Hits that are told: the first ones."""
INSTRUCTIONS = 12


@operation(Access.INSPECT, example="dbg cross total")
async def cross(
    session: Session | None,
    meant: Meant,
    caller: Caller,
    record: Record,
    symbol: Annotated[str, Param("a function or method, as hits and stacks name it", positional=True)],
    run: RunWord = None,
) -> Crossed:
    """One function in one answer: where and how often it was stopped in, its source, and its instructions if it has any."""
    place = parse_place(symbol)
    view = View(caller.cwd, meant.root)
    named = place if isinstance(place, SymbolPlace) else SymbolPlace(symbol)

    def ask(connection: sqlite3.Connection) -> Crossed:
        found = chosen(connection, meant, run)
        scope = scopes.scope(connection, found, view, named, None)
        listed = hits.listed(scope, 0, SHOWN)
        spots = [each for each in scope.spots if each.file == scope.spots[0].file]
        return Crossed(
            symbol=spots[0].symbol,
            file=view.file(spots[0].file, found.root),
            source=_source(connection, spots),
            places=hits.grouped(scope, "place", 20, counted=False).groups,
            hits=listed.hits,
            total=listed.total,
            notes=listed.notes,
        )

    found = await record.look(ask)
    rows, note = await _instructions(session, found.symbol)
    return msgspec.structs.replace(found, disassembly=rows, notes=(*found.notes, note) if note else found.notes)


def _source(connection: sqlite3.Connection, spots: list[Spot]) -> tuple[SourceLine, ...]:
    """The lines around the places, each place marked."""
    first, lines = finding.source_lines(connection, spots[-1].source)
    places = {each.line for each in spots if each.source == spots[-1].source}
    if not lines or not places:
        return ()
    begin, end = max(first, min(places) - AROUND), min(first + len(lines) - 1, max(places) + AROUND)
    return tuple(
        SourceLine(number, lines[number - first][:200], number in places)
        for number in range(begin, min(end, begin + MOST_LINES) + 1)
    )


async def _instructions(session: Session | None, symbol: str) -> tuple[tuple[str, ...], str | None]:
    if session is None or not session.live:
        return (), None  # what is gone has no instructions to show
    try:
        found = await disasm(session, where=symbol, count=INSTRUCTIONS)
    except StillframeError as error:
        return (), f"no disassembly: {error.message}"
    return tuple(f"{each.address}  {each.text}" for each in found.instructions), None
