"""The report of tests as text: how they went, then why the first red one is red; or one short entry for each failure."""

from __future__ import annotations

import os
import re
from itertools import groupby

import msgspec

from ..model import wording
from ..model.outcomes import Exited, Running
from ..model.reports import Witnessed
from ..model.tested import Counts, MadeCall, TestFailure, TestReport
from . import parts
from .escape import escape, lines, quoted, shorten, source
from .outcomes import Room, closed
from .reports import ending, last_line, repeated_rows, witnessed_rows
from .sinces import rows as since_rows

CALLS = 12
"""Calls that are told of one failure."""
ENTRY = 360
"""Characters of one failure among many; twice as many where there is room."""
OTHERS = 8
MESSAGE = 10
"""Lines of what an exception says."""
MEMBERS = 3
"""Errors of a group that one short entry names."""
_PLAIN = re.compile(r"assert ")
"""How pytest repeats the assertion with its values in place."""
_COMPARES = re.compile(r"Expected values to be|expect\(|assertion `|assertion failed: `\(|NaN ==")
"""How Node, Jest and Rust begin a text that goes on with the two sides."""
_OBVIOUS = re.compile(r"\s*(Use -v to get|Full diff|\.\.\.Full output truncated|First differing element)")


def report(result: TestReport, budget: int) -> str:
    room = Room(budget)
    told = bool(result.failures)
    killed = isinstance(result.end, Exited) and result.end.signal is not None  # by what nothing can hold it at
    last = room.take(last_line(result.held, result.unrecorded, told=told and not killed))
    head = [room.take(each) for each in (_headline(result), repeated_rows(result.repeated) if result.repeated else "")]
    if result.since:
        head += [room.take(each) for each in since_rows(result.since, ending)]
    notes = [room.take(f"note: {shorten(escape(each), 400)}") for each in (*result.notes, *result.end.notes)]
    rows = head + ([room.take(_problem(result))] if result.problem else [])
    if result.every:
        rows += _entries(result, room)
    elif told:
        others = room.take(_others(result))
        rows += _failure(result.failures[0], room)
        rows.append(others)
    rows += notes + [room.take(parts.beside(each)) for each in result.end.do]
    return closed("\n".join(row for row in rows if row), last, budget)


def _headline(result: TestReport) -> str:
    by = escape(f"{result.runner} {result.version}".rstrip())
    runtime = result.runtime.rpartition(" ")[2]
    if result.interpreter:
        by += f", {escape(_near(result.interpreter))} {runtime}"
    elif result.runtime:
        by += f", {escape(result.runtime)}"
    return f"{by}: {_verdict(result)}" + (f", ran {result.ran}x" if result.ran > 1 else "")


def _near(path: str) -> str:
    """An interpreter by the part of its path that tells it from others, and said to be that: it may be another project's."""
    return os.path.join("…", *path.split("/")[-4:]) if path.count("/") > 4 else path


def _verdict(result: TestReport) -> str:
    counts, said = result.counts, _also(result.counts)
    match result.verdict:
        case "green":
            return f"green, {counts.passed:,} passed{said}{_seconds(result)}"
        case "red" if counts.uncollected and not counts.failed:
            files = f"{counts.uncollected} file{'s' * (counts.uncollected > 1)} of tests could not be read"
            ran = f", {counts.passed:,} passed" if counts.passed else ""
            unrun = counts.total - counts.passed - counts.skipped - counts.xfailed - counts.xpassed
            return files + ran + (f", {_tests(unrun)} not run" if unrun > 0 and not ran else "")
        case "red" if result.held:
            return f"red: held at the first failure, after {counts.passed:,} passed"
        case "red":
            bad = f", {counts.uncollected} file{'s' * (counts.uncollected > 1)} unread" if counts.uncollected else ""
            return f"{counts.failed:,} of {counts.total:,} failed{said}{bad}"
        case "unfinished":
            at = f" in {escape(result.running)}" if result.running else ""
            failed = f", {counts.failed:,} failed" if counts.failed else ""
            known = (
                not result.running or counts.total > counts.passed + counts.failed
            )  # else the one that runs is not counted
            of = f" of {counts.total:,}" if known else ""
            more = f" ({_more()})" if isinstance(result.end, Running) else ""
            return f"{ending(result.end)}{at}; {counts.passed:,} passed{failed}{of} by then{more}"
        case _ if counts.passed:  # as a runner does that counts what happens beside its tests, or what they covered
            return f"{counts.passed:,} passed{said}, none failed, and yet {ending(result.end)}"
        case _:
            return f"it told of no tests, {ending(result.end)}"


def _more() -> str:
    """What to do about a run that was not at its end."""
    asked = wording.either(
        "`dbg hang -- COMMAND`, with what runs the tests,", "hang, with the command that runs the tests,"
    )
    return f"{wording.option('timeout')} gives it more time; {asked} tells where it stands"


def _tests(number: int) -> str:
    return "1 test was" if number == 1 else f"{number:,} tests were"


