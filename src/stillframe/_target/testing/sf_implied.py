"""Calls that nothing in a statement spells out: of properties, and of what a class says of its operators."""

import ast
import functools
import types

_NOTHING = object()
_SHOWN = frozenset({"__init__", "__new__", "__repr__", "__str__", "__hash__", "__del__", "__init_subclass__"})
_CACHED = getattr(functools, "cached_property", property)


def calls_own(parts, frame, is_user):
    """Whether one of these expressions, in this frame, runs code of the user's without a call that is written out."""
    return any(_is_own(each, frame, is_user) for part in parts for each in ast.walk(part))


def _is_own(node, frame, is_user):
    if isinstance(node, ast.Attribute):
        value = _value(node.value, frame)
        return value is not _NOTHING and _is_computed(type(value), node.attr, is_user)
    return any(_has_operators(_value(each, frame), is_user) for each in _operands(node))


def _operands(node):
    """What a class may have a say in: sides of comparisons and of arithmetic, what is looked into, arguments of builtins."""
    if isinstance(node, ast.Compare):
        return [node.left] + node.comparators
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Subscript):
        return [node.value]
    return node.args if isinstance(node, ast.Call) else []


def _value(node, frame):
    """What a name, or an attribute that is kept as one, stands for; nothing of the program's is run to find out."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _NOTHING))
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame)
        try:
            return object.__getattribute__(owner, "__dict__").get(node.attr, _NOTHING)
        except AttributeError:
            return _NOTHING
    return _NOTHING


def _is_computed(kind, name, is_user):
    found = next((each.__dict__[name] for each in type.mro(kind) if name in each.__dict__), None)
    made = found.fget if isinstance(found, property) else found.func if isinstance(found, _CACHED) else None
    return isinstance(made, types.FunctionType) and is_user(made.__code__)


def _has_operators(value, is_user):
    if value is _NOTHING or isinstance(value, type):
        return False
    special = (
        each
        for kind in type.mro(type(value))
        for name, each in kind.__dict__.items()
        if name.startswith("__") and name not in _SHOWN and isinstance(each, types.FunctionType)
    )
    return any(is_user(each.__code__) for each in special)
