"""Where the machine forbids to trace processes: every debugger that lives by it says so, and what to do about it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO
from stillframe.adapters.lldb import LLDB
from stillframe.adapters.python.joining import check_process
from stillframe.errors import NotFound
from stillframe.transport import tracing

from .. import sandbox
from ..faces.conftest import CLIENT
from .conftest import User

pytestmark = pytest.mark.skipif(not sandbox.KNOWN, reason="the kernel's numbers are not known here")
FORBIDDEN = "ptrace is forbidden here: a container needs --cap-add=SYS_PTRACE, a sandbox has to allow it"
WAITS = {"waits.c": "#include <unistd.h>\nint main(void) { sleep(600); return 0; }\n", "waits.py": "input()\n"}


@pytest.fixture
def shut(tmp_path: Path) -> Iterator[User]:
    """A user whose daemon, and all that it starts, may trace nothing."""
    made = User(tmp_path, sandbox.without("ptrace", *CLIENT))
    yield made
    made.says("daemon", "stop")


@pytest.fixture
def program(shut: User) -> str:
    if find(GDB.needs[0], os.environ, ".").path is None or shutil.which("cc") is None:
        pytest.skip("gdb or a C compiler is not installed")
    for name, text in WAITS.items():
        shut.file(name, text)
    subprocess.run(["cc", "-g", "-o", "waits", "waits.c"], cwd=shut.here, check=True)
    return str(shut.here / "waits")


@pytest.mark.long
def test_a_debugger_that_may_not_trace_says_so(shut: User, program: str) -> None:
    # gdb itself says of a program that never began that it exited with 0.
    assert f" s: never began: {FORBIDDEN}\n" in shut.ok("launch", program, "--break", "main")
    assert shut.ok("crash", "--", program).startswith(f"{program} never began: {FORBIDDEN}\n")
    others = [name for name, each in (("lldb", LLDB), ("go", GO)) if find(each.needs[0], os.environ, ".").path]
    if "go" in others:
        shut.file("main.go", "package main\nfunc main() {}\n")
    for name in others:
        words = ("main.go",) if name == "go" else (program, "--adapter", name)
        assert shut.fails("launch", *words, code=7, error="denied").endswith(f"; {FORBIDDEN}\n")
    for command, more in (([program], ()), ([program], ("--adapter", "lldb")), ([sys.executable, "waits.py"], ())):
        if more and "lldb" not in others:
            continue
        with subprocess.Popen(command, cwd=shut.here, stdin=subprocess.PIPE) as running:
            said = shut.fails("attach", "--pid", str(running.pid), *more, code=7, error="denied")
            running.kill()
        assert said.endswith(f"; {FORBIDDEN}\n"), said


@pytest.mark.parametrize(("scope", "who"), [("1", "its ancestors"), ("2", "root"), ("3", "nobody")])
async def test_what_the_kernel_is_set_to_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str, who: str
) -> None:
    (tmp_path / "scope").write_text(f"{scope}\n")
    monkeypatch.setattr(tracing, "_SCOPE", tmp_path / "scope")
    told = f"kernel.yama.ptrace_scope is {scope}, so that {who} alone may trace a process: "
    assert tracing.advice().startswith(told)
    assert (await tracing.why_refused("ptrace: Operation not permitted.") or "").startswith(told)
    assert await tracing.why_refused("no such file") is None


_AS_SOMEBODY = "import os, sys; os.geteuid() or os.setuid(65534); "
_HIDES = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print('hidden', flush=True); input()"
_JOINS = "from stillframe.adapters.python.joining import check_process; "


def test_a_process_that_hides_itself_or_has_ended_cannot_be_joined_and_that_is_said() -> None:
    hides = [sys.executable, "-c", _AS_SOMEBODY + _HIDES]
    with subprocess.Popen(hides, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hidden:
        assert hidden.stdout is not None
        assert hidden.stdout.readline() == b"hidden\n"
        joins = [sys.executable, "-c", f"{_JOINS}{_AS_SOMEBODY}check_process({hidden.pid})"]
        said = subprocess.run(joins, capture_output=True, text=True, check=False).stderr
        assert f"Denied: not permitted to look at process {hidden.pid}" in said
        hidden.kill()
        os.waitid(os.P_PID, hidden.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(NotFound, match=f"process {hidden.pid} has ended"):
            check_process(hidden.pid)
