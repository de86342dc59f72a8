"""What a process left when it died, in a gdb before 18 too, whose adapter takes none: loaded where it would join a program."""

import sys

import gdb
from gdb.dap import events as dap_events

dap_server = sys.modules["gdb.dap.server"]
_TAKES_CORES = 18
_HERE = "stillframe-core"
"""Stands for the core where gdb's own code believes that it joins a far program."""


class _Core(object):
    """The core that was loaded by us, and the news of it, which says nothing: gdb before 18 tells none."""

    path = None


def is_core(inferior):
    """Whether the program is a core; before gdb 18 an inferior does not know."""
    return _Core.path is not None or getattr(inferior, "corefile", None) is not None


def install():
    """Have the request to join take a core, where gdb's own does not."""
    if int(gdb.VERSION.partition(".")[0]) >= _TAKES_CORES:
        return
    launching = sys.modules["gdb.dap.launch"]
    attach, execute = dap_server._commands["attach"], launching.exec_and_log

    def ours(**arguments):
        _Core.path = arguments.pop("coreFile", None)
        return attach(**(arguments if _Core.path is None else dict(arguments, target=_HERE)))

    def executed(command, *further):
        if command.endswith(_HERE):
            _load(_Core.path)
        else:
            execute(command, *further)

    dap_server._commands["attach"] = ours
    launching.exec_and_log = executed


def _load(path):
    gdb.execute("core-file " + "".join("\\" + each if each in " \t\n\\'\"" else each for each in path), to_string=True)
    dap_events._on_stop(_Core)  # loading one is no stop to gdb; the reason was given before
