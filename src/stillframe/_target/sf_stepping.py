"""Steps that pydevd loses from Python 3.12 on: out of a frame that an exception leaves, into a generator that goes on, and
at an `await` that lets other tasks run.

pydevd 1.8.22 listens to sys.monitoring for starts, lines and returns, but a stepped frame may also be unwound, a
generator is not started but resumed, and a coroutine that waits is suspended. We listen to these with a tool of our own,
and only while a thread steps. The interpreter calls tools by number, so pydevd, which is 0, has told of an uncaught
exception before we are asked.
"""

import sys

from _pydev_bundle._pydev_saved_modules import thread, threading
from _pydevd_bundle import sf_ends, sf_leaving
from _pydevd_bundle.pydevd_comm_constants import (
    CMD_SMART_STEP_INTO,
    CMD_STEP_INTO,
    CMD_STEP_INTO_COROUTINE,
    CMD_STEP_INTO_MY_CODE,
    CMD_STEP_OVER,
    CMD_STEP_OVER_MY_CODE,
    CMD_STEP_RETURN,
    CMD_STEP_RETURN_MY_CODE,
)
from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING, STATE_RUN, get_global_debugger
from _pydevd_bundle.sf_frames import ASYNC_GENERATOR, COROUTINE, YIELDED
from _pydevd_sys_monitoring import pydevd_sys_monitoring

NAME = "stillframe"
NUMBERS = (4, 3)  # of tools without a fixed meaning
_STAYING = {  # steps that wait in one frame, and what becomes of them when that frame is left
    CMD_STEP_OVER: CMD_STEP_INTO,
    CMD_STEP_RETURN: CMD_STEP_INTO,
    CMD_SMART_STEP_INTO: CMD_STEP_INTO,
    CMD_STEP_OVER_MY_CODE: CMD_STEP_INTO_MY_CODE,
    CMD_STEP_RETURN_MY_CODE: CMD_STEP_INTO_MY_CODE,
}
_ENTERING = (CMD_STEP_INTO, CMD_STEP_INTO_MY_CODE, CMD_STEP_INTO_COROUTINE)
_ENDS = (StopIteration, StopAsyncIteration, GeneratorExit)  # how loops and generators end
_monitoring = getattr(sys, "monitoring", None)


class _Tool:
    """Our number among the tools of sys.monitoring, None while nobody steps."""

    number = None
    lock = threading.Lock()
    began = {}  # thread to the frame that it was last let go in, while it steps
    ends = set()  # codes whose returns we hear of


def follow(frame):
    """Listen while a thread steps, and not at all otherwise; called by each thread as it goes on, with its frame."""
    if not PYDEVD_USE_SYS_MONITORING:
        return
    with _Tool.lock:
        _Tool.began.pop(thread.get_ident(), None)
        if _is_stepping(threading._active.get(thread.get_ident())):
            _Tool.began[thread.get_ident()] = frame
        wanted = any(_is_stepping(one) for one in list(threading._active.values()))
        if wanted and _Tool.number is None:
            _listen()
        elif not wanted and _Tool.number is not None:
            _leave()
        code = sf_ends.watched_code()
        if code is not None and _Tool.number is not None:
            _Tool.ends.add(code)
            _monitoring.set_local_events(_Tool.number, code, _monitoring.events.PY_RETURN)


def forget():
    """Stop listening: the program goes on without us."""
    sf_ends.forget()
    with _Tool.lock:
        if _Tool.number is not None:
            _leave()


def after_fork():
    """In a forked child: its one thread is not the one that held the lock, and whoever stepped is not there."""
    _Tool.lock = threading.Lock()
    forget()


def _listen():
    number = next((number for number in NUMBERS if _monitoring.get_tool(number) is None), None)
    if number is None:  # taken by the program's own tools
        return
    events = _monitoring.events
    _monitoring.use_tool_id(number, NAME)
    _monitoring.register_callback(number, events.PY_UNWIND, _unwound)
    _monitoring.register_callback(number, events.PY_RESUME, _resumed)
    _monitoring.register_callback(number, events.PY_THROW, _resumed)
    _monitoring.register_callback(number, events.PY_YIELD, _suspended)
    _monitoring.register_callback(number, events.RAISE, _raised)
    _monitoring.register_callback(number, events.PY_RETURN, _returned)
    resumes = events.PY_RESUME | events.PY_THROW | events.PY_YIELD
    _monitoring.set_events(number, events.PY_UNWIND | events.RAISE | resumes)
    _Tool.number = number


