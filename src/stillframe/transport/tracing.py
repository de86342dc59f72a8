"""Whether this machine lets one process trace another, as the debuggers of native programs have to; and what to do where not."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
_TRY = "import ctypes, os; os._exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)"
"""Asks to be traced by whoever started it, as every program does that a debugger starts."""
_PATIENCE = 10.0
_SUSPECT = re.compile(r"not permitted|ptrace|lost connection|exited with code 127", re.IGNORECASE)
"""What debuggers say when they were refused: gdb and Delve that it was, lldb that something hung up, gdb of a start a code."""


async def why_refused(said: str) -> str | None:
    """For what a debugger said when it came to nothing: the reason and the way out, where the machine forbids to trace."""
    if not _SUSPECT.search(said):
        return None
    return FORBIDDEN if await asyncio.to_thread(_is_forbidden) else _by_scope()


FORBIDDEN = "ptrace is forbidden here: a container needs --cap-add=SYS_PTRACE, a sandbox has to allow it"


def advice() -> str:
    """What to do where a process may not be traced that is there."""
    return _by_scope() or FORBIDDEN


def _by_scope() -> str | None:
    try:
        scope = int(_SCOPE.read_text())
    except (OSError, ValueError):
        return None
    if scope == 0:
        return None
    who = "its ancestors" if scope == 1 else "root" if scope == 2 else "nobody"
    way = "sysctl kernel.yama.ptrace_scope=0, as root" if scope < 3 else "only a restart of the machine changes that"  # fmt: skip
    return f"kernel.yama.ptrace_scope is {scope}, so that {who} alone may trace a process: {way}"


def _is_forbidden() -> bool:
    try:
        return subprocess.run([sys.executable, "-IS", "-c", _TRY], timeout=_PATIENCE, check=False).returncode == 1
    except (OSError, subprocess.SubprocessError):
        return False
