"""What the text of a file says of a line that a breakpoint is wanted on, before anything of it is loaded."""

from __future__ import annotations

import re
from pathlib import Path

from ...model import plainfiles
from .grammar import Kind
from .spans import Scan

_LONGEST = 1_000_000
"""Characters of a line beyond which it is not looked through."""
_NOTHING = re.compile(r"[\s;]*(?://.*)?$")


def problem_with(file: str, line: int, column: int | None) -> str | None:
    """Why nothing can ever stop there."""
    try:
        with plainfiles.opened(file) as opened:
            text, count = b"", 0
            for count, each in enumerate(opened, 1):
                text = each if count == line else text
    except IsADirectoryError:
        return "it is a directory"
    except OSError as error:
        missing = "no such file" if file.startswith("/") else None
        return plainfiles.NO_PLAIN_FILE if error.strerror == plainfiles.NO_PLAIN_FILE else missing
    if line > max(count, 1):
        return f"{Path(file).name} has {count} lines"
    length = len(text.decode("utf-8", "replace").rstrip())
    if column is not None and column > max(length, 1):
        return f"line {line} of {Path(file).name} has {length} characters"
    return None


def first_column(file: str, line: int) -> int:
    """Where a line's own code begins, from 0: after the functions that it declares, if anything comes after them.

    V8 takes a line for its first position, which may be in a function that nobody calls.
    """
    try:
        with plainfiles.opened(file) as opened:
            text = next((each for number, each in enumerate(opened, 1) if number == line), b"").decode(
                "utf-8", "replace"
            )
    except OSError:
        return 0
    if not re.match(r"\s*(?:async\s+)?function\b", text) or len(text) > _LONGEST:
        return 0
    end = 0
    declared = [each for each in Scan(text).spans if each.kind is Kind.FUNCTION and not each.expression]
    for span in sorted(declared, key=lambda each: each.start):
        if not text[end : span.start].strip(" \t;"):
            end = span.end
    return 0 if _NOTHING.match(text, end) else len(text[:end].encode("utf-16-le")) // 2
