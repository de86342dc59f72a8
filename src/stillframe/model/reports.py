"""What the fat verbs answer: a whole run told in one report, with the frames, values and ends that explain it."""

from __future__ import annotations

from typing import Literal

import msgspec

from .outcomes import AnyOutcome, SourceLine
from .sinces import Divergence, Since
from .values import ExceptionInfo, Frame, Value

Verdict = Literal["crashed", "handled", "ended well", "hangs", "lost"]
"""handled: an error came up in the user's code while it answered, and somebody caught it."""
FailureWord = Literal["exception", "signal", "sanitizer", "exit", "unknown"]
Unrecorded = Literal["off", "paused"]
"""Why nothing of a run is in the record: nobody wants it there, or the disk takes nothing."""


class ReportFrame(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A call of the user's code as a report tells it: where it stands, its line, and what that line uses first."""

    function: str
    file: str | None = None
    line: int | None = None
    source: tuple[SourceLine, ...] = ()
    values: tuple[Value, ...] = ()
    values_total: int | None = None
    used: int = 0
    """How many of the values, from the first, are named on the line itself."""
    folded: int = 0
    """Frames of libraries between this call and the one told before it, which is further inside."""
    folded_in: tuple[str, ...] = ()
    times: int = 1
    """How many calls it stands for: a function that called itself from the same line is told once."""
    skipped: int = 0
    """Calls between this one and the one told before it that are left out, because they are many."""
    awaited: str | None = None
    """How it started the calls before it without waiting for them: `await`, `setTimeout`, …"""
    library: bool = False
    """Somebody else's code: told only where no call of the user's own is there."""
    note: str | None = None
    """Why its values could not be had."""


class Witnessed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The stack of a held thread, innermost call first."""

    frames: tuple[ReportFrame, ...] = ()
    total: int | None = None
    """How many calls there are in all, those of libraries too; None where the debugger has not gone to the end."""
    goes_on: bool = False
    """There are further calls outside of the last one, so many that nobody counted them, as where a stack overflows."""


class Held(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What `--hold` left behind: an ordinary session, and the seconds after which nobody's use gives it up."""

    session: str
    lease: float
    again: bool = False
    """It is another run than the one that the report tells of: the same command, run once more under the debugger."""
    runs: bool = False
    """It is kept, and yet not held: all of it is blocked where its debugger cannot stop it."""


class Failure(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One way in which a program went wrong, and where."""

    what: str
    """`KeyError: 'qty'`, `SIGSEGV: …`, `exit 3`."""
    kind: FailureWord = "unknown"
    exception: ExceptionInfo | None = None
    stack: Witnessed = Witnessed()
    process: str | None = None
    """The child process that it happened in."""
    thread: str | None = None
    """The thread, where the program had several."""
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Type and place, by which two failures are of one kind."""
        top = self.stack.frames[0] if self.stack.frames else None
        name = self.exception.type if self.exception else self.what
        return f"{name} at {top.file}:{top.line} in {top.function}" if top else name


class Waiting(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Threads, tasks or goroutines that stand in the same place of the user's code."""

    what: str
    """thread, task, goroutine, promise …"""
    names: tuple[str, ...]
    count: int
    stack: Witnessed = Witnessed()
    waits_for: str | None = None
    """What it waits for, as far as that can be told; None where nothing tells."""
    held_by: str | None = None
    """Who holds it; `unknown` where something is waited for that does not know its holder."""
    state: str | None = None


class HangReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A program that does not come to an end: who waits where, and for what."""

    command: tuple[str, ...] = ()
    session: str | None = None
    after: float | None = None
    said: str | None = None
    """What its runtime said as it ended a program in which nobody could go on."""
    groups: tuple[Waiting, ...] = ()
    parties: int = 0
    """Threads, tasks and the like that were found in all."""
    runtime: int = 0
    """Those of them without a call of the user's code, folded."""
    cycle: tuple[str, ...] = ()
    """Who waits for whom, round: the last waits for the first."""
    end: AnyOutcome | None = None
    notes: tuple[str, ...] = ()
    held: Held | None = None
    unrecorded: Unrecorded | None = None
    was: Literal["running", "held"] | None = None
    """Of a session or process of somebody's: how it was found."""
    left: Literal["running", "held"] | None = None
    """And how it was left."""


class FailureKind(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    what: str
    count: int


class Repeated(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The same command, run again and again."""

    runs: int
    failed: int
    asked: int
    kinds: tuple[FailureKind, ...] = ()
    first: int | None = None
    """The number of the first run that failed, from 1; its evidence is the report's."""
    difference: Divergence | None = None
    """The first thing that was otherwise in a failing run than in a passing one."""
    varies: Divergence | None = None
    """Where there is none: the last thing before the failure that no passing run had, though these differ in it, too."""
    compared: str | None = None
    """How the runs were looked at to find it, with the rate of failures while looking."""


class CrashReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A run until something went wrong, or to its good end."""

    command: tuple[str, ...]
    verdict: Verdict
    end: AnyOutcome
    failure: Failure | None = None
    handled: Failure | None = None
    """Of a program that ended itself with a failing code: the last error that it had caught and reported."""
    also: tuple[Failure, ...] = ()
    """What else went wrong in the same run, without its values."""
    also_total: int = 0
    hang: HangReport | None = None
    repeated: Repeated | None = None
    since: Since | None = None
    held: Held | None = None
    unrecorded: Unrecorded | None = None
    notes: tuple[str, ...] = ()
    assumed: bool = False
    """Nobody said what to run."""


def spot(frame: Frame | ReportFrame) -> tuple[str | None, int | None, str]:
    """What makes two calls the same place."""
    return frame.file, frame.line, frame.function
