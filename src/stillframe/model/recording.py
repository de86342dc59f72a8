"""What a session tells the record, as it happens: a `Recorder` begins a tape for each run, and the tape takes what comes.

The session layer knows these two shapes and nothing of how or where they are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from .outcomes import AnyOutcome, Breakpoint, Stop

PROBED, TRACED = "probe", "trace"
"""The reasons of hits without a stop, of which nothing is recorded but what was asked for: a probe's values, and what the call
that a trace told was given."""


class RunFacts(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One run of one program: who it is and where its files are shown against."""

    name: str
    root: str
    """The project's directory; places are kept relative to it."""
    base: str
    """The directory that the session's own words for files are relative to."""
    command: tuple[str, ...] = ()
    tool: str = ""
    version: str = ""
    attached: bool = False
    pid: int | None = None


class Operated(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call of an operation: what was asked, how long it took, what came of it."""

    op: str
    args: dict[str, Any] = msgspec.field(default_factory=dict)
    began: float = 0.0
    seconds: float = 0.0
    outcome: str = "ok"
    """ok, the state that a moving verb answered (stopped, exited …), or an error's code."""
    root: str = ""
    name: str | None = None


class Tape(Protocol):
    """Takes down one run. Only `stop` makes anybody wait: it returns when the stop is on disk."""

    async def stop(self, stop: Stop, lines: Sequence[str], *, many: bool = False) -> tuple[str, ...]:
        """Write a stop, with the whole text of its file; what the user must know of how that went. One of `many` waits for
        the others, so as to be written together with them."""
        ...

    def moved(self) -> None:
        """The program was let go, and nobody waits for us: what was left for later is written now."""
        ...

    def printed(self, stream: str, data: bytes) -> None: ...

    def breakpoints(self, now: Sequence[Breakpoint]) -> None:
        """How the breakpoints stand; what has not changed is not written again."""
        ...

    def ended(self, how: AnyOutcome, phase: str, why: str = "") -> None:
        """How the run ended, and why we ended it, where that was nobody's order."""
        ...


class Recorder(Protocol):
    @property
    def problem(self) -> str | None:
        """Why nothing is written at the moment."""
        ...

    def begin(self, facts: RunFacts, parent: Tape | None) -> Tape: ...

    def operation(self, done: Operated, tape: Tape | None) -> None: ...

    async def settled(self) -> None:
        """Returns when everything that was told so far is on disk, or cannot be."""
        ...


class BlankTape:
    """Takes nothing down: for sessions that are themselves a replay, and where recording is turned off."""

    async def stop(self, stop: Stop, lines: Sequence[str], *, many: bool = False) -> tuple[str, ...]:
        return ()

    def moved(self) -> None:
        pass

    def printed(self, stream: str, data: bytes) -> None:
        pass

    def breakpoints(self, now: Sequence[Breakpoint]) -> None:
        pass

    def ended(self, how: AnyOutcome, phase: str, why: str = "") -> None:
        pass


BLANK = BlankTape()
