"""What a line reads of objects, as `self.limit` or `tc.want`: found in what they hold, so that nothing of the program runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..errors import AdapterGone, StillframeError
from ..model.backend import Backend, Bounds
from ..model.values import Value

MOST, DEEP = 6, 3
"""Parts that are looked up for one line, and steps to each."""
_WIDE = 60
"""Fields of an object among which a part is looked for."""
_PATH = re.compile(r"(?<![.\w$\])])([A-Za-z_$][\w$]*)((?:(?:\.|->|\?\.)[A-Za-z_$][\w$]*)+)(?![\w$])(\s*\()?")
_STEP = re.compile(r"(?:\.|->|\?\.)[A-Za-z_$][\w$]*")
_CUT = re.compile(r"…|\.\.\.|\(0x")
"""Of a value that its text does not tell whole; Delve tells what lies deep in it by its address."""


def paths_on(line: str) -> list[tuple[str, ...]]:
    """The parts that a line reads, in steps: `("tc", ".want")`; of a call of a method what it is called on."""
    found: list[tuple[str, ...]] = []
    for head, rest, call in _PATH.findall(line):
        steps = _STEP.findall(rest)[: -1 if call else None]
        if steps:
            found.append((head, *steps[:DEEP]))
    return list(dict.fromkeys(found))


async def parts_on(backend: Backend, line: str, values: Sequence[Value], bounds: Bounds) -> list[Value]:
    """The parts of values that a line reads, where the texts of these are cut and may not show them."""
    known: dict[tuple[str, ...], Value] = {
        (each.name,): each for each in values if each.ref is not None and _CUT.search(each.value)
    }
    wide = msgspec.structs.replace(bounds, values=_WIDE)
    found: dict[tuple[str, ...], Value] = {}
    for path in paths_on(line)[:MOST]:
        at = path[:1]
        for number in range(2, len(path) + 1):
            way = path[:number]
            if way not in known and at in known and (part := await _field(backend, known[at], way[-1], wide)):
                known[way] = part
            at = way if way in known else at
        if len(at) > 1:  # as far as it leads through what is stored; a length or a property is not
            found[at] = msgspec.structs.replace(known[at], name="".join(at))
    return list(found.values())


async def _field(backend: Backend, value: Value, step: str, bounds: Bounds) -> Value | None:
    if value.ref is None:
        return None
    name = step.lstrip(".->?")
    try:
        page = await backend.expand(value.ref, bounds)
    except AdapterGone:
        raise
    except StillframeError:  # it cannot be looked into: then nothing is told of its parts
        return None
    return next((each for each in page.values if each.name == name), None)
