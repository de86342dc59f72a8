"""Values of a native program as bounded text, and their parts: runs inside gdb."""

import itertools
import re
import time

import gdb
from sf_gdb_alarm import Alarm, TooLong

POINTERS = (gdb.TYPE_CODE_PTR,)
STRUCTS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR)
REFERENCES = tuple(getattr(gdb, name) for name in ("TYPE_CODE_REF", "TYPE_CODE_RVALUE_REF") if hasattr(gdb, name))
DEPTH = 4
ALL = 3
"""All values of a request together may take so many times what one may."""
COUNTED = re.compile(r"(?:of length |size=|with |len: )(\d+)")
"""How libstdc++'s and Rust's own printers tell how many there are."""


class Bounds(object):
    """How much of a value is worth telling, and how long all values of a request may take together."""

    def __init__(self, arguments):
        self.text = int(arguments.get("text", 160))
        self.items = int(arguments.get("items", 8))
        self.seconds = float(arguments.get("seconds", 1.0))
        self._end = time.monotonic() + ALL * self.seconds

    def alarm(self):
        """For the next value; TooLong where nothing is left of the time of all."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TooLong()
        return Alarm(min(self.seconds, left))


def is_text(kind):
    """Whether values of this type are the characters of a text."""
    kind = kind.strip_typedefs().unqualified()
    return kind.code == gdb.TYPE_CODE_CHAR or (
        kind.code == gdb.TYPE_CODE_INT and kind.sizeof == 1 and kind.name in ("char", "signed char", "unsigned char")
    )


def plain_type(value):
    return value.type.strip_typedefs()


def summary(value, bounds):
    """The value in one line; what is left out shows as `...`."""
    return _text(value, bounds, 0)


def _text(value, bounds, depth):
    if value.is_optimized_out:
        return "<optimized out>"
    kind = plain_type(value)
    if kind.code in REFERENCES:
        declared = value.referenced_value()
        value = as_made(declared)
        kind = plain_type(value)
        if kind != plain_type(declared) and depth == 0:
            return "%s %s" % (shorter(kind.name or ""), _text(value, bounds, depth))
    printer = gdb.default_visualizer(value)
    if printer is not None:
        if depth < DEPTH and _OWNERS.match(kind.name or "") and _hint(printer) in ("array", "map"):
            return _items(value, printer, bounds, depth)
        text = _formatted(value, bounds)
        if depth < DEPTH and " (expired" not in text and (owned := _owned(kind, printer)) is not None:
            return _led_to(text, owned, bounds, depth)
        return text if text.strip('"') else _empty(printer, text)
    if is_rust():
        return (
            _reference(value, bounds, depth) if kind.code in POINTERS and depth < DEPTH else _formatted(value, bounds)
        )
    if kind.code in POINTERS:
        return _pointer(value, kind, bounds, depth)
    if kind.code == gdb.TYPE_CODE_ARRAY and not is_text(kind.target()):
        return _array(value, kind, bounds, depth)
    if kind.code in STRUCTS:
        return _struct(value, kind, bounds, depth)
    return _formatted(_beginning(value, kind) if kind.code == gdb.TYPE_CODE_ARRAY else value, bounds)


def _reference(value, bounds, depth):
    """What a reference of Rust's leads to, a struct with its address: gdb 18.1 cannot tell references from raw pointers."""
    target = value.type.target().strip_typedefs()
    if int(value) == 0:
        return "0x0"
    there = value.dereference()
    try:
        if gdb.default_visualizer(there) is not None or target.code in NUMBERS:
            return _text(there, bounds, depth + 1)
        if target.code in STRUCTS and depth == 0:
            there.fetch_lazy()
            return "%s %s" % (hex(int(value)), _formatted(there, bounds))
    except gdb.MemoryError:
        return "%s <not readable>" % hex(int(value))
    return _formatted(value, bounds)


def _formatted(value, bounds):
    """In gdb's own words, bounded by itself."""
    text = value.format_string(
        max_elements=bounds.items,
        max_characters=bounds.text,
        max_depth=DEPTH,
        pretty_structs=False,
        pretty_arrays=False,
    )
    return without_paths(text) if is_rust() else text


def _empty(printer, text):
    """What a printer tells as nothing: it may have failed, or be asked for a text of a length that none can have, of which gdb
    18.1 takes the lower half and says nothing."""
    told = printer.to_string()
    length = getattr(told, "length", 0)
    if length > 0:
        raise ValueError("its length is told as %d" % length)
    return text


