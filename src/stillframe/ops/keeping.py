"""Keeping what was seen: runs saved under names, gone through again, taken to other machines, and let go."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ..errors import NotFound, Try, UsageError
from ..model.outcomes import AnyOutcome
from ..model.plans import Caller, Plan
from ..model.recorded import Exported, Imported, Pruned, RunInfo, Saved
from ..record import exporting, finding, importing, pruning
from ..record.finding import View
from ..record.pen import Pen
from ..record.record import Record
from ..record.replaying import Mark, Piece, Recording, Replay
from ..registry import Access, From, Meant, Param, operation
from ..session.names import check_name
from ..session.sessions import Sessions
from .common import settle
from .record import RunWord, chosen

NameWord = Annotated[str, Param("a name of your own: a to z, 0 to 9 and -", positional=True, metavar="NAME")]


@operation(Access.CONTROL, example="dbg save before")
async def save(meant: Meant, record: Record, name: NameWord, run: RunWord = None) -> Saved:
    """Keep a run under a name, by which `diff`, `replay`, `hits --run` and `export` know it; it is not pruned by itself."""
    _check_word(name)
    found, replaced = await record.look(lambda connection: _saving(connection, meant, run, name))

    def write(pen: Pen) -> RunInfo:
        _name(pen, meant.root, name, found)
        return finding.info(pen.connection, found)

    return Saved(name=name, run=await record.change(write), replaced=replaced)


def _name(pen: Pen, root: str, name: str, run: int) -> None:
    pen.connection.execute(
        "INSERT OR REPLACE INTO saved(name, root, run, made) VALUES(?,?,?,?)", (name, root, run, time.time())
    )


def _check_word(name: str) -> None:
    check_name(name)
    if "." in name or finding.is_handle(name):
        raise UsageError(f"{name!r} is no name to save under: use a to z, 0 to 9 and -, and not r12 or h3")


def _check_free(connection: sqlite3.Connection, root: str, name: str) -> None:
    """Two things of one name would be taken for each other."""
    if connection.execute("SELECT 1 FROM run WHERE root=? AND name=? LIMIT 1", (root, name)).fetchone():
        raise UsageError(f"a session is called {name}; save it under a name of its own")


def _saving(connection: sqlite3.Connection, meant: Meant, run: str | None, name: str) -> tuple[int, str | None]:
    found = chosen(connection, meant, run)
    _check_free(connection, meant.root, name)
    return found.id, _named(connection, meant.root, name)


def _named(connection: sqlite3.Connection, root: str, name: str) -> str | None:
    """The run that goes by a name so far."""
    before = connection.execute("SELECT run FROM saved WHERE root=? AND name=?", (root, name)).fetchone()
    return f"r{before[0]}" if before else None


@operation(Access.READ, example="dbg replay before")
async def replay(
    sessions: Sessions,
    meant: Meant,
    caller: Caller,
    record: Record,
    name: Annotated[str, Param("a saved name, a run (r12) or a session's name", positional=True, metavar="RUN")],
) -> From[AnyOutcome]:
    """Go through a recorded run again: looking verbs answer from the record, `continue`, `next` and `step-back` move in it.

    Nothing runs: `next` goes to the next recorded stop whatever it was, `continue` to the next that was no step.
    """

    def ask(connection: sqlite3.Connection) -> Recording:
        run = finding.run(connection, meant.root, name)
        hits = _marks(connection, run)
        if not hits:
            raise NotFound(f"{run.handle} ({run.name}) has no hits to go through", hint=Try("history"))
        return Recording(
            info=finding.info(connection, run.id),
            root=run.root,
            hits=hits,
            texts=_texts(connection, run),
            printed=tuple(_printed(connection, run)),
        )

    recording = await record.look(ask)
    info = recording.info
    backend = Replay(record.look, recording)
    plan = Plan(command=info.command, kind="command", cwd=caller.cwd)
    session = await sessions.open(backend, plan, f"replay-{info.session.replace('.', '-')}", caller)
    session.recorded_as = info.run
    if info.imported:
        session.sources.belong_elsewhere()
    for (file, _), text in recording.texts.items():
        if text:
            session.sources.lend(file, text)
    await session.start()
    begun = await settle(sessions, session, None)
    if record.gap is None:
        return begun
    return From(begun.session, msgspec.structs.replace(begun.result, notes=(*begun.result.notes, record.gap)))


def _printed(connection: sqlite3.Connection, run: finding.Run) -> list[Piece]:
    """What it printed, in order; children print through their root."""
    rows = connection.execute("SELECT stream, at, data FROM output WHERE run=? ORDER BY id", (run.members[0],))
    return [Piece(*row) for row in rows]


def _marks(connection: sqlite3.Connection, run: finding.Run) -> tuple[Mark, ...]:
    spots = {spot.id: (_whole(run, spot.file), spot.line) for spot in finding.reached(connection, run)}
    rows = connection.execute(f"SELECT id, place, step FROM hit WHERE run IN ({run.marks}) ORDER BY id", run.members)
    return tuple(Mark(id, spots[place], bool(step)) for id, place, step in rows)


def _whole(run: finding.Run, file: str) -> str:
    """A file as a session names it."""
    return file if file.startswith(("/", "<")) else f"{run.root}/{file}"


def _texts(connection: sqlite3.Connection, run: finding.Run) -> dict[tuple[str, int], str]:
    """The places of a run by the names that a session has for them, each with its file as it was then."""
    texts: dict[tuple[str, int], str] = {}
    for spot in finding.reached(connection, run):
        first, lines = finding.source_lines(connection, spot.source)
        texts[_whole(run, spot.file), spot.line] = "\n" * (first - 1) + "\n".join(lines) if lines else ""
    return texts


@operation(Access.CONTROL, example="dbg export shop.jsonl\ndbg export shop.html --run before")
async def export(
    meant: Meant,
    caller: Caller,
    record: Record,
    file: Annotated[str, Param("the file to make: .jsonl for another machine, .html for a person", positional=True)],
    run: RunWord = None,
    format: Annotated[
        Literal["jsonl", "html"] | None, Param("what to write, where the file's name does not say")
    ] = None,
    force: Annotated[bool, Param("replace a file that is there")] = False,
) -> Exported:
    """Write a run with everything that was seen into one file: JSON lines, or a page that needs nothing else."""
    path = Path(caller.cwd) / file
    kind = format or ("html" if path.suffix.lower() in (".html", ".htm") else "jsonl")

    def ask(connection: sqlite3.Connection) -> Exported:
        found = chosen(connection, meant, run)
        members = [finding.info(connection, each) for each in found.members]
        notes: tuple[str, ...] = ()
        if kind == "html":
            size, notes = exporting.html(connection, found, path, View(caller.cwd, meant.root), force=force)
        else:
            size = exporting.jsonl(connection, found, path, force=force)
        return Exported(
            file=file,
            format=kind,
            bytes=size,
            runs=tuple(each.run for each in members),
            hits=sum(each.hits for each in members),
            notes=notes,
        )

    return await record.ask(ask)


@operation(Access.CONTROL, name="import", example="dbg import shop.jsonl --name theirs")
async def import_(
    meant: Meant,
    caller: Caller,
    record: Record,
    file: Annotated[str, Param("a file of JSON lines that `export` made", positional=True)],
    name: Annotated[str | None, Param("save it under this name as well", metavar="NAME")] = None,
) -> Imported:
    """Take in what another machine exported, as a new run of this project; a file that is cut or foreign changes nothing."""
    if name is not None:
        _check_word(name)
    path = Path(caller.cwd) / file

    def write(pen: Pen) -> Imported:
        hits, replaced = importing.check(path), None
        if name is not None:
            _check_free(pen.connection, meant.root, name)
            replaced = _named(pen.connection, meant.root, name)
        runs = importing.take_in(pen, path, meant.root)
        if name is not None:
            _name(pen, meant.root, name, runs[0])
        told = tuple(finding.info(pen.connection, each) for each in runs)
        return Imported(file=file, hits=hits, runs=told, replaced=replaced)

    return await record.change(write)


@operation(Access.CONTROL, example="dbg prune --days 7\ndbg prune --megabytes 50 --dry-run")
async def prune(
    meant: Meant,
    record: Record,
    days: Annotated[float | None, Param("remove runs that began longer ago", metavar="N")] = None,
    megabytes: Annotated[
        float | None, Param("remove the oldest runs until the record is this small", metavar="N")
    ] = None,
    run: Annotated[str | None, Param("remove this run, saved or not", metavar="RUN")] = None,
    all: Annotated[bool, Param("runs of other projects too")] = False,
    dry_run: Annotated[bool, Param("only say what would go")] = False,
) -> Pruned:
    """Make the record smaller. Live runs stay; runs saved under a name stay unless they are named."""
    if days is None and megabytes is None and run is None:
        raise UsageError("prune what? Give --days, --megabytes or --run", hint=Try("history"))

    def write(pen: Pen) -> Pruned:
        if run is not None:
            return pruning.prune_one(pen, finding.run(pen.connection, meant.root, run), dry_run=dry_run)
        return pruning.prune(pen, days=days, megabytes=megabytes, root=None if all else meant.root, dry_run=dry_run)

    if not record.path.exists():
        raise NotFound("nothing has been recorded yet", hint=Try("launch"))
    return await record.change(write)
