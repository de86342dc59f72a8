"""Steps that end as a function is left: `finish` where a library called it, and `next` off a return until 3.11.

pydevd 1.8.22 takes `finish` of a function that a library called (a coroutine that an event loop runs, a handler, a callback)
for a step back to the user's code, which may be the end of the event loop: what the function returned is never told. We hold
it as it returns. And with sys.settrace a `next` off a return goes on to the next event, which in a recursion is the return of
the caller.
"""

import dis
import functools
import sys

import pydevd
from _pydev_bundle._pydev_saved_modules import thread, threading
from _pydevd_bundle import pydevd_api, sf_ends, sf_values
from _pydevd_bundle.pydevd_collect_bytecode_info import ReturnInfo
from _pydevd_bundle.pydevd_comm_constants import (
    CMD_STEP_INTO,
    CMD_STEP_INTO_COROUTINE,
    CMD_STEP_INTO_MY_CODE,
    CMD_STEP_OVER,
    CMD_STEP_OVER_MY_CODE,
    CMD_STEP_RETURN,
    CMD_STEP_RETURN_MY_CODE,
)
from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING, STATE_RUN, get_global_debugger
from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson
from _pydevd_bundle.sf_ends import YIELDS
from _pydevd_bundle.sf_frames import (
    ASYNC_GENERATOR,
    COROUTINE,
    SUSPENDABLE,
    YIELDED,
    Returns,
    is_over,
    is_returning,
    left_frame,
)

_RETURNS = (CMD_STEP_RETURN, CMD_STEP_RETURN_MY_CODE)
_OVERS = (CMD_STEP_OVER, CMD_STEP_OVER_MY_CODE)
_STEPS = _OVERS + (CMD_STEP_INTO, CMD_STEP_INTO_MY_CODE, CMD_STEP_INTO_COROUTINE)
LEFT = "%s is left by an exception that it does not catch"  # sys.settrace has no word of what it is
_ARRIVES = dis.opmap.get("PUSH_EXC_INFO", -1)  # from 3.11 on, and of the line of a `with` that an exception leaves


class _Kept:
    """pydevd's own functions in the places of which ours stand."""

    step = staticmethod(pydevd_api.internal_step_in_thread)
    set_suspend = pydevd.PyDB.set_suspend
    do_wait_suspend = pydevd.PyDB.do_wait_suspend
    return_info = staticmethod(pydevd.collect_return_info)


class _Going:
    """What the threads that step were asked for, by their ids."""

    asked = {}  # the command, until the thread goes on
    finishing = {}  # the frame that is to be held as it returns
    over = {}  # the frame and command of a step over
    waiting = {}  # until 3.11, the frame and command of a step that pydevd may take to be over where the frame only waits
    suspending = {}  # what holds the threads for such a step, once it is known to be over
    handled = {}  # the exception that was being handled as the step began, by its marks
    raised = {}  # what left the frame that the step began in, as text
    thrown = {}  # what was raised in that frame last, or came into it, as text
    ends = set()  # those that are held as a frame returns that a library called


def _step(db, thread_id, command, *arguments, **options):
    """Runs on the thread that is to step, before pydevd looks for the frame that it means."""
    _Going.asked[thread.get_ident()] = command
    _Kept.step(db, thread_id, command, *arguments, **options)


