"""The vocabulary: one function a verb, in files by what they are about. Importing a file declares its verbs."""

from __future__ import annotations

import importlib

FILES = ("launch", "control", "breakpoints", "inspect", "evaluate", "investigate", "admin", "lowlevel")
"""In the order in which help and docs list them."""


def load_all() -> None:
    """Declare every verb."""
    for name in FILES:
        importlib.import_module(f"{__name__}.{name}")
