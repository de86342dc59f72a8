"""Condition, hit count and log text of a breakpoint, as its debugger wants them."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from ...model.backend import Wanted
from .launch import DapLaunch, Quirk

Arguments = dict[str, Any]

_MARKED = re.compile(r"\x01(\w+)\x01(.*)", re.DOTALL)
_RULES = {"exactly": "", "from": ">= ", "every": "% "}


def terms(launch: DapLaunch, wanted: Wanted) -> Arguments:
    """What the debugger is told of when to stop, and what to print instead."""
    told: Arguments = {}
    condition = wanted.condition
    if wanted.hit and launch.count_hits:
        condition = launch.count_hits(condition, wanted.id, wanted.hit)
    elif wanted.hit:
        told["hitCondition"] = _RULES[wanted.hit.kind] + str(wanted.hit.number)
    if condition:
        told["condition"] = condition
    if wanted.log:
        marked = Quirk.LOG_POINTS_ARE_CONSOLE in launch.quirks
        told["logMessage"] = f"\x01{wanted.id}\x01{wanted.log}" if marked else wanted.log
    return told


def of_line(launch: DapLaunch, wanted: Wanted, *, helped: bool) -> Arguments:
    """A line with its terms."""
    arguments: Arguments = {"line": wanted.line}
    if wanted.column is not None:
        arguments["column"] = wanted.column
    told = terms(launch, wanted)
    if wanted.symbol and helped and (condition := launch.at_entry(told.get("condition"), wanted.symbol)):
        told["condition"] = condition  # a function's first line may be come to again, by a loop that begins there
    return {**arguments, **told}


def of_function(launch: DapLaunch, wanted: Wanted, *, helped: bool) -> Arguments:
    """A function breakpoint of ours is a trip wire, replaced by a line as soon as it is hit; terms count there."""
    if launch.keeps_functions:
        return {**terms(launch, wanted), **({"module": wanted.module} if wanted.module else {})}
    return {} if helped else terms(launch, replace(wanted, log=None))


def logged(launch: DapLaunch, text: str) -> tuple[str, str] | None:
    """The breakpoint and the text of a line that a log point made among what the debugger says."""
    if Quirk.LOG_POINTS_ARE_CONSOLE not in launch.quirks or not (match := _MARKED.match(text)):
        return None
    return match[1], plain(launch, match[2])


def plain(launch: DapLaunch, line: str) -> str:
    """The line of a log point without the debugger's own words; what failed in it stands there as `<why>`."""
    line = launch.log_prefix.sub("", line) if launch.log_prefix else line
    return launch.log_failure.sub(r"<\1>", line) if launch.log_failure else line
