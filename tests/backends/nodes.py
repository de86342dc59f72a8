"""Node programs of a test's own, debugged through the library: what is asked, where it stands, what it tells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import stillframe
from stillframe.model.outcomes import AnyOutcome, Exited, Stop


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
