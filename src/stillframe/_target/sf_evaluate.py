"""Expressions and statements in a paused frame: evaluated with its names, assignments reach its real variables."""

import ast
import ctypes
import sys
import types

from _pydevd_bundle import sf_frames, sf_values, sf_watch
from _pydevd_bundle.pydevd_save_locals import save_locals

NAME = "<stillframe>"
UNBINDABLE = (3, 12)  # from here on nothing unbinds a variable of a running function: 3.12 makes it None, 3.13 refuses
OPTIMIZED = 0x1  # co_flags of code whose variables are known beforehand
_NONE = object()


class Outcome:
    """What an evaluation gave: a value, nothing for a statement, or the last line of an error."""

    def __init__(self, value=None, error=None, is_statement=False):
        self.value = value
        self.error = error
        self.is_statement = is_statement


def evaluate(frame, text, limit, bounds):
    """Evaluate one expression, or run statements; a last expression after statements gives the value."""
    try:
        tree = ast.parse(text.strip(), NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Outcome(error=_last_line(error, bounds))
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    outcome = _attempt(frame, tree, last, limit, bounds)
    outcome.is_statement = last is None
    return outcome


def misread(condition):
    """Why a text is no expression, which is what the condition of a breakpoint has to be; None where it is one."""
    try:
        compile(condition.strip(), NAME, "eval", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return "%s: %s" % (type(error).__name__, getattr(error, "msg", error))
    return None


def assign(frame, target, value, limit, bounds):
    """Assign to a name, attribute or item, and give back what is there then."""
    try:
        tree = ast.parse("%s = (%s\n)" % (target.strip(), value), NAME)
        again = ast.parse(target.strip(), NAME, "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Outcome(error=_last_line(error, bounds))
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assign) or len(tree.body[0].targets) != 1:
        return Outcome(error="SyntaxError: one target and one expression are needed")
    unknown = [name for name in _stored(tree) if not _means(frame, name)]
    if unknown:
        way = "eval '%s = …' makes one that lasts for this stop" % unknown[0]
        return Outcome(error="NameError: the program has no variable %s here; %s" % (", ".join(unknown), way))
    return _attempt(frame, tree, again, limit, bounds)


def _stored(tree):
    """The names that an assignment binds, in the order of the text."""
    names = [node for node in ast.walk(tree.body[0].targets[0]) if isinstance(node, ast.Name)]
    return [node.id for node in names if isinstance(node.ctx, ast.Store)]


def _means(frame, name):
    """Whether a name is one that the program can read: a function has the variables that its code names, and those of its
    module; a module or a class has whatever it is given."""
    code = frame.f_code
    if not (isinstance(code, types.CodeType) and code.co_flags & OPTIMIZED):
        return True
    return name in code.co_varnames + code.co_cellvars + code.co_freevars or name in frame.f_globals


def _attempt(frame, tree, last, limit, bounds):
    try:
        statements = compile(tree, NAME, "exec", dont_inherit=True) if tree.body else None
        expression = compile(last, NAME, "eval", dont_inherit=True) if last is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Outcome(error=_last_line(error, bounds))
    names = _Names(frame, _declared_global(tree))
    try:
        outcome = Outcome(sf_watch.within(limit, _run, statements, expression, names.space))
    except sf_watch.Overdue:
        outcome = Outcome(error="timed out after %g s" % limit)
    except BaseException as error:  # SystemExit and KeyboardInterrupt of an expression are answers, too
        outcome = Outcome(error=_last_line(error, bounds))
    finally:
        remain = names.write_back()
    if remain and outcome.error is None:
        outcome.error = "not deleted: a function's variable stays from Python 3.12 on (%s)" % ", ".join(remain)
    return outcome


def _run(statements, expression, space):
    if statements is not None:
        exec(statements, space)
    return eval(expression, space) if expression is not None else None


def _declared_global(tree):
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


class _Names:
    """One namespace for an evaluation: comprehensions and lambdas see only globals, so locals are laid over them.

    A module's frame lends its real dict. Elsewhere what changed is written back: to the frame where the code has such a
    variable, to the module where the frame can only mean a global by it, else to the frame for the rest of this stop.
    """

    def __init__(self, frame, declared_global):
        self.frame = frame
        self.declared = declared_global
        self.real = frame.f_globals is frame.f_locals
        if self.real:
            self.space = frame.f_globals
            return
        self.space = dict(frame.f_globals)
        self.space.update(sf_frames.snapshot(frame))
        self.before = dict(self.space)

    def write_back(self):
        """Make the frame so; the names that were deleted in vain are given back."""
        if self.real:
            return []
        changed = {
            name: value
            for name, value in self.space.items()
            if value is not self.before.get(name, _NONE) and name != "__builtins__"
        }
        gone = [name for name in self.before if name not in self.space]
        if not changed and not gone:
            return []
        of_module = {name for name in [*changed, *gone] if self._is_global(name)}
        names = self.frame.f_locals  # asked for once: until 3.12 each asking refreshes it from the real variables
        for name, value in changed.items():
            (self.frame.f_globals if name in of_module else names)[name] = value
        remain = [name for name in gone if self._is_variable(name) and sys.version_info >= UNBINDABLE]
        for name in gone:
            if name not in remain:
                (self.frame.f_globals if name in of_module else names).pop(name, None)
        if gone and sys.version_info < UNBINDABLE:  # pydevd's own way never unbinds a variable
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.frame), ctypes.c_int(1))
        else:
            save_locals(self.frame)
        return remain

    def _is_variable(self, name):
        code = self.frame.f_code
        return isinstance(code, types.CodeType) and name in code.co_varnames + code.co_cellvars + code.co_freevars

    def _is_global(self, name):
        if name in self.declared:
            return True
        if self._is_variable(name):
            return False
        return name in self.frame.f_globals and name not in sf_frames.snapshot(self.frame)


def _last_line(error, bounds):
    if isinstance(error, SyntaxError):
        return "%s: %s" % (type(error).__name__, error.msg)
    return sf_values.told(error, bounds)
