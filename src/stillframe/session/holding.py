"""How a stop comes to be: a thread is held, and its evidence is read once, right then, with what the session adds to it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

import msgspec

from ..errors import AdapterGone, StillframeError
from ..model.backend import Capture, Stopped
from ..model.outcomes import SourceLine, Stop
from ..model.values import Frame
from . import family, taping
from .bell import catch_up
from .borrowing import borrow
from .breakpoints import UNTIL
from .phases import Phase

if TYPE_CHECKING:
    from .session import Session

QUICK_SECONDS = 0.02
"""What a stop's evidence may take to be read for it to be read again beside everything else."""
CAPTURE_SECONDS = 10.0
"""How long reading the evidence of a stop may take; inside the target each value has a deadline of its own."""


async def take_baseline(session: Session) -> None:
    """After somebody wrote into the held program: what is there now is what the next line finds, not what it did."""
    if session.touched and session.focus_thread is not None:
        session.touched = False
        with contextlib.suppress(StillframeError):  # then the comparison is with what was told last
            thread = session.held_thread or session.focus_thread
            capture = await session.backend.capture(thread, session.bounds)
            session.witness.note_values(thread, capture)
            session.read_again = (thread, capture)


async def look_behind(session: Session, sending: asyncio.Lock) -> None:
    """The same while nobody waits: the next move then finds it done."""
    async with sending:
        if session.stop is not None:
            await take_baseline(session)


async def tell_anew(session: Session, sending: asyncio.Lock) -> None:
    """The stop tells what the variables are now, if somebody wrote into the held program since."""
    await look_behind(session, sending)
    again, session.read_again = session.read_again, None
    if again is not None and session.stop is not None:
        scene = session.witness.scene(*again, session.stop.reason)
        session.stop = msgspec.structs.replace(session.stop, locals=scene.locals, locals_total=scene.locals_total)


async def mention(session: Session, event: Stopped) -> None:
    """Say where another thread stopped, before a step lets it go."""
    assert event.thread is not None
    page = await session.backend.stack(event.thread, 0, 1)
    top = page.frames[0] if page.frames else None
    hit = count_hits(session, event, top)
    where = f"{session.show(top.file)}:{top.line}" if top else "an unknown place"
    session.note(
        f"thread {session.handles.thread(event.thread)} had stopped, too: {' '.join(hit) or event.reason} at {where}"
    )
    session.crowd.tell(event)
    shown = session.witness.show_frame(top) if top else None
    bare = Stop(
        reason=event.reason,
        thread=session.handles.thread(event.thread),
        frame=shown,
        breakpoints=hit,
        notes=("its locals were not captured: a step of another thread let it go",),
    )
    session.stops += 1
    await taping.stopped(session, msgspec.structs.replace(bare, number=session.stops))


async def read(session: Session, event: Stopped) -> None:
    """Read the evidence of a stop, once. What cannot be read is said; the stop stands in any case."""
    try:
        thread = event.thread or (await session.backend.threads())[0].id
        session.focus_thread = thread
        with session.sources.glance(event.file):
            capture = await _captured(session, thread)
            stop = _witnessed(session, event, thread, capture)
        if not session.crowd.is_alone(event):
            names = {each.id: each.name for each in await session.backend.threads()}
            session.crowd.alone = thread if len(names) == 1 else None
            stop = msgspec.structs.replace(stop, thread_name=names.get(thread) if len(names) > 1 else None)
        if used := session.breakpoints.used_up(stop.breakpoints if event.counts else ()):
            home = session if UNTIL in used else session.root
            home.breakpoints.remove(used)
            await family.sync_breakpoints(home)
    except TimeoutError:
        stop = Stop(
            reason=event.reason,
            notes=(
                *event.notes,
                f"its frame could not be read within {CAPTURE_SECONDS:g} s",
            ),
        )
    except AdapterGone:
        return  # the end of the program or of the debugger follows as an event
    except (StillframeError, IndexError) as error:
        stop = Stop(
            reason=event.reason,
            notes=(
                *event.notes,
                f"its frame could not be read: {error}",
            ),
        )
    except Exception as error:  # a fault of ours must not leave the program held with nobody told
        stop = Stop(
            reason=event.reason,
            notes=(
                *event.notes,
                f"its frame could not be read, which is our fault: {error!r}",
            ),
        )
    if session.phase is not Phase.STOPPED:
        return
    session.stops += 1
    stop = await taping.stopped(session, stop)
    if session.phase is Phase.STOPPED:
        session.told_stop, session.touched, session.read_again = False, False, None
        session.stop = stop
        session.bell.ring()


async def _captured(session: Session, thread: str) -> Capture:
    began = time.monotonic()
    async with asyncio.timeout(CAPTURE_SECONDS):
        capture = await session.backend.capture(thread, session.bounds)
        session.reads_quickly = time.monotonic() - began < QUICK_SECONDS
        await _borrowed(session, capture)
    return capture


