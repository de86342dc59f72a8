"""What Python writes of itself when a fatal signal ends it: the calls that it was in, without their values."""

from __future__ import annotations

import re
from pathlib import Path

from ..model.values import Frame
from .leaving import LastWords

_OURS = str(Path(__file__).parents[1] / "_target")
_REPORT = re.compile(
    r"^Fatal Python error: (?P<what>.+)\n\n(?:Current thread|Stack|Thread) .*\(most recent call first\):\n(?P<calls>(?:  .+\n)*)"
    r"(?:\n?Extension modules: .*\n?)?",
    re.MULTILINE,
)
_CALL = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<function>.+)$', re.MULTILINE)


def last_words(stderr: str) -> LastWords | None:
    """The report of faulthandler, taken apart; None where there is none."""
    found = _REPORT.search(stderr)
    if found is None:
        return None
    calls = [
        Frame(function=each["function"], file=each["file"], line=int(each["line"]))
        for each in _CALL.finditer(found["calls"])
        if not each["file"].startswith(_OURS)
    ]
    rest = stderr[: found.start()] + stderr[found.end() :]
    return LastWords(what=found["what"], calls=tuple(calls), rest=rest)
