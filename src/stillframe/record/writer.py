"""The one writer of a host: a thread that takes what is told, commits it in groups, and answers only then.

A single stop is written by whoever tells it, where the thread has nothing to do and the disk has been quick: to wake a thread and
be woken by it takes as long as the writing.

Every host of the user's may have a writer on the same file, so each of them holds a lock while it writes or checkpoints: two
connections that do so at once can harm a WAL of SQLite before 3.51.3. Where the disk takes nothing, what is told waits in
memory, whoever told it hears why, and the next thing that is told tries again.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import Busy, StillframeError, StoreFull
from . import disk, schema
from .jobs import Backlog, Job, Settled
from .lingering import LINGER_SECONDS, Lingering
from .pen import Pen
from .upkeep import Upkeep

log = logging.getLogger(__name__)

T = TypeVar("T")
GROUP = 500
"""Jobs that one commit takes at the most."""
WAL_BYTES = 8 * 1024 * 1024
"""How large the log may grow before what is in it is moved to the file itself."""
QUICK_SECONDS = 0.02
"""A disk that took longer than this for one commit is left to the thread for a while."""
SLOW_SECONDS = 10.0
TASK_SECONDS = 60.0
CLOSE_SECONDS = 20.0


class Told(msgspec.Struct):
    """A job and whoever waits for it to be on disk."""

    job: Job
    loop: asyncio.AbstractEventLoop | None = None
    answer: asyncio.Future[str | None] | None = None
    """None when it is written; else why it could not be, for now."""

    lingers: bool = False
    """Nobody looks for it at once."""

    def tell(self, problem: str | None) -> None:
        if self.loop is not None and self.answer is not None:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                self.loop.call_soon_threadsafe(_answer, self.answer, problem)


def _answer(waiting: asyncio.Future[str | None], problem: str | None) -> None:
    if not waiting.done():
        waiting.set_result(problem)


class Task(msgspec.Struct):
    """Something that is done in a transaction of its own, and fails by itself."""

    run: Callable[[Pen], Any]
    done: threading.Event = msgspec.field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None


class Leave:
    """The thread is to end when everything before this is written."""


class Writer:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        """Why nothing is written at the moment."""
        self.on_commit: Callable[[], None] = lambda: None
        self.upkeep = Upkeep()
        self._queue: queue.SimpleQueue[Told | Task | Leave] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._pen: Pen | None = None
        self._backlog = Backlog()
        self._lingering: Lingering[Told] = Lingering(lambda: self.put(Told(Settled())))
        self._hand = threading.Lock()
        """Held by whoever writes, in the thread or outside."""
        self._given = 0
        """How much was ever put, and how much of it the thread has seen to: what comes later must not be written before."""
        self._seen = 0
        self._slow_until = 0.0
        self._lock_path = str(path.with_suffix(".lock"))
        self._lock: tuple[int, int] | None = None
        """Its descriptor and inode."""
        self._is_locked = False
        """By whoever has the hand."""

    # For everybody

    def put(self, told: Told | Task | Leave) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="record", daemon=True)
                self._thread.start()
            self._given += 1
            self._queue.put(told)

    def linger(self, told: Told) -> None:
        """Keep what nobody looks for at once until something else is written, or it has waited long enough; to be called where
        a loop runs. No thread is woken for it, which would take the interpreter from whoever answers the caller."""
        if self._hand.acquire(blocking=False):
            try:
                if self._thread is not None and self._seen == self._given and len(self._lingering) < GROUP:
                    self._lingering.add_watched(told)
                    return
            finally:
                self._hand.release()
        self.put(told)

    def at_once(self, job: Job) -> bool:
        """Write it here and now, if that takes no waiting; else it is to be put. Its own thread must be the only other one.
        What lingers stays: somebody waits for this."""
        return self._here(lambda: [Told(job)])

    def catch_up(self) -> None:
        """Write what lingers, if that is due and takes no waiting, at a time when a debugger is at work and we are not."""
        if self._lingering.is_due:
            self._here(self._lingering.take)

    def _here(self, what: Callable[[], list[Told]]) -> bool:
        began, waits = time.monotonic(), disk.waits()
        if began < self._slow_until or not self._hand.acquire(blocking=False):
            return False
        try:
            if self._pen is None or self._backlog or self._seen < self._given:
                return False
            with self._locked(waiting=False):
                self._commit(what())
        except OSError:  # another host writes, or there is no place for the lock
            return False
        finally:
            self._hand.release()
        if time.monotonic() - began > QUICK_SECONDS and disk.waits() != waits:  # or others had the processor
            self._slow_until = time.monotonic() + SLOW_SECONDS
        if self._pen is not None and (self._pen.later or self._pen.holds_secret):
            self.put(Told(Settled()))  # the thread does what can wait
        return True

    def task(self, run: Callable[[Pen], T]) -> T:
        """Do something in the writer's thread and wait for it; to be called from a thread that may wait."""
        task = Task(run)
        self.put(task)
        if not task.done.wait(TASK_SECONDS):
            raise Busy(f"the record was busy for {TASK_SECONDS:g} s")
        if task.error is not None:
            raise task.error
        result: T = task.result
        return result

    def close(self) -> None:
        """Write what is left and let go of the file."""
        with self._starting:
            thread = self._thread
        if thread is not None and thread.is_alive():
            self.put(Leave())
            thread.join(CLOSE_SECONDS)

    # In the thread

    def _work(self) -> None:
        while True:
            first = self._next()
            with self._hand:
                self._seen += first is not None
                if isinstance(first, Told) and first.lingers and len(self._lingering) < GROUP:
                    self._lingering.add(first)
                    continue
                group = self._lingering.take()
                while isinstance(first, Told):
                    group.append(first)
                    first = self._next(at_once=True) if len(group) < GROUP else None
                    self._seen += first is not None
                if group:
                    self._commit(group)
                self._afterwards()
                if isinstance(first, Task):
                    self._do(first)
                if isinstance(first, Leave):
                    self._leave()
                    return
                if self._queue.empty():
                    self._checkpoint()
                    self._tidy()

    def _next(self, *, at_once: bool = False) -> Told | Task | Leave | None:
        """What was told next; None where nothing was, and what lingers has waited long enough, or the record is to be tidied."""
        try:
            if at_once:
                return self._queue.get_nowait()
            return self._queue.get(timeout=LINGER_SECONDS if self._lingering else self.upkeep.seconds_left)
        except queue.Empty:
            return None

    def _commit(self, group: list[Told]) -> None:
        if self._pen is not None and not self._backlog and all(isinstance(each.job, Settled) for each in group):
            # A look costs no transaction but the first, which brings an older record up to date, and is no news to anybody.
            for each in group:
                each.tell(None)
            return
        error = self._make_up() or self._attempt([each.job for each in group])
        if error is not None:
            self._pause(group, error)
            return
        self.problem = None
        for each in group:
            each.tell(None)
        self.on_commit()

    def _make_up(self) -> Exception | None:
        """Write what waits: one of it, to see whether the disk takes any, then many at once, so that nobody is held up by all of
        it while it takes none. Why it could not be, if so."""
        most = 1
        while some := self._backlog.oldest(most):
            if (error := self._attempt(some)) is not None:
                return error
            self._backlog.drop(len(some))
            most = GROUP
            self.on_commit()
        return None

    def _attempt(self, jobs: list[Job]) -> Exception | None:
        """Write it in one transaction; what the disk has against it, if anything."""
        try:
            self._write(jobs)
        except (sqlite3.OperationalError, sqlite3.DatabaseError, OSError, StillframeError) as error:
            if disk.is_at_fault(error):
                return error
            self._one_by_one(jobs)
        except (ValueError, TypeError, OverflowError, sqlite3.Error):
            self._one_by_one(jobs)
        return None

    def _afterwards(self) -> None:
        """What could wait until everybody was answered."""
        while self._pen is not None and self._pen.later:
            work = tuple(self._pen.later)
            self._pen.later.clear()
            try:
                with self._transaction() as pen:
                    for each in work:
                        pen.complete(each.id, each.file, each.digest, each.lines)
            except (sqlite3.Error, OSError) as error:  # the hits are there, with the lines around them
                log.warning("the record has a part of a source only: %s", error)

    def _one_by_one(self, jobs: list[Job]) -> None:
        """One of them cannot be written as it is, through a fault of ours: the others must not suffer for it."""
        for each in jobs:
            for job in (each, each.reduced()):
                try:
                    self._write([job] if job else [])
                    break
                except Exception:  # named in the log; the debugging goes on
                    log.exception("could not be recorded: %.500r", job)

    def _pause(self, group: list[Told], error: Exception) -> None:
        self.problem = disk.words(error)
        for each in group:
            each.tell(self.problem)
            self._backlog.add(each.job)

    def _do(self, task: Task) -> None:
        try:
            if self._backlog:
                self._commit([])
            with self._transaction() as pen:
                task.result = task.run(pen)
            self._afterwards()
        except (sqlite3.Error, OSError) as error:
            task.error = StoreFull(f"the record cannot be written: {disk.words(error)}")
        except BaseException as error:  # whoever asked gets it
            task.error = error
        task.done.set()
        self.on_commit()

    def _write(self, jobs: list[Job]) -> None:
        with self._transaction() as pen:
            for job in jobs:
                job.write(pen)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Pen]:
        with self._locked():
            pen = self._open()
            pen.begin()
            try:
                yield pen
                pen.commit()
            except BaseException:
                pen.roll_back()
                raise

    @contextlib.contextmanager
    def _locked(self, *, waiting: bool = True) -> Iterator[None]:
        """Hold the lock that every writer of this record takes, unless it is held already; it is never deleted."""
        if self._is_locked:
            yield
            return
        lock = self._lock_file()
        fcntl.flock(lock, fcntl.LOCK_EX if waiting else fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._is_locked = True
        try:
            yield
        finally:
            self._is_locked = False
            fcntl.flock(lock, fcntl.LOCK_UN)

    def _lock_file(self) -> int:
        """Open as long as it is the one that others find."""
        with contextlib.suppress(OSError):
            if self._lock is not None and os.stat(self._lock_path).st_ino == self._lock[1]:
                return self._lock[0]
        self._let_go_of_lock()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._lock = lock, os.fstat(lock).st_ino
        return lock

    def _let_go_of_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock[0])
            self._lock = None

    def _open(self) -> Pen:
        """The pen; a new one where the file was taken away under the old."""
        if self._pen is not None and not self._pen.is_on(self.path):
            self._pen.close()
            self._pen = None
        if self._pen is None:
            self._pen = Pen(schema.open_for_writing(self.path), self.path)
        return self._pen

    def _checkpoint(self, *, last: bool = False) -> None:
        """Move the log into the file, when somebody has been answered and nobody waits."""
        if self._pen is None:
            return
        try:
            size = os.stat(f"{self.path}-wal").st_size
            if size > WAL_BYTES or (size and (last or self._pen.holds_secret)):
                with self._locked():
                    self._move_log(self._pen, last=last)
        except (OSError, sqlite3.Error) as error:
            log.info("the record's log stays as it is: %s", error)

    def _move_log(self, pen: Pen, *, last: bool) -> None:
        """A log with a secret in it is emptied, as soon as no reader needs it; nobody waits for readers but whoever leaves."""
        whole = last or pen.holds_secret
        pen.connection.execute(f"PRAGMA busy_timeout={schema.BUSY_SECONDS * 1000 if last else 0:.0f}").fetchall()
        try:
            ((busy, _, _),) = pen.connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if whole else 'PASSIVE'})")
            pen.holds_secret = pen.holds_secret and bool(busy)
        finally:
            pen.connection.execute(f"PRAGMA busy_timeout={schema.BUSY_SECONDS * 1000:.0f}").fetchall()

    def _tidy(self) -> None:
        """Remove a run that is too old, or too much; whoever is told something meanwhile comes before the next one."""
        if self.upkeep.seconds_left != 0.0:
            return
        try:
            with self._transaction() as pen:
                self.upkeep.turn(pen)
        except (OSError, sqlite3.Error, StillframeError) as error:
            self.upkeep.put_off()
            log.info("the record stays as large as it is: %s", error)
        self.on_commit()

    def _leave(self) -> None:
        self._checkpoint(last=True)
        if self._pen is not None:
            with contextlib.suppress(OSError), self._locked():
                self._pen.close()
            self._pen = None
        self._let_go_of_lock()
