"""Imports of ES modules that Node could not follow: the line that asks for one, where an error tells only calls of Node."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from ...model.values import Frame
from .frames import TOP

_IMPORTED = re.compile(r" imported from (?P<file>/[^\n]+)")
_NAMED = re.compile(r"'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|(?P<path>/\S+/package\.json)")
_WORDS = re.compile(r"(?:\bfrom|\bimport|\bimport\s*\()\s*(?P<quote>['\"])(?P<what>[^'\"\n]+)(?P=quote)")


def importing(message: str, read: Callable[[str], Sequence[str]]) -> Frame | None:
    """Where the module asks for what an error says that it cannot have; None where the text does not tell."""
    found = _IMPORTED.search(message)
    if found is None or "/node_modules/" in found["file"]:
        return None
    file = found["file"].strip()
    named = [each["single"] or each["double"] or each["path"] for each in _NAMED.finditer(message[: found.start()])]
    for number, line in enumerate(read(file), 1):
        for asked in _WORDS.finditer(line):
            if any(_is_for(asked["what"], each, file) for each in named):
                return Frame(function=TOP, file=file, line=number, column=asked.start("what"), kind="user")
    return None


def _is_for(asked: str, named: str, file: str) -> bool:
    """Whether what a line asks for is what an error names: a file, a package or one's package.json."""
    if asked.startswith((".", "/")):
        return posixpath.normpath(posixpath.join(posixpath.dirname(file), asked)) == posixpath.normpath(named)
    package = "/".join(asked.split("/")[: 2 if asked.startswith("@") else 1])
    return named in (asked, package) or f"/node_modules/{package}/" in named
