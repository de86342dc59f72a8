"""The Backend contract: what a session asks of any debugger, and the events that come back.

A backend speaks model types only; no protocol dictionary crosses it. Its events arrive in the order in which the
debugger told them, and `Ended` is always the last one, exactly once, whatever happened to the other side.
"""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from .outcomes import Bound
from .places import HitRule
from .values import ExceptionInfo, Frame, Frames, Modules, Part, Scope, Thread, Value, Values


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


class Wanted(msgspec.Struct, frozen=True):
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


class Binding(msgspec.Struct, frozen=True):
    """What became of one wanted breakpoint."""

    id: str
    state: Bound
    file: str | None = None
    line: int | None = None
    message: str | None = None
    column: int | None = None
    """Where in the line, for debuggers that would stop too early in it."""


CatchMode = Literal["uncaught", "raised", "user"]


class CatchRule(msgspec.Struct, frozen=True):
    """Which exceptions stop the program: modes, and class names that stop when raised. Empty: none."""

    modes: frozenset[CatchMode] = frozenset({"uncaught"})
    classes: tuple[str, ...] = ()


class Bounds(msgspec.Struct, frozen=True):
    """How much of a frame or value is worth carrying; enforced inside the target where that is possible."""

    values: int = 200
    """More than a reply shows, so that a change is seen in any of them."""
    text: int = 160
    items: int = 8
    frames: int = 20
    seconds: float = 1.0
    """The longest that one value's own code (its repr) may take."""
    inside: int = 0
    """Parts of values whose text is cut that are told along with a stop, all values together; where that is at no further
    request, and without running code of the program."""


class Capture(msgspec.Struct, frozen=True):
    """A held thread, read in as few requests as the debugger allows: its stack and the locals of its top user frame."""

    frames: Frames
    at: Frame | None
    """The frame that `values` belong to."""
    values: Values
    returned: tuple[Value, ...] = ()
    """What functions gave back since the last stop, the newest last, each under the function's name."""
    exception: ExceptionInfo | None = None
    parts: Mapping[str, tuple[Part, ...]] = {}
    """By the names of locals that are told in part: what is otherwise inside since the program was last held in that frame."""


class Evaluated(msgspec.Struct, frozen=True):
    """One expression's answer: a value, or the error that the program raised."""

    expression: str
    value: Value | None = None
    error: str | None = None


# Events


class Stopped(msgspec.Struct, frozen=True):
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
    file: str | None = None
    """Where it is held, as far as that came along: its lines are read while the debugger tells the rest."""


class Continued(msgspec.Struct, frozen=True):
    """The program runs again, by our order or somebody else's; thread None means all of them."""

    thread: str | None = None


class Output(msgspec.Struct, frozen=True):
    """Bytes that the program printed, a line of log points (which, if that is known), or what the debugger says (`console`)."""

    stream: Literal["stdout", "stderr", "log", "console"]
    data: bytes
    breakpoints: tuple[str, ...] = ()


class BreakpointChanged(msgspec.Struct, frozen=True):
    """A binding that changed after the answer, as when a file was loaded."""

    binding: Binding


class ThreadChanged(msgspec.Struct, frozen=True):
    thread: str
    alive: bool


class ChildOpened(msgspec.Struct, frozen=True):
    """Another process of the same family has come up, held at its start until somebody calls `start` or `close`."""

    backend: Backend
    pid: int | None
    name: str


class Ended(msgspec.Struct, frozen=True):
    """The last event. `lost` says that the debugger is gone, not (as far as we know) the program."""

    exit_code: int | None = None
    signal: str | None = None
    lost: bool = False
    detached: bool = False
    """We let it go; it runs on."""
    cause: str | None = None
    lost_error: str | None = None
    """An error that nobody caught, and that the program went on from only because it was debugged."""


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
