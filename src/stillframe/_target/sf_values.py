"""Values as bounded text, made inside the target: builtin containers are walked without running code of the program."""

import array
import collections
import itertools
import re
import types

# Beside pydevd in a debugged program, else beside `sf_plain`.
from . import sf_known, sf_shapes, sf_tables, sf_turns, sf_watch  # noqa: F401 (whoever reads frames has their turns from here)
from .sf_errors import held_by, notes_of  # noqa: F401 (given out from here, as `told` is)
from .sf_fields import attributes_of, class_attribute, fields_of, is_a, is_among, name_of

DEPTH = 3
PART = 80  # characters of a part that is told along with its value
MORE = "…"
INT_BITS = 4096  # beyond this the decimal digits are not computed
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_SEQUENCES = (
    (list, "[", "]"),
    (tuple, "(", ")"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
    (collections.deque, "deque([", "])"),
    (type({}.keys()), "dict_keys([", "])"),
    (type({}.values()), "dict_values([", "])"),
    (type({}.items()), "dict_items([", "])"),
)
_REMOTE = ("RemoteTraceback", "_RemoteTraceback")  # of multiprocessing.pool and concurrent.futures.process
_SCALARS = (bool, float, complex, type(None), type(Ellipsis), type(NotImplemented), range, slice)
_STRINGS = (str, bytes, bytearray)
_DICT_REPRS = (
    dict.__repr__,
    collections.OrderedDict.__repr__,
    collections.defaultdict.__repr__,
    collections.Counter.__repr__,
)
_STRING_REPRS = (str.__repr__, bytes.__repr__, bytearray.__repr__)


class Bounds:
    """How much of a value to tell: characters of text, items per container, seconds for code of the program."""

    def __init__(self, text=160, items=8, seconds=1.0):
        self.text = max(8, int(text))
        self.items = max(1, int(items))
        self.seconds = max(0.01, float(seconds))


class _Writer:
    """Writes one value's text within its bounds; `cut` tells that something was left out, `opaque` that a repr spoke."""

    def __init__(self, bounds):
        self.bounds = bounds
        self.cut = False
        self.failed = False
        self.opaque = False
        self.path = []

    def text(self, value, room, depth):
        if room <= 0:
            self.cut = True
            return MORE
        kind = type(value)
        if kind is int:
            return self._int(value)
        if is_among(kind, _SCALARS):
            return self._short(repr(value), room)
        if is_among(kind, _STRINGS):
            if kind is not str and 4 * len(value) > room and value.count(value[:1]) == len(value):
                return "%r * %d" % (value[:1], len(value))  # as a buffer that nothing was read into
            return self._string(value, room)
        if id(value) in self.path:
            return "{...}" if is_a(value, (dict, set)) else "[...]" if is_a(value, list) else "(...)"
        self.path.append(id(value))
        try:
            return self._compound(value, kind, room, depth)
        except sf_watch.Overdue:
            raise
        except Exception as error:
            self.failed = True
            return unread(value, error)
        finally:
            self.path.pop()

    def _int(self, value):
        bits = value.bit_length()
        if bits > min(INT_BITS, 3 * self.bounds.text):
            self.cut = True
            return "<int of %d bits>" % bits
        return repr(value)

    def _short(self, text, room):
        if len(text) <= room:
            return text
        self.cut = True
        return text[: max(room - 1, 0)] + MORE

    def _string(self, value, room):
        if len(value) + 2 <= room:
            text = repr(value)
            if len(text) <= room:
                return text
        self.cut = True
        count = max(room - 3, 1)
        while True:  # what is escaped takes several characters, and is told whole or not at all
            text = repr(value[:count])
            if len(text) < room or count == 1:
                return text + MORE
            count = max(1, min(count - 1, count * (room - 1) // len(text)))

    def _compound(self, value, kind, room, depth):
        plain = class_attribute(kind, "__repr__")
        for base, start, end in _SEQUENCES:
            if issubclass(kind, base) and plain is base.__repr__:
                if base is not kind:
                    start, end = name_of(kind) + "(" + start, end + ")"
                return self._sequence(value, base, start, end, room, depth)
        if plain in _DICT_REPRS:
            name = "" if kind is dict else name_of(kind)
            return self._mapping(value, name + "({" if name else "{", "})" if name else "}", room, depth)
        fields = fields_of(value, kind)
        if fields is not None:
            return self._fields(name_of(kind), fields, room, depth)
        if plain in _STRING_REPRS:
            return self._string(_base_slice(value, room), room)
        if plain is BaseException.__repr__:
            return self._sequence(value.args, tuple, name_of(kind) + "(", ")", room, depth)
        if kind is array.array:
            return self._array(value, room)
        return self._object(value, kind, plain, room, depth)

    def _array(self, value, room):
        if len(value) <= self.bounds.items:
            return self._short(repr(value), room)
        self.cut = True
        head = repr(value[: self.bounds.items]).rstrip("])")
        return self._short("%s, %s])" % (head, self._rest(len(value) - self.bounds.items)), room)

    def _sequence(self, value, base, start, end, room, depth):
        length = base.__len__(value)
        if length == 0 and base in (set, frozenset):
            return base.__name__ + "()"
        parts = self._walk(base.__iter__(value), length, room - len(start) - len(end), depth, self.text)
        if base is tuple and start == "(" and length == 1:
            end = ",)"
        return start + parts + end

    def _mapping(self, value, start, end, room, depth):
        def pair(item, left, deeper):
            key = self.text(item[0], max(left // 2, 8), deeper)
            return key + ": " + self.text(item[1], left - len(key) - 2, deeper)

        length = dict.__len__(value)
        return start + self._walk(iter(dict.items(value)), length, room - len(start) - len(end), depth, pair) + end

    def _fields(self, name, fields, room, depth):
        def pair(item, left, deeper):
            return item[0] + "=" + self.text(item[1], left - len(item[0]) - 1, deeper)

        return name + "(" + self._walk(iter(fields), len(fields), room - len(name) - 2, depth, pair) + ")"

    def _walk(self, iterator, length, room, depth, one):
        """The items as text, until the bounds are reached; what is left out is one `…` in its place."""
        if length and depth <= 0:
            self.cut = True
            return MORE
        parts, used = [], 0
        for item in itertools.islice(_stable(iterator), self.bounds.items):
            left = room - used - (2 if parts else 0)
            if left < 4 and length > len(parts):
                break
            text = one(item, left - (3 if length > len(parts) + 1 else 0), depth - 1)
            parts.append(text)
            used += len(text) + 2
        if len(parts) < length:
            self.cut = True
            parts.append(self._rest(length - len(parts)))
        return ", ".join(parts)

    def _rest(self, left):
        """What stands for the items that are left out, so many."""
        return MORE

    def _kind(self, value, table):
        """What stands before the first items of an array or table."""
        return table.kind

    def _object(self, value, kind, plain, room, depth):
        known = sf_known.known_form(value, kind)
        if known is not None:
            return self._short(known, room)
        if kind is sf_tables.Rows:
            return "[" + self._walk(iter(value), len(value), room - 2, depth, self.text) + "]"
        table, items = sf_tables.table_of(value, self.bounds.seconds), min(self.bounds.items, self.bounds.text)
        head = sf_tables.asked(self.bounds.seconds, table.head, items) if table is not None else None
        if head is not None:
            return "<%s> %s" % (self._kind(value, table), self.text(head, room - len(table.kind) - 3, depth))
        if plain is object.__repr__:
            attributes = attributes_of(value)
            if not attributes:
                return self._short("<%s>" % name_of(kind), room)
            return self._fields(name_of(kind), attributes, room, depth)
        self.opaque = True
        return self._asked(value, room)

    def _asked(self, value, room):
        """The repr that the program wrote, or why it could not be had."""
        try:
            text = sf_watch.within(self.bounds.seconds, repr, value)
        except sf_watch.Overdue:
            self.failed = True
            return "<repr did not return within %g s>" % self.bounds.seconds
        except BaseException as error:  # whatever the program's code raises is the answer
            self.failed = True
            return self._short("<repr raised %s>" % told(error, self.bounds), max(room, 60))
        return self._short(_ADDRESS.sub("", str.__str__(text)[: room + 40]), room)


def told(error, bounds):
    """`Type: message` of an exception, though its own str may fail or never return."""
    name = name_of(type(error))
    text = message_of(error, bounds)
    text = _remote(text) if name in _REMOTE else text[:500]
    return "%s: %s" % (name, text) if text else name


def message_of(error, bounds):
    """What an exception says; nothing where its own str fails or never returns."""
    try:
        return sf_watch.within(bounds.seconds, str, error)
    except BaseException:  # an exception's own str is code of the program too
        return ""


def _remote(text):
    """What the traceback of another process comes to, by which a pool tells where a worker's call failed."""
    places = re.findall(r'^  File "(.+)", line (\d+), in (\S+)', text, re.MULTILINE)
    own = [each for each in places if "-packages/" not in each[0] and "/lib/python" not in each[0]]
    if not places:
        return text[:500]
    said = text.rstrip('\n"').rpartition("\n")[2][:300]
    return "in another process at %s:%s in %s: %s" % ((own or places)[-1] + (said,))


def _stable(iterator):
    """Another thread may change a container while we walk it; what was read until then stands."""
    while True:
        try:
            yield next(iterator)
        except (StopIteration, RuntimeError):
            return


def _base_slice(value, room):
    base = next(one for one in _STRINGS if is_a(value, one))
    return base(base.__getitem__(value, slice(0, room + 1)))


def total_of(value):
    """The length of a container, a string or a table, without running code of the program."""
    length = _length_of(value)
    table = sf_tables.table_of(value) if length is None else None
    return table.length if table is not None else length


def _length_of(value):
    for base in (list, tuple, dict, set, frozenset, str, bytes, bytearray, collections.deque, range, array.array):
        if is_a(value, base):
            return base.__len__(value)
    for base, _, _ in _SEQUENCES[-3:]:
        if is_a(value, base):
            return len(value)
    return None


def describe(name, value, bounds, keep):
    """The contract's VALUE. `keep` gives a reference to a value that `expand` can show more of. It never fails: whoever tells
    many values tells the others, too."""
    try:
        return _described(name, value, bounds, keep)
    except sf_watch.Overdue:
        raise
    except Exception as error:
        text = unread(value, error)
        row = {"name": name, "type": name_of(type(value)), "value": text, "total": None, "truncated": False}
        row.update(ref=None, error=True)
        return row


def unread(value, error):
    """Stands for a value of a class that fails when it is looked at: of code that a look came to, as a metaclass has."""
    return "<%s that could not be read: %s>" % (name_of(type(value)), name_of(type(error)))


def _described(name, value, bounds, keep):
    writer = _Writer(bounds)
    text = writer.text(value, bounds.text, DEPTH)
    row = {
        "name": name,
        "type": name_of(type(value)),
        "value": text,
        "total": total_of(value),
        "truncated": writer.cut,
        "ref": keep(value) if (writer.cut or writer.opaque) and has_more(value) else None,
        "error": writer.failed,
    }
    shape = sf_shapes.shape_of(value, bounds.seconds) if writer.cut else None
    if shape:
        row["shape"] = shape
    if writer.opaque:
        row["asked"] = True
    return row


def has_more(value):
    if is_among(type(value), _SCALARS) or type(value) is int or is_a(value, (type, types.ModuleType)):
        return False
    return bool(total_of(value)) or bool(attributes_of(value)) or is_among(type(value), sf_known.PAUSABLE)


def children(value, start, count, bounds):
    """(total, [(name, value)]) of one page of what is inside a value."""
    if is_a(value, _STRINGS):
        return _slices(value, start, count, bounds.text)
    if is_a(value, dict):
        page = itertools.islice(_stable(iter(dict.items(value))), start, start + count)
        label = _Writer(Bounds(60, 4, bounds.seconds))
        return dict.__len__(value), [("[%s]" % label.text(key, 60, 1), item) for key, item in page]
    table = sf_tables.table_of(value, bounds.seconds)
    if table is not None:
        return table.length, sf_tables.asked(bounds.seconds, table.page, start, count) or []
    fields = fields_of(value, type(value)) or []
    total = total_of(value)
    if total is not None and not fields:
        page = itertools.islice(_stable(iter(_iterate(value))), start, start + count)
        return total, [("[%d]" % (start + i), item) for i, item in enumerate(page)]
    if is_among(type(value), sf_known.PAUSABLE):
        return 1, [("state", sf_known.pausable_state(value))][start : start + count]
    rows = fields or attributes_of(value)
    return len(rows), rows[start : start + count]


class _Quiet(_Writer):
    """Writes values without asking code of the program for anything."""

    def _object(self, value, kind, plain, room, depth):
        attributes = attributes_of(value) if plain is object.__repr__ else ()
        if attributes:
            return self._fields(name_of(kind), attributes, room, depth)
        return self._short(sf_known.known_form(value, kind) or "<%s>" % name_of(kind), room)


def inside(value, count, bounds):
    """The first parts of a value, each in short; none of a text, or of what would have to be asked for them."""
    if is_a(value, _STRINGS) or is_among(type(value), sf_known.PAUSABLE) or sf_tables.table_of(value) is not None:
        return []
    small = Bounds(PART, bounds.items, bounds.seconds)
    rows = []
    for name, part in children(value, 0, count, bounds)[1]:
        text = _Quiet(small).text(part, small.text, DEPTH)
        rows.append({"name": name, "type": name_of(type(part)), "value": text, "total": _length_of(part)})
    return rows


def _iterate(value):
    for base in (list, tuple, set, frozenset, collections.deque):
        if is_a(value, base):
            return base.__iter__(value)
    return value


def _slices(value, start, count, size):
    """A text by pieces of `size`; where it starts and the total count characters, or bytes, as an index into it does."""
    base = next(one for one in _STRINGS if is_a(value, one))
    length = base.__len__(value)
    ends = range(start, min(start + count * size, length), size)
    spans = [(low, min(low + size, length)) for low in ends]
    return length, [("[%d:%d]" % span, base.__getitem__(value, slice(*span))) for span in spans]
