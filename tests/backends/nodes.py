"""Node programs of a test's own, debugged through the library: what is asked, where it stands, what it tells."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import stillframe
from stillframe.model.outcomes import AnyOutcome, Exited, Stop


def is_18() -> bool:
    """Whether the machine's Node is 18, whose V8 begins no call again."""
    return str(_about_node()["node"]).startswith("18.")


def has_snapshot() -> bool:
    """Whether it comes up out of a snapshot of its own code, which V8 then does not pass over; Debian's does not."""
    return bool(_about_node()["snapshot"])


@cache
def _about_node() -> dict[str, object]:
    asked = "{ node: process.versions.node, snapshot: process.config.variables.node_use_node_snapshot }"
    said = subprocess.run(["node", "-p", f"JSON.stringify({asked})"], capture_output=True, check=True)
    found: dict[str, object] = json.loads(said.stdout)
    return found


@asynccontextmanager
async def debugged(
    folder: Path, files: Mapping[str, str] | str, *args: str, **options: object
) -> AsyncIterator[tuple[stillframe.Debugger, AnyOutcome]]:
    """The first of the files run to its first stop; a text alone is `app.js`."""
    files = {"app.js": files} if isinstance(files, str) else files
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"))
    async with stillframe.Debugger(cwd=str(folder)) as dbg:
        yield dbg, await dbg.launch(next(iter(files)), *args, **options)  # type: ignore[arg-type]


def stopped(outcome: AnyOutcome) -> Stop:
    assert isinstance(outcome, Stop), outcome
    return outcome


def exited(outcome: AnyOutcome) -> Exited:
    assert isinstance(outcome, Exited), outcome
    return outcome


def place(outcome: AnyOutcome) -> tuple[str, int]:
    """The function and the line where it is held."""
    frame = stopped(outcome).frame
    assert frame is not None
    assert frame.line is not None
    return frame.function, frame.line


def where(outcome: AnyOutcome) -> str:
    """File and line where it is held."""
    frame = stopped(outcome).frame
    assert frame is not None
    return f"{frame.file}:{frame.line}"


def returned(outcome: AnyOutcome) -> str | None:
    value = stopped(outcome).returned
    return value.value if value else None


def changes(outcome: AnyOutcome) -> list[tuple[str, str | None, str | None]]:
    """What the lines that were passed changed."""
    return [(each.name, each.old, each.new) for passed in stopped(outcome).trail for each in passed.changes]
