"""Code objects: whose they are, what they are called, which statement a line belongs to, which names a line may change."""

import ast
import dis
import os
import sys
import sysconfig

from . import sf_turns

FUNCTION = 0x01  # CO_OPTIMIZED: a function's, not a module's or a class's
PAUSES = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
FILLS_LOCALS = sys.version_info < (3, 11)
"""Whether the locals that were read from a frame once are filled anew before each call of a tracer: reading does it once more."""
_BEGINNING = frozenset(
    ("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP", "GEN_START", "NOP", "CACHE", "PUSH_NULL")
)
_THROWN = dis.opmap.get("CLEANUP_THROW", -1)
_LAMBDA = "<lambda>"
_ANNOTATIONS = "__annotate__"
"""What Python makes of the annotations of a scope from 3.14 on: a function with their lines in it, which nobody wrote."""
_LIBRARIES = ("site-packages", "dist-packages")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CWD = os.getcwd()


def _stdlib():
    found = {
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
        os.path.dirname(os.path.abspath(os.__file__)),
    }
    return tuple(os.path.realpath(each) + os.sep for each in found if each)


_STDLIB = _stdlib()
_real = {}
_users = {}


def real(filename):
    """The file of a code object, absolute and without links."""
    found = _real.get(filename)
    if found is None:
        whole = filename if filename.startswith("<") else os.path.realpath(os.path.join(_CWD, filename))
        found = _real[filename] = whole
    return found


def is_users(filename, all_code=False):
    """Whether code of this file is the user's: not the standard library's, not an installed package's, not ours."""
    found = _users.get(filename)
    if found is None:
        if filename.startswith("<"):
            found = filename in ("<string>", "<stdin>")
        else:
            path = real(filename)
            inside = path.startswith(_STDLIB) or any(each in path.split(os.sep) for each in _LIBRARIES)
            found = (all_code or not inside) and not path.startswith(_HERE)
        _users[filename] = found
    return found


def is_users_call(frame, all_code=False):
    """Whether a call runs the user's code. What was compiled from a string is its module's: `namedtuple` and `dataclass` make
    functions so, for libraries too."""
    filename = frame.f_code.co_filename
    if not is_users(filename, all_code) or not filename.startswith("<"):
        return is_users(filename, all_code)
    file = frame.f_globals.get("__file__")
    if type(file) is str:
        return is_users(file, all_code)
    return not str(frame.f_globals.get("__name__")).startswith("namedtuple_")


def is_users_class(kind, all_code=False):
    """Whether a class is the user's, by the file of its module."""
    file = getattr(sys.modules.get(type.__dict__["__module__"].__get__(kind)), "__file__", None)
    return type(file) is str and is_users(file, all_code)


def nested(code, name="", classes=False):
    """Every function below a code object, with its qualified name; with `classes`, the bodies of classes as well."""
    for const in code.co_consts:
        if not hasattr(const, "co_code") or const.co_name == _ANNOTATIONS:
            continue
        if name and code.co_flags & FUNCTION:
            inner = name + ".<locals>." + const.co_name
        else:
            inner = (name + "." if name else "") + const.co_name
        if classes or const.co_flags & FUNCTION:
            yield const, inner
        for each in nested(const, inner, classes):
            yield each


def with_lambdas(code, inner):
    """The same, with lambdas called by the variable that they are given to: `double = lambda x: 2 * x`."""
    lambdas = [each.co_firstlineno for each, name in inner if each.co_name == _LAMBDA]
    tree = _tree(code.co_filename) if lambdas else None
    called = {}
    for node in ast.walk(tree) if tree is not None else ():
        value, targets = getattr(node, "value", None), getattr(node, "targets", None) or [getattr(node, "target", None)]
        if isinstance(value, ast.Lambda) and isinstance(targets[0], ast.Name) and lambdas.count(value.lineno) == 1:
            called[value.lineno] = targets[0].id
    return [(each, _renamed(name, called.get(each.co_firstlineno))) for each, name in inner]


def _renamed(name, called):
    return name[: -len(_LAMBDA)] + called if called and name.endswith(_LAMBDA) else name


def plain_name(qualname):
    """Without the functions that it was made in, as far as they tell nothing: `__create_fn__` is the maker of a dataclass."""
    return qualname.replace("__create_fn__.<locals>.", "").replace(".<locals>", "")


def lines_of(code):
    """The lines that hold instructions of this code, its beginning left out."""
    found = set()
    line = None
    for each in dis.get_instructions(code):
        if sys.version_info >= (3, 13):
            line = each.line_number
        elif each.starts_line is not None:
            line = each.starts_line
        if line and each.opname not in _BEGINNING:
            found.add(line)
    return found


