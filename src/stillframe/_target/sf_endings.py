"""Stops, for whoever asked, at ways to fail that raise nothing: a failing exit code, an exception that nobody retrieves.

They are asked for by `breakOnSystemExit`; otherwise sys.exit is how a program ends, whatever it says.
"""

import sys
import types

from _pydevd_bundle import sf_imports
from _pydevd_bundle.pydevd_constants import get_global_debugger
from _pydevd_bundle.sf_reported import hold
from _pydevd_bundle.sf_reported import watch as watch_reports

MOST = 200  # frames that the way to an exit is told in


class OsExit(SystemExit):
    """Stands for a call of os._exit, which raises nothing."""


OsExit.__name__ = OsExit.__qualname__ = "os._exit"


def are_told(db):
    """Whether somebody wants to know why the program fails."""
    asked = getattr(db, "_break_on_system_exit", None)
    return bool(asked and asked[1])


def is_plain_end(db, error):
    """Whether a SystemExit is nothing to be held at."""
    code = getattr(error, "code", error)
    return not are_told(db) or code is None or code == 0


def exits(db, status):
    """os._exit was called: hold the program there where its own code did so, with a code that says that it failed."""
    caller = sys._getframe(2)
    if not are_told(db) or status == 0 or db.apply_files_filter(caller, caller.f_code.co_filename, True):
        return
    trace, frame = None, caller
    for _ in range(MOST):
        if frame is None:
            break
        if db.get_file_type(frame) != db.PYDEV_FILE:
            trace = types.TracebackType(trace, frame, max(frame.f_lasti, 0), frame.f_lineno or 0)
        frame = frame.f_back
    hold(db, OsExit(status), trace)


def watch(db):
    """Exceptions of tasks and callbacks that end nowhere but in the event loop's own handler; and signals that kill."""
    if are_told(db):
        sf_imports.after(
            "asyncio.base_events", lambda: _watch_loops(db, sys.modules["asyncio.base_events"].BaseEventLoop)
        )
        sf_imports.after("uvloop", lambda: _watch_loops(db, sys.modules["uvloop"].Loop))
        sf_imports.after("multiprocessing.process", _watch_processes)
        watch_reports(db)
        _tell_signals()


def _tell_signals():
    """Have Python write where it is when a fatal signal ends it, as its option `-X faulthandler` does."""
    import faulthandler

    try:
        if not faulthandler.is_enabled():
            faulthandler.enable(file=sys.__stderr__, all_threads=False)
    except (AttributeError, OSError, RuntimeError, ValueError):
        return  # it has no standard error


def _watch_loops(db, loops):
    real = loops.call_exception_handler

    def call_exception_handler(self, context):
        error = context.get("exception") if type(context) is dict else None
        if isinstance(error, Exception) and error.__traceback__ is not None and not db.pydb_disposed:
            hold(db, error, error.__traceback__)
        return real(self, context)

    loops.call_exception_handler = call_exception_handler


def _watch_processes():
    """What a process of multiprocessing raises is printed by that, and never an uncaught exception."""
    processes = sys.modules["multiprocessing.process"].BaseProcess
    real = processes._bootstrap

    def _bootstrap(self, *arguments, **options):
        run = self.run

        def watched():
            try:
                return run()
            except Exception as error:
                db = get_global_debugger()
                if db is not None and not db.pydb_disposed and error.__traceback__ is not None:
                    hold(db, error, error.__traceback__.tb_next)
                raise

        self.run = watched
        return real(self, *arguments, **options)

    processes._bootstrap = _bootstrap
