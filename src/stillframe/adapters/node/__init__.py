"""JavaScript and TypeScript in Node 18 and later, through V8's own inspector; nothing but `node` is needed."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...backends.cdp.launch import FIFO, CdpLaunch
from ...errors import Unsupported, UsageError
from ...model.backend import Tool
from ...model.plans import AttachPlan, Plan
from .. import matches
from ..finding import Needs, Recipe
from ..shebang import interpreter_meant
from .command import NAMES, PACKAGES, runs_node, shebang, understood
from .imports import FindsNodeImports
from .options import (
    OLDEST,
    TYPED,
    check_program,
    flags_for_types,
    is_package,
    needs_permission,
    preloading,
    version_of,
)
from .recording import NodeRecorder
from .running import address, ensure_alone, inspector_of, is_node, is_nodes_port, version

_TARGET = Path(__file__).resolve().parents[2] / "_target" / "node"
_HOOK = _TARGET / "hook.cjs"
_PROMISES = _TARGET / "promises.js"

_LIBRARY = (
    r"^node:",
    r"/node_modules/",
    r"^\[(?:worker )?eval\]-wrapper$",
    r"/\.pnp\.(?:cjs|js|loader\.mjs)$",
    r"^(?:rsc|about)://React/",
)
"""The last are functions that React makes only for their names: a call on a server stands so in the stack of what it renders,
with a source map that leads to the component's own lines."""
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
    claims: tuple[str, ...] = ("*.js", "*.mjs", "*.cjs", *TYPED)
    roots: tuple[str, ...] = ("package.json", "index.js")
    first_words: re.Pattern[str] | None = NAMES
    needs: tuple[Needs, ...] = (Needs("node", ("node", "nodejs"), (Recipe("apt", ("nodejs",)),), OLDEST),)

    in_vain: Mapping[int, str] = {13: "an await at the top of a module"}

    def misjudges_errors(self, plan: Plan) -> bool:
        return True

    def tool(self, version: str = "", how: str = "") -> Tool:
        return Tool("node", version, how)

    def understands(self, plan: Plan) -> bool:
        if plan.kind == "command":
            return runs_node(plan)
        if plan.kind != "file":
            return False
        path = Path(plan.cwd, plan.program or "")
        return matches(plan.program or "", self.claims) or shebang(path) is not None or is_package(path)

    def understood(self, plan: Plan) -> Plan:
        return understood(plan)

    async def launch(self, plan: Plan) -> CdpLaunch:
        plan = understood(plan)
        check_program(plan)
        if (flag := needs_permission(plan)) and "--allow-inspector" not in plan.interpreter_flags:
            raise Unsupported(
                f"node {flag} forbids the inspector, which is the debugger: launch it without; or, from Node 24 on, with "
                "--allow-inspector and --allow-fs-write=*"
            )
        runtime = plan.interpreter or interpreter_meant(plan, "node", PACKAGES)
        version = await version_of(runtime)
        flags = (*plan.interpreter_flags, *flags_for_types(plan, version))
        program = (plan.program,) if plan.program else ()
        return CdpLaunch(
            tool=self.tool(".".join(map(str, version))),
            argv=(runtime, *flags, *program, *plan.args),
            called=_called(plan),
            cwd=plan.cwd,
            env=_environment(plan),
            promises=_PROMISES.read_text("utf-8") if plan.tells_waits else "",
            tells_exits=plan.tells_exits,
            runs_code=plan.kind == "code",
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
            tool=self.tool(),
            env=_added(plan),
            just_my_code=plan.just_my_code,
            stop_on_entry=plan.stop_on_entry,
            children=plan.children,
            **_COMMON,
        )

    def recorder(self) -> NodeRecorder:
        """How its programs are made to write down what they do."""
        return NodeRecorder()

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
    """Our code for every target: five functions, of which the first takes the others."""
    names = ("store", "inner", "states", "values", "shapes")
    store, *parts = ((_TARGET / f"{name}.js").read_text("utf-8") for name in names)
    return f"{store}({','.join(parts)})"


_COMMON: dict[str, Any] = {
    "store": _in_target(),
    "library": _LIBRARY,
    "hidden": _HOOK.as_uri(),
    "brittle": ("18.",),
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
    added = {
        "NODE_OPTIONS": f"{preloading(_HOOK)} --inspect-publish-uid=stderr {before}".strip(),
        "STILLFRAME_NODE_OPTIONS": before,
        "STILLFRAME_NODE": FIFO,
    }
    if not plan.children:
        added["STILLFRAME_NODE_ALONE"] = "1"
    return added


NODE = NodeAdapter()
