"""Breakpoints in generators, coroutines and greenlets that waited when they were set, from Python 3.12 on.

pydevd 1.8.22 looks for breakpoints as a call starts, and in the frames that run; one that waits in neither is met when it goes
on. It asks sys.monitoring for that event, and then has nobody to hear of it.
"""

import sys

from _pydevd_bundle import sf_headroom
from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING, get_global_debugger
from _pydevd_sys_monitoring import _pydevd_sys_monitoring, pydevd_sys_monitoring

_monitoring = getattr(sys, "monitoring", None)


def _goes_on(code, offset):
    """Hear of the lines of what goes on, where they hold breakpoints; once for each code until the breakpoints change."""
    _hear_lines(sf_headroom.frame_at(1))
    return _monitoring.DISABLE


def _thrown_into(code, offset, error):
    """An exception comes into what waited. This is heard of every time: sys.monitoring switches it off nowhere."""
    _hear_lines(sf_headroom.frame_at(1))


def hear_stack(frame):
    """As much for the frames of a greenlet that waits, none of which is told of as it goes on."""
    while frame is not None:
        _hear_lines(frame)
        frame = frame.f_back


def _hear_lines(frame):
    db = get_global_debugger()
    if db is None or db.pydb_disposed:
        return
    known = _pydevd_sys_monitoring._get_func_code_info(frame.f_code, frame)
    if known.always_skip_code or known.always_filtered_out:
        return
    if known.breakpoint_found or known.plugin_line_breakpoint_found:
        _pydevd_sys_monitoring._enable_line_tracing(frame.f_code)


def _listening(update):
    resumed, thrown_into = sf_headroom.roomy(_goes_on), sf_headroom.roomy(_thrown_into)

    def updated(*words, **options):
        update(*words, **options)
        tool, events = _monitoring.DEBUGGER_ID, _monitoring.events
        if _monitoring.get_tool(tool) != "pydevd":
            return
        wanted = _monitoring.get_events(tool)
        heard = bool(wanted & events.PY_RESUME)
        _monitoring.register_callback(tool, events.PY_RESUME, resumed if heard else None)
        _monitoring.register_callback(tool, events.PY_THROW, thrown_into if heard else None)
        if heard:
            _monitoring.set_events(tool, wanted | events.PY_THROW)

    return updated


def patch():
    """Have pydevd hear of it whenever it says anew what it wants to hear of."""
    if PYDEVD_USE_SYS_MONITORING:
        updated = _listening(_pydevd_sys_monitoring.update_monitor_events)
        _pydevd_sys_monitoring.update_monitor_events = pydevd_sys_monitoring.update_monitor_events = updated
