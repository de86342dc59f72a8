"""What came of it: the four outcomes that everything which moves a program returns, and the breakpoint.

A `Stop` is the capture of a held program, made once, at the stop; the record stores this same shape.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .values import ExceptionInfo, Frame, Part, Value

AT_RETURN = "return"
"""The reason of a stop at the end of a call that no code of the user's goes on with: the line shown there has run."""


class SourceLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of source near the stop; `here` marks the one about to run."""

    line: int
    text: str
    here: bool = False


class Change(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A local that went from `old` to `new`; None where it did not exist."""

    name: str
    old: str | None = None
    new: str | None = None
    parts: tuple[Part, ...] = ()
    """Those of it that changed, where the texts may not show them."""


class Passed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A line that was run on the way, and what running it changed in its frame; without a line, what changed in a function
    since the program was held in it before, where more than one line of it may have run."""

    file: str | None = None
    line: int | None = None
    function: str | None = None
    """Only where the next line passed is in another frame, so that the reader can follow."""
    changes: tuple[Change, ...] = ()


class DoResult(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The command of `--do`: its exit status once it ended, and what it printed."""

    command: str
    exit_code: int | None = None
    output: str = ""
    running: bool = False


Bound = Literal["bound", "pending", "failed", "unconfirmed"]


class Spot(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file and line, or a symbol, as part of a breakpoint."""

    file: str | None = None
    line: int | None = None
    symbol: str | None = None
    text: str | None = None
    column: int | None = None


class Breakpoint(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A breakpoint: what was asked for, what it became, and how often it stopped the program."""

    id: str
    requested: Spot
    state: Bound
    actual: Spot | None = None
    message: str | None = None
    condition: str | None = None
    hit: str | None = None
    log: str | None = None
    once: bool = False
    enabled: bool = True
    hits: int = 0


class Cut(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a budget left out of a part of the reply."""

    part: str
    shown: int
    total: int


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="state"):
    """What every outcome may carry."""

    output: str = ""
    """What the program printed on stdout since the last reply, its newest part; bytes that are no UTF-8 as \\xNN."""
    stderr: str = ""
    stderr_began: str = ""
    """Where its own words alone tell why the program failed: the first lines of what it wrote on stderr since the last reply, if
    `stderr` is only the newest part of that."""
    log: str = ""
    """What log points printed since the last reply."""
    dropped: int = 0
    """Bytes of output that came since the last reply and are not told here; `dbg output` has what is kept."""
    do: tuple[DoResult, ...] = ()
    cut: tuple[Cut, ...] = ()
    notes: tuple[str, ...] = ()
    """Things that the user must know of, such as a condition that raised."""
    unbound: tuple[Breakpoint, ...] = ()
    """Breakpoints asked for by this call that are not simply bound where they were asked for."""


class Stop(Outcome, frozen=True, kw_only=True, tag="stopped"):
    """The program is held; everything an agent needs to see at once."""

    reason: str
    """breakpoint, step, return, pause, exception, entry, jump, function breakpoint, debugger statement, or a tool's own word."""
    thread: str = ""
    thread_name: str | None = None
    """Only where the program has more than one thread."""
    frame: Frame | None = None
    source: tuple[SourceLine, ...] = ()
    stack: tuple[Frame, ...] = ()
    stack_total: int | None = None
    locals: tuple[Value, ...] = ()
    locals_total: int | None = None
    breakpoints: tuple[str, ...] = ()
    hit: int | None = None
    exception: ExceptionInfo | None = None
    returned: Value | None = None
    all_threads_stopped: bool = False
    trail: tuple[Passed, ...] = ()
    """The lines that were run to get here by steps, each with what it changed."""
    same_frame: bool = False
    """The program was held in this very frame before, so that `changed` marks what is new."""
    changes: tuple[Change, ...] = ()
    """What changed in this frame since the program was last held in it, where it got here otherwise than by steps."""
    number: int = 0
    """Counts the stops of this run from 1."""
    generated: bool = False
    """It was asked for what really runs: the text shows it beside each frame."""
    whole: bool = False
    """It is told again with everything, whether or not the program was held in this frame before."""

    @property
    def state(self) -> Literal["stopped"]:
        return "stopped"

    def local(self, name: str) -> str | None:
        """The text of one local, for tests and scripts."""
        return next((value.value for value in self.locals if value.name == name), None)


class Running(Outcome, frozen=True, kw_only=True, tag="running"):
    """It runs on: the wait ended, not the program."""

    after: float | None = None
    ready: str | None = None
    """What `--ready` waited for and saw."""
    blocked: tuple[Frame, ...] = ()
    """Where a thread that could not be paused is blocked."""
    breakpoints: tuple[Breakpoint, ...] = ()
    trail: tuple[Passed, ...] = ()
    """The lines that were run by steps before one of them took too long."""

    @property
    def state(self) -> Literal["running"]:
        return "running"


class Exited(Outcome, frozen=True, kw_only=True, tag="exited"):
    """The program ended; the code or the signal is the process's own."""

    exit_code: int | None = None
    signal: str | None = None
    after: float | None = None
    cause: str | None = None
    lost_error: str | None = None
    """An error that nobody caught, and that the program went on from only because it was debugged: else it fails by it."""
    never_hit: tuple[Breakpoint, ...] = ()
    trail: tuple[Passed, ...] = ()

    @property
    def state(self) -> Literal["exited"]:
        return "exited"


class Lost(Outcome, frozen=True, kw_only=True, tag="lost"):
    """The debugger is gone; what became of the program is said as far as it is known."""

    cause: str

    @property
    def state(self) -> Literal["lost"]:
        return "lost"


AnyOutcome = Stop | Running | Exited | Lost


class Cancelled(msgspec.Struct, frozen=True, kw_only=True):
    """Waits that were ended for somebody else."""

    waits: int


class Ended(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The reply of `stop` and `detach`: what was done to the program, truly."""

    session: str
    action: Literal["terminated", "detached", "already_ended", "already_detached"]
    exit_code: int | None = None
    signal: str | None = None
    also: tuple[str, ...] = ()
    """Other sessions that `--all` ended."""
    left: tuple[int, ...] = ()
    """Processes that the program had detached and that live on; `--tree` ends them too."""


class RawReply(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the native debugger said to `raw` or `request`."""

    text: str = ""
    body: dict[str, Any] | None = None
