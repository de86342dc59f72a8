"""Making the record smaller: whole runs go, the oldest first; never one that lives or was saved under a name."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING

from ..errors import Try, WrongState
from ..model.recorded import Pruned
from .pen import Pen
from .schema import HITS

if TYPE_CHECKING:
    from .finding import Run

DAY = 86_400.0
EVENTS = 200_000
"""Events and operations of no run that are kept."""


def prune(
    pen: Pen,
    daemon: str,
    *,
    days: float | None,
    megabytes: float | None,
    root: str | None = None,
    dry_run: bool = False,
    most: int | None = None,
) -> Pruned:
    """Remove runs that began longer ago than so many days, and the oldest ones until the file is small enough, or so many of
    them. What each frees is measured, since a run of no hits may have printed megabytes; a dry run does it all, and takes it
    back."""
    connection = pen.connection
    before = _size(connection)
    connection.execute("SAVEPOINT pruning")
    hits, removed, kept = 0, 0, 0
    saved = {row[0] for row in connection.execute("SELECT run FROM saved")}
    limit = time.time() - days * DAY if days is not None else None
    for run, began, its_hits in _removable(connection, daemon, root):
        is_old = limit is not None and began < limit
        if removed == most or (not is_old and (megabytes is None or _size(connection) <= megabytes * 1e6)):
            break
        if run in saved:
            kept += 1
            continue
        remove(pen, run)
        removed, hits = removed + 1, hits + its_hits
    if removed:
        _sweep(connection)
    after = _size(connection)
    if dry_run:
        connection.execute("ROLLBACK TO pruning")
    elif removed:
        pen.forget()
    connection.execute("RELEASE pruning")
    return Pruned(runs=removed, hits=hits, bytes_before=before, bytes_after=after, kept_saved=kept, dry_run=dry_run)


def prune_one(pen: Pen, run: Run, *, dry_run: bool) -> Pruned:
    """Remove one run by its name, with its children."""
    connection = pen.connection
    ended, daemon, family, hits = connection.execute(
        f"SELECT ended, daemon, family, (SELECT sum({HITS}) FROM run WHERE family=it.family) FROM run it WHERE id=?",
        (run.id,),
    ).fetchone()
    if ended is None and is_alive(daemon or ""):
        raise WrongState(f"{run.handle} ({run.name}) is live", hint=Try("stop", {"session": run.name}))
    before = _size(connection)
    if not dry_run:
        remove(pen, family)
        _sweep(connection)
        pen.forget()
    return Pruned(runs=1, hits=hits, bytes_before=before, bytes_after=_size(connection), dry_run=dry_run)


def _removable(connection: sqlite3.Connection, daemon: str, root: str | None) -> list[tuple[int, float, int]]:
    """Families of runs that are over: number, when they began, hits; the oldest first."""
    rows = connection.execute(
        f"SELECT family, min(began), sum({HITS}), sum(ended IS NULL), max(daemon), min(root) FROM run GROUP BY family ORDER BY 2"
    )
    return [
        (family, began, hits)
        for family, began, hits, open_, writer, where in rows
        if (root is None or where == root) and (not open_ or not is_alive(writer or ""))
    ]


def is_alive(daemon: str) -> bool:
    """Whether the process that wrote a run still lives; pids are used again, so it is named by its birth too."""
    pid, _, born = daemon.partition(":")
    return pid.isdigit() and birth(int(pid)) == born


def birth(pid: int) -> str:
    """When a process began, in the machine's own ticks; nothing where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            return "" if fields[0] == b"Z" else fields[19].decode()
    except OSError:
        return "" if not _exists(pid) else "?"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def remove(pen: Pen, family: int) -> None:
    """A run, its children, and everything that is of them alone."""
    connection = pen.connection
    runs = "(SELECT id FROM run WHERE family=?)"
    hits = f"(SELECT id FROM hit WHERE run IN {runs})"
    places = f"(SELECT DISTINCT place FROM hit WHERE run IN {runs})"
    connection.execute(
        f"DELETE FROM value WHERE id IN (SELECT value FROM cell WHERE place IN {places} AND hit IN {hits})",
        (family,) * 2,
    )
    connection.execute(f"DELETE FROM cell WHERE place IN {places} AND hit IN {hits}", (family,) * 2)
    for table in ("hit", "output", "fate", "operation", "event"):
        connection.execute(f"DELETE FROM {table} WHERE run IN {runs}", (family,))
    connection.execute(f"DELETE FROM saved WHERE run IN {runs}", (family,))
    connection.execute("DELETE FROM run WHERE family=?", (family,))


def _sweep(connection: sqlite3.Connection) -> None:
    """What no run needs any more, and the room that it took."""
    connection.execute("DELETE FROM place WHERE id NOT IN (SELECT place FROM hit)")
    connection.execute("DELETE FROM source WHERE id NOT IN (SELECT source FROM place)")
    for table in ("event", "operation"):
        connection.execute(
            f"DELETE FROM {table} WHERE run IS NULL AND id <= (SELECT max(id) FROM {table}) - ?", (EVENTS,)
        )
    connection.execute("PRAGMA incremental_vacuum").fetchall()


def _size(connection: sqlite3.Connection) -> int:
    pages = (
        connection.execute("PRAGMA page_count").fetchone()[0]
        - connection.execute("PRAGMA freelist_count").fetchone()[0]
    )
    return int(pages * connection.execute("PRAGMA page_size").fetchone()[0])
