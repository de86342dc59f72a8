"""What a line reads of objects, as `self.limit`, `tc.want` or `orders[i]["price"]`: found in what they hold, so that nothing of
the program runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from ..errors import AdapterGone, StillframeError
from ..model.backend import Backend, Bounds
from ..model.counts import counted
from ..model.values import Value

_NAME = r"[@$]*[^\W\d][\w$]*"
_WRITTEN = re.compile(
    rf"(?:\.|->|\?\.)(?:[@$]*[^\W\d][\w$]*|\d+)|(?:\?\.)?\[\s*(?:'[^']*'|\"[^\"]*\"|-?\d+|:?{_NAME})\s*\]"
)
_ASKED = re.compile(rf"({_NAME})((?:{_WRITTEN.pattern})+)")
"""A path as somebody writes it: also with a negative index, a symbol of Ruby, or the number of a part of a tuple."""
MOST, DEEP = 6, 4
"""Parts that are looked up for one line, and steps to each."""
_WIDE = 60
"""Fields of an object among which a part is looked for."""
_KEY = r"'[^'\\]*'|\"[^\"\\]*\"|\d+|[A-Za-z_$][\w$]*"
_STEP = re.compile(rf"(?:\.|->|\?\.)[A-Za-z_$][\w$]*|(?:\?\.)?\[(?:{_KEY})\]")
_PATH = re.compile(rf"(?<![.\w$\])'\"])([A-Za-z_$][\w$]*)((?:{_STEP.pattern})+)(?![\w$'\"])(\s*\()?")
_CUT = re.compile(r"…|\.\.\.|\(0x")
"""Of a value that its text does not tell whole; Delve tells what lies deep in it by its address."""
_PLAIN = re.compile(r"-?\d+|'[^'\\]*'|\"[^\"\\]*\"")
"""A value that can be an index or a key as it is told."""


def paths_on(line: str) -> list[tuple[str, ...]]:
    """The parts that a line reads, in steps: `("tc", ".want")`; of a call of a method what it is called on."""
    found: list[tuple[str, ...]] = []
    for head, rest, call in _PATH.findall(line):
        steps = _STEP.findall(rest)[: -1 if call else None]
        if steps:
            found.append((head, *steps[:DEEP]))
    return list(dict.fromkeys(found))


def path_of(text: str) -> tuple[str, ...] | None:
    """The steps of a path that is asked for: `("cart", ".lines", "[0]")`; None of any other expression."""
    match = _ASKED.fullmatch(text.strip())
    return (match[1], *(found[0] for found in _WRITTEN.finditer(match[2]))) if match else None


def names_of(step: str, keys: Mapping[str, str], total: int) -> tuple[str, ...]:
    """What a debugger may call the part that a step of a path leads to, the most likely first. Of what has keys a name may
    mean one; an index below 0 counts from the end."""
    key = step.removeprefix("?.").strip("[] ") if step.endswith("]") else None
    if key is None:
        name = step.lstrip(".->?")
        return (name, f"[{name}]") if name.isdigit() else (name, f":{name}", f"['{name}']", f'["{name}"]')
    if key.startswith((":", "@", "$")):
        return (key,)
    found = _names(f"[{key}]", keys)
    behind = counted(key[1:]) if key.startswith("-") else None
    back = total - behind if behind is not None else -1
    return (*found, f"[{back}]", str(back)) if back >= 0 else found


async def parts_on(backend: Backend, line: str, values: Sequence[Value], bounds: Bounds) -> list[Value]:
    """The parts of values that a line reads, where the texts of these are cut and may not show them."""
    known: dict[tuple[str, ...], Value] = {
        (each.name,): each for each in values if each.ref is not None and _CUT.search(each.value)
    }
    keys = {each.name: each.value for each in values if _PLAIN.fullmatch(each.value)}
    wide = msgspec.structs.replace(bounds, values=_WIDE)
    found: dict[tuple[str, ...], Value] = {}
    for path in paths_on(line)[:MOST]:
        at = path[:1]
        for number in range(2, len(path) + 1):
            way = path[:number]
            if way not in known and at in known and (part := await _part(backend, known[at], way[-1], keys, wide)):
                known[way] = part
            if way not in known:
                break
            at = way
        if len(at) > 1:  # as far as it leads through what is stored; a length or a property is not
            found[at] = msgspec.structs.replace(known[at], name="".join(at))
    return list(found.values())


async def _part(backend: Backend, value: Value, step: str, keys: Mapping[str, str], bounds: Bounds) -> Value | None:
    """What a step leads to; by an index to what lies there, however far back."""
    names = _names(step, keys)
    if value.ref is None or not names:
        return None
    start = (counted(names[0]) or 0) if value.total and value.total > _WIDE else 0
    try:
        page = await backend.expand(value.ref, bounds, start)
    except AdapterGone:
        raise
    except StillframeError:  # it cannot be looked into: then nothing is told of its parts
        return None
    return next((each for each in page.values if each.name in names), None)


def _names(step: str, keys: Mapping[str, str]) -> tuple[str, ...]:
    """What a debugger may call the part that a step leads to; nothing where the step is a variable whose value is not plain."""
    if not step.endswith("]"):
        return (step.lstrip(".->?"),)
    key = step[step.index("[") + 1 : -1]
    key = key if _PLAIN.fullmatch(key) else keys.get(key, "")
    if not key or key[0] not in "'\"":
        return (key, f"[{key}]") if key else ()
    text = key[1:-1]
    quoted = (f"'{text}'", f'"{text}"', f"['{text}']", f'["{text}"]')
    return quoted if _PLAIN.fullmatch(text) else (text, *quoted)  # `1` and `'1'` may be two keys
