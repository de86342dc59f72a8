"""What is known of one wanted breakpoint before the debugger is asked, or from our helper; and those that share a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ...model import plainfiles
from ...model.backend import Binding, Wanted
from . import terms, translate
from .launch import DapLaunch, Quirk

Arguments = dict[str, Any]


class Spot(msgspec.Struct):
    """A line that the debugger is to hold, and the wanted breakpoints that share it."""

    line: int
    arguments: Arguments
    owners: list[str] = msgspec.field(default_factory=list[str])
    counts: bool = False
    """Whether it stops by how often it was come to."""


def join(launch: DapLaunch, spots: list[Spot], wanted: Wanted, *, helped: bool) -> str | None:
    """Put one wanted breakpoint on its line; says what is wrong where the line is taken by another kind."""
    arguments = terms.of_line(launch, wanted, helped=helped)
    line = wanted.line or 0
    spot = next((each for each in spots if _is_one(launch, each.arguments, arguments)), None)
    if spot is None:
        spots.append(Spot(line, arguments, [wanted.id], counts=wanted.hit is not None))
    elif spot.arguments == arguments:
        spot.owners.append(wanted.id)
    elif "logMessage" in arguments or "logMessage" in spot.arguments:
        return f"{spot.owners[0]} already holds line {line}, and one of them logs"
    elif launch.either and (wanted.hit or spot.counts):
        return f"{spot.owners[0]} already holds line {line}, and one of them counts its hits"
    elif _is_plain(arguments):
        # One that always stops covers one that stops sometimes.
        spot.arguments, spot.owners = arguments, [wanted.id, *spot.owners]
    elif _is_plain(spot.arguments):
        spot.owners.append(wanted.id)
    elif launch.either:
        both = launch.either.format(spot.arguments["condition"], arguments["condition"])
        spot.arguments = {**spot.arguments, "condition": both}
        spot.owners.append(wanted.id)
    else:
        return f"{spot.owners[0]} already holds line {line} with another condition"
    return None


def _is_one(launch: DapLaunch, one: Arguments, other: Arguments) -> bool:
    """Whether the debugger would take two breakpoints for the same one."""
    if one["line"] != other["line"]:
        return False
    same = one.get("column") == other.get("column")
    by_place = Quirk.ONE_BREAKPOINT_PER_PLACE in launch.quirks and same
    return by_place or Quirk.ONE_BREAKPOINT_PER_LINE in launch.quirks


def _is_plain(arguments: Arguments) -> bool:
    return arguments.keys() <= {"line", "column"}


def is_taken(launch: DapLaunch, binding: Binding) -> bool:
    """Whether the debugger did not set a breakpoint since it has one there, under another name."""
    return _taken_spot(launch, binding) is not None


def _taken_spot(launch: DapLaunch, binding: Binding) -> tuple[str, int] | None:
    match = launch.taken.match(binding.message or "") if launch.taken and binding.state == "failed" else None
    return (Path(match[1]).name, int(match[2])) if match else None


def shared(
    launch: DapLaunch, wanted: Wanted, others: Sequence[Wanted], bindings: Mapping[str, Binding]
) -> tuple[Binding, str | None]:
    """One that was not set since another stands there, as it is with that one, and who that is; it holds where the other
    stops no less often."""
    binding, spot = bindings[wanted.id], _taken_spot(launch, bindings[wanted.id])
    for other in others:
        at = bindings[other.id]
        if at.state != "bound" or spot != (Path(at.file or "").name, at.line):
            continue
        mine, its = terms.terms(launch, wanted), terms.terms(launch, other)
        if mine != its and (wanted.log or other.log):
            return replace(binding, message=f"{other.id} already holds line {at.line}, and one of them logs"), other.id
        if mine != its and its:
            return replace(binding, message=f"{other.id} already holds line {at.line} with another condition"), other.id
        return replace(binding, state="bound", file=at.file, line=at.line, message=None), other.id
    return binding, None


def line_count(file: str) -> int | None:
    """How many lines a file has; None where it is none that we see."""
    try:
        return len(plainfiles.read(file).splitlines())
    except OSError:  # not a file that we see: the debugger alone knows
        return None


def line_binding(wanted: Wanted, answer: Any) -> Binding:
    """What the helper says of one wanted line."""
    answer = answer if isinstance(answer, dict) else {}
    told = next((each for each in translate.items(answer, "lines") if each.get("asked") == wanted.line), {})
    actual = translate.number(told.get("actual"))
    if actual is None:
        reason = translate.text(told.get("reason")) or "no code there"
        return Binding(wanted.id, "failed", wanted.file, wanted.line, reason)
    if answer.get("loaded") is True:
        return Binding(wanted.id, "bound", wanted.file, actual, column=translate.number(told.get("column")))
    like = answer.get("like")
    like = [each for each in like if isinstance(each, str)] if isinstance(like, list) else []
    return Binding(wanted.id, "pending", wanted.file, actual, _unknown(wanted.file or "", like))


def _unknown(file: str, like: Sequence[str]) -> str:
    """Why a file is not one of the program's, and which one is that is called so."""
    named = ", ".join(like[:3]) + (f" … {len(like)} in all" if len(like) > 3 else "")
    if like and not Path(file).exists():
        return f"no such file; there is {named}"
    return (
        f"the program was made of another {Path(file).name}: {named}"
        if like
        else f"{Path(file).name} is not loaded yet"
    )
