"""What makes a program before it is started: commands of the caller's, or tasks of a trusted project, told as they ran."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from ..adapters.building import run
from ..errors import LaunchFailed
from ..model import wording
from ..model.plans import AttachPlan, Build, Plan
from ..session.session import Session


class Made(msgspec.Struct, frozen=True):
    """What was run, and what it said."""

    notes: tuple[str, ...] = ()
    said: str = ""

    def tell(self, session: Session) -> None:
        """Have the session's next reply say what was run, and keep what that said among its output."""
        for each in self.notes:
            session.note(each)
        if self.said:
            session.output.file("console", self.said.encode())


async def make(plan: Plan | AttachPlan | None) -> Made:
    """Run what has to be run before this program."""
    return await run_builds(plan.builds, plan.env) if isinstance(plan, Plan) else Made()


async def run_builds(builds: Sequence[Build], env: Mapping[str, str]) -> Made:
    """Run these one after the other; what the first one that fails said is the failure, as it is."""
    notes: list[str] = []
    said = ""
    for each in builds:
        began = time.monotonic()
        code, text = await run(("/bin/sh", "-c", each.command), cwd=each.cwd, env={**env, **each.env})
        what = f"the task {each.name!r}, {each.command!r}," if each.name else f"{each.command!r}"
        if code != 0:
            raise LaunchFailed(f"{what} failed with exit code {code}:\n{text.rstrip()}")
        more = f", and said: {wording.call('output', kind='console')}" if text.strip() else ""
        notes.append(f"built by {what.rstrip(',')} in {time.monotonic() - began:.1f} s{more}")
        said += text
    return Made(tuple(notes), said)
