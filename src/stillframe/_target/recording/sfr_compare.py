"""Whether a value is still what it was, without keeping it alive or asking it: by identity, and by a print of what it holds."""

import array
import collections
import types

ATOMS = frozenset({
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), range, type(len), type(lambda: 0), type,
})  # fmt: skip
_FEW = 32  # items that are looked into one level further
_MANY = 4096  # items that are looked at one by one
_SOME = 512  # items of a larger array that are looked at
_KEYS = frozenset({str, int, float, bool, type(None)})
_LONGEST_KEY = 40
_TOLD = 3  # parts that are told one by one
GONE = object()
IN_PART = set()  # the types of values of which not everything was looked at


def held(value):
    """What to remember of a value: an atom itself, else who it is and a print of what it holds."""
    return value if type(value) in ATOMS else (id(value), _print(value, 1))


def is_same(before, now):
    """Whether what is remembered of two values says that they are one, or equal atoms of one type."""
    return before is now or (type(before) is type(now) and before == now)


def changed_parts(before, now, value):
    """The few parts of an object that are others now, each as it is written behind the object's name and with what is there; none
    where it is another object, or nobody can tell which they are."""
    for deep in (2, 1):  # where they are many, those that they are in
        found = []
        _collect("", before, now, value, deep, found)
        if len(found) <= _TOLD:
            return found if all(path for path, _ in found) else []
    return []


def _collect(path, before, now, value, deep, found):
    places = None
    if deep and type(before) is tuple and type(now) is tuple and before[0] == now[0]:
        places = _changed_places(before[1], now[1])
    steps = [_step(value, at) for at in places or ()]
    if not steps or None in steps or len(steps) > _TOLD:
        found.append((path, value))
        return
    olds, news = before[1][1], now[1][1]
    for at, (step, part) in zip(places, steps):
        _collect(path + step, olds[at] if at < len(olds) else None, news[at], part, deep - 1, found)


def _changed_places(before, now):
    """Where the items are that are others, or that came at the end; None where that cannot be told."""
    if type(before) is not tuple or type(now) is not tuple or type(before[1]) is not tuple or type(now[1]) is not tuple:
        return None
    olds, news = before[1], now[1]
    differing = [at for at, (old, new) in enumerate(zip(olds, news)) if old != new]
    if len(olds) == len(news):
        return differing
    return list(range(len(olds), len(news))) if not differing and len(news) > len(olds) else None


def _step(value, at):
    """How an item is reached that a print has in that place, and the item."""
    kind = type(value)
    if issubclass(kind, (list, tuple)):
        return "[%d]" % at, (list if issubclass(kind, list) else tuple).__getitem__(value, at)
    if issubclass(kind, dict):
        key, item = list(dict.items(value))[at]
        return ("[%r]" % (key,), item) if type(key) in _KEYS and len(repr(key)) <= _LONGEST_KEY else None
    if issubclass(kind, collections.deque):
        return "[%d]" % at, list(collections.deque.__iter__(value))[at]
    if issubclass(kind, (set, frozenset)):
        return None
    names = _names_of(value, kind)
    return ("." + names[at][0], names[at][1]) if at < len(names) else None


def _items(values, deeper):
    """Of a few items a mark for each, so that the one that changes can be told."""
    if len(values) > _FEW:
        return hash(tuple(map(id, values)))
    if not deeper:
        return tuple(map(id, values))
    return tuple([id(each) if type(each) in ATOMS else (id(each), _print(each, deeper - 1)) for each in values])


def _print(value, deeper):
    kind = type(value)
    if kind is list or kind is tuple:
        if len(value) > _MANY:
            return _in_part(kind, len(value)), hash(tuple(map(id, value[:64] + value[-64:])))
        return len(value), _items(value, deeper)
    if kind is dict:
        if len(value) > _MANY:
            return _in_part(kind, len(value)), 0
        return len(value), _items(list(value.values()), deeper)
    if kind is set or kind is frozenset:
        return _in_part(kind, len(value)), hash(tuple(map(id, value))) if len(value) <= _MANY else 0
    if kind is bytearray:
        return _in_part(kind, len(value)), hash(bytes(value[:_MANY]))
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        return _of_array(value)
    if kind.__name__ in ("DataFrame", "Series") and kind.__module__.partition(".")[0] == "pandas":
        return _of_table(value)
    if issubclass(kind, array.array):
        return _in_part(kind, array.array.__len__(value)), hash(array.array.tobytes(value[:_MANY]))
    for base, items in _BASES:
        if issubclass(kind, base):
            return _in_part(kind, base.__len__(value)), _items(list(items(value))[:_MANY], deeper)
    return _of_object(value, kind, deeper)


def _in_part(kind, size):
    if size > _MANY:
        IN_PART.add(kind)
    return size


_BASES = (
    (list, list.__iter__),
    (dict, dict.values),
    (set, set.__iter__),
    (collections.deque, collections.deque.__iter__),
)


def _of_array(value):
    if _in_part(type(value), value.size) > _MANY:  # some of them, from all over it
        value = value.flat[:: value.size // _SOME]
    return value.size, _items(value.ravel().tolist(), 0) if value.dtype.kind == "O" else hash(value.tobytes())


def _of_table(value):
    """By what pandas keeps it in: its attributes are caches that reading it fills, and the columns are behind one of them."""
    try:
        kept = object.__getattribute__(value, "_mgr")
        prints = [id(axis) for axis in kept.axes]
        for block in kept.blocks:
            values = block.values
            prints.append(id(values) if type(values).__name__ != "ndarray" else _of_array(values))
        return len(prints), hash(tuple(prints))
    except Exception:  # a pandas that keeps it otherwise
        return _of_object(value, type(value), 1)


def _of_object(value, kind, deeper):
    values = [each for _, each in _names_of(value, kind)]
    return (len(values), _items(values, deeper)) if values else 0


def _names_of(value, kind):
    """The attributes that an object has by itself, those of its dict and then its slots."""
    try:
        inside = object.__getattribute__(value, "__dict__")
    except Exception:  # no dict, or one that is code of the program's
        inside = None
    named = list(inside.items()) if type(inside) is dict else []
    for slot in _slots(kind):
        try:
            named.append((slot.__name__, slot.__get__(value, kind)))
        except AttributeError:  # not filled yet
            named.append((slot.__name__, None))
    return named


_known_slots = {}


def _slots(kind):
    """The slots that a class declares; builtin ones have none that could be looked into."""
    found = _known_slots.get(kind)
    if found is None:
        mro = type.__dict__["__mro__"].__get__(kind)
        found = [
            each
            for base in mro
            if "__slots__" in base.__dict__
            for each in base.__dict__.values()
            if type(each) is types.MemberDescriptorType
        ]
        _known_slots[kind] = found
    return found
