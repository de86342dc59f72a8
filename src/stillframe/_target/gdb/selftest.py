"""Run by gdb once: prints which of gdb's private names are missing that our code inside it leans on."""

import os
import sys

import gdb

NAMES = {
    "server": ("request", "send_event", "send_gdb_with_response", "_capabilities", "_commands", "Server"),
    "events": ("_on_stop", "_on_exit", "_cont", "send_event", "exec_and_log", "inferior_running"),
    "breakpoint": (
        "_PrintBreakpoint",
        "_rewrite_fn_breakpoint",
        "set_exception_breakpoints",
        "suppress_new_breakpoint_event",
    ),
    "frames": ("dap_frame_generator", "frame_for_id", "_clear_frame_ids"),
    "scopes": ("frame_to_scope",),
    "next": ("exec_and_expect_stop",),
    "startup": ("DAPException",),
    "state": ("set_thread",),
}


def missing():
    import gdb.dap

    found = []
    for module, names in NAMES.items():
        inside = sys.modules.get("gdb.dap." + module)
        found += ["%s.%s" % (module, name) for name in names if not hasattr(inside, name)]
    if "exceptionBreakpointFilters" not in getattr(sys.modules["gdb.dap.server"], "_capabilities", ()):
        found.append("exception filters")
    if not hasattr(gdb, "interrupt"):
        found.append("gdb.interrupt")
    return found


def failing():
    """What goes wrong when our code is put beside gdb's."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        import boot

        boot.boot({})
    except Exception as error:  # whatever it is, gdb is then used without it
        return ["%s: %s" % (type(error).__name__, error)]
    return []


gdb.write("dap: %s\n" % ", ".join(missing() or failing()))
