"""Everything ends: how long `stop` takes with programs that do not want to, and what a killed daemon's programs do."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time

import psutil  # type: ignore[import-untyped]

from tests.faces.conftest import call
from tests.guard import eventually, gone
from tests.stories.test_endings import STUBBORN

from .ground import Ground, stopwatch
from .table import Row, at_most, none_of

MOST = 5.0
"""Seconds in which all is to be over."""
_IN = "print('in', flush=True)\n"
_PYTHON = {
    **STUBBORN,
    "keeps-the-interpreter": "import ctypes\n{in_}ctypes.PyDLL(None).sleep(600)\n",
    "floods": "import sys\n{in_}while True: sys.stdout.write('x' * 100_000)\n",
}
_NODE = {
    "microtasks": "console.log('in');\nfunction f() { return Promise.resolve().then(f); }\nf();\n",
    "takes-the-signal": "process.on('SIGTERM', () => {});\nconsole.log('in');\nfor (;;) {}\n",
    "floods": "console.log('in');\nfor (;;) process.stdout.write('x'.repeat(100_000));\n",
    "rejects": "console.log('in');\nsetInterval(() => Promise.reject(new Error('no')).catch(() => {}), 0);\n",
}


def stubborn(ground: Ground) -> list[Row]:
    """E1: `stop` of each, and a kill of the daemon that has them all; then nothing of them is there."""
    programs = [ground.file(f"{name}.py", code.format(in_=_IN)).name for name, code in _PYTHON.items()]
    if shutil.which("node"):
        programs += [ground.file(f"{name}.js", code).name for name, code in _NODE.items()]
    times: list[float] = []
    left: list[str] = []
    while not times or ground.is_time_left:
        for program in programs:
            family = _begun(ground, program)
            with stopwatch() as took:
                code = call("stop", cwd=ground.project).code
            times += took
            left += [f"exit code {code} of stop: {program}"] if code else []
            left += [f"{program}: {each.pid}" for each in family if not gone(each)]
    families = [each for program in programs for each in _begun(ground, program)]
    os.kill(ground.status()["pid"], signal.SIGKILL)
    began = time.monotonic()
    eventually(lambda: all(map(gone, families)), "what a killed daemon had launched lives on")
    over = time.monotonic() - began
    ground.daemon()  # a successor, which takes away what the killed one could not
    done = f"{len(times)} stops of {len(programs)} programs"
    return [
        none_of("E1 alive after stop", done, left, "alive"),
        at_most("E1 the slowest stop", done, max(times), MOST, "s"),
        at_most("E1 alive after a kill of the daemon", f"{len(families)} processes", over, MOST, "s"),
    ]


def _begun(ground: Ground, program: str) -> list[psutil.Process]:
    """The processes of a program that has come to where it does not want to end."""
    said = call("launch", program, "--ready", "in", cwd=ground.project)
    assert not said.code, said
    pid = json.loads(call("status", "--json", cwd=ground.project).out)["result"]["pid"]
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]
