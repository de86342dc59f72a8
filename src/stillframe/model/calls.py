"""One call of a verb, what it may do to the program, and what comes back beside the result."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from .plans import Caller


class Access(enum.IntEnum):
    """read < inspect < control < exec: what a call may do to the program."""

    READ = 1
    INSPECT = 2
    CONTROL = 3
    EXEC = 4


Result = TypeVar("Result")


class From(msgspec.Struct, Generic[Result], frozen=True):
    """A result together with the session it came from, which may be a child of the one that was asked."""

    session: Any
    result: Result


class Judged(msgspec.Struct, Generic[Result], frozen=True):
    """A result that is also a verdict: with a bad one the exit code is 1, though nothing failed."""

    result: Result
    good: bool


class Meant(msgspec.Struct, frozen=True):
    """Whom a call is about, for what the record can answer too: the name given, if any, and what was found in memory."""

    name: str | None
    root: str
    running: str | None = None
    """The session that a call without a name is about."""
    over: float | None = None
    """When that session ended, if it has: what ran since then is nearer to whoever asks."""
    others: tuple[str, ...] = ()
    """Where neither is there: the sessions that live in other projects."""


class Call(msgspec.Struct, frozen=True):
    """One call of an operation, from whichever face."""

    op: str
    args: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    session: str | None = None
    caller: Caller = msgspec.field(default_factory=lambda: Caller(cwd="."))
    allow: Access = Access.EXEC
    budget: int | None = None
    sticky: bool = False
    """Whether a session that is named becomes the one that later calls of this client mean."""
    agreed: bool = False
    """Whether somebody was asked about this very call, and let it be made."""
    reveal: bool = False
    """Whether secrets are told, too; that makes any call exec."""
