"""From a live traceback to evidence: the user's own frames with their values, what the failing line compared, and the causes.

The frames of a traceback keep their locals after the test has failed, so that no debugger is needed to read them.
"""

import ast
import dis
import itertools
import linecache
import os
import re
import sys
import sysconfig
import types

from sf_makers import makers
from sf_statements import is_literal, names_of, segment, statement

TEXT = 160
FRAMES = 12  # of the user's own, told at the most: the inner ones and the outermost
INNER, OUTER = 30, 10  # values of the failing frame, and of each one around it
CAUSES, MEMBERS = 6, 8
BESIDE = 6  # values of the call that a cause or a member was raised in
MESSAGE = 4000
_WORD = re.compile(r"[^\W\d]\w*")
_PACKAGES = re.compile(r"[/\\](site-packages|dist-packages)[/\\]")
_UNTOLD = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
_LIBRARY = tuple(
    os.path.join(os.path.realpath(path), "")
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    if path
)
# What a call is at that an exception leaves, beside the line that raised it.
_RAISES = frozenset(dis.opmap[name] for name in ("RERAISE", "RAISE_VARARGS", "END_FINALLY") if name in dis.opmap)
_TOLD = ("name", "type", "value", "total", "truncated", "error", "shape")
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_user(code):
    """Whether code is of the project's own: no library, nothing that no file holds, none of ours."""
    return is_file_users(code.co_filename)


def is_file_users(file):
    if file.startswith(("<", _OURS)) or _PACKAGES.search(file):
        return False
    return not os.path.realpath(file).startswith(_LIBRARY)


class Teller:
    """Makes rows of values, within bounds, by the writer that stops use too."""

    def __init__(self, values):
        self._values = values
        values.sf_turns.watch()
        self.bounds = values.Bounds(TEXT, 8, 1.0)

    def value(self, name, value):
        row = self._values.describe(name, value, self.bounds, lambda value: None)
        return {key: row[key] for key in _TOLD if key in row}

    def told(self, error):
        kind, _, message = self._values.told(error, self.bounds).partition(": ")
        return {"type": kind, "message": message}

    def message(self, error):
        """What the exception says, at more length than a stop would tell: a failed assertion has its whole story there."""
        row = self.told(error)
        if isinstance(error, AssertionError) and error.args and type(error.args[0]) is str:
            row["message"] = error.args[0][:MESSAGE]
        return row

    def held(self, error, message):
        """What the exception tells beside its message: what was added to it on its way, and what it holds."""
        is_frame = isinstance(error, SyntaxError)  # whose line is told as one
        rows = [self.value(*one) for one in ([] if is_frame else self._values.held_by(error, message))]
        return {"added": self._values.notes_of(error), "held": rows}

    def locals(self, frame, line, most):
        """(rows, how many there are): names of the failing statement first, then arguments, then the rest."""
        held = {**frame.f_locals, **self._values.sf_turns.of(frame)}
        names = {name: value for name, value in held.items() if _is_told(name, value)}
        node = statement(frame.f_code.co_filename, line)
        here = names_of(node) or _WORD.findall(linecache.getline(frame.f_code.co_filename, line))
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        order = dict.fromkeys(name for name in here if name in names)
        order.update(dict.fromkeys(name for name in code.co_varnames[:count] if name in names))
        order.update(dict.fromkeys(names))
        parts = self._attributes(node, names)
        rows = [(name, names[name]) for name in order if not _is_case(names[name])]
        used = sum(name in here for name, _ in rows)
        rows[used:used] = [(name, value) for name, value in parts.items()]
        return [self.value(*row) for row in rows[:most]], len(rows)

    def _attributes(self, node, names):
        """What the statement reads of objects, as in `self.total`, where that is simply stored there."""
        found = {}
        for each in ast.walk(node) if node is not None else ():
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in names:
                held = dict(self._values.attributes_of(names[each.value.id]))
                if each.attr in held and _is_told(each.attr, held[each.attr]):
                    found["%s.%s" % (each.value.id, each.attr)] = held[each.attr]
        return found

    def frames(self, steps):
        """The user's own calls, innermost first: each with how many of the library lie before it (further in), how many
        times it stands for where it called itself from the same line, and how many are left out before it."""
        calls = _folded(steps)
        kept = calls if len(calls) <= FRAMES else calls[: FRAMES - 2] + calls[-2:]
        rows = [self._frame(call, OUTER if number else INNER) for number, call in enumerate(kept)]
        if len(kept) < len(calls):
            rows[-2]["skipped"] = sum(call["times"] for call in calls[FRAMES - 2 : -2])
        return rows

    def _frame(self, call, most):
        frame, line = call["frame"], call["line"]
        values, total = self.locals(frame, line, most)
        node = statement(frame.f_code.co_filename, line)
        text = segment(frame.f_code.co_filename, node) if isinstance(node, _PLAIN) else ""
        return {
            "function": getattr(frame.f_code, "co_qualname", frame.f_code.co_name), "file": frame.f_code.co_filename,
            "line": line, "folded": call["folded"], "times": call["times"], "skipped": 0, "values": values, "total": total,
            "source": text or linecache.getline(frame.f_code.co_filename, line).strip(),
        }  # fmt: skip

    def causes(self, error, told):
        """What the exception came from, the nearest first: each with where it was raised."""
        rows, seen = [], {id(error)}
        while len(rows) < CAUSES:
            why = error.__cause__
            if why is None and not error.__suppress_context__:
                why = error.__context__
            if why is None or id(why) in seen:
                break
            seen.add(id(why))
            rows.append(dict(self.told(why), cause=error.__cause__ is not None, **self._beside(why, told)))
            error = why
        return rows

    def members(self, error, told):
        """The exceptions in a group, and in the groups in it, each with its own place."""
        return [dict(self.told(one), **self._beside(one, told)) for one in itertools.islice(_leaves(error), MEMBERS)]

    def _beside(self, error, told):
        """Where a cause or a member was raised, with values of that call where it is not told as one of its own, and what was
        added to it."""
        row = {"added": self._values.notes_of(error)}
        own = [each for each in _traces(error.__traceback__) if is_user(each.tb_frame.f_code)]
        if own:
            frame, line = own[-1].tb_frame, own[-1].tb_lineno
            row.update(_place(frame, line))
            if frame not in told and _was_left(own[-1]):
                row["locals"] = self.locals(frame, line, BESIDE)[0]
        return row

    def brief(self, error, trace):
        """What an exception says and where it was raised: of failures beyond those that are told with their values."""
        at = innermost(walk(trace))
        return dict(self.message(error), frames=[], **(_place(*at) if at is not None else {}))

    def evidence(self, error, trace=None):
        """Everything of a failure that its exception can tell."""
        steps = walk(error.__traceback__ if trace is None else trace)
        told = [frame for frame, _ in steps]
        row = dict(self.message(error), causes=self.causes(error, told), members=self.members(error, told))
        row.update(self.held(error, row["message"]))
        row["frames"] = self.frames(steps)
        at = innermost(steps)
        row["made"] = makers(*at, is_user) if at is not None else None
        if isinstance(error, SyntaxError) and error.filename:
            at = dict(function="", file=error.filename, line=error.lineno or 0, folded=0, values=[], total=0)
            row["frames"].insert(0, dict(at, source=(error.text or "").strip()))
        return row


