"""The names of native functions as people write them: without their arguments and what they give back. Runs inside a debugger."""

import re

_HASH = re.compile(r"::h[0-9a-f]{16}$")  # Rust's, at the end of each
_ESCAPE = re.compile(r"\$(SP|BP|RF|LT|GT|LP|RP|C|u[0-9a-f]{1,6})\$")
_ESCAPED = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
"""How Rust writes in a name what no linker takes; lldb 19 leaves it so."""
_OPENS, _CLOSES = "<([{", ">)]}"


def bare(name):
    """A function without its list of arguments and its result's type, with its scopes."""
    name = _without_arguments(_HASH.sub("", _plain(name)))
    name = name[_result_ends(name) :]
    return name[2:] if name.startswith("::") else name


def _plain(name):
    """A name of Rust's with the signs that it was written with."""
    if not _ESCAPE.search(name):
        return name
    name = re.sub(r"(^|::)_(?=\$)", r"\1", name).replace("..", "::")
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found.group(1)) or chr(int(found.group(1)[1:], 16)), name)


def _without_arguments(name):
    if not name.endswith((")", ") const")):
        return name
    depth, at = 0, len(name) - 1
    while at > 0:  # back over the list of arguments, which may hold others
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if name[at] == "(" and depth == 0:
            break
        at -= 1
    if name[:at].endswith("operator"):  # these are its name
        return name
    return name[:at] or name


def _result_ends(name):
    """Where the name itself begins, behind the type of its result: after the last space that no brackets are around."""
    operator = re.search(r"(?:^|[\s:])operator\b", name)
    ends = depth = 0
    for at, letter in enumerate(name[: operator.start() + 1] if operator else name):
        if letter in _OPENS:
            depth += 1
        elif letter in _CLOSES and name[at - 1 : at + 1] != "->":
            depth -= 1
        elif letter == " " and depth == 0:
            ends = at + 1
    return ends if name[ends:] else 0
