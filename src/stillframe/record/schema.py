"""The record's tables, how an older record becomes a newer one, and how the file is opened: one writer, readers read-only."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from ..errors import NotFound, Try, Unsupported

APPLICATION = 0x53464D52
"""`SFMR` in the file's header, so that somebody else's database is never taken for ours."""

PAGE_BYTES = 2048
"""Of a new record. A stop changes some bytes in each of eight or nine pages, which are written whole: with SQLite's own 4096 that
takes half as long again, and with 1024 questions about many hits take longer."""

BUSY_SECONDS = 5.0
"""How long a connection waits for another one."""

VERSION_1 = """
CREATE TABLE run(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, root TEXT NOT NULL, base TEXT NOT NULL, command TEXT NOT NULL,
  tool TEXT NOT NULL, version TEXT NOT NULL, attached INTEGER NOT NULL, pid INTEGER,
  parent INTEGER, family INTEGER, began REAL NOT NULL, ended REAL, outcome TEXT, end TEXT, daemon TEXT, imported TEXT,
  hits INTEGER NOT NULL DEFAULT 0);
CREATE INDEX run_named ON run(root, name);
CREATE INDEX run_family ON run(family);
CREATE TABLE saved(name TEXT NOT NULL, root TEXT NOT NULL, run INTEGER NOT NULL, made REAL NOT NULL, PRIMARY KEY(root, name));
CREATE TABLE source(
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, digest TEXT NOT NULL, first INTEGER NOT NULL, text BLOB NOT NULL,
  UNIQUE(file, digest, first));
CREATE TABLE place(
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, line INTEGER NOT NULL, symbol TEXT NOT NULL, module TEXT NOT NULL,
  source INTEGER NOT NULL, UNIQUE(file, line, symbol, module, source));
CREATE INDEX place_symbol ON place(symbol);
CREATE TABLE frame(id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);
CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE value(
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, text TEXT NOT NULL, number REAL, total INTEGER, rest TEXT);
CREATE TABLE hit(
  id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL,
  time REAL NOT NULL, step INTEGER NOT NULL, reason TEXT NOT NULL, thread TEXT NOT NULL, stack TEXT NOT NULL,
  print INTEGER NOT NULL, locals TEXT NOT NULL, rest TEXT NOT NULL, UNIQUE(run, number));
CREATE INDEX hit_place ON hit(run, place, number, print);
CREATE TABLE cell(
  place INTEGER NOT NULL, name INTEGER NOT NULL, hit INTEGER NOT NULL, value INTEGER NOT NULL,
  PRIMARY KEY(place, name, hit)) WITHOUT ROWID;
CREATE TABLE output(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, stream TEXT NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX output_run ON output(run, stream, at);
CREATE TABLE fate(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, breakpoint TEXT NOT NULL, time REAL NOT NULL, state TEXT NOT NULL,
  hits INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX fate_run ON fate(run, breakpoint);
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, run INTEGER, root TEXT NOT NULL, name TEXT, op TEXT NOT NULL, args TEXT NOT NULL,
  began REAL NOT NULL, seconds REAL NOT NULL, outcome TEXT NOT NULL);
CREATE INDEX operation_run ON operation(run);
CREATE TABLE event(
  id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, run INTEGER, root TEXT NOT NULL, kind TEXT NOT NULL,
  ref INTEGER, text TEXT NOT NULL);
CREATE INDEX event_run ON event(run);
"""

VERSION_2 = """
CREATE INDEX hit_step ON hit(run, place, step) WHERE step;
"""
"""The steps by themselves: what is no step is known without a look at every row of the hits, which are wide. `run.hits` is no
longer written: a stop would touch one page more."""

HITS = "(SELECT coalesce(max(number), 0) FROM hit WHERE hit.run=run.id)"
"""How many hits a run has: their numbers have no gaps."""

MIGRATIONS: tuple[str, ...] = (VERSION_1, VERSION_2)
"""What makes version N of version N-1. A step that has been released is never changed, only followed by another."""
NEWEST = len(MIGRATIONS)


def path_in(state: Path) -> Path:
    return state / "record.sqlite"


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The writer's connection, with the tables brought up to this version. To be called with the record's lock held."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=BUSY_SECONDS, cached_statements=256, check_same_thread=False
    )  # whoever holds the writer's hand uses it
    try:
        check(connection, path)
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")  # the writer checkpoints after it has answered
        connection.execute("PRAGMA journal_size_limit=65536")  # a log that was moved is short again
        connection.execute("PRAGMA cache_size=-8000")
        migrate(connection)
        os.chmod(path, 0o600)
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A reader's connection, which can change nothing."""
    if not path.exists():
        raise NotFound("nothing has been recorded yet", hint=Try("launch"))
    connection = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        connection.execute("PRAGMA query_only=1")
        check(connection, path)
        if version(connection) == 0:
            raise NotFound("nothing has been recorded yet", hint=Try("launch"))
    except BaseException:
        connection.close()
        raise
    return connection


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not our record, or is one that a newer Stillframe has made."""
    try:
        # In this order: another host may make the tables, and name them ours, between the two questions.
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise Unsupported(f"{path} is no record of Stillframe: {error}; move it away to begin a new one") from None
    if application != APPLICATION and tables:
        raise Unsupported(f"{path} is a database, but no record of Stillframe; move it away to begin a new one")
    check_version(connection, path)


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse one that a newer Stillframe has made, or has brought up to its own version while we had it open."""
    if version(connection) > NEWEST:
        raise Unsupported(
            f"{path} is of version {version(connection)}, written by a newer Stillframe; this one knows up to {NEWEST}"
        )


def migrate(connection: sqlite3.Connection, upto: int = NEWEST) -> None:
    """Bring the tables to a version, in one transaction."""
    if version(connection) >= upto:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(version(connection), upto):
            for statement in MIGRATIONS[number].split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version={number + 1}")
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
