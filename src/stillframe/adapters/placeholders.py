"""Places in a declared command or table that stand for what is only known at the start: `${program}`, `${args}`, `${port}` …

`$${x}` is the text `${x}`, for a debugger that has places of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACE = re.compile(r"(?<!\$)\$\{([^}]*)\}")


def names_in(value: Any) -> Iterator[str]:
    """Every name that stands for something in a text, a list or a table."""
    match value:
        case str():
            yield from _PLACE.findall(value)
        case Mapping():
            for each in value.values():
                yield from names_in(each)
        case list() | tuple():
            for each in value:
                yield from names_in(each)


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """The same with everything put in its place: a text that is one place takes its value, whatever type that has; in a list a
    list is spliced in; what has no value (None) is left out."""
    match value:
        case str():
            return _text(value, known)
        case Mapping():
            found = {name: filled(each, known) for name, each in value.items()}
            return {name: each for name, each in found.items() if each is not None}
        case list() | tuple():
            return [word for each in value for word in _words(each, known)]
    return value


def _words(each: Any, known: Mapping[str, Any]) -> list[Any]:
    put = filled(each, known)
    if isinstance(each, str) and isinstance(put, list):
        return put
    return [] if put is None else [put]


def _text(text: str, known: Mapping[str, Any]) -> Any:
    if whole := _PLACE.fullmatch(text):
        return known[whole[1]]
    return _PLACE.sub(lambda match: _as_text(known[match[1]]), text).replace("$${", "${")


def _as_text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
