"""Condition, hit count and log text of a breakpoint, as its debugger wants them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ...model.backend import Wanted
from . import translate
from .launch import DapLaunch, Quirk

Arguments = dict[str, Any]

_BEGINS, _ENDS = "\x01", "\x02"
_MARKED = re.compile(rf"{_BEGINS}(\w+){_BEGINS}(.*)", re.DOTALL)
_LONGEST = 64 * 1024
"""So many characters a log point may print at once, in a debugger that tells them line by line."""
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
        told["logMessage"] = f"{_BEGINS}{wanted.id}{_BEGINS}{wanted.log}{_ENDS}" if marked else wanted.log
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


def name(launch: DapLaunch, wanted: Wanted) -> str | None:
    """A function's name as the debugger has it."""
    symbol = launch.asked_name(wanted.symbol) if wanted.symbol else wanted.symbol
    return launch.in_module(wanted.module, symbol) if wanted.module and symbol else symbol


def told_apart(
    launch: DapLaunch, asked: list[Arguments], answers: Sequence[Mapping[str, Any]]
) -> list[Arguments] | None:
    """What was asked for, with names of the user's own functions for those that could be any of several; None if none could."""
    said = [translate.text(each.get("message")) or "" for each in answers]
    own = {
        number: launch.told_apart(asked[number]["name"], why) for number, why in enumerate(said[: len(asked)]) if why
    }
    if not any(own.values()):
        return None
    return [{**each, "name": own.get(number) or each["name"]} for number, each in enumerate(asked)]


def logged(launch: DapLaunch, text: str) -> tuple[str, str] | None:
    """The breakpoint and the text of a line that a log point made among what the debugger says."""
    if Quirk.LOG_POINTS_ARE_CONSOLE not in launch.quirks or not (match := _MARKED.match(text)):
        return None
    return match[1], plain(launch, match[2].replace(_ENDS, ""))


class LogLines:
    """The lines of one log text, which lldb-dap 22.1 tells one by one, put together again."""

    def __init__(self) -> None:
        self._begun = ""

    def whole(self, text: str) -> str | None:
        """What was said, all of it; None while a log text has not come to its end."""
        if not self._begun and not text.startswith(_BEGINS):
            return text
        said, self._begun = self._begun + text, ""
        if _ENDS in said or len(said) > _LONGEST:
            return said
        self._begun = said
        return None


def plain(launch: DapLaunch, line: str) -> str:
    """The line of a log point without the debugger's own words; what failed in it stands there as `<why>`."""
    line = launch.log_prefix.sub("", line) if launch.log_prefix else line
    return launch.log_failure.sub(r"<\1>", line) if launch.log_failure else line
