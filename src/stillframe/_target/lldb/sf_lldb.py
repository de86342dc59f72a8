"""Imported by lldb before it debugs anything: answers our calls, each one request, on a line of its own.

lldb-dap 19 takes no requests but its own. A command of its console could be had as well, but before and after each one in Python
lldb takes a third of the time of a whole step to set the console up.
"""

import json
import os
import socket
import sys
import threading

import lldb

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "native")]

import sf_lldb_cxx  # noqa: E402
import sf_lldb_desk  # noqa: E402
import sf_lldb_stops  # noqa: E402

_DESK = sf_lldb_desk.Desk(json.loads(os.environ.get("STILLFRAME_LLDB", "{}")))


class Line(object):
    """The calls of our host, framed as lldb-dap's own requests are, one after the other."""

    def __init__(self, number, debugger):
        os.set_inheritable(number, False)  # what is debugged must not have it
        self._socket = socket.socket(fileno=number)
        self._debugger = debugger

    def serve(self):
        """Answer until nobody asks any more."""
        asked = self._socket.makefile("rb")
        while header := asked.readline():
            asked.readline()
            self._answer(json.loads(asked.read(int(header.partition(b":")[2]))))

    def _answer(self, request):
        arguments = request["arguments"]
        told = _DESK.answer(self._debugger, arguments.pop("call"), arguments)
        about = {"type": "response", "seq": 0, "request_seq": request["seq"], "command": request["command"]}
        answer = json.dumps(dict(about, success="body" in told, body=told.get("body"), message=told.get("error")))
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer.encode()))


def on_panic(frame, _location, _extra, _session):
    return sf_lldb_stops.holds_panic(frame)


def on_throw(frame, _location, _extra, _session):
    return sf_lldb_stops.holds_throw(frame)


def on_left(frame, location, _extra, _session):
    return _DESK.watches.left(frame, location.GetBreakpoint().GetID())


def on_touched(frame, watchpoint, _session):
    return _DESK.watches.touched(frame.GetThread().GetProcess().GetTarget(), watchpoint.GetID())


Owner, owned_summary = sf_lldb_cxx.Owner, sf_lldb_cxx.owned_summary  # lldb finds by name what is in this file


def __lldb_init_module(debugger, _session):
    sf_lldb_cxx.install(debugger)
    number = os.environ.pop("STILLFRAME_LINE", None)
    if number is not None:
        line = Line(int(number), lldb.SBDebugger.FindDebuggerWithID(debugger.GetID()))
        threading.Thread(target=line.serve, daemon=True).start()
