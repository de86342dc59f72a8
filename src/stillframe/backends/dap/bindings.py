"""What is known of one wanted line before the debugger is asked, or from our helper that was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...model.backend import Binding, Wanted
from . import translate


def line_count(file: str) -> int | None:
    """How many lines a file has; None where it is none that we see."""
    try:
        return len(Path(file).read_bytes().splitlines())
    except OSError:  # not a file that we see: the debugger alone knows
        return None


def line_binding(wanted: Wanted, answer: Any) -> Binding:
    """What the helper says of one wanted line."""
    answer = answer if isinstance(answer, dict) else {}
    told = next((each for each in translate.items(answer, "lines") if each.get("asked") == wanted.line), {})
    actual = translate.number(told.get("actual"))
    if actual is None:
        reason = translate.text(told.get("reason")) or "no code there"
        return Binding(wanted.id, "failed", wanted.file, wanted.line, reason)
    if answer.get("loaded") is True:
        return Binding(wanted.id, "bound", wanted.file, actual, column=translate.number(told.get("column")))
    name = Path(wanted.file or "").name
    return Binding(wanted.id, "pending", wanted.file, actual, f"{name} is not loaded yet")
