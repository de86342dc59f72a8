"""Replies as text: one function a result type, all of it within the caller's budget, hints spelled for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

from ..dispatch import Dispatched, ErrorReply
from ..model import exact, views, wording
from ..model.agents import Installation
from ..model.health import AdapterList, Configured, Health, SetUp
from ..model.machine import Disassembly, Memory, SourceFiles, Written
from ..model.outcomes import Breakpoint, Cancelled, Ended, Exited, Lost, RawReply, Running, Stop
from ..model.reports import CrashReport, HangReport
from ..model.tested import TestReport
from ..model.traces import TraceReport
from ..ops.next_steps import ONCE_MENDED
from ..registry import OPERATIONS
from . import health, machine, parts, probes, reports, tested, traces
from .escape import escape, lines, shorten, source
from .outcomes import headline, outcome

MESSAGE = 1500
"""Characters of an error's message; a program's own errors may be of any length."""
LEAST, LEAST_OF_ERROR = 100, 180
"""Characters that a reply has at any budget: who asks for fewer, as by `stack --limit 3`, means something else by it."""


def text(done: Dispatched, budget: int) -> tuple[str, str]:
    """What goes to stdout and what to stderr."""
    reply = done.reply
    if reply.error is not None:
        return "", shorten(error(reply.error), max(budget - 1, LEAST_OF_ERROR)) + "\n"
    budget = max(budget, LEAST)
    via = f"[via {escape(str(reply.via))}] " if done.introduce and reply.via is not None else ""
    result, name = reply.result, reply.session or ""
    told = headline(name, result) if isinstance(result, Stop | Running | Exited | Lost) else ""
    if len(via) + len(told) >= budget:
        via = ""  # the outcome is told whole, however little room there is
    room = max(budget - len(via) - 1, len(told), 1)
    body = show(result, name, room).rstrip("\n")
    if told not in shorten(body, room):
        body = told
    if done.elsewhere and reply.session and not body.startswith(reply.session):
        via += f"[{reply.session}] "
    return (via + shorten(body, room) + "\n" if body else ""), ""


def error(failure: ErrorReply) -> str:
    row = f"error {failure.code}: {lines(shorten(failure.message, MESSAGE))}"
    if failure.hint and failure.hint.get("once") != ONCE_MENDED:
        row += f" (try: {spelled(failure.hint)})"
    for name, said in failure.detail.items():
        if isinstance(said, str) and said.strip() and said.strip() not in failure.message:
            row += f"\n{name}: {lines(shorten(said.strip(), 2000))}"
    return row


def spelled(hint: Mapping[str, Any]) -> str:
    """A next call as a shell line."""
    op = OPERATIONS.get(str(hint["op"]))
    known = {field.name: field.param for field in op.fields} if op is not None else {}
    words, last = ["dbg", str(hint["op"])], list[str]()
    if once := hint.get("once"):
        return f"{' '.join(words)} again, once {escape(str(once))}"
    for name, given in hint.get("args", {}).items():
        several = () if given is True else given if isinstance(given, list | tuple) else [given]
        each = [shlex.quote(str(one)) for one in several]
        param = known.get(name)
        flag = (param.flag if param else None) or f"--{name.replace('_', '-')}"
        if param and param.last:
            last = ["--", *each]
        elif not name or (param and param.positional):
            words += each
        else:  # a switch has no word
            words += [word for one in each for word in (flag, one)] or [flag]
    return " ".join([*words, *last])


@singledispatch
def show(result: Any, name: str, budget: int) -> str:
    """A result without a text of its own: its JSON, so that nothing is hidden."""
    return shorten(exact.harmless(exact.encode(result)).decode(), budget)


@show.register(Stop)
@show.register(Running)
@show.register(Exited)
@show.register(Lost)
def _outcome(result: Stop | Running | Exited | Lost, name: str, budget: int) -> str:
    return outcome(name, result, budget)


@show.register
def _trace(result: TraceReport, name: str, budget: int) -> str:
    return traces.trace(result, budget)


@show.register
def _breakpoint(result: Breakpoint, name: str, budget: int) -> str:
    return parts.breakpoint_row(result)


@show.register
def _breakpoints(result: views.Breakpoints, name: str, budget: int) -> str:
    if not result.breakpoints:
        return "no breakpoints"
    return clipped([parts.breakpoint_row(each, hits=True) for each in result.breakpoints], budget)


@show.register
def _caught(result: views.Caught, name: str, budget: int) -> str:
    return "\n".join(
        ["catch " + (" ".join(result.catch) or "off"), *(f"note: {escape(note)}" for note in result.notes)]
    )


@show.register
def _cancelled(result: Cancelled, name: str, budget: int) -> str:
    if not result.waits:
        return f"nobody waits for {name}"
    return f"{result.waits} wait{'s' if result.waits > 1 else ''} for {name} ended"


@show.register
def _ended(result: Ended, name: str, budget: int) -> str:
    match result.action:
        case "terminated":
            how = f", exit {result.exit_code}" if result.exit_code else ""
            text = f"{result.session} ended{how}"
        case "detached":
            text = f"{result.session} detached: the program runs on"
        case "already_ended":
            text = f"{result.session} had ended already"
        case "already_detached":
            text = f"{result.session} had been detached already: its program is left as it is"
    if result.also:
        text += f"; also ended: {', '.join(result.also)}"
    if result.left:
        text += f"; detached processes live on: {', '.join(map(str, result.left))} ({wording.call('stop', tree=True)} ends them)"
    return text


@show.register
def _patched(result: views.Patched, name: str, budget: int) -> str:
    head = f"{escape(result.file)} {'would patch' if result.dry_run else 'patched'}"
    return clipped([head, *notes(result.notes)], budget)


@show.register
def _info(result: views.SessionInfo, name: str, budget: int) -> str:
    row = f"{result.name} {result.state}"
    if result.reason:
        row += f" ({escape(result.reason)})"
    if result.frame:
        row += f" at {parts.where(result.frame)}"
    if result.exit_code is not None:
        row += f" {result.exit_code}"
    if result.signal:
        row += f" by {result.signal}"
    if result.command:
        row += f": {escape(shorten(shlex.join(result.command), 100))}"
    details = [
        f"pid {result.pid}{' attached' if result.attached else ''}" if result.pid else "",
        f"{result.bound} of {result.breakpoints} breakpoints bound" if result.breakpoints else "",
        f"{result.output_bytes:,} bytes printed{_lost(result.output_lost)}" if result.output_bytes else "",
        f"at {result.instruction}" if result.instruction else "",
        f"child of {result.parent}" if result.parent else "",
        result.note or "",
    ]
    said = "; ".join(each for each in details if each)
    return row + (f" ({said})" if said else "")


def _lost(count: int) -> str:
    return f", the first {count:,} not kept" if count else ""


@show.register
def _sessions(result: views.SessionList, name: str, budget: int) -> str:
    if not result.sessions:
        return "no sessions here" + (f"; there is {', '.join(result.others)} (sessions --all)" if result.others else "")
    return clipped([_info(each, name, budget) for each in result.sessions], budget)


@show.register
def _capabilities(result: views.Capabilities, name: str, budget: int) -> str:
    note = f"\n{result.note}" if result.note else ""
    return f"can: {', '.join(result.can)}\ncannot: {', '.join(result.cannot)}{note}"


@show.register
def _trust(result: views.Trust, name: str, budget: int) -> str:
    if not result.files:
        return "nothing here brings anything that would have to be trusted"
    rows = []
    for each in result.files:
        rows.append(f"{'no longer trusted' if result.action == 'removed' else each.state}: {escape(each.path)}")
        rows += [f"  {escape(brought)}" for brought in each.brings]
    return clipped(rows, budget)


@show.register
def _configurations(result: views.Configurations, name: str, budget: int) -> str:
    rows = [
        f"{escape(each.name)}: "
        + (f"compound of {escape(', '.join(each.members))}" if each.members else f"{each.request}, {escape(each.type)}")
        for each in result.configurations
    ]
    trust = "" if result.trust == "trusted" else f" ({result.trust}: {wording.call('trust')})"
    return clipped([f"{escape(result.file)}{trust}", *rows], budget)


@show.register
def _health(result: Health, name: str, budget: int) -> str:
    return clipped(health.rows(result), budget)


@show.register
def _set_up(result: SetUp, name: str, budget: int) -> str:
    return clipped(health.set_up_rows(result), budget)


@show.register
def _adapters(result: AdapterList, name: str, budget: int) -> str:
    return clipped(health.adapter_rows(result), budget)


@show.register
def _settings(result: Configured, name: str, budget: int) -> str:
    return clipped(health.setting_rows(result), budget)


@show.register
def _installation(result: Installation, name: str, budget: int) -> str:
    return clipped(health.installation_rows(result), budget)


@show.register
def _tool(result: views.ToolInfo, name: str, budget: int) -> str:
    how = f", by its {result.how}" if result.how else ""
    return f"{result.tool} {result.version}{how}" + (f", debugging pid {result.pid}" if result.pid else "")


@show.register
def _fed(result: views.Fed, name: str, budget: int) -> str:
    return f"wrote {result.bytes} byte{'s' * (result.bytes != 1)}" + (" and closed the input" if result.eof else "")


@show.register
def _memory(result: Memory, name: str, budget: int) -> str:
    return clipped(machine.memory_rows(result), budget)


@show.register
def _written(result: Written, name: str, budget: int) -> str:
    return machine.written(result)


@show.register
def _disassembly(result: Disassembly, name: str, budget: int) -> str:
    return clipped(machine.disassembly_rows(result), budget)


@show.register
def _source_files(result: SourceFiles, name: str, budget: int) -> str:
    return clipped(machine.source_rows(result), budget, total=result.total, start=result.start)


@show.register
def _raw(result: RawReply, name: str, budget: int) -> str:
    if result.body is not None:
        return shorten(exact.indented(result.body), budget)
    return "\n".join(
        source(line) for line in shorten(result.text, budget).split("\n")
    )  # tables and instructions have tabs


@show.register
def _crash(result: CrashReport, name: str, budget: int) -> str:
    return reports.crash(result, budget)


@show.register
def _hang(result: HangReport, name: str, budget: int) -> str:
    return reports.hang(result, budget)


@show.register
def _probe(result: views.ProbeReport, name: str, budget: int) -> str:
    return probes.report(result, budget)


@show.register
def _tests(result: TestReport, name: str, budget: int) -> str:
    return tested.report(result, budget)


def clipped(rows: list[str], budget: int, total: int | None = None, start: int = 0, ends: Sequence[int] = ()) -> str:
    """Rows as far as the budget goes, and how many there are in all where some are missing; `ends` are where pieces of a
    text end."""
    whole = max(total or 0, start + len(rows) if rows and not ends else 0)
    if not rows:
        return f"nothing from {start:,} on: there are {whole:,}" if whole else "nothing"
    spare = _last_word(whole, start)
    cut = start > 0 or (ends[-1] if ends else len(rows)) < whole
    shown, count = parts.joined(rows, "\n", budget - (spare if cut else 0), spare)
    if not cut and count == len(rows):
        return shorten(shown, budget)
    shares = ends[count - 1] - start if ends else count
    last = f"\n… {shares:,} of {whole:,} shown" + (f", from {start:,}" if start else "")
    return shorten(shown, max(budget - spare, 0)) + last


def fitting(rows: list[str], budget: int, total: int) -> int:
    """How many of these rows, which are not all of them where `total` is more, `clipped` has room for."""
    spare = _last_word(total, 0)
    return parts.joined(rows, "\n", budget - (spare if len(rows) < total else 0), spare)[1]


def _last_word(whole: int, start: int) -> int:
    """Room for the row that says how many are shown."""
    return len(f"\n… {whole:,} of {whole:,} shown, from {start:,}")


def notes(said: Sequence[str]) -> list[str]:
    """What else there is to say, each in a row of its own."""
    return [f"note: {escape(note)}" for note in said]
