"""An app in the booted simulator of iOS, found by its bundle's exact name. Unverified: nobody has run it on a Mac yet."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from ..errors import AdapterUnresponsive, NotFound, Unsupported
from .interpreters import on_path

_LIST = ("simctl", "spawn", "booted", "launchctl", "list")
_ROW = re.compile(r"(?P<pid>\d+|-)\t\S+\tUIKitApplication:(?P<bundle>[^\[\s]+)")
"""`4121	0	UIKitApplication:com.example.shop[1f2e][rb-legacy]`, a dash for an app that does not run."""
_ANSWER = 30.0
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
    process = await asyncio.create_subprocess_exec(
        xcrun, *_LIST, env=dict(env), cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(_ANSWER):
            out, err = await process.communicate()
    except TimeoutError:
        raise AdapterUnresponsive(f"xcrun simctl did not answer within {_ANSWER:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        said = err.decode("utf-8", "replace").strip().splitlines()
        raise NotFound(f"xcrun simctl: {said[-1] if said else f'exit {process.returncode}'}")
    return out.decode("utf-8", "replace")
