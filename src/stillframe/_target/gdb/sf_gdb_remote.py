"""Programs behind a gdbserver are joined so that one can speak of them while they run: runs inside gdb."""

import sys

import gdb

_JOINS = "target remote "
_WHILE_RUNNING = "maint set target-non-stop on"
"""Else gdb 18.1 can ask a server nothing while the program runs: no breakpoint can be set, and nobody can hold it. Other servers
than gdbserver, as qemu's, know none such, and would not talk again to whoever has asked them for it."""


def install(multi):
    """`multi`: the server has no program of its own, and is to start the one that was named. It would be gone as soon as it was
    asked in gdb's plain way."""
    gdb.execute(_WHILE_RUNNING, to_string=True)
    if not multi:
        return
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
