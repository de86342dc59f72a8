"""How the program gets rid of us: full speed again after a detach, a fork that nobody debugs, nothing of it kept alive."""

import sys
import warnings

import pydevd_tracing
from _pydev_bundle import pydev_monkey
from _pydev_bundle._pydev_saved_modules import thread, threading
from _pydevd_bundle import pydevd_constants, sf_greenlets, sf_headroom, sf_resumed, sf_stepping, sf_tracing
from _pydevd_sys_monitoring import pydevd_sys_monitoring


def release(db):
    """Full speed for a program that goes on without us; `disconnect` comes next and lets paused threads run.

    From 3.12 there is nothing to do: without breakpoints sys.monitoring costs nothing. Before, each thread must drop its
    own trace function, so each is given one that does that at its next event (paused ones when they go on). Once is enough: it
    starts threads, and of one that begins while the program ends, 3.11 may crash.
    """
    if getattr(db, "stillframe_is_rid_of", False):
        return
    db.stillframe_is_rid_of = True
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


def current_frames():
    """sys._current_frames for pydevd, with the program's own frame for the calling thread.

    Written in Python, pydevd 1.8.22 keeps the result in a frame that is itself in it: a cycle that would keep the frames of
    all threads, and so whatever the program has in them, until the next run of the garbage collector.
    """
    found, frame = sys._current_frames(), sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(sf_tracing.OURS):
        frame = frame.f_back
    found[thread.get_ident()] = frame
    return found


def trace_everybody(self, breakpoints_changed=False):
    """As pydevd's method of PyDB `set_tracing_for_untraced_contexts`, without that cycle, and for waiting greenlets, too."""
    monitors = pydevd_constants.PYDEVD_USE_SYS_MONITORING
    if monitors and breakpoints_changed:
        pydevd_sys_monitoring.update_monitor_events()
    own = {one.ident for one in threading.enumerate() if getattr(one, "pydev_do_not_trace", False)}
    for ident, frame in current_frames().items():
        if ident not in own and frame is not None:
            self.set_trace_for_frame_and_parents(ident, frame)
    for _, greenlet in sf_greenlets.waiting(sys.maxsize):
        if monitors:
            sf_resumed.hear_stack(greenlet.gr_frame)
        else:
            self.set_trace_for_frame_and_parents(None, greenlet.gr_frame)
    if monitors:
        pydevd_sys_monitoring.restart_events()


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
