"""One file per language or tool: what it claims, how it is found, started and joined; and the list of them."""

from __future__ import annotations

import asyncio
import functools
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from ..backends import Launch, open_backend
from ..errors import LaunchFailed, Try, UsageError
from ..model import plainfiles, wording
from ..model.backend import Backend, Tool
from ..model.plans import AttachPlan, Plan
from ..settings import load, project_root
from . import elf
from .absent import command_meant, no_such_file, no_such_program
from .building import way_to_make
from .cores import completed
from .finding import Needs, find

if TYPE_CHECKING:
    from .declarations import Declarations


class Adapter(Protocol):
    """A language or tool, as data and three functions."""

    name: str
    languages: tuple[str, ...]
    """The languages that it debugs, as people call them."""
    claims: tuple[str, ...]
    """File names that it runs, as shell patterns."""
    roots: tuple[str, ...]
    """Files whose presence makes a directory a program of its kind."""
    first_words: re.Pattern[str] | None
    """What its commands begin with: by such a name a command is its own, whatever kind of file stands behind it."""
    needs: tuple[Needs, ...]
    """The tools without which it does nothing; any one of them will do."""

    def tool(self) -> Tool:
        """The debugger underneath and its version; AdapterMissing, with the line that installs it, where there is none."""
        ...

    def understands(self, plan: Plan) -> bool:
        """Whether this plan is a program of its kind."""
        ...

    def understood(self, plan: Plan) -> Plan:
        """The plan with a whole command taken apart: kind, program, arguments, interpreter and its flags."""
        ...

    async def launch(self, plan: Plan) -> Launch:
        """What to start; LaunchFailed with the root cause where that is already known."""
        ...

    def joins(self, plan: AttachPlan) -> bool:
        """Whether what is to be joined is surely a program of its kind."""
        ...

    async def attach(self, plan: AttachPlan) -> Launch:
        """What to join."""
        ...


def adapters() -> tuple[Adapter, ...]:
    """Every adapter there is, in the order in which they are asked."""
    from .gdb import GDB
    from .go import GO
    from .lldb import LLDB
    from .node import NODE
    from .python import PYTHON
    from .ruby import RUBY

    return (PYTHON, NODE, GO, RUBY, LLDB, GDB)


@functools.cache
def _wrapper() -> Adapter:
    """For any command that none of them claims: those of them that can follow what it starts do."""
    from .wrappers import Follows, WrapperAdapter

    return WrapperAdapter(tuple(each for each in adapters() if isinstance(each, Follows)))


def _plain() -> Adapter:
    """For runs that are recorded from the inside instead of debugged; asked for by name only."""
    from .plain import PlainAdapter

    return PlainAdapter()


def declared_here(env: Mapping[str, str], cwd: str) -> Declarations:
    """The debuggers that the settings of user and project declare, and the catalogue's."""
    from .declarations import declarations

    return declarations(env, cwd, frozenset(each.name for each in adapters()) | {"wrapper", "plain"})


