"""The frames of a report: the user's own calls of a held thread, with source and the values that each line uses first.

Inner calls are told more fully than outer ones, calls of libraries are folded, and recursion is told once. What cannot be read
of one frame is said there and costs the others nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from ..errors import AdapterGone, StaleHandle, StillframeError
from ..model.backend import Bounds
from ..model.powers import CallsByName, EvaluatesSafely
from ..model.reports import ReportFrame, Witnessed, spot
from ..model.values import Frame, Frames, Value, Values
from .borrowing import borrow
from .parts import parts_on
from .session import Session

FULL, MOST, LAST = 6, 16, 4
"""Calls that are told with their values, calls that are told at all, and how many of these are the outermost."""
DEEP, OUTER = 120, 12
"""Frames that are read from the inside of a deep stack, and from its outer end."""
READ_SECONDS = 10.0
"""How long the values of one frame may take to be read."""
_KEPT = ((24, 200), (10, 120), (6, 80))
"""Values, and characters of each, of the innermost call, of the next one, and of those further outside."""
_NAME = re.compile(r"(?:(?<![.\w$])|(?<=\.\.\.))[A-Za-z_$][\w$]*")
FURTHER = 8
"""Lines behind the one that a call stands at that may be of the same statement."""
OUTSIDE, OUTSIDE_SECONDS = 6, 2.0
"""Names on a line that are looked up beyond its frame, and the time for each."""
_WORDS = frozenset(
    re.findall(
        r"\w+",
        "and as assert async await break case catch char class const continue def del do double elif else except "
        "finally false False float for func from function global go if import in int is lambda let long match new "
        "nil none None not null or pass raise range return select self static struct super switch this throw true "
        "True try typeof undefined unsigned var void while with yield console process JSON Math Object Array ",
    )
)
_CODE = re.compile(r"function|method|module|\btype$|Meta$|EnumType|\(|^func|^class", re.IGNORECASE)
"""Types of what a program is made of, in the words of the debuggers."""
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")
_PLUGGED = re.compile(r"\{([^{}]*)\}")


class Call(msgspec.Struct):
    """A call of the user's own, with what is folded or left out before it."""

    frame: Frame
    times: int = 1
    folded: list[Frame] = msgspec.field(default_factory=list[Frame])
    skipped: int = 0


async def witnessed(
    session: Session, thread: str, *, live: bool = False, full: int = FULL, start: int = 0
) -> Witnessed:
    """The stack of a held thread for a report, from a call on; `live` keeps handles to its values, for a program that stays
    held."""
    inner = await session.backend.stack(thread, start, DEEP)
    calls = folded(inner.frames)
    outer, between = await _outer_end(session, thread, inner, start)
    if outer:
        end = folded(outer)
        end[0].skipped += between
        calls += end
    told = [await _told(session, call, number, live=live, full=full) for number, call in enumerate(_chosen(calls))]
    goes_on = inner.total is None and len(inner.frames) == DEEP
    return Witnessed(frames=tuple(told), total=inner.total, goes_on=goes_on)


async def _outer_end(session: Session, thread: str, inner: Frames, at: int) -> tuple[tuple[Frame, ...], int]:
    """The outermost frames of a stack that goes on, and how many lie between: where it all began."""
    total, read = inner.total or 0, at + len(inner.frames)
    if total <= read:
        return (), 0
    start = max(read, total - OUTER)
    page = await session.backend.stack(thread, start, OUTER)
    return page.frames, start - read


def folded(frames: Sequence[Frame]) -> list[Call]:
    """The calls of the user's own; where there is none, the innermost of all."""
    calls: list[Call] = []
    library: list[Frame] = []
    for _, run in groupby(frames, key=lambda frame: (frame.kind, spot(frame), frame.awaited)):
        same = list(run)
        if same[0].kind == "library":
            library += same
        else:
            calls.append(Call(same[0], len(same), library))
            library = []
    if not calls and frames:
        return [Call(frames[0])]
    return calls


def _chosen(calls: list[Call]) -> list[Call]:
    """As many as a report tells: the inner ones, and the outermost, with how many are left out between."""
    if len(calls) <= MOST:
        return calls
    left_out, end = calls[MOST - LAST : -LAST], calls[-LAST:]
    end[0].skipped += sum(call.times + call.skipped + len(call.folded) for call in left_out)
    return [*calls[: MOST - LAST], *end]


async def _told(session: Session, call: Call, number: int, *, live: bool, full: int) -> ReportFrame:
    await borrow(session, call.frame.file, call.frame.id)
    told = told_frame(session, call, number)
    return await with_values(session, told, call.frame, number, live=live) if number < full else told


