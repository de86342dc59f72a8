"""What doctor, setup, adapters and config answer, in rows that one can read across."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.agents import Installation, Placed
from ..model.health import (
    AdapterInfo,
    AdapterList,
    Checked,
    Configured,
    DaemonInfo,
    Health,
    InstallStep,
    Proof,
    Setting,
    SetUp,
)
from .escape import escape

_PROOFS = {"answered": "answers", "debugged": "stopped a program and ran it to its end", None: "is there"}


def rows(result: Health) -> list[str]:
    """A row for each debugger that is here or ought to be; those of the catalogue that are not, in one."""
    shown = [each for each in result.debuggers if each.verified or each.state != "missing" or len(result.debuggers) < 3]
    absent = [each.adapter for each in result.debuggers if each not in shown]
    table = _aligned([(_languages(each), _tool(each), _state(each)) for each in shown])
    if absent:
        table.append(f"not here, and unverified: {', '.join(absent)} (dbg doctor NAME tells how they come)")
    for word in result.not_ready:
        table.append(f"not ready: {escape(word)}")
    places = result.directories
    return [
        *table,
        _daemon(result.daemon),
        f"state {places.state}",
        f"config {places.config}",
        f"cache {places.cache}",
        f"tools {places.tools}",
        f"record: {result.record or 'no record yet'}",
    ]


def _languages(each: Checked) -> str:
    return escape(", ".join(each.languages).lower() or each.adapter)


def _tool(each: Checked) -> str:
    if each.state in ("missing", "invalid"):
        return "-"
    return escape(f"{each.tool or each.adapter} {each.version}".rstrip())


def _state(each: Checked) -> str:
    match each.state:
        case "ready":
            took = f" ({each.seconds:g} s)" if each.seconds is not None else ""
            taken = f", and launch takes it for {', '.join(each.taken_for).lower()}" if each.taken_for else ""
            text = f"ok, {_PROOFS[each.proof]}{took}{taken}"
        case "untried":
            text = "is there, untried"
        case "missing":
            text = f"missing: {each.fix}" if each.fix else f"missing: {each.problem}"
        case "invalid":
            text = f"cannot be used: {each.problem}"
        case _:
            text = f"{each.state}: {each.problem}" + (f"; {each.fix}" if each.fix else "")
    if not each.verified and each.state in ("ready", "untried"):
        text += f", unverified, of {each.origin}"
    if each.path and each.state in ("ready", "broken", "untried"):
        text += f"  {each.path}"
    return escape("; ".join([text, *each.notes]))


def _daemon(daemon: DaemonInfo) -> str:
    if daemon.problem:
        return f"daemon cannot be reached: {escape(daemon.problem)}"
    if not daemon.running:
        return "daemon: none runs; the first call that needs one starts it"
    sessions = f"{daemon.sessions} session" + ("s" if daemon.sessions != 1 else "")
    ports = f"listening on {', '.join(map(str, daemon.ports))}" if daemon.ports else "no open ports"
    return (
        f"daemon pid {daemon.pid}, version {daemon.version}, up {daemon.seconds} s, {sessions}, {daemon.rss_mb} MB, {ports}, "
        f"socket {escape(daemon.socket)}"
    )


def _aligned(table: Sequence[tuple[str, str, str]]) -> list[str]:
    """The first two columns as wide as the widest of them."""
    widths = [max((len(row[column]) for row in table), default=0) for column in (0, 1)]
    return [f"{first:{widths[0]}}  {second:{widths[1]}}  {third}" for first, second, third in table]


def set_up_rows(result: SetUp) -> list[str]:
    match result.action:
        case "planned":
            head = ["would run:"] if result.steps else ["nothing is missing"]
            return [*head, *(f"  {escape(each.command)}" for each in result.steps)]
        case "declined":
            return ["nothing was done"]
        case "done":
            return [*(row for each in result.steps for row in _step(each)), *(_proof(each) for each in result.proofs)]


def _step(each: InstallStep) -> list[str]:
    match each.state:
        case "done":
            return [f"done: {escape(each.command)}"]
        case "by_hand":
            return [f"needs root, please run: {escape(each.command)}"]
        case "failed":
            return [f"failed: {escape(each.command)}", *(f"  {escape(line)}" for line in each.said.splitlines())]
        case "planned":
            return [f"not run: {escape(each.command)}"]


def _proof(each: Proof) -> str:
    if each.ok:
        took = f" ({each.seconds:g} s)" if each.seconds is not None else ""
        return escape(
            f"{each.language.lower()}: {each.tool} {each.version} stopped a program of three lines, read a variable and ran it "
            f"to its end{took}"
        )
    return escape(f"{each.language.lower()}: not proven with {each.adapter}: {each.problem}")


def adapter_rows(result: AdapterList) -> list[str]:
    table = _aligned([(each.name, ", ".join(each.languages), _claims(each)) for each in result.adapters])
    return [escape(row) for row in (*table, *result.broken)]


def _claims(each: AdapterInfo) -> str:
    files = " ".join((*each.claims, *each.roots)) or "by name only"
    return files if each.verified else f"{files}  (unverified, of {each.origin})"


def setting_rows(result: Configured) -> list[str]:
    """As the files have them, each with where it is said; and the files, where all settings are told."""
    rows = [escape(_setting(each)) for each in result.settings]
    notes = [f"note: {escape(each)}" for each in result.notes]
    return (
        rows
        if len(rows) == 1
        else [*rows, *notes, escape(f"looked for in {', '.join(result.files)}, later ones holding")]
    )


def _setting(each: Setting) -> str:
    value = str(each.value).lower() if isinstance(each.value, bool) else each.value
    shown = f'"{value}"' if isinstance(each.value, str) else f"{value:g}" if isinstance(value, float) else f"{value}"
    return f"{each.name} = {shown}" + (f"  # {each.origin}" if each.origin else "")


_DONE = ("written", "updated", "removed")


def installation_rows(result: Installation) -> list[str]:
    """A row for each file, those that are as they were left out where others are not."""
    news = [each for each in result.placed if each.state not in ("unchanged", "absent")]
    rows = [_placed(each, result.dry_run) for each in news or result.placed]
    return [*rows, *(f"note: {escape(note)}" for note in result.notes)]


def _placed(each: Placed, dry_run: bool) -> str:
    would = "would be " if dry_run and each.state in _DONE else ""
    text = f"{each.agent} {each.kind}: {would}{each.state} {each.path}"
    if each.backup:
        text += f" (before: {each.backup})"
    return escape(text + (f" ({each.note})" if each.note else ""))
