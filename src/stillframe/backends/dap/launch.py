"""How a debugger that speaks DAP is started and reached, and what is sent to it: data that an adapter declares."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from ...errors import StillframeError
from ...model.backend import Capability, CatchMode, Tool
from ...model.places import HitRule
from ...model.values import Frame

PORT = "\0port"
"""Stands in words and variables for the port of our listener, or one that we chose; no real one can hold a NUL."""
SOCKET = "\0socket"
"""Stands for the path of the Unix socket that a debugger is told to listen on."""
STDIN, STDOUT, STDERR = "\0stdin", "\0stdout", "\0stderr"
"""Stand in words and arguments for pipes of ours with names, where a debugger starts the program and not we: what it prints
then comes to us as it was written, and not through the debugger."""
JOURNAL = "\0journal"
"""Stands for one more such pipe, in which the debugger writes down what it does and does not tell."""
HELPER = "\0helper"
"""Stands in a variable for the number of a descriptor on which our code inside the debugger is spoken to, where the debugger's
own conversation takes no further requests."""


class Quirk(enum.Enum):
    """A foreign oddity that changes how we speak to one tool; each names the tool and version it was seen in."""

    VERIFIES_EVERYTHING = "every breakpoint is called verified, whatever its line or file: debugpy 1.8.22"
    RAISED_ONCE_PER_FRAME = "a caught exception stops again in every frame it passes: debugpy 1.8.22"
    OPTIONS_REPLACE_FILTERS = "exceptionOptions make it ignore the filters beside them: debugpy 1.8.22"
    BARE_FUNCTION_NAMES = "function breakpoints match the bare name in any class: debugpy 1.8.22"
    LOG_POINTS_ARE_STDOUT = "log points come as output of category stdout: debugpy 1.8.22"
    ONE_BREAKPOINT_PER_LINE = "of two breakpoints on a line the last one wins: debugpy 1.8.22"
    ONE_BREAKPOINT_PER_PLACE = "of two breakpoints on a line and column the last one wins: lldb-dap 19.1"
    PAUSES_ALL_BY_STAR = "pause takes the thread id * for all threads: debugpy 1.8.22"
    UNVERIFIED_IS_FINAL = "a breakpoint that cannot be set now is never set later: dlv 1.27.2"
    NEGATIVE_EXIT_IS_SIGNAL = "an exit code below zero is the signal that ended the program: dlv 1.27.2"
    TALKS_AS_PROGRAM = (
        "what it prints of its own doings comes as output of the program's: gdb 18.1 (stdout), dlv 1.27.2 (stderr)"
    )
    MISNAMES_STOPS = (
        "a pause and joining are exceptions, watched data a breakpoint (19.1) or of its number (22.1): lldb-dap"
    )
    LOSES_EARLY_PAUSES = "a pause that comes before it has said `continued` does nothing: lldb-dap 19.1"
    LOG_POINTS_ARE_CONSOLE = "log points come among what it says of itself: lldb-dap 19.1"
    STOPS_IN_PARTS_OF_LINES = "a line that the compiler has cut up is stopped at in each of its parts: lldb-dap 19.1"
    SHUFFLES_FUNCTIONS = "function breakpoints are answered in the order of a table of its own: lldb-dap 19.1"
    LOGS_LINES_ALONE = "the log text of a function is passed over, and the program is held there: lldb-dap 19.1"
    FINISHES_OLD_STEPS = "a step that another stop has overtaken is finished first, whatever is asked next: lldb 19.1"
    LISTS_FIRST_THREADS = "the first answer to threads is the list from before the program ran: lldb-dap 22.1"
    CONSOLE_KNOWS_NO_FRAME = "a line for the console is not run in the frame that comes with it: lldb-dap 19.1, 22.1"
    LEAVES_HELD = "a held program stays held when we leave it, with its breakpoints: dlv 1.27.2 --accept-multiclient"
    LISTS_WHOLE_REGISTERS = (
        "a register that is a part of another (eax, on some machines xmm0) is told by its name alone: gdb 18.1"
    )
    GUESSES_DEPTH = "where a stack goes on, its depth is told as a guess: dlv 1.27.2"


class Stdio(msgspec.Struct, frozen=True):
    """The adapter speaks on its standard input and output."""


class PrintedAddress(msgspec.Struct, frozen=True):
    """The adapter prints where it listens; the first group of the pattern is `host:port` or a port."""

    pattern: re.Pattern[str]


class Listens(msgspec.Struct, frozen=True):
    """The adapter listens on a port that we choose: `PORT` in its words."""


class ListensUnix(msgspec.Struct, frozen=True):
    """The adapter listens on a Unix socket in a directory of ours: `SOCKET` in its words."""


class Calls(msgspec.Struct, frozen=True):
    """The adapter dials our listener, once: `PORT` in its words is where."""


class Address(msgspec.Struct, frozen=True):
    """Somebody already listens there."""

    host: str
    port: int


class UnixAddress(msgspec.Struct, frozen=True):
    """Somebody already listens on this Unix socket."""

    path: str


class DialsBack(msgspec.Struct, frozen=True):
    """The debugged process dials our listener, and so do its children; `PORT` in the words is where."""


HERE = ("127.0.0.1", "::1", "localhost")
_CATCHES: Mapping[CatchMode, tuple[str, ...]] = {
    "uncaught": ("uncaught",), "raised": ("raised",), "user": ("userUnhandled",)
}  # fmt: skip

Reach = Stdio | PrintedAddress | Listens | ListensUnix | Calls | Address | UnixAddress | DialsBack


class Authorize(msgspec.Struct, frozen=True):
    """The tokens that prove both sides to each other on a loopback port."""

    request: str
    server_token: str
    client_token: str

    def __repr__(self) -> str:
        """Without the tokens: what is printed may be read by others."""
        return f"Authorize({self.request!r})"


class Examines(msgspec.Struct, frozen=True):
    """Memory read by lines of a debugger's console."""

    address: Callable[[str, str], str]
    """An expression and its type to one whose value is the address that is meant."""
    line: Callable[[int, int], str]
    """Address and number of bytes to what is said to the console."""
    data: Callable[[str], bytes]
    """The bytes that it answers with."""
    most: int
    """Bytes that it tells at once."""


