"""The Backend contract: what a session asks of any debugger, and the events that come back.

A backend speaks model types only; no protocol dictionary crosses it. Its events arrive in the order in which the
debugger told them, and `Ended` is always the last one, exactly once, whatever happened to the other side.
"""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from .outcomes import Bound
from .places import HitRule
from .values import ExceptionInfo, Frame, Frames, Modules, Scope, Thread, Value, Values


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """The debugger underneath, named in every reply as `via`."""

    tool: str
    version: str
    how: str = ""
    """How it is reached, where that is not the best way there is, so that less can be told."""

    def __str__(self) -> str:
        return f"{self.tool} {self.version}".rstrip() + (f", {self.how}" if self.how else "")


class Capability(enum.StrEnum):
    """What a debugger may or may not be able to do; an operation that needs one names it."""

    CONDITIONS = "conditions"
    HIT_COUNTS = "hit counts"
    LOG_POINTS = "log points"
    COLUMNS = "columns"
    """Breakpoints on a statement within a line."""
    FUNCTION_BREAKPOINTS = "function breakpoints"
    CONFIRMED_BREAKPOINTS = "confirmed breakpoints"
    EXCEPTION_CLASSES = "exception classes"
    ASSIGN = "assign"
    JUMP = "jump"
    MODULES = "modules"
    EXCEPTION_INFO = "exception info"
    RAW = "raw"
    REQUEST = "request"
    INPUT = "input"
    RESTART_FRAME = "restart frame"
    STEP_BACK = "step back"
    DATA_BREAKPOINTS = "data breakpoints"
    INSTRUCTION_BREAKPOINTS = "instruction breakpoints"
    MEMORY = "memory"
    WRITE_MEMORY = "write memory"
    REGISTERS = "registers"
    SOURCES = "sources"
    INSTRUCTION_STEPS = "instruction steps"
    DISASSEMBLY = "disassembly"
    SAFE_EVAL = "safe eval"
    SET_RETURN = "set return"
    HOT_PATCH = "hot patch"
    WAITS = "waits"
    """What each thread waits for, and who holds it."""


class Move(enum.StrEnum):
    """The ways to let a held program go on."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"
    NEXT_INSTRUCTION = "next instruction"
    STEP_INSTRUCTION = "step instruction"
    STEP_BACK = "step-back"
    REVERSE = "reverse-continue"


@dataclass(frozen=True)
class Wanted:
    """One breakpoint as the session wants it: a line, symbol, instruction or data. Conditions are in the target's language."""

    id: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    symbol: str | None = None
    module: str | None = None
    condition: str | None = None
    hit: HitRule | None = None
    log: str | None = None
    address: str | None = None
    """An instruction, where it is none of the source."""
    data: str | None = None
    """Data to watch, by the debugger's own word for it (`Watches.watchable`)."""
    watching: Literal["write", "read", "readWrite"] = "write"


@dataclass(frozen=True)
class Binding:
    """What became of one wanted breakpoint."""

    id: str
    state: Bound
    file: str | None = None
    line: int | None = None
    message: str | None = None
    column: int | None = None
    """Where in the line, for debuggers that would stop too early in it."""


CatchMode = Literal["uncaught", "raised", "user"]


@dataclass(frozen=True)
class CatchRule:
    """Which exceptions stop the program: modes, and class names that stop when raised. Empty: none."""

    modes: frozenset[CatchMode] = frozenset({"uncaught"})
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bounds:
    """How much of a frame or value is worth carrying; enforced inside the target where that is possible."""

    values: int = 200
    """More than a reply shows, so that a change is seen in any of them."""
    text: int = 160
    items: int = 8
    frames: int = 20
    seconds: float = 1.0
    """The longest that one value's own code (its repr) may take."""


@dataclass(frozen=True)
class Capture:
    """A held thread, read in as few requests as the debugger allows: its stack and the locals of its top user frame."""

    frames: Frames
    at: Frame | None
    """The frame that `values` belong to."""
    values: Values
    returned: tuple[Value, ...] = ()
    """What functions gave back since the last stop, the newest last, each under the function's name."""
    exception: ExceptionInfo | None = None


@dataclass(frozen=True)
class Evaluated:
    """One expression's answer: a value, or the error that the program raised."""

    expression: str
    value: Value | None = None
    error: str | None = None


# Events


@dataclass(frozen=True)
class Stopped:
    """A thread is held. `breakpoints` are wanted ids where the debugger told them."""

    thread: str | None
    reason: str
    description: str | None = None
    breakpoints: tuple[str, ...] = ()
    all_threads: bool = False
    counts: bool = True
    """False where the condition of its breakpoints raised: it is told, and is no hit of theirs."""
    notes: tuple[str, ...] = ()
    """What else the debugger knows of why, as what watched data was and is."""


@dataclass(frozen=True)
class Continued:
    """The program runs again, by our order or somebody else's; thread None means all of them."""

    thread: str | None = None


