"""Room for the debugger at the program's recursion limit, so that an endless recursion ends as it would without us.

What pydevd calls counts as the program's own depth. Without room its calls fail where the program's would not yet, and then
3.8 to 3.10 abort, 3.11 traces no more, and from 3.12 on pydevd's own errors become the context of the program's.
"""

import ctypes
import functools
import sys

import pydevd_tracing
from _pydev_bundle._pydev_saved_modules import thread, threading
from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING
from _pydevd_sys_monitoring import _pydevd_sys_monitoring

ROOM = 200  # calls that a stop may need, one upon the other
BELOW = 2  # how far the depth that our trace function sees is from the one at which a plain run fails
NEAR = 128  # so far from the limit a depth is near it
FAR = (
    NEAR // 4
)  # calls that cannot lead from there to the limit, though calls through C count twice and more until 3.10
EVENTS = ("_start_method_event", "_line_event", "_jump_event", "_return_event", "_raise_event", "_unwind_event")
_get_limit, _set_limit = sys.getrecursionlimit, sys.setrecursionlimit
_force_limit = ctypes.pythonapi.Py_SetRecursionLimit  # sys.setrecursionlimit refuses where the depth is near it
_raise_soon = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_soon.argtypes = (ctypes.c_ulong, ctypes.py_object)
_lock = threading.Lock()


class _Makes(type):
    """Makes the error with its message, and takes it for one of its own so that it is made once.

    Nothing here is a function of Python's: that would be traced, and overflow in its turn.
    """

    __call__ = functools.partial(RecursionError, "maximum recursion depth exceeded")
    __subclasscheck__ = bool


class _Overflow(RecursionError, metaclass=_Makes):
    """What the interpreter is asked to raise: it takes a class alone."""


class _Limit:
    """The program's limit, and with sys.settrace those that we set: `real`, and `far` and `tried` to learn the depth."""

    own = far = tried = real = None


def _adopt(limit):
    """Take over the program's limit. 3.8 refuses a new limit from 50, or a quarter of it, below it on."""
    _Limit.own = limit
    _Limit.tried = limit + BELOW
    if sys.version_info < (3, 9):
        _Limit.tried = limit + BELOW + 50 if limit > 150 else -(-(limit + BELOW) // 3) * 4
    _Limit.real = _Limit.tried + ROOM
    _Limit.far = max(_Limit.tried - NEAR, 1)


def _told_limit():
    return _Limit.own


def _take_limit(limit):
    _set_limit(limit)  # refuses what a plain run would refuse
    _adopt(limit)
    _set_limit(_Limit.real)


def _release():
    settrace = pydevd_tracing.TracingFunctionHolder._original_tracing or sys.settrace
    settrace(None)


def _watched(trace):
    """A trace function that ends the program's recursion at the program's limit; pydevd's own runs with room above it.

    It must not raise the error itself: the interpreter then traces the thread no more. So it is raised in the program's new
    frame, which is what runs when ours is gone and `late` with it; asked for any earlier, it would be raised here.
    """

    far = 0  # so many calls need not be looked at

    def traced(frame, event, arg):
        nonlocal far
        if far:
            far -= 1
            return trace(frame, event, arg)
        if event != "call":
            return trace(frame, event, arg)
        if _Limit.own is None:  # we are leaving, and this thread was just being given its function
            _release()
            return None
        try:
            _set_limit(_Limit.far)
            far = FAR
        except RecursionError:
            try:
                _set_limit(_Limit.tried)
            except RecursionError:
                late = type("Late", (), {"__del__": functools.partial(_raise_soon, thread.get_ident(), _Overflow)})()
                return None if late else None
        _set_limit(_Limit.real)
        return trace(frame, event, arg)

    return traced


def roomy(callback):
    """A callback of sys.monitoring that is called again with room, where there was too little."""

    def called(*words):
        try:
            return callback(*words)
        except RecursionError:
            pass
        with _lock:  # no function of ours is called from here: there may be no room for it
            _set_limit(_get_limit() + ROOM)
        try:
            return callback(*words)
        finally:
            with _lock:
                _force_limit(_get_limit() - ROOM)

    _wrappers.add(called.__code__)
    return called


_wrappers = set()


def frame_at(depth=0):
    """sys._getframe as pydevd means it: our own wrapper around its callback does not count."""
    frame = sys._getframe(1)
    while depth or frame.f_code in _wrappers:
        if frame.f_code not in _wrappers:
            depth -= 1
        frame = frame.f_back
    return frame


def with_room(frame, work, *arguments):
    """Do the work of a stop in this frame; with room where its depth leaves too little."""
    left, at = _get_limit() - ROOM, frame
    while at is not None and left > 0:
        left, at = left - 1, at.f_back
    if at is None:
        return work(*arguments)
    with _lock:
        _set_limit(_get_limit() + ROOM)
    try:
        return work(*arguments)
    finally:
        with _lock:
            _force_limit(_get_limit() - ROOM)


def watch(fix_top_level):
    """In the place of pydevd's function that gives each thread its trace function."""

    def fixed(db, frame):
        trace, is_threads_own = fix_top_level(db, frame)
        return (_watched(trace) if trace is not None and is_threads_own else trace), is_threads_own

    return fixed


def install():
    """Make room; doing it again changes nothing."""
    module = _pydevd_sys_monitoring
    if module._getframe is frame_at or _Limit.own is not None:
        return
    if PYDEVD_USE_SYS_MONITORING:
        for name in EVENTS:
            setattr(module, name, roomy(getattr(module, name)))
        module._getframe = frame_at
        return
    _adopt(_get_limit())
    _set_limit(_Limit.real)
    sys.getrecursionlimit, sys.setrecursionlimit = _told_limit, _take_limit


def forget():
    """The program goes on without us, with its own limit."""
    if _Limit.own is not None:
        _force_limit(_Limit.own)
        sys.getrecursionlimit, sys.setrecursionlimit = _get_limit, _set_limit
        _Limit.own = None