def follow(frame, event):
    """The thread goes on from this frame: see which frame's return would end its step."""
    ident = thread.get_ident()
    asked = _Going.asked.pop(ident, None)
    left = _Going.finishing.pop(ident, None)
    sf_ends.leave()
    _Going.ends.discard(ident)
    for table in (_Going.over, _Going.waiting, _Going.handled, _Going.raised, _Going.thrown):
        table.pop(ident, None)
    db, one = get_global_debugger(), threading._active.get(ident)
    info = getattr(one, "additional_info", None)
    if asked is None or info is None or db is None or db.pydb_disposed or info.pydev_state != STATE_RUN:
        return
    _Going.handled[ident] = _marks(sys.exc_info()[1])
    if not PYDEVD_USE_SYS_MONITORING:
        _follow_waits(db, frame, asked)
    if event == "return" and frame is left:
        if info.pydev_step_cmd in _STEPS:  # nothing more happens in this frame
            _go(db, info, CMD_STEP_INTO_MY_CODE if db.get_use_libraries_filter() else CMD_STEP_INTO, None, frame.f_back)
    elif asked in _RETURNS + _STEPS and _is_called_by_library(db, frame):
        if asked in _RETURNS:
            _Going.finishing[ident] = frame
            _go(db, info, asked, frame, frame)
        if sf_ends.is_nobodys(frame, lambda one: not _is_filtered(db, one)):
            sf_ends.watch(frame, asked)
    elif asked in _OVERS and not PYDEVD_USE_SYS_MONITORING and not frame.f_code.co_flags & SUSPENDABLE:
        _Going.over[ident] = (frame, asked)


def _follow_waits(db, frame, asked):
    """Have a step stay in a frame that only waits where pydevd would take it to be over (until 3.11)."""
    ident = thread.get_ident()
    flags = frame.f_code.co_flags
    if asked in _STEPS and not flags & ASYNC_GENERATOR:  # of which pydevd knows nothing; else it goes by lines
        follows = asked in _OVERS or flags & COROUTINE  # into what a generator gives it goes to whoever takes that
        asked = asked if follows and flags & SUSPENDABLE and _waits_on_line(frame) else None
    if asked in _RETURNS + _STEPS and flags & SUSPENDABLE:
        _Going.waiting[ident] = (frame, asked)
        sf_ends.stay(frame)


def _waits_on_line(frame):
    """Whether a generator or coroutine may wait on the line that it is held at (until 3.11)."""
    code, starts = frame.f_code, [each[0] for each in dis.findlinestarts(frame.f_code)]
    begin = max((each for each in starts if each <= frame.f_lasti), default=0)
    end = min((each for each in starts if each > frame.f_lasti), default=len(code.co_code))
    return bool(YIELDS.intersection(code.co_code[begin:end:2]))


def _stay(frame, value):
    """What the current thread steps in waits: others that run meanwhile are no place for its step."""
    db, one = get_global_debugger(), threading._active.get(thread.get_ident())
    info = getattr(one, "additional_info", None)
    if info is None or db is None or db.pydb_disposed or not _stays(frame, value):
        return
    if info.pydev_state == STATE_RUN and info.pydev_step_cmd != -1:
        _go_on(db, info)


def _go_behind(frame):
    """An exception has left the frame that the current thread steps in, from a line on which it may wait: pydevd waits on for
    what will not come (until 3.11), here or in the caller, so the step goes on in whatever of the user's code is next."""
    ident = thread.get_ident()
    db, one = get_global_debugger(), threading._active.get(ident)
    info = getattr(one, "additional_info", None)
    if info is None or db is None or db.pydb_disposed:
        return
    if info.pydev_state == STATE_RUN and info.pydev_step_cmd != -1:
        _Going.raised.setdefault(ident, LEFT % getattr(frame.f_code, "co_qualname", frame.f_code.co_name))
        _go(db, info, CMD_STEP_INTO_MY_CODE if db.get_use_libraries_filter() else CMD_STEP_INTO, None, frame.f_back)


def _stays(frame, value):
    """Whether the step of the current thread is to go on in this frame, which gives a value; what that yields, a step into
    whatever is next follows to whoever iterates."""
    stepped, asked = _Going.waiting.get(thread.get_ident(), (None, None))
    return stepped is frame and (asked in _RETURNS + _OVERS or type(value).__name__ != YIELDED)


def _go_on(db, info):
    stepped, asked = _Going.waiting[thread.get_ident()]
    over = CMD_STEP_OVER_MY_CODE if db.get_use_libraries_filter() else CMD_STEP_OVER
    _go(db, info, asked if asked in _RETURNS + _OVERS else over, stepped, stepped)


