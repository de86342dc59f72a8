"""One symbol from every side: the hits in it, its source as it was, and its instructions where a live debugger has them."""

from __future__ import annotations

import sqlite3
from typing import Annotated

import msgspec

from ..errors import NotFound, StillframeError, Try, UsageError
from ..model.backend import Capability
from ..model.machine import Disassembles, Instruction
from ..model.outcomes import SourceLine
from ..model.places import SymbolPlace, parse_place
from ..model.plans import Caller
from ..model.recorded import Crossed
from ..record import finding, hits, scopes
from ..record.finding import Run, Spot, View
from ..record.record import Record
from ..registry import Access, Meant, Param, operation
from ..session.session import Session
from .machine import disasm, need
from .record import RunWord, chosen

AROUND = 3
"""Lines of source before the first and behind the last place."""
MOST_LINES = 60
SHOWN = 3
"""Hits that are told: the first ones."""
INSTRUCTIONS = 12
FRAMES = 100


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
    view = View(caller.cwd, meant.root)

    def ask(connection: sqlite3.Connection) -> Crossed:
        found = chosen(connection, meant, run)
        scope = _scope(connection, found, view, symbol)
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

    found = await record.ask(ask)
    rows, note = await _instructions(session, found.symbol)
    return msgspec.structs.replace(found, disassembly=rows, notes=(*found.notes, note) if note else found.notes)


def _scope(connection: sqlite3.Connection, run: Run, view: View, symbol: str) -> scopes.Scope:
    """The hits in a function; who names a place is told which function that is in."""
    place = parse_place(symbol)
    try:
        return scopes.scope(
            connection, run, view, place if isinstance(place, SymbolPlace) else SymbolPlace(symbol), None
        )
    except NotFound:
        if isinstance(place, SymbolPlace):
            raise
        function = scopes.scope(connection, run, view, place, None).spots[0].symbol
    hint = Try("cross", {"symbol": function})
    raise UsageError(f"cross takes a function, and {symbol} is a place in {function}", hint=hint)


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
        found, note = await _of_function(session, symbol)
    except StillframeError as error:
        return (), f"no disassembly: {error.message}"
    return tuple(f"{each.address}  {each.text}" for each in found if each.symbol == found[0].symbol), note


async def _of_function(session: Session, symbol: str) -> tuple[tuple[Instruction, ...], str | None]:
    """The first instructions of a function. Its name is never given to the debugger as an expression, which may call and run
    things: it stands in the record, and that may have come from elsewhere. So it is looked up; where the debugger knows no
    such name, a call of the function that is under way tells at least where it goes on."""
    session.need_stopped()
    need(session, Capability.DISASSEMBLY)
    backend = session.backend
    assert isinstance(backend, Disassembles)
    thread = session.thread_id(None)
    begin = await backend.entry(await session.frame_id(thread), symbol)
    if begin is not None:
        return (await disasm(session, where=begin, count=INSTRUCTIONS)).instructions, None
    frames = (await backend.stack(thread, 0, FRAMES)).frames
    at = next((number for number, each in enumerate(frames) if each.function == symbol), None)
    if at is None:
        raise NotFound(f"{session.tool.tool} does not know where {symbol} begins, and no call of it is under way")
    found = (await disasm(session, count=INSTRUCTIONS, frame=f"f{at}")).instructions
    return found, f"disassembled from where f{at} goes on: {session.tool.tool} does not tell where {symbol} begins"
