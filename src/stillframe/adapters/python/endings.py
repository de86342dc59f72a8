"""What Python writes of itself when a fatal signal ends it, and of errors that it ignores: calls, without their values."""

from __future__ import annotations

import re
from pathlib import Path

from ...model.values import Frame
from ..leaving import LastWords

_OURS = str(Path(__file__).parents[2] / "_target")
_THREAD = r"(?P<{0}who>Current thread 0x|Stack |Thread 0x).*\(most recent call first\):\n(?P<{0}calls>(?:  .+\n)*)"
_REPORT = re.compile(
    rf"Fatal Python error: (?P<what>.+)\n(?P<threads>(?:\n{_THREAD.format('last_')})+)(?:\n?Extension modules: .*\n?)?",
    re.MULTILINE,
)
_MACHINES = re.compile(r"\nCurrent thread's C stack trace \(most recent call first\):\n(?:  .+\n)*")
"""From 3.14 on: the addresses of the interpreter's own calls."""
_EACH = re.compile(rf"^{_THREAD.format('')}", re.MULTILINE)
_CALL = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<function>.+)\n', re.MULTILINE)
_IGNORED = re.compile(
    r"^(?:Exception ignored (?:in:|in|on|while) .+|Error in atexit\._run_exitfuncs:)\n"
    r"Traceback \(most recent call last\):\n(?P<calls>(?:  .+\n)+)(?P<what>\S.*)$",
    re.MULTILINE,
)
_LINE = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)\n', re.MULTILINE)
_DEBUGGERS = re.compile(r"[/\\]_pydevd?_bundle[/\\]")
_DEBUGGERS_OWN = "pydevd_daemon_thread.py"
"""What all threads of the debugger run in, and none of the program's, though those have a call of pydevd's in them, too."""
_LIBRARIES = re.compile(r"[/\\](site-packages|dist-packages|lib[/\\]python3\.\d+)[/\\]|^<frozen ")


def last_words(stderr: str) -> LastWords | None:
    """The report of faulthandler, taken apart; None where there is none. A program that turned it on itself has all of its
    threads told, the debugger's among them, and the one that failed as the last: the user's others stay to be read."""
    stderr = _MACHINES.sub("", stderr)
    found = _REPORT.search(stderr)
    if found is None:
        return None
    threads = list(_EACH.finditer(found["threads"]))
    failed = next((each for each in threads if each["who"].startswith("Current")), threads[0])
    others = [each[0] for each in threads if each is not failed and _DEBUGGERS_OWN not in each["calls"]]
    rest = stderr[: found.start()] + _CALL.sub(_theirs, "".join(others)) + stderr[found.end() :]
    return LastWords(what=found["what"], calls=_calls(failed["calls"]), rest=rest)


def ignored(stderr: str) -> LastWords | None:
    """The first error that Python could only report: of a destructor as it cleans up, of a callback of atexit until 3.9."""
    found = _IGNORED.search(stderr)
    if found is None:
        return None
    calls = tuple(reversed(_calls(_LINE.sub(_as_call, found["calls"]))))
    return LastWords(what=found["what"], calls=calls, rest=stderr[: found.start()] + stderr[found.end() :])


def _as_call(line: re.Match[str]) -> str:
    return f'  File "{line["file"]}", line {line["line"]} in {line["function"]}\n'


def _calls(text: str) -> tuple[Frame, ...]:
    return tuple(
        Frame(
            function=each["function"],
            file=each["file"],
            line=int(each["line"]),
            kind="library" if _LIBRARIES.search(each["file"]) else "user",
        )
        for each in _CALL.finditer(text)
        if _theirs(each)
    )


def _theirs(call: re.Match[str]) -> str:
    """A call, unless it is of ours or of the debugger's."""
    return "" if call["file"].startswith(_OURS) or _DEBUGGERS.search(call["file"]) else call[0]
