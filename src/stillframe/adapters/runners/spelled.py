"""A whole command behind `dbg test --`, as the other verbs take one: whose runner it is, and what of it is left for that."""

from __future__ import annotations

import re
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from ...errors import UsageError

_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_MODULES = (("-m", "pytest"), ("-m", "unittest"))
_BEFORE = (
    (), ("npx",), ("bunx",), ("npm", "exec", "--"), ("npm", "exec"), ("pnpm", "exec"), ("pnpm",), ("yarn", "run"), ("yarn",),
    ("node",), ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"),
)  # fmt: skip
"""What people write in front of a runner."""
_COMMANDS = {
    ("pytest",): "pytest", ("py.test",): "pytest", ("jest",): "jest", ("vitest", "run"): "vitest", ("vitest",): "vitest",
    ("mocha",): "mocha", ("node", "--test"): "node:test", ("go", "test"): "go", ("cargo", "test"): "cargo",
}  # fmt: skip
_STARTERS = frozenset({
    "bash", "bunx", "bundle", "gradle", "hatch", "just", "make", "mvn", "node", "nox", "npm", "npx", "pdm", "pipenv", "pnpm",
    "poetry", "python", "python3", "rake", "ruby", "sh", "tox", "uv", "yarn",
})  # fmt: skip


class Spelled(msgspec.Struct, frozen=True):
    """What words behind `--` say."""

    args: tuple[str, ...]
    runner: str | None = None
    python: str | None = None
    """The interpreter, where the command names one by its path."""


def spelled(words: tuple[str, ...]) -> Spelled:
    """The runner of a command and its arguments; or the words as they are, where they are arguments alone."""
    names = tuple(PurePath(word).name for word in words)
    for before in _BEFORE:
        at = len(before)
        if names[:at] == before and (found := _runner(words[at:], names[at:])) is not None:
            return found
    if names and names[0] in _STARTERS:
        raise UsageError(
            f"`{' '.join(words[:3])}` is no command of a test runner: `dbg test` finds the runner by itself or by --runner "
            "NAME, and what stands behind -- are its arguments; `dbg crash -- COMMAND` runs any command"
        )
    return Spelled(words)


def _runner(words: tuple[str, ...], names: tuple[str, ...]) -> Spelled | None:
    if names and _PYTHON.fullmatch(names[0]) and words[1:3] in _MODULES:
        return Spelled(words[3:], words[2], words[0] if "/" in words[0] else None)
    if names and _PYTHON.fullmatch(names[0]) and _is_script(words[1:2]):
        found = _script(words[1:])
        return replace(found, python=words[0]) if "/" in words[0] else found
    if names and names[0] == "manage.py":
        return _script(words)
    known = ((command, runner) for command, runner in _COMMANDS.items() if names[: len(command)] == command)
    return next((Spelled(words[len(command) :], runner) for command, runner in known), None)


def _is_script(words: tuple[str, ...]) -> bool:
    return bool(words) and words[0].endswith(".py")


def _script(words: tuple[str, ...]) -> Spelled:
    """A script that runs tests by itself; `manage.py test` is Django's."""
    if PurePath(words[0]).name == "manage.py" and words[1:2] == ("test",):
        return Spelled(words[2:], "django")
    return Spelled(words, "script")
