"""A gdbserver that has no program of its own (`--multi`) is made to start the one that was named: runs inside gdb."""

import sys

import gdb

_JOINS = "target remote "


def install():
    """Have the request to join a far program start one. Such a server is gone as soon as it was asked in gdb's plain way."""
    launching = sys.modules["gdb.dap.launch"]
    execute = launching.exec_and_log

    def executed(command, *further):
        if command.startswith(_JOINS):
            _start(command[len(_JOINS) :])
        else:
            execute(command, *further)

    launching.exec_and_log = executed


def _start(place):
    gdb.execute("target extended-remote " + place, to_string=True)
    if not gdb.selected_inferior().pid:
        gdb.execute("set remote exec-file " + gdb.current_progspace().filename, to_string=True)
        gdb.execute("starti", to_string=True)