def told_frame(session: Session, call: Call, number: int) -> ReportFrame:
    """A call with its line of source, the innermost with some before it, and without its values."""
    frame = call.frame
    lines = (
        session.sources.around(frame.file, frame.line, before=2 if number == 0 else 0, column=frame.column or 0)
        if frame.file and frame.line
        else ()
    )
    names = {(each.module or "library").partition(".")[0]: None for each in call.folded}
    return ReportFrame(
        function=frame.function,
        file=session.show(frame.file),
        line=frame.line,
        source=lines,
        folded=len(call.folded),
        folded_in=tuple(names)[:3],
        times=call.times,
        skipped=call.skipped,
        awaited=frame.awaited,
        library=frame.kind == "library",
    )


async def with_values(session: Session, told: ReportFrame, frame: Frame, number: int, *, live: bool) -> ReportFrame:
    count, text = _KEPT[min(number, len(_KEPT) - 1)]
    bounds = Bounds(values=200, text=text, items=session.bounds.items, seconds=session.bounds.seconds)
    try:
        async with asyncio.timeout(READ_SECONDS):
            page = await session.backend.locals(frame.id, bounds)
    except TimeoutError:
        return msgspec.structs.replace(told, note=f"its values could not be read within {READ_SECONDS:g} s")
    except AdapterGone:
        raise
    except StaleHandle:  # its debugger could not hold it, as in a call that never comes back to its language
        return msgspec.structs.replace(told, note="it ran on before its values could be read")
    except StillframeError as error:
        return msgspec.structs.replace(told, note=f"its values could not be read: {error.message}")
    line = next((each.text for each in told.source if each.here), "")
    line = (
        statement(line, session.sources.lines(frame.file)[frame.line : frame.line + FURTHER])
        if frame.file and frame.line
        else line
    )
    if number == 0 and not told.library:
        further = await _from_outside(session, frame, line, page, bounds)
        page = msgspec.structs.replace(page, values=(*page.values, *further))
    values, used = by_use(page, line)
    values = values[: max(count, used)]
    if number == 0 and not told.library:
        parts = await _parts(session, line, page, bounds)
        values, used = (*parts, *values), used + len(parts)
    shown = session.handles.values(values) if live else tuple(unlinked(each) for each in values)
    note = page.notes[0] if page.notes and not values else None
    return msgspec.structs.replace(told, values=shown, values_total=page.total, used=used, note=note)


async def _parts(session: Session, line: str, page: Values, bounds: Bounds) -> list[Value]:
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await parts_on(session.backend, line, page.values, bounds)
    except TimeoutError:
        return []


async def _from_outside(session: Session, frame: Frame, line: str, page: Values, bounds: Bounds) -> list[Value]:
    """What the line names that is none of the frame's own, such as a constant of its file; functions and the like are no news."""
    known = {value.name for value in page.values}
    names = [name for name in dict.fromkeys(names_on(line)) if name not in known and name not in _WORDS]
    if isinstance(session.backend, CallsByName):
        names = [name for name in names if session.backend.reads(name)]
    names = names[:OUTSIDE]
    if not names:
        return []
    ask = session.backend.evaluate
    if isinstance(session.backend, EvaluatesSafely):
        ask = session.backend.evaluate_safely
    try:
        told = await ask(frame.id, names, bounds, OUTSIDE_SECONDS)
    except AdapterGone:
        raise
    except StillframeError:  # the thread is not held, or names alone are nothing to this debugger
        return []
    return [each.value for each in told if each.value is not None and not _is_no_news(each.value)]


def _is_no_news(value: Value) -> bool:
    """Code, or what is named for its value, as the constants of a C enumeration are; a name of a type is void to lldb."""
    return (
        value.value in (value.name, "void")
        or _CODE.search(value.type) is not None
        or value.value.startswith(("<function", "<class", "<module", "[Function", "[class"))
    )


def statement(line: str, behind: Iterable[str]) -> str:
    """A line with those behind it that close what it opens, as the arguments of a call do; not where they are a body."""
    whole, depth = line, _opened(line)
    for each in behind:
        if depth <= 0 or whole.rstrip().endswith(("{", ":", "=>")):
            break
        whole, depth = f"{whole}\n{each}", depth + _opened(each)
    return whole


def _opened(line: str) -> int:
    bare = _QUOTED.sub("", line)
    return sum(map(bare.count, "([")) - sum(map(bare.count, ")]"))


def by_use(page: Values, line: str) -> tuple[tuple[Value, ...], int]:
    """The values with those first that the line names, in the order in which it does; and how many these are."""
    names = dict.fromkeys(names_on(line))
    known = {value.name: value for value in reversed(page.values)}
    first = [known[name] for name in names if name in known]
    rest = [value for value in page.values if value.name not in names]
    return (*first, *rest), len(first)


def names_on(line: str) -> list[str]:
    """The names that a line of source uses, in any language: no attributes, and of quoted texts what is plugged into them."""
    return _NAME.findall(_QUOTED.sub(lambda quoted: f" {' '.join(_PLUGGED.findall(quoted[0]))} ", line))


def unlinked(value: Value) -> Value:
    """A value of a program that will be gone: no handle could reach it any more."""
    return msgspec.structs.replace(value, ref=None, children=tuple(unlinked(each) for each in value.children))
