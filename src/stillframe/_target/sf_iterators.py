"""Iterators of the interpreter, by how much is left of them: one that was used up gives nothing, without an error, and that is a
fault which no other value shows. Asked are the interpreter's own classes alone, so that nothing of the program's runs."""

import collections
import types

_DEEP = 4  # how far iterators over iterators are followed
_BOTH = {}  # that can be walked from both ends
_PLAIN = frozenset(map(type, (
    iter([]), iter(()), iter(""), iter("é"), iter(b""), iter(bytearray()), iter(range(0)), iter(range(1 << 70)),
    iter(_BOTH), iter(_BOTH.values()), iter(_BOTH.items()), iter(set()), iter(collections.deque()),
    reversed([]), reversed(()), reversed(_BOTH), reversed(collections.deque()),
)))  # fmt: skip
ITERATORS = _PLAIN | {map, zip, filter, enumerate}


def iterator_form(value):
    """`<map, 3 left>`: as many as it can still give, at the most where that depends on what it finds or asks for."""
    kind = type(value)
    left, sure = _left(value, _DEEP)
    if left is None:
        return "<%s>" % kind.__name__
    return "<%s, %s%s left>" % (kind.__name__, "" if sure or not left else "at most ", "{:,}".format(left))


def left_of(value):
    """How many it can still give at the most; None where nobody can know without asking it for them."""
    return _left(value, _DEEP)[0]


def _left(value, deep):
    """How many are left, and whether it is surely so many."""
    kind = type(value)
    if kind in _PLAIN:
        left = kind.__length_hint__(value) if hasattr(kind, "__length_hint__") else None
        return (left, True) if type(left) is int else (None, False)
    if kind is types.GeneratorType:  # what it will still give is its own affair, unless it is over
        return (0, True) if value.gi_frame is None else (None, False)
    if kind not in ITERATORS or not deep:
        return None, False
    known = [_left(each, deep - 1) for each in _sources(value, kind)]
    counts = [left for left, _ in known if left is not None]
    if not counts:
        return None, False
    return min(counts), kind is not filter and all(sure for _, sure in known)


def _sources(value, kind):
    """The iterators that it takes from, as it tells them itself when it is to be copied."""
    parts = kind.__reduce__(value)[1]
    if kind is enumerate:
        return parts[:1]
    return parts if kind is zip else parts[1:]
