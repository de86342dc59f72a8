"""The vocabulary: one function a verb, in files by what they are about. Importing a file declares its verbs."""

from __future__ import annotations

import importlib

from ..registry import OPERATIONS

FILES = (
    "launch",
    "control",
    "breakpoints",
    "inspect",
    "evaluate",
    "patch",
    "investigate",
    "crash",
    "hang",
    "testing",
    "trace",
    "record",
    "crossing",
    "keeping",
    "projects",
    "health",
    "agents",
    "admin",
    "machine",
    "lowlevel",
)
"""In the order in which help and docs list them."""


def load_all() -> None:
    """Declare every verb, and put them into the order of `FILES` whichever file was imported first."""
    for name in FILES:
        importlib.import_module(f"{__name__}.{name}")
    OPERATIONS.put_in_order(FILES)