def _witnessed(session: Session, event: Stopped, thread: str, capture: Capture) -> Stop:
    """The stop with what the session adds: breakpoints and their counts, its number, doubts about the source."""
    frames, at = capture.frames.frames, capture.at
    session.focus_frame = session.witness.index(capture)
    hit = count_hits(session, event, frames[0] if frames else None)
    named = tuple(id for id in hit if id != UNTIL)
    return msgspec.structs.replace(
        session.witness.stop(event, thread, capture),
        reason=UNTIL if UNTIL in hit else event.reason,
        breakpoints=named,
        hit=session.breakpoints.get(named[0]).hits if named and event.counts else None,
        number=session.stops + 1,
        notes=(
            *event.notes,
            *_deeper(session, event, frames),
            *doubts(session, at.file if at else None),
            *capture.values.notes,
        ),
    )


def _deeper(session: Session, event: Stopped, frames: tuple[Frame, ...]) -> tuple[str, ...]:
    """Where a step really ended that came to library code: what is shown is the user's call, which has not moved."""
    if event.reason != "step" or not session.witness.stepped or session.focus_frame == 0 or frames[0].kind != "library":
        return ()
    inside = frames[0]
    at = f" ({(inside.file or '').rpartition('/')[2]}:{inside.line})" if inside.file and inside.line else ""
    note = f"this line is not over: the step ended in library code that it called, in {inside.function}{at}"
    return (f"{note}; `finish` leaves one such call",)


async def _borrowed(session: Session, capture: Capture) -> None:
    if capture.at is not None:
        await borrow(session, capture.at.file, capture.at.id)


def doubts(session: Session, file: str | None) -> tuple[str, ...]:
    """What must be said along with lines of this file."""
    if file and session.sources.changed_since(file, session.created):
        return (f"{session.show(file)} changed after the program started; the lines shown may not be what runs",)
    if file and (origin := session.sources.origin(file)):
        missing = "is not on disk" if file.startswith("/") else "is no file"
        return (f"{session.show(file)} {missing}; its lines are {origin}",)
    return ()


def count_hits(session: Session, event: Stopped, top: Frame | None) -> tuple[str, ...]:
    """The breakpoints that made a stop; they count for the ancestors too."""
    hit = session.breakpoints.hit(event, top)
    if event.counts:
        count(session.parent, hit)
    return hit


def count(session: Session | None, ids: tuple[str, ...]) -> None:
    """One more hit of these breakpoints, in a session and in its ancestors, who want them as well."""
    while session is not None and ids:
        session.breakpoints.count(ids)
        session = session.parent


async def patched(session: Session, before: Stop | None, file: str, text: str) -> None:
    """The source of a file was replaced. A call that is held in it and was not begun again keeps the lines of the old text."""
    session.sources.lend(file, text)
    if before is None:
        return
    await catch_up()
    if session.stop is None:  # begun again, and its evidence is being read
        await session.bell.wait_for(lambda: session.stop is not None or not session.live, CAPTURE_SECONDS)
    begun_again = session.stop is not None and session.stop.number != before.number
    await look_again(session)
    if session.stop is None or begun_again:
        return
    old, new = _here(before), _here(session.stop)
    same = before.frame is not None and before.frame.file == session.show(file)
    if same and old and new and old.line == new.line and old.text != new.text:
        note = f"{session.show(file)} was patched while the program is held in it; the lines shown are those of its old text"
        session.stop = msgspec.structs.replace(before, notes=(note,))


def _here(stop: Stop) -> SourceLine | None:
    return next((line for line in stop.source if line.here), None)


async def look_again(session: Session) -> None:
    """Something was done to the held program that may have changed its frames or their lines; why it stopped stands."""
    capture: Capture | None = None
    if session.stop is not None and session.held_thread is not None:
        with contextlib.suppress(StillframeError):  # then it was let go meanwhile, or its next stop tells
            capture = await session.backend.capture(session.held_thread, session.bounds)
            await _borrowed(session, capture)
    held, thread = session.stop, session.held_thread
    if capture is None or held is None or thread is None:
        return
    scene = session.witness.scene(thread, capture, held.reason)
    session.focus_thread, session.focus_frame = thread, session.witness.index(capture)
    session.stop = msgspec.structs.replace(
        held,
        frame=scene.frame,
        source=scene.source,
        stack=scene.stack,
        stack_total=scene.stack_total,
        locals=scene.locals,
        locals_total=scene.locals_total,
        notes=(*doubts(session, capture.at.file if capture.at else None), *capture.values.notes),
    )


async def look(session: Session, thread: str) -> Stop:
    """Another held thread, read now."""
    capture = await session.backend.capture(thread, session.bounds)
    await _borrowed(session, capture)
    names = {each.id: each.name for each in await session.backend.threads()}
    own = session.stop.reason if session.stop and thread == session.focus_thread else "held"
    return msgspec.structs.replace(session.witness.scene(thread, capture, own), thread_name=names.get(thread))
