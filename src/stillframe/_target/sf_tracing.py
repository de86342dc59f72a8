"""Programs that trace themselves (`python -m trace`, pdb): told what it means for breakpoints, and shown no code of ours."""

import functools
import os
import sys
import types

import pydevd
import pydevd_tracing
from _pydevd_bundle import pydevd_constants
from _pydevd_bundle.pydevd_dont_trace_files import PYDEV_FILE

OURS = (os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.abspath(pydevd.__file__)))
_real_settrace, _real_gettrace = sys.settrace, sys.gettrace


class Hooks:
    """Set by `sf_patches`, which knows how events are sent."""

    say = staticmethod(lambda db, body: None)


class Tracing:
    """What is known of a program since it began to trace itself."""

    began = False
    executed = set()  # files of code that was run by exec from then on: before 3.12 nobody else hears of them


def _set_trace(function):
    """sys.settrace as the program sees it."""
    caller = sys._getframe(1)
    db = pydevd_constants.get_global_debugger()
    file_type = db.get_file_type(caller) if db is not None and not db.pydb_disposed else PYDEV_FILE
    by_thread = caller.f_globals.get("__name__") == "threading"  # each takes over what threading.settrace said
    if file_type is None and not by_thread and not pydevd_constants.PYDEVD_USE_SYS_MONITORING:
        _tell(db, function, caller)
    if isinstance(function, (types.FunctionType, types.MethodType)):
        function = _without_ours(function)
        if not Tracing.began:
            Tracing.began, sys.gettrace = True, _get_trace
            sys.addaudithook(_heard)
    _real_settrace(function)


def _tell(db, function, caller):
    if getattr(db, "stillframe_untraced", False):
        return
    db.stillframe_untraced = True
    what = "turned tracing off" if function is None else "set its own trace function"
    place = "%s:%d" % (os.path.abspath(caller.f_code.co_filename), caller.f_lineno)
    message = "the program %s at %s; breakpoints do not stop it from there on" % (what, place)
    Hooks.say(db, {"kind": "untraced", "message": message})


def _without_ours(function):
    """A trace function that hears of no call of ours; the program sees its own when it asks for it."""

    @functools.wraps(function, assigned=(), updated=())
    def traced(frame, event, arg):
        return None if frame.f_code.co_filename.startswith(OURS) else function(frame, event, arg)

    return traced


def _get_trace():
    return getattr(_real_gettrace(), "__wrapped__", None) or _real_gettrace()


def _heard(event, arguments):
    if event == "exec":
        name = arguments[0].co_filename
        Tracing.executed.add(name if name.startswith("<") else os.path.abspath(name))


def patch():
    """Until 3.11 pydevd puts its own in the place of sys.settrace; ours goes there."""
    pydevd_tracing._internal_set_trace = _set_trace
    if pydevd_constants.PYDEVD_USE_SYS_MONITORING:
        sys.settrace = _set_trace
