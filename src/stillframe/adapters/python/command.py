"""A Python command line as typed in a shell, understood: interpreter, its own flags, and the program."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ...errors import LaunchFailed, UsageError
from ...model.plans import Plan
from ..absent import no_such_file, no_such_program
from ..interpreters import on_path
from ..shebang import interpreter_meant, named_interpreter

NAMES = re.compile(r"^python(3(\.\d+)?)?$")
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_FORBIDDEN = {
    "-i": "an interactive session",
    "-": "a program on standard input",
    "--help": "the help",
    "--version": "a version",
}


def understood(plan: Plan) -> Plan:
    """A plan of kind `command` as one of kind file, module or code; others stay as they are."""
    if plan.kind != "command":
        return plan
    words = plan.command
    if not words:
        raise UsageError("no command to run")
    if _is_python(plan, words[0]):
        return _python(plan, words[0], words[1:])
    script = _script(plan, words[0])
    line = named_interpreter(script, NAMES)
    if line is None:
        raise UsageError(f"{words[0]} is no Python program: its first line names no python")
    named = words[0] if "/" in words[0] else str(script)  # as the system hands it to the interpreter
    return replace(_python(plan, line[0], (*line[1:], named, *words[1:])), command=words)


def runs_python(plan: Plan) -> bool:
    """Whether a command's first word is a Python, or a script that one runs."""
    if not plan.command:
        return False
    if _is_python(plan, plan.command[0]):
        return True
    try:
        return named_interpreter(_script(plan, plan.command[0]), NAMES) is not None
    except LaunchFailed:
        return False


def _is_python(plan: Plan, word: str) -> bool:
    """Whether a word names a Python, as itself or as what a link of another name leads to."""
    if NAMES.match(Path(word).name):
        return True
    try:
        return NAMES.match(_script(plan, word).resolve().name) is not None
    except LaunchFailed:
        return False


def _python(plan: Plan, interpreter: str, words: Sequence[str]) -> Plan:
    flags: list[str] = []
    rest = list(words)
    given = plan.interpreter or interpreter_meant(plan, interpreter)
    while rest:
        word = rest.pop(0)
        if word in _FORBIDDEN:
            raise UsageError(f"python {word} is {_FORBIDDEN[word]}, not a program to debug")
        if word in _WITH_VALUE and rest:
            flags += [word, rest.pop(0)]
        elif word.startswith("-") and not word.startswith("--") and (split := _short(word)):
            before, letter, value = split
            flags += [before] if before else []
            if not value and not rest:
                raise UsageError(f"python {word} needs a {'module' if letter == 'm' else 'program'}")
            program = value or rest.pop(0)
            return replace(
                plan, kind="module" if letter == "m" else "code", program=program, args=tuple(rest),
                interpreter=given, interpreter_flags=tuple(flags),
            )  # fmt: skip
        elif word.startswith("-"):
            flags.append(word)
        else:
            return replace(
                plan, kind="file", program=word, args=tuple(rest), interpreter=given, interpreter_flags=tuple(flags)
            )
    raise UsageError(f"{' '.join(plan.command)} names no program to debug")


def _short(word: str) -> tuple[str, str, str] | None:
    """`-Im` or `-cCODE`: the flags before, the letter m or c, and what stands right behind it."""
    for at, letter in enumerate(word[1:], start=1):
        if letter in "XW":  # takes the rest of the word as its value
            return None
        if letter in "mc":
            return (word[:at] if at > 1 else ""), letter, word[at + 1 :]
    return None


def _script(plan: Plan, word: str) -> Path:
    if "/" in word or (os.path.isfile(Path(plan.cwd, word)) and word.endswith(".py")):
        path = Path(plan.cwd, word)
    else:
        found = on_path(word, plan.env, plan.cwd)
        if found is None:
            raise no_such_program(word, plan.cwd, plan.env)
        path = Path(found)
    if not os.path.exists(path):
        raise no_such_file(path, plan.cwd)
    return path
