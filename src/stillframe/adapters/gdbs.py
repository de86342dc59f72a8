"""Which gdb of this machine is used for what: one that speaks the debug adapter protocol, or one that reaches into a process."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from ..errors import AdapterMissing, Try
from .finding import Needs, Recipe, Unfit, find

_WITHOUT_PYTHON = Unfit(
    "--configuration",
    re.compile(r"--without-python\b"),
    "it was built without Python, which its debug adapter is written in",
)
SPEAKING = Needs("gdb", ("gdb",), (Recipe("pip", ("gdb-for-pwndbg",)),), (14,), unfit=_WITHOUT_PYTHON)
"""A gdb that speaks the protocol. It also knows the registers of every processor, which gdb 13 does not (AMX)."""
_ANY = replace(SPEAKING, oldest=())


def reaching(env: Mapping[str, str], cwd: str) -> str:
    """The path of a gdb that runs our script on a process: best one that knows all registers, else whatever there is."""
    best = find(SPEAKING, env, cwd)
    if best.path is None or best.problem:
        best = find(_ANY, env, cwd)
    if best.path is None:
        raise AdapterMissing("attaching by pid needs gdb: apt install gdb", hint=Try("setup", {"": "gdb"}))
    if best.problem:
        raise AdapterMissing(
            f"attaching by pid needs another gdb: {best.path} is of no use: {best.problem}",
            hint=Try("setup", {"": "gdb"}),
        )
    return best.path
