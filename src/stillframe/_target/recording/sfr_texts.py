"""Values as bounded text, without running any code of the program: an object is told by its attributes, never by its own repr."""

import enum
import math
import types

from . import sf_known, sf_shapes, sf_values
from .sfr_told import quoted

_CONTAINERS = frozenset({list, tuple, dict})
COUNT = 16
"""Characters that the number of what was left out may take."""
_PLAIN = frozenset({float, bool, type(None)})
_SHORT = frozenset({int, str}) | _PLAIN
_FEW = 8
"""Items of a container that are told, and of which all are, where they are short."""
_LOOKS = 2000000
"""Items that are looked through in all, to say what long values are like: a tenth of a second's work. Of what comes after
these, the first items alone are told."""
_KEPT = _LOOKS // 2
"""Of these, for values that are seen for the first time: one that a loop changes again and again does not use them up."""
_TABLE = 2000
"""What an array or a table costs at the least, in items of a list: a library is asked."""
_WORDS = 160
"""Characters about all of a value."""
UNTOLD = frozenset(sf_known.NAMED + (type, types.ModuleType))
"""What is no news in a function: its modules, classes and functions."""


class _Writer(sf_values._Writer):
    """What is left out of the outermost value is counted, and `like` says what all of it is like, if it is given: there is no
    asking for more of it later."""

    def __init__(self, bounds, like=None):
        sf_values._Writer.__init__(self, bounds)
        self.like = like
        self.beside = 0  # characters that this took, which are not the value's own

    def text(self, value, room, depth):
        text = sf_values._Writer.text(self, value, room, depth)
        if not self.path and text.endswith("…") and type(value) in (str, bytes, bytearray):
            return "%s of %s" % (text, "{:,}".format(len(value)))
        return text

    def _rest(self, left):
        if len(self.path) != 1:
            return sf_values.MORE
        return self._with_like("… {:,} more".format(left), 0, " (%s)")

    def _kind(self, value, table):
        count = math.prod(getattr(table, "shape", (table.length or 0,)))
        if len(self.path) != 1 or count <= _FEW:
            return table.kind
        return self._with_like(table.kind, _TABLE + count // 10, ", %s")

    def _with_like(self, text, cost, form):
        words = self.like(cost) if self.like else None
        if not words:
            return text
        words = form % (words if len(words) <= _WORDS else words[: _WORDS - 1] + "…")
        self.beside = len(words)
        return text + words

    def _asked(self, value, room):
        kind = type(value)
        if issubclass(kind, enum.Enum):
            return self._short(sf_known.enum_form(value, kind), room)
        try:
            attributes = sf_values.attributes_of(value)
        except Exception:  # an object of somebody's own making may refuse to be looked at
            attributes = []
        if not attributes:
            return self._short("<%s>" % kind.__name__, room)
        return self._fields(kind.__name__, attributes, room, 2)


def _is_number(value, kind):
    """Whether its repr is short, and nothing in it needs an escape."""
    return kind in _PLAIN or (kind is int and -(1 << 63) < value < (1 << 63))


class _Like:
    """What all of one value is like, looked up once."""

    def __init__(self, texts, value, kept):
        self.texts = texts
        self.value = value
        self.kept = kept
        self.found = None

    def __call__(self, cost):
        if self.found is None:
            self.found = self.texts.shape(self.value, cost, self.kept) or ""
        return self.found


class Texts:
    """Writes values within the bounds that were asked for."""

    def __init__(self, room):
        self.room = room
        self.little = room // 3  # where neither a key nor an item may be cut for the others' sake
        self.bounds = sf_values.Bounds(room, _FEW, 0.2)
        self.looks = _LOOKS

    def text(self, value, summed=False, again=False):
        """Its text; `summed`: with what all of it is like, where it is long, beyond the characters of a value. `again`: it was
        told before, and has changed since."""
        kind = type(value)
        if _is_number(value, kind):
            return repr(value)
        if kind is str and len(value) < self.room // 2:
            text = repr(value)
            if len(text) <= self.room:
                return text
        try:
            if kind in _CONTAINERS:
                text = self._plainly(value, kind)
                if text is not None:
                    return text
            like = _Like(self, value, _KEPT if again else 0) if summed else None
            writer = _Writer(self.bounds, like)
            text = writer.text(value, self.room, sf_values.DEPTH)
            if len(text) - writer.beside <= self.room:
                return text
            return _Writer(self.bounds, like).text(value, self.room - COUNT, sf_values.DEPTH)
        except Exception as error:  # a container that another thread changes, a class that fails when looked at
            return sf_values.unread(value, error)

    def shape(self, value, cost, kept):
        """A few words about all of a value, as long as not too many were looked through for such."""
        cost = max(cost, sf_values._length_of(value) or 0)
        if cost > self.looks - kept:
            return None
        self.looks -= cost
        return sf_shapes.shape_of(value, self.bounds.seconds)

    def _plainly(self, value, kind):
        """A container of a few short things as the writer would, at a tenth of the price: what is changed again and again
        is mostly such a one. None where there is more to it, or where it may not fit."""
        if len(value) > _FEW:
            return None
        try:
            if not self._are_short(value) or (kind is dict and not self._are_short(value.values())):
                return None
            text = repr(value)
        except (RuntimeError, ValueError):  # another thread changes it, or a number has too many digits
            return None
        return text if len(text) <= self.little else None

    def _are_short(self, items):
        for each in items:
            kind = type(each)
            if kind not in _SHORT or (kind is str and len(each) > self.little):
                return False
        return True

    def quoted(self, value, summed=False, again=False):
        if _is_number(value, type(value)):
            return '"' + repr(value) + '"'
        return quoted(self.text(value, summed, again))

    def exception(self, error):
        """`Type: message`, with the message from its arguments where its class has a str of its own, or one of them may have."""
        name = type(error).__name__
        plain = type(error).__str__ in (BaseException.__str__, Exception.__str__, KeyError.__str__, OSError.__str__)
        try:
            if plain and all(type(each) in _SHORT for each in error.args):
                text = str(error)
            elif getattr(error, "args", ()):
                text = ", ".join(each if type(each) is str else self.text(each) for each in error.args[:3])
            else:
                text = ""
        except Exception:  # what an exception holds may be anything
            text = ""
        text = text if len(text) <= 300 else text[:299] + "…"
        return "%s: %s" % (name, text) if text else name
