"""Imported by lldb before it debugs anything: puts our command beside its own, which answers in JSON."""

import base64
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import sf_lldb_desk  # noqa: E402
import sf_lldb_stops  # noqa: E402

import __main__  # noqa: E402

_DESK = sf_lldb_desk.Desk(json.loads(os.environ.get("STILLFRAME_LLDB", "{}")))


def stillframe(debugger, command, result, _session):
    """One call: its name and arguments as JSON, coded so that no command line ever takes it apart."""
    asked = json.loads(base64.b64decode(command.strip()))
    result.AppendMessage("stillframe:" + json.dumps(_DESK.answer(debugger, asked.pop("call"), asked)))


def on_panic(frame, _location, _extra, _session):
    return sf_lldb_stops.holds_panic(frame)


def on_throw(frame, _location, _extra, _session):
    return sf_lldb_stops.holds_throw(frame)


def on_left(frame, location, _extra, _session):
    return _DESK.watches.left(frame, location.GetBreakpoint().GetID())


_PREPARES = "lldb.debugger_unique_id = "
"""How the line begins by which lldb 19.1 tells its console which debugger it is, before every command in Python."""


def _compile_once(run_one_line):
    """lldb compiles that line each time, which takes as long as reading ten values; it is the same each time."""
    compiled = {}

    def run(session, text):
        if not text.startswith(_PREPARES):
            return run_one_line(session, text)
        if text not in compiled:
            compiled[text] = compile(text, "<lldb>", "exec")
        return exec(compiled[text], session)

    return run


def __lldb_init_module(debugger, _session):
    if hasattr(__main__, "run_one_line"):
        __main__.run_one_line = _compile_once(__main__.run_one_line)
    # As everything else that lldb-dap does: by itself a command would wait for the end of a step, and keep it from lldb-dap.
    options = "--overwrite --synchronicity current --function sf_lldb.stillframe"
    debugger.HandleCommand("command script add %s stillframe" % options)