def _go(db, info, command, stop_frame, traced):
    info.pydev_original_step_cmd = info.pydev_step_cmd = command
    info.pydev_step_stop = stop_frame
    info.update_stepping_info()
    db.set_trace_for_frame_and_parents(thread.get_ident(), traced)


def _is_called_by_library(db, frame):
    """Whether this is code of the user's, but for a module's, that returns to code that is not."""
    back = frame.f_back
    if frame.f_code.co_name == "<module>" or not db.get_use_libraries_filter() or _is_filtered(db, frame):
        return False
    return sf_ends.is_outermost(frame) if back is None else _is_filtered(db, back)


def _is_filtered(db, frame):
    return db.get_file_type(frame) is not None or db.apply_files_filter(frame, frame.f_code.co_filename, True)


def _set_suspend(self, one, reason, *arguments, **options):
    """As pydevd's, but where a step may not be over nobody is held yet: what is waited for may need another thread."""
    hold = functools.partial(_Kept.set_suspend, self, one, reason, *arguments, **options)
    if reason in _RETURNS + _STEPS and thread.get_ident() in _Going.waiting and one.ident == thread.get_ident():
        _Going.suspending[thread.get_ident()] = hold
    else:
        hold()


def _do_wait_suspend(self, one, frame, event, arg, exception_type=None):
    """As pydevd's, but a function that a library called is held itself as it returns, and not the library's code."""
    hold = _Going.suspending.pop(thread.get_ident(), None)
    if hold is not None:
        stepped, _ = _Going.waiting[thread.get_ident()]
        if event == "return" and stepped.f_back is frame and sf_ends.only_waits(stepped, arg) and _stays(stepped, arg):
            _go_on(self, one.additional_info)
            return
        hold()
    told = _tell_raised(self, frame, event)
    held = _Going.finishing.get(thread.get_ident())
    if event == "return" and held is not None and held.f_back is frame and exception_type is None:
        code, at = held.f_code.co_code, held.f_lasti
        name, frame = getattr(held.f_code, "co_qualname", held.f_code.co_name), held
        if PYDEVD_USE_SYS_MONITORING or code[at] == dis.opmap["RETURN_VALUE"]:
            Returns.of(held)[name] = arg
            _Going.ends.add(thread.get_ident())
        elif not told:
            Hooks.say(self, {"kind": "untraced", "message": LEFT % name})
    _Kept.do_wait_suspend(self, one, frame, event, arg, exception_type)


def _hold(frame):
    """A frame is held as it returns, at the end of a step."""
    _Going.finishing[thread.get_ident()] = frame
    _Going.ends.add(thread.get_ident())


def _hold_left(frame):
    """A frame is held as an exception leaves it, at the end of a step."""
    _Going.finishing[thread.get_ident()] = frame
    _Going.raised.setdefault(thread.get_ident(), LEFT % getattr(frame.f_code, "co_qualname", frame.f_code.co_name))


def _naming_ends(tell):
    """pydevd's word of the end of a step, where one at a return is called so, and what follows is announced."""

    def told(self, db, thread_id, *arguments, **options):
        made = tell(self, db, thread_id, *arguments, **options)
        body = (made.as_dict or {}).get("body") or {}  # one of the two says nothing, whichever the client did not want
        if body.get("reason") != "step":
            return made
        reason = "return" if thread.get_ident() in _Going.ends else "step"
        ours = {"follows": Hooks.ended_step(db, thread_id)}
        body = dict(body, reason=reason, stillframe=ours)
        return type(made)(made.id, made.seq, dict(made.as_dict, body=body), is_json=True)

    return told


def unwound(frame, error):
    """An exception leaves the frame that a step began in (from 3.12 on, where `sf_stepping` hears of it)."""
    _Going.raised[thread.get_ident()] = _told(frame, error)


def _told(frame, error):
    name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    return "%s raised %s" % (name, sf_values.told(error, sf_values.Bounds()))


def thrown(error):
    """An exception is raised in the frame that a step began in, or comes into it (from 3.12 on, as above)."""
    _Going.thrown[thread.get_ident()] = _told(_innermost(error).tb_frame, error)


