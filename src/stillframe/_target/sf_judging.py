"""What pydevd stops at, judged more exactly: whose line it is, whether a condition holds, code without a file, exceptions.

Everything here leans on private names of the pinned debugpy; `selftest.py` checks that they are there.
"""

import builtins
import dis
import os
import re
import sys

import pydevd
from _pydev_bundle._pydev_saved_modules import threading
from _pydevd_bundle import pydevd_breakpoints, pydevd_constants, pydevd_frame_utils, sf_classes, sf_logs
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
from _pydevd_bundle.pydevd_api import PyDevdAPI
from _pydevd_bundle.sf_frames import HOOKS, Returns
from _pydevd_bundle.sf_patches import send_event

PRELUDE = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP", "GEN_START", "NOP")
ENTRY = "  # entry of "  # ends the condition of a breakpoint on a function, with its name
FOLDED = 150  # library frames that may stand above the user's where an exception was raised
_UNDEFINED = re.compile(r"NameError: (?:free variable|name) '(\w+)'")


class Asked:
    """Questions that `sf_places` answers once it is there."""

    owns = staticmethod(lambda frame, line: True)
    is_of_another = staticmethod(lambda frame, line, name: False)


class _Kept:
    """pydevd's own functions in the places of which ours stand."""

    condition = pydevd.PyDB.handle_breakpoint_condition
    files_filter = pydevd.PyDB.apply_files_filter
    set_function_breakpoints = PyDevdAPI.set_function_breakpoints
    frames_of_traceback = staticmethod(pydevd_frame_utils.create_frames_list_from_traceback)


def _is_entry(frame, line):
    """Whether the frame has come to this line for the first time: at the first instruction that is of it.

    A function on one line begins with instructions of the interpreter's own, which are of that line too. Until 3.9, and from
    3.14 on, a loop that is the first statement begins at the very first instruction, so the frame itself has to remember.
    """
    if not (3, 10) <= sys.version_info < (3, 14):
        record = Returns.of(frame)
        entered, record.entered = record.entered, True
        return not entered
    first = next((offset for offset, found in dis.findlinestarts(frame.f_code) if found == line), 0)
    for one in dis.get_instructions(frame.f_code):
        if one.offset >= first and one.offset == frame.f_lasti:
            return True
        if one.offset >= first and one.opname not in PRELUDE:
            return False
    return True


def _condition(self, info, breakpoint, frame):
    """Whether a breakpoint that was come to is one to stop at, or to log at; pydevd asks this for all of them, see `patch`."""
    held = _judged(self, info, breakpoint, frame)
    if held and getattr(breakpoint, "is_logpoint", False):
        if (
            info.conditional_breakpoint_exception is not None
        ):  # told already; without a condition there is nothing to log
            info.conditional_breakpoint_exception = None
            return False
        sf_logs.expect(breakpoint, frame)
    return held


def _judged(self, info, breakpoint, frame):
    """The judgement itself.

    Not where a generator expression shares its line, nor for a function where its first line is come to again in a loop.
    A condition that raised is told as an event of ours with the breakpoint's id, then it stops; but not where the name that
    it misses is one of the function or lambda that begins on this line and is only being made here.
    """
    condition, line = breakpoint.condition, getattr(breakpoint, "line", None)
    if line is not None and not Asked.owns(frame, line):
        return False
    _, is_function, name = (condition or "").rpartition(ENTRY)
    if is_function and (frame.f_code.co_name != name or not _is_entry(frame, line)):
        return False
    info.conditional_breakpoint_exception = None
    if not condition and not breakpoint.hit_condition:
        return True
    held = _Kept.condition(self, info, breakpoint, frame)
    problem = info.conditional_breakpoint_exception
    if problem is None:
        return held
    message = (problem[0].partition("Error:\n")[2].strip().splitlines() or [""])[-1]
    missing = _UNDEFINED.match(message)
    if missing and Asked.is_of_another(frame, line, missing.group(1)):
        info.conditional_breakpoint_exception = None
        return False
    if getattr(breakpoint, "is_logpoint", False):  # it goes on at once, and may come here very often
        before, breakpoint.stillframe_problem = getattr(breakpoint, "stillframe_problem", None), message
        if before == message:
            return held
    body = {"kind": "condition_error", "id": breakpoint.breakpoint_id, "message": message}
    thread_id = pydevd_constants.get_current_thread_id(threading.current_thread())
    send_event(self, dict(body, threadId=BaseSchema._translate_id_to_dap(thread_id)))
    return held


