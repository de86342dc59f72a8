"""Drives a backend in tests: keeps its events, waits for the next one of a kind inside a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from stillframe.adapters import open_program, open_running
from stillframe.errors import AdapterGone
from stillframe.model.backend import (
    Backend,
    Bounds,
    Capture,
    CatchRule,
    ChildOpened,
    Ended,
    Event,
    Move,
    Output,
    Stopped,
    Wanted,
)
from stillframe.model.plans import AttachPlan, Plan

PROGRAM = Path(__file__).parent.parent / "languages" / "python" / "program.py"
PATIENCE = 30.0
NOTHING = CatchRule(frozenset())

E = TypeVar("E")


class Driven:
    """A backend with its events read from the start."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.seen: list[Event] = []
        self._unread = 0
        self._news = asyncio.Condition()
        self._reader = asyncio.create_task(self._read())
        self.thread = ""

    async def _read(self) -> None:
        async for event in self.backend.events():
            async with self._news:
                self.seen.append(event)
                self._news.notify_all()

    async def next(self, *kinds: type[E]) -> E:
        """The next event of one of these kinds; those between are passed over."""
        async with asyncio.timeout(PATIENCE), self._news:
            while True:
                await self._news.wait_for(lambda: self._unread < len(self.seen))
                event = self.seen[self._unread]
                self._unread += 1
                if isinstance(event, kinds):
                    if isinstance(event, Stopped):
                        self.thread = event.thread or ""
                    return event
                if isinstance(event, Ended):
                    raise AssertionError(f"ended before {kinds}: {event}, after {self.seen[-8:]}")

    async def stop(self) -> Stopped:
        return await self.next(Stopped)

    async def ended(self) -> Ended:
        """The end; a stop on the way is a failure."""
        event = await self.next(Ended, Stopped)
        assert isinstance(event, Ended), event
        await self._reader
        return event

    async def look(self, **bounds: Any) -> Capture:
        return await self.backend.capture(self.thread, Bounds(**bounds))

    async def move(self, move: Move = Move.CONTINUE) -> Stopped:
        await self.backend.resume(move, self.thread or None)
        return await self.stop()

    async def go(self) -> None:
        """Let it go on, to its end perhaps, which may come before it can say so."""
        with contextlib.suppress(AdapterGone):
            await self.backend.resume(Move.CONTINUE, self.thread or None)

    async def line(self) -> int | None:
        capture = await self.look()
        return capture.at.line if capture.at else None

    async def value(self, expression: str) -> str:
        capture = await self.look()
        assert capture.at is not None
        (answer,) = await self.backend.evaluate(capture.at.id, [expression], Bounds(), 5.0)
        assert answer.value is not None, answer.error
        return answer.value.value

    def printed(self, stream: str = "stdout") -> str:
        return b"".join(each.data for each in self.seen if isinstance(each, Output) and each.stream == stream).decode()

    def events(self, kind: type[E]) -> list[E]:
        return [each for each in self.seen if isinstance(each, kind)]

    async def close(self) -> None:
        await self.backend.close()
        await asyncio.wait_for(self._reader, PATIENCE)


def plan(program: Path | str = PROGRAM, *args: str, **changes: Any) -> Plan:
    """A plan for a Python file, with this process's own (guarded) environment."""
    given: dict[str, Any] = {"kind": "file", "cwd": os.getcwd(), "env": dict(os.environ), **changes}
    given.setdefault("cwd", str(Path(program).parent))
    return Plan(command=(str(program), *args), program=str(program), args=args, **given)


@asynccontextmanager
async def opened(wish: Plan | AttachPlan) -> AsyncIterator[Driven]:
    backend = await (open_running(wish) if isinstance(wish, AttachPlan) else open_program(wish))
    driven = Driven(backend)
    try:
        yield driven
    finally:
        for child in driven.events(ChildOpened):
            await child.backend.close()
        await driven.close()


@asynccontextmanager
async def started(wish: Plan | AttachPlan, *wanted: Wanted, catch: CatchRule = NOTHING) -> AsyncIterator[Driven]:
    async with opened(wish) as driven:
        await driven.backend.start(wanted, catch)
        yield driven


def mark(name: str, program: Path = PROGRAM) -> int:
    """The line that carries `# @name`."""
    for number, line in enumerate(program.read_text().splitlines(), start=1):
        if re.search(rf"#.*@{name}\b", line):
            return number
    raise LookupError(name)


def at(name: str, id: str = "b1", program: Path = PROGRAM, **terms: Any) -> Wanted:
    return Wanted(id, file=str(program), line=mark(name, program), **terms)


def write(folder: Path, text: str, name: str = "app.py") -> Path:
    """A marked program of the test's own."""
    path = folder / name
    path.write_text(text.lstrip("\n"))
    return path


def states(bindings: Sequence[Any]) -> list[str]:
    return [each.state for each in bindings]
