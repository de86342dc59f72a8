"""How Node is started for a program: which version of it that is, its flags for TypeScript, and what can be known to fail."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

from ...errors import LaunchFailed, Try
from ...model.plans import Plan
from .. import matches
from ..absent import no_such_file
from ..interpreters import identity

_WHICH = Try("doctor", {"languages": ["node"]})
OLDEST = (18,)
TYPED = ("*.ts", "*.mts", "*.cts", "*.tsx", "*.jsx")
_PERMISSION = re.compile(r"--(experimental-)?permission")


def preloading(script: Path) -> str:
    """The words by which NODE_OPTIONS has a script run before the program."""
    path = str(script)
    word = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if re.search(r'[\s"\\]', path) else path
    return f"--require {word}"


def needs_permission(plan: Plan) -> str | None:
    """The flag by which a program may do only what it is permitted, where it has one."""
    words = (*plan.interpreter_flags, *plan.env.get("NODE_OPTIONS", "").split())
    return next((each for each in words if _PERMISSION.fullmatch(each)), None)


def check_program(plan: Plan) -> None:
    """What can be known to fail fails here, with its reason."""
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    if plan.kind != "file" or not plan.program:
        return
    path = Path(plan.cwd, plan.program)
    if os.path.isdir(path):
        if not is_package(path):
            raise LaunchFailed(f"{path} is a directory without a package.json or index.js")
        return
    if not os.path.exists(path):
        if not any(Path(f"{path}{ending}").exists() for ending in (".js", ".mjs", ".cjs", ".json")):
            raise no_such_file(path, plan.cwd)
    elif not os.access(path, os.R_OK):
        raise LaunchFailed(f"not permitted to read {path}")


def is_package(path: Path) -> bool:
    """Whether Node runs this directory: by what its package.json names, or by its index."""
    return any((path / name).is_file() for name in ("package.json", "index.js", "index.json", "index.node"))


# Versions, and who runs TypeScript

_VERSIONS: dict[str, tuple[int, ...]] = {}


async def version_of(runtime: str) -> tuple[int, ...]:
    key = identity(runtime)
    if key not in _VERSIONS:
        try:
            process = await asyncio.create_subprocess_exec(
                runtime, "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
                stdin=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            async with asyncio.timeout(10):
                said, _ = await process.communicate()
        except (OSError, TimeoutError) as error:
            raise LaunchFailed(f"cannot run {runtime}: {error}", hint=_WHICH) from None
        found = re.match(r"v(\d+)\.(\d+)\.(\d+)", said.decode("utf-8", "replace"))
        if not found:
            raise LaunchFailed(f"{runtime} is no Node: `{runtime} --version` says {said[:80]!r}", hint=_WHICH)
        _VERSIONS[key] = tuple(int(part) for part in found.groups())
    version = _VERSIONS[key]
    if version < OLDEST:
        raise LaunchFailed(f"{runtime} is Node {version[0]}; Node {OLDEST[0]} or later is needed", hint=_WHICH)
    return version


def flags_for_types(plan: Plan, version: tuple[int, ...]) -> tuple[str, ...]:
    """The flags by which a TypeScript program runs: Node's own type stripping, else the project's tsx or ts-node."""
    program = plan.program or ""
    if plan.kind != "file" or not matches(program, TYPED):
        return ()
    if any(
        "tsx" in flag or "ts-node" in flag or "strip-types" in flag or "loader" in flag
        for flag in plan.interpreter_flags
    ):
        return ()
    near = Path(plan.cwd, program).resolve().parent
    strips = not matches(program, ("*.tsx", "*.jsx"))
    if strips and (version >= (23, 6) or (22, 18) <= version < (23,)):
        return ()
    if strips and version >= (22, 6):
        return ("--experimental-strip-types", "--disable-warning=ExperimentalWarning")
    if (tsx := _package(near, "tsx")) is not None:
        if version >= (20, 6) or (18, 19) <= version < (19,):
            return ("--import", (tsx / "dist" / "loader.mjs").as_uri())
        return ("--require", str(tsx / "dist" / "preflight.cjs"), "--loader", (tsx / "dist" / "loader.mjs").as_uri())
    if (ts_node := _package(near, "ts-node")) is not None:
        return ("--require", str(ts_node / "register" / "index.js"))
    number = ".".join(map(str, version))
    raise LaunchFailed(
        f"Node {number} does not run {Path(program).name} itself: npm install tsx, or compile it and launch that"
    )


def _package(near: Path, name: str) -> Path | None:
    for folder in (near, *near.parents):
        found = folder / "node_modules" / name
        if found.is_dir():
            return found
    return None
