"""Python processes that the program starts come up through our start-up script, and dial the same debugger.

Patched are the few functions that all others end in: fork, execv, execve, posix_spawn and subprocess's fork_exec (os.spawn*,
os.exec*p, Popen and multiprocessing call these by name). The command line is rewritten to run our script, and the settings
that were taken out of the environment are put into the child's. Processes behind a shell are left alone.
"""

import os
import re
import sys

import pydevd
from _pydev_bundle import pydev_monkey
from _pydevd_bundle import sf_patches, sf_release
from _pydevd_bundle.pydevd_constants import get_global_debugger

_PYTHON = re.compile(r"^python(\d+(\.\d+)?)?[dt]?(\.exe)?$")
_TRACKER = "from multiprocessing.resource_tracker import main"
_FORKSERVER = "from multiprocessing.forkserver import main"
_ENVIRONMENT_AT = 4  # of fork_exec's arguments after the first: executables, close_fds, pass_fds, cwd, env


class Command:
    """A python command line taken apart: interpreter words, then a file, `-m` and a module, or `-c` and code."""

    def __init__(self, interpreter, kind, what, arguments):
        self.interpreter = interpreter
        self.kind = kind
        self.what = what
        self.arguments = arguments

    @classmethod
    def parse(cls, words):
        """None for what must be left as it is: no python, its REPL, a script from stdin, `--version` and the like."""
        if not words or not _PYTHON.match(os.path.basename(words[0])):
            return None
        at = 1
        while at < len(words) and words[at].startswith("-") and words[at] != "-":
            word = words[at]
            if word.startswith("--"):
                if word != "--check-hash-based-pycs":
                    return None
                at += 2
                continue
            found = cls._in_cluster(words, at)
            if found is not None:
                return found
            if any(letter in word for letter in "hV?i") and not re.match(r"^-[a-zA-Z]*[WX]", word):
                return None
            at += 2 if word[-1] in "WX" and not re.match(r"^-[a-zA-Z]*?[WX].", word) else 1
        if at >= len(words) or words[at] == "-":
            return None
        return cls(words[:at], "file", words[at], words[at + 1 :])

    @classmethod
    def _in_cluster(cls, words, at):
        """`-c` and `-m` may stand behind other letters and hold their value: `-qc`, `-Im`, `-mname`."""
        found = re.match(r"^-([^WXcm]*)([cm])(.*)$", words[at], re.DOTALL)
        if found is None:
            return None
        before, kind, value = found.groups()
        rest = words[at + 1 :]
        if not value:
            if not rest:
                return None
            value, rest = rest[0], rest[1:]
        return cls(words[:at] + (["-" + before] if before else []), kind, value, rest)

    def is_ours(self):
        return self.kind == "file" and os.path.basename(self.what) == "pydevd.py"

    def through(self, boot, setup, parent):
        """The command line that runs the same through our script."""
        words = [boot, "--json-dap-http", "--client", setup["client"], "--port", str(setup["port"])]
        words += ["--ppid", str(parent), "--skip-notify-stdin", "--multiprocess"]
        words += ["--module"] if self.kind == "m" else []
        words += ["--file"] + (["-c"] if self.kind == "c" else []) + [self.what]
        return self.interpreter + words + self.arguments


class _Family:
    """The settings of this process, for its children."""

    settings = None


def _prepared(executable, arguments, same_process=False):
    """(arguments, variables) for a process about to start; no variables for one that is not debugged."""
    try:
        words = [os.fsdecode(word) for word in arguments]
        named = [os.fsdecode(executable)] + words[1:]
    except TypeError:  # not words at all: the real function will say so
        return arguments, {}
    command = Command.parse(named)
    if command is None or (command.kind == "c" and command.what.startswith(_TRACKER)):
        return arguments, {}
    variables = _Family.settings.for_child()
    if command.kind == "c" and command.what.startswith(_FORKSERVER):
        variables["STILLFRAME_RELAY"] = "1"
    if command.is_ours():
        return arguments, variables
    setup = pydevd.SetupHolder.setup
    parent = setup["ppid"] if same_process else os.getpid()
    return words[:1] + command.through(_Family.settings.boot, setup, parent)[1:], variables


def _with(environment, variables):
    """A mapping for exec and posix_spawn: the given one, or ours, and the variables."""
    merged = dict(os.environ if environment is None else environment)
    keys = {os.fsdecode(key) for key in merged}
    merged.update({key: value for key, value in variables.items() if key not in keys})
    return merged


def _fork_exec(real):
    def fork_exec(arguments, executables, *others):
        prepared, variables = _prepared(executables[0], arguments) if executables else (arguments, {})
        if variables:
            others = list(others)
            held = others[_ENVIRONMENT_AT - 1]
            if held is None:
                held = [key + b"=" + value for key, value in os.environb.items()]
            added = [os.fsencode(key + "=" + value) for key, value in variables.items()]
            others[_ENVIRONMENT_AT - 1] = list(held) + added
        return real(prepared, executables, *others)

    return fork_exec


def _posix_spawn(real):
    def posix_spawn(path, arguments, environment, **options):
        prepared, variables = _prepared(path, arguments)
        if variables:
            environment = _with(environment, variables)
        return real(path, prepared, environment, **options)

    return posix_spawn


def _execve(real):
    def execve(path, arguments, environment):
        prepared, variables = _prepared(path, arguments, same_process=True)
        _say_goodbye()
        return real(path, prepared, _with(environment, variables) if variables else environment)

    return execve


def _execv(real):
    def execv(path, arguments):
        prepared, variables = _prepared(path, arguments, same_process=True)
        _say_goodbye()
        if variables:
            return os.original_execve(path, prepared, _with(None, variables))
        return real(path, prepared)

    return execv


def _say_goodbye():
    """Before exec takes this process's place: nothing queued may be lost, and the client learns why the line ends."""
    db = get_global_debugger()
    if db is not None and getattr(db, "stillframe_pid", None) == os.getpid():
        sf_patches.drain(db, {"kind": "replacing", "pid": os.getpid()})


def _after_fork(real):
    def on_forked_process(setup_tracing=True):
        try:
            real(setup_tracing)
        except OSError:  # the debugger is gone: the child runs on without it
            sf_release.let_go_after_fork()
        if get_global_debugger() is None:
            sf_release.stop_tracing_here()

    return on_forked_process


def install(settings):
    """Patch this process once; pydevd asks again in each forked child."""
    _Family.settings = settings
    pydev_monkey.patch_new_process_functions = lambda: None
    pydev_monkey._on_forked_process = _after_fork(pydev_monkey._on_forked_process)
    pydev_monkey.monkey_patch_os("fork", pydev_monkey.create_fork)
    import _posixsubprocess

    places = [(_posixsubprocess, "fork_exec", _fork_exec), (os, "execv", _execv), (os, "execve", _execve)]
    places += [(os, name, _posix_spawn) for name in ("posix_spawn", "posix_spawnp")]
    if sys.version_info >= (3, 11):
        import subprocess

        places.append((subprocess, "_fork_exec", _fork_exec))
    for module, name, wrap in places:
        if hasattr(module, name):
            pydev_monkey.monkey_patch_module(module, name, lambda kept, m=module, w=wrap: w(getattr(m, kept)))
