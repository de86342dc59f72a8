"""What the looking verbs answer: lists are wrapped and named, each with its total where it was cut."""

from __future__ import annotations

from typing import Literal

import msgspec

from .outcomes import AnyOutcome, Breakpoint, SourceLine, Spot, Stop
from .reports import Held, Unrecorded
from .sinces import Since
from .values import Frame, Scope, Thread, Value


class Breakpoints(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    breakpoints: tuple[Breakpoint, ...]
    kept_of: str | None = None
    """The session they were kept of, where none is live."""


class Caught(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Which exceptions stop the program now."""

    catch: tuple[str, ...]
    notes: tuple[str, ...] = ()


class SameStack(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Threads that are in the same calls."""

    threads: tuple[str, ...]
    frames: tuple[Frame, ...] = ()
    """Innermost first; none where the debugger tells none, as of a thread that runs."""
    total: int | None = None


class Threads(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    threads: tuple[Thread, ...]
    total: int | None = None
    at_least: bool = False
    """There are more than `total`, which the debugger does not list."""
    focus: str | None = None
    stacks: tuple[SameStack, ...] = ()
    """Where those that are listed are, if that was asked for; the most of a kind first."""


class Scopes(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    scopes: tuple[Scope, ...]


class FrameView(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One frame looked into: where it is and what it holds."""

    frame: Frame
    thread: str
    source: tuple[SourceLine, ...] = ()
    locals: tuple[Value, ...] = ()
    locals_total: int | None = None
    notes: tuple[str, ...] = ()


class Source(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    file: str
    lines: tuple[SourceLine, ...]
    total: int
    notes: tuple[str, ...] = ()


class Patched(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A file whose new source runs now, or would if asked to."""

    file: str
    dry_run: bool = False
    notes: tuple[str, ...] = ()
    """What is worth knowing of it, as the debugger tells."""


class OutputPage(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Printed text by stream; `cursor` is where the next page begins."""

    stdout: str = ""
    stderr: str = ""
    log: str = ""
    console: str = ""
    dropped: int = 0
    """Bytes before this page that are no longer kept, or that the page left out."""
    total: int = 0
    cursor: str = ""
    notes: tuple[str, ...] = ()
    """Where it comes from, if not from the session itself."""


class SessionInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A session in a line: who it is, where it stands, what it holds."""

    name: str
    state: str
    tool: str = ""
    version: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    pid: int | None = None
    attached: bool = False
    thread: str | None = None
    frame: Frame | None = None
    reason: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    breakpoints: int = 0
    bound: int = 0
    stops: int = 0
    output_bytes: int = 0
    output_lost: int = 0
    """Of these the oldest, which are not kept any more."""
    instruction: str | None = None
    """The address of what runs next, where the debugger tells one."""
    parent: str | None = None
    children: tuple[str, ...] = ()
    current: bool = False
    just_my_code: bool = True
    catch: tuple[str, ...] = ()
    note: str | None = None


class SessionList(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    sessions: tuple[SessionInfo, ...]
    others: tuple[str, ...] = ()
    """Where there is none: those that live in other projects, each with where that is."""


class Capabilities(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the debugger of this session can and cannot do."""

    can: tuple[str, ...]
    cannot: tuple[str, ...]
    note: str | None = None
    """What is worth knowing of where this comes from."""


class TrustedFile(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A file of a project that brings what would run: debuggers, or configurations of programs."""

    path: str
    state: Literal["trusted", "changed", "untrusted"]
    brings: tuple[str, ...] = ()


class Trust(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What may run that a project's own files bring."""

    action: Literal["trusted", "listed", "removed"]
    files: tuple[TrustedFile, ...] = ()


class Configuration(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    type: str
    request: str
    members: tuple[str, ...] = ()
    """The configurations that a compound starts."""


class Configurations(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What `launch --config` knows here."""

    file: str
    configurations: tuple[Configuration, ...]
    trust: Literal["trusted", "changed", "untrusted"]


class ToolInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The debugger underneath, and how it is reached."""

    tool: str
    version: str
    how: str = ""
    pid: int | None = None


class Fed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What `input` wrote to the program's standard input."""

    bytes: int
    eof: bool = False


class Gathered(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one expression was, over all hits of a place."""

    expression: str
    distinct: int = 0
    more: bool = False
    """There were further distinct values, too many to tell apart."""
    looked: int | None = None
    """The hits whose values were told apart, the first ones, where that is not all of them."""
    cut: bool = False
    """Values were told apart by a text that does not show them whole: some that differ may count as one."""
    least: str | None = None
    most: str | None = None
    """Of those that were numbers."""
    others: int = 0
    """How often it was no number."""
    types: tuple[str, ...] = ()
    """Of the values that were no numbers."""
    values: tuple[str, ...] = ()
    """The first distinct ones."""
    error: str | None = None
    """How it failed for the first time, and at which hit."""
    error_hit: int | None = None


class Claim(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A claim about a place, and how it stood the run."""

    expression: str
    held: int = 0
    violated: int = 0
    errors: int = 0
    counter: Stop | None = None
    """The first hit at which it did not hold; the first error where there is none."""
    error: str | None = None
    error_hit: int | None = None


class ProbedPlace(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One place of a probe: whether the program came there, with the evidence of each time."""

    location: str
    state: Literal["reached", "not_reached", "unbound"]
    count: int = 0
    complete: bool = True
    """False where as many hits were taken as were asked for: there may have been more."""
    at_least: bool = False
    """The program was killed, and a few hits just before that may not be counted; `message` says how many."""
    hits: tuple[Stop, ...] = ()
    values: tuple[tuple[Value, ...], ...] = ()
    """For each hit, the values of the expressions asked for."""
    gathered: tuple[Gathered, ...] = ()
    """For each expression what it was, where every hit was counted."""
    claims: tuple[Claim, ...] = ()
    actual: Spot | None = None
    also: tuple[Spot, ...] = ()
    """Further code that was meant and counted: a function's name may be that of several."""
    message: str | None = None


class ProbeReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A whole run in one answer."""

    command: tuple[str, ...]
    places: tuple[ProbedPlace, ...]
    end: AnyOutcome
    assumed: bool = False
    """The command was not given but worked out; the reply says which it was."""
    how: str = ""
    """What counted, where it was not a debugger that stopped at each hit: `sys.monitoring, CPython 3.12.1`."""
    notes: tuple[str, ...] = ()
    since: Since | None = None
    held: Held | None = None
    unrecorded: Unrecorded | None = None
