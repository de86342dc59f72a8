"""An outcome as text: the line that says it, then as much evidence as the budget holds.

Room is given in the order of worth: what moving changed, locals, frames, source, and printed text last, so that cutting
takes output first and the outcome itself never.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import wording
from ..model.outcomes import AT_RETURN, AnyOutcome, Breakpoint, Exited, Lost, Running, Stop
from ..model.reports import Failure, ReportFrame, Witnessed
from ..model.values import ExceptionInfo
from . import tracebacks
from .escape import escape, shorten
from .parts import (
    beginning,
    beside,
    breakpoint_row,
    change,
    noted,
    printed,
    source_lines,
    stack_line,
    trail,
    value_list,
    where,
)

LEFT = 200
"""Characters of the values that are told of a cause, or of a member of a group."""


class Room:
    """The characters that are left of a budget."""

    def __init__(self, budget: int) -> None:
        self.left = budget

    def take(self, text: str) -> str:
        self.left = max(0, self.left - len(text) - (1 if text else 0))
        return text


ROOM_FOR_REST = 120
"""Characters before the last line of a report that are worth more than the whole of it."""


def closed(body: str, last: str, budget: int) -> str:
    """A report with its last line, which is told whatever is cut before it; in fewer words where there is little room."""
    if not last or len(body) + len(last) < budget:
        return f"{body}\n{last}" if last else body
    if budget - len(last) <= ROOM_FOR_REST:
        last = last.partition(" (")[0]
    return f"{shorten(body, budget - len(last) - 1)}\n{last}"


def came_up(what: str, function: str, file: str, line: int) -> Failure:
    """An error that a report tells by what it says and the line that it came up in."""
    frame = ReportFrame(function=function, file=file, line=line)
    return Failure(what=what, kind="exception", stack=Witnessed(frames=(frame,)))


def own_report(lines: int) -> str:
    """What is said in place of what a runtime wrote of an error that is told already."""
    return f"stderr: the error's own report, {lines} line{'s' * (lines > 1)}" if lines else ""


def outcome(name: str, result: AnyOutcome, budget: int, *, is_over: bool = False, told: Sequence[Failure] = ()) -> str:
    """An outcome as far as the budget goes. What `is_over` was a run of one call alone, which no later call is about; what it
    wrote of errors that are `told` already, each with its line, is said in a word."""
    room = Room(budget)
    match result:
        case Stop():
            body = _stop(name, result, room)
        case Running():
            head = room.take(headline(name, result) + _meanwhile(result))
            body = [room.take(trail(result.trail, room.left // 2)), head] if result.trail else [head]
        case Exited():
            body = _exited(name, result, room)
        case Lost():
            body = [room.take(headline(name, result))]
    body += [room.take(breakpoint_row(each)) for each in result.unbound[:20]]
    for note in result.notes:
        body.append(room.take(f"note: {shorten(escape(note), 400)}"))
    body += [room.take(beside(each)) for each in result.do]
    body += _printed(result, room, is_over=is_over, told=told)
    return "\n".join(part for part in body if part)


def headline(name: str, result: AnyOutcome) -> str:
    """The line that says it, which no budget cuts."""
    match result:
        case Stop():
            return f"{name} stopped: {_why(result)}"
        case Running():
            return _runs(name, result)
        case Exited():
            return _ended(name, result)
        case Lost(cause=cause):
            return f"{name} lost: {escape(cause)}"


def _stop(name: str, stop: Stop, room: Room) -> list[str]:
    head = room.take(headline(name, stop))
    raised = room.take(background(stop.exception, room.left // 2)) if stop.exception else ""
    passed = room.take(trail(stop.trail, room.left // 2)) if stop.trail else ""
    mark = " " if stop.reason == AT_RETURN else ">"
    is_known = stop.same_frame and not stop.whole
    if is_known and not stop.trail:
        told = ", ".join(change(each) for each in stop.changes) or "nothing"
        changed = room.take(shorten(f"changed: {told}", room.left)) if stop.locals else ""
        return [head, raised, room.take(source_lines(stop.source, room.left - 1, mark)), changed]
    if is_known:
        here = tuple(line for line in stop.source if line.here and stop.reason != AT_RETURN)
        return [passed, head, raised, room.take(source_lines(here, room.left - 1))]
    held = value_list(stop.locals, stop.locals_total, room.left - 9) if stop.locals and room.left > 60 else ""
    locals_ = room.take(f"locals: {held}") if held else ""
    stack = ""
    both = stop.generated and any(frame.generated for frame in stop.stack)
    if (len(stop.stack) > 1 or both) and room.left > 60:
        more = stop.stack_total is None
        line = stack_line(stop.stack, stop.stack_total, room.left - 8, generated=stop.generated, more=more)
        stack = room.take(f"stack: {line}")
    source = room.take(source_lines(stop.source, room.left - 1, mark))
    # A trail that only says where the step came from is not worth a line: the stack shows it.
    tells = len(stop.trail) > 1 or any(each.changes for each in stop.trail)
    return [passed if tells else "", head, raised, source, locals_, stack]


def _why(stop: Stop) -> str:
    place = where(stop.frame) if stop.frame else "an unknown place"
    if stop.thread_name:
        place += f", thread {stop.thread} ({escape(stop.thread_name)})"
    if stop.returned is not None and stop.reason == AT_RETURN:  # held there: only library code called it
        return f"returned {shorten(escape(stop.returned.value), 400)} at {place}"
    if stop.returned is not None and not stop.same_frame and stop.exception is None:
        return f"returned {shorten(escape(stop.returned.value), 400)} to {place}"
    if stop.breakpoints:
        hit = f" hit {stop.hit}" if stop.hit else ""
        return f"{' '.join(stop.breakpoints)}{hit} at {place}"
    if stop.exception is not None:
        return f"{_raised(stop.exception)} at {place}"
    said = ""
    if stop.returned is not None:
        said = f" ({escape(stop.returned.name)} returned {shorten(escape(stop.returned.value), 200)})"
    return f"{escape(stop.reason)} at {place}{said}"


_MODES = {
    "uncaught": ", uncaught,",
    "unhandled": ", not handled so far,",
    "user": ", leaving your code,",
    "raised": "",
    "exit": "",
    "unknown": "",
}


def _raised(info: ExceptionInfo) -> str:
    message = f": {shorten(escape(info.message), 400)}" if info.message else ""
    return f"{escape(info.type)}{message}{_MODES[info.mode]}"


def exception(info: ExceptionInfo, limit: int = 2000) -> str:
    """An exception by itself: class, message, what it was raised from and what it holds."""
    return "\n".join(part for part in (_raised(info).rstrip(","), background(info, limit)) if part)


def background(info: ExceptionInfo, limit: int) -> str:
    """What an exception was raised from, and the exceptions in it where it is a group: each by its place, and by values where
    there is room left for them."""
    rows = _held(info, limit // 2)
    if info.cause and not info.causes:
        rows.append(f"  from {shorten(escape(info.cause), 200)}")
    causes = [row for each in info.causes for row in ((_cause(each), _left(each, "    ")), *_members(each, "    "))]
    members = list(_members(info, "  "))
    spare = limit - sum(len(row) + 1 for row, _ in (*causes, *members))
    for row, values in (*causes, *members):
        limit -= len(row) + 1
        if limit < 0 and rows and len(rows) >= len(causes):
            return "\n".join([*rows, "  …"])
        rows.append(row)
        if values and len(values) < spare:
            rows.append(values)
            limit, spare = limit - len(values) - 1, spare - len(values) - 1
    return "\n".join(rows)


def _held(info: ExceptionInfo, limit: int) -> list[str]:
    """What an exception tells beside its message: what was added to it on its way, and what it holds."""
    rows = [f"  {noted(info.notes)}"] if info.notes else []
    return [*rows, f"  with {value_list(info.values, len(info.values), max(80, limit))}"] if info.values else rows


def _cause(info: ExceptionInfo) -> str:
    """`  from ValueError: bad 0 at chain.py:5 in mid`; one that was merely being handled is said to be so."""
    at = next((frame for frame in info.frames if frame.kind == "user"), next(iter(info.frames), None))
    word = "while handling" if info.link == "context" else "from"
    return shorten(f"  {word} {_raised(info)}", 300) + (f" at {where(at)}" if at else "")


def _left(info: ExceptionInfo, indent: str) -> str:
    """What was added to an exception beside another one, and the values in the call that it was raised in, where that is not
    told as a call of its own."""
    rows = [noted(info.notes)] if info.notes else []
    rows += [value_list(info.locals, None, LEFT)] if info.locals else []
    return "\n".join(indent + row for row in rows)


def _members(info: ExceptionInfo, indent: str) -> Iterator[tuple[str, str]]:
    """The exceptions in a group, each with the values where it was raised."""
    for each in info.members:
        at = next((frame for frame in each.frames if frame.kind == "user"), next(iter(each.frames), None))
        row = f"{indent}{_raised(each)}" + (f" at {where(at)}" if at and not each.members else "")
        yield shorten(row + (f", from {escape(each.cause)}" if each.cause else ""), 240), _left(each, indent + "  ")
        yield from _members(each, indent + "  ")
    missing = (info.members_total or 0) - len(info.members)
    if missing > 0:
        yield f"{indent}… {missing:,} more", ""


def _runs(name: str, running: Running) -> str:
    text = f"{name} running"
    if running.ready:
        text += f": {escape(running.ready)}"
    if running.after is not None and running.after >= 0.1:
        text += f" after {running.after:g} s"
    return text + (f"; blocked in {where(running.blocked[0])}" if running.blocked else "")


def _meanwhile(running: Running) -> str:
    """What stands behind the line that says that it runs: where it is blocked, and what its breakpoints became."""
    text = f"\nstack: {stack_line(running.blocked, None, 1000)}" if running.blocked else ""
    if running.breakpoints:
        text += "; " + ", ".join(breakpoint_row(each) for each in running.breakpoints[:10])
    return text


def _ended(name: str, exited: Exited) -> str:
    if exited.signal:
        text = f"{name} exited by {exited.signal}"
    elif exited.exit_code is not None:
        text = f"{name} exited {exited.exit_code}"
    else:
        text = f"{name} exited"
    if exited.after is not None:
        text += f" after {exited.after:.2f} s" if exited.after < 1 else f" after {exited.after:.1f} s"
    if exited.cause:
        text += f": {escape(exited.cause)}"
    return text


def _exited(name: str, exited: Exited, room: Room) -> list[str]:
    head = room.take(headline(name, exited))
    passed = room.take(trail(exited.trail, room.left // 2)) if exited.trail else ""
    parts = [passed, head]
    if exited.never_hit:
        parts.append(room.take("never hit: " + ", ".join(_never(each) for each in exited.never_hit[:20])))
    return parts


def _never(item: Breakpoint) -> str:
    if item.state == "pending":
        asked = item.requested
        said = item.message or (
            f"{asked.file} is not loaded yet" if asked.file else f"no function {asked.symbol} is known yet"
        )
        is_plain = asked.file and "is not loaded yet" in said
        what = f"{asked.file} was never loaded" if is_plain else said.replace("is known yet", "was found")
        return f"{item.id} pending ({escape(what)})"
    if item.message:
        return f"{item.id} {item.state} ({escape(item.message)})"
    return f"{item.id} {item.state}"


def _printed(result: AnyOutcome, room: Room, *, is_over: bool, told: Sequence[Failure]) -> list[str]:
    stderr, own = result.stderr, 0
    if told and stderr:
        stderr, own = tracebacks.without(stderr, told, cut=bool(result.dropped), in_line=True)
    said = room.take(own_report(own))
    way = "" if is_over else f" ({wording.call('output')})"
    dropped = room.take(f"{result.dropped:,} bytes of output are not shown{way}") if result.dropped else ""
    began = "" if told else room.take(beginning("stderr", result.stderr_began, room.left // 2))
    output, last, log = (
        room.take(printed(name, text, room.left - 1)) if room.left > 40 else ""
        for name, text in (("output", result.output), ("stderr", stderr), ("log", result.log))
    )
    return [said, output, began, last, log, dropped]
