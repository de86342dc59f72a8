"""The default set of tools, as data: which verbs share a tool, the parameter that tells them apart, and what its schema lists.

A verb that is not there yet is left out, and what a schema does not list is understood all the same (`dbg help VERB` tells it).
"""

from __future__ import annotations

import msgspec


class Group(msgspec.Struct, frozen=True):
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
    Group("test", ("test",), text="Run a red test; report why it fails.", shown=("selector", "timeout")),
    Group("crash", ("crash",), text="Run a program to its crash; report why.", shown=("command", "timeout")),
    Group(
        "trace",
        ("trace",),
        text="Run a program; report one call of a function, line by line.",
        shown=("at", "call", "condition", "command", "timeout"),
    ),
    Group("hang", ("hang",), text="Report what a program waits for.", shown=("command", "pid", "timeout")),
    Group(
        "probe",
        ("probe",),
        text="Run a program to places, report each, reached or not, and end it.",
        shown=("places", "command", "eval", "expect", "hits", "ready", "do", "timeout", "project"),
    ),
    Group(
        "launch",
        ("launch",),
        text="Start a program; run to its first stop or end.",
        shown=("command", "breaks", "ready", "do", "project"),
    ),
    Group(
        "attach",
        ("attach",),
        text="Join a running program; stop lets it run on.",
        shown=("pid", "address"),
    ),
    Group(
        "break",
        ("break", "unbreak", "enable", "disable", "catch"),
        by="how",
        text="Set or change breakpoints; catch exceptions.",
        shown=("at", "hit", "ids", "what"),
        twin="break_if",
        twin_text="A breakpoint with a condition, or that only logs a text with {expressions}.",
        twin_shown=("at", "condition", "log"),
    ),
    Group(
        "go",
        ("continue", "next", "step", "finish", "until", "pause", "wait"),
        by="how",
        text="Move to the next stop. The marked line has not run yet.",
        shown=("count", "at", "timeout", "session"),
        twin="go_do",
        twin_text="As go, with a shell command beside it.",
        twin_shown=("do",),
    ),
    Group(
        "state",
        (
            "state", "stack", "locals", "threads", "source", "output", "expand", "exception", "breaks", "sessions",
        ),
        by="part",
        text="Look at the whole stop, or one part.",
        shown=("frame", "thread", "value", "at", "session", "budget"),
    ),
    Group(
        "eval",
        ("eval",),
        text="Evaluate expressions, several at once.",
        shown=("expressions", "frame"),
    ),
    Group(
        "record",
        ("hits", "hit-trend", "hit-diff", "diff", "history"),
        by="part",
        text="Recorded stops, also of ended programs; compares first and second.",
        shown=("at", "name", "where", "first", "second", "run"),
    ),
    Group("raw", ("raw",), text="A line to the native debugger.", shown=("line",)),
    Group(
        "stop",
        ("stop", "restart", "detach"),
        by="how",
        text="End it, or leave what was attached; run it again; let it run on.",
        shown=("session",),
    ),
)  # fmt: skip

BRIEF = {
    "selector": "file, FILE::NAME or name",
    "places": "file:line, file@\"text\" or function; then ' if EXPR'",
    "breaks": "places",
    "at": "place",
    "command": "python app.py",
    "ready": "text it prints, or :PORT",
    "do": "shell command",
    "project": "directory of relative paths",
    "address": "HOST:PORT or ws://",
    "hit": "3, >=3 or %3",
    "what": "raised, off, CLASS",
    "thread": "t2",
    "frame": "f1",
    "value": "v3",
    "where": "qty > 3",
    "first": "hit or run",
}
"""What the default set says of a parameter, where its own text is too long for a list that must be short."""
CLEAR = frozenset(
    {
        "env", "expressions", "hits", "line", "pid", "all", "count", "start", "ids", "program", "eval", "condition", "log",
        "expect", "name", "second", "session", "timeout", "budget", "run",
    }
)  # fmt: skip
"""Parameters whose names say enough there."""
ENDS_SOMETHING = frozenset({"stop", "restart", "prune", "self-clean"})
"""Verbs below exec that end or delete something: destructive, though they run no code of the caller's."""

WAITS_FOR = {"pause": (), "attach": ("breaks", "do", "core", "wait_for")}
"""Verbs that wait, mostly for a stop, only where one of these is given; all others that take a timeout always do."""
