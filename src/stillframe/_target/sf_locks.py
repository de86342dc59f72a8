"""Which lock a line is about to take, and which locks a frame holds by a `with` that it is inside of: read from the source.

A plain lock does not know who holds it. A frame inside the body of `with lock:` does hold it, as long as nothing in that body
gives the lock back or binds its name anew; where something does, nothing is claimed. No code of the program is run.
"""

import ast
import builtins
import dis
import functools
import linecache
import os
import re
import types

from _pydev_bundle._pydev_saved_modules import thread
from _pydevd_bundle import sf_values

LARGEST = 2000000  # characters of a source file that is still parsed
_LOCK, _RLOCK = type(thread.allocate_lock()), thread.RLock
_OWNER = re.compile(r"owner=(\d+)")
_ENTERS = frozenset({"SETUP_WITH", "BEFORE_WITH", "SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH"})
_LOADS_METHOD = dis.opmap.get("LOAD_SPECIAL", -1)  # from 3.14 on a `with` is a call of what it loads just before
_ENTER_METHODS = (0, 2)  # its arguments for __enter__ and __aenter__
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_WITHS = (ast.With, ast.AsyncWith)


class Unknown(Exception):
    """What an expression stands for cannot be told without running code of the program."""


def lock_of(value):
    """The lock that a value is, or works with; None for anything else."""
    kind = type(value)
    if kind is _LOCK or kind is _RLOCK:
        return value
    if kind.__module__ == "threading" and kind.__name__ in ("Condition", "_RLock"):
        return value if kind.__name__ == "_RLock" else lock_of(value.__dict__.get("_lock"))
    if kind.__module__ == "asyncio.locks" and kind.__name__ in ("Lock", "Condition"):
        return value if kind.__name__ == "Lock" else lock_of(value.__dict__.get("_lock"))
    return None


def kind_of(lock):
    return "Lock" if type(lock) is _LOCK or type(lock).__module__ == "asyncio.locks" else "RLock"


def is_locked(lock):
    if type(lock) is _LOCK:
        return lock.locked()
    if type(lock) is _RLOCK:
        return repr(lock).startswith("<locked")
    if type(lock).__module__ == "asyncio.locks":
        return bool(lock.__dict__.get("_locked"))
    return bool(lock.__dict__.get("_block").locked())


def owner_of(lock):
    """The number of the thread that holds it; None where the lock does not know."""
    if type(lock) is _RLOCK:
        found = _OWNER.search(repr(lock))
        return int(found.group(1)) or None if found else None
    return lock.__dict__.get("_owner") if type(lock).__name__ == "_RLock" else None


def instruction(frame):
    """The name of the instruction that the frame is at."""
    code = frame.f_code.co_code
    return dis.opname[code[frame.f_lasti]] if 0 <= frame.f_lasti < len(code) else ""


def is_entering(frame):
    """Whether the frame waits in the beginning of a `with`."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if at >= 2 and code[at - 2] == _LOADS_METHOD:
        return code[at - 1] in _ENTER_METHODS
    return instruction(frame) in _ENTERS


def is_calling(frame):
    """Whether the frame, being the innermost, is in a call of native code."""
    return instruction(frame).startswith(("CALL", "PRECALL"))


def taken(frame, ident):
    """(lock, its source) that the innermost frame of a thread is about to take; None where that is none or not certain."""
    spots = [(node, item) for node in _withs(frame) for item in node.items if _is_on(item.context_expr, frame.f_lineno)]
    found = [item.context_expr for _, item in spots] if is_entering(frame) else _acquired(frame)
    for node in found:
        lock = _lock(node, frame)
        if lock is not None and is_locked(lock) and owner_of(lock) != ident:
            return lock, text_of(node, frame)
    return None


def _acquired(frame):
    """What stands in front of `.acquire(…)` on the frame's line."""
    if not is_calling(frame):
        return []
    calls = [node for node in _own(frame) if isinstance(node, ast.Call) and _is_on(node, frame.f_lineno)]
    methods = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    return [each.value for each in methods if each.attr in ("acquire", "__enter__")]