def _pointer(value, kind, bounds, depth):
    target = kind.target().strip_typedefs()
    if int(value) == 0:
        return "0x0"
    if is_text(target):
        return value.format_string(address=False, max_characters=bounds.text, max_elements=bounds.text)
    if target.code in STRUCTS and depth == 0:
        try:
            there = as_made(value.dereference())
            made = plain_type(there)
            name = "%s " % shorter(made.name or "") if made != target else ""
            return "%s %s%s" % (hex(int(value)), name, _text(there, bounds, depth + 1))
        except gdb.MemoryError:
            return "%s <not readable>" % hex(int(value))
    return value.format_string(symbols=True)


def as_made(value):
    """An object of C++ as the class that it was made of, by its table of virtual functions: a pointer or reference to a base
    tells but the base's own part."""
    if is_rust():
        return value
    try:
        made = value.dynamic_type
        return value if made == value.type else value.cast(made)
    except (gdb.error, RuntimeError):  # not made yet, or no more
        return value


_GET = "get() = "
"""Before the address that a smart pointer of libstdc++ leads to."""


def _owned(kind, printer):
    """The pointer inside of a `std::unique_ptr`, `shared_ptr` or `weak_ptr` to a struct; None where it leads nowhere."""
    if not re.match(r"std::(unique|shared|weak)_ptr<", kind.name or "") or not hasattr(printer, "children"):
        return None
    inside = next((part for name, part in printer.children() if name == "get()"), None)
    if inside is None or int(inside) == 0 or plain_type(inside).code not in POINTERS:
        return None
    return inside if plain_type(inside).target().strip_typedefs().code in STRUCTS else None


def _led_to(text, owned, bounds, depth):
    """What a smart pointer leads to, also inside of something else, since nobody else tells of it; there without its type."""
    if depth == 0:
        return "%s%s}" % (text[: text.rindex(_GET) + len(_GET)], _pointer(owned, plain_type(owned), bounds, 0))
    there = as_made(owned.dereference())
    made = plain_type(there)
    name = "%s " % shorter(made.name or "") if made != plain_type(owned).target().strip_typedefs() else ""
    try:
        return "%s %s%s" % (hex(int(owned)), name, _text(there, bounds, depth + 1))
    except gdb.MemoryError:
        return "%s <not readable>" % hex(int(owned))


_OWNERS = re.compile(r"^std::(?!unique_ptr|shared_ptr|weak_ptr).*<.*std::(?:unique|shared)_ptr<")
"""Containers of smart pointers, of which gdb's own words tell but the addresses."""


def _items(value, printer, bounds, depth):
    """A container with what its items lead to."""
    head = str(printer.to_string() or "")
    total = _total(value, head)
    _, rows = _printed(printer, total, 0, bounds.items)
    is_map = _hint(printer) == "map"
    shown = []
    used = 0
    for name, part in rows:
        if used > bounds.text:
            break
        text = _text(part, bounds, depth + 1) if isinstance(part, gdb.Value) else str(part)
        shown.append("%s = %s" % (name, text) if is_map else text)
        used += len(shown[-1])
    more = ["..."] if total is None or total > len(shown) else []
    return "%s = {%s}" % (head, ", ".join(shown + more)) if shown else head


_LONG = 1 << 16


def _beginning(value, kind):
    """Of a long text the first characters: gdb would read all of it to show a few."""
    low, high = kind.range()
    if high - low < _LONG or value.address is None:
        return value
    return value.address.cast(kind.target().array(low, low + _LONG - 1).pointer()).dereference()


def _array(value, kind, bounds, depth):
    low, high = kind.range()
    if depth >= DEPTH:
        return "{...}"
    shown = [_text(value[index], bounds, depth + 1) for index in range(low, min(high + 1, low + bounds.items))]
    return "{%s}" % ", ".join(shown + (["..."] if high + 1 - low > bounds.items else []))


def _struct(value, kind, bounds, depth):
    if depth >= DEPTH:
        return "{...}"
    shown = []
    used = 0
    for name, part in fields(value, kind):
        if used > bounds.text:
            shown.append("...")
            break
        text = _text(part, bounds, depth + 1)
        shown.append("%s = %s" % (name, text) if name else text)
        used += len(shown[-1])
    return "{%s}" % ", ".join(shown)


def fields(value, kind):
    """The parts of a struct, without what the compiler put there for itself."""
    for field in kind.fields():
        if hasattr(field, "bitpos") and not field.artificial:
            name = "<%s>" % field.name if field.is_base_class else field.name or ""
            yield name, value[field]


def is_rust():
    """Whether the selected call is Rust's, so that values are told as gdb's own Rust does."""
    try:
        return gdb.selected_frame().language() == "rust"
    except gdb.error:  # no frame
        return False


