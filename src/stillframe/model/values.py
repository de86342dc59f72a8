"""What: values, frames, threads and scopes, in the one shape that every backend fills and every face shows.

`ref` and `id` are opaque words of the backend until the session hands them out as `v3`, `f0` and `t1`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

RESTLESS = "its repr says something else each time"
"""The shape of a value whose text tells no change: code of the program's makes it anew, and other, whenever it is asked."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One value as bounded text. `total` is its length where it has one; `ref` is set where more can be seen."""

    name: str
    type: str = ""
    value: str = ""
    ref: str | None = None
    children: tuple[Value, ...] = ()
    total: int | None = None
    truncated: bool = False
    changed: bool = False
    shape: str = ""
    """What all of it is like, where only a part of it is told: `640 dicts, keys sku price qty`, `1,000 ints, 0 to 999`."""
    error: bool = False
    """The text is not the value but why it could not be had: its repr raised, or never returned."""


class Part(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A part of a value, by where it is: `.items['b']`, as it is written behind the value's name."""

    path: str
    value: str


class Values(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One page of values; `total` counts all there are, `start` where the page begins."""

    values: tuple[Value, ...]
    total: int | None = None
    start: int = 0
    output: str = ""
    """What evaluating printed."""
    stderr: str = ""
    notes: tuple[str, ...] = ()
    """What is worth knowing of what is not among them."""
    instead: Value | None = None
    """What is told in their place where secrets are left out: they are the parts of one."""


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call that has not returned. `line` is the line about to run there, or that made the next call."""

    function: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    id: str = ""
    kind: Literal["user", "library"] = "user"
    module: str | None = None
    key: str | None = None
    """The same for the same invocation at different stops, where the backend can tell; None where it cannot."""
    generated: str | None = None
    """`file:line:column` of what really runs, where file and line are those of the source that it was made from."""
    awaited: str | None = None
    """How the calls before this one were started by it: `await`, `setTimeout`, …; the call itself may have returned."""


class Frames(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One page of a thread's stack, innermost first."""

    frames: tuple[Frame, ...]
    total: int | None = None
    start: int = 0
    thread: str | None = None
    generated: bool = False
    """It was asked for what really runs: the text shows it beside each frame."""
    notes: tuple[str, ...] = ()
    """Where they come from, if not from the living program."""


class Thread(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A thread, task or goroutine of the program."""

    id: str
    name: str
    what: str = "thread"
    """What its language calls it."""
    state: Literal["stopped", "blocked", "running", "unknown"] = "unknown"
    """blocked: it would be held, but is in native code, out of the debugger's reach; it can be looked at."""
    frame: Frame | None = None


class Scope(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A named group of variables of a frame."""

    name: str
    ref: str | None = None
    total: int | None = None


class Module(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A module or library that the program has loaded."""

    name: str
    file: str | None = None
    kind: Literal["user", "library"] = "user"
    version: str | None = None


class Modules(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    modules: tuple[Module, ...]
    total: int | None = None
    start: int = 0


class ExceptionInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The exception that stopped the program."""

    type: str
    message: str = ""
    mode: Literal["uncaught", "unhandled", "raised", "user", "exit", "unknown"] = "unknown"
    """unhandled: it rejects a promise that nobody handles yet; somebody still may. exit: it is how the program ends itself."""
    frames: tuple[Frame, ...] = ()
    """Where it passed, innermost first, as far as the debugger told."""
    cause: str | None = None
    """`Type: message` of the exception it was raised from, where there is one."""
    causes: tuple[ExceptionInfo, ...] = ()
    """The whole chain of what it was raised from, the nearest first, as far as the debugger tells it; `link` says how."""
    link: Literal["", "cause", "context"] = ""
    """How the exception before it in a chain came of this one: raised from it, or while it was handled."""
    members: tuple[ExceptionInfo, ...] = ()
    """The exceptions that it holds, where it is a group of them; some where there are many."""
    members_total: int | None = None
    notes: tuple[str, ...] = ()
    """What was added to it on its way (`add_note` of Python)."""
    values: tuple[Value, ...] = ()
    """What it holds beside its message."""
    locals: tuple[Value, ...] = ()
    """Of a cause or a member: some values of the innermost call of the user's that it left, what the line names first."""
