"""What a command's first word stands for: a file on PATH or by its path, and the interpreter that a script's first line names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import AdapterMissing, LaunchFailed, Try
from ..model import plainfiles
from ..model.plans import Plan
from .absent import no_such_program
from .interpreters import on_path

_LONGEST = 500


def first_line(path: Path) -> bytes:
    """The first line of a file, cut where it is too long to name an interpreter."""
    try:
        with plainfiles.opened(path) as file:
            return file.readline(_LONGEST)
    except OSError as error:
        raise LaunchFailed(f"cannot read {path}: {error.strerror}") from None


def named_interpreter(path: Path, names: re.Pattern[str]) -> tuple[str, ...] | None:
    """The interpreter of such a name, and the words for it, in a script's first line; None where it names none."""
    first = first_line(path)
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]  # with variables before it, env itself has to run it
    return tuple(words) if words and names.match(Path(words[0]).name) else None


def interpreter_meant(plan: Plan, word: str, packages: Mapping[str, str] | None = None) -> str:
    """The file of an interpreter as a command names it; where there is none, the error says which package brings that name."""
    if "/" in word:
        return str(Path(plan.cwd, word))
    found = on_path(word, plan.env, plan.cwd)
    if found is None and packages is not None and word in packages:
        raise AdapterMissing(f"no {word} on PATH: apt install {packages[word]}", hint=Try("setup", {"": word}))
    if found is None:
        raise no_such_program(word, plan.cwd, plan.env)
    return found
