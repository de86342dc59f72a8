"""A reply without the secrets in it, by the same rules as the disk, unless they were asked for by name."""

from __future__ import annotations

import functools
import typing
from operator import is_
from typing import Any

import msgspec

from ..model.outcomes import Breakpoint, Change, SourceLine, Spot
from ..model.values import Frame, Part, Value, Values
from ..model.views import ProbedPlace
from . import redaction

_AS_THEY_ARE = frozenset({SourceLine, Breakpoint, Spot, Frame, str, int, float, bool, type(None)})
"""What the caller wrote, or what stands in a file that anybody can open; and what is no text of a field."""
_TEXTS = frozenset({"notes", "added", "causes", "members", "yielded"})
"""Lists of texts in which a secret may be: what an error said, and what was said of it; what a generator gave."""
_NOT_OF_ITS_TEXTS = frozenset({"source", "file", "function"})


def told(node: Any) -> Any:
    """The same, with markers in place of secrets; the very same where there are none."""
    kind = type(node)  # not by isinstance, which is slow for structs: this is asked of every part of every stop
    if kind in _AS_THEY_ARE:
        return node
    if kind is tuple:
        made = [told(each) for each in node]
        return node if all(map(is_, made, node)) else tuple(made)
    if kind is Value:
        return redaction.value(node)
    if kind is Change:
        return change(node)
    return _struct(node) if isinstance(node, msgspec.Struct) else node


def _struct(node: msgspec.Struct) -> msgspec.Struct:
    if type(node) is Values and node.instead is not None:
        return Values(values=(node.instead,), total=1)
    changed: dict[str, Any] = {}
    for name in _fields_of(type(node)):
        old = getattr(node, name)
        if not old:
            continue
        new: Any
        if isinstance(old, str):
            new = redaction.text(old)
        elif name == "values" and isinstance(node, ProbedPlace):
            continue  # expressions that were asked for, as by `eval`
        elif name in _TEXTS and isinstance(old[0], str):
            new = tuple(redaction.text(each) for each in old)
        else:
            new = told(old)
        if new is not old and new != old:
            changed[name] = new
    return msgspec.structs.replace(node, **changed) if changed else node


@functools.cache
def _fields_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of such a part in which a secret may be; looked up once, since most have none and there are many."""
    return tuple(each.name for each in msgspec.structs.fields(kind) if _may_tell(each.name, each.type))


def _may_tell(name: str, declared: Any) -> bool:
    parts = typing.get_args(declared)
    if str in (declared, *parts) and typing.get_origin(declared) is not tuple:
        return name not in _NOT_OF_ITS_TEXTS
    return name in _TEXTS or not _leaves(declared) <= _AS_THEY_ARE


def _leaves(declared: Any) -> set[Any]:
    if typing.get_origin(declared) is typing.Literal:
        return {str}
    parts = [each for each in typing.get_args(declared) if each is not ...]
    return set().union(*map(_leaves, parts)) if parts else {declared}


def texts(node: Any) -> Any:
    """What a failure tells: its texts may quote values, or what a program wrote."""
    if isinstance(node, dict):
        return {name: texts(each) for name, each in node.items()}
    return redaction.text(node) if isinstance(node, str) else node


def change(found: Change) -> Change:
    """What a local went from and to, each left out where its name or shape tells."""
    old, new = (
        redaction.value(Value(name=found.name, value=text)).value if text else text for text in (found.old, found.new)
    )
    if (old, new) != (found.old, found.new):  # a part of it may be the very thing
        return msgspec.structs.replace(found, old=old, new=new, parts=())
    parts = tuple(_part(found.name, each) for each in found.parts)
    return found if parts == found.parts else msgspec.structs.replace(found, parts=parts)


def _part(name: str, found: Part) -> Part:
    held = redaction.value(Value(name=name + found.path, value=found.value)).value
    return Part(path=redaction.text(found.path), value=held)