def _also(counts: Counts) -> str:
    names = {"skipped": counts.skipped, "xfailed": counts.xfailed, "xpassed": counts.xpassed}
    names["deselected"] = counts.deselected
    said = [f"{number:,} {name}" for name, number in names.items() if number]
    return f" ({', '.join(said)})" if said else ""


def _seconds(result: TestReport) -> str:
    return f" in {result.end.after:g} s" if isinstance(result.end, Exited | Running) and result.end.after else ""


def _problem(result: TestReport) -> str:
    return f"{escape(result.runner)} says: {lines(shorten(result.problem, 1200))}"


# One failure


def _part(label: str, most: int) -> str:
    """Which part of a test it is: in brackets, unless its runner has put some already."""
    text = escape(shorten(label, most))
    return text if text.startswith(("[", "(")) else f"[{text}]"


def title(failure: TestFailure) -> str:
    """`tests/test_price.py::test_again[50-45] at tests/test_price.py:23 in net`."""
    text = escape(failure.id)
    if failure.label:
        text += f" {_part(failure.label, 120)}"
    if failure.when not in ("call", "collection"):
        text += f", in its {escape(failure.when)}"
    elif failure.when == "collection":
        text += " could not be read"
    top = failure.frames[0] if failure.frames else None
    place = parts.place(top.file, top.line) if top else parts.place(failure.file, failure.line) if failure.file else ""
    if place:
        text += f" at {place}"
    if top and len(failure.frames) > 1 and top.function not in ("", "<anonymous>"):
        text += f" in {escape(top.function)}"
    return text + (f" x {top.times:,}" if top and top.times > 1 else "")


