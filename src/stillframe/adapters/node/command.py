"""A Node command line as typed in a shell, understood: the runtime, its own flags, and the program."""

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

NAMES = re.compile(r"^node(js)?$")
PACKAGES = {"node": "nodejs", "nodejs": "nodejs"}
"""The names of the runtime, and what is installed to have it."""
RUNNERS = re.compile(r"^(npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|tsx)$")
"""Programs that run in Node to run others: wrappers, not what anybody wants to debug."""
_WITH_VALUE = re.compile(
    r"-r|-C|--(require|import|conditions|loader|experimental-loader|env-file|env-file-if-exists|title"
    r"|max-http-header-size|icu-data-dir|disable-warning|input-type|watch-path|unhandled-rejections|test-reporter"
    r"|test-reporter-destination|test-name-pattern|test-concurrency|test-timeout)"
)
"""Flags whose value is the next word."""
_OTHERS = ("--test", "--watch", "--watch-path", "--run")
"""Flags that make Node start the program in a process of its own, which it may do many times."""
_IN_ITSELF = ("--test-isolation=none", "--experimental-test-isolation=none")
_CODE = ("-e", "--eval", "-p", "--print", "-pe")
_NO_PROGRAM = ("-v", "--version", "-h", "--help", "-i", "--interactive", "-", "--v8-options", "-c", "--check")


def runs_node(plan: Plan) -> bool:
    """Whether a command's first word is Node, or a script that Node runs itself."""
    if not plan.command:
        return False
    name = Path(plan.command[0]).name
    if NAMES.match(name):
        return not runs_others(plan)
    script = _script(plan)
    return script is not None and not RUNNERS.match(name) and shebang(script) is not None


def runs_others(plan: Plan) -> bool:
    """Whether a command is Node in the part of a runner: of tests, of scripts, or again and again."""
    if not plan.command or not NAMES.match(Path(plan.command[0]).name):
        return False
    words = plan.command[1:]
    flags = [word.partition("=")[0] for word in words[: _end_of_flags(words)]]
    return any(flag in _OTHERS for flag in flags) and not any(word in _IN_ITSELF for word in words)


def _end_of_flags(words: Sequence[str]) -> int:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        at += 2 if _WITH_VALUE.fullmatch(words[at]) else 1
    return min(at, len(words))


def understood(plan: Plan) -> Plan:
    """A plan of kind `command` as one of kind file or code; others stay as they are."""
    if plan.kind != "command":
        return plan
    first, rest = plan.command[0], plan.command[1:]
    if NAMES.match(Path(first).name):
        return _node(plan, interpreter_meant(plan, first, PACKAGES), rest)
    script = _script(plan)
    words = shebang(script) if script is not None else None
    if script is None or words is None:
        raise UsageError(f"{first} is no program of Node: its first line does not name it")
    return _node(plan, interpreter_meant(plan, "node", PACKAGES), (*words[1:], str(script), *rest))


def _node(plan: Plan, runtime: str, words: Sequence[str]) -> Plan:
    flags: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in _NO_PROGRAM:
            raise UsageError(f"node {word} runs no program that could be debugged")
        if word in _CODE:
            if not rest:
                raise UsageError(f"node {word} needs code to run")
            return replace(
                plan, kind="code", program=rest[0], args=tuple(rest[1:]), interpreter=runtime,
                interpreter_flags=(*flags, word),
            )  # fmt: skip
        if word.startswith(("--inspect", "--debug")):
            continue  # the inspector is ours to open
        if word == "--":
            continue
        if word.startswith("-"):
            flags.append(word)
            if _WITH_VALUE.fullmatch(word) and rest:
                flags.append(rest.pop(0))
            continue
        return replace(
            plan, kind="file", program=word, args=tuple(rest), interpreter=runtime, interpreter_flags=tuple(flags)
        )
    if any(flag.startswith("--test") or flag == "--run" for flag in flags):
        return replace(plan, kind="file", program="", interpreter=runtime, interpreter_flags=tuple(flags))
    raise UsageError(f"{' '.join(plan.command)} names no program to debug")


def _script(plan: Plan) -> Path | None:
    word = plan.command[0]
    if "/" in word:
        path = Path(plan.cwd, word)
        return path if os.path.isfile(path) else None
    found = on_path(word, plan.env, plan.cwd)
    return Path(found) if found else None


def shebang(path: Path) -> tuple[str, ...] | None:
    """Node and the words for it in a script's first line; None where that names something else, or cannot be read."""
    try:
        return named_interpreter(path, NAMES)
    except LaunchFailed:
        return None
