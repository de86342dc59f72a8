"""What the looking verbs answer, as text: stacks, frames, values, threads, source, modules, output."""

from __future__ import annotations

import re

from ..model import views, wording
from ..model.values import ExceptionInfo, Frames, Modules, Thread, Values
from . import parts
from .escape import escape, shorten, source
from .outcomes import exception
from .text import clipped, notes, show

STREAMS = ("stdout", "stderr", "log", "console")


@show.register
def _frames(result: Frames, name: str, budget: int) -> str:
    rows = []
    for frame in result.frames:
        mark = "" if frame.kind == "user" else f"  ({escape((frame.module or 'library').partition('.')[0])})"
        row = f"{frame.id} {parts.frame_place(frame, generated=result.generated)}{mark}"
        rows.append(f"  -- {escape(frame.awaited)} --\n{row}" if frame.awaited else row)
    if result.total is None and rows:  # a debugger that has not gone to its end does not know how deep it is
        more = f"\n… {len(rows):,} from {result.start:,}; there may be more ({wording.option('start', result.start + len(rows))})"
        return clipped(rows, budget - len(more)) + more
    said = "".join(f"\n{note}" for note in notes(result.notes))
    return clipped(rows, budget - len(said), total=result.total, start=result.start) + said


@show.register
def _frame_view(result: views.FrameView, name: str, budget: int) -> str:
    head = f"{result.frame.id} {parts.where(result.frame)}"
    source = parts.source_lines(result.source, budget // 2)
    held = parts.value_list(result.locals, result.locals_total, budget - len(head) - len(source))
    return "\n".join(part for part in (head, source, f"locals: {held}" if held else "", *notes(result.notes)) if part)


@show.register
def _values(result: Values, name: str, budget: int) -> str:
    rows = []
    for item in result.values:
        if not item.type and not item.value:  # a statement, which has no value
            rows.append(f"{escape(item.name)}  (done)")
            continue
        row = f"{escape(item.name)} = {shorten(escape(item.value), budget)}"
        if item.type and not item.error:
            row += f"  ({escape(item.type)})" if _worth_telling(item.type) else ""
        if item.ref:
            row += f" {item.ref}"
        rows.append(row + parts.size(item))
    room = budget // 2 if result.output or result.stderr else budget
    said = [
        parts.printed(stream, text, room // 2 - 1)
        for stream, text in (("output", result.output), ("stderr", result.stderr))
        if text
    ]
    spans = [_SLICE.fullmatch(item.name) for item in result.values]
    ends = [int(span[1]) for span in spans if span]
    return "\n".join(
        [clipped(rows, room, total=result.total, start=result.start, ends=ends), *said, *notes(result.notes)]
    )


_SLICE = re.compile(r"\[\d+:(\d+)\]")
"""What a piece of a long text is called; start and total count its characters then."""


_OBVIOUS = {"int", "float", "str", "bool", "NoneType", "list", "dict", "tuple", "set", "bytes", ""}


def _worth_telling(type_name: str) -> bool:
    """Whether the text of a value does not say its type already."""
    return type_name not in _OBVIOUS


@show.register
def _scopes(result: views.Scopes, name: str, budget: int) -> str:
    rows = [
        f"{escape(each.name)}{f' {each.ref}' if each.ref else ''}{f' ({each.total:,})' if each.total is not None else ''}"
        for each in result.scopes
    ]
    return clipped(rows, budget)


@show.register
def _threads(result: views.Threads, name: str, budget: int) -> str:
    rows = []
    for thread in result.threads if not result.stacks else ():
        mark = "> " if thread.id == result.focus else "  "
        rows.append(f"{mark}{_thread(thread)}")
    for same in result.stacks:
        of = ", ".join(_thread(each) for each in result.threads if each.id in same.threads)
        mark = "> " if result.focus in same.threads else "  "
        rows.append(f"{mark}{len(same.threads):,}x {shorten(of, 200)}")
        if same.frames:
            rows.append(f"     {parts.stack_line(same.frames, same.total, 400)}")
    more = ("… and more, which the debugger does not list",) if result.at_least else ()
    whole = len(rows) if result.stacks else result.total or len(rows)
    if result.stacks and (left := (result.total or 0) - len(result.threads)) > 0:
        more = (
            f"… and {left:,} more threads ({wording.option('start', None)}, {wording.option('count', None)})",
            *more,
        )
    return "\n".join((clipped(rows, budget - len("\n".join(more)), total=whole), *more))


def _thread(thread: Thread) -> str:
    state = "" if thread.state == "unknown" else f" {thread.state}"
    return f"{thread.id} {escape(thread.name)}{state}"


@show.register
def _source(result: views.Source, name: str, budget: int) -> str:
    rows = parts.source_lines(result.lines, budget)
    return "\n".join([f"{escape(result.file)}, {result.total} lines", rows, *notes(result.notes)])


@show.register
def _modules(result: Modules, name: str, budget: int) -> str:
    rows = [
        f"{escape(each.name)}{f' {each.version}' if each.version else ''} {escape(each.file or '')}".rstrip()
        for each in result.modules
    ]
    return clipped(rows, budget, total=result.total, start=result.start)


@show.register
def _exception(result: ExceptionInfo, name: str, budget: int) -> str:
    stack = parts.stack_line(result.frames, None, budget) if result.frames else ""
    return exception(result, budget // 2) + (f"\npassed: {stack}" if stack else "")


@show.register
def _output(result: views.OutputPage, name: str, budget: int) -> str:
    last = [f"{result.dropped:,} bytes before this are not shown"] if result.dropped else []
    last += notes(result.notes)
    last += [f"cursor {result.cursor}"] if result.cursor else []
    room = budget - sum(len(row) + 1 for row in last)
    said = [(stream, getattr(result, stream)) for stream in STREAMS if getattr(result, stream)]
    rows: list[str] = []
    for number, (stream, body) in enumerate(said):
        printed = body.rstrip("\n").split("\n")
        share = room // (len(said) - number) - 1
        one = f"{stream}: {source(printed[0])}"
        rows.append(one if len(printed) == 1 and len(one) <= share else parts.block(stream, printed, share))
        room -= len(rows[-1]) + 1
    return "\n".join([*rows, *last])
