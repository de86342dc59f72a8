"""How a tool that is missing comes here: a recipe as exact commands, and those commands run where somebody can watch."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from .finding import MADE_FOR, Needs, Recipe, tools_directory
from .interpreters import on_path

_LONGEST = 1800.0
"""An installer that takes longer than this is taken for one that hangs."""
_LAST = 15
"""Lines of an installer that failed which are told again."""
_TO_GIVE_UP = 2.0
_APT = ("apt", "deb")
_MEANS = {"apt": "apt-get", "deb": "apt-get", "npm": "npm", "go": "go"}
"""The program that a recipe takes."""
_UNPACK = (
    'mkdir -p "$1" && cd "$1" && rm -rf usr && apt-get download "$2" && dpkg-deb -x "$2"_*.deb . && rm "$2"_*.deb'
    f' && test -f "$3" && "$4" --version > {MADE_FOR}'
)
"""A package's files in a folder, where they hold for nobody else; none that its packager has put elsewhere. What they were made
for is noted, since they are to be had anew when that is another version."""
_PIP_FOR_OTHERS = 23
"""Since when pip installs for another interpreter than its own by `--python`."""


class Command(msgspec.Struct, frozen=True):
    """One command of an installation; `by_hand` where we may not run it."""

    tool: str
    words: tuple[str, ...]
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    by_hand: bool = False

    @property
    def line(self) -> str:
        """As one would type it."""
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in self.env.items()), shlex.join(self.words)])


def commands(needed: Sequence[Needs], env: Mapping[str, str], cwd: str) -> tuple[Command, ...]:
    """What installs these tools, each by the first of its recipes that this machine has the means for."""
    chosen = [(needs, _usable(needs, needed, env, cwd)) for needs in needed]
    first = [_apt("apt", ("update",), env, cwd)] if any(recipe.manager in _APT for _, recipe in chosen) else []
    return (*first, *(each for needs, recipe in chosen for each in _commands(needs, recipe, env, cwd)))


def _usable(needs: Needs, along: Sequence[Needs], env: Mapping[str, str], cwd: str) -> Recipe:
    coming = {each.tool for each in along}
    return next((each for each in needs.recipes if _has_means(each, coming, env, cwd)), needs.recipes[0])


def is_installable(needs: Needs, env: Mapping[str, str], cwd: str) -> bool:
    """Whether this machine has the means for any of its recipes."""
    return any(_has_means(each, (), env, cwd) for each in needs.recipes)


def _has_means(recipe: Recipe, coming: Collection[str], env: Mapping[str, str], cwd: str) -> bool:
    program = _MEANS.get(recipe.manager)
    return program is None or program in coming or on_path(program, with_tools(env), cwd) is not None


def _commands(needs: Needs, recipe: Recipe, env: Mapping[str, str], cwd: str) -> Sequence[Command]:
    tool = needs.tool
    place = str(tools_directory(env) / tool)
    match recipe.manager:
        case "pip":
            venv, pip = _pip(place)
            return (Command(tool, venv), Command(tool, (*pip, "install", "--upgrade", *recipe.packages)))
        case "go":
            return (Command(tool, ("go", "install", *recipe.packages), {"GOBIN": f"{place}/bin"}),)
        case "npm":
            return (Command(tool, ("npm", "install", "--global", "--prefix", place, *recipe.packages)),)
        case "apt":
            return (_apt(tool, ("install", "--yes", "--no-install-recommends", *recipe.packages), env, cwd),)
        case "deb":
            words = ("sh", "-c", _UNPACK, "sh", place, *recipe.packages, f"usr/{needs.file}", needs.told_by[0])
            return (Command(tool, words),)


def _pip(place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The command that makes a virtual environment there, and a pip for it: our own where we have one that can.

    Debian's Python makes none with a pip in it before one more package is installed, and a pip takes seconds to be put there.
    """
    from importlib import metadata  # rarely needed, and slow to load

    python, quiet = f"{place}/bin/python", "--disable-pip-version-check"
    try:
        ours = int(metadata.version("pip").partition(".")[0]) >= _PIP_FOR_OTHERS
    except (metadata.PackageNotFoundError, ValueError):
        ours = False
    if ours:
        return (sys.executable, "-m", "venv", "--without-pip", place), (
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            quiet,
        )
    return (sys.executable, "-m", "venv", place), (python, "-m", "pip", quiet)


def _apt(tool: str, words: tuple[str, ...], env: Mapping[str, str], cwd: str) -> Command:
    """By root itself or by sudo without a password; a command for somebody else's hands where neither is to be had."""
    line = ("apt-get", *words)
    if os.geteuid() == 0:
        return Command(tool, line, {"DEBIAN_FRONTEND": "noninteractive"})
    if on_path("sudo", env, cwd):
        return Command(tool, ("sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", *line))
    return Command(tool, line, by_hand=True)


def with_tools(env: Mapping[str, str]) -> dict[str, str]:
    """The environment with everything on PATH that was installed in our tools directory, behind what is there already."""
    folders = [str(each) for each in sorted(tools_directory(env).glob("*/bin"))]
    return {**env, "PATH": os.pathsep.join([env.get("PATH", os.defpath), *folders])}


async def run(command: Command, env: Mapping[str, str], show: Callable[[str], None]) -> tuple[int, str]:
    """Run one command to its end, showing what it says as it says it; its exit code, and the last lines of that."""
    last: deque[str] = deque(maxlen=_LAST)
    try:
        process = await asyncio.create_subprocess_exec(
            *command.words, cwd="/", env={**with_tools(env), **command.env}, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True, limit=1 << 20,
        )  # fmt: skip
    except OSError as error:
        return 127, f"cannot run {command.words[0]}: {error.strerror}"
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_LONGEST):
            async for line in process.stdout:
                for text in _lines(line):
                    last.append(text)
                    show(text + "\n")
            code = await process.wait()
    except TimeoutError:
        return 124, f"it was not done after {_LONGEST:g} s"
    finally:
        await _ended(process)
    return code, "\n".join(last)


def _lines(raw: bytes) -> Iterator[str]:
    for text in raw.decode("utf-8", "backslashreplace").replace("\r", "\n").split("\n"):
        if text.strip():
            yield text.rstrip()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Nothing of an installer that was interrupted goes on behind our back."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TO_GIVE_UP):
                await process.wait()
