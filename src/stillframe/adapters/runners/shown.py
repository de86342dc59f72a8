"""Files as the user should see them: relative to where the call came from, if they are of its project."""

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