def _files_filter(self, frame, name, force):
    """As pydevd's, but a function that is asked for by name and has no source file is the user's business.

    pydevd 1.8.22 takes all code of `exec` for a library's.
    """
    code = frame.f_code
    if code.co_name in self.function_breakpoint_name_to_breakpoint and not os.path.exists(code.co_filename):
        return False
    return _Kept.files_filter(self, frame, name, force)


def _set_function_breakpoints(self, db, *arguments):
    """While functions are asked for by name, code that calls itself `<string>` is looked at, too: exec makes it."""
    result = _Kept.set_function_breakpoints(self, db, *arguments)
    db.__dict__.pop("get_file_type", None)
    names, told = db.function_breakpoint_name_to_breakpoint, db.get_file_type

    def file_type(frame, *others):
        found = told(frame, *others)
        code = frame.f_code
        return None if found is not None and code.co_filename == "<string>" and code.co_name in names else found

    if names:
        db.get_file_type = file_type
    return result


def _skipped(self, frame):
    """A step went over a call, told once: pydevd's own words give advice for another tool."""
    if frame.f_code.co_name in HOOKS:
        return
    name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    message = "%s was stepped over: it is not your code (dbg launch --all-code steps into such)" % name
    send_event(self, {"kind": "untraced", "message": message})


class _NameMatch(type):
    """A class of exceptions known by its name alone, so that it can be asked for before the program has made it."""

    met = False

    def __subclasscheck__(cls, other):
        found = any(sf_classes.is_called(each, cls.wanted) for each in getattr(other, "__mro__", ()))
        cls.met = cls.met or found
        return found


def _exception_class(name):
    """As pydevd's, which evaluates the name and imports what may be its module, before the program does: that runs its code."""
    found = builtins.__dict__.get(name) or sf_classes.loaded(name)
    if isinstance(found, type) and issubclass(found, BaseException) and found.__module__ != "__main__":
        return found
    return _NameMatch(name.rpartition(".")[2], (), {"wanted": name})


def never_met(db):
    """Names of classes that were to be caught of which none was raised, where they are but names."""
    asked = (each.type for each in list(db.break_on_caught_exceptions.values()))
    return [kind.wanted for kind in asked if isinstance(kind, _NameMatch) and not kind.met]


def _frames_of_traceback(trace, frame, kind, error, exception_type=None):
    """As pydevd's, which for an uncaught exception leaves out the library's frames above the innermost of the user's."""
    above, at = 0, trace
    while at is not None:
        above = 0 if at.tb_frame is frame else above + 1
        at = at.tb_next
    if exception_type == pydevd_constants.EXCEPTION_TYPE_UNHANDLED and above < FOLDED:
        frame = None
    return _each_once(_Kept.frames_of_traceback(trace, frame, kind, error, exception_type), trace)


def _each_once(frames, trace):
    """A frame that caught the exception and raised it again stands twice in the traceback, and once among the calls.

    Under what it called it is at that call; where it is the innermost one, at the line that raises again.
    """
    top = next(iter(frames), None)
    while trace is not None:
        if trace.tb_frame is not top and id(trace.tb_frame) in frames.frame_id_to_lineno:
            frames.frame_id_to_lineno[id(trace.tb_frame)] = trace.tb_lineno
        trace = trace.tb_next
    frames._frames = [one for one, inner in zip(frames, [None] + frames._frames) if one is not inner]
    return frames


def patch():
    """Change pydevd's classes; doing it again changes nothing."""
    cls = pydevd.PyDB
    sf_logs.patch()
    cls.handle_breakpoint_condition = _condition
    pydevd_breakpoints.LineBreakpoint.has_condition = True  # so that `_condition` is asked about every one of them
    cls.apply_files_filter = _files_filter
    cls.notify_skipped_step_in_because_of_filters = _skipped
    PyDevdAPI.set_function_breakpoints = _set_function_breakpoints
    pydevd_breakpoints.get_exception_class = _exception_class
    pydevd_frame_utils.create_frames_list_from_traceback = _frames_of_traceback
