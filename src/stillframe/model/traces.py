"""What `trace` answers: one call's life, its lines in order with what each changed, loops folded, the calls that it made."""

from __future__ import annotations

from typing import Literal

import msgspec

from .outcomes import AnyOutcome, Change, Spot
from .reports import Held, Unrecorded
from .values import Value


class Step(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag="line"):
    """One line that ran, what it changed, and the calls that it made."""

    line: int
    source: str = ""
    changes: tuple[Change, ...] = ()
    calls: tuple[Life, ...] = ()
    raised: str | None = None
    """An exception that came up here, handled in the lines that follow or not at all."""
    yielded: str | None = None
    """What a generator gave here; empty where a coroutine waited."""


class Turn(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One turn of a loop; `why` it is told, and how many turns went the same way."""

    number: int
    why: Literal["first", "last", "differs"]
    like: int = 1
    steps: tuple[AnyStep, ...] = ()


class Loop(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag="loop"):
    """A loop, folded: the first turn, the last, and the first of each that went another way."""

    line: int
    last: int
    turns: int
    ways: int = 1
    """How many different ways its turns went."""
    told: tuple[Turn, ...] = ()


AnyStep = Step | Loop


class Life(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call, from its arguments to its end."""

    function: str
    file: str | None = None
    line: int | None = None
    number: int | None = None
    """Which call of the function it is, from 1."""
    caller: Spot | None = None
    thread: str | None = None
    arguments: tuple[Value, ...] = ()
    steps: tuple[AnyStep, ...] = ()
    lines: int = 0
    """Lines that ran in it, those folded too."""
    yielded: tuple[str, ...] = ()
    """What a generator gave by then: the first values, and the last."""
    yielded_total: int = 0
    end: Literal["returned", "raised", "left", "suspended", "ended", "running"]
    """`left` where nothing tells whether it returned or an exception went through it, `ended` where the program did before it
    came to another line."""
    result: str | None = None
    """What it returned, or `Type: message` of what it raised."""
    at: int | None = None
    """The line that it ended in, is suspended at, or was in when the program ended."""
    cut: tuple[str, ...] = ()
    """What was not written down any more, because there was too much of it."""


class TraceReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call of a function in a whole run."""

    command: tuple[str, ...]
    asked: str
    """The function or place, as it was asked for."""
    verdict: Literal["traced", "not chosen", "never called", "no such function", "not recorded"]
    end: AnyOutcome
    life: Life | None = None
    calls: int = 0
    """Calls of the function in the whole run."""
    raised: int = 0
    """How many of them ended by an exception."""
    raising: int | None = None
    """The first of those, where it is another than the one told."""
    raising_what: str | None = None
    found: tuple[Spot, ...] = ()
    near: tuple[str, ...] = ()
    """Names like the one asked for, or functions that did run."""
    how: str = ""
    """What it was seen by: `sys.monitoring, CPython 3.12.1`, or steps of a debugger."""
    notes: tuple[str, ...] = ()
    held: Held | None = None
    unrecorded: Unrecorded | None = None
    assumed: bool = False
    """The command was not given but worked out; the reply says which it was."""
