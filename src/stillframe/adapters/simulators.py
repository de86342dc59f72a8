"""An app in the booted simulator of iOS, found by its bundle's exact name. Unverified: nobody has run it on a Mac yet."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Mapping

from ..errors import AdapterUnresponsive, NotFound, Unsupported
from .finding import run
from .interpreters import on_path

_LIST = ("simctl", "spawn", "booted", "launchctl", "list")
_ROW = re.compile(r"(?P<pid>\d+|-)\t\S+\tUIKitApplication:(?P<bundle>[^\[\s]+)")
"""`4121	0	UIKitApplication:com.example.shop[1f2e][rb-legacy]`, a dash for an app that does not run."""
_LISTED = 8


async def app_in_simulator(bundle: str, env: Mapping[str, str], cwd: str) -> int:
    """The pid of a running app; one whose name only begins alike is another."""
    apps = {row["bundle"]: row["pid"] for row in _ROW.finditer(await _listed(env, cwd))}
    pid = apps.get(bundle)
    if pid is None:
        there = ", ".join(sorted(apps)[:_LISTED]) or "none"
        raise NotFound(f"the booted simulator has no app {bundle}; there: {there}")
    if pid == "-":
        raise NotFound(f"{bundle} does not run in the booted simulator")
    return int(pid)


async def _listed(env: Mapping[str, str], cwd: str) -> str:
    xcrun = on_path("xcrun", env, cwd)
    if xcrun is None:
        raise Unsupported("apps of a simulator are found by Xcode's xcrun, which is not here; give --pid")
    try:
        done = await asyncio.to_thread(run, xcrun, *_LIST, env=env, cwd=cwd)
    except subprocess.TimeoutExpired as late:
        raise AdapterUnresponsive(f"xcrun simctl did not answer within {late.timeout:g} s") from None
    except OSError as error:
        raise Unsupported(f"{xcrun} does not start: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise NotFound(f"xcrun simctl: {said[-1] if said else f'exit {done.returncode}'}")
    return done.stdout
