"""Runs a command in a sandbox that refuses it the network, as those of agents do, or ptrace, as those of containers may.

python sandbox.py network|ptrace COMMAND…
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from pathlib import Path

_NUMBERS = {"x86_64": (41, 42, 49, 101), "aarch64": (198, 203, 200, 117)}
"""The kernel's numbers of `socket`, `connect`, `bind` and `ptrace`."""
KNOWN = platform.machine() in _NUMBERS
_LOAD, _EQUAL, _ANSWER = 0x20, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""Go on; fail with EPERM."""
_NUMBER, _FIRST_ARGUMENT = 0, 16
_AF_UNIX = 1
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def without(what: str, *command: str) -> list[str]:
    """The words that run a command so."""
    return [sys.executable, str(Path(__file__)), what, *command]


def _refusing(what: str) -> tuple[tuple[int, int, int, int], ...]:
    """The filter, a step at a time: what is done, how far to jump where it is so and where not, and by what it is compared."""
    make, connect, bind, trace = _NUMBERS[platform.machine()]
    if what == "ptrace":
        return ((_LOAD, 0, 0, _NUMBER), (_EQUAL, 1, 0, trace), (_ANSWER, 0, 0, _ALLOW), (_ANSWER, 0, 0, _REFUSE))
    return (
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 5, 0, connect),
        (_EQUAL, 4, 0, bind),
        (_EQUAL, 0, 2, make),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _AF_UNIX),
        (_ANSWER, 0, 0, _ALLOW),
        (_ANSWER, 0, 0, _REFUSE),
    )


def shut_off(what: str) -> None:
    """From here on this process and what it becomes have none of it."""
    steps = _refusing(what)
    program = _Program(len(steps), b"".join(struct.pack("<HBBI", *each) for each in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program)):
        raise OSError(ctypes.get_errno(), "no seccomp")


if __name__ == "__main__":
    shut_off(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
