"""Which of the ways to debugpy's server fits an interpreter: our own start-up script, where its self-test passes there."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import Literal

from ...errors import AdapterMissing, AdapterUnresponsive, UsageError
from ...model.plans import Plan
from ...settings import directory
from ..interpreters import Interpreter, identity, remember

Server = Literal["boot", "stock", "adapter"]

CHOICE = "STILLFRAME_PYTHON_SERVER"
"""The variable by which somebody asks for one of them."""
TARGET = Path(__file__).resolve().parents[2] / "_target"
BOOT = TARGET / "pydevd.py"

_FITS: dict[str, bool] = {}
_TESTED = 60.0
"""Seconds for the self-test. One that was not done by then has said nothing, and nothing of it may be remembered."""


def vendored() -> Path:
    """Where the debugger itself is, inside the debugpy that is installed beside us."""
    spec = importlib.util.find_spec("debugpy")
    if spec is None or spec.origin is None:
        raise AdapterMissing("debugpy is not installed beside Stillframe: pip install debugpy")
    return Path(spec.origin).parent / "_vendored" / "pydevd"


def compiled_folder() -> str:
    """Where the .pyc files of the debugger and of ours go; empty where nothing can be written.

    It is there before any program is told of it: CPython, asked to make one whose first folder below / is missing, makes it
    below the program's own directory (seen in 3.11).
    """
    folder = directory("cache") / "pycache"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return ""
    return str(folder)


async def server_for(plan: Plan, interpreter: Interpreter) -> Server:
    """Which of the three ways in: the one asked for, else our own where its self-test passes."""
    asked = plan.env.get(CHOICE) or os.environ.get(CHOICE)
    if asked is None:
        asked = "boot" if await _boot_fits(interpreter) else "stock"
    if asked not in ("boot", "stock", "adapter"):
        raise UsageError(f"{CHOICE} is boot, stock or adapter, not {asked!r}")
    if asked == "stock" and plan.kind == "code":
        return "adapter"  # pydevd 1.8.22 itself has no -c
    return asked  # type: ignore[return-value]


async def _boot_fits(interpreter: Interpreter) -> bool:
    """Whether every private name that our start-up script leans on is there; asked once for each interpreter."""
    key = ":".join(identity(path) for path in (interpreter.path, str(BOOT), str(TARGET / "selftest.py")))
    if key in _FITS:
        return _FITS[key]
    file = directory("cache") / "selftest.json"
    try:
        known: dict[str, bool] = json.loads(file.read_text())
    except (OSError, ValueError):  # nothing was kept yet
        known = {}
    if key not in known:
        known[key] = await asyncio.to_thread(_selftest, interpreter.path)
        remember(file, known)
    _FITS[key] = bool(known[key])
    return _FITS[key]


def _selftest(python: str) -> bool:
    script = TARGET / "selftest.py"
    if not script.exists():
        return True
    env = {
        **os.environ,
        "STILLFRAME_PYDEVD": str(vendored()),
        "STILLFRAME_PYCACHE": compiled_folder(),
    }
    try:
        done = subprocess.run(
            [python, "-X", "frozen_modules=off", str(script)],
            capture_output=True,
            timeout=_TESTED,
            env=env,
            check=False,
        )
        return bool(json.loads(done.stdout)["ok"])
    except subprocess.TimeoutExpired:
        raise AdapterUnresponsive(f"debugpy was not imported by {python} within {_TESTED:g} s") from None
    except (OSError, ValueError, KeyError):  # no sense is a no
        return False
