"""Python programs that record themselves: our `sitecustomize` on PYTHONPATH arms the recorder in every Python of the run."""

from __future__ import annotations

import asyncio
import os
import re
import warnings
from pathlib import Path

import msgspec

from ...errors import LaunchFailed, Unsupported, UsageError
from ...model.plans import Plan
from ...model.recorder import Ask
from ..absent import no_such_file
from ..interpreters import choose, probe
from ..recorders import ASK, plain
from .command import understood
from .servers import compiled_folder

FOLDER = Path(__file__).resolve().parents[2] / "_target" / "recording"
_ISOLATES = re.compile(r"-[a-zA-Z]*[IES]")
"""Flags by which Python reads no PYTHONPATH (-I, -E) or runs no sitecustomize (-S)."""


class PythonRecorder:
    """By `sys.monitoring` from 3.12 on, else by `sys.settrace`."""

    async def prepare(self, plan: Plan, folder: Path) -> Plan:
        plan = understood(plan)
        await asyncio.to_thread(_check, plan, folder)
        near = Path(plan.cwd, plan.program or "").parent if plan.kind == "file" else Path(plan.cwd)
        interpreter = await probe(choose(plan.interpreter, near, plan.env, plan.cwd))
        what = {"file": (), "module": ("-m",), "code": ("-c",)}[plan.kind]
        words = (interpreter.path, *plan.interpreter_flags, *what, plan.program or "", *plan.args)
        return plain(plan, words, self.environment(plan, folder))

    def environment(self, plan: Plan, folder: Path) -> dict[str, str]:
        others = plan.env.get("PYTHONPATH")
        return {
            "PYTHONPATH": str(FOLDER) + (os.pathsep + others if others else ""),
            "STILLFRAME_RECORDING": str(folder),
            "STILLFRAME_PYCACHE": compiled_folder(),
        }

    def unseen(self, plan: Plan) -> str:
        return "no Python in it loaded the recorder (those in isolated mode, -I, -E or -S, and with a cleaned environment do not)"


def _check(plan: Plan, folder: Path) -> None:
    """What can be known to fail fails here, with its reason, before anything runs."""
    isolated = next((each for each in plan.interpreter_flags if _ISOLATES.fullmatch(each)), None)
    if isolated is not None:
        raise Unsupported(f"python {isolated} keeps the recorder out (isolated mode)")
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    path = Path(plan.cwd, plan.program or "")
    if plan.kind == "file" and not os.path.exists(path):
        raise no_such_file(path, plan.cwd)
    ask = msgspec.json.decode((folder / ASK).read_bytes(), type=Ask)
    if ask.trace and ask.trace.condition:
        _check_expression("--if", ask.trace.condition)
    for each in ask.probes:
        for what, texts in (("--eval", each.evals), ("--expect", each.expects), ("if", (each.condition or "True",))):
            for text in texts:
                _check_expression(what, text)


def _check_expression(what: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(f"(\n{text}\n)", what, "eval")
        except (SyntaxError, ValueError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else error
            raise UsageError(f"{what} {text!r} is no expression of Python: {reason}") from None