class Replayed(msgspec.Struct, frozen=True):
    """How a program ended when it was recorded: dlv 1.27.2 says 0 of any. Neither of one whose recording was ended."""

    exit_code: int | None = None
    signal: str | None = None


class DapLaunch(msgspec.Struct, frozen=True):
    """What to spawn, how to reach it, what to send."""

    tool: Tool
    reach: Reach
    request: Literal["launch", "attach"]
    arguments: Mapping[str, Any]
    argv: tuple[str, ...] = ()
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    umask: int = -1
    stdin: str | None = None
    helper: str | None = None
    """The extra request that our code inside the target answers, where there is such code."""
    boot: tuple[str, ...] = ()
    """Lines for the console that bring our code into the debugger, before anything else is asked."""
    adds: frozenset[Capability] = frozenset()
    """What our code inside the debugger can do and the debugger's protocol cannot, or not so well."""
    greeting: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """What `initialize` tells this debugger beyond what every one is told."""
    identify: str | None = None
    """A request that tells pid and parent of a process that dialled in, where there is no helper."""
    authorize: Authorize | None = None
    owns_target: bool = False
    """The process that we spawn is the debugged program itself, so its exit is the program's."""
    launched: bool = True
    """We start the program; False where we join one that was there before us."""
    never_leaves: str | None = None
    """Why the program cannot be left to run on, where its debugger would end it."""
    target_pid: int | None = None
    """The process we join, where that is known."""
    children: bool = False
    child_arguments: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    plumbing: re.Pattern[str] | None = None
    """Command lines of child processes that belong to the runtime: run along, never announced."""
    asides: re.Pattern[str] | None = None
    """Command lines of child processes that mostly answer a question of another program; where somebody else reads what
    they print, an exception that ends them is no news."""
    quirks: frozenset[Quirk] = frozenset()
    crowd: str | None = None
    """An expression that lists, flat, thread id and breakpoint number of every thread that stands at a breakpoint of
    its own, where the debugger folds such stops into one; -1 for a thread that may stand at one without knowing."""
    told_better: re.Pattern[str] | None = None
    """What the debugger says of itself that our helper tells in fewer words."""
    catches: Mapping[CatchMode, tuple[str, ...]] = msgspec.field(default_factory=lambda: _CATCHES)
    """Which of the debugger's exception filters stand for each of our words; one that is missing here cannot be had, but for
    `uncaught`, which is what everybody gets who asked for nothing: without a filter it means what the debugger does by itself."""
    evaluates_as: str = "repl"
    """The context of `evaluate` for an expression; for some debuggers `repl` means their own commands, which `raw` is for."""
    local_scopes: tuple[str, ...] = ("locals", "local", "arguments")
    """Scopes whose variables are a frame's own, in lower case; all of them are told, in the order of the debugger."""
    is_library: Callable[[Frame], bool] = lambda frame: frame.kind == "library"
    """Whether a frame is somebody else's code, for debuggers that do not say so."""
    library_of: Callable[[Frame], str | None] = lambda frame: frame.module
    """What such a frame is of, for programs that have libraries inside of them."""
    unshown: frozenset[str] = frozenset()
    """Types of values that are never told among the variables of a frame, where no helper chooses them."""
    log_text: Callable[[str, bool], str] = lambda text, _helped: text
    """A log text as users write it in the form of the debugger, or of our helper if there; ValueError says what is wrong."""
    truth: str = "bool({})"
    """Asks for a condition in the debugger's language so that the answer is `true` or `1` where it holds."""
    either: str | None = None
    """Makes one condition of two, where the debugger takes one breakpoint for each place."""
    names_hits: bool = False
    """Of several breakpoints on a line a stop names those alone whose condition held."""
    no_instruction: re.Pattern[str] | None = None
    """What the debugger answers to `disassemble` where no instruction begins, if it looks at that."""
    shows_registers: tuple[str, str] | None = None
    """The lines for its console that have it tell registers among a frame's scopes, and no longer."""
    in_module: Callable[[str, str], str] = lambda _module, function: function
    """A function of a module as the debugger calls it, where no helper of ours knows modules."""
    asked_name: Callable[[str], str] = lambda name: name
    """A function as the debugger takes it, of a name that it was told by."""
    told_apart: Callable[[str, str], str | None] = lambda _name, _said: None
    """The function of the user's own that is meant by a name, of which the debugger said why it will not do."""
    taken: re.Pattern[str] | None = None
    """What the debugger says of a breakpoint where it has one under another name; the groups are the file and the line of it."""
    judges_conditions: bool = False
    """Our helper tells, before the program comes there, which conditions no interpreter of it understands."""
    keeps_functions: bool = False
    """Function breakpoints stay what they are, terms and all, where our helper only tells where they stand."""
    reads: Callable[[str], bool] = lambda _name: True
    """Whether a bare name can be evaluated without running code of the program, as that of a method cannot in Ruby."""
    notes: tuple[str, ...] = ()
    """What is worth knowing of the program before it runs, as that it has no debug information."""
    at_entry: Callable[[str | None, str], str | None] = lambda condition, _symbol: condition
    """A condition for the first line of a function that our helper takes to hold only when this function is entered."""
    exception_root: str | None = None
    """The name under which the debugger files all exception classes, for its `exceptionOptions`."""
    knows_exception: Callable[[str], bool] = lambda _name: True
    """Whether the debugger can find a class by this name at any time; for others we look at each exception ourselves."""
    exception_mode: CatchMode | None = None
    """The mode of an exception of which the debugger does not tell it."""
    exception_text: Callable[[str], str] = lambda told: told
    """The message of an exception without what the debugger put around it."""
    fatal_signal: tuple[str, str] | None = None
    """The function in which the language's runtime ends a program for a signal, and its variable with the number of that: the
    debugger takes it for an error like others, without a message."""
    value_text: Callable[[str], str] = lambda told: told
    """A value without what the debugger says too much of it."""
    exception_is: Callable[[tuple[str, ...]], str] | None = None
    """An expression for a frame that stopped for an exception: whether it is of one of these classes."""
    exception_identity: tuple[str, ...] | None = None
    """Two expressions for a frame that stopped for an exception: one tells it from the next exception, the other is
    True where it came out of a call, False where it was raised right there."""
    count_hits: Callable[[str | None, str, HitRule], str] | None = None
    """Makes condition, breakpoint id and hit rule into one condition that counts inside the target, where the
    debugger's own hit counts do not mean the Nth time that the condition holds."""
    traces: bool = False
    """The debugger traces the program by ptrace, which a machine may forbid."""
    failures: Mapping[int, type[StillframeError]] = msgspec.field(default_factory=dict[int, type[StillframeError]])
    """Exit codes of the spawned process that mean more than a failed launch."""
    mark: str = ""
    slowness: float = 1.0
    """How many times longer than others it may take to come up."""
    start_timeout: float = 20.0
    request_timeout: float = 30.0
    folder: str | None = None
    """A directory of this launch alone, with what was built for it: it goes when the program does."""
    entry: str | None = None
    """The function to stop in for whoever asked to stop at the beginning, where the debugger's own word means the loader."""
    function_name: Callable[[str], str] = lambda told: told
    """The name of a call as people know it, where the debugger tells one of the compiler's."""
    thread_name: Callable[[str], str] = lambda told: told
    """A thread's name as users know it."""
    at_work: re.Pattern[str] | None = None
    """Finds in a thread's name that the machine runs it, for debuggers that lose the stops of all such threads but one."""
    threads_are: str = "thread"
    """What the language calls its threads."""
    talk: re.Pattern[bytes] | None = None
    """Lines of the spawned process that are for whoever started it, and that nobody else wants to see."""
    detour: re.Pattern[str] | None = None
    """Functions of the runtime in which a pause finds a thread that is not at home there, so that its own stack is not seen."""
    cut_in: re.Pattern[str] | None = None
    """Functions of the runtime that a signal puts between two instructions of the program: what is below them called none of
    them, and a debugger that takes it for a call tells the line before, or leaves it out."""
    unfinished_step: re.Pattern[str] | None = None
    """What the debugger says behind a stop that interrupted a step of another thread: it makes no other before that one is over,
    and `continue` goes on with it."""
    unshown_names: re.Pattern[str] | None = None
    """Names of variables that are none of the program's own."""
    requests: frozenset[str] | None = None
    """The requests that it knows, where it does not survive another one."""
    console: str = ""
    """What the console takes, for whoever said something else to it."""
    echo: re.Pattern[str] | None = None
    """What the console says before its answer to a line."""
    lacks: frozenset[Capability] = frozenset()
    """What the debugger says that it can do and cannot."""
    can_record: bool = False
    """`launch --record` makes runs that one can go back in."""
    examines: Examines | None = None
    """How memory is read, where it is not by `readMemory`."""
    error_prefix: str = ""
    """What the debugger puts in front of the reason why an expression has no value."""
    log_prefix: re.Pattern[str] | None = None
    """What the debugger puts in front of the line of a log point, or around what could not be evaluated in it."""
    log_failure: re.Pattern[str] | None = None
    """How it tells, in the line of a log point, what could not be evaluated; the first group is why."""
    threads_cut: re.Pattern[str] | None = None
    """What it says when there are more threads than it lists."""
    condition_stop: re.Pattern[str] | None = None
    """How the text of a stop looks that is for a condition which could not be evaluated; the first group is why."""
    core_stop: re.Pattern[str] | None = None
    """How the text of a stop begins that is told of any core, and not of an error in the program."""
    deaths: re.Pattern[bytes] | None = None
    """Finds in the debugger's journal the number of the signal that ended the program, where it tells no difference between
    that and an exit code."""
    forks: re.Pattern[bytes] | None = None
    """Finds, in what it says or in its journal, the pid of a process that the program forked and that it let go of."""
    repeats_ids: bool = False
    """Frames and scopes are numbered anew at every stop and requests are answered in order, so that those of the next stop may
    be asked for before it has told their numbers."""
    pages: bool = False
    """The debugger tells the items of a long value in pages, if it is asked for them by number."""
    replays: Replayed | None = None
    """What was recorded is shown again: the process that did it has gone, and its number may be somebody else's by now; what
    the debugger prints is what the program printed."""
    is_dead: bool = False
    """What a process left behind when it died: it can be looked at and never moves."""

    @property
    def has_conduits(self) -> bool:
        """Whether the program's own streams come to us by pipes with names."""
        return any(STDOUT in word for word in self.argv) or _mentions(self.arguments)

    @property
    def helper_is_apart(self) -> bool:
        """Whether our code inside the debugger is spoken to on a line of its own."""
        return HELPER in self.env.values()

    @property
    def debugger(self) -> str | None:
        """The program that is spawned to debug another one."""
        return self.argv[0] if self.argv and not self.owns_target else None

    @property
    def local(self) -> bool:
        """Whether the program runs on this machine, so that its files are those that we see."""
        return not isinstance(self.reach, Address) or self.reach.host in HERE


def _mentions(value: Any) -> bool:
    match value:
        case str():
            return STDOUT in value
        case Mapping():
            return any(_mentions(each) for each in value.values())
        case list() | tuple():
            return any(_mentions(each) for each in value)
    return False
