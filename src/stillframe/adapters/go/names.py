"""Functions of Go by the names that people give them, where Delve finds too many of a name: those of the user's own module."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MOST = 2000
"""Files that are looked through."""
_ELSEWHERE = frozenset({"vendor", "node_modules", "testdata"})
_PACKAGE = re.compile(r"^package (\w+)", re.MULTILINE)
_AMBIGUOUS = re.compile(r'^Location ".*" ambiguous: ')


def function_name(told: str) -> str:
    """`cart.(*Store[...]).Put`, as Go's own stacks have it, where Delve tells the shapes that the compiler made one code for, a
    struct with all its fields and their tags."""
    head, shape, rest = told.partition("[go.shape.")
    return f"{head}[...]{rest.rpartition(']')[2]}" if shape else told


def own_function(folder: str, name: str, said: str) -> str | None:
    """The one function of this name that the module around a folder has, as Delve calls it; None where it is not that."""
    if not _AMBIGUOUS.match(said) or not name.isidentifier():
        return None
    found = {each for file in _sources(_module(Path(folder))) for each in _declared(file, name)}
    return found.pop() if len(found) == 1 else None


def _module(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if (each / "go.mod").is_file()), folder)


def _sources(root: Path) -> Iterator[Path]:
    left = _MOST
    for folder, inner, files in os.walk(root):
        inner[:] = [each for each in inner if each not in _ELSEWHERE and not each.startswith((".", "_"))]
        for each in files:
            if each.endswith(".go") and left:
                left -= 1
                yield Path(folder, each)


def _declared(file: Path, name: str) -> Iterator[str]:
    """`cart.Sum`, `cart.(*Cart).Sum` or `cart.Cart.Sum` for every function of this name in a file."""
    try:
        text = file.read_text("utf-8", errors="replace")
    except OSError:
        return
    package = _PACKAGE.search(text)
    for match in re.finditer(rf"^func (?:\((?:\w+ )?(\*?)(\w+)[^)]*\) )?{name}[(\[]", text, re.MULTILINE):
        pointer, owner = match.groups()
        of = f"(*{owner})." if pointer else f"{owner}." if owner else ""
        if package:
            yield f"{package[1]}.{of}{name}"
