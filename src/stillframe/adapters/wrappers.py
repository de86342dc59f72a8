"""Commands that run other programs: a shell, make, uv, env, any script. They run as they are, and what they start is debugged."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from pathlib import Path
from typing import Protocol, runtime_checkable

from msgspec.structs import replace

from ..backends.cdp.launch import CdpLaunch
from ..backends.dap.launch import DapLaunch
from ..backends.wrapped import WrappedLaunch
from ..errors import LaunchFailed, StillframeError, Unsupported, UsageError
from ..model import wording
from ..model.backend import Tool
from ..model.plans import AttachPlan, Plan
from .finding import Needs
from .interpreters import on_path
from .node.command import NAMES as NODE_NAMES
from .node.command import RUNNERS, runs_others
from .recorders import Records, Several
from .shebang import first_line

_FOREIGN = re.compile(
    r"(node|nodejs|deno|bun|java|ruby|perl|php|lua|luajit|R|Rscript|dotnet|mono|erl|elixir|swift|julia|go|cargo)[\d.]*"
)
"""Runtimes of languages of their own: where no adapter claims one, running it undebugged would help nobody."""
_ELF = b"\x7fELF"
WRAPPERS = re.compile(
    r"uvx?|g?make|ninja|just|env|timeout|nice|nohup|setsid|xargs|time|sudo|(ba|da|z|k|fi|tc|c)?sh|busybox"
)
"""Compiled programs that are run for those which they start, wherever they are installed."""


@runtime_checkable
class Follows(Protocol):
    """An adapter whose programs can be debugged wherever they come up, led to us by their environment."""

    name: str

    def inside(self, plan: Plan) -> DapLaunch | CdpLaunch:
        """How those are reached that come up behind the plan's command; `env` is what it adds to the environment."""
        ...


class WrapperAdapter:
    """What is run for the programs that it starts."""

    name = "wrapper"
    languages: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    first_words: re.Pattern[str] | None = None
    needs: tuple[Needs, ...] = ()

    def __init__(self, inside: tuple[Follows, ...]) -> None:
        self._inside = inside

    def tool(self) -> Tool:
        return Tool("wrapper", "")

    def understands(self, plan: Plan) -> bool:
        """Any command but a program compiled here (given by its path) and the runtime of another language."""
        path = _executable(plan)
        if path is None or (_FOREIGN.fullmatch(path.name) and not runs_others(plan)):
            return False
        first = first_line(path)
        if first.startswith(b"#!"):
            words = [word.rpartition("/")[2] for word in first[2:].decode("utf-8", "replace").split()]
            if any(NODE_NAMES.fullmatch(word) for word in words[:2]):
                return RUNNERS.fullmatch(path.name) is not None
            return not any(_FOREIGN.fullmatch(word) for word in words[:2])
        if plan.kind == "file":
            return os.access(path, os.X_OK) and not first.startswith(_ELF)
        if not first.startswith(_ELF) or "/" not in plan.command[0] or WRAPPERS.fullmatch(path.name):
            return True
        return on_path(path.name, plan.env, "/") is not None

    def understood(self, plan: Plan) -> Plan:
        """A file is a command like any other; one that a shell would refuse to run is refused here."""
        path = _executable(plan)
        if path is not None and not os.access(path, os.X_OK):
            raise LaunchFailed(f"{path} is not executable: {_other_way(plan, path)}")
        if plan.kind == "command":
            return plan
        word = plan.program or ""
        return replace(plan, kind="command", command=(word if "/" in word else f"./{word}", *plan.args), args=())

    async def launch(self, plan: Plan) -> WrappedLaunch:
        plan = self.understood(plan)
        name = Path(plan.command[0]).name
        if plan.interpreter is not None:
            raise UsageError(f"--python does not go with {name}, which chooses its interpreter itself")
        kinds = " or ".join(each.name.capitalize() for each in self._inside)
        path = _executable(plan)
        # Without a first line that names an interpreter it is the shell's, as execvp has it.
        by_shell = path is not None and not first_line(path).startswith((b"#!", _ELF))
        return WrappedLaunch(
            tool=Tool(name, "", "no debugger of its own"),
            argv=("/bin/sh", str(path), *plan.command[1:]) if by_shell else plan.command,
            inside=tuple(each.inside(plan) for each in self._inside),
            cwd=plan.cwd,
            env=plan.env,
            umask=plan.umask,
            stdin=plan.stdin,
            mark=secrets.token_hex(8),
            pending=f"no {kinds} program has come up yet",
            unseen=f"no {kinds} program was seen in it",
        )

    def misjudges_errors(self, plan: Plan) -> bool:
        """As the debugger does of what a runner of packages starts."""
        return bool(plan.command) and RUNNERS.fullmatch(Path(plan.command[0]).name) is not None

    def recorder(self) -> Several:
        """Whatever comes up behind it, in any language that has a recorder."""
        return Several(tuple(each.recorder() for each in self._inside if isinstance(each, Records)))

    def joins(self, plan: AttachPlan) -> bool:
        return False

    async def attach(self, plan: AttachPlan) -> WrappedLaunch:
        raise Unsupported("a wrapper is launched, not attached to: attach to the program that it runs")


def _other_way(plan: Plan, path: Path) -> str:
    """How a file runs that is no command: as a source of its language, else by a shell."""
    from . import for_plan

    try:
        for_plan(replace(plan, kind="file", program=str(path), args=plan.command[1:], command=()))
    except StillframeError:
        line = wording.either(f"-- sh {path.name}", f'command ["sh", "{path.name}"]')
        return f"chmod +x it, or run it by a shell, as in: {line}"
    further = f" -- {shlex.join(plan.command[1:])}" if plan.command[1:] else ""
    return wording.either(
        f"it runs without the `--` before it, as in: {path.name}{further}",
        "it is given as `program`, or behind the interpreter that runs it",
    )


def _executable(plan: Plan) -> Path | None:
    """The file that a plan would have the system run; None where there is none."""
    if plan.kind == "command" and plan.command and "/" not in plan.command[0]:
        found = on_path(plan.command[0], plan.env, plan.cwd)
        return Path(found) if found else None
    if plan.kind not in ("command", "file"):
        return None
    path = Path(plan.cwd, plan.command[0] if plan.kind == "command" and plan.command else plan.program or "")
    return path if os.path.isfile(path) else None