def call_on(frame):
    """The source of the one call on the frame's line that is going on; None where several stand there."""
    calls = [node for node in _own(frame) if isinstance(node, ast.Call) and _is_on(node, frame.f_lineno)]
    if hasattr(frame.f_code, "co_positions"):
        line, end, column, stop = next(
            (at for index, at in enumerate(frame.f_code.co_positions()) if index == frame.f_lasti // 2), (None,) * 4
        )
        calls = [
            node for node in calls
            if (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == (line, end, column, stop)
        ]  # fmt: skip
    return text_of(calls[0], frame) if len(calls) == 1 else None


def held(frame):
    """[(lock, its source, line)] that the frame surely holds by a `with` whose body it is in."""
    found = []
    for node in _withs(frame):
        inside = node.body[0].lineno <= frame.f_lineno <= node.body[-1].end_lineno
        heads = any(_is_on(one.context_expr, frame.f_lineno) for one in node.items)
        # An async one that stands on one line waits alike for its lock and for what is in it.
        if not inside or (heads and (is_entering(frame) or isinstance(node, ast.AsyncWith))):
            continue
        for item in node.items:
            lock = _lock(item.context_expr, frame)
            if lock is not None and is_locked(lock) and not _is_disturbed(node, item.context_expr):
                found.append((lock, text_of(item.context_expr, frame), node.lineno))
    return found


def _is_disturbed(node, expression):
    """Whether the body may have given the lock back, or bound anew what its expression begins with."""
    same, root = ast.dump(expression), expression
    while not isinstance(root, ast.Name):
        root = getattr(root, "value", None)
        if root is None:
            return True
    for statement in node.body:
        for each in ast.walk(statement):
            if isinstance(each, ast.Attribute) and each.attr in ("release", "__exit__", "wait", "wait_for"):
                if ast.dump(each.value) == same:
                    return True
            if isinstance(each, ast.Name) and each.id == root.id and not isinstance(each.ctx, ast.Load):
                return True
    return False


def text_of(node, frame):
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    return " ".join((ast.get_source_segment(source, node) or "").split())[:80]


def _lock(node, frame):
    try:
        return lock_of(_static(node, frame))
    except Unknown:
        return None


def _static(node, frame):
    """What a name, an attribute or an item stands for, found without running code of the program."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, builtins.__dict__):
            if node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        return _attribute(_static(node.value, frame), node.attr)
    elif isinstance(node, ast.Subscript):
        index = node.slice.value if type(node.slice).__name__ == "Index" else node.slice  # so Python 3.8 has it
        key = index.value if isinstance(index, ast.Constant) else _static(index, frame)
        holder = _static(node.value, frame)
        if type(key) in (int, str) and type(holder) in (list, tuple, dict):
            try:
                return holder[key]
            except (LookupError, TypeError):
                pass
    raise Unknown


def _attribute(holder, name):
    if type(holder) is types.ModuleType:
        held_there = holder.__dict__
    else:
        held_there = dict(sf_values.attributes_of(holder))
    if name in held_there:
        return held_there[name]
    found = sf_values.class_attribute(holder if isinstance(holder, type) else type(holder), name)
    if found is None or sf_values.class_attribute(type(found), "__get__") is not None:
        raise Unknown  # a property, a method or nothing
    return found


def _withs(frame):
    return [node for node in _own(frame) if isinstance(node, _WITHS)]


def _is_on(node, line):
    return node.lineno <= line <= node.end_lineno


def _own(frame):
    """The nodes of the frame's own code: those of its function, and not of functions inside it."""
    code = frame.f_code
    return _nodes(code.co_filename, _stamp(code.co_filename), code.co_firstlineno, code.co_name)


def _stamp(path):
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=64)
def _nodes(path, stamp, first, name):
    tree = _parsed(path, stamp)
    if tree is None:
        return []
    home = tree
    if name != "<module>":
        home = next((node for node in ast.walk(tree) if _is_home(node, first, name)), None)
    found, waiting = [], list(ast.iter_child_nodes(home)) if home is not None else []
    while waiting:
        node = waiting.pop(0)
        found.append(node)
        if not isinstance(node, _FUNCTIONS + (ast.ClassDef,)):
            waiting = list(ast.iter_child_nodes(node)) + waiting
    return found


def _is_home(node, first, name):
    if not isinstance(node, _FUNCTIONS[:2]) or node.name != name:
        return False
    return first in {node.lineno, *(one.lineno for one in node.decorator_list)}


@functools.lru_cache(maxsize=16)
def _parsed(path, stamp):
    lines = linecache.getlines(path)
    if not lines or sum(map(len, lines)) > LARGEST:
        return None
    try:
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
