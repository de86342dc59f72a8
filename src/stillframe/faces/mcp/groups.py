"""The default set of tools, as data: which verbs share a tool, the parameter that tells them apart, and what its schema lists.

A verb that is not there yet is left out, and what a schema does not list is understood all the same (`dbg help VERB` tells it).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Some verbs of like access behind one tool."""

    name: str
    verbs: tuple[str, ...]
    by: str = ""
    """The parameter that names the verb; the first verb if it is left out. Not needed for a single one."""
    text: str = ""
    """What the tool does, where it is not simply what its verb does."""
    shown: tuple[str, ...] = ()
    """The parameters that the schema lists, in this order; all of them if empty. Ours, which every
    tool takes: `session`, `budget`, and of starting ones `project`."""
    twin: str = ""
    """What the tool is called that also takes the parameters which run code of the caller's; it has its own access."""
    twin_text: str = ""
    twin_shown: tuple[str, ...] = ()


CORE = (
    Group("test", ("test",), shown=("command", "timeout")),
    Group("crash", ("crash",), shown=("command", "timeout")),
    Group("trace", ("trace",), shown=("places", "command", "timeout")),
    Group("hang", ("hang",), shown=("command", "pid", "timeout")),
    Group(
        "probe",
        ("probe",),
        text="Run a program to places, report each (reached, not reached, unbound), end it.",
        shown=("places", "command", "eval", "hits", "ready", "do", "timeout", "project", "budget"),
    ),
    Group(
        "launch",
        ("launch",),
        text="Start a program and run to the first stop, or to its end.",
        shown=("program", "command", "breaks", "env", "ready", "do", "timeout", "project"),
    ),
    Group(
        "attach",
        ("attach",),
        text="Join a running program; stop leaves it running.",
        shown=("pid", "address", "breaks", "timeout"),
    ),
    Group(
        "break",
        ("break", "unbreak", "enable", "disable", "catch"),
        by="how",
        text="Set a breakpoint, change some, or choose exceptions to stop at (catch).",
        shown=("at", "hit", "ids", "what", "session"),
        twin="break_if",
        twin_text="A breakpoint with a condition, or with a log text to print, {expressions} in it, instead of stopping.",
        twin_shown=("at", "condition", "log"),
    ),
    Group(
        "go",
        ("continue", "next", "step", "finish", "until", "pause", "wait"),
        by="how",
        text="Move the program to its next stop. The marked line has not run yet.",
        shown=("count", "at", "thread", "timeout", "session"),
        twin="go_do",
        twin_text="As go, with a shell command run beside the program.",
        twin_shown=("do", "timeout"),
    ),
    Group(
        "state",
        (
            "state", "stack", "locals", "threads", "source", "output", "expand", "exception", "breaks", "sessions",
        ),
        by="part",
        text="Look at the whole stop (state) or one part.",
        shown=("frame", "thread", "value", "at", "count", "session", "budget"),
    ),
    Group(
        "eval",
        ("eval",),
        text="Evaluate expressions in the program, several in one call.",
        shown=("expressions", "frame", "session", "budget"),
    ),
    Group(
        "record",
        ("hits", "hit-trend", "hit-diff", "diff", "history"),
        by="part",
        text="What was recorded at stops, also of programs that are gone; first and second are compared.",
        shown=("at", "name", "where", "first", "second", "run"),
    ),
    Group("raw", ("raw",), text="A line to the native debugger, in its own language.", shown=("line",)),
    Group(
        "stop",
        ("stop", "restart", "detach"),
        by="how",
        text="End what was launched, leave what was attached; or run it again (restart), or let it run on (detach).",
        shown=("all", "session"),
    ),
)  # fmt: skip

BRIEF = {
    "places": "file:line, file@\"text\" or a function; ' if EXPR' may follow",
    "breaks": "places, as of probe",
    "at": "place",
    "command": "argv",
    "ready": "text it prints when up, or :PORT",
    "do": "shell command beside it, such as a request",
    "timeout": "seconds",
    "project": "directory of relative paths, kept",
    "address": "HOST:PORT or ws://",
    "hit": "3, >=3 or %3",
    "what": "uncaught, raised, user, off, a class",
    "thread": "t2",
    "frame": "f1",
    "value": "v3",
    "where": "only hits where this holds",
    "run": "number or name",
    "first": "hit or run",
    "budget": "characters",
}
"""What the default set says of a parameter, where its own text is too long for a list that must be short."""
CLEAR = frozenset(
    {
        "env", "expressions", "hits", "line", "pid", "all", "count", "start", "ids", "program", "eval", "condition", "log",
        "name", "second", "session",
    }
)  # fmt: skip
"""Parameters whose names say enough there."""
ENDS_SOMETHING = frozenset({"stop", "restart", "prune", "self-clean"})
"""Verbs below exec that end or delete something: destructive, though they run no code of the caller's."""

WAITS_FOR = {"pause": (), "attach": ("breaks", "do", "core")}
"""Verbs that wait for a stop only where one of these is given; all others that take a timeout always do."""