def _leave():
    number, _Tool.number = _Tool.number, None
    events = _monitoring.events
    _monitoring.set_events(number, 0)
    while _Tool.ends:
        _monitoring.set_local_events(number, _Tool.ends.pop(), 0)
    heard = (events.PY_UNWIND, events.RAISE, events.PY_RESUME, events.PY_THROW, events.PY_YIELD, events.PY_RETURN)
    for event in heard:
        _monitoring.register_callback(number, event, None)
    _Tool.began.clear()
    _monitoring.free_tool_id(number)


def _is_stepping(one):
    info = getattr(one, "additional_info", None)
    return info is not None and info.pydev_step_cmd != -1 and info.pydev_state == STATE_RUN


def _stepping(commands):
    """(debugger, pydevd's record) of the current thread where it steps in one of these ways, else (None, None)."""
    one = threading._active.get(thread.get_ident())
    if not _is_stepping(one) or one.additional_info.pydev_step_cmd not in commands:
        return None, None
    db = get_global_debugger()
    if db is None or db.pydb_disposed:
        return None, None
    return db, one.additional_info


def _unwound(code, offset, error):
    """A frame is left by an exception: a step that waited in it goes on in whatever frame of the user's is next."""
    if _Tool.began.get(thread.get_ident()) is sys._getframe(1):
        sf_leaving.unwound(sys._getframe(1), error)
        if not isinstance(error, _ENDS):
            sf_ends.left(sys._getframe(1))
    db, info = _stepping(_STAYING)
    if db is None:
        return
    frame = sys._getframe(1)
    if info.pydev_step_stop is not frame or info.pydev_use_scoped_step_frame:
        return
    info.pydev_step_cmd = _STAYING[info.pydev_step_cmd]
    info.pydev_step_stop = None
    db.set_trace_for_frame_and_parents(thread.get_ident(), frame.f_back)
    _monitoring.restart_events()  # a line that nobody wanted so far may have been switched off


def _raised(code, offset, error):
    """An exception is raised in a frame, or comes into it: where that leads a step to a `with`, it is told with it."""
    if _Tool.began.get(thread.get_ident()) is sys._getframe(1) and not isinstance(error, _ENDS) and error.__traceback__:
        sf_leaving.thrown(error)


def _returned(code, offset, value):
    sf_ends.returned(sys._getframe(1), value)


def _resumed(code, offset, error=None):
    """A generator or coroutine goes on, or is thrown into: a step into it needs its lines."""
    db, info = _stepping(_ENTERING)
    if db is None:
        return
    frame = sys._getframe(1)
    if info.pydev_step_cmd == CMD_STEP_INTO_COROUTINE and not _is_called_by(frame, info.pydev_step_stop):
        return  # another task: its turn has come while the stepped one waits
    if db.get_file_type(frame) is None:
        pydevd_sys_monitoring.enable_code_tracing(thread.get_ident(), code, frame)


def _suspended(code, offset, value):
    """A coroutine waits: a step into whatever it called stays with it, and does not go into the next task instead."""
    db, info = _stepping(_ENTERING)
    waits = code.co_flags & COROUTINE or code.co_flags & ASYNC_GENERATOR and type(value).__name__ != YIELDED
    if db is None or not waits:
        return
    frame = sys._getframe(1)
    if _Tool.began.get(thread.get_ident()) is frame:
        info.pydev_step_cmd = CMD_STEP_OVER_MY_CODE if db.get_use_libraries_filter() else CMD_STEP_OVER
        info.pydev_step_stop = frame


def _is_called_by(frame, caller):
    while frame is not None and frame is not caller:
        frame = frame.f_back
    return frame is not None
