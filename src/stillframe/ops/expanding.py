"""What `expand` is asked for: a handle, a variable, or a path below one, `cart.lines[1].qty`, walked through what the values
hold, so that nothing of the program runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from ..errors import NotFound, StillframeError, Try, UsageError
from ..model.backend import Bounds
from ..model.values import Value
from ..record import redaction
from ..session.handles import is_value_handle
from ..session.parts import names_of, path_of
from ..session.session import Session
from .names import near

PAGE = 1000
"""Variables of a frame, and parts of a value, among which one is looked for by its name."""
_PAGES = 20
"""Pages of a value's parts that are looked through for one."""
_LISTED = 8
"""Names of those that are there that are told where one is missing."""
_PLAIN = re.compile(r"-?\d\S*|['\"].*|true|false|null|nil|undefined|None|True|False", re.DOTALL)
"""A value that has no parts, though a debugger has a word for it where it is cut."""
_OF_A_HIT = re.compile(r"((?:r\d+\.)?h\d+)\.(\w.*)")


async def meant_value(session: Session, frame_id: str, asked: str, bounds: Bounds) -> Value:
    """The value that a name or a path leads to, with the backend's word for it as `ref`; of a path it may have no parts."""
    named = await _variable(session, frame_id, asked, bounds)
    path = path_of(asked) if named is None else None
    if named is None and path is not None:
        named = await _variable(session, frame_id, path[0], bounds)
    if named is None:
        raise await _no_variable(session, frame_id, asked, path[0] if path else asked)
    if path is not None:
        found = await _walked(session, frame_id, named, path, bounds)
        return msgspec.structs.replace(found, name="".join(path))
    if named.ref is None:
        raise NotFound(f"{asked} holds nothing more than it shows: {redaction.value(named).value}")
    return named


def left_out(value: Value) -> Value | None:
    """What is told in place of a value with parts that its name tells to be a secret."""
    safe = redaction.value(value)
    return safe if safe.ref is None and value.ref is not None else None


async def _here(session: Session, frame_id: str, bounds: Bounds) -> dict[str, Value]:
    found = (await session.backend.locals(frame_id, bounds)).values
    return {each.name: each for each in reversed(found)}


async def _variable(session: Session, frame_id: str, name: str, bounds: Bounds) -> Value | None:
    """A variable that is seen from the frame, with a reference wherever it has parts, though it may be shown whole."""
    named = (await _here(session, frame_id, _of(bounds, PAGE))).get(name)
    if named is None:
        return await _further_out(session, frame_id, name, bounds)
    if named.ref is not None or _PLAIN.fullmatch(named.value):
        return named
    short = (await _here(session, frame_id, _of(bounds, PAGE, 1))).get(name)  # only what is cut has a reference
    return msgspec.structs.replace(named, ref=short.ref if short else None)


async def _further_out(session: Session, frame_id: str, name: str, bounds: Bounds) -> Value | None:
    """A variable of a group that is not told with the frame's own, as those of its module."""
    if len(path_of(f"{name}[0]") or ()) != 2:  # it is no name
        return None
    groups = [Value(name=each.name, ref=each.ref) for each in await session.backend.scopes(frame_id)]
    if name.startswith("@") and (own := await _variable(session, frame_id, "self", bounds)):
        groups = [own]
    for group in groups:
        found, _ = await _part(session, group, name, {}, bounds)
        if found is not None:
            return found
    return None


def _of(bounds: Bounds, values: int, text: int | None = None) -> Bounds:
    return msgspec.structs.replace(bounds, values=values, text=text or bounds.text)


def _is_text(value: Value) -> bool:
    return value.value[:1] in ("'", '"')


# Paths


async def _walked(session: Session, frame_id: str, value: Value, path: Sequence[str], bounds: Bounds) -> Value:
    """From a variable to its part, step by step; what a step does not find is said, with what is there."""
    here = await _here(session, frame_id, _of(bounds, PAGE)) if any(each[-1:] == "]" for each in path) else {}
    for number, step in enumerate(path[1:], 1):
        way = "".join(path[:number])
        if hidden := left_out(msgspec.structs.replace(value, name=way)):
            raise NotFound(f"{way} is {hidden.value}, with all of its parts")
        if value.ref is None or _is_text(value):
            found, there = None, f"{way} is {redaction.value(value).value}, without such parts"
        else:
            found, there = await _part(session, value, step, here, bounds)
        if found is None:
            raise NotFound(f"there is no {way}{step}: {there}", hint=Try("eval", {"expressions": ["".join(path)]}))
        value = found
    return value


async def _part(
    session: Session, value: Value, step: str, here: Mapping[str, Value], bounds: Bounds
) -> tuple[Value | None, str]:
    """The part that a step leads to, or what is there instead. Names are looked for among parts told in short."""
    if value.ref is None:
        return None, ""
    short = _of(bounds, PAGE, 1)
    page = await session.backend.expand(value.ref, short, 0)
    total = page.total if page.total is not None else len(page.values)
    names = names_of(step, {name: each.value for name, each in here.items()}, total)
    if len(page.values) == 1 and not page.values[0].name:  # what a pointer points to
        return await _part(session, page.values[0], step, here, bounds)
    first, start = page.values, 0
    while (at := _found(page.values, names)) is None:
        start += PAGE
        if start >= total or start >= PAGE * _PAGES or not page.values:
            return None, _there(first, total, start)
        page = await session.backend.expand(value.ref, short, start)
    cut = page.values[at]
    whole = (await session.backend.expand(value.ref, _of(bounds, 1), start + at)).values
    shown = next((each for each in whole if each.name == cut.name), cut)
    return (shown if shown.ref or _PLAIN.fullmatch(shown.value) else msgspec.structs.replace(shown, ref=cut.ref)), ""


def _found(values: Sequence[Value], names: Sequence[str]) -> int | None:
    """Where the part is, by the first of the names that a debugger may have for it."""
    known = {each.name: at for at, each in reversed(list(enumerate(values)))}
    return next((known[name] for name in names if name in known), None)


def _there(values: Sequence[Value], total: int, looked: int) -> str:
    if not values:
        return "it is empty"
    names = ", ".join(each.name for each in values[:_LISTED])
    more = f", … {total - _LISTED:,} more" if total > _LISTED else ""
    among = f", of which the first {looked:,} were looked through" if looked < total else ""
    return f"it has {names}{more}{among}"


# What is not there


async def _no_variable(session: Session, frame_id: str, asked: str, name: str) -> StillframeError:
    if asked[:1].isdigit():
        return UsageError(f"{asked!r} is no value: they look like v3, or are a variable's name")
    here = await _here(session, frame_id, session.bounds)
    return NotFound(f"there is no variable {asked} in this frame{_like(name, here)}", hint=_other_way(asked, here))


def _like(name: str, here: Mapping[str, Value]) -> str:
    close = near(name, tuple(here)) if re.fullmatch(r"[^\W\d]\w*", name) else ()
    return f"; there are {', '.join(close)}" if close else ""


def _other_way(name: str, here: Mapping[str, Value]) -> Try:
    """How to come to what is no variable of the frame: by the record, where a hit is named; else it may be an expression."""
    hit = _OF_A_HIT.fullmatch(name)
    if hit is None or name.partition(".")[0] in here:
        return Try("eval", {"expressions": [name]})
    if is_value_handle(hit[2]):  # which went with its stop
        return Try("locals", {"hit": hit[1]})
    return Try("expand", {"value": hit[2], "hit": hit[1]})
