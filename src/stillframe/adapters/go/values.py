"""Go's values without what Delve tells at length: the path of every type's package, and the fields of types without a name."""

from __future__ import annotations

import re

_TOLD = re.compile(
    r'\(\*+"(?:[^"]*/)?(?P<pointed>[^"/]+)"\)'
    r'|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<path>(?:[\w.~-]+/)+)(?=[\w-]+\.[A-Za-z_])"
    r"|(?P<nameless>\bstruct \{)"
)
"""A pointer by its type, a text of the program's, which stays as it is, a package's path, the beginning of a nameless type."""


def value_text(told: str) -> str:
    """`bank.Entry {…}` for `example.com/bank.Entry {…}`, and of a nameless struct its fields' values alone."""
    out: list[str] = []
    at = 0
    while found := _TOLD.search(told, at):
        out.append(told[at : found.start()])
        at = found.end()
        match found.lastgroup:
            case "pointed":
                out.append(f"(*{found['pointed']})")
            case "text":
                out.append(found[0])
            case "nameless":
                at = _closed(told, at)
                begins = not "".join(out).strip("*") and told.startswith(" {", at)
                out.append("" if begins else "struct")
                at += begins
    return "".join(out) + told[at:]


def _closed(told: str, at: int) -> int:
    """Behind the brace that closes what is open here; the end where that was cut."""
    depth = 1
    for place in range(at, len(told)):
        depth += {"{": 1, "}": -1}.get(told[place], 0)
        if depth == 0:
            return place + 1
    return len(told)
