"""How the program gets rid of us: full speed again after a detach, and a fork that nobody debugs."""

import sys
import warnings

import pydevd_tracing
from _pydev_bundle import pydev_monkey
from _pydev_bundle._pydev_saved_modules import threading
from _pydevd_bundle import pydevd_constants, sf_headroom, sf_stepping
from _pydevd_sys_monitoring import pydevd_sys_monitoring


def release(db):
    """Full speed for a program that goes on without us; `disconnect` comes next and lets paused threads run.

    From 3.12 there is nothing to do: without breakpoints sys.monitoring costs nothing. Before, each thread must drop its
    own trace function, so each is given one that does that at its next event (paused ones when they go on).
    """
    if pydevd_constants.PYDEVD_USE_SYS_MONITORING:
        sf_stepping.forget()
        return
    db.enable_tracing = lambda *arguments, **options: (
        None
    )  # frames still hold trace functions that would turn it on again
    threading.settrace(None)
    pydev_monkey.undo_patch_thread_modules()
    settrace = pydevd_tracing.TracingFunctionHolder._original_tracing or sys.settrace
    pydevd_tracing.restore_sys_set_trace_func()

    def leave(frame, event, arg):
        settrace(None)

    pydevd_tracing.set_trace_to_threads(leave, create_dummy_thread=False)
    sf_headroom.forget()


def stop_tracing_here():
    """Full speed again for this thread and the threads that it starts."""
    threading.settrace(None)
    if pydevd_constants.PYDEVD_USE_SYS_MONITORING:
        pydevd_sys_monitoring.stop_monitoring(all_threads=True)
    else:
        pydevd_tracing.SetTrace(None)
        sf_headroom.forget()
    pydev_monkey.undo_patch_thread_modules()


def let_go_after_fork():
    """A forked child that is not debugged must not stop at breakpoints: nobody would ever let it go on."""
    sf_stepping.after_fork()
    db = pydevd_constants.get_global_debugger()
    if db is None:
        return
    db.created_pydb_daemon_threads = {}
    db.pydb_disposed = True
    if db._client_socket is not None:  # shared with the parent: held open here, the parent's end would go unseen
        db._client_socket.close()
    pydevd_constants.set_global_debugger(None)
    stop_tracing_here()


def quiet_fork(real):
    """From 3.12 fork warns when the process has threads; ours must not be the reason."""

    def fork():
        if threading.active_count() > 1:
            return real()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return real()

    return fork
