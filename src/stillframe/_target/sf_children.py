"""Python processes that the program starts come up through our start-up script, and dial the same debugger.

Patched are the few functions that all others end in: fork, execv, execve, posix_spawn and subprocess's fork_exec (os.spawn*,
os.exec*p, Popen and multiprocessing call these by name). The command line of a Python is rewritten to run our script, and the
settings that were taken out of the environment are put into the child's. Any other program, a shell or make, may start a Python
in its turn: it gets variables by which that one finds us (`follow/sitecustomize.py`). They are also in the C environment of this
process, out of os.environ's sight, for whatever starts a shell without asking Python: os.system, a library in C.
"""

import os
import sys

import pydevd
from _pydev_bundle import pydev_monkey
from _pydevd_bundle import sf_patches, sf_release
from _pydevd_bundle.pydevd_constants import get_global_debugger
from _pydevd_bundle.sf_command import FOLDER, FOLLOW, PYTHON, Command

_TRACKER = "from multiprocessing.resource_tracker import main"
_FORKSERVER = ("from multiprocessing.forkserver import main", "import sys; from multiprocessing.forkserver import main")
_ENVIRONMENT_AT = 4  # of fork_exec's arguments after the first: executables, close_fds, pass_fds, cwd, env
_PATH = "PYTHONPATH"


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
    if not PYTHON.match(os.path.basename(named[0])):
        return arguments, _by_environment()
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
    boot = _Family.settings.boot
    return words[:1] + command.through(boot, setup["client"], setup["port"], parent)[1:], variables


def _by_environment():
    """The variables by which a Python behind another program finds this debugger."""
    setup = pydevd.SetupHolder.setup
    variables = {FOLLOW: "%s:%s" % (setup["client"], setup["port"]), _PATH: FOLDER}
    return dict(_Family.settings.for_child(), **variables)


def _surroundings(environment, variables):
    """A mapping of bytes: the given environment, or that of os.environ, and the variables."""
    held = (os.environ if environment is None else environment).items()
    merged = {os.fsencode(key): os.fsencode(value) for key, value in held}
    for name, value in variables.items():
        key = os.fsencode(name)
        if name == _PATH:
            merged[key] = b":".join(each for each in (os.fsencode(value), merged.get(key)) if each)
        else:
            merged.setdefault(key, os.fsencode(value))
    return merged


def _fork_exec(real):
    def fork_exec(arguments, executables, *others):
        prepared, variables = _prepared(executables[0], arguments) if executables else (arguments, {})
        others = list(others)
        held = others[_ENVIRONMENT_AT - 1]
        if held is None or variables:
            given = None if held is None else dict(each.split(b"=", 1) for each in held)
            made = _surroundings(given, variables).items()
            others[_ENVIRONMENT_AT - 1] = [key + b"=" + value for key, value in made]
        pid = real(prepared, executables, *others)
        return pid if prepared is arguments else _announced(pid)

    return fork_exec


def _posix_spawn(real):
    def posix_spawn(path, arguments, environment, **options):
        prepared, variables = _prepared(path, arguments)
        pid = real(path, prepared, _surroundings(environment, variables) if variables else environment, **options)
        return pid if prepared is arguments else _announced(pid)

    return posix_spawn


def _fork(real):
    def fork():
        return _announced(real())

    return fork


def _announced(pid):
    """In the parent: say that this child is about to dial in, so that our own end is not told before."""
    db = get_global_debugger() if pid else None
    if db is not None and not db.pydb_disposed and db.writer is not None:
        sf_patches.send_event(db, {"kind": "started", "pid": pid})
    return pid


def _execve(real):
    def execve(path, arguments, environment):
        prepared, variables = _prepared(path, arguments, same_process=True)
        _say_goodbye()
        return real(path, prepared, _surroundings(environment, variables) if variables else environment)

    return execve


def _execv(real):
    def execv(path, arguments):
        prepared, variables = _prepared(path, arguments, same_process=True)
        _say_goodbye()
        return os.original_execve(path, prepared, _surroundings(None, variables))

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


def _let_shells_know():
    """os.putenv tells the C library and not os.environ, so that the program still sees the environment of a plain run."""
    variables = _by_environment()
    for key, value in _surroundings({_PATH: os.environ.get(_PATH, "")}, variables).items():
        os.putenv(key, value)


def install(settings):
    """Patch this process once; pydevd asks again in each forked child."""
    _Family.settings = settings
    _let_shells_know()
    pydev_monkey.patch_new_process_functions = lambda: None
    pydev_monkey._on_forked_process = _after_fork(pydev_monkey._on_forked_process)
    pydev_monkey.monkey_patch_os("fork", pydev_monkey.create_fork)
    os.fork = _fork(os.fork)
    import _posixsubprocess

    places = [(_posixsubprocess, "fork_exec", _fork_exec), (os, "execv", _execv), (os, "execve", _execve)]
    places += [(os, name, _posix_spawn) for name in ("posix_spawn", "posix_spawnp")]
    if sys.version_info >= (3, 11):
        import subprocess

        places.append((subprocess, "_fork_exec", _fork_exec))
    for module, name, wrap in places:
        if hasattr(module, name):
            pydev_monkey.monkey_patch_module(module, name, lambda kept, m=module, w=wrap: w(getattr(m, kept)))
