"""What the stories prove: each verb that worked in a test which passed, in a file that the README's table is made of.

`STILLFRAME_PROVE=write` in the environment of a run of this whole folder writes the file anew. Otherwise every test has to do
again what the file says that it does, so that nothing is claimed which no test ran.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import stillframe

FILE = Path(__file__).with_name("proved.json")
WRITE = os.environ.get("STILLFRAME_PROVE") == "write"

WITNESSED: set[str] = set()
"""The verbs that worked in the test that runs now."""
TOOLS: set[str] = set()
"""The debuggers that it ran, with their versions."""


class Witness(stillframe.Debugger):
    """A debugger that remembers what it was made to do."""

    async def call(self, op: str, args: dict[str, Any], session: str | None) -> Any:
        result = await super().call(op, args, session)
        WITNESSED.add(op)
        if op == "tool":
            TOOLS.add(f"{result.tool} {result.version}")
        return result


def proved() -> dict[str, dict[str, Any]]:
    """Story to its debugger, and to each verb the test that proves it."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text() or "{}") if FILE.exists() else {}
    return found


def forget() -> None:
    FILE.write_text("{}\n")


def write(story: str, test: str) -> None:
    """Note what this test has proven; of several tests, the first by name stands for a verb, whichever ran first."""
    with open(FILE, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known: dict[str, dict[str, Any]] = json.loads(file.read() or "{}")
        mine = known.setdefault(story, {"debugger": "", "verbs": {}})
        mine["debugger"] = min(TOOLS, default=mine["debugger"])
        for verb in WITNESSED:
            mine["verbs"][verb] = min(test, mine["verbs"].get(verb, test))
        mine["verbs"] = dict(sorted(mine["verbs"].items()))
        file.seek(0)
        file.truncate()
        file.write(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def unproven(story: str, test: str) -> set[str]:
    """Verbs that this test is said to prove and has not used."""
    claimed = proved().get(story, {}).get("verbs", {})
    return {verb for verb, by in claimed.items() if by == test} - WITNESSED