_PLAIN = (ast.Assert, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete)


def walk(trace):
    """(frame, line) of a traceback, outermost first."""
    return [(each.tb_frame, each.tb_lineno) for each in _traces(trace)]


def _place(frame, line):
    return {"file": frame.f_code.co_filename, "line": line, "function": frame.f_code.co_name}


def _traces(trace):
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _leaves(error):
    """The exceptions in a group; those of a group in it in the place of that."""
    if any(kind.__name__ == "BaseExceptionGroup" for kind in type(error).__mro__):
        for each in error.exceptions:
            inside = list(_leaves(each))
            for one in inside or [each]:
                yield one


def _was_left(trace):
    """Whether a call was left by the exception: what one that caught it and went on has now need not have led there."""
    frame = trace.tb_frame
    return frame.f_lasti == trace.tb_lasti or frame.f_code.co_code[frame.f_lasti] in _RAISES


def _folded(steps):
    """The user's own calls out of a traceback, innermost first, equal ones that follow each other told once."""
    calls, folded = [], 0
    for frame, line in reversed(steps):
        if not is_user(frame.f_code):
            folded += not _is_runner(frame)
            continue
        last = calls[-1] if calls else None
        if last is not None and not folded and last["frame"].f_code is frame.f_code and last["line"] == line:
            last["times"] += 1
        else:
            calls.append({"frame": frame, "line": line, "folded": folded, "times": 1})
        folded = 0
    return calls


def _is_runner(frame):
    """Whether a frame is of the runner that runs the test, which is nobody's business."""
    name = frame.f_globals.get("__name__")
    return "__unittest" in frame.f_globals or str(name).partition(".")[0] in ("_pytest", "pluggy")


def _is_told(name, value):
    if not isinstance(name, str) or not name.isidentifier():  # comprehensions have `.0`, pytest `@py_assert1`
        return False
    if name.startswith("__pydevd") or (name.startswith("__") and name.endswith("__")):
        return False
    return not issubclass(type(value), _UNTOLD)


def _is_case(value):
    """Whether a value is the test itself, of which nothing is told but its name."""
    return any(kind.__module__ == "unittest.case" for kind in type(value).__mro__)


def innermost(steps):
    """The user's own frame that failed, with its line; None where there is none."""
    own = [(frame, line) for frame, line in steps if is_user(frame.f_code)]
    return own[-1] if own else None


def compared(teller, file, node, left, right):
    """Rows for the two sides of a comparison, called by their source; a side that is written out there is not told again."""
    test = node.test if isinstance(node, ast.Assert) else None
    sides = _sides(test) if test is not None else ()
    rows = []
    for side, value in zip(sides or (None, None), (left, right)):
        name = segment(file, side) if side is not None else ("left", "right")[len(rows)]
        if side is None or not is_literal(side):
            rows.append(teller.value(name, value))
    return rows


def _sides(test):
    """The operands of the comparison that an assertion is about; none where it has several."""
    found = [each for each in ast.walk(test) if isinstance(each, ast.Compare)]
    if len(found) != 1 or len(found[0].ops) != 1:
        return ()
    return (found[0].left, found[0].comparators[0])


def hold(error, trace):
    """Have the debugger in this process, if there is one, stop as at an uncaught exception: the frames are still there."""
    pydevd = sys.modules.get("pydevd")
    db = pydevd.get_global_debugger() if pydevd is not None else None
    if db is None:
        return False
    db.trigger_exception_handler((type(error), error, trace))
    return True
