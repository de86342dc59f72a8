"""What `test` answers: how the tests went, and of a red one everything that explains it."""

from __future__ import annotations

from typing import Literal

import msgspec

from .outcomes import AnyOutcome
from .reports import Held, Repeated, ReportFrame, Unrecorded
from .sinces import Since
from .values import Value

Verdict = Literal["green", "red", "broken", "unfinished", "nothing ran"]


class MadeCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A call that was made on the way to a failure, as a recorded run saw it return."""

    function: str
    arguments: tuple[Value, ...] = ()
    result: str | None = None
    raised: str | None = None
    yielded: tuple[str, ...] = ()
    """What a generator gave before it ended: the first values, and the last."""
    yielded_total: int = 0
    file: str | None = None
    line: int | None = None
    """Where it returned from, or where its function begins."""
    depth: int = 0
    """How many calls lie between this one and the test."""
    count: int = 1
    """How many calls like this one follow each other."""
    values: tuple[Value, ...] = ()
    """Its other locals when it returned."""
    rank: int = 0
    """How much it says of the failure, 0 the most: where there is no room for all, those of the highest go first."""
    between: bool = False
    """It says less than what it called, and is told for the sake of that."""


class Beside(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is known of a cause, or of an exception in a group, beside what it says."""

    values: tuple[Value, ...] = ()
    """Some of the innermost call of the user's that it left, what the line names first."""
    added: tuple[str, ...] = ()


class Given(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A fixture that gave a test what it failed by: a line of its function, and which of that function's calls it was."""

    name: str
    file: str
    line: int
    number: int = 1


class Shared(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was printed while a file of tests ran, or the whole run, where the runner does not tell by which test."""

    by: Literal["file", "run"]
    output: str = ""
    stderr: str = ""
    printed: int = 0


class TestFailure(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One test that failed, or a file of tests that could not be read."""

    id: str
    label: str = ""
    """Which part of it, where a test has several (subtests)."""
    when: str = "call"
    """setup, call, teardown; collection where no test of the file could run."""
    type: str = ""
    message: str = ""
    causes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()
    """Of each cause, then of each member, in their order; none where there is nothing to tell of any."""
    added: tuple[str, ...] = ()
    """What was added to the exception on its way (`add_note` of Python)."""
    held: tuple[Value, ...] = ()
    """What the exception holds beside its message."""
    expression: str = ""
    """The source of the statement that failed."""
    operands: tuple[Value, ...] = ()
    frames: tuple[ReportFrame, ...] = ()
    """The user's own calls from the one that failed out to the test."""
    file: str | None = None
    line: int | None = None
    output: str = ""
    stderr: str = ""
    log: str = ""
    printed: int = 0
    """Characters that it printed in all, where only the last of them are told."""
    shared: tuple[Shared, ...] = ()
    """What was printed by nobody knows which test."""
    calls: tuple[MadeCall, ...] = ()
    calls_total: int = 0
    makers: tuple[int, ...] = ()
    """The lines of the failing call that made what the failing line uses."""
    names: tuple[str, ...] = ()
    given: Given | None = None
    """The fixture that made it, where no line of the failing call did."""
    notes: tuple[str, ...] = ()

    @property
    def asserts(self) -> bool:
        """Whether it failed by what it claimed, not by an error of something else."""
        return "Assert" in self.type or bool(self.operands) or not self.type

    @property
    def place(self) -> str:
        """Test, type and place, by which two failures are of one kind."""
        top = self.frames[0] if self.frames else None
        where = f" at {top.file}:{top.line}" if top else ""
        return f"{self.id}: {self.type or self.message[:80]}{where}"


class Counts(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How many tests ended in which way."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    xfailed: int = 0
    """Failed as they were expected to."""
    xpassed: int = 0
    """Passed though they were expected to fail, which the runner lets pass."""
    uncollected: int = 0
    """Files of tests that could not be read."""
    deselected: int = 0


class Told(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One run of a runner, as it was told from the inside or by the runner's own report."""

    version: str = ""
    runtime: str = ""
    """`Python 3.12.1`, `Node 20.20.2`."""
    interpreter: str = ""
    counts: Counts = Counts()
    failures: tuple[TestFailure, ...] = ()
    """The first ones; all are counted."""
    names: tuple[str, ...] = ()
    """Tests that there are, where they were asked for."""
    begun: bool = False
    """The runner came up at all."""
    finished: bool = False
    running: str | None = None
    """The test that was under way when it ended."""
    ordinal: int = 1
    """Of the calls of the first failing test's function, the one that failed."""
    problem: str = ""
    """What the runner itself had to say, where it did not run the tests."""
    notes: tuple[str, ...] = ()


class TestReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Tests that were run, and why the first red one is red."""

    runner: str
    verdict: Verdict
    command: tuple[str, ...]
    end: AnyOutcome
    version: str = ""
    runtime: str = ""
    interpreter: str = ""
    counts: Counts = Counts()
    failures: tuple[TestFailure, ...] = ()
    ran: int = 1
    """How often the tests, or the failing one, ran."""
    running: str | None = None
    problem: str = ""
    every: bool = False
    """Each failure was asked for, in short."""
    held: Held | None = None
    unrecorded: Unrecorded | None = None
    repeated: Repeated | None = None
    since: Since | None = None
    notes: tuple[str, ...] = ()