def _innermost(error):
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _marks(error):
    """What tells an exception from every other, and from itself once it has left another frame or was raised again."""
    return id(error), id(getattr(error, "__traceback__", None))


def _tell_raised(db, frame, event):
    """Say what led a step into a handler, or out of its frame; where an exception is why we stop, that is told anyway."""
    ident, error = thread.get_ident(), sys.exc_info()[1]
    text, before = _Going.raised.pop(ident, None), _Going.handled.pop(ident, None)
    came = _Going.thrown.pop(ident, None)
    if event == "exception" or before is None:
        return False
    if error is not None and _marks(error) != before and error.__traceback__ is not None:
        again = error.__traceback__.tb_next if id(error) == before[0] else None  # the call that it comes out of
        text = _told((again or _innermost(error)).tb_frame, error)
    elif event == "line" and frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _ARRIVES:
        text = text or came or "an exception leaves this block"  # it is handled from here on; 3.11 cannot tell it yet
    elif event == "return" and not PYDEVD_USE_SYS_MONITORING:
        text = text or _left_by_error(left_frame(sys._getframe(1)), frame)
    if text is not None:
        Hooks.say(db, {"kind": "untraced", "message": text})
    return text is not None


def _left_by_error(left, frame):
    """What to say where a step comes back to a frame from one that did not return to it, else None."""
    if left is None or left.f_back is not frame or left.f_lasti < 0 or sf_ends.is_waiting(left):
        return None
    if is_over(left) if left.f_code.co_flags & SUSPENDABLE else is_returning(left):
        return None
    return LEFT % getattr(left.f_code, "co_qualname", left.f_code.co_name)


class Hooks:
    """Set by those who know how events are sent, and what is told of a stop."""

    say = staticmethod(lambda db, body: None)
    ended_step = staticmethod(lambda db, thread_id: False)


def _left(frame, value):
    """A frame returns to the user's code, as the record of the caller's hears: a step over that began in it is over."""
    ident = thread.get_ident()
    began, command = _Going.over.get(ident, (None, None))
    db, one = get_global_debugger(), threading._active.get(ident)
    if began is not frame or frame.f_back is None or db is None or _is_filtered(db, frame.f_back):
        return
    del _Going.over[ident]
    db.set_suspend(one, command, original_step_cmd=command)
    db.do_wait_suspend(one, frame.f_back, "return", value)


def _lines_left(code, use_func_first_line=False):
    """Lines of a generator or coroutine on which it does not wait, so that a return there is its end (until 3.11).

    pydevd 1.8.22 takes those with a return statement alone, but an exception leaves it from any.
    """
    line, waits = None, {}
    for one in dis.get_instructions(code):
        line = one.starts_line or line
        waits[line] = waits.get(line, False) or one.opcode in YIELDS or one.opname == "RETURN_GENERATOR"
    lines = [each for each, found in waits.items() if not found]
    return _Kept.return_info(code, use_func_first_line) + [ReturnInfo(each) for each in lines]


def patch():
    """Change pydevd's classes; doing it again changes nothing."""
    pydevd.collect_return_info = _lines_left
    pydevd_api.internal_step_in_thread = _step
    pydevd.PyDB.do_wait_suspend = _do_wait_suspend
    if not PYDEVD_USE_SYS_MONITORING:
        pydevd.PyDB.set_suspend = _set_suspend
    for name in ("make_thread_suspend_single_notification", "make_thread_suspend_message"):
        setattr(NetCommandFactoryJson, name, _naming_ends(getattr(NetCommandFactoryJson, name)))
    sf_ends.Hooks.hold, sf_ends.Hooks.hold_left = staticmethod(_hold), staticmethod(_hold_left)
    sf_ends.Hooks.stay, sf_ends.Hooks.go_behind = staticmethod(_stay), staticmethod(_go_behind)
    if sys.version_info < (3, 12):
        Returns.left = staticmethod(_left)
