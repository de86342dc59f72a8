"""A command run as it is, with no debugger in it or behind it: for runs that a recorder inside the target watches."""

from __future__ import annotations

import os
import re
import secrets

from ..backends.wrapped import WrappedLaunch
from ..errors import LaunchFailed, Unsupported
from ..model.backend import Tool
from ..model.plans import AttachPlan, Plan
from .finding import Needs
from .recorders import PLAIN

_OURS = (b"__stillframe_r.", b"/stillframe/_target/")
"""What lines have that show a recorder at work, in the source and the stack of an error that nobody caught."""


class PlainAdapter:
    """What runs without us looking on."""

    name = PLAIN
    languages: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    first_words: re.Pattern[str] | None = None
    needs: tuple[Needs, ...] = ()

    def tool(self) -> Tool:
        return Tool("recorder", "")

    def understands(self, plan: Plan) -> bool:
        return plan.adapter == PLAIN

    def understood(self, plan: Plan) -> Plan:
        return plan

    async def launch(self, plan: Plan) -> WrappedLaunch:
        _check(plan)
        return WrappedLaunch(
            tool=self.tool(),
            argv=plan.command,
            inside=(),
            cwd=plan.cwd,
            env=plan.env,
            umask=plan.umask,
            stdin=plan.stdin,
            mark=secrets.token_hex(8),
            pending="it runs without a debugger",
            hidden=_OURS,
        )

    def joins(self, plan: AttachPlan) -> bool:
        return False

    async def attach(self, plan: AttachPlan) -> WrappedLaunch:
        raise Unsupported("what runs already cannot be recorded from its beginning")


def _check(plan: Plan) -> None:
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
