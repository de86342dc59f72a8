"""Go programs and tests built for debugging, into a directory of the launch's own; the compiler's words are the error."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ...errors import AdapterMissing, LaunchFailed, Try
from ...model.plans import Plan
from .. import elf
from ..finding import located
from .command import Build

_FOR_DEBUGGING = "all=-N -l"
"""No optimisation and no inlining, else lines and variables are missing."""
_UNDEFINED = re.compile(r"\bundefined: ")
_LONGEST = 600.0
"""A build that fetches modules first may take long; one that asks for a password would take for ever."""


class Built(msgspec.Struct, frozen=True):
    """A program ready to be debugged: its file, where it is to run, and what it is given."""

    binary: str
    cwd: str
    args: tuple[str, ...]
    notes: tuple[str, ...] = ()


async def build(plan: Plan, wanted: Build, folder: str) -> Built:
    """Build what is wanted into the folder; LaunchFailed with what the compiler printed."""
    go = located("go", plan.env, plan.cwd)
    if go is None:
        message = "go is not installed, and the program must be built: apt install golang-go"
        raise AdapterMissing(message, hint=Try("setup", {"": "go"}))
    base = Path(plan.cwd, wanted.folder or ".")
    where, targets = _place(base, wanted)
    binary = str(Path(folder, _name(where, targets)))
    flags = _flags(wanted.flags, binary)
    if wanted.kind == "test":
        await _go(go, ("test", "-c", *flags, *targets), where, plan.env)
        if not os.access(binary, os.X_OK):
            raise LaunchFailed(f"{targets[0]} has no test files")
        there = await _go(go, ("list", "-find", "-f", "{{.Dir}}", *targets), where, plan.env)
        return Built(binary, there.strip() or str(where), wanted.args, await _told(binary))
    await _program(go, flags, targets, where, plan.env)
    if not os.access(binary, os.X_OK):
        raise LaunchFailed(f"{' '.join(wanted.targets)} is no program: its package is not main")
    return Built(binary, plan.cwd, wanted.args, await _told(binary))


async def _program(
    go: str, flags: Sequence[str], targets: tuple[str, ...], where: Path, env: Mapping[str, str]
) -> None:
    """One file may be a program by itself, or stand for the package that it belongs to."""
    try:
        await _go(go, ("build", *flags, *targets), where, env)
    except LaunchFailed as failed:
        alone = len(targets) == 1 and targets[0].endswith(".go")
        if not alone or not _UNDEFINED.search(failed.message):
            raise
        try:
            await _go(go, ("build", *flags, "."), where, env)
        except LaunchFailed:
            raise failed from None


def _flags(given: Sequence[str], binary: str) -> list[str]:
    """The user's flags, with ours where they say nothing of their own."""
    ours = [] if any(each.startswith("-gcflags") for each in given) else [f"-gcflags={_FOR_DEBUGGING}"]
    return [*ours, *(each for each in given if not each.startswith("-o")), "-o", binary]


def _place(base: Path, wanted: Build) -> tuple[Path, tuple[str, ...]]:
    """The directory to build in, so that the module is found by what is built, and the targets as seen from there."""
    first = Path(base, wanted.targets[0])
    if all(each.endswith(".go") for each in wanted.targets) and first.parent.is_dir():
        return first.parent, tuple(f"./{Path(each).name}" for each in wanted.targets)
    if first.is_dir() and not wanted.targets[0].startswith(("./", "../")):
        return first, (".",)
    return (first, (".",)) if first.is_dir() else (base, wanted.targets)


def _name(where: Path, targets: tuple[str, ...]) -> str:
    word = targets[0]
    return (where.resolve().name if word in (".", "./") else Path(word).stem) or "program"


async def _go(go: str, words: Sequence[str], where: Path, env: Mapping[str, str]) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            go, *words, cwd=where, env=dict(env), stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        raise LaunchFailed(f"cannot run {go} in {where}: {error.strerror}") from None
    try:
        async with asyncio.timeout(_LONGEST):
            out, said = await process.communicate()
    except TimeoutError:
        raise LaunchFailed(f"go {words[0]} took longer than {_LONGEST:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        text = (said or out).decode("utf-8", "replace").strip()
        raise LaunchFailed(f"go {words[0]} failed:\n{text}" if text else f"go {words[0]} failed")
    return out.decode("utf-8", "replace")


_SETTING = "build\t"
"""What each line about the build begins with."""
_KEEPS_VARIABLES = re.compile(r"^build\t-gcflags=.*-N\b", re.MULTILINE)


def is_go_binary(path: Path) -> bool:
    """Whether an ELF file was made by Go: such a one has a section with what it was built of."""
    found = elf.read(path)
    return found is not None and elf.GO_BUILD_INFO in found.sections


async def _told(binary: str) -> tuple[str, ...]:
    """What is to be said of a program that was built with flags of the user's."""
    return await asyncio.to_thread(notes_of, Path(binary))


def notes_of(path: Path) -> tuple[str, ...]:
    """What is to be said of a program that somebody else has built: Go optimises unless it is told not to, and can be told to
    leave out what a debugger reads."""
    found = elf.read(path)
    name = Path(os.path.realpath(path)).name
    if found is not None and not found.has_debug_info:
        return (f"{name} has no debug information: go build without -ldflags='-s -w' keeps lines and variables",)
    if found is None or _SETTING not in found.made_by_go or _KEEPS_VARIABLES.search(found.made_by_go):
        return ()
    return (f"{name} was optimised, and lacks lines and variables: go build -gcflags='all=-N -l' keeps them",)
