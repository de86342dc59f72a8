"""A process that records as fast as it can and says which hits were acknowledged, until somebody kills it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from stillframe.model.outcomes import Stop
from stillframe.model.recording import RunFacts
from stillframe.model.values import Frame, Value
from stillframe.record.pruning import birth
from stillframe.record.record import Record


async def main(state: Path, name: str) -> None:
    record = Record(state, f"{os.getpid()}:{birth(os.getpid())}")
    tape = record.begin(RunFacts(name=name, root="/p", base="/p"), None)
    lines = [
        f"{name} line {n}" for n in range(1, 101 if name.startswith("a") else 5001)
    ]  # written at once, and in two parts
    number = 0
    while True:
        number += 1
        frame = Frame(function="f", file="a.py", line=number * 50 % len(lines) + 1, id="f0")
        values = tuple(Value(name=f"v{n}", type="int", value=str(number * n)) for n in range(10))
        tape.printed("stdout", b"printed\n")
        notes = await tape.stop(Stop(reason="breakpoint", frame=frame, stack=(frame,), locals=values), lines)
        os.write(1, f"{name} {number} {len(notes)}\n".encode())


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
