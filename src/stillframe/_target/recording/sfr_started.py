"""Pythons that the program starts where the recorder does not come along are told of: what runs there is heard of by nobody.

It comes by two variables of the environment, which a child may be given without, and which a Python in isolated mode passes over.
Patched are the few functions that all others end in, as for children that are debugged (`sf_children`).
"""

import os
import re

from .sf_command import PYTHON, Command

_HERE = os.path.dirname(os.path.abspath(__file__))
_ENVIRONMENT_AT = 5  # of fork_exec's arguments: words, executables, close_fds, pass_fds, cwd, env
_ISOLATED = re.compile(r"^-[a-zA-VYZ]*[IES]")  # letters before a W or X, whose value may be any
_MOST = 3
_WORDS = 80  # characters of another program's command


class Started:
    """What was told of by this process, each once and some of each kind."""

    def __init__(self, told):
        self.told = told
        self.said = {}

    def install(self):
        import _posixsubprocess

        fork_exec = _posixsubprocess.fork_exec

        def minding(words, executables, *others):
            environment = others[_ENVIRONMENT_AT - 2] if len(others) > _ENVIRONMENT_AT - 2 else None
            self.look(executables, words, environment)
            return fork_exec(words, executables, *others)

        _posixsubprocess.fork_exec = minding
        for name in ("posix_spawn", "posix_spawnp", "execve"):
            if hasattr(os, name):
                setattr(os, name, self._given(getattr(os, name), ends=name == "execve"))
        execv, leave = os.execv, os._exit

        def become(path, words):
            self.look([path], words, None)
            self.told.ending()
            return execv(path, words)

        def end(status):
            self.told.ending()
            return leave(status)

        system = os.system

        def by_shell(command):
            self.look(["sh"], ["sh", "-c", command], None)
            return system(command)

        os.execv, os._exit, os.system = become, end, by_shell

    def _given(self, real, *, ends):
        def start(path, words, environment, *others, **options):
            self.look([path], words, environment)
            if ends:
                self.told.ending()
            return real(path, words, environment, *others, **options)

        return start

    def look(self, executables, words, environment):
        """Tell of a Python that is about to start without us; whatever it is given, it starts as in a plain run."""
        try:
            self._look([os.fsdecode(executables[0])] + [os.fsdecode(each) for each in words[1:]], environment)
        except Exception:  # no words at all: the real function will say so
            pass

    def _look(self, words, environment):
        program = os.path.basename(words[0])
        if not PYTHON.match(program):
            self._say(self.told.beside, " ".join([program] + words[1:])[:_WORDS])
            return
        command = Command.parse(words)
        if command is None:
            return
        if any(_ISOLATED.match(each) for each in command.interpreter[1:]):
            why = "in isolated mode: -I, -E or -S"
        elif not _leads_here(environment):
            why = "with an environment of its own"
        else:
            return
        shown = {"file": os.path.basename(command.what), "m": "-m " + command.what}.get(command.kind, "-c")
        name = " ".join([program] + command.interpreter[1:] + [shown])
        text = "%s, which the program started, came up without the recorder (%s): what ran in it is not recorded" % (
            name,
            why,
        )
        self._say(self.told.lost, text)

    def _say(self, tell, text):
        said = self.said.setdefault(tell.__name__, set())
        if text not in said and len(said) < _MOST:
            said.add(text)
            tell(text)


def _leads_here(environment):
    """Whether a Python with this environment comes by our start-up script; None is for the program's own."""
    if environment is None:
        environment = os.environ
    if hasattr(environment, "items"):
        held = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    else:
        held = dict(each.split(b"=", 1) for each in environment)
    folders = held.get(b"PYTHONPATH", b"").split(os.fsencode(os.pathsep))
    return b"STILLFRAME_RECORDING" in held and os.fsencode(_HERE) in folders
