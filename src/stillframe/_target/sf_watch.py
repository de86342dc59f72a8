"""A deadline for code of the program that we run while it is paused: a repr, an expression.

One thread of ours watches. When the time is up it raises `Overdue` in the late thread (PyThreadState_SetAsyncExc), again
and again, because code may swallow it. Where the late thread is the main one it also sends SIGURG, for which the main
thread has set a handler that does nothing: that brings a call which blocks in C (time.sleep, Lock.acquire) back to
bytecode. What cannot be freed: code that blocks in C on another thread, and C code that keeps the GIL.
"""

import ctypes
import signal

from _pydev_bundle._pydev_saved_modules import thread, threading, time
from _pydevd_bundle.pydevd_constants import get_global_debugger
from _pydevd_bundle.pydevd_daemon_thread import PyDBDaemonThread

AGAIN = 0.05  # seconds between two shots at code that swallowed the one before
PENDING = 3  # shots that a thread running bytecode would have taken
GRACE = (
    10,
    20,
)  # shots, at the least and at the most, after which a thread counts as stuck: one such comes every AGAIN
SIGNAL = getattr(signal, "SIGURG", None)
_set_async_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
_set_async_exception.argtypes = (ctypes.c_ulong, ctypes.py_object)


class Overdue(BaseException):
    """Raised inside code of the program whose time is up."""


_on_stuck = {}  # thread to what to call, by the watching thread, when it cannot be freed


class _Calm(BaseException):
    """Raised in the watching thread by itself: see _calm_down."""


def _calm_down():
    """Clear the interpreter's mark that some thread has an exception to take, which one blocked in C leaves set.

    While it is set, a traced thread of 3.11 never gets over the start of a function. The thread that takes an exception
    clears it for all, so we take one ourselves; the blocked thread finds its own when it is back and gives up the GIL.
    """
    try:
        _set_async_exception(thread.get_ident(), _Calm)
        for _ in range(100):
            pass
    except _Calm:
        return


class _Shift:
    """One guarded call: whose thread, until when."""

    def __init__(self, seconds):
        self.thread = thread.get_ident()
        self.until = time.monotonic() + seconds
        self.over = False
        self.shots = 0
        self.excused = False
        self.stuck_after = min(max(round(seconds / AGAIN), GRACE[0]), GRACE[1])
        self.on_stuck = self.guard = _on_stuck.get(self.thread)
        self.signalled = False


class Watchdog(PyDBDaemonThread):
    """The watching thread of one PyDB: hidden and untraced, because it is one of pydevd's own kind."""

    def __init__(self, py_db):
        PyDBDaemonThread.__init__(self, py_db)
        self.name = "pydevd.Stillframe"
        self.changed = threading.Condition(threading.Lock())
        self.shifts = []
        self.hurried = None  # the last that hurry was called with: its shift may be about to begin

    def _on_run(self):
        with self.changed:
            while not self._kill_received:
                now = time.monotonic()
                for shift in self.shifts:
                    if shift.until <= now and not shift.over:
                        if not self._excuse(shift, now):
                            self._shoot(shift)
                        shift.until = now + AGAIN
                wait = min([shift.until for shift in self.shifts if not shift.over], default=None)
                self.changed.wait(None if wait is None else max(0.0, wait - time.monotonic()))

    def _excuse(self, shift, now):
        """Whether the code gets a moment more, once: we are late ourselves, so nobody of this process may have run meanwhile."""
        excused, shift.excused = shift.excused, True
        return not excused and now - shift.until > AGAIN

    def _shoot(self, shift):
        shift.shots += 1
        if shift.on_stuck is not None and shift.shots > shift.stuck_after:
            call, shift.on_stuck = shift.on_stuck, None
            call()
        _set_async_exception(shift.thread, Overdue)
        if shift.signalled:
            signal.pthread_kill(shift.thread, SIGNAL)
        if shift.shots > PENDING:
            _calm_down()

    def enter(self, shift):
        with self.changed:
            if shift.guard is not None and shift.guard is self.hurried:
                shift.until = time.monotonic()
            self.shifts.append(shift)
            self.changed.notify()

    def hurry(self, guard):
        """Have the time be up of whatever this is called for when its thread cannot be freed: nobody wants it any more."""
        with self.changed:
            self.hurried = guard
            for shift in self.shifts:
                if shift.guard is guard and not shift.over:
                    shift.until = min(shift.until, time.monotonic())
            self.changed.notify()

    def leave(self, shift):
        """End a shift. A shot that has not struck yet strikes in the loop here.

        Taking it back (SetAsyncExc with NULL) would leave 3.11's eval breaker set, and with tracing on that spins.
        """
        with self.changed:
            if shift in self.shifts:
                self.shifts.remove(shift)
        if shift.shots:
            for _ in range(100):
                pass

    def do_kill_pydev_thread(self):
        PyDBDaemonThread.do_kill_pydev_thread(self)
        with self.changed:
            self.changed.notify()


class when_stuck:  # noqa: N801 (used like contextlib's)
    """While this lasts, `call` is what the watching thread does when the current thread cannot be freed."""

    def __init__(self, call):
        self.call = call

    def __enter__(self):
        _on_stuck[thread.get_ident()] = self.call

    def __exit__(self, *error):
        _on_stuck.pop(thread.get_ident(), None)


def watchdog():
    """The watching thread of this process, started where there is none yet."""
    db = get_global_debugger()
    found = getattr(db, "stillframe_watchdog", None)
    if found is None or not found.is_alive():
        found = db.stillframe_watchdog = Watchdog(db)
        found.start()
    return found


def _ignore(number, frame):
    """Being run at all is the point: see the module's text."""


class _Handler:
    """The SIGURG handler for the length of a guarded call on the main thread, and the one before it afterwards."""

    def __init__(self, shift):
        self.shift = shift
        self.before = None

    def __enter__(self):
        if SIGNAL is None or self.shift.thread != threading.main_thread().ident:
            return
        before = signal.getsignal(SIGNAL)
        if before is None:  # set by C code: it could not be put back
            return
        try:
            signal.signal(SIGNAL, _ignore)
        except ValueError:  # not the interpreter's main thread after all
            return
        self.before = before
        self.shift.signalled = True

    def __exit__(self, *error):
        if self.shift.signalled:
            signal.signal(SIGNAL, self.before)


def within(seconds, function, *arguments):
    """Call the function with a deadline. Raises Overdue when it had to be cut off.

    Once `over` is set at most one more shot can strike, because the dog looks at it before each: that one is caught
    here, so none ever reaches the program's own code or pydevd's.
    """
    shift = _Shift(seconds)
    dog = watchdog()
    with _Handler(shift):
        try:
            try:
                dog.enter(shift)
                return function(*arguments)
            finally:
                shift.over = True
        finally:
            shift.over = True
            try:
                dog.leave(shift)
            except Overdue:
                dog.leave(shift)