@dataclass(frozen=True)
class Output:
    """Bytes that the program printed, a line of log points (which, if that is known), or what the debugger says (`console`)."""

    stream: Literal["stdout", "stderr", "log", "console"]
    data: bytes
    breakpoints: tuple[str, ...] = ()


@dataclass(frozen=True)
class BreakpointChanged:
    """A binding that changed after the answer, as when a file was loaded."""

    binding: Binding


@dataclass(frozen=True)
class ThreadChanged:
    thread: str
    alive: bool


@dataclass(frozen=True)
class ChildOpened:
    """Another process of the same family has come up, held at its start until somebody calls `start` or `close`."""

    backend: Backend
    pid: int | None
    name: str


@dataclass(frozen=True)
class Ended:
    """The last event. `lost` says that the debugger is gone, not (as far as we know) the program."""

    exit_code: int | None = None
    signal: str | None = None
    lost: bool = False
    detached: bool = False
    """We let it go; it runs on."""
    cause: str | None = None


Event = Stopped | Continued | Output | BreakpointChanged | ThreadChanged | ChildOpened | Ended


@runtime_checkable
class Backend(Protocol):
    """One debugged process. Ids in and out are opaque strings; every method has a deadline of its own and raises
    AdapterUnresponsive, AdapterDied or ProtocolError, never hangs."""

    tool: Tool
    capabilities: frozenset[Capability]
    pid: int | None
    launched: bool
    """True where we started the process, so that ending the session ends it."""

    def events(self) -> AsyncIterator[Event]:
        """The one stream of events; to be read by one task, from before `start` until after `Ended`."""
        ...

    async def start(self, wanted: Sequence[Wanted], catch: CatchRule) -> tuple[Binding, ...]:
        """Hand over breakpoints and exception rules, then let the program run its first instruction."""
        ...

    async def set_breakpoints(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        """Make the whole set so; works while the program runs. One binding for each wanted one, in order."""
        ...

    async def set_catch(self, catch: CatchRule) -> None: ...

    async def resume(self, move: Move, thread: str | None) -> None:
        """Let the program go on. Returns when the debugger has taken the order; the stop comes as an event."""
        ...

    async def pause(self, thread: str | None) -> None:
        """Ask for a stop; it comes as an event, or never where a thread is blocked in native code."""
        ...

    async def threads(self, *, states: bool = False) -> tuple[Thread, ...]:
        """Every thread; `states` also tells which are really held, which may take a moment."""
        ...

    async def stack(self, thread: str, start: int = 0, count: int = 20) -> Frames:
        """A page of a thread's frames; some debuggers answer for running threads too."""
        ...

    async def capture(self, thread: str, bounds: Bounds) -> Capture: ...

    async def scopes(self, frame: str) -> tuple[Scope, ...]: ...

    async def locals(self, frame: str, bounds: Bounds, start: int = 0) -> Values: ...

    async def expand(self, ref: str, bounds: Bounds, start: int = 0) -> Values: ...

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]: ...

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value: ...

    async def exception(self, thread: str) -> ExceptionInfo | None: ...

    async def modules(self, start: int = 0, count: int = 100) -> Modules: ...

    async def end(self, *, terminate: bool) -> None:
        """Terminate the program, or leave it running as it was before us. `Ended` follows; never raises."""
        ...

    async def close(self) -> None:
        """Let go of every socket, pipe, task and process of ours. Never raises, may be called twice."""
        ...


# Optional powers: a backend that offers one also lists its Capability.


@runtime_checkable
class Jumps(Protocol):
    async def jump(self, thread: str, file: str, line: int) -> None:
        """Move the point of execution without running what lies between; a `Stopped` with reason jump follows."""
        ...


@runtime_checkable
class Raw(Protocol):
    async def raw(self, frame: str | None, line: str) -> str: ...


@runtime_checkable
class Requests(Protocol):
    async def request(self, command: str, arguments: Mapping[str, Any], timeout: float) -> dict[str, Any]: ...


@runtime_checkable
class Feeds(Protocol):
    async def feed(self, data: bytes, *, eof: bool) -> None:
        """Write to the program's standard input."""
        ...


@runtime_checkable
class Crowds(Protocol):
    async def also_stopped(self) -> tuple[Stopped, ...]:
        """Threads that stand at a breakpoint of their own where the debugger told of one stop for all of them."""
        ...


@runtime_checkable
class CutsThreads(Protocol):
    async def lists_all_threads(self) -> bool:
        """Whether `threads` told all that there are when it was last asked."""
        ...


@runtime_checkable
class Prints(Protocol):
    def read_output(self) -> None:
        """Take in what the program has printed by now, as events."""
        ...


@runtime_checkable
class Rechecks(Protocol):
    async def recheck(self) -> tuple[Binding, ...]:
        """What has become of pending breakpoints by now; works while the program runs."""
        ...


@runtime_checkable
class Leaves(Protocol):
    async def left_behind(self, *, end: bool) -> tuple[int, ...]:
        """Processes that the program started and detached from its family and that still live; `end` ends them first."""
        ...