def describe(name, value, bounds, keep):
    """A value as a row: name, type, text, how many parts it has, and a number by which it is looked into."""
    row = {"name": name, "type": "", "value": "", "total": None, "truncated": False, "ref": None, "error": False}
    if not isinstance(value, gdb.Value):  # printers tell some of their parts as Python's own values
        row["value"] = str(value)[: bounds.text]
        return row
    row["type"] = _type_name(value)
    try:
        with bounds.alarm():
            text = summary(value, bounds)
            row["total"] = _total(value, text)
            leads_on = _leads_on(value)
    except TooLong:
        row.update(value="it takes longer than %g s to read" % bounds.seconds, error=True)
        return row
    except (gdb.error, RuntimeError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        why = error if isinstance(error, gdb.error) else "its printer fails on it: %s" % error
        row.update(value="<%s>" % why, error=True)  # one of the toolchain's may on a broken value
        return row
    cut = len(text) > bounds.text
    row["truncated"] = cut or "..." in text
    row["value"] = text[: bounds.text - 1] + "…" if cut else text
    if row["truncated"] or leads_on:
        row["ref"] = keep(value)
    return row


_STRING = re.compile(r"std::(?:__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>")


def shorter(name):
    """A name of C++ with its most common part as people write it."""
    return _STRING.sub("std::string", name)


_RUST_PATH = re.compile(
    r'("(?:[^"\\]|\\.)*"?)|, alloc::alloc::Global\b|\b(?:core|alloc|std)::(?:[a-z_]\w*::)+(?=[A-Z])'
)


def without_paths(text):
    """`Option<Box<shop::Item>>` for the whole paths of Rust's own types, and without its allocator; texts stay as they are."""
    return _RUST_PATH.sub(lambda found: found.group(1) or "", text)


def _type_name(value):
    name = str(value.type)
    return (without_paths(name) if is_rust() else shorter(name))[:200]


def _total(value, text):
    kind = plain_type(value)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        return high + 1 - low
    found = COUNTED.search(text.partition("{")[0])
    return int(found.group(1)) if found else None


def _leads_on(value):
    kind = plain_type(value)
    return (
        kind.code in POINTERS
        and not value.is_optimized_out
        and int(value) != 0
        and not is_text(kind.target())
        and kind.target().strip_typedefs().code not in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC)
    )


def children(value, start, count, bounds):
    """A page of the parts of a value: how many there are, where that is known, and rows of name and value."""
    kind = plain_type(value)
    if kind.code in REFERENCES:
        value = as_made(value.referenced_value())
        kind = plain_type(value)
    printer = gdb.default_visualizer(value)
    if printer is not None and (row := _row(value, kind, printer)) is not None:
        first, total = row
        last = min(total, start + count)
        return total, [("[%d]" % index, (first + index).dereference()) for index in range(start, last)]
    if printer is not None and hasattr(printer, "children"):
        return _printed(printer, _total(value, str(printer.to_string() or "")), start, count)
    if kind.code == gdb.TYPE_CODE_ARRAY and not is_text(kind.target()):
        low, high = kind.range()
        last = min(high + 1, low + start + count)
        return high + 1 - low, [("[%d]" % index, value[index]) for index in range(low + start, last)]
    if kind.code in POINTERS and not is_text(kind.target()):
        target = as_made(value.dereference())
        if plain_type(target).code in STRUCTS:
            return children(target, start, count, bounds)
        return 1, [("*", target)][start : start + count]
    if kind.code in STRUCTS:
        rows = list(fields(value, kind))
        return len(rows), rows[start : start + count]
    return 1, [("", value)][start : start + count]


def _row(value, kind, printer):
    """The first item and the number of them where they lie in a row, so that a late page need not count through all before it."""
    if hasattr(printer, "_data_ptr") and hasattr(printer, "_length"):  # Rust's Vec
        return printer._data_ptr, int(printer._length)
    if not (kind.name or "").startswith("std::vector<"):
        return None
    first, end = (value["_M_impl"][name] for name in ("_M_start", "_M_finish"))
    if plain_type(first).code not in POINTERS:  # bits
        return None
    return first, max(0, int(end - first))


def _printed(printer, total, start, count):
    """Parts as the printer of a container tells them; those of a map come as key, value, key, value."""
    found = iter(printer.children() or ())
    if _hint(printer) == "map":
        found = ((_key(key), value) for (_, key), (_, value) in zip(found, found))
    rows = list(itertools.islice(found, start, start + count))
    if total is None and len(rows) < count:
        total = start + len(rows)
    return total, rows


def _hint(printer):
    return printer.display_hint() if hasattr(printer, "display_hint") else None


def _key(key):
    return "[%s]" % (key.format_string(max_elements=20, max_depth=2) if isinstance(key, gdb.Value) else key)
