"""Log points: the text is made part by part where its breakpoint really holds, and told with the breakpoint's number.

pydevd 1.8.22 evaluates the whole text as one expression, and before it looks at the condition: one bad name costs the line.
Everything here leans on private names of the pinned debugpy; `selftest.py` checks that they are there.
"""

import ast
import json
import os
import types

import pydevd
from _pydev_bundle._pydev_saved_modules import thread
from _pydevd_bundle import sf_frames, sf_values
from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson
from _pydevd_bundle.sf_patches import event_command

PLACEHOLDER = "a log point of stillframe"  # what pydevd takes for the text, so that it prints one
MOST = 65536  # characters of one text
NAME = "<stillframe log>"
_due = {}  # thread to the breakpoint and the frame whose text pydevd is about to print


class _Kept:
    """pydevd's own functions in the places of which ours stand."""

    expression = pydevd.PyDB.handle_breakpoint_expression
    io_message = NetCommandFactoryJson.make_io_message


def expect(breakpoint, frame):
    """This breakpoint holds here; pydevd prints its text next, but not where it only looks at a module's or lambda's call."""
    _due[thread.get_ident()] = (breakpoint, frame)


def _expression(self, breakpoint, info, frame):
    if getattr(breakpoint, "is_logpoint", False):
        info.pydev_message = PLACEHOLDER
    else:
        _Kept.expression(self, breakpoint, info, frame)


def _io_message(self, message, context):
    due = _due.pop(thread.get_ident(), None) if message == PLACEHOLDER + os.linesep else None
    if due is None:
        return _Kept.io_message(self, message, context)
    breakpoint, frame = due
    text = "".join(_made(part, frame) for part in _parts(breakpoint))[:MOST]
    return event_command({"kind": "log", "id": breakpoint.breakpoint_id, "text": text})


def _parts(breakpoint):
    """Texts and compiled expressions by turns, kept with the breakpoint; pydevd has put the sources into quotes."""
    parts = getattr(breakpoint, "stillframe_parts", None)
    if parts is None:
        sources = json.loads(ast.literal_eval(breakpoint.expression))
        parts = [_compiled(source) if at % 2 else source for at, source in enumerate(sources)]
        breakpoint.stillframe_parts = parts
    return parts


def _compiled(source):
    try:
        return compile("(%s\n)" % source, NAME, "eval", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # it is newer than this Python
        return "<%s>" % sf_values.told(error, sf_values.Bounds())


def _made(part, frame):
    if isinstance(part, str):
        return part
    try:
        return str(eval(part, *_names(part, frame)))
    except BaseException as error:  # whatever it is, the program must not meet it
        return "<%s>" % sf_values.told(error, sf_values.Bounds())


def _names(code, frame):
    """Where it is evaluated: comprehensions and lambdas see only globals, so for them the locals are laid over those."""
    if not any(isinstance(each, types.CodeType) for each in code.co_consts):
        return frame.f_globals, frame.f_locals
    return (dict(frame.f_globals, **sf_frames.snapshot(frame)),)


def patch():
    """Change pydevd's classes; doing it again changes nothing."""
    pydevd.PyDB.handle_breakpoint_expression = _expression
    NetCommandFactoryJson.make_io_message = _io_message
