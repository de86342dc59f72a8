"""Errors that end nothing and are only reported: by Python itself, by a log, by a worker to its pool.

What Python can only report (`__del__`, a callback at the end) is held as one that nobody catches. What somebody caught, and wrote
down or passed on, is held as raised, so that whoever wants to know why the program failed later has its calls and values.
"""

import functools
import os
import sys

from _pydev_bundle._pydev_saved_modules import threading, time
from _pydevd_bundle import sf_imports
from _pydevd_bundle.pydevd_constants import STATE_SUSPEND, get_global_debugger

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 10  # errors that somebody caught of which a process tells each
REST = 1.0  # seconds between two of those that come after them
_POOLS = (("multiprocessing.pool", "ExceptionWithTraceback"), ("concurrent.futures.process", "_ExceptionWithTraceback"))


class Caught:
    """Errors that somebody caught."""

    told_now = None  # the id of the one that is held
    count = 0
    at = 0.0  # when the last of them was held
    last = None  # marks of the last error of any kind that was held


def hold(db, error, trace):
    """Stop at an error as at an uncaught one, in the calls that its traceback has; none of the user's, and it goes on."""
    if trace is not None and _marks(error, trace) != Caught.last:
        db.trigger_exception_handler((type(error), error, trace))


def hold_without_place(error):
    """A group that `except*` made at a module's own level passed no call of the user's: held there where the first error in it
    was raised, since to pydevd it is nobody's."""
    db, trace = get_global_debugger(), error.__traceback__
    while trace is not None and (_is_ours(trace.tb_frame) or "runpy" in trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    if trace is None and db is not None and not db.pydb_disposed:
        within = (each.__traceback__ for each in getattr(error, "exceptions", ()) if isinstance(each, BaseException))
        hold(db, error, next(filter(None, within), None))


def _is_ours(frame):
    return os.path.dirname(frame.f_code.co_filename) == HERE


def _marks(error, trace):
    """What tells an error from others, and from itself once it was raised again."""
    return id(error), id(trace)


def watch(db):
    """Hear of such errors from now on; forked children inherit it."""
    _remember_held(type(db))
    _watch_unraisable()
    _watch_hook()
    sf_imports.after("logging", _watch_logs)
    sf_imports.after("traceback", _watch_tracebacks)
    for module, name in _POOLS:
        sf_imports.after(module, functools.partial(_watch_pool, module, name))


def _remember_held(debuggers):
    """From 3.12 on pydevd itself stops where an error leaves the last call of the user's, before Python reports it."""
    real = debuggers.do_stop_on_unhandled_exception

    def do_stop_on_unhandled_exception(self, thread, frame, frames_byid, arg):
        Caught.last = _marks(*arg[1:])
        real(self, thread, frame, frames_byid, arg)

    debuggers.do_stop_on_unhandled_exception = do_stop_on_unhandled_exception


def _watch_unraisable():
    real = sys.unraisablehook

    def unraisablehook(told):
        error, db = told.exc_value, get_global_debugger()
        if isinstance(error, Exception) and not sys.is_finalizing() and _can_be_held(db, sys._getframe().f_back):
            hold(db, error, error.__traceback__)
        real(told)

    sys.unraisablehook = unraisablehook


def _watch_hook():
    """A program that runs others, such as coverage, calls the hook itself for what they raise, and then ends with a code."""
    real = sys.excepthook

    @functools.wraps(real)
    def excepthook(kind, error, trace):
        if not _is_at_end(sys._getframe().f_back):
            _tell_caught(error)
        return real(kind, error, trace)

    sys.excepthook = excepthook
    if real is sys.__excepthook__:
        sys.__excepthook__ = excepthook  # some ask whether the one is the other


def _is_at_end(frame):
    """Whether the interpreter calls the hook, by `sf_program`'s: nobody caught what ends the program."""
    while frame is not None and not (_is_ours(frame) and frame.f_code.co_name == "trimmed"):
        frame = frame.f_back
    return frame is not None


def _can_be_held(db, frame):
    """Not in the midst of the debugger's own work, which waits for this thread: the interpreter cleans up anywhere. `frame` is
    the call that it does so in, or that a report is made in."""
    thread = threading.current_thread()
    if db is None or db.pydb_disposed or getattr(thread, "is_pydev_daemon_thread", False):
        return False
    info = getattr(thread, "additional_info", None)
    if info is None or info.is_tracing or info.pydev_state == STATE_SUSPEND:
        return False
    while frame is not None and db.apply_files_filter(frame, frame.f_code.co_filename, True):
        if db.get_file_type(frame) == db.PYDEV_FILE and not _calls_the_program(frame.f_code.co_filename):
            return False
        frame = frame.f_back
    return True


def _calls_the_program(file):
    """Whether code of ours or pydevd's is what the program's processes, threads and reports go through."""
    return os.path.dirname(file) == HERE or os.path.basename(file) == "pydev_monkey.py"


def _watch_logs():
    logger = sys.modules["logging"].Logger
    real = logger.handle

    @functools.wraps(real)
    def handle(self, record):
        found = getattr(record, "exc_info", None)
        if type(found) is tuple and len(found) == 3:
            _tell_caught(found[1])
        return real(self, record)

    logger.handle = handle


def _watch_tracebacks():
    """All that prints or formats a traceback makes one of these first; those of causes are made with `_seen`."""
    kind = sys.modules["traceback"].TracebackException
    real = kind.__init__

    @functools.wraps(real)
    def made(self, exc_type, exc_value, exc_traceback, **options):
        if options.get("_seen") is None:
            _tell_caught(exc_value)
        real(self, exc_type, exc_value, exc_traceback, **options)

    kind.__init__ = made


def _watch_pool(module, name):
    """A worker of a pool passes an error on as text; here it has its calls yet."""
    kind = getattr(sys.modules[module], name)
    real = kind.__init__

    @functools.wraps(real)
    def made(self, exc, tb):
        _tell_caught(exc)
        real(self, exc, tb)

    kind.__init__ = made


def _tell_caught(error):
    db, trace = get_global_debugger(), getattr(error, "__traceback__", None)
    if not isinstance(error, Exception) or _marks(error, trace) == Caught.last or Caught.told_now is not None:
        return
    if Caught.count >= MOST and time.monotonic() < Caught.at + REST:
        return
    if trace is None or not _can_be_held(db, sys._getframe(2)):
        return
    Caught.count, Caught.told_now = Caught.count + 1, id(error)
    try:
        hold(db, error, trace)
    finally:
        Caught.told_now, Caught.at = None, time.monotonic()
