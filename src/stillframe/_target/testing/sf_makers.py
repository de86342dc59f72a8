"""Which lines of a function made what its failing statement uses, and whether any of them calls code that could tell more."""

import ast
import builtins
import re

from sf_implied import calls_own
from sf_statements import end_of, is_literal, names_of, statement, tree_of

_BUILTINS = frozenset(dir(builtins))


def makers(frame, line, is_user):
    """The lines of a frame's function that made what its failing statement uses, that one included, and the names: of what is
    made there, of all that goes into it, and of the parts of objects that do."""
    file = frame.f_code.co_filename
    node, tree = statement(file, line), tree_of(file)
    inside = [
        each
        for each in (ast.walk(tree) if tree is not None else ())
        if isinstance(each, ast.stmt) and frame.f_code.co_firstlineno <= each.lineno <= line
    ]
    # A `with` that fails as it is left, as one does that waits for an error in vain, is about all that ran in it.
    last = (
        node.end_lineno if isinstance(node, (ast.With, ast.AsyncWith)) else end_of(node) if node is not None else line
    )
    wanted, lines = set(names_of(node)), set(range(node.lineno if node is not None else line, last + 1))
    named = [name for name in names_of(node) if any(name in _stored(each) and _derives(each) for each in inside)]
    while True:
        before = len(lines)
        for each in inside:
            if (
                _stored(each) | _changed(each, frame, is_user)
            ) & wanted:  # what a `with` gives is made by what runs in it: an exception, what was printed
                end = each.end_lineno if isinstance(each, (ast.With, ast.AsyncWith)) else end_of(each)
                lines.update(range(each.lineno, min(end, max(line, each.lineno)) + 1))
                wanted.update(names_of(each))
        if len(lines) == before:
            used = [each for each in inside if each.lineno in lines] + [node]
            calls = any(_calls_out(each, frame, is_user) for each in used)
            calls = calls or any(calls_own(_heads(each), frame, is_user) for each in used)
            uses = dict.fromkeys([*names_of(node), *sorted(wanted)])
            parts = dict.fromkeys(part for each in used for part in _parts(each))
            return {
                "lines": sorted(lines)[-200:] if calls else [],
                "names": list(dict.fromkeys(named)),
                "uses": list(uses),
                "parts": list(parts),
            }


def _parts(node):
    """What a statement reads of objects, as `self.cart`; what it calls is none of these."""
    inside = [each for part in _heads(node) for each in ast.walk(part)]
    called = [each.func for each in inside if isinstance(each, ast.Call)]
    for each in inside:
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each not in called:
            yield "%s.%s" % (each.value.id, each.attr)


def _heads(node):
    """A statement without those inside it."""
    return [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)] if node is not None else []


def _calls_out(node, frame, is_user):
    """Whether a statement calls anything but builtins, and what unittest itself claims things by."""
    calls = [each.func for part in _heads(node) for each in ast.walk(part) if isinstance(each, ast.Call)]
    return any(not _is_known(each, frame, is_user) for each in calls)


def _is_known(function, frame, is_user):
    if isinstance(function, ast.Name):
        return function.id in _BUILTINS
    if not isinstance(function, ast.Attribute) or not _CLAIMS.match(function.attr):
        return False
    case = type(frame.f_locals.get(function.value.id)) if isinstance(function.value, ast.Name) else object
    found = next((vars(each)[function.attr] for each in case.__mro__ if function.attr in vars(each)), None)
    return hasattr(found, "__code__") and not is_user(found.__code__)


_CLAIMS = re.compile(r"assert(?!Raises|Warns|Logs|NoLogs)|fail$")


def _derives(node):
    """Whether what a statement stores comes from elsewhere, not from what is written out there."""
    value = getattr(node, "value", None)
    return value is None or not is_literal(value)


def _stored(node):
    """The names that a statement gives values to: itself, or in its head."""
    found = {each.id for part in _heads(node) for each in ast.walk(part) if _is_store(each)}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return found


def _changed(node, frame, is_user):
    """The names of what a statement may change: what has the parts that it gives values to or takes out, and where it is
    nothing but a call, what has the method, and what is given to it."""
    stored = [each for part in _heads(node) for each in ast.walk(part) if _is_part(each)]
    changed = {each.id for each in map(_owner, stored) if isinstance(each, ast.Name)}
    call = getattr(node.value, "value", node.value) if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not _calls_out(node, frame, is_user):
        return changed
    given = [*call.args, *(each.value for each in call.keywords)]
    owner = _owner(call.func)
    given += [owner] if owner is not call.func else []
    return changed | {each.id for each in given if isinstance(each, ast.Name)}


def _owner(node):
    """What an attribute, an item or the result of a method belongs to, to the innermost."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _is_part(node):
    """Whether it is part of an object, and given a value or taken out there."""
    return isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del))


def _is_store(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
