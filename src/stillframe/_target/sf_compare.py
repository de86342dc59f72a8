"""Whether a value is still what it was, without keeping it alive or asking it: by identity, and by a print of what it holds."""

import array
import collections
import types

from .sf_fields import module_of, name_of, own_dict
from .sf_iterators import ITERATORS, left_of
from .sf_known import PAUSABLE, pausable_state

ATOMS = frozenset({
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), range, type(len), type(lambda: 0), type,
})  # fmt: skip
_FEW = 32  # items that are looked into one level further
_FEW_INSIDE = 64  # things inside of these that are looked into, as long as there are no more of them in all
_MANY = 4096  # items that are looked at one by one
_SOME = 512  # items of a larger array that are looked at
_KEYS = frozenset({str, int, float, bool, type(None)})
_LONGEST_KEY = 40
_TOLD = 3  # parts that are told one by one
GONE = object()
IN_PART = set()  # the types of values of which not everything was looked at


def is_own(kind):
    """Whether a class is the user's: what a library's object holds inside is no news. Whoever can tell puts it in here."""
    return True


def held(value):
    """What to remember of a value: an atom itself, else who it is and a print of what it holds, three levels deep where that is
    not much, else two."""
    try:
        return value if type(value) in ATOMS else (id(value), _print(value, 2))
    except Exception:  # a class whose metaclass cannot be hashed or compared
        return id(value), 0


def is_same(before, now):
    """Whether what is remembered of two values says that they are one, or equal atoms of one type."""
    return before is now or (type(before) is type(now) and before == now)


def changed_parts(before, now, value):
    """The few parts of an object that are others now, each as it is written behind the object's name, with what is there (GONE
    where nothing is any more), and whether it was put before what was there. None where it is another object, or nobody can tell.
    """
    for deep in (3, 2, 1):  # where they are many, those that they are in
        found = []
        _collect("", before, now, (value, False), deep, found)
        if len(found) <= _TOLD:
            return found if all(path for path, _, _ in found) else []
    return []


def _collect(path, before, now, here, deep, found):
    value, came = here
    edits = None
    if deep and type(before) is tuple and type(now) is tuple and before[0] == now[0]:
        edits = _edits(before[1], now[1], value)
    if not edits or len(edits) > _TOLD:
        found.append((path, value, came))
        return
    for step, old, new, part in edits:
        _collect(path + step, old, new, part, deep - 1, found)


def _edits(before, now, value):
    """By which items two prints differ: how each is reached, what was and is known of it, and the item; None where that cannot be
    told. What is gone is reached as it was."""
    if not (type(before) is type(now) is tuple and type(before[1]) is type(now[1]) is tuple):
        return None
    olds, news = before[1], now[1]
    kind = type(value)
    if issubclass(kind, dict):
        return _edits_by_key(before, now, list(dict.values(value)))
    if issubclass(kind, (list, tuple, collections.deque)):
        return _edits_in_a_row(olds, news, list(_row_of(kind).__iter__(value)))
    if issubclass(kind, (set, frozenset)) or len(olds) > len(news):
        return None
    named = _names_of(value, kind)
    places = [at for at, new in enumerate(news) if at >= len(olds) or olds[at] != new]
    if len(named) < len(news) or (len(olds) < len(news) and places[0] < len(olds)):
        return None
    return [
        ("." + named[at][0], olds[at] if at < len(olds) else None, news[at], (named[at][1], False)) for at in places
    ]


def _row_of(kind):
    return next(base for base in (list, tuple, collections.deque) if issubclass(kind, base))


def _edits_by_key(before, now, items):
    """Of a dict, wherever in it they are."""
    if len(before) < 3 or len(now) < 3 or len(items) != len(now[1]):
        return None
    olds, news = dict(zip(before[2], before[1])), dict(zip(now[2], now[1]))
    found = [
        (key, olds.get(key), new, (item, False))
        for (key, new), item in zip(news.items(), items)
        if olds.get(key) != new
    ]
    found += [(key, None, None, (GONE, False)) for key in olds if key not in news]
    if any(type(key) not in _KEYS or len(repr(key)) > _LONGEST_KEY for key, _, _, _ in found):
        return None
    return [("[%r]" % (key,), *rest) for key, *rest in found]


def _edits_in_a_row(olds, news, items):
    """Of a list: items that are others in their places, and what was put in or taken out in one place."""
    if len(items) != len(news):
        return None
    if len(olds) == len(news):
        return [
            ("[%d]" % at, olds[at], news[at], (items[at], False)) for at in range(len(news)) if olds[at] != news[at]
        ]
    fewer = min(len(olds), len(news))
    alike = [_who(old) == _who(new) for old, new in zip(olds, news)]
    front = alike.index(False) if False in alike else fewer
    back = 0
    while back < fewer - front and _who(olds[-1 - back]) == _who(news[-1 - back]):
        back += 1
    if front + back < fewer:
        return None
    found = [("[%d]" % at, olds[at], news[at], (items[at], False)) for at in range(front) if olds[at] != news[at]]
    found += [("[%d]" % at, None, news[at], (items[at], back > 0)) for at in range(front, len(news) - back)]
    found += [("[%d]" % at, None, None, (GONE, False)) for at in range(front, len(olds) - back)]
    for at in range(-back, 0):
        if olds[at] != news[at]:
            found.append(("[%d]" % (len(news) + at), olds[at], news[at], (items[at], False)))
    return found


