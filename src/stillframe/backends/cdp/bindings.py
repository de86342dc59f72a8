"""Breakpoints that cannot work or have no place, or a wrong one: why, and whether they may still get one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ...model.backend import Binding, Wanted
from .client import CdpClient, Refused
from .conditions import checks
from .filelines import problem_with
from .scripts import Script, Scripts, Spot
from .symbols import Symbols


class Placed(msgspec.Struct):
    """One breakpoint of V8, and the wanted ones that stand on it."""

    wanted: tuple[Wanted, ...]
    text: str
    line: int
    column: int
    id: str = ""
    spots: list[Spot] = msgspec.field(default_factory=list[Spot])
    refused: str | None = None


def no_function(wanted: Wanted, symbols: Symbols, scripts: Scripts) -> Binding:
    """What is said of one by the name of a function, which no script that was looked at has."""
    if problem := symbols.problem(wanted):
        return Binding(wanted.id, "failed", message=problem)
    more = " in your code" if scripts.hides_library else ""
    return Binding(wanted.id, "pending", message=f"no function {wanted.symbol} is known yet{more}")


def no_line(wanted: Wanted, scripts: Scripts, made_from: Mapping[str, Iterable[str]]) -> Binding:
    """What is said of one by file and line. `made_from`: by source file, the files that were made from it."""
    assert wanted.file is not None and wanted.line is not None
    real, name = scripts.real(wanted.file), Path(wanted.file).name
    if any(scripts.of_file(path) for path in made_from.get(real, ())):
        said = f"no code was made from line {wanted.line} of {name} or after it"
    elif problem := problem_with(real, wanted.line, wanted.column):
        said = problem
    elif any(not each.map_url for each in scripts.of_file(real)):
        said = f"no code at line {wanted.line} of {name} or after it"
    elif made := scripts.unmapped(real):
        said = f"{name} runs as {made.url}, without a source map: which of its lines is where is not known"
    else:
        return Binding(wanted.id, "pending", message=f"{name} is not loaded yet")
    return Binding(wanted.id, "failed", message=said)


def no_code(function: str, script: Script) -> str:
    """What is said of one in a function that V8 has made no code of."""
    return f"nothing in {Path(script.path).name} uses {function}, so V8 has made no code of it"


def is_stray(wanted: Wanted, own: Sequence[Spot], spots: Sequence[Spot]) -> bool:
    """Whether a breakpoint of V8 is on other lines than the one that was asked for, which another one is on."""
    asked = [spot for spot in spots if spot.line == wanted.line]
    return bool(asked) and not any(spot in asked for spot in own)


async def problem_of(client: CdpClient, wanted: Wanted) -> str | None:
    """Why its condition or its log text can never work."""
    try:
        texts = checks(wanted)
    except ValueError as error:
        return str(error)
    for name, text in texts:
        arguments = {"expression": text, "sourceURL": "", "persistScript": False}
        try:
            details = (await client.request("Runtime.compileScript", arguments)).get("exceptionDetails")
        except Refused:
            return None
        if isinstance(details, dict):
            said = str((details.get("exception") or {}).get("description") or details.get("text"))
            return f"its {name} does not compile: {said.splitlines()[0]}"
    return None
