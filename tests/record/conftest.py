"""A record of the test's own, and stops to write into it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stillframe.model.outcomes import Stop
from stillframe.model.recording import RunFacts
from stillframe.model.values import Frame, Value
from stillframe.record.pruning import birth
from stillframe.record.record import Record

LINES = ["def total(items):", "    out = 0", "    for item in items:", "        out += item", "    return out"]


def facts(here: Path, name: str = "shop") -> RunFacts:
    return RunFacts(name=name, root=str(here), base=str(here), command=("shop.py",), tool="debugpy", version="1.8.22")


def stop_at(line: int = 4, reason: str = "breakpoint", function: str = "total", **values: object) -> Stop:
    frame = Frame(function=function, file="shop.py", line=line, id="f0", module="__main__")
    return Stop(
        reason=reason,
        thread="t1",
        frame=frame,
        stack=(frame, Frame(function="<module>", file="shop.py", line=9, id="f1")),
        stack_total=2,
        locals=tuple(Value(name=name, type=type(value).__name__, value=repr(value)) for name, value in values.items()),
        breakpoints=("b1",) if reason == "breakpoint" else (),
    )


@contextlib.asynccontextmanager
async def opened(state: Path) -> AsyncIterator[Record]:
    record = Record(state, f"{os.getpid()}:{birth(os.getpid())}")
    try:
        yield record
    finally:
        await record.close()


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[Record]:
    async with opened(tmp_path / "state") as made:
        yield made