def broken_entries(env: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    """What is declared and cannot be used, each with its reason."""
    return tuple(str(each) for each in declared_here(env, cwd).broken)


def named(name: str, env: Mapping[str, str], cwd: str) -> Adapter:
    for each in (*adapters(), _wrapper(), _plain()):
        if each.name == name:
            return each
    others = declared_here(env, cwd)
    if found := next((each for each in others.all if each.name == name), None):
        return found
    if broken := next((each for each in others.broken if each.name == name), None):
        raise UsageError(str(broken))
    known = [each.name for each in (*adapters(), *others.all)]
    raise UsageError(f"no adapter {name!r}; there are: {', '.join(known)}")


def for_plan(plan: Plan) -> Adapter:
    """The adapter that a plan names, or the first that understands it: the user's own, ours, the project's, the catalogue's."""
    if plan.adapter:
        return named(plan.adapter, plan.env, plan.cwd)
    word = plan.command[0] if plan.kind == "command" else plan.program or ""
    path = Path(plan.cwd, word)
    reason = plainfiles.why_out_of_reach(path) if plan.kind in ("file", "command") else None
    if reason and (plan.kind == "file" or "/" in word):
        raise LaunchFailed(f"cannot read {path}: {reason}")
    if plan.kind == "file" and not os.path.exists(path) and (meant := command_meant(plan)):
        raise meant
    others = declared_here(plan.env, plan.cwd)
    everyone = (*_in_order(plan), *others.project, _wrapper(), *others.catalogue)
    found = next((each for each in others.user if each.understands(plan)), None) or _below_a_sign(plan, others)
    found = found or next((each for each in everyone if each.understands(plan)), None)
    if found is not None:
        return found
    if plan.kind == "command" and not _exists(plan):
        way = wording.either("runs without the `--`", "is given as `program`, or behind the interpreter that runs it")
        is_here = f"; the file of that name here {way}" if os.path.isfile(Path(plan.cwd, plan.command[0])) else ""
        raise no_such_program(plan.command[0], plan.cwd, plan.env, is_here)
    if plan.kind == "file" and not os.path.exists(path):
        raise no_such_file(path, plan.cwd, way_to_make(path, Path(plan.cwd)))
    if plan.kind == "file" and os.path.isdir(path):
        raise LaunchFailed(f"{path} is a directory without a __main__.py, package.json or index.js")
    what = " ".join(plan.command) or repr(plan.program)
    here = ", ".join(_installed(plan, others)) or "none"
    raise UsageError(f"cannot tell how to debug {what}; adapters here: {here}", hint=Try("doctor"))


def _installed(plan: Plan, others: Declarations) -> list[str]:
    """The adapters whose tool is on this machine, and of use."""
    found = {each.name: [find(needs, plan.env, plan.cwd) for needs in each.needs] for each in adapters()}
    ours = [name for name, tools in found.items() if any(each.path and not each.problem for each in tools)]
    return [*ours, *(each.name for each in others.all if each.found(plan.env, plan.cwd))]


def _in_order(plan: Plan) -> Sequence[Adapter]:
    """Every adapter, those first whose sign of a project is nearest above the program: a directory may have two of them. A
    command is known by its first word before it is looked into: the `go` that pip installs is a script of Python's."""
    everyone = adapters()
    if plan.kind == "command":
        word = Path(plan.command[0]).name if plan.command else ""
        return sorted(everyone, key=lambda each: each.first_words is None or not each.first_words.fullmatch(word))
    path = Path(plan.cwd, plan.program or ".")
    if plan.kind != "file" or not os.path.isdir(path):
        return everyone
    for folder in (path, *path.resolve().parents):
        if near := [each for each in everyone if any(os.path.exists(folder / sign) for sign in each.roots)]:
            return (*near, *(each for each in everyone if each not in near))
    return everyone


def _below_a_sign(plan: Plan, others: Declarations) -> Adapter | None:
    """The declared adapter whose sign of a project is nearest above a directory or a binary, which no name tells of; a binary is
    for the user's own alone, since ours know it by its kind."""
    path = Path(plan.cwd, plan.program or ".")
    is_binary = elf.is_elf(path)
    if plan.kind != "file" or not (is_binary or os.path.isdir(path)):
        return None
    if not is_binary and any(each.understands(plan) for each in adapters()):
        return None
    declared = others.user if is_binary else others.all
    return next((each for folder in path.resolve().parents for each in declared if each.is_signed(folder)), None)


def understand(plan: Plan) -> Plan:
    """A plan as its adapter understands it: a whole command taken apart into the program and its arguments."""
    adapter = for_plan(plan)
    return replace(adapter.understood(plan), adapter=adapter.name)


def _exists(plan: Plan) -> bool:
    word = plan.command[0]
    if "/" in word:
        return os.path.exists(Path(plan.cwd) / word)
    return shutil.which(word, path=plan.env.get("PATH")) is not None


async def open_program(plan: Plan) -> Backend:
    """Start a program under its debugger, held before its first instruction."""
    return await open_backend(_timed(await for_plan(plan).launch(plan), plan.env, plan.cwd))


async def open_running(plan: AttachPlan) -> Backend:
    """Join a program that runs already, or look at what it left."""
    plan = await asyncio.to_thread(completed, plan)
    adapter = named(plan.adapter, plan.env, plan.cwd) if plan.adapter else await asyncio.to_thread(_joining, plan)
    return await open_backend(_timed(await adapter.attach(plan), plan.env, plan.cwd))


def _joining(plan: AttachPlan) -> Adapter:
    """The adapter that knows what runs there; Python's, which can only be tried, where none does."""
    return next((each for each in adapters() if each.joins(plan)), adapters()[0])


def _timed(launch: Launch, env: Mapping[str, str], cwd: str) -> Launch:
    """The launch with the deadlines that the caller's settings give."""
    settings = load(env or os.environ, Path(project_root(cwd)))
    start = settings.start_timeout * launch.slowness
    return replace(launch, request_timeout=settings.request_timeout, start_timeout=start)


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether the last part of a path fits one of the patterns."""
    return any(fnmatch(Path(name).name, pattern) for pattern in patterns)
