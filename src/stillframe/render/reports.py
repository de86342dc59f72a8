"""Reports of crashes and hangs as text: the verdict first, then the calls from the inside out, what was printed last.

Where there is no room, printed text goes first, then lines of source, outer calls and values; never the verdict.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Literal

import msgspec

from ..model import wording
from ..model.outcomes import AnyOutcome, Exited, Lost, Running
from ..model.reports import (
    CrashReport,
    Failure,
    HangReport,
    Held,
    Repeated,
    ReportFrame,
    Unrecorded,
    Waiting,
    Witnessed,
)
from . import parts, sinces, tracebacks
from .escape import escape, shorten, source
from .outcomes import Room, background, closed, own_report
from .sinces import rows as since_rows

LEAST_GROUP = 100
"""Characters that a group of threads is worth telling in."""
LEAST_FRAME = 48
"""Characters that an outer call is worth telling in."""
OUTER = 300
"""Characters of the line of an outer call."""
NAMES = 4
_RUNS = ("in the passing run", "in the failing one")
_KEPT = {
    None: "recorded: values only",
    "off": "not recorded: recording is turned off",
    "paused": "not recorded: recording is paused",
    "counted": "not recorded: counted",
}
_OWN_REPORT = re.compile(
    r"^(panic: |fatal error: |goroutine \d+ \[.*\]:$"
    r"|terminate called|node:|\s*thread '.*' (?:\(\d+\) )?panicked at "
    r"|(?:/|file:|\[|evalmachine\.).*:\d+$|.*:in [`'].*\([\w:]+\)$|Uncaught|\[?\w*Error"
    r"|note: Some details are omitted, run with `RUST_BACKTRACE)",
    re.MULTILINE,
)
"""How the report of an error begins that a runtime writes itself (Go, libstdc++, Node, Ruby), or how Rust's ends: ours
tells the same, with values."""
_GO_CALL = re.compile(r"^\t/.*:\d+ \+0x[0-9a-f]+$", re.MULTILINE)


def crash(result: CrashReport, budget: int) -> str:
    if result.hang is not None:
        return _hung(result, msgspec.structs.replace(result.hang, unrecorded=result.unrecorded), budget)
    room = Room(budget)
    rows: list[str] = []
    last = room.take(last_line(result.held, result.unrecorded, told=_was_held(result)))
    if result.repeated:
        rows.append(room.take(repeated_rows(result.repeated)))
    rows.append(room.take(_verdict(result, budget // 3)))
    notes = [room.take(f"note: {shorten(escape(note), 400)}") for note in _notes(result)]
    also = _also(result, room)
    if result.failure:
        rows += failure_rows(result.failure, room, spare=min(400, room.left // 8))
    if result.handled:
        rows.append(room.take(f"{_before(result)}: {failure_line(result.handled)}"))
        rows += failure_rows(result.handled, room, spare=min(400, room.left // 8))
    if result.since:
        rows += [room.take(each) for each in since_rows(result.since, ending)]
    rows += also + notes
    rows += [room.take(parts.beside(each)) for each in result.end.do]
    rows += printed(result.end, room, told=_told(result), is_known=_is_known(result.failure))
    return closed("\n".join(row for row in rows if row), last, budget)


def _hung(result: CrashReport, told: HangReport, budget: int) -> str:
    """A run that came to no end, with what was asked and noted of it beside that."""
    room = Room(budget)
    rows = [room.take(repeated_rows(result.repeated))] if result.repeated else []
    further = [room.take(each) for each in since_rows(result.since, ending)] if result.since else []
    told = msgspec.structs.replace(told, notes=(*result.notes, *told.notes))
    return "\n".join(row for row in (*rows, hang(told, room.left, further)) if row)


def _was_held(result: CrashReport) -> bool:
    """Whether the debugger saw it: what only the runtime wrote, as it ended, is no stop, and cannot be kept; nor is an error
    that library code handled, except where the program was asked something."""
    failure = result.failure
    if failure is not None and failure.exception is not None and failure.exception.mode == "user" and not result.end.do:
        return False
    return failure is not None and (failure.exception is not None or failure.kind not in ("signal", "exception"))


def _told(result: CrashReport) -> tuple[Failure, ...]:
    """The errors of which the runtime wrote no more than is told: but where no call of the user's is known, as of a file that
    cannot be compiled, that may name the place."""
    failure = result.failure
    handled = (result.handled,) if result.handled else ()
    if failure is None or failure.kind != "exception":
        return handled
    known = not failure.stack.frames or not failure.stack.frames[0].library
    return (failure, *result.also, *handled) if known else ()


def _is_known(failure: Failure | None) -> bool:
    """Whether it is told what went wrong: of a program that only left by a bad code, its own words alone tell."""
    return failure is not None and failure.kind != "exit"


def _before(result: CrashReport) -> str:
    """What an error that was handled has to do with the end of the program."""
    by_error = result.failure is not None and result.failure.kind != "exit"
    return "an equal error, handled before that" if by_error else "handled before the exit"


def _verdict(result: CrashReport, most: int) -> str:
    """What went wrong, in so many characters at most, then where, and how the program ended, whatever it said."""
    command = escape(shorten(shlex.join(result.command), 80))
    if result.failure is None:
        how = "ended well: " if result.verdict == "ended well" else ""
        return f"{command} {how}{ending(result.end)}"
    return f"{failure_line(result.failure, min(400, most))}{_caught(result)}; {ending(result.end)}"


def _caught(result: CrashReport) -> str:
    """Of an error that did not end the program, who caught it, as far as that is known."""
    if result.verdict != "handled" or result.failure is None or result.failure.exception is None:
        return ""
    to_library = result.failure.exception.mode == "user"
    if result.held:
        return ", leaving your code" if to_library else ", about to be caught"
    return ", which library code caught" if to_library else ", which was caught"


def failure_line(failure: Failure, most: int = 400) -> str:
    """`KeyError: 'qty' at shop.py:14 in total, thread worker`."""
    text = shorten(escape(failure.what), most)
    if failure.stack.frames:
        text += f" at {place(failure.stack.frames[0])}"
    if failure.thread:
        text += f", thread {escape(failure.thread)}"
    if failure.process:
        text += f", in its child {escape(failure.process)}"
    return text


def place(frame: ReportFrame) -> str:
    return f"{parts.place(frame.file, frame.line)} in {escape(frame.function)}"


def ending(end: AnyOutcome) -> str:
    """`exit 1 after 0.2 s`, or what else became of the program."""
    match end:
        case Exited(signal=str(signal)):
            how = f"ended by {signal}"
        case Exited(exit_code=int(code)):
            how = f"exit {code}"
        case Exited(cause=cause):
            return escape(cause or "ended")
        case Running():
            return f"still running after {end.after:g} s" if end.after is not None else "still running"
        case Lost(cause=cause):
            return f"lost: {escape(cause)}"
        case _:
            return "held"
    if end.after is not None:
        how += f" after {end.after:.2f} s" if end.after < 1 else f" after {end.after:.1f} s"
    return how + (f": {escape(end.cause)}" if end.cause else "")


def _notes(result: CrashReport) -> tuple[str, ...]:
    top = result.failure.stack.frames[0] if result.failure and result.failure.stack.frames else None
    mine = result.failure.notes if result.failure and not (top and top.note) else ()  # which says the same
    mine += result.handled.notes if result.handled else ()
    return tuple(dict.fromkeys((*mine, *result.notes, *result.end.notes)))


def _also(result: CrashReport, room: Room) -> list[str]:
    rows = [room.take(f"also: {shorten(failure_line(each), 240)}") for each in result.also]
    more = result.also_total - len(result.also)
    return [*rows, room.take(f"also: {more:,} more") if more > 0 else ""]


def last_line(held: Held | None, unrecorded: Unrecorded | Literal["counted"] | None, *, told: bool) -> str:
    """Whether anything of the program is still there to be asked."""
    if held is None:
        return f"{_KEPT[unrecorded]} ({wording.option('hold')} keeps it live)" if told else ""
    minutes = f"{held.lease / 60:g} minutes" if held.lease >= 60 else f"{held.lease:g} s"
    ending = wording.call("stop")
    if held.runs:
        return (
            f"kept: session {held.session}, given up after {minutes} unused; it is blocked where nothing can hold it (stack, "
            f"threads, hang; {ending} ends it)"
        )
    run = ", a second run of it" if held.again else ""
    return f"held: session {held.session}{run}, given up after {minutes} unused (eval, expand, frame; {ending} ends it)"


# Calls


def failure_rows(failure: Failure, room: Room, spare: int) -> list[str]:
    """What went wrong and where; `spare` characters are left for what comes behind."""
    rows = [room.take(background(failure.exception, room.left // 3))] if failure.exception else []
    rows += witnessed_rows(failure.stack, room, spare)
    return rows


def witnessed_rows(stack: Witnessed, room: Room, spare: int) -> list[str]:
    """The calls of a stack: the innermost with its lines and values, each outer one in a line."""
    if not stack.frames:
        return []
    rows = _inner(stack.frames[0], room, spare)
    for number, frame in enumerate(stack.frames[1:], 1):
        left = room.left - spare
        line = _outer(frame, min(OUTER, left))
        missing = len(stack.frames) - number
        if left < LEAST_FRAME or len(line) > left:
            rows.append(room.take(f"< … {missing:,} more calls of yours"))
            break
        rows.append(room.take(line))
    return [*rows, room.take("< … further calls, too many to be counted")] if stack.goes_on else rows


def _inner(frame: ReportFrame, room: Room, spare: int) -> list[str]:
    limit = max(0, room.left - spare)
    values = _values(frame, limit - 40)
    lines = parts.source_lines(frame.source, max(0, limit - len(values) - 8))
    folded = f"  ({_folded(frame)} inside of it)" if frame.folded else ""
    again = f"< {escape(frame.function)} {parts.place(frame.file, frame.line)} x {frame.times - 1:,}"
    note = f"  {escape(frame.note)}" if frame.note else ""
    return [room.take(row) for row in (lines, values, folded, note, again if frame.times > 1 else "") if row]


def _values(frame: ReportFrame, limit: int) -> str:
    if not frame.values or limit < 20:
        return ""
    return f"  {parts.value_list(frame.values, frame.values_total, limit - 2)}"


def _outer(frame: ReportFrame, limit: int) -> str:
    arrow = "<~" if frame.awaited else "<"
    head = f"{arrow} {escape(frame.function)} {parts.place(frame.file, frame.line)}"
    if frame.times > 1:
        head += f" x {frame.times:,}"
    before = f"< … {frame.skipped:,} calls\n" if frame.skipped else ""
    if frame.folded:
        before += f"< {_folded(frame)}\n"
    here = next((line.text.strip() for line in frame.source if line.here), "")
    code = f"  {shorten(source(here), 80)}" if here else ""
    left = limit - len(before) - len(head) - len(code) - 2
    values = f"  {parts.value_list(frame.values, frame.values_total, left)}" if frame.values and left > 20 else ""
    return before + shorten(head + code + values, max(0, limit - len(before)))


def _folded(frame: ReportFrame) -> str:
    return f"{frame.folded} in {escape(', '.join(frame.folded_in) or 'library')}"


# Hangs


def hang(result: HangReport, budget: int, further: Sequence[str] = ()) -> str:
    room = Room(budget)
    said = last_line(result.held, result.unrecorded, told=bool(result.groups))
    if result.left and not result.held:
        kept = _KEPT[result.unrecorded].removesuffix(" only")
        said = f"{kept}; {_who(result)} {'runs on' if result.left == 'running' else 'stays held'}"
    over = result.end is not None and not isinstance(result.end, Running)
    last = room.take(said.partition(" (")[0] if over else said)  # what is over cannot be kept live
    rows = [room.take(_hangs(result))]
    if result.cycle:
        back = result.cycle[0] if len(result.cycle) > 1 else "itself"
        around = " waits for ".join(escape(each) for each in (*result.cycle, back))
        rows.append(room.take(shorten(f"cycle: {around}", 600)))
    notes = [room.take(f"note: {shorten(escape(note), 400)}") for note in result.notes]
    folded = room.take(f"folded: {result.runtime:,} without your code") if result.runtime else ""
    for number, group in enumerate(result.groups):
        share = max(LEAST_GROUP, (room.left - min(200, room.left // 4)) // (len(result.groups) - number))
        if room.left < LEAST_GROUP:
            rows.append(f"… {len(result.groups) - number:,} more groups")
            break
        part = Room(min(share, room.left))
        rows.append(room.take("\n".join(row for row in _group(group, part) if row)))
    rows += [folded, *further, *notes]
    if result.end is not None:
        rows += [room.take(parts.beside(each)) for each in result.end.do]
        rows += printed(result.end, room, told=(Failure(what=result.said, kind="exception"),) if result.said else ())
    return closed("\n".join(row for row in rows if row), last, budget)


def _who(result: HangReport) -> str:
    return escape(shorten(shlex.join(result.command), 80)) if result.command else escape(result.session or "it")


def _hangs(result: HangReport) -> str:
    who = _who(result)
    if result.end is not None and not isinstance(result.end, Running) and not result.said:
        left = sum(group.count for group in result.groups)
        waited = f"; {left:,} call{'s' * (left != 1)} still waited when it had nothing more to do" if left else ""
        return f"{who} does not hang: {ending(result.end)}{waited}"
    after = f" after {result.after:g} s" if result.after is not None else ""
    count = sum(bool(group.stack.frames) and not group.stack.frames[0].library for group in result.groups)
    stacks = f"{count} stack{'s' * (count != 1)} in your code"
    kinds: dict[str, int] = {}
    for group in result.groups:
        kinds[group.what] = kinds.get(group.what, 0) + group.count
    found = ", ".join(f"{count:,} {kind}{'s' * (count != 1)}" for kind, count in kinds.items())
    how = "held" if result.was == "held" else "still running"
    if result.said and result.end is not None:
        after, how = "", f"ended by itself: {escape(result.said)}; {ending(result.end)}"
    return f"{who} {how}{after}; {found + ', ' if found else ''}{stacks}"


def _group(group: Waiting, room: Room) -> list[str]:
    names = ", ".join(escape(name) for name in group.names[:NAMES])
    if len(group.names) > NAMES:
        names += f", … {len(group.names) - NAMES:,} more"
    head = f"{group.count:,}x {names}"
    if group.state:
        head += f" ({escape(group.state)})"
    if group.stack.frames:
        head += f" at {place(group.stack.frames[0])}"
    if group.waits_for:
        head += f", waits for {escape(group.waits_for)}"
    if group.held_by:
        head += f", held by {escape(group.held_by)}"
    return [room.take(shorten(head, max(LEAST_GROUP, room.left))), *witnessed_rows(group.stack, room, spare=0)]


# Runs again and again


def repeated_rows(repeated: Repeated) -> str:
    """How often it failed, in which ways, and what was otherwise then."""
    runs = f"{repeated.runs:,} run{'s' * (repeated.runs != 1)}"
    if not repeated.failed:
        return f"failed in none of {runs}"
    kinds = f"{len(repeated.kinds)} kinds" if len(repeated.kinds) != 1 else "one kind"
    text = f"failed {repeated.failed:,} of {runs}, {kinds} of failure; the first was run {repeated.first}"
    if len(repeated.kinds) > 1:
        text += "".join(f"\n  {each.count:,}x {shorten(escape(each.what), 160)}" for each in repeated.kinds[:8])
    if repeated.difference:
        text += f"\nfirst difference: {shorten(sinces.divergence(repeated.difference, _RUNS), 600)}"
    if repeated.varies:
        told = sinces.divergence(repeated.varies, _RUNS)
        text += f"\nvaries among passing runs, too: {shorten(told, 600)}"
    if repeated.compared:
        text += f"\n  ({escape(repeated.compared)})"
    return text


# Printed text


def printed(end: AnyOutcome, room: Room, *, told: tuple[Failure, ...] = (), is_known: bool = False) -> list[str]:
    """What the program printed at last; what its runtime wrote of the errors that are told already is said in a word. Where it
    is not known what went wrong, how its words on stderr began, too."""
    stderr, own = _without_own(end, told) if told else (end.stderr, 0)
    dropped = f"{end.dropped:,} bytes of output are not shown" if end.dropped else ""
    rows = [room.take(each) for each in (own_report(own), dropped) if each]
    began = "" if told or is_known else room.take(parts.beginning("stderr", end.stderr_began, room.left // 2))
    for name, text in (("output", end.output), ("stderr", stderr)):
        rows += [began] if name == "stderr" else []
        if text and room.left > 40:
            rows.append(room.take(parts.printed(name, text, room.left - 1)))
    return rows


def _without_own(end: AnyOutcome, told: tuple[Failure, ...]) -> tuple[str, int]:
    """Standard error without what the runtime wrote of these errors, and how many lines that is."""
    if tracebacks.are_in(end.stderr, cut=bool(end.dropped)):
        return tracebacks.without(end.stderr, told, cut=bool(end.dropped))
    match = _OWN_REPORT.search(end.stderr)
    if match is None:
        return end.stderr, 0
    begun = 0 if end.dropped and _is_middle(end.stderr[: match.start()]) else match.start()
    return end.stderr[:begun].lstrip("\n"), end.stderr[begun:].rstrip().count("\n") + 1


def _is_middle(text: str) -> bool:
    """Whether all of it is calls that an error went through, as where the beginning of its report is not kept."""
    return _GO_CALL.search(text) is not None or all(line.startswith("  ") for line in text.splitlines()[1:])
