"""Looking: the whole stop again, stacks, frames, values, threads, source, modules. Nothing here moves the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from ..errors import AdapterGone, NotFound, StillframeError, Try, Unsupported, UsageError
from ..model.backend import Bounds, Capability
from ..model.outcomes import AnyOutcome, Stop
from ..model.places import Place, SymbolPlace
from ..model.plans import Caller
from ..model.powers import CutsThreads
from ..model.sources import HoldsSource, SourceText
from ..model.values import ExceptionInfo, Frame, Frames, Modules, Thread, Values
from ..model.views import FrameView, SameStack, Scopes, Source, Threads
from ..record.record import Record
from ..registry import Access, From, Meant, Param, operation
from ..session import holding
from ..session.borrowing import borrow
from ..session.breakpoints import locate
from ..session.evidence import SourceCache
from ..session.handles import frame_index, is_value_handle
from ..session.session import Session
from ..session.witness import SHOWN, generated_spot
from . import afterwards
from .common import Count, FrameWord, Start, ThreadWord, at_hand
from .expanding import left_out, meant_value

HitWord = Annotated[
    str | None, Param("a hit of the record instead of what is held now: h3, or r2.h3 of another run", metavar="HIT")
]
STACK = 20
"""Calls of each thread that are looked at to tell which are alike."""
Generated = Annotated[
    bool,
    Param("show what really runs, too, where the source shown is what it was made from (compiled, by a source map)"),
]


@operation(Access.INSPECT, aliases=("context", "info"), example="dbg state")
async def state(session: Session, thread: ThreadWord = None, generated: Generated = False) -> From[AnyOutcome]:
    """The whole stop again: where, why, source, stack and every local; or running, exited, lost."""
    if thread is not None:
        session.need_stopped()
        seen = await holding.look(session, session.thread_id(thread))
        return From(session, msgspec.structs.replace(seen, generated=generated))
    member = session.settled_member() or session
    await member.tell_anew()
    outcome = member.outcome()
    if isinstance(outcome, Stop):
        outcome = msgspec.structs.replace(outcome, whole=True, trail=(), changes=(), generated=generated)
    return From(member, outcome)


@operation(Access.INSPECT, aliases=("bt", "where", "backtrace"), example="dbg stack --count 50")
async def stack(
    session: Session | None,
    meant: Meant,
    caller: Caller,
    record: Record,
    thread: ThreadWord = None,
    start: Start = 0,
    count: Count = 20,
    generated: Generated = False,
    hit: HitWord = None,
) -> Frames:
    """The calls that led here, innermost first; library frames are marked. Some debuggers tell of a running program, too.

    Where calls were started by another that need not wait for them, a row between them says how: `-- setTimeout --`.
    Of a program that is gone, those of its last stop, from the record, which is said.
    """
    if session is None or not session.live or hit:
        return await afterwards.stack(record, meant, caller, session, hit, thread, start, count)
    session.need_debugger()
    if thread is None and session.focus_thread is None:
        session.handles.threads(await session.backend.threads())
        thread = "t1"
    id = session.thread_id(thread)
    page = await session.backend.stack(id, start, count)
    if not page.frames and not start:
        session.need_stopped()  # of a running program this debugger tells nothing, which is not an empty stack
    frames = session.handles.frames(id, page.frames, page.start)
    return Frames(
        frames=tuple(session.witness.show_frame(frame) for frame in frames),
        total=page.total,
        start=page.start,
        thread=session.handles.thread(id),
        generated=generated,
    )


@operation(Access.INSPECT, example="dbg frame f2")
async def frame(
    session: Session,
    which: Annotated[
        str | None, Param("f2, or up or down from the selected one", positional=True, metavar="F|up|down")
    ] = None,
    thread: ThreadWord = None,
) -> FrameView:
    """Select a frame for the verbs that follow, and look into it."""
    session.need_stopped()
    id = session.thread_id(thread)
    index = session.focus_frame if id == session.focus_thread else 0
    match which:
        case None:
            pass
        case "up" | "down":
            index += 1 if which == "up" else -1
            if index < 0:
                raise NotFound("this is the innermost frame already", hint=Try("stack"))
        case _:
            index = frame_index(which)
    view = await frame_view(session, id, index)
    session.focus_thread, session.focus_frame = id, index
    return view


async def frame_view(session: Session, thread: str, index: int) -> FrameView:
    frame_id = await session.frame_id(thread, index)
    page = await session.backend.stack(thread, index, 1)
    if not page.frames:
        raise NotFound(f"there is no frame f{index}", hint=Try("stack"))
    found = page.frames[0]
    values = await session.backend.locals(frame_id, bounds_of(session, SHOWN, None))
    await borrow(session, found.file, frame_id)
    shown = session.witness.show_frame(msgspec.structs.replace(found, id=f"f{index}"))
    return FrameView(
        frame=shown,
        thread=session.handles.thread(thread),
        source=session.sources.around(found.file, found.line, column=found.column or 0)
        if found.file and found.line
        else (),
        locals=session.handles.values(values.values),
        locals_total=values.total,
        notes=(*holding.doubts(session, found.file), *values.notes),
    )


def bounds_of(session: Session, count: int, text: int | None) -> Bounds:
    base = session.bounds
    return Bounds(count, text or base.text, base.items, base.frames, base.seconds)


Text = Annotated[int | None, Param("characters of each value at the most", metavar="N")]


@operation(Access.INSPECT, aliases=("vars", "variables"), example="dbg locals --frame f1")
async def locals(
    session: Session | None,
    meant: Meant,
    caller: Caller,
    record: Record,
    frame: FrameWord = None,
    thread: ThreadWord = None,
    start: Start = 0,
    count: Count = 40,
    text: Text = None,
    hit: HitWord = None,
) -> Values:
    """The variables of a frame: arguments first, then the names used on the line, then the rest.

    Of a program that is gone, those of its last stop, from the record, which is said.
    """
    if session is None or not session.live or hit:
        return await afterwards.locals(record, meant, caller, session, hit, frame, thread, start, count)
    session.need_stopped()
    id = session.thread_id(thread)
    frame_id = await session.frame_id(id, frame_index(frame) if frame else None)
    page = await session.backend.locals(frame_id, bounds_of(session, count, text), start)
    return msgspec.structs.replace(page, values=session.handles.values(page.values))


@operation(Access.INSPECT, example="dbg scopes")
async def scopes(session: Session, frame: FrameWord = None, thread: ThreadWord = None) -> Scopes:
    """The groups of variables of a frame, each with a handle for `expand`."""
    session.need_stopped()
    id = session.thread_id(thread)
    found = await session.backend.scopes(await session.frame_id(id, frame_index(frame) if frame else None))
    return Scopes(scopes=tuple(session.handles.scope(each) for each in found))


@operation(Access.INSPECT, aliases=("props", "inspect"), example="dbg expand v3 --start 100 --count 20")
async def expand(
    session: Session | None,
    meant: Meant,
    caller: Caller,
    record: Record,
    value: Annotated[
        str, Param("a value's handle, v3, a variable's name, or a path below one", positional=True, metavar="V")
    ],
    frame: FrameWord = None,
    thread: ThreadWord = None,
    start: Start = 0,
    count: Count = 40,
    text: Text = None,
    hit: HitWord = None,
) -> Values:
    """What a value holds: items, keys or attributes, a page at a time; a long text by slices, from a character on.

    A path (`cart.lines[0]`, `order['lines']`) is walked through what the values hold; nothing of the program runs.
    A handle knows its frame and thread; those given are for a variable's name.
    Of a program that is gone, what was recorded of it at its last stop, which is said.
    """
    if session is None or not session.live or hit:
        return await afterwards.expand(record, meant, caller, session, hit, frame, thread, value, start, count)
    session.need_stopped()
    if is_value_handle(value):
        held = session.handles.held(value)
    else:
        frame_id = await session.frame_id(session.thread_id(thread), frame_index(frame) if frame else None)
        whole = max(text or 0, session.bounds.text)  # in short nobody could tell whether it is a secret
        held = await meant_value(session, frame_id, value, bounds_of(session, count, whole))
    if held.ref is None:
        return Values(values=(held,), total=1)
    page = await session.backend.expand(held.ref, bounds_of(session, count, text), start)
    return msgspec.structs.replace(page, values=session.handles.values(page.values), instead=left_out(held))


@operation(Access.INSPECT, example="dbg threads --stacks")
async def threads(
    session: Session,
    start: Start = 0,
    count: Count = 50,
    stacks: Annotated[bool, Param("where each is, those in the same calls together")] = False,
) -> Threads:
    """The threads of the program; the one that the other verbs act on is marked."""
    session.need_debugger()
    found = session.handles.threads(await session.backend.threads(states=True))
    focus = session.handles.thread(session.focus_thread) if session.focus_thread else None
    cut = isinstance(session.backend, CutsThreads) and not await session.backend.lists_all_threads()
    page = found[start : start + count]
    told = await _same_stacks(session, page) if stacks else ()
    return Threads(threads=page, total=len(found), at_least=cut, focus=focus, stacks=told)


async def _same_stacks(session: Session, threads: Sequence[Thread]) -> tuple[SameStack, ...]:
    """The threads by their calls, as a debugger tells them; many of a program mostly wait in the same place."""
    groups: dict[tuple[object, ...], tuple[list[str], Frames]] = {}
    for each in threads:
        id = session.handles.thread_id(each.id)
        try:
            page = await session.backend.stack(id, 0, STACK)
        except AdapterGone:
            raise
        except StillframeError:  # it runs, and its debugger tells nothing of it
            page = Frames(frames=())
        key = (page.total, *((frame.function, frame.file, frame.line) for frame in page.frames))
        groups.setdefault(key, ([], page))[0].append(each.id)
    return tuple(
        SameStack(threads=tuple(names), frames=_shown(session, names[0], page), total=page.total)
        for names, page in sorted(groups.values(), key=lambda group: -len(group[0]))
    )


def _shown(session: Session, name: str, page: Frames) -> tuple[Frame, ...]:
    named = session.handles.frames(session.handles.thread_id(name), page.frames, 0)
    return tuple(session.witness.show_frame(frame) for frame in named)


@operation(Access.INSPECT, example="dbg thread t2")
async def thread(
    session: Session,
    which: Annotated[str, Param("the thread to select, such as t2", positional=True, metavar="T")],
) -> FrameView:
    """Select a thread for the verbs that follow, and look at where it is."""
    session.need_stopped()
    if not session.handles.knows_threads:
        session.handles.threads(await session.backend.threads())
    id = session.handles.thread_id(which)
    try:
        view = await frame_view(session, id, 0)
    except NotFound:
        if id in {each.id for each in await session.backend.threads()}:
            raise
        raise NotFound(f"thread {which} has ended", hint=Try("threads")) from None
    session.focus_thread, session.focus_frame = id, 0
    return view


@operation(Access.INSPECT, aliases=("list", "l"), example="dbg source shop.py:14 --around 10")
async def source(
    session: Session | None,
    caller: Caller,
    at: Annotated[
        Place | None,
        Param(
            "a place, or a line of the file that is held; the selected frame if left out",
            positional=True,
            metavar="LOC",
        ),
    ] = None,
    around: Annotated[int, Param("lines before and after", metavar="N")] = 8,
    thread: ThreadWord = None,
    generated: Annotated[
        bool, Param("the lines of what really runs in the selected frame, where its source is what that was made from")
    ] = False,
) -> Source:
    """Source lines around a place, or around where the program is held."""
    if generated and at is not None:
        raise UsageError(
            "source --generated shows the selected frame; select another with `dbg frame`, and give no place"
        )
    column = 0
    at = await at_hand(session, at, caller) if at else None
    if at is None:
        if session is None:
            raise UsageError("source of what? Give a place, as in shop.py:14")
        session.need_stopped()
        held = await _held(session, thread)
        file, line, column = _spot(held, generated=generated)
        if generated and held is not None and (runs := await _running_otherwise(session, held, file)):
            return _read(session, file, line, around, column, runs)
        await borrow(session, file, None if generated or held is None else held.id)
    else:
        if isinstance(at, SymbolPlace):
            raise UsageError(f'source takes file:line or file@"text", not the name {at}')
        _, wanted = locate(at, caller.cwd)
        assert wanted.file is not None and wanted.line is not None
        file, line = wanted.file, wanted.line
        if session is not None and session.live:
            await borrow(session, file, None)
    return _read(session, file, line, around, column)


async def _held(session: Session, thread: str | None) -> Frame | None:
    """The selected frame; of another thread the innermost of the user's own."""
    if thread is not None:
        return (await session.backend.capture(session.thread_id(thread), session.bounds)).at
    page = await session.backend.stack(session.thread_id(None), session.focus_frame, 1)
    return page.frames[0] if page.frames else None


