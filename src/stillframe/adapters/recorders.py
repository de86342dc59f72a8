"""Recorders inside the target, for `trace` and probes with verdicts: the program runs undebugged and writes down what was asked.

A language's adapter offers one by its method `recorder`. Whatever stands in the way of recording is told by the recording itself
(`Note`), or by there being none at all: a process that never said hello ran unrecorded, and that is what the reply says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from ..model.backend import Plan
from ..model.recorder import AnySaid, Ask, Recording

ASK = "ask.json"
PLAIN = "plain"
"""The adapter that runs a command without a debugger."""
_MOST = 512 * 1024 * 1024
"""Bytes of one file that are read."""


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
        return "no program that can be recorded came up in it"


def plain(plan: Plan, command: tuple[str, ...], added: dict[str, str]) -> Plan:
    """The plan as a command that runs without a debugger."""
    return dataclasses.replace(
        plan, kind="command", command=command, args=(), program=None, interpreter=None, interpreter_flags=(),
        env={**plan.env, **added}, adapter=PLAIN,
    )  # fmt: skip


def write_ask(folder: Path, ask: Ask) -> None:
    (folder / ASK).write_bytes(msgspec.json.encode(ask))


_DECODER = msgspec.json.Decoder(AnySaid)


def read(folder: Path) -> tuple[Recording, ...]:
    """What every process has written by now, in the order in which they came up; also while they run, and after a kill."""
    files = sorted(folder.glob("*.told"), key=lambda file: (file.stat().st_mtime_ns, file.name))
    found = [_recording(file) for file in files]
    return tuple(each for each in found if each.said)


def _recording(file: Path) -> Recording:
    with file.open("rb") as stream:
        text = stream.read(_MOST)
    said: list[AnySaid] = []
    torn = 0
    for line in _lines(text):
        try:
            said.append(_DECODER.decode(line))
        except msgspec.MsgspecError:
            torn += 1
    return Recording(tuple(said), torn)


def _lines(text: bytes) -> Iterator[bytes]:
    """Whole lines; what a recorder has set aside and not filled is zero bytes."""
    whole = text[: text.rfind(b"\n") + 1]
    for line in whole.split(b"\n"):
        if line := line.strip(b"\0"):
            yield line
