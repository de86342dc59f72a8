"""Calls in the program that somebody asked for, which are no move of it: runs inside gdb.

gdb 18.1 tells them as one, and loses count where a call makes another, for memory that its arguments need, or fails before it
begins: it takes the program for running ever after. A breakpoint within a call is a stop as any other.
"""

import sys

import gdb
from gdb.dap import events as dap_events

dap_server = sys.modules["gdb.dap.server"]


class Called(object):
    """The calls that have begun and not ended."""

    def __init__(self):
        self.open = 0  # how many there are

    def install(self):
        theirs = getattr(dap_events, "_on_inferior_call", None)
        if theirs is None:  # before gdb 15
            return
        gdb.events.inferior_call.disconnect(theirs)
        gdb.events.inferior_call.connect(self._noted)
        gdb.events.cont.disconnect(dap_events._cont)
        gdb.events.cont.connect(self._gone_on)
        evaluate = dap_server._commands["evaluate"]

        def ours(**arguments):
            try:
                return evaluate(**arguments)
            finally:
                self.settle()

        dap_server._commands["evaluate"] = ours

    def _noted(self, event):
        self.open += 1 if isinstance(event, gdb.InferiorCallPreEvent) else -1

    def _gone_on(self, event):
        if self.open <= 0:
            dap_events._cont(event)

    def settle(self):
        """Whoever asked for a call has the answer, so that none is open, also where one never began."""
        self.open = 0