def _who(mark):
    """Which object a mark in a print is of."""
    return mark[0] if type(mark) is tuple else mark


def _items(values, deeper):
    """Of a few items a mark for each, so that the one that changes can be told."""
    if len(values) > _FEW:
        return hash(tuple(map(id, values)))
    inner = [each for each in values if type(each) not in ATOMS] if deeper else ()
    if not inner:
        return tuple(map(id, values))
    if deeper > 1 and sum(map(_size, inner)) > _FEW_INSIDE:
        deeper = 1
    return tuple([id(each) if type(each) in ATOMS else (id(each), _print(each, deeper - 1)) for each in values])


def _size(value):
    """How many things it holds that would be looked into, too."""
    kind = type(value)
    if kind in _SIZED:
        return len(value)
    return len(_names_of(value, kind)) if _is_own(kind) else 0


def _is_own(kind):
    found = _owned.get(kind)
    if found is None:
        found = _owned[kind] = is_own(kind)
    return found


def _print(value, deeper):
    kind = type(value)
    printer = _printers.get(kind)
    if printer is None:
        printer = _printers[kind] = _printer(kind)
    return printer(value, deeper)


def _printer(kind):
    """How a value of this type is looked into, found once."""
    found = _PRINTERS.get(kind)
    if found is not None:
        return found
    if len(_printers) > _MANY:  # a program that makes classes as it runs may want to lose them, too
        _printers.clear()
        _owned.clear()
    if name_of(kind) == "ndarray" and module_of(kind) == "numpy":
        return _of_array
    if name_of(kind) in ("DataFrame", "Series") and module_of(kind).partition(".")[0] == "pandas":
        return _of_table
    if issubclass(kind, array.array):
        return lambda value, deeper: (
            _in_part(kind, array.array.__len__(value)), hash(array.array.tobytes(value[:_MANY])),
        )  # fmt: skip
    if issubclass(kind, dict):
        return _of_dict
    for base, items in _BASES:
        if issubclass(kind, base):
            return lambda value, deeper: (
                _in_part(kind, base.__len__(value)), _items(list(items(value))[:_MANY], deeper),
            )  # fmt: skip
    if _is_own(kind):
        return lambda value, deeper: _of_object(value, kind, deeper)
    return lambda value, deeper: _of_object(value, kind, max(deeper - 1, 0))


def _of_list(value, deeper):
    if len(value) > _MANY:
        return _in_part(type(value), len(value)), hash(tuple(map(id, value[:64] + value[-64:])))
    return len(value), _items(value, deeper)


def _of_dict(value, deeper):
    size = dict.__len__(value)
    if size > _MANY:
        return _in_part(type(value), size), 0
    items = _items(list(dict.values(value)), deeper)
    if size > _FEW:
        return size, items
    return size, items, tuple([key if type(key) in _KEYS else (id(key),) for key in dict.keys(value)])


def _of_set(value, deeper):
    return _in_part(type(value), len(value)), hash(tuple(map(id, value))) if len(value) <= _MANY else 0


def _of_iterator(value, deeper):
    return left_of(value)


def _of_pausable(value, deeper):
    return pausable_state(value).partition(" ")[0]


def _of_bytes(value, deeper):
    return _in_part(bytearray, len(value)), hash(bytes(value[:_MANY]))


_PRINTERS = {
    list: _of_list, tuple: _of_list, dict: _of_dict, set: _of_set, frozenset: _of_set, bytearray: _of_bytes,
}  # fmt: skip
_SIZED = frozenset(_PRINTERS)
_PRINTERS.update((kind, _of_iterator) for kind in ITERATORS)  # nothing of them is other but how far they were taken
_PRINTERS.update((kind, _of_pausable) for kind in PAUSABLE)
_printers, _owned = {}, {}  # by type, as they come


def _in_part(kind, size):
    if size > _MANY:
        IN_PART.add(kind)
    return size


_BASES = (
    (list, list.__iter__),
    (set, set.__iter__),
    (collections.deque, collections.deque.__iter__),
)


def _of_array(value, deeper=0):
    if _in_part(type(value), value.size) > _MANY:  # some of them, from all over it
        value = value.flat[:: value.size // _SOME]
    return value.size, _items(value.ravel().tolist(), 0) if value.dtype.kind == "O" else hash(value.tobytes())


def _of_table(value, deeper=0):
    """By what pandas keeps it in: its attributes are caches that reading it fills, and the columns are behind one of them."""
    try:
        kept = object.__getattribute__(value, "_mgr")
        prints = [id(axis) for axis in kept.axes]
        for block in kept.blocks:
            values = block.values
            prints.append(id(values) if name_of(type(values)) != "ndarray" else _of_array(values))
        return len(prints), hash(tuple(prints))
    except Exception:  # a pandas that keeps it otherwise
        return _of_object(value, type(value), 1)


def _of_object(value, kind, deeper):
    values = [each for _, each in _names_of(value, kind)]
    return (len(values), _items(values, deeper)) if values else 0


def _names_of(value, kind):
    """The attributes that an object has by itself, those of its dict and then its slots."""
    named = list(own_dict(value).items())
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