def _spot(frame: Frame | None, *, generated: bool) -> tuple[str, int, int]:
    """File, line and column of a frame: of its source, or of what was made from that and really runs."""
    if frame is None or frame.file is None or frame.line is None:
        raise NotFound("this frame has no source", hint=Try("stack"))
    if not generated:
        return frame.file, frame.line, frame.column or 0
    spot = generated_spot(frame.generated) if frame.generated else None
    if spot is None:
        raise NotFound(f"{Path(frame.file).name} runs as it is written; nothing was made from it", hint=Try("source"))
    return spot


async def _running_otherwise(session: Session, frame: Frame, file: str) -> SourceText | None:
    """What the debugger has of what runs in a frame, where the file of that name holds something else, such as its source."""
    if not isinstance(session.backend, HoldsSource) or not session.sources.is_readable(file):
        return None
    runs = await session.backend.running_text(frame.id)
    return runs if runs is not None and runs.lines != session.sources.lines(file) else None


def _read(
    session: Session | None, file: str, line: int, around: int, column: int, runs: SourceText | None = None
) -> Source:
    """`runs`: these lines, not those of the file."""
    cache = session.sources if session and runs is None else SourceCache()
    shown = (session.show(file) if session else file) or file
    notes = holding.doubts(session, file) if session and session.live else ()
    if runs is not None:
        cache.lend(file, "\n".join(runs.lines))
        notes = (f"these lines are {runs.origin}; the file {shown} holds others",)
    total = len(cache.lines(file))
    if not total:
        raise NotFound(f"{Path(file).name} cannot be read")
    if line > total:
        raise NotFound(f"{Path(file).name} has {total} lines", hint=Try("source", {"at": f"{shown}:{total}"}))
    return Source(file=shown, lines=cache.around(file, line, around, around, column), total=total, notes=notes)


@operation(Access.INSPECT, example="dbg modules --count 20")
async def modules(session: Session, start: Start = 0, count: Count = 100) -> Modules:
    """The modules that the program has loaded, your own first."""
    session.need_live()
    if Capability.MODULES not in session.backend.capabilities:
        raise Unsupported(f"{session.tool.tool} cannot list modules", hint=Try("raw"))
    page = await session.backend.modules(start, count)
    shown = tuple(msgspec.structs.replace(each, file=session.show(each.file)) for each in page.modules)
    return msgspec.structs.replace(page, modules=shown)


@operation(Access.INSPECT, example="dbg exception")
async def exception(session: Session, thread: ThreadWord = None) -> ExceptionInfo:
    """The exception that the program is held at: class, message, where it passed, what caused it."""
    session.need_stopped()
    assert session.stop is not None
    if thread is None and session.stop.exception is not None:
        return session.stop.exception
    info = await session.backend.exception(session.thread_id(thread))
    if info is None:
        raise NotFound(f"{session.name} is not held at an exception", hint=Try("state"))
    return session.witness.show_exception(info)
