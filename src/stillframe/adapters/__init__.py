"""One file per language or tool: what it claims, how it is found, started and joined; and the list of them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Protocol

from ..backends import Launch, open_backend
from ..errors import UsageError
from ..model.backend import AttachPlan, Backend, Plan, Tool


class Adapter(Protocol):
    """A language or tool, as data and three functions."""

    name: str
    claims: tuple[str, ...]
    """File names that it runs, as shell patterns."""
    commands: tuple[str, ...]
    """First words of a command that it runs, as shell patterns."""

    def tool(self) -> Tool:
        """The debugger underneath and its version; AdapterMissing, with the line that installs it, where there is none."""
        ...

    def understands(self, plan: Plan) -> bool:
        """Whether this plan is a program of its kind."""
        ...

    async def launch(self, plan: Plan) -> Launch:
        """What to start; LaunchFailed with the root cause where that is already known."""
        ...

    async def attach(self, plan: AttachPlan) -> Launch:
        """What to join."""
        ...


def adapters() -> tuple[Adapter, ...]:
    """Every adapter there is, in the order in which they are asked."""
    from .python import PYTHON

    return (PYTHON,)


def named(name: str) -> Adapter:
    for each in adapters():
        if each.name == name:
            return each
    raise UsageError(f"no adapter {name!r}; there are: {', '.join(each.name for each in adapters())}")


def for_plan(plan: Plan) -> Adapter:
    """The adapter that a plan names, or the first that understands it."""
    if plan.adapter:
        return named(plan.adapter)
    for each in adapters():
        if each.understands(plan):
            return each
    known = ", ".join(each.name for each in adapters())
    raise UsageError(f"cannot tell how to debug {' '.join(plan.command) or plan.program!r}; adapters here: {known}")


async def open_program(plan: Plan) -> Backend:
    """Start a program under its debugger, held before its first instruction."""
    return await open_backend(await for_plan(plan).launch(plan))


async def open_running(plan: AttachPlan) -> Backend:
    """Join a program that runs already."""
    adapter = named(plan.adapter) if plan.adapter else adapters()[0]
    return await open_backend(await adapter.attach(plan))


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether the last part of a path fits one of the patterns."""
    return any(fnmatch(Path(name).name, pattern) for pattern in patterns)
