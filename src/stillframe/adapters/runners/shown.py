"""What a report shows of a runner: files relative to where the call came from, and its last words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ...settings import project_root


def shown_from(cwd: str) -> Callable[[str | None], str | None]:
    root = project_root(cwd)

    def show(file: str | None) -> str | None:
        if file is None or not os.path.isabs(file) or not Path(file).is_relative_to(root):
            return file
        return os.path.relpath(file, cwd)

    return show


LAST = 1100
"""Characters of a runner's own words that a report carries."""


def last_lines(text: str) -> str:
    """The end of a text, in whole lines; of one line that is too long itself, its end."""
    if len(text) <= LAST:
        return text
    return text[-LAST:].partition("\n")[2] or text[-LAST:]
