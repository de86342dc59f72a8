"""What was to be run and is not there: said with what there is of a like name, so that the next call can name that."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import LaunchFailed
from ..model import plainfiles, wording
from ..model.plans import Plan
from ..settings import ALIKE, entries, file_like
from .building import way_to_make
from .interpreters import on_path

_OWN_PROGRAMS = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where a project keeps programs of its own that PATH does not lead to."""


def no_such_file(path: Path, cwd: str, more: str = "") -> LaunchFailed:
    """`more`: how to come by it, where that is known. What is kept from us may be there all the same."""
    if reason := plainfiles.why_out_of_reach(path):
        return LaunchFailed(f"cannot read {path}: {reason}")
    return _told(f"no such file: {path}", str(path), None if more else file_like(path, Path(cwd)), more)


def no_such_program(word: str, cwd: str, env: Mapping[str, str], more: str = "") -> LaunchFailed:
    """`more`: what is to be said of it, where that is known better."""
    own = _own_program(word, Path(cwd))
    found = None if more else own or next(iter(difflib.get_close_matches(word, _on_path(env), 1, ALIKE)), None)
    return _told(f"no such program: {word}{' on PATH' if own else ''}", word, found, more)


def command_meant(plan: Plan) -> LaunchFailed | None:
    """A whole command in the place of a file, as in `dbg launch python app.py`: PATH has a program of that name, and nothing
    here does. A name by itself may also be that of a program which is yet to be made."""
    word, *args = plan.command
    if "/" in word or on_path(word, plan.env, plan.cwd) is None:
        return None
    if not args and way_to_make(Path(plan.cwd, word), Path(plan.cwd)):
        return None
    way = wording.either("stands behind `--`", "is given as `command`")
    message = f"no such file: {Path(plan.cwd, word)}; {word} is a program on PATH, and a whole command {way}"
    return LaunchFailed(message, detail={"command": plan.command})


def _told(message: str, missing: str, instead: str | None, more: str) -> LaunchFailed:
    if instead is None:
        return LaunchFailed(message + more)
    return LaunchFailed(f"{message}; there is {instead}{more}", detail={"missing": missing, "instead": instead})


def _own_program(word: str, folder: Path) -> str | None:
    """Where the project itself has a program that PATH does not lead to, as before its environment is activated."""
    for above in (folder, *folder.parents):
        for place in _OWN_PROGRAMS:
            path = above / place / word
            if os.access(path, os.X_OK) and not os.path.isdir(path):
                return os.path.relpath(path, folder)
    return None


def _on_path(env: Mapping[str, str]) -> list[str]:
    folders = filter(None, env.get("PATH", "").split(os.pathsep))
    return sorted({each.name for folder in folders for each in entries(Path(folder))})
