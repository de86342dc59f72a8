"""Recorders inside the target, for `trace` and probes with verdicts: the program runs undebugged and writes down what was asked.

A language's adapter offers one by its method `recorder`. Whatever stands in the way of recording is told by the recording itself
(`Note`), or by there being none at all: a process that never said hello ran unrecorded, and that is what the reply says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from ..model.plans import Plan
from ..model.recorder import AnySaid, Ask, Hello

ASK = "ask.json"
PLAIN = "plain"
"""The adapter that runs a command without a debugger."""
_PIECE = 1 << 20


class Recorder(Protocol):
    """How programs of one language are made to record."""

    async def prepare(self, plan: Plan, folder: Path) -> Plan:
        """The plan as a plain command, with what makes every program of this language behind it read `ask.json` in the folder and
        write there. LaunchFailed, UsageError or Unsupported with the reason where that is known to be in vain."""
        ...

    def environment(self, plan: Plan, folder: Path) -> dict[str, str]:
        """Only what it adds to the environment, for commands that run programs of several languages."""
        ...

    def unseen(self, plan: Plan) -> str:
        """Why no process may have said hello, in a few words."""
        ...


@runtime_checkable
class Records(Protocol):
    """An adapter whose programs can be recorded."""

    name: str

    def recorder(self) -> Recorder: ...


def recorder_for(plan: Plan) -> Recorder | None:
    """The recorder for this plan; None where its language has none."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.recorder() if isinstance(adapter, Records) else None


class Several:
    """Behind a shell, make or a task runner: programs of any language that has a recorder."""

    def __init__(self, recorders: tuple[Recorder, ...]) -> None:
        self._recorders = recorders

    async def prepare(self, plan: Plan, folder: Path) -> Plan:
        return plain(plan, plan.command, self.environment(plan, folder))

    def environment(self, plan: Plan, folder: Path) -> dict[str, str]:
        added: dict[str, str] = {}
        for each in self._recorders:
            added.update(each.environment(plan, folder))
        return added

    def unseen(self, plan: Plan) -> str:
        return (
            "no Python or Node in it loaded the recorder (those in isolated mode, -I, -E or -S, and with a cleaned environment"
            " do not)"
        )


def plain(plan: Plan, command: tuple[str, ...], added: dict[str, str]) -> Plan:
    """The plan as a command that runs without a debugger."""
    return replace(
        plan, kind="command", command=command, args=(), program=None, interpreter=None, interpreter_flags=(),
        env={**plan.env, **added}, adapter=PLAIN, asked=plan.asked or plan.command,
    )  # fmt: skip


def write_ask(folder: Path, ask: Ask) -> None:
    (folder / ASK).write_bytes(msgspec.json.encode(ask))


_DECODER = msgspec.json.Decoder(AnySaid)


class Recording(msgspec.Struct, frozen=True):
    """What one process wrote. It may be much, so it is read anew each time it is asked for, line by line."""

    file: Path

    @property
    def said(self) -> Iterator[AnySaid]:
        """Everything that can be read, in order; of a killed process the torn last line is left out."""
        for line in _lines(self.file):
            try:
                yield _DECODER.decode(line)
            except msgspec.MsgspecError:  # two processes in one file, after a fork that nobody told us of
                continue

    @property
    def hello(self) -> Hello | None:
        first = next(self.said, None)
        return first if isinstance(first, Hello) else None


def read(folder: Path) -> tuple[Recording, ...]:
    """The recordings of every process, in the order in which they came up; also while they run, and after a kill."""
    files = sorted(folder.glob("*.told"), key=lambda file: (file.stat().st_ctime_ns, file.name))
    return tuple(each for each in map(Recording, files) if each.hello is not None)


def recorded(folder: Path) -> set[int]:
    """The processes that have a file there, though it may not say hello yet."""
    return {int(file.name.partition("-")[0]) for file in folder.glob("*-*.told")}


def failures(folder: Path) -> tuple[str, ...]:
    """Why recorders could not begin, by what they left instead of a recording."""
    return tuple(dict.fromkeys(file.read_text(errors="replace")[:400] for file in sorted(folder.glob("*.failed"))))


def _lines(file: Path) -> Iterator[bytes]:
    """Whole lines; what a recorder has set aside and not filled is zero bytes, up to the end."""
    rest = b""
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            text = piece.rstrip(b"\0")
            *whole, rest = (rest + text).split(b"\n")
            yield from whole
            if len(text) < len(piece):
                return
