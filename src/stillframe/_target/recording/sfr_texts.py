"""Values as bounded text, without running any code of the program: an object is told by its attributes, never by its own repr."""

import enum
import types

from . import sf_known, sf_values
from .sfr_told import quoted

COUNT = 16
"""Characters that the number of what was left out may take."""
_PLAIN = frozenset({float, bool, type(None)})
UNTOLD = frozenset(sf_known.NAMED + (type, types.ModuleType))
"""What is no news in a function: its modules, classes and functions."""


class _Writer(sf_values._Writer):
    """What is left out of the outermost value is counted: there is no asking for more of it later."""

    def text(self, value, room, depth):
        text = sf_values._Writer.text(self, value, room, depth)
        if not self.path and text.endswith("…") and type(value) in (str, bytes, bytearray):
            return "%s of %s" % (text, "{:,}".format(len(value)))
        return text

    def _rest(self, left):
        return "… {:,} more".format(left) if len(self.path) == 1 else sf_values.MORE

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


class Texts:
    """Writes values within the bounds that were asked for."""

    def __init__(self, room):
        self.room = room
        self.bounds = sf_values.Bounds(room, 8, 0.2)

    def text(self, value):
        kind = type(value)
        if _is_number(value, kind):
            return repr(value)
        if kind is str and len(value) < self.room // 2:
            text = repr(value)
            if len(text) <= self.room:
                return text
        try:
            text = _Writer(self.bounds).text(value, self.room, sf_values.DEPTH)
            if len(text) <= self.room:
                return text
            return _Writer(self.bounds).text(value, self.room - COUNT, sf_values.DEPTH)
        except Exception as error:  # a container that another thread changes, a class that fails when looked at
            return "<%s that could not be read: %s>" % (kind.__name__, type(error).__name__)

    def quoted(self, value):
        if _is_number(value, type(value)):
            return '"' + repr(value) + '"'
        return quoted(self.text(value))

    def exception(self, error):
        """`Type: message`, with the message from its arguments where its class has no str of its own."""
        name = type(error).__name__
        plain = type(error).__str__ in (BaseException.__str__, Exception.__str__, KeyError.__str__, OSError.__str__)
        try:
            if plain:
                text = str(error)
            elif getattr(error, "args", ()):
                text = ", ".join(each if type(each) is str else self.text(each) for each in error.args[:3])
            else:
                text = ""
        except Exception:  # what an exception holds may be anything
            text = ""
        text = text if len(text) <= 300 else text[:299] + "…"
        return "%s: %s" % (name, text) if text else name
