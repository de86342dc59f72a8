"""JavaScript and TypeScript in Node 18 and later, through V8's own inspector; nothing but `node` is needed."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..backends.cdp.launch import FIFO, CdpLaunch
from ..errors import AdapterMissing, LaunchFailed, UsageError
from ..model.backend import AttachPlan, Plan, Tool
from . import matches
from .finding import Needs, Recipe
from .interpreters import identity, on_path
from .node_command import NAMES, runs_node, shebang, understood
from .node_imports import FindsNodeImports
from .node_running import address, ensure_alone, inspector_of, is_node, is_nodes_port, version

_TARGET = Path(__file__).resolve().parent.parent / "_target" / "node"
_HOOK = _TARGET / "hook.cjs"
_OLDEST = (18,)
_TYPED = ("*.ts", "*.mts", "*.cts", "*.tsx", "*.jsx")

_LIBRARY = (r"^node:", r"/node_modules/", r"^\[eval\]-wrapper$")
_TALK = (
    r"^Debugger listening on ws://\S+",
    r"^For help, see: https://nodejs\.org/\S+",
    r"^Debugger attached\.",
    r"Waiting for the debugger to disconnect\.\.\.",
    r"^Debugger ending on ws://\S+",
)
"""What Node 18 to 24 says of its inspector on standard error; one of them at the end, whatever was printed without a newline."""


class NodeAdapter(FindsNodeImports):
    """What Stillframe knows of Node."""

    name = "node"
    languages: tuple[str, ...] = ("JavaScript", "TypeScript")
    claims: tuple[str, ...] = ("*.js", "*.mjs", "*.cjs", *_TYPED)
    roots: tuple[str, ...] = ("package.json", "index.js")
    needs: tuple[Needs, ...] = (Needs("node", ("node", "nodejs"), (Recipe("apt", ("nodejs",)),), _OLDEST),)

    def tool(self, version: str = "", how: str = "") -> Tool:
        return Tool("node", version, how)

    def understands(self, plan: Plan) -> bool:
        if plan.kind == "command":
            return runs_node(plan)
        if plan.kind != "file":
            return False
        path = Path(plan.cwd, plan.program or "")
        return matches(plan.program or "", self.claims) or shebang(path) is not None or _is_package(path)

    def understood(self, plan: Plan) -> Plan:
        return understood(plan)

    async def launch(self, plan: Plan) -> CdpLaunch:
        plan = understood(plan)
        _check(plan)
        runtime = plan.interpreter or on_path("node", plan.env, plan.cwd)
        if runtime is None:
            raise AdapterMissing("no node on PATH: apt install nodejs")
        version = await _version(runtime)
        flags = (*plan.interpreter_flags, *_for_types(plan, version))
        program = (plan.program,) if plan.program else ()
        return CdpLaunch(
            tool=self.tool(".".join(map(str, version))),
            argv=(runtime, *flags, *program, *plan.args),
            called=_called(plan),
            cwd=plan.cwd,
            env=_environment(plan),
            umask=plan.umask,
            stdin=plan.stdin,
            just_my_code=plan.just_my_code,
            stop_on_entry=plan.stop_on_entry,
            children=plan.children,
            mark=secrets.token_hex(8),
            **_COMMON,
        )

    def inside(self, plan: Plan) -> CdpLaunch:
        """How programs of Node are reached that come up behind a wrapper."""
        return CdpLaunch(
            tool=self.tool(), env=_added(plan), just_my_code=plan.just_my_code, children=plan.children, **_COMMON
        )

    # Joining

    def joins(self, plan: AttachPlan) -> bool:
        """Whether what is to be joined is a program of Node. A port is not asked: a debugger of another kind may not bear it."""
        if plan.url is not None:
            return True
        if plan.pid is not None:
            return is_node(plan.pid)
        return plan.port is not None and is_nodes_port(plan.port)

    async def attach(self, plan: AttachPlan) -> CdpLaunch:
        opened = False
        if plan.url is not None:
            url = plan.url
            if urlsplit(url).path in ("", "/"):
                url = await asyncio.to_thread(address, plan.host or "127.0.0.1", plan.port or 80)
        elif plan.pid is not None:
            url, opened = await inspector_of(plan.pid)
        elif plan.port is not None:
            url = await asyncio.to_thread(address, plan.host or "127.0.0.1", plan.port)
        else:
            raise UsageError("attach needs a pid, host:port, or ws://…")
        await ensure_alone(url)
        where = urlsplit(url)
        number = await asyncio.to_thread(version, where.hostname or "127.0.0.1", where.port or 80)
        return CdpLaunch(
            tool=self.tool(number, how="attached"),
            url=url,
            target_pid=plan.pid,
            opened_by_us=opened,
            launched=False,
            just_my_code=plan.just_my_code,
            children=plan.children,
            **_COMMON,
        )


def _in_target() -> str:
    """Our code for every target: three functions, of which the first takes the others."""
    store, *parts = ((_TARGET / f"{name}.js").read_text("utf-8") for name in ("store", "inner", "values"))
    return f"{store}({','.join(parts)})"


_COMMON: dict[str, Any] = {
    "store": _in_target(),
    "library": _LIBRARY,
    "hidden": _HOOK.as_uri(),
    "talk": _TALK,
}


def _called(plan: Plan) -> str:
    """The word by which a shell would have started Node, which a program can see."""
    if plan.command and NAMES.match(Path(plan.command[0]).name):
        return plan.command[0]
    return "node"


def _environment(plan: Plan) -> dict[str, str]:
    return {**plan.env, **_added(plan)}


def _added(plan: Plan) -> dict[str, str]:
    """Our script is preloaded by environment, so that every Node behind the program comes up as it does."""
    before = plan.env.get("NODE_OPTIONS", "")
    path = str(_HOOK)
    word = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if re.search(r'[\s"\\]', path) else path
    added = {
        "NODE_OPTIONS": f"--require {word} --inspect-publish-uid=stderr {before}".strip(),
        "STILLFRAME_NODE_OPTIONS": before,
        "STILLFRAME_NODE": FIFO,
    }
    if not plan.children:
        added["STILLFRAME_NODE_ALONE"] = "1"
    return added


def _check(plan: Plan) -> None:
    """What can be known to fail fails here, with its reason."""
    if not Path(plan.cwd).is_dir():
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    if plan.kind != "file" or not plan.program:
        return
    path = Path(plan.cwd, plan.program)
    if path.is_dir():
        if not _is_package(path):
            raise LaunchFailed(f"{path} is a directory without a package.json or index.js")
        return
    if not path.exists():
        if not any(Path(f"{path}{ending}").exists() for ending in (".js", ".mjs", ".cjs", ".json")):
            raise LaunchFailed(f"no such file: {path}")
    elif not os.access(path, os.R_OK):
        raise LaunchFailed(f"not permitted to read {path}")


def _is_package(path: Path) -> bool:
    """Whether Node runs this directory: by what its package.json names, or by its index."""
    return any((path / name).is_file() for name in ("package.json", "index.js", "index.json", "index.node"))


# Versions, and who runs TypeScript

_VERSIONS: dict[str, tuple[int, ...]] = {}


async def _version(runtime: str) -> tuple[int, ...]:
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
            raise LaunchFailed(f"cannot run {runtime}: {error}") from None
        found = re.match(r"v(\d+)\.(\d+)\.(\d+)", said.decode("utf-8", "replace"))
        if not found:
            raise LaunchFailed(f"{runtime} is no Node: `{runtime} --version` says {said[:80]!r}")
        _VERSIONS[key] = tuple(int(part) for part in found.groups())
    version = _VERSIONS[key]
    if version < _OLDEST:
        raise LaunchFailed(f"{runtime} is Node {version[0]}; Node {_OLDEST[0]} or later is needed")
    return version


def _for_types(plan: Plan, version: tuple[int, ...]) -> tuple[str, ...]:
    """The flags by which a TypeScript program runs: Node's own type stripping, else the project's tsx or ts-node."""
    program = plan.program or ""
    if plan.kind != "file" or not matches(program, _TYPED):
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
        if version >= (20, 6):
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


NODE = NodeAdapter()
