"""What is asked of a recorder inside the target, and what it writes down as the program runs, a line of JSON for each thing told.

The ask is one file, `ask.json`, in a folder of ours. Each process writes one file beside it, `PID-N.told`: lines of JSON, each an
array that begins with its kind. A file only grows, but for the numbers of `Calls`, `Tally` and `Extent`, which a recorder may
rewrite in their place (padded with spaces) or tell again: the last one counts. A killed process leaves a torn last line, and zero
bytes where it had set room aside; both are skipped.
"""

from __future__ import annotations

import msgspec

Text = tuple[str, str]
"""A name, and its value as bounded text."""


class Changed(msgspec.Struct, array_like=True, frozen=True):
    """A variable that is not what it was. Where its text may not show by what: the few parts of it that are others now, each as
    it is written behind the name, and what that holds."""

    name: str
    text: str
    parts: tuple[Text, ...] = ()


# What is asked


class Where(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A line of a file, or a function by its qualified name, perhaps of one module or file only."""

    file: str | None = None
    """Absolute."""
    line: int | None = None
    function: str | None = None
    module: str | None = None


class TraceAsk(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call of a function to write down: the first, the Nth, or the first in which the condition holds at its entry."""

    where: Where
    call: int | None = None
    condition: str | None = None
    depth: int = 0
    """How far below the call the lines of functions that it calls are written down too; what is called there is always named."""
    lines: bool = True
    """False: only the calls, with arguments and results."""
    most_lines: int = 1_000_000
    most_calls: int = 20_000


class ProbeAsk(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A place to count at, with expressions to evaluate and claims to check each time, just before the line runs."""

    place: int
    where: Where
    condition: str | None = None
    evals: tuple[str, ...] = ()
    expects: tuple[str, ...] = ()
    samples: int = 500
    """Hits whose values are told: the first so many, then ever fewer, evenly over the run."""
    distinct: int = 256
    evidence: int = 1
    """The first so many hits are told with all locals and the stack."""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    trace: TraceAsk | None = None
    probes: tuple[ProbeAsk, ...] = ()
    all_code: bool = False
    text: int = 100
    """Characters of one value."""


# What is told


class Said(msgspec.Struct, frozen=True, array_like=True, tag_field="said"):
    """One line of a recording."""


class Hello(Said, tag="hello", frozen=True):
    """A process has come up with a recorder in it: always the first line of its file."""

    pid: int
    parent: int
    runtime: str
    """`CPython 3.12.1`, `Node 20.20.2`."""
    how: str
    """`sys.monitoring`, `sys.settrace`, `rewriting`."""
    argv: tuple[str, ...] = ()


class Note(Said, tag="note", frozen=True):
    """Something that the reply must say: a recorder displaced, a function that cannot be recorded, a cost."""

    text: str
    lost: bool = False
    """From then on nothing was heard of the process: that something did not happen in it cannot be told."""


class Beside(Said, tag="beside", frozen=True):
    """Another program that was started. What it starts in its turn may have been given an environment without the recorder."""

    command: str


class Defined(Said, tag="defined", frozen=True):
    """A function of the user's that the program has; `ran` where it was called. For saying which names there are."""

    function: str
    file: str
    line: int
    ran: bool = False


class Found(Said, tag="found", frozen=True):
    """Code that is what was asked for. `place` is that of a probe, -1 for the trace's function, -2 for one that it follows."""

    place: int
    function: str
    file: str
    line: int
    """Where the function begins, or where a probe really looks."""
    last: int = 0
    loops: tuple[tuple[int, int], ...] = ()
    """First and last line of each loop in it."""


class Missing(Said, tag="missing", frozen=True):
    """A file was loaded, and what was asked for in it is not there."""

    place: int
    reason: str


# Of a trace


class Unwritten(Said, tag="unwritten", frozen=True):
    """The function is there and cannot be made to write itself down."""

    function: str
    reason: str


class Calls(Said, tag="calls", frozen=True):
    """How often the function of the trace was called so far; the last one counts. May be rewritten in its place."""

    number: int
    raised: int = 0


class Raising(Said, tag="raising", frozen=True):
    """The first call that ended by an exception, where it is not the one written down."""

    number: int
    exception: str


class Call(Said, tag="call", frozen=True):
    """A call begins. `parent` is the call that made it, 0 for the one asked for; `number` counts the calls of its function."""

    id: int
    parent: int
    function: str
    file: str
    line: int
    arguments: tuple[Text, ...] = ()
    number: int = 0
    caller: tuple[str, str, int] | None = None
    """Function, file and line that called it."""
    thread: str = ""
    lined: bool = True
    """Whether its lines follow."""


class Line(Said, tag="l", frozen=True):
    """A line is about to run. `changes` is what the line before it changed."""

    call: int
    line: int
    changes: tuple[Changed, ...] = ()


class Raised(Said, tag="raised", frozen=True):
    """An exception was raised in the line at hand, or came out of a call in it; lines that follow are those that handle it."""

    call: int
    exception: str


class Yielded(Said, tag="yield", frozen=True):
    """A generator gave a value, or a coroutine waits; nothing follows until it is resumed."""

    call: int
    value: str
    """Empty where it is nobody's business, as what an event loop is waited with."""
    changes: tuple[Changed, ...] = ()


class Resumed(Said, tag="resume", frozen=True):
    call: int


class Returned(Said, tag="ret", frozen=True):
    call: int
    value: str
    changes: tuple[Changed, ...] = ()


class Threw(Said, tag="exc", frozen=True):
    """The call ended by an exception, raised in the last line told."""

    call: int
    exception: str
    """`Type: message`."""
    changes: tuple[Changed, ...] = ()


class Closed(Said, tag="closed", frozen=True):
    """A generator was closed where it waited, by the program or at its end, before it came to its own."""

    call: int


class Limited(Said, tag="cut", frozen=True):
    """From here on the lines (or calls) of this one are not written down any more, as there were too many; its end still is."""

    call: int
    what: str


# Of a probe


class Tally(Said, tag="tally", frozen=True):
    """How often a place was come to, and for each claim how often it was false and how often it could not be told."""

    place: int
    hits: int
    claims: tuple[tuple[int, int], ...] = ()
    uncounted: int = 0
    """Hits that may have come after it was written, so many at the most: of a program that was killed before it came to rest."""


class Extent(Said, tag="extent", frozen=True):
    """Of one expression: least and greatest number as text (empty: none yet), and how often it was no number, or raised."""

    place: int
    expression: int
    least: str = ""
    most: str = ""
    others: int = 0


class Distinct(Said, tag="distinct", frozen=True):
    """A value that an expression had for the first time; `more` says that further ones are not told: there are too many, or,
    where `value` is a number of hits, no more than these were looked at."""

    place: int
    expression: int
    type: str
    value: str
    more: bool = False


class Failed(Said, tag="failed", frozen=True):
    """The first time that an expression (from 0), a claim (behind the expressions) or the condition (-1) raised, and how."""

    place: int
    which: int
    hit: int
    error: str


class Sample(Said, tag="sample", frozen=True):
    """The values of the expressions at one hit."""

    place: int
    hit: int
    values: tuple[tuple[str, str], ...]
    """Type and text of each; an error has the type `!`."""
    function: str = ""
    thread: str = ""


class Evidence(Said, tag="evidence", frozen=True):
    """One hit with everything: the first, or a claim's first counter-example (`claim` from 0)."""

    place: int
    hit: int
    claim: int
    """-1 where it is no counter-example."""
    locals: tuple[tuple[str, str, str], ...] = ()
    """Name, type and text; what the line uses need not come first."""
    stack: tuple[tuple[str, str, int], ...] = ()
    """Function, file and line, innermost first."""
    thread: str = ""


AnySaid = (
    Hello | Note | Beside | Defined | Found | Missing | Unwritten | Calls | Raising | Call | Line | Raised | Yielded | Resumed
    | Returned | Threw | Closed | Limited | Tally | Extent | Distinct | Failed | Sample | Evidence
)  # fmt: skip
