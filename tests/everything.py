"""A run that must have every debugger: a test that is skipped since one is missing, or what builds for it, fails there."""

from __future__ import annotations

import os
import re

import pytest

from stillframe.adapters import adapters
from stillframe.adapters.samples import SAMPLES

ALL = os.environ.get("STILLFRAME_ALL") == "1"
"""Set where every debugger has to be there, as `./dev test` does."""

_NEEDED = [needs for each in adapters() for needs in each.needs] + [
    each.builder for each in SAMPLES.values() if each.builder
]
_NAMES = {name for needs in _NEEDED for name in (needs.tool, *needs.names) if "/" not in name} | {"Delve", "cargo"}
_ANY = "|".join(map(re.escape, sorted(_NAMES, key=len, reverse=True)))
_MISSING = re.compile(
    rf"(?<![\w.+-])(?:{_ANY})(?![\w+-]).*?\b(?:is|are) not installed\b|\bno (?:{_ANY})(?![\w+-])(?: or .*)? here$",
    re.IGNORECASE,
)


def judged(report: pytest.TestReport) -> None:
    """Make a failure of a skip for want of a language's debugger; whatever else was skipped for stays a skip."""
    if not report.skipped or not isinstance(report.longrepr, tuple):
        return
    reason = report.longrepr[2].removeprefix("Skipped: ")
    if _MISSING.search(reason):
        report.outcome, report.longrepr = "failed", f"this run must have every debugger: {reason}"
