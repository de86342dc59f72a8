"""The standard job through Stillframe: by the library, alone or with the daemon, and by the command line in four calls."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import stillframe
from stillframe.faces.library import Debugger
from stillframe.faces.remote import Connection

from .bare import STEPS
from .subjects import Subject


async def library_job(dbg: Debugger | Connection, subject: Subject) -> dict[str, float]:
    """Times in milliseconds; `end` is from the program's last statement to our report."""
    began = time.perf_counter()
    stop = await dbg.launch(
        str(subject.program), "--clock", breaks=[f"{subject.source}:{subject.line}"], python=subject.python,
        adapter=subject.adapter,
    )  # fmt: skip
    first = time.perf_counter() - began
    assert isinstance(stop, stillframe.Stop), stop
    await dbg.eval(subject.look)
    steps = []
    for _ in range(STEPS):
        began = time.perf_counter()
        stop = await dbg.next()
        steps.append(time.perf_counter() - began)
        assert isinstance(stop, stillframe.Stop), stop
        assert stop.local("words") is not None
    await dbg.unbreak(all=True)
    end = await dbg.continue_()
    reported = time.monotonic()
    assert isinstance(end, stillframe.Exited), end
    last = float(end.output.split()[-1])
    await dbg.stop()  # as the floor waits for its debugger to be gone: else the next job is measured beside it
    return {"first stop": first * 1000, "step": statistics.median(steps) * 1000, "end": (reported - last) * 1000}


class CommandLine:
    """`dbg` as a shell runs it, with a daemon of its own."""

    def __init__(self, folder: Path) -> None:
        self._dbg = Path(sys.executable).with_name("dbg")
        self._env = {
            **os.environ,
            "STILLFRAME_RUNTIME_DIR": str(folder / "run"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self.cwd = Path(__file__).parent

    def run(self, *words: str) -> tuple[float, str]:
        began = time.perf_counter()
        done = subprocess.run(
            [self._dbg, *words], env=self._env, cwd=self.cwd, capture_output=True, text=True, check=True
        )
        return (time.perf_counter() - began) * 1000, done.stdout

    def job(self, program: Path, line: int, look: str, *flags: str) -> dict[str, float]:
        """The standard job in four calls."""
        first, launched = self.run("launch", program.name, "--break", f"{program.name}:{line}", *flags)
        evaluated = self.run("eval", look)[1]
        stepped = self.run("next", "--count", str(STEPS))[1]
        ended = self.run("continue")[1]
        text = launched + evaluated + stepped + ended
        return {"first stop": first, "characters": float(len(text))}

    def call(self) -> float:
        """A whole call that asks nothing of a debugger."""
        return self.run("sessions")[0]

    def close(self) -> None:
        self.run("daemon", "stop")


def bare_python() -> float:
    """The floor of any client in Python: starting the interpreter alone."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-IS", "-c", "pass"], check=True)
    return (time.perf_counter() - began) * 1000
