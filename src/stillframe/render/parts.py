"""The parts of a stop as text, each within a number of characters: frames, source, locals, output, the lines passed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ..model.outcomes import Breakpoint, Change, DoResult, Passed, SourceLine
from ..model.values import Frame, Value
from .escape import escape, quoted, shorten, source

VALUE = 200
"""Characters of one value in a list of values."""
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
    if item.total is not None and (item.truncated or item.ref):
        text += f" ({item.total:,})"
    return text


def source_lines(lines: Sequence[SourceLine], limit: int) -> str:
    """Numbered lines, the one about to run marked; only that one where there is no room."""
    if not lines:
        return ""
    width = len(str(max(line.line for line in lines)))
    rows = [f"{'>' if line.here else ' '} {line.line:>{width}}  {source(line.text)}" for line in lines]
    whole = "\n".join(rows)
    if len(whole) <= limit:
        return whole
    here = next((row for row, line in zip(rows, lines, strict=True) if line.here), rows[-1])
    return shorten(here, max(limit, 20))


def stack_line(frames: Sequence[Frame], total: int | None, limit: int) -> str:
    """`f0 total shop.py:14 < f1 …`, runs of library frames folded; outer frames go first where there is no room."""
    folded: list[tuple[str, int]] = []
    for library, run in groupby(frames, key=lambda frame: frame.kind == "library"):
        group = list(run)
        if library:
            folded.append((_fold(group), len(group)))
        else:
            folded += [
                (f"{frame.id} {escape(frame.function)} {place(frame.file, frame.line)}".lstrip(), 1) for frame in group
            ]
    shown: list[str] = []
    count = 0
    for text, number in folded:
        if shown and len(" < ".join([*shown, text])) + 24 > limit:
            break
        shown.append(text)
        count += number
    missing = max(total or 0, len(frames)) - count
    return " < ".join(shown) + (f" < … {missing:,} more" if missing else "")


def _fold(frames: Sequence[Frame]) -> str:
    first, last = frames[0].id, frames[-1].id
    names = list(dict.fromkeys((frame.module or "library").partition(".")[0] for frame in frames))
    ids = first if first == last else f"{first}-{last}"
    return f"{ids}: {len(frames)} in {escape(', '.join(names[:3]))}"


def value_list(values: Sequence[Value], total: int | None, limit: int) -> str:
    """`a=1, b=2`, as many as there is room for, and how many there are in all where some are missing."""
    shown: list[str] = []
    length = 0
    for item in values:
        text = value(item)
        if shown and length + len(text) + 30 > limit:
            break
        shown.append(shorten(text, max(limit, 40)))
        length += len(text) + 2
    whole = max(total or 0, len(values))
    cut = f", … ({len(shown)} of {whole:,} shown)" if len(shown) < whole else ""
    return ", ".join(shown) + cut


def printed(name: str, text: str, limit: int) -> str:
    """`output: "…"`, or a block where it is of many lines: the newest part of it where there is no room for all."""
    if not text:
        return ""
    rows = text.rstrip("\n").split("\n")
    if len(rows) > BLOCK:
        return _block(name, rows, limit)
    body = quoted(text)
    cut = f" (the last of {len(text):,} characters)"
    if len(name) + 2 + len(body) <= limit:
        return f"{name}: {body}"
    room = limit - len(name) - 2 - len(cut) - 3
    if room < 8:
        return f"{name}: {len(text):,} characters"
    return f'{name}: "…{quoted(text[-room:])[1:-1][-room:]}"{cut}'


def _block(name: str, rows: Sequence[str], limit: int) -> str:
    shown: list[str] = []
    room = max(limit - 60, 40)
    for row in reversed(rows):
        text = f"  {shorten(source(row), 400)}"
        room -= len(text) + 1
        if room < 0 and shown:
            break
        shown.insert(0, text)
    missing = len(rows) - len(shown)
    return "\n".join([f"{name}:" + (f" the last {len(shown)} of {len(rows):,} lines" if missing else ""), *shown])


def change(item: Change) -> str:
    if item.old is None:
        return f"{escape(item.name)} = {shorten(escape(item.new or ''), VALUE)}"
    old, new = escape(item.old), escape(item.new or "")
    return f"{escape(item.name)} {shorten(old, VALUE)} -> {shorten(new, VALUE)}"


def trail(passed: Sequence[Passed], limit: int) -> str:
    """The lines that were run, one row each, with what each changed; the oldest go where there is no room."""
    rows: list[str] = []
    for line in passed:
        row = place(line.file, line.line)
        if line.function:
            row += f" in {escape(line.function)}"
        if line.changes:
            row += " " + ", ".join(change(each) for each in line.changes)
        rows.append(row)
    kept, room = 0, limit - 24
    for row in reversed(rows):
        room -= len(row) + 1
        if room < 0 and kept:
            break
        kept += 1
    left_out = len(rows) - kept
    return "\n".join([f"… {left_out} lines before", *rows[left_out:]] if left_out else rows)


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
            row += f" (asked for {asked.line}, which holds no code)"
        elif asked.symbol:
            row += f" ({escape(asked.symbol)})"
        if item.state == "unconfirmed":
            row += ": the debugger does not say whether it can stop there"
        elif item.state == "pending" and item.message:
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