class Statements:
    """What the source says of a function's lines: loops, and the first line of each statement that has several."""

    def __init__(self, code):
        self.loops = []
        self.first = {}
        self.lines = lines_of(code)
        self.last = max(self.lines or [code.co_firstlineno])
        self.whole_loops = set()
        self.withs = {}
        tree = _tree(code.co_filename)
        if tree is None:
            return
        low, high = code.co_firstlineno, self.last
        for node in ast.walk(tree):
            begin = getattr(node, "lineno", None)
            if begin is None or not isinstance(node, ast.stmt) or begin > high or node.end_lineno < low:
                continue
            self._take(node, begin)

    def _take(self, node, begin):
        body = getattr(node, "body", None)
        last = node.end_lineno
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            if body[0].lineno == begin:
                self.whole_loops.add(begin)
            if body[0].lineno != begin or sys.version_info < (3, 12):  # sys.monitoring tells no turn within a line
                self.loops.append((self._turns_at(begin, last), last))
        if isinstance(node, (ast.With, ast.AsyncWith)):
            self.withs[begin] = last
        if body:
            begin = min([begin] + [each.lineno for each in getattr(node, "decorator_list", ())])
            last = max(begin, body[0].lineno - 1)
            if isinstance(node, ast.Try):
                return
        heads = [(case.pattern.lineno, case.body[0].lineno - 1) for case in getattr(node, "cases", ())]
        if heads:  # a match: what is in its cases are statements of their own, and no more lines of it
            last = heads[0][0] - 1
        for head, end in [(begin, last)] + heads:
            self.first.update((line, head) for line in range(head + 1, end + 1))

    def _turns_at(self, begin, last):
        """The line that each turn of a loop begins with: of `while True:` until 3.9 the next one, as it is no code itself."""
        if sys.version_info >= (3, 10):
            return begin
        return min((each for each in self.lines if begin <= each <= last), default=begin)


_trees = {}


def _tree(filename):
    """The parsed source; None where there is none, or it is of another version."""
    path = real(filename)
    if path not in _trees:
        try:
            with open(path, "rb") as file:
                _trees[path] = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            _trees[path] = None
    return _trees[path]


def changers(code, statements):
    """Statement by statement: the names that it binds, and those whose values it may change without binding them."""
    found = {}
    cells = set(code.co_cellvars) | set(code.co_freevars)
    line = code.co_firstlineno
    for each in dis.get_instructions(code):
        if sys.version_info >= (3, 13):
            line = each.line_number or line
        elif each.starts_line is not None:
            line = each.starts_line
        bound, used, acts = found.setdefault(statements.first.get(line, line), (set(), set(), [False]))
        name = each.opname
        given = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        given = [one for one in given if isinstance(one, str)]
        if name.startswith(("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")):
            bound.update(given)
        elif name.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            used.update(given)
        elif name in ("STORE_NAME", "DELETE_NAME") and not code.co_flags & FUNCTION:
            bound.update(given)
        elif name == "LOAD_NAME" and not code.co_flags & FUNCTION:
            used.update(given)
        if name.startswith(
            ("CALL", "FOR_ITER", "SEND", "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "DELETE_", "INPLACE")
        ):
            acts[0] = True
        elif name in ("BINARY_OP", "YIELD_FROM", "LIST_APPEND", "LIST_EXTEND", "WITH_CLEANUP_START", "END_FOR"):
            acts[0] = True
    hidden = lambda name: name[:1] in "@." or name.startswith("_[")  # noqa: E731
    return {
        line: (
            tuple(sorted(one for one in bound if not hidden(one))),
            tuple(sorted(one for one in (used | cells if acts[0] else cells & used) - bound if not hidden(one))),
        )
        for line, (bound, used, acts) in found.items()
    }


class Elsewhere:
    """Every offset but these."""

    def __init__(self, offsets):
        self.offsets = offsets

    def __contains__(self, offset):
        return offset not in self.offsets


def thrown_at(code):
    """Where a line that waits takes the error that is thrown into it: from 3.13 on Python tells of it as if a line began."""
    if not code.co_flags & PAUSES:
        return frozenset()
    told = code.co_code
    return frozenset([offset for offset in range(0, len(told), 2) if told[offset] == _THROWN])


def taken_up_at(code):
    """Where a line is gone on with after an error, and no hit of it begins: the same, and from 3.12 on where the variables of a
    comprehension are unbound."""
    comprehensions = sf_turns.undone(code)
    return thrown_at(code) | (comprehensions.offsets if comprehensions is not None else frozenset())


def entries(code, line, statements):
    """Where a statement is come to from outside of it: its lines, each with the offsets, or None where every one will do.

    One of several lines may begin with any of them, and goes to and fro between them; a `with` is come back to from its body.
    """
    last = statements.withs.get(line)
    thrown = taken_up_at(code)
    if last is None and line not in statements.first.values():
        return {line: Elsewhere(thrown) if thrown else None}
    found, before = {}, None
    for offset, raw in dis.findlinestarts(code):
        at = statements.first.get(raw, raw)
        inside = last is not None and before is not None and line < before <= last
        if at == line and before != line and not inside and offset not in thrown:
            found.setdefault(raw, set()).add(offset)
        before = at
    return {raw: frozenset(offsets) for raw, offsets in found.items()}