def _failure(failure: TestFailure, room: Room) -> list[str]:
    rows = [room.take(shorten(title(failure), max(120, room.left // 3)))]
    rows.append(room.take(_what(failure, max(200, room.left // 3))))
    calls = _calls(failure, room.left // 2)
    spare = len(calls) + 1 + (160 if failure.output or failure.stderr or failure.shared else 0)
    rows += _frames(failure, room, spare)
    rows.append(room.take(calls))
    rows += [room.take(f"note: {escape(each)}") for each in failure.notes]
    for name, text in (("output", failure.output), ("stderr", failure.stderr), ("log", failure.log)):
        if text and room.left > 60:
            rows.append(room.take(_printed(name, text, failure.printed, room.left - 1)))
    for each in failure.shared:
        whose = "of its whole file" if each.by == "file" else "of the whole run"
        for name, text in (("output", each.output), ("stderr", each.stderr)):
            if text and room.left > 60:
                rows.append(room.take(_printed(f"{name} {whose}", text, each.printed, room.left - 1)))
    return rows


def _printed(name: str, text: str, total: int, limit: int) -> str:
    """What the test printed; where only its end is known, as much of that as there is room for, of how much."""
    if not total:
        return parts.printed(name, text, limit)
    cut = f" (the end of {total:,} characters)"
    return f'{name}: "…{quoted(text[-(limit // 2) :])[1:-1][-(limit - len(name) - len(cut) - 6) :]}"{cut}'


def _frames(failure: TestFailure, room: Room, spare: int) -> list[str]:
    """The calls from the failing one outwards; what the failing line compared stands beside it, not among its values."""
    if not failure.frames:
        return []
    top = failure.frames[0]
    compared = {each.name for each in failure.operands}
    rest = tuple(each for each in top.values if each.name not in compared)
    total = (top.values_total or len(top.values)) - len(top.values) + len(rest)
    inner = msgspec.structs.replace(top, values=rest, values_total=total)
    rows = witnessed_rows(Witnessed(frames=(inner, *failure.frames[1:])), room, spare)
    if rows and failure.operands:
        held = " ".join(parts.value(each) for each in failure.operands)
        first, _, more = rows[0].rpartition("\n")
        beside = f"{more}    {held}" if len(more) + len(held) < 110 else f"{more}\n  {held}"
        room.take(held + "  ")
        rows[0] = f"{first}\n{beside}" if first else beside
    return rows


def _what(failure: TestFailure, limit: int) -> str:
    """What was raised and what it came from; of a failed assertion, what the line beside its values does not say."""
    said = [each for each in failure.message.strip().splitlines() if each.strip() and not _OBVIOUS.match(each)]
    if failure.type == "AssertionError" and failure.operands and said and _PLAIN.match(said[0]):
        said = said[1:]
    elif failure.operands and said and _COMPARES.match(said[0]):
        said = [f"{failure.type}: {said[0]}" if failure.type else said[0]]
    elif failure.type:
        said = [f"{failure.type}: {said[0]}" if said else failure.type, *said[1:]]
    said = [f"{text} x {count:,}" if (count := len(list(same))) > 1 else text for text, same in groupby(said)]
    rows = [f"  {source(shorten(each, 240))}" for each in said[:MESSAGE]]
    if len(said) > MESSAGE:
        rows.append(f"  … {MESSAGE} of {len(said)} lines shown")
    rows += [f"  {parts.noted(failure.added)}"] if failure.added else []
    if failure.held:
        rows.append(f"  with {parts.value_list(failure.held, len(failure.held), 400)}")
    return shorten("\n".join((*rows, *_background(failure))), limit)


def _background(failure: TestFailure) -> list[str]:
    """What the exception came from and what it holds: each by its place, with values of the call that it was raised in."""
    rows: list[str] = []
    words = ["from"] * len(failure.causes) + ["holds"] * len(failure.members)
    for number, (word, text) in enumerate(zip(words, (*failure.causes, *failure.members), strict=True)):
        rows.append(f"  {word} {shorten(escape(' '.join(text.split())), 240)}")
        if number < len(failure.beside):
            beside = failure.beside[number]
            rows += [f"    {parts.noted(beside.added)}"] if beside.added else []
            rows += [f"    {parts.value_list(beside.values, None, 240)}"] if beside.values else []
    return rows


def _calls(failure: TestFailure, limit: int) -> str:
    """The calls that made what the failing line uses, each with what it returned; in short where they are many."""
    if not failure.calls:
        return ""
    names = ", ".join(failure.names[:4])
    head = f"calls that made {escape(names)}, returned:" if names else "calls that led there, returned:"
    rows = [_call(each) for each in failure.calls]
    total = max(failure.calls_total, len(rows))
    if total <= CALLS and len("\n".join((head, *rows))) <= limit:
        return "\n".join((head, *rows))
    rows = [_call_in_short(each) for each in failure.calls]
    order = sorted(range(len(rows)), key=lambda at: (failure.calls[at].rank, at))[:CALLS]
    if (
        failure.calls[order[0]].rank == 0
    ):  # where some gave what the line holds, those that have no part in it say nothing
        order = [at for at in order if failure.calls[at].rank < 2]
    _, count = parts.joined([head, *(rows[at] for at in order)], "\n", limit, 40)
    shown = [head, *(rows[at] for at in sorted(order[: count - 1]))]
    return "\n".join(shown) + (f"\n  … {count - 1} of {total:,} calls shown" if count - 1 < total else "")


def _call(call: MadeCall) -> str:
    given = ", ".join(parts.value(each, limit=60) for each in call.arguments)
    held = "  " + " ".join(parts.value(each, limit=40) for each in call.values) if call.values else ""
    return shorten(f"{_called(call, given, 120)}{held}", 300)


def _call_in_short(call: MadeCall) -> str:
    """One that only lies between others by its name and place; of the others what they were given and came to."""
    if call.between:
        return f"{'  ' * (call.depth + 1)}{source(call.function)}(…) {parts.place(call.file, call.line)}"
    return shorten(_called(call, ", ".join(parts.value(each, limit=40) for each in call.arguments), 80), 240)


def _called(call: MadeCall, given: str, limit: int) -> str:
    came = f" raised {shorten(escape(call.raised), limit)}" if call.raised else ""
    came = came or f" = {shorten(escape(call.result or ''), limit)}"
    if call.yielded:
        ended = came if call.raised or call.result not in parts.NO_RESULT else ""
        came = f" yielded {parts.yielded(call.yielded, call.yielded_total, limit)}{ended}"
    times = f" x {call.count:,}" if call.count > 1 else ""
    where = f" {parts.place(call.file, call.line)}" if call.file else ""
    return f"{'  ' * (call.depth + 1)}{source(call.function)}({given}){came}{where}{times}"


# Many


def _entries(result: TestReport, room: Room) -> list[str]:
    rows: list[str] = []
    total = result.counts.failed + result.counts.uncollected
    most = max(ENTRY, min(2 * ENTRY, room.left // max(total, 1) - 1))  # a few may say more
    for number, each in enumerate(result.failures):
        entry = shorten(f"{title(each)}\n{_brief(each, most)}", most)
        if len(entry) + 40 > room.left and number:
            break
        rows.append(room.take(entry))
    if len(rows) < total:
        rows.append(room.take(f"… {len(rows):,} of {total:,} failures shown"))
    return rows


def _brief(failure: TestFailure, most: int) -> str:
    first = failure.message.strip().splitlines()[:1]
    said = failure.type + (": " if failure.type and first else "") + "".join(first)
    line = next((each.text for each in failure.frames[0].source if each.here), "") if failure.frames else ""
    held = "  ".join(parts.value(each, limit=most // 4) for each in failure.operands)
    rows = [f"  {shorten(source(line), 120)}" if line else "", f"  {shorten(escape(said), 160)}" if said else ""]
    rows += [f"  holds {shorten(escape(' '.join(each.split())), 200)}" for each in failure.members[:MEMBERS]]
    rows += [f"  … {MEMBERS} of {len(failure.members)} shown"] if len(failure.members) > MEMBERS else []
    return "\n".join(row for row in (*rows, f"  {held}" if held else "") if row)


def _others(result: TestReport) -> str:
    """The further failures by name."""
    rest = result.failures[1:]
    total = result.counts.failed + result.counts.uncollected - 1
    if not rest:
        return ""
    names = [escape(each.id) + (f" {_part(each.label, 60)}" if each.label else "") for each in rest[:OTHERS]]
    shown, count = parts.joined(names, ", ", 500, 20)
    return (
        f"also failed: {shown}"
        + (f", … {total - count:,} more" if total > count else "")
        + f" ({wording.option('all')})"
    )
