"""Test runners: one file a family, with how each is found in a project, run, and read; and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from ...errors import UsageError
from ...model.outcomes import AnyOutcome, Stop
from ...model.places import BreakSpec
from ...model.plans import Plan
from ...model.recorder import Where
from ...model.reports import ReportFrame
from ...model.tested import TestFailure, Told
from ...model.values import Value
from ...settings import project_root
from .signs import Signs


class TestAsk(msgspec.Struct, frozen=True):
    """What is to be tested, as the caller gave it, and in which project."""

    selector: str | None
    args: tuple[str, ...]
    cwd: str
    """Where the words of the caller are meant."""
    root: str = "."
    """The directory that the runner's signs were found in."""
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    umask: int = 0o022
    python: str | None = None
    hold: bool = False
    """Stay at the first failure, under a debugger."""
    debugged: bool = False
    """Run under a debugger, and stay nowhere by itself."""
    first: bool = False
    """No test after the first that fails is of interest."""
    names: bool = False
    """Tell the names of tests and run none."""


class Live(msgspec.Struct, frozen=True):
    """A second run under a debugger that stops where the first one failed."""

    plan: Plan
    breaks: tuple[BreakSpec, ...] = ()
    catch: tuple[str, ...] = ("off",)
    then_catch: tuple[str, ...] = ()
    """Exceptions to stop at from the first of the breakpoints on: before it, runners throw many for their own ends."""
    is_it: Callable[[Stop], bool] = lambda stop: True
    """Whether a stop is at the failure that the first run told of."""
    cuts: bool = False
    """Whether the error itself told all calls of the user's, so that further ones belong to the runner's affairs."""
    hidden: Callable[[Value], bool] = lambda value: False
    """Which of the user's values are of the runner's own making."""
    wraps: Callable[[ReportFrame], bool] = lambda frame: False
    """Whether a call is the one that the runner itself puts around a test."""
    fails_again: Callable[[], bool] = lambda: False
    """Whether the report of this run has the failure too, wherever it was stopped."""


class Runner(Protocol):
    """A test runner."""

    name: str
    stays: bool
    """Whether the run itself can stay at its first failure, so that no second one is needed to look at it."""
    alone: bool
    """Whether further runs are of the failing test alone, since its tests share nothing as a rule."""
    by_id: bool
    """Whether the name of a failed test chooses it, whatever else was chosen with it before."""
    built_there: bool
    """Whether what a debugger runs of a failed test is built from the source that lies there, also in a copy of the project."""
    recordable: bool
    """Whether recorders can see its tests: not where it compiles them in a world of its own."""

    def signs(self, signs: Signs) -> int:
        """How surely a directory's tests are of its kind: 0 not at all, 1 perhaps, 2 it says so itself."""
        ...

    async def plan(self, ask: TestAsk, folder: Path) -> Plan:
        """The run, which leaves its report in the folder. LaunchFailed or AdapterMissing where that is known to be in vain."""
        ...

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        """What the run told, also of one that did not come to its end."""
        ...

    async def live(self, ask: TestAsk, failure: TestFailure, folder: Path) -> Live | None:
        """How to stop at a failure; None where the first run has told everything."""
        ...

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        """The runner's own call that makes a test ready, calls it and cleans up behind it, and the condition by which it is
        that of this test; None where no recorder could see it."""
        ...

    def listed(self, ask: TestAsk) -> tuple[str, ...] | None:
        """The names of tests, as their files have them; None where a run must be asked (`TestAsk.names`)."""
        ...


def runners() -> tuple[Runner, ...]:
    """Every runner, the likelier one first where a project has signs of several."""
    from .cargotest import CARGO_TEST
    from .gotest import GO_TEST
    from .jsrunners import JEST, MOCHA, VITEST
    from .nodes import NODE_TEST
    from .pythons import DJANGO, PYTEST, SCRIPT, UNITTEST

    return (PYTEST, DJANGO, UNITTEST, SCRIPT, VITEST, JEST, MOCHA, NODE_TEST, GO_TEST, CARGO_TEST)


class Choice(msgspec.Struct, frozen=True):
    """The runner of a project, the directory that says so, and what else might have been meant."""

    runner: Runner
    root: str
    others: tuple[str, ...] = ()


def choose(selector: str | None, cwd: str, name: str | None) -> Choice:
    """The runner asked for, or that the project at hand has signs of; a usage error that lists them where there is none."""
    everyone = runners()
    start = _start(selector, cwd)
    levels = _levels(start, cwd)
    if name is not None:
        found = next((each for each in everyone if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in everyone)
            raise UsageError(f"no runner {name!r}; there are: {known}")
        root = next((str(each.folder) for each in levels if found.signs(each)), cwd)
        return Choice(found, root)
    ending = start.suffix if start.is_file() else ""
    for at, level in enumerate(levels):
        likely = _likely(level, everyone, ending)
        if not likely:
            continue
        family = level.endings_of(likely[0].name)
        others = tuple(each.name for each in likely[1:] if level.endings_of(each.name) != family)
        # What a project says itself, of the same language, is worth more than how a test looks.
        for above in levels[at:]:
            said = [each for each in everyone if each.signs(above) > 1 and above.endings_of(each.name) == family]
            if said:
                return Choice(said[0], str(above.folder), others)
        return Choice(likely[0], str(level.folder), others)
    known = ", ".join(each.name for each in everyone)
    if other := next((each for level in levels if (each := level.foreign_runner)), None):
        raise UsageError(
            f"the tests here are run by {other}, whose reports are not known: dbg launch --break FILE:LINE -- npx {other} holds"
            f" them, probe and trace watch them; runners that are known: {known}"
        )
    raise UsageError(f"no tests of a known runner found from {cwd}; --runner names one: {known}")


def _likely(level: Signs, everyone: tuple[Runner, ...], ending: str) -> list[Runner]:
    """The runners that a directory has signs of, the surest first; of the language of a file that was named."""
    signs = {each.name: each.signs(level) for each in everyone}
    found = sorted((each for each in everyone if signs[each.name]), key=lambda each: -signs[each.name])
    return [each for each in found if ending in level.endings_of(each.name)] if ending else found


def _start(selector: str | None, cwd: str) -> Path:
    """The file or directory that a selector names, if it names one; else where the call came from."""
    word = (selector or "").partition("::")[0]
    path = Path(cwd, word)
    return path if word and path.exists() else Path(cwd)


def _levels(start: Path, cwd: str) -> list[Signs]:
    """The directories from where the tests are up to the project's root."""
    folder = start if start.is_dir() else start.parent
    top = Path(project_root(str(folder)))
    folders = [folder, *folder.parents]
    last = folders.index(top) if top in folders else 0
    return [Signs(each) for each in folders[: last + 1]]