@runtime_checkable
class Wraps(Protocol):
    """A process that is run for those it starts: they are debugged as its children, it is not."""

    def without_debugger(self) -> str:
        """What is so, for whoever wants to hold it or to look into it."""
        ...


@runtime_checkable
class EvaluatesSafely(Protocol):
    async def evaluate_safely(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        """Evaluate where the debugger itself forbids side effects; an expression that would have one is an error."""
        ...


@runtime_checkable
class RestartsFrames(Protocol):
    async def restart_frame(self, thread: str, frame: str) -> None:
        """Go back to the beginning of a function that has not returned; a `Stopped` with reason restart follows."""
        ...


@runtime_checkable
class SetsReturn(Protocol):
    async def set_return(self, thread: str, value: str, bounds: Bounds) -> Value:
        """Replace the value that the function held at its return is about to give back, by that of an expression."""
        ...


@runtime_checkable
class HotPatches(Protocol):
    async def hot_patch(self, file: str, text: str, *, dry_run: bool) -> tuple[str, ...]:
        """Put new source in the place of a loaded file's without a restart; what is worth knowing of it. EvalFailed with
        the reason where the new source does not compile or the change cannot be made in the running program. Where the held
        call had to be begun again, a `Stopped` with reason restart was told before this returns."""
        ...


@runtime_checkable
class Unpauses(Protocol):
    async def unpause(self) -> None:
        """Take back a pause that has not landed."""
        ...


@dataclass(frozen=True)
class Party:
    """Somebody in the program who may wait: a thread, a task, a goroutine."""

    id: str
    """The backend's word for a thread; for others one of its own."""
    what: str
    name: str
    state: str | None = None
    """`running` where it does not wait at all."""
    waits_for: str | None = None
    held_by: str | None = None
    """Who holds what it waits for; `unknown` where that is a thing that is held and nothing tells by whom."""
    on: tuple[str, ...] = ()
    """Those of the others that it waits for, by their ids."""
    frames: tuple[Frame, ...] | None = None
    """Where it stands, innermost first, for those that are no threads; None for threads, whose stacks can be asked for."""
    values: tuple[Value, ...] = ()
    """What is in the innermost of those frames that is the user's own."""


@runtime_checkable
class TellsWaits(Protocol):
    async def waits(self, bounds: Bounds) -> tuple[Party, ...]:
        """What each waits for, of a program that was told to pause; none where nothing in it or its debugger knows."""
        ...


# What to start, how to reach it and what to send, as an adapter declares it.


@dataclass(frozen=True)
class Caller:
    """Where a call came from: its directory, and for a starting verb its whole environment and umask, travel with it."""

    cwd: str
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    umask: int = 0o022
    client: str = ""
    """The same word for calls of one terminal or connection."""


@dataclass(frozen=True)
class Build:
    """What makes a program before it is run: a command as typed in a shell, and where."""

    command: str
    cwd: str
    name: str = ""
    """What it is called, where that is not the command itself."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that it gets beside the program's own."""


@dataclass(frozen=True)
class Plan:
    """A program to debug, as asked for: everything a restart needs to do it again."""

    command: tuple[str, ...]
    """The program and its arguments as understood, for display and for `restart`; never a shell line."""
    kind: Literal["file", "module", "code", "command"]
    args: tuple[str, ...] = ()
    program: str | None = None
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """The target's whole environment."""
    umask: int = 0o022
    stdin: str | None = None
    """None: empty; a file's path; or `-`: a pipe that `input` feeds."""
    interpreter: str | None = None
    interpreter_flags: tuple[str, ...] = ()
    stop_on_entry: bool = False
    just_my_code: bool = True
    children: bool = True
    adapter: str | None = None
    record: bool = False
    """Keep what is needed to go back in time, where the debugger can."""
    builds: tuple[Build, ...] = ()
    """What is run before it, each time that it is started; the first one that fails is the failure of the start."""
    sources: tuple[tuple[str, str], ...] = ()
    """Folders that the program was built in or runs in, each with the one here that holds the same files."""
    tells_exits: bool = False
    """Hold the program where it ends itself with another code than 0, where the debugger can tell."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What a configuration of the project tells a declared debugger beyond all this, in the debugger's own words."""


@dataclass(frozen=True)
class AttachPlan:
    """A running program to join: a process of this machine, or an address that a debugger listens on; or a dead one's core."""

    pid: int | None = None
    program: str | None = None
    """The program's own file, where the debugger cannot find it from the process: behind an address, or for a core."""
    core: str | None = None
    """What a process left behind when it died: it can be looked at and never moves."""
    host: str | None = None
    port: int | None = None
    url: str | None = None
    """A debugger's own address, such as ws://127.0.0.1:9229/…"""
    just_my_code: bool = True
    children: bool = True
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """The caller's environment, for finding tools; the program keeps its own."""
    adapter: str | None = None
    sources: tuple[tuple[str, str], ...] = ()
    """Folders that the program was built in or runs in, each with the one here that holds the same files."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """As for a Plan."""
