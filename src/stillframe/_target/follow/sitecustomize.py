"""Python's own hook at start-up, put first on PYTHONPATH of a shell or a wrapper: has the Python behind it dial our debugger.

It takes itself and its variables out of sight first. A process that runs a program (a file, `-m`, `-c`) then runs it again, as
the same process, through our start-up script; any other goes on as if this file were not there, with the sitecustomize that a
plain run would have found. Python 2 and every later version may come by here, so this is written for all of them.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_TARGET = os.path.dirname(_HERE)
_OURS = (
    "STILLFRAME_PYDEVD",
    "STILLFRAME_TOKENS",
    "STILLFRAME_PYCACHE",
    "STILLFRAME_ON_EOF",
    "PYDEVD_DISABLE_FILE_VALIDATION",
)
_OLDEST, _NEWEST = (3, 8), (3, 14)  # what pydevd 1.8.22 runs in


def _hide():
    """Leave sys.path, PYTHONPATH and the environment as in a plain run; the debugger's address, if one was given."""
    sys.path[:] = [entry for entry in sys.path if entry != _HERE]
    kept = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry != _HERE]
    if kept:
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    else:
        os.environ.pop("PYTHONPATH", None)
    return os.environ.pop("STILLFRAME_FOLLOW", None)


def _is_python():
    """Whether this process is the interpreter, not another program that holds one (gdb, a web server)."""
    try:
        name = os.readlink("/proc/self/exe")
    except OSError:  # not Linux: taken at its word
        name = sys.executable or ""
    return os.path.basename(name).startswith("python") and sys.implementation.name == "cpython"


def _words():
    """The command line as it was typed; None where that cannot be known."""
    if hasattr(sys, "orig_argv"):
        return list(sys.orig_argv)
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return None


def _through_our_script(address):
    """The command line that runs this program under the debugger; None for what must be left as it is."""
    if not _OLDEST <= sys.version_info[:2] <= _NEWEST or not sys.executable or not _is_python():
        return None
    words = _words()
    if not words:
        return None
    sys.path.insert(0, _TARGET)
    try:
        from sf_command import Command
    finally:
        sys.path.remove(_TARGET)
        sys.modules.pop("sf_command", None)
    command = Command.parse([os.path.basename(sys.executable)] + words[1:])
    if command is None or command.is_ours():
        return None
    host, port, alone = (address + "::").split(":")[:3]
    boot = os.path.join(_TARGET, "pydevd.py")
    return words[:1] + command.through(boot, host, port, os.getppid(), children=not alone)[1:]


def _undo_coercion():
    """Python in the C locale sets LC_CTYPE for its children (PEP 538): here the child is itself, and is to find it unset."""
    try:
        with open("/proc/self/environ", "rb") as file:
            given = any(each.startswith(b"LC_CTYPE=") for each in file.read().split(b"\0"))
    except OSError:
        return
    if not given:
        os.environ.pop("LC_CTYPE", None)


def _follow():
    address = _hide()
    command = _through_our_script(address) if address and "STILLFRAME_TOKENS" in os.environ else None
    if command is not None:
        _undo_coercion()
        try:
            os.execv(sys.executable, command)
        except OSError:  # the command line is too long with our words in it: it runs without us
            command = None
    for name in _OURS:
        os.environ.pop(name, None)


_follow()
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402, F401  # the one of a plain run; where there is none, `site` takes this error for just that
