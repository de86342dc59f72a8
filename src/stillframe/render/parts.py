"""The parts of a stop as text, each within a number of characters: frames, source, locals, output, the lines passed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from ..model.outcomes import Breakpoint, Change, DoResult, Passed, SourceLine
from ..model.values import Frame, Value
from . import changes
from .escape import escape, quoted, shorten, source

VALUE = 200
"""Characters of one value in a list of values."""
SHORTER = (VALUE, 120, 80, 50, 30)
"""The same where there is no room for all of them: what is long gives way before anything is left out."""
BESIDE = 80
"""Characters of a value of which the part that matters is told as well."""
_OWNER = re.compile(r"[A-Za-z_$][\w$]*(?=\.|\[|->|\?\.)")
"""The name that a part goes by: `order` of `order.lines[0]`."""
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
"""Which tells nothing, and costs as much as what it colours; JSON and `output` have it."""
BLOCK = 3
"""Lines of printed text that are still told as one quoted line."""


def place(file: str | None, line: int | None) -> str:
    if file is None:
        return "?"
    return escape(file) if line is None else f"{escape(file)}:{line}"


def where(frame: Frame) -> str:
    return f"{place(frame.file, frame.line)} in {escape(frame.function)}"


def value(item: Value, *, limit: int = VALUE) -> str:
    """`name=text`, with the handle and the length where something was cut."""
    text = f"{escape(item.name)}={shorten(escape(item.value), limit)}"
    if item.ref is not None:
        text += f" {item.ref}"
    return text + size(item)


def size(item: Value) -> str:
    """` (640 dicts, keys sku price qty)`, or only how long it is, where not all of it is told."""
    if item.shape:
        return f" ({shorten(escape(item.shape), VALUE)})"
    return f" ({item.total:,})" if item.total is not None and (item.truncated or item.ref) else ""


def source_lines(lines: Sequence[SourceLine], limit: int, mark: str = ">") -> str:
    """Numbered lines, the one about to run marked; only that one where there is no room. `mark`: a blank where it has run."""
    if not lines:
        return ""
    width = len(str(max(line.line for line in lines)))
    rows = [f"{mark if line.here else ' '} {line.line:>{width}}  {source(line.text)}" for line in lines]
    whole = "\n".join(rows)
    if len(whole) <= limit:
        return whole
    here = next((row for row, line in zip(rows, lines, strict=True) if line.here), rows[-1])
    return shorten(here, limit) if limit > width + 8 else ""


def frame_place(frame: Frame, *, generated: bool) -> str:
    """`total shop.ts:14`, and where that is in what really runs, if that is wanted."""
    runs = f" [{escape(frame.generated)}]" if generated and frame.generated else ""
    return f"{escape(frame.function)} {place(frame.file, frame.line)}{runs}"


def stack_line(
    frames: Sequence[Frame], total: int | None, limit: int, *, generated: bool = False, more: bool = False
) -> str:
    """`f0 total shop.py:14 < f1 …`, runs of library frames and recursion folded; outer frames go first where there is no room.

    ` <~ ` stands before a call that started those before it without waiting for them. `more`: there are outer ones, nobody
    knows how many.
    """
    folded: list[tuple[str, int]] = []
    for hop in _hops(frames):
        rows: list[tuple[str, int]] = []
        for library, run in groupby(hop, key=lambda frame: frame.kind == "library"):
            group = list(run)
            rows += [(_fold(group), len(group))] if library else _recursion(group, generated=generated)
        arrows = [" <~ " if folded else "", *[" < "] * (len(rows) - 1)]
        folded += [(arrow + text, number) for arrow, (text, number) in zip(arrows, rows, strict=True)]
    whole = max(total or 0, len(frames))
    shown, count = joined([text for text, _ in folded], "", limit, len(f" < … {whole:,} more"))
    missing = whole - sum(number for _, number in folded[:count])
    further = f" < … {missing:,} more" if missing else " < … more" if more else ""
    return shorten(shown + further, limit)


def _hops(frames: Sequence[Frame]) -> list[list[Frame]]:
    """The frames in runs of calls that wait for each other."""
    hops: list[list[Frame]] = []
    for frame in frames:
        if frame.awaited or not hops:
            hops.append([])
        hops[-1].append(frame)
    return hops


def _recursion(frames: Sequence[Frame], *, generated: bool) -> list[tuple[str, int]]:
    """Frames, each with how many it stands for: a function that called itself from the same line is told once."""
    rows = []
    for where, run in groupby(frames, key=lambda frame: frame_place(frame, generated=generated)):
        same = list(run)
        times = f" x {len(same):,}" if len(same) > 1 else ""
        rows.append((f"{_ids(same)} {where}{times}".lstrip(), len(same)))
    return rows


def joined(texts: Sequence[str], between: str, limit: int, spare: int) -> tuple[str, int]:
    """As many texts as fit, keeping `spare` characters for a last word about the rest; at least the first one."""
    length, count = 0, 0
    for text in texts:
        length += len(text) + (len(between) if count else 0)
        if count and length > limit - (spare if count + 1 < len(texts) else 0):
            break
        count += 1
    return between.join(texts[:count]), count


NOTED = 400
"""Characters of what was added to an exception, such as the example by which a property was found to be false."""


def noted(notes: Sequence[str]) -> str:
    """What was added to an exception on its way, in one line: each such note may be a line of a story."""
    return f"noted: {shorten(escape('; '.join(' '.join(each.split()) for each in notes)), NOTED)}"


NO_RESULT = (None, "None", "undefined")
"""What a generator returns that only yields."""


def yielded(values: Sequence[str], total: int, limit: int) -> str:
    """What a generator gave: all of it where there is room, else the first values and the last, of how many."""
    every = [shorten(escape(each), limit // 2) for each in values]
    whole = ", ".join(every)
    if len(every) == total and len(whole) <= limit:
        return whole
    first, count = joined(every[:-1], ", ", limit // 2, 0)
    between = ", … " if count + 1 < total else ", "
    return f"{total:,} values: {first}{between}{every[-1]}"


def _ids(frames: Sequence[Frame]) -> str:
    first, last = frames[0].id, frames[-1].id
    return first if first == last else f"{first}-{last}"


def _fold(frames: Sequence[Frame]) -> str:
    names = list(dict.fromkeys((frame.module or "library").partition(".")[0] for frame in frames))
    ids = f"{_ids(frames)}: " if frames[0].id else ""  # the frames of a traceback have no names of their own
    return f"{ids}{len(frames)} in {escape(', '.join(names[:3]))}"


def value_list(values: Sequence[Value], total: int | None, limit: int) -> str:
    """`a=1, b=2`: all of them where that can be, with less of the long ones; else as many as there is room for, and how many
    there are in all."""
    whole = max(total or 0, len(values))
    said = f", … ({whole:,} of {whole:,} shown)"
    room = limit - (len(said) if whole > len(values) else 0)
    owners = {found[0] for item in values if (found := _OWNER.match(item.name))}
    shown, count = "", 0
    for most in SHORTER:
        texts = [value(item, limit=min(most, BESIDE) if item.name in owners else most) for item in values]
        shown, count = joined(texts, ", ", room, len(said))
        if count == len(values) and len(shown) <= limit:
            break
    else:  # short values that are told whole are worth more than the beginnings of long ones
        brief = [text for item, text in zip(values, texts, strict=True) if len(item.value) <= SHORTER[-1]]
        shown, count = max((shown, count), joined(brief, ", ", room - len(said), 0), key=lambda each: each[1])
    if count == whole:
        return shorten(shown, limit)
    cut = f", … ({count} of {whole:,} shown)"
    return shorten(shown, max(limit - len(cut), 0)) + cut


def printed(name: str, text: str, limit: int) -> str:
    """`output: "…"`, or a block where it is of many lines: the newest part of it where there is no room for all."""
    text = _COLOUR.sub("", text)
    if not text:
        return ""
    rows = text.rstrip("\n").split("\n")
    if len(rows) > BLOCK:
        return block(name, rows, limit)
    body = quoted(text)
    cut = f" (the last of {len(text):,} characters)"
    if len(name) + 2 + len(body) <= limit:
        return f"{name}: {body}"
    room = limit - len(name) - 2 - len(cut) - 3
    if room < 8:
        return f"{name}: {len(text):,} characters"
    return f'{name}: "…{quoted(text[-room:])[1:-1][-room:]}"{cut}'


def beginning(name: str, text: str, limit: int) -> str:
    """The first lines of what was printed, as many as there is room for."""
    shown: list[str] = []
    room = limit - len(f"{name} began:")
    for row in _COLOUR.sub("", text).rstrip("\n").split("\n"):
        told = f"  {shorten(source(row), 400)}"
        room -= len(told) + 1
        if room < 0:
            break
        shown.append(told)
    return "\n".join([f"{name} began:", *shown]) if any(map(str.strip, shown)) else ""


def block(name: str, rows: Sequence[str], limit: int) -> str:
    """Indented lines under their name, the newest that fit."""
    shown: list[str] = []
    room = limit - len(f"{name}: the last {len(rows):,} of {len(rows):,} lines")
    for row in reversed(rows):
        most = 400 if shown else max(8, min(400, room - 3))  # something of the newest, however long it is
        text = f"  {shorten(source(row), most)}"
        room -= len(text) + 1
        if room < 0:
            break
        shown.insert(0, text)
    cut = f" the last {len(shown):,} of {len(rows):,} lines" if len(shown) < len(rows) else ""
    return "\n".join([f"{name}:{cut}", *shown])


def change(item: Change) -> str:
    if item.old is None:
        return f"{escape(item.name)} = {shorten(escape(item.new or ''), VALUE)}"
    return changes.by_known_parts(item, VALUE) or changes.change(item.name, item.old, item.new or "", VALUE)


def trail(passed: Sequence[Passed], limit: int) -> str:
    """The lines that were run, one row each, with what each changed; the oldest go where there is no room."""
    rows = [shorten(_passed(line), limit) for line in passed]
    kept, room = 0, limit - 24
    for row in reversed(rows):
        room -= len(row) + 1
        if room < 0 and kept:
            break
        kept += 1
    left_out = len(rows) - kept
    return "\n".join([f"… {left_out} lines before", *rows[left_out:]] if left_out else rows)


def _passed(line: Passed) -> str:
    changes = ", ".join(change(each) for each in line.changes)
    if line.line is None and line.function:
        return f"since held in {escape(line.function)} before: {changes}"
    row = place(line.file, line.line) + (f" in {escape(line.function)}" if line.function else "")
    return f"{row} {changes}" if changes else row


def beside(result: DoResult) -> str:
    """`curl exited 0: "…"`."""
    word = escape(shorten(result.command, 60))
    if result.running:
        return f"do: {word} is still running"
    said = f": {quoted(shorten(result.output, 400))}" if result.output else ""
    return f"do: {word} exited {result.exit_code}{said}"


def breakpoint_row(item: Breakpoint, *, hits: bool = False) -> str:
    """What was asked for and what became of it, in a line."""
    asked, actual = item.requested, item.actual
    wanted = asked.symbol or place(asked.file, asked.line)
    if asked.text and asked.file is None:
        wanted = asked.text
    row = f"{item.id} {item.state}"
    if item.state in ("bound", "unconfirmed") or (actual and item.state == "pending"):
        row += f" at {place(actual.file, actual.line) if actual else wanted}"
        if actual and asked.line and actual.line != asked.line and not asked.text:
            row += f" (asked for {asked.line}{'' if item.message else ', which holds no code'})"
        elif actual and actual.column:
            row += f":{actual.column}" + (f" (asked for {asked.column})" if actual.column != asked.column else "")
        elif asked.symbol and actual:
            row += f" ({escape(asked.symbol)})"
        if item.state == "unconfirmed":
            row += ": the debugger does not say whether it can stop there"
        elif item.message:
            row += f": {escape(item.message)}"
    else:
        row += f": {escape(item.message)}" if item.message else f" at {escape(wanted)}"
        if not (item.message or "").startswith(str(asked.file)) and item.message:
            row = f"{item.id} {item.state} at {escape(wanted)}: {escape(item.message)}"
    return row + _rules(item) + (f", hits {item.hits}" if hits and item.hits else "")


def _rules(item: Breakpoint) -> str:
    rules = [
        f"if {escape(item.condition)}" if item.condition else "",
        f"hit {item.hit}" if item.hit else "",
        f"log {quoted(item.log)}" if item.log else "",
        "once" if item.once else "",
        "" if item.enabled else "disabled",
    ]
    return "".join(f", {rule}" for rule in rules if rule)
