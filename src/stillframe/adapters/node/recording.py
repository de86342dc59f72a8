"""Node programs that record themselves: what they load is rewritten, on the way, by a script that NODE_OPTIONS preloads."""

from __future__ import annotations

import asyncio
import re
import resource
from pathlib import Path

import msgspec

from ...errors import LaunchFailed, Unsupported, UsageError
from ...model.plans import Plan
from ...model.recorder import Ask
from ..recorders import ASK, plain
from ..shebang import interpreter_meant
from .command import PACKAGES, understood
from .options import check_program, flags_for_types, needs_permission, preloading, version_of

FOLDER = Path(__file__).resolve().parents[2] / "_target" / "node" / "recording"
_STACK = 2952
"""Kilobytes of stack, three times as many as V8 gives by itself."""
_CHECK = 20.0
"""Seconds that Node has to say whether the expressions of a question are some."""


class _Checked(msgspec.Struct):
    wrong: tuple[tuple[str, str], ...] = ()
    unreadable: str | None = None


class NodeRecorder:
    """By rewriting the function or statement asked for when its file is loaded."""

    async def prepare(self, plan: Plan, folder: Path) -> Plan:
        plan = understood(plan)
        check_program(plan)
        if flag := needs_permission(plan):
            raise Unsupported(
                f"node {flag} keeps the recorder out (it may neither load it nor let it write): run it without"
            )
        runtime = plan.interpreter or interpreter_meant(plan, "node", PACKAGES)
        flags = (*plan.interpreter_flags, *flags_for_types(plan, await version_of(runtime)))
        await _check_expressions(runtime, plan, folder)
        program = (plan.program,) if plan.program else ()
        return plain(plan, (runtime, *_roomier(flags), *program, *plan.args), self.environment(plan, folder))

    def environment(self, plan: Plan, folder: Path) -> dict[str, str]:
        before = plan.env.get("NODE_OPTIONS", "")
        return {
            "NODE_OPTIONS": f"{preloading(FOLDER / 'boot.cjs')} {before}".strip(),
            "STILLFRAME_RECORD_NODE": str(folder),
        }

    def unseen(self, plan: Plan) -> str:
        return "no Node in it loaded the recorder (one with --permission or with a cleaned environment does not)"


def _roomier(flags: tuple[str, ...]) -> tuple[str, ...]:
    """With room for deep recursion, of which a rewritten function needs more; V8 takes this from the command line alone."""
    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    has_room = limit == resource.RLIM_INFINITY or limit >= 2 * _STACK * 1024
    if not has_room or any(each.startswith(("--stack-size", "--stack_size")) for each in flags):
        return flags
    return (f"--stack-size={_STACK}", *flags)


async def _check_expressions(runtime: str, plan: Plan, folder: Path) -> None:
    """A question that is none is said to be so before anything runs, by the Node that it is meant for."""
    ask = msgspec.json.decode((folder / ASK).read_bytes(), type=Ask)
    asked = [ask.trace.condition] if ask.trace else []
    asked += [text for each in ask.probes for text in (each.condition, *each.evals, *each.expects)]
    if not any(asked):
        return
    env = {key: value for key, value in plan.env.items() if not re.match(r"NODE_|STILLFRAME_", key)}
    try:
        process = await asyncio.create_subprocess_exec(
            runtime, str(FOLDER / "check.cjs"), str(folder / ASK), env=env, cwd=str(folder),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        async with asyncio.timeout(_CHECK):
            said, _ = await process.communicate()
        found = msgspec.json.decode(said, type=_Checked)
    except (OSError, TimeoutError, msgspec.MsgspecError) as error:
        raise LaunchFailed(f"cannot run {runtime}: {error}") from None
    for what, why in found.wrong:
        raise UsageError(f"{what} is no expression of JavaScript: {why}")
