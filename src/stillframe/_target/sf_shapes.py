"""What a long value is like as a whole, beside its first items: kinds, keys, extremes. Only exact builtins are looked through."""

import array
import collections
import math

from . import sf_tables
from .sf_fields import is_among, name_of

MOST = 20000  # items that are looked through; of more, nothing is claimed
KINDS = 3  # told at the most
KEYS = 6
_SEQUENCES = (list, tuple, set, frozenset, collections.deque)


def shape_of(value, seconds):
    """A few words about all of its items; None where there is nothing to say, or too much to look at."""
    kind = type(value)
    try:
        if is_among(kind, _SEQUENCES):
            return _of_items(value) if 0 < len(value) <= MOST else None
        if kind is array.array and 0 < len(value) <= MOST and value.typecode not in "uw":
            return "%s of type %s%s" % (_number(len(value)), value.typecode, _range(value))
        if kind is dict:
            return _of_dict(value) if 0 < len(value) <= MOST else None
    except RuntimeError:  # another thread changes it
        return None
    return sf_tables.extremes(value, seconds)


def _of_items(items):
    kinds = collections.Counter(map(type, items))
    if len(kinds) > KINDS:
        return "%s items of %d kinds" % (_number(len(items)), len(kinds))
    told = ", ".join(_counted(count, one) for one, count in kinds.most_common())
    if len(kinds) > 1:
        return told
    (one,) = kinds
    if one is int or one is float:
        return told + _range(items)
    if one is dict:
        return told + _keys(items)
    if one is str:
        lengths = list(map(len, items))
        return "%s of %s characters" % (told, _span(min(lengths), max(lengths)))
    return told


def _of_dict(value):
    keys, values = collections.Counter(map(type, value)), collections.Counter(map(type, value.values()))
    if len(keys) > 1 or len(values) > KINDS:
        return None
    told = ", ".join(_counted(count, one) for one, count in values.most_common())
    if len(values) > 1:
        return "%s keys to %s" % (_number(len(value)), told)
    (one,) = values
    extremes = _range(value.values()) if one is int or one is float else ""
    return "%s keys to %s%s" % (_number(len(value)), one.__name__, extremes)


def _range(items):
    """The extremes of exact numbers; those that are not a number are counted."""
    real = [one for one in items if one == one]
    nan = len(items) - len(real)
    told = ", %s" % _span(_short(min(real)), _short(max(real))) if real else ""
    return told + (", %s nan" % _number(nan) if nan else "")


def _keys(items):
    """The keys that all have; where they have not, how many have the usual ones."""
    if any(type(key) is not str for one in items for key in one):
        return ""
    ((usual, count), *others) = collections.Counter(frozenset(one) for one in items).most_common()
    first = next(one for one in items if frozenset(one) == usual)
    names = " ".join(list(first)[:KEYS]) + (" …" if len(first) > KEYS else "")
    if not others:
        return ", keys %s" % names if names else ""
    return ", %s of them with keys %s" % (_number(count), names)


def _counted(count, kind):
    name = name_of(kind)
    return "%s %s%s" % (_number(count), name, "" if count == 1 or name.endswith("s") else "s")


def _span(low, high):
    return "%s to %s" % (low, high) if low != high else "%s each" % (low,)


def _short(number):
    if type(number) is int and number.bit_length() > 128:
        return "an int of %d bits" % number.bit_length()
    return repr(number) if type(number) is int or math.isinf(number) else "%.6g" % number


def _number(count):
    return "{:,}".format(count)
