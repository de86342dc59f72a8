"""Go runs that one can go back in: rr records the program from its beginning to its end, and plays it again behind Delve.

Delve can have rr record as well. But then rr's reason why it cannot goes to the program's standard error while Delve dies, a
program that never ends is never shown, and what was recorded stays on the disk.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...backends.dap.launch import Replayed
from ...errors import AdapterMissing, LaunchFailed, UsageError
from ...model.plans import Plan
from ...settings import load, project_root
from ...transport.drains import Stream
from ...transport.process import Exit, spawn
from ..interpreters import on_path
from .building import Built

_FLAGS = "DELVE_RR_RECORD_FLAGS"
"""What Delve gives rr beyond its own words, and so do we; of a replay it reads its own variable."""
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_COMPLETE = "version"
"""The file that rr leaves in a recording that is whole."""
_TO_WRITE = 20.0
"""How long rr may take to write what it has, once it was told to end the program."""
_TO_TRY = 20.0
_SAID = 2000
_PLACE = re.compile(r"^\[FATAL [^\]]*\]\s*", re.MULTILINE)
"""Where in rr's own source something went wrong."""
_REPLAYED = "recorded by rr from its beginning to its end; what it prints and does is told as it is replayed"


class Recording(msgspec.Struct, frozen=True):
    """What rr recorded: the folder that is replayed, and what is to be known of it."""

    folder: str
    end: Replayed
    notes: tuple[str, ...]


async def check(plan: Plan, folder: str) -> str:
    """The rr that records here; the error has its own reason where it cannot. Asked before anything is built or run."""
    if plan.stdin == "-":
        raise UsageError("a run that is recorded is over before it could be given any input: --stdin FILE")
    rr = on_path("rr", plan.env, plan.cwd)
    if rr is None:
        raise AdapterMissing("to go back in a Go program Delve needs rr, which is not on PATH: apt install rr")
    tried = Path(folder, "tried")
    nothing = on_path("true", plan.env, plan.cwd) or "/bin/true"
    said = await _record(rr, tried, (nothing,), plan, plan.cwd, _TO_TRY)
    if not (tried / _COMPLETE).exists():
        raise LaunchFailed(f"rr cannot record on this machine: {_reason(said.text)}")
    if (strictness := _strictness()) > 1:
        raise LaunchFailed(
            f"Delve replays nothing while {_PARANOID} is {strictness}: sysctl kernel.perf_event_paranoid=1"
        )
    return rr


async def recorded(rr: str, built: Built, plan: Plan, folder: str) -> Recording:
    """Run the program under rr to its end, or for as long as a start may take."""
    into = Path(folder, "recorded")
    patience = load(plan.env, Path(project_root(plan.cwd))).start_timeout
    said = await _record(rr, into, (built.binary, *built.args), plan, built.cwd, patience)
    if not (into / _COMPLETE).exists():
        raise LaunchFailed(f"rr did not record it: {_reason(said.text)}")
    cut = (f"it ran for longer than {patience:g} s (start_timeout), and is recorded until then",) if said.cut else ()
    return Recording(str(into), Replayed() if said.cut else Replayed(said.end.code, said.end.signal), (_REPLAYED, *cut))


class _Said(msgspec.Struct, frozen=True):
    text: str
    end: Exit
    cut: bool


async def _record(rr: str, into: Path, words: Sequence[str], plan: Plan, cwd: str, patience: float) -> _Said:
    """Record one program; what it and rr said last on standard error, and whether it had to be ended."""
    last = b""

    def take(stream: Stream, data: bytes) -> None:
        nonlocal last
        if stream == "stderr":
            last = (last + data)[-_SAID:]

    flags = shlex.split(plan.env.get(_FLAGS, ""))
    process = spawn(
        (rr, "record", "-o", str(into), *flags, *words), cwd=cwd, env=plan.env, on_output=take, umask=plan.umask,
        stdin=plan.stdin,
    )  # fmt: skip
    try:
        await asyncio.wait({process.exited}, timeout=patience)
        if cut := not process.exited.done():
            os.kill(process.pid, signal.SIGTERM)  # rr ends the program, and closes the recording
            await asyncio.wait({process.exited}, timeout=_TO_WRITE)
    finally:
        await process.terminate()
        process.close()
    end = process.exited.result() if process.exited.done() else Exit(None)
    return _Said(last.decode("utf-8", "backslashreplace"), end, cut)


def _reason(said: str) -> str:
    """What rr says of it, without where in its own source it said so."""
    text = _PLACE.sub("", said.partition("=== Start rr backtrace")[0]).strip()
    return text or "it does not say why"


def _strictness() -> int:
    try:
        return int(_PARANOID.read_text())
    except (OSError, ValueError):
        return 0
