"""Steps off the end of what nothing of the user's called: held there, with what it returns or raised, as a `finish` is.

pydevd 1.8.22 takes such a step on to whatever code of the user's runs next: in a server that is the next request, in a thread
nothing at all. So while a thread steps in such a frame we hear of its return: from 3.12 on by an event of its code alone
(`sf_stepping`), before by a profile function of that thread, unless the program has one of its own there. By the same function
a step in a generator or coroutine stays there while that waits, and is told where an exception leaves it: until 3.11 pydevd
goes by the line alone, and knows nothing of asynchronous generators.
"""

import dis
import functools
import sys
import types

from _pydev_bundle._pydev_saved_modules import thread, threading
from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING, STATE_RUN, get_global_debugger
from _pydevd_bundle.sf_frames import ASYNC_GENERATOR, SUSPENDABLE, Returns, is_over, is_returning

_AWAITED = 0x80 | 0x100 | 0x200  # those that an event loop may drive; a plain generator goes on for whoever calls it
_LOOPS = {  # functions that call the user's for each event, and go on with none of them, by module
    "asyncio.events": "_run",
    "asyncio.runners": "run",  # of a loop written in C, as uvloop's
    "cmd": "cmdloop",
    "socketserver": "serve_forever",
    "tkinter": "mainloop",
}
_WAKES = "TaskWakeupMethWrapper"  # by which a task goes on, until 3.9; it tells no module
# Until 3.10 a frame that waits is at the instruction before.
_AWAITS = frozenset(bytes([dis.opmap[name]]) for name in ("YIELD_FROM", "SEND") if name in dis.opmap)
YIELDS = frozenset(dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND") if name in dis.opmap)
_COMPILED = "cython_function_or_method"  # uvloop's functions
_LIBRARIES = ("asyncio", "_asyncio", "uvloop")
_CALLABLES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


class _Watched:
    """The frames whose ends are waited for, with the command that steps in them, by thread."""

    frames = {}
    waiting = {}  # the generator or coroutine that a step is to stay in, by thread
    entered = {}  # whether that has only just gone on, with nothing else in its thread since


class Hooks:
    """Set by `sf_leaving`, which takes note of a frame that is held as it returns, or as an exception leaves it, and has a step
    go on in one that only waits, or behind one that an exception has left."""

    hold = staticmethod(lambda frame: None)
    hold_left = staticmethod(lambda frame: None)
    stay = staticmethod(lambda frame, value: None)
    go_behind = staticmethod(lambda frame: None)


def watch(frame, command):
    """The current thread steps in this frame."""
    _Watched.frames[thread.get_ident()] = (frame, command)
    if not PYDEVD_USE_SYS_MONITORING and sys.getprofile() is None:
        sys.setprofile(_profile)


def stay(frame):
    """The current thread steps in this generator or coroutine (until 3.11)."""
    _Watched.waiting[thread.get_ident()] = frame
    if sys.getprofile() is None:
        sys.setprofile(_profile)


def leave():
    """Whatever step of the current thread was waited for is over, or another one."""
    for table in (_Watched.frames, _Watched.waiting, _Watched.entered):
        table.pop(thread.get_ident(), None)
    if not PYDEVD_USE_SYS_MONITORING and sys.getprofile() is _profile:
        sys.setprofile(None)


def forget():
    """Nobody steps any more: the program goes on without us."""
    for table in (_Watched.frames, _Watched.waiting, _Watched.entered):
        table.clear()
    leave()


def watched_code():
    """The code of the frame that the current thread steps in, if its end is waited for."""
    frame, _ = _Watched.frames.get(thread.get_ident(), (None, None))
    return None if frame is None else frame.f_code


def _profile(frame, event, value):
    """Called behind pydevd's own function, which by then has had its say of the event."""
    code, waiting = watched_code(), _Watched.waiting.get(thread.get_ident())
    fails = event == "return" and frame.f_lasti >= 0 and not is_over(frame) and not only_waits(frame, value)
    if waiting is not None:
        if event == "return" and frame is waiting:
            _waits_or_fails(frame, value, fails)
        _Watched.entered[thread.get_ident()] = event == "call" and frame is waiting
    if event != "return":
        return
    if code is None and waiting is None:
        sys.setprofile(None)
    elif code is frame.f_code and frame.f_lasti >= 0:
        if is_over(frame):
            returned(frame, value)
        elif fails and value is None and (frame is waiting or not is_returning(frame)):
            left(frame)


def _waits_or_fails(frame, value, fails):
    if fails:
        Hooks.go_behind(frame)
    elif not is_over(frame):
        Hooks.stay(frame, value)


def is_waiting(frame):
    """Whether a generator or coroutine only gives something, or waits (until 3.11)."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == dis.opmap["YIELD_VALUE"] or (sys.version_info < (3, 11) and code[at + 2 : at + 3] in _AWAITS)


def only_waits(frame, value):
    """Whether a frame of which a return is told goes on later (until 3.11). An exception gives nothing as it leaves; one that
    comes from outside, as when a task is cancelled, leaves from where the frame waited, with nothing in between."""
    if value is None and _Watched.entered.get(thread.get_ident()):
        return False
    if not frame.f_code.co_flags & ASYNC_GENERATOR:
        return is_waiting(frame)
    code, at = frame.f_code.co_code, frame.f_lasti
    beside = at + 2 if sys.version_info < (3, 11) else at - 2
    return code[beside : beside + 1] in _AWAITS or (code[at] == dis.opmap["YIELD_VALUE"] and value is not None)


def returned(frame, value):
    """A frame returns: where it is the one that is waited for, and the step is still under way, it is held."""
    if _is_waited_for(frame):
        Returns.of(frame)[getattr(frame.f_code, "co_qualname", frame.f_code.co_name)] = value
        _hold(frame, value, Hooks.hold)


def left(frame):
    """As `returned`, where an exception leaves the frame; one that ends a thread is held as uncaught anyway."""
    back = frame.f_back
    if _is_waited_for(frame) and (back is None or back.f_globals.get("__name__") != "threading"):
        _hold(frame, None, Hooks.hold_left)


def _is_waited_for(frame):
    db, one = get_global_debugger(), threading._active.get(thread.get_ident())
    info = getattr(one, "additional_info", None)
    if _Watched.frames.get(thread.get_ident(), (None,))[0] is not frame or info is None or db is None:
        return False
    return not db.pydb_disposed and info.pydev_state == STATE_RUN and info.pydev_step_cmd != -1


def _hold(frame, value, note):
    db, one = get_global_debugger(), threading._active.get(thread.get_ident())
    _, command = _Watched.frames[thread.get_ident()]
    leave()
    note(frame)
    db.set_suspend(one, command, original_step_cmd=command)
    db.do_wait_suspend(one, frame, "return", value)


def is_nobodys(frame, is_user):
    """Whether no code of the user's goes on with what a frame returns that a library called, as far as that can be known."""
    back, awaiting = frame.f_back, bool(frame.f_code.co_flags & _AWAITED)
    while back is not None:
        drives = awaiting and not back.f_code.co_flags & SUSPENDABLE  # the coroutines above it
        if drives or _is_loop(back):
            break
        if is_user(back):
            return False
        awaiting = awaiting or bool(back.f_code.co_flags & _AWAITED)
        back = back.f_back
    task = _task() if back is not None else None
    return task is None or not _is_awaited(task)


def _is_loop(frame):
    return frame.f_code.co_name == _LOOPS.get(frame.f_globals.get("__name__"))


def is_outermost(frame):
    """Whether the interpreter itself called a frame for nobody: a thread's without `threading`, a greenlet's of gevent."""
    greenlet = sys.modules.get("greenlet")
    if frame.f_back is not None or frame.f_code.co_name == "<module>":
        return False
    parent = greenlet.getcurrent().parent if hasattr(greenlet, "getcurrent") else None
    return parent is None or type(parent).__module__.startswith("gevent.")  # of others, whoever switched goes on


def _task():
    """The task of asyncio's that runs, in the program's own asyncio."""
    tasks = sys.modules.get("asyncio.tasks")
    try:
        return tasks.current_task() if tasks is not None else None
    except (AttributeError, RuntimeError):  # half imported; no loop runs in this thread
        return None


def _is_awaited(task):
    """Whether somebody goes on when a task ends: asyncio's own functions wait for it then, on their behalf."""
    try:
        callbacks = list(task._callbacks or ())
    except (AttributeError, TypeError):
        return True
    return any(_is_asyncios(one[0] if type(one) is tuple else one) for one in callbacks)


def _is_asyncios(callback):
    callback = callback.func if type(callback) is functools.partial else callback
    kind = type(callback)
    if kind not in _CALLABLES and kind.__name__ != _COMPILED:
        return kind.__name__ == _WAKES
    owners = (callback.__module__, type(getattr(callback, "__self__", None)).__module__)
    return any(type(each) is str and each.startswith(_LIBRARIES) for each in owners)
