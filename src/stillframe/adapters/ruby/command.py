"""A Ruby command line as typed in a shell, understood: the runtime, its own flags, and the program."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ...errors import LaunchFailed, UsageError
from ...model.plans import Plan
from ..interpreters import on_path
from ..shebang import interpreter_meant, named_interpreter

NAMES = re.compile(r"^ruby[\d.]*$")
PACKAGES = {"ruby": "ruby"}
"""The name of a runtime, and what is installed to have it."""
_BUNDLE = re.compile(r"^bundle[r]?[\d.]*$")
_WITH_VALUE = (
    "-r",
    "-I",
    "-C",
    "-E",
    "-W",
    "--encoding",
    "--external-encoding",
    "--internal-encoding",
    "--enable",
    "--disable",
)
_NO_PROGRAM = ("-v", "--version", "-h", "--help", "-c", "-", "-y", "--copyright", "-n", "-p", "-x")


def runs_ruby(plan: Plan) -> bool:
    """Whether a command's first word is Ruby, a script that it runs, or Bundler in front of one of them."""
    if not plan.command:
        return False
    name = Path(plan.command[0]).name
    if NAMES.match(name):
        return True
    return (_BUNDLE.match(name) is not None and plan.command[1:2] == ("exec",)) or is_script(
        _script(plan, plan.command[0])
    )


def is_script(path: Path | None) -> bool:
    """Whether a file's first line names Ruby."""
    try:
        return path is not None and os.path.isfile(path) and named_interpreter(path, NAMES) is not None
    except LaunchFailed:
        return False


def understood(plan: Plan) -> Plan:
    """A plan of kind `command` as one of kind file or code; others stay as they are."""
    if plan.kind != "command":
        return plan
    first, *rest = plan.command
    if NAMES.match(Path(first).name):
        return _ruby(plan, interpreter_meant(plan, first, PACKAGES), rest)
    if _BUNDLE.match(Path(first).name):
        return _bundled(plan, rest[1:])
    return _by_script(plan, first, rest)


def _bundled(plan: Plan, words: Sequence[str]) -> Plan:
    """What Bundler runs, in the bundle's own world: that is what requiring `bundler/setup` makes of any program."""
    if not words or words[0].startswith("-"):
        raise UsageError("bundle exec names no program to debug")
    first, *rest = words
    direct = NAMES.match(Path(first).name)
    found = _ruby(plan, interpreter_meant(plan, first, PACKAGES), rest) if direct else _by_script(plan, first, rest)
    return replace(found, interpreter_flags=("-rbundler/setup", *found.interpreter_flags))


def _by_script(plan: Plan, word: str, rest: Sequence[str]) -> Plan:
    script = _script(plan, word)
    if script is None or not is_script(script):
        raise UsageError(f"{word} is no program of Ruby: its first line does not name it")
    line = named_interpreter(script, NAMES) or ("ruby",)
    return _ruby(plan, interpreter_meant(plan, line[0], PACKAGES), (*line[1:], str(script), *rest))


def _ruby(plan: Plan, runtime: str, words: Sequence[str]) -> Plan:
    flags: list[str] = []
    rest = list(words)
    runtime = plan.interpreter or runtime
    while rest:
        word = rest.pop(0)
        if word in _NO_PROGRAM:
            raise UsageError(f"ruby {word} runs no program that could be debugged")
        if word == "-e":
            if not rest:
                raise UsageError("ruby -e needs code to run")
            return replace(
                plan,
                kind="code",
                program=rest[0],
                args=tuple(rest[1:]),
                interpreter=runtime,
                interpreter_flags=tuple(flags),
            )
        if word == "-S" and rest:
            found = on_path(rest[0], plan.env, plan.cwd)
            word = found or rest[0]
            rest.pop(0)
        elif word == "--":
            continue
        elif word.startswith("-"):
            flags.append(word)
            if word in _WITH_VALUE and rest:
                flags.append(rest.pop(0))
            continue
        return replace(
            plan, kind="file", program=word, args=tuple(rest), interpreter=runtime, interpreter_flags=tuple(flags)
        )
    raise UsageError(f"{' '.join(plan.command)} names no program to debug")


def _script(plan: Plan, word: str) -> Path | None:
    if "/" in word:
        return Path(plan.cwd, word)
    found = on_path(word, plan.env, plan.cwd)
    return Path(found) if found else None
