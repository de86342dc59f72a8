"""Values of a native program as bounded text, and their parts: runs inside lldb."""

import itertools
import re
import time

import lldb
import sf_lldb_cxx as cxx
import sf_lldb_rust as rust
from sf_lldb_alarm import Alarm, TooLong

DEPTH = 4
_ALTOGETHER = 3.0
"""How long the values of one answer may take, in seconds."""
_POINTERS = lldb.eTypeClassPointer
_REFERENCES = lldb.eTypeClassReference
_COUNTED = re.compile(r"^size=(\d+)$")
"""How lldb's own and Rust's formatters tell how many there are."""
_STRING = re.compile(r"std::(?:__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>")
_VOID = 0x1001
"""lldb's number for an expression that has no value."""


class Bounds(object):
    """How much of a value is worth telling."""

    def __init__(self, arguments):
        self.text = int(arguments.get("text", 160))
        self.items = int(arguments.get("items", 8))
        self.seconds = float(arguments.get("seconds", 1.0))
        self._end = time.monotonic() + _ALTOGETHER

    @property
    def patience(self):
        """How long the next value may take; nothing is left where those before it took too long."""
        return min(self.seconds, self._end - time.monotonic())


class Formatters(object):
    """The types whose formatters are not asked any more, since one of them took too long, and which one is at work."""

    slow = set()
    met = set()
    at_work = None

    @classmethod
    def give_up(cls):
        if cls.at_work:
            cls.slow.add(cls.at_work)
            cls.met.add(cls.at_work)

    @classmethod
    def is_slow(cls, name):
        if name in cls.slow:
            cls.met.add(name)
        return name in cls.slow

    @classmethod
    def take_notes(cls):
        """What has to be said of the values of one answer."""
        met, cls.met = sorted(cls.met), set()
        return ["the formatter of %s does not come to an end: it is told without" % each for each in met]


def describe(name, value, bounds, keep):
    """A value as a row: name, type, text, how many parts it has, and a number by which it is looked into."""
    row = {
        "name": name,
        "type": type_name(value),
        "value": "",
        "total": None,
        "truncated": False,
        "ref": None,
        "error": False,
    }
    if bounds.patience <= 0:
        row.update(value="not read: those before it took too long", error=True, ref=keep(_plain(value)))
        return row
    try:
        with Alarm(bounds.patience, Formatters.give_up):
            reading = _Reading(bounds)
            row["value"], row["total"], leads_on = reading.whole(value)
    except TooLong:
        plain = _plain(value)
        row.update(value="its formatter takes longer than %g s" % bounds.seconds, error=True, ref=keep(plain))
        return row
    text = row["value"]
    cut = len(text) > bounds.text
    row["truncated"] = cut or "..." in text
    row["value"] = text[: bounds.text - 1] + "…" if cut else text
    failed = value.GetError()
    if failed.Fail() and failed.GetError() != _VOID:
        row["error"] = True
    elif row["truncated"] or leads_on:
        row["ref"] = keep(value)
    return row


def brief(value):
    """The text of a value by itself."""
    return _Reading(Bounds({})).text(value, 0)[:160]


class _Reading(object):
    """One value being read; stops where enough is told."""

    def __init__(self, bounds):
        self.bounds = bounds
        self.used = 0

    def whole(self, value):
        """Text, number of parts where it has items, and whether there is something to look into."""
        if _is_number(value):
            return _summary(value) or value.GetValue() or "{}", None, False
        text = self.text(value, 0)
        kind = _kind(value)
        if rust.variant(value):
            return text, None, False
        if table := cxx.unordered(value):
            return text, table[0], False
        counted = _COUNTED.match(_summary(value) or "")
        total = int(counted.group(1)) if counted else None
        if total is None and kind.GetTypeClass() == lldb.eTypeClassArray:
            total = _known(value).GetNumChildren()
        leads_on = kind.GetTypeClass() == _POINTERS and value.GetValueAsUnsigned(0) != 0 and not _is_text(value)
        leads_on = leads_on and not _is_opaque(kind.GetPointeeType())
        return text, total, leads_on

    def text(self, value, depth):
        error = value.GetError()
        if error.Fail():
            return "void" if error.GetError() == _VOID else "<%s>" % first_line(error)
        value = _known(value)
        if held := rust.variant(value):
            return self._variant(*held, depth)
        if table := cxx.unordered(value):
            return "size=%d %s" % (table[0], self._items(table, depth))
        kind = _kind(value)
        summary = _summary(value)
        if summary is not None and (_is_text(value) or not value.MightHaveChildren()):
            return summary
        if kind.GetTypeClass() == _POINTERS:
            return self._pointer(value, kind, depth)
        if value.MightHaveChildren():
            inside = self._parts(value, depth, by_name=not _is_list(value))
            return "%s %s" % (summary, inside) if summary else inside
        return value.GetValue() or summary or "{}"

    def _variant(self, name, data, depth):
        """A variant of an enum as Rust writes it."""
        if not data.IsValid() or not data.GetNumChildren():
            return name
        inside = self._parts(data.GetNonSyntheticValue(), depth, by_name=True)
        return (
            "%s(%s)" % (name, re.sub(r"(^|, )(?:__)?\d+ = ", r"\1", inside[1:-1])) if _is_tuple(data) else name + inside
        )

    def _pointer(self, value, kind, depth):
        address = value.GetValueAsUnsigned(0)
        if not address:
            return "0x0"
        target = value.Dereference()
        if (
            rust.Settings.is_rust
            and target.IsValid()
            and not _is_opaque(kind.GetPointeeType())
            and _is_readable(target)
        ):
            return self.text(target, depth)  # mostly a reference
        if (
            depth == 0
            and target.IsValid()
            and _kind(target).GetTypeClass() in (lldb.eTypeClassStruct, lldb.eTypeClassClass)
        ):
            if target.GetError().Fail() or not _is_readable(target):
                return "%s <not readable>" % hex(address)
            return "%s %s" % (hex(address), self.text(target, depth + 1))
        name = _symbol(value.GetTarget(), address) if kind.GetPointeeType().IsFunctionType() else ""
        return hex(address) + (" <%s>" % name if name else "")

    def _items(self, table, depth):
        if depth >= DEPTH:
            return "{...}"
        found = itertools.islice(table[1], self.bounds.items)
        shown = [self._pair(each, depth) or self.text(each, depth + 1) for each in found]
        return "{%s}" % ", ".join(shown + (["..."] if table[0] > len(shown) else []))

    def _pair(self, value, depth):
        """An item of a map of C++'s: its key and what is there."""
        if not (value.GetTypeName() or "").startswith("std::pair<"):
            return None
        key, item = value.GetChildMemberWithName("first"), value.GetChildMemberWithName("second")
        return "[%s] = %s" % (self.text(key, depth + 1), self.text(item, depth + 1))

    def _parts(self, value, depth, by_name):
        if depth >= DEPTH:
            return "{...}"
        total = value.GetNumChildren(self.bounds.items + 1) if not by_name else value.GetNumChildren()
        shown = []
        for index in range(total):
            if self.used > self.bounds.text or (not by_name and index >= self.bounds.items):
                shown.append("...")
                break
            part = value.GetChildAtIndex(index)
            text = self._pair(part, depth) or self.text(part, depth + 1)
            shown.append("%s = %s" % (part.GetName(), text) if by_name and part.GetName() else text)
            self.used += len(shown[-1])
        return "{%s}" % ", ".join(shown)


def children(value, start, count):
    """A page of the parts of a value: how many there are, and rows of name and value."""
    value = _known(value)
    if held := rust.variant(value):
        value = held[1]
    if table := cxx.unordered(value):
        rows = itertools.islice(table[1], start, start + count)
        return table[0], [(each.GetName(), each) for each in rows]
    kind = _kind(value)
    if kind.GetTypeClass() == _POINTERS and not value.IsSynthetic():
        target = value.Dereference()
        if target.MightHaveChildren():
            return children(target, start, count)
        return 1, [("*", target)][start : start + count]
    if not value.MightHaveChildren():
        return 1, [("", value)][start : start + count]
    total = value.GetNumChildren()
    rows = (value.GetChildAtIndex(index) for index in range(start, min(start + count, total)))
    return total, [(each.GetName() or "", each) for each in rows]


def type_name(value):
    return shorter(value.GetDisplayTypeName() or value.GetTypeName() or "")[:200]


def shorter(name):
    """A name of C++ with its most common part as people write it."""
    return _STRING.sub("std::string", name)


def first_line(error):
    """What a failure is, without the place in the expression and the drawing below it."""
    lines = (error.GetCString() or "it failed").strip().splitlines()
    return re.sub(r"^(?:error: )*(?:<user expression \d+>:\d+:\d+: )?", "", lines[0]) if lines else "it failed"


def _known(value):
    """What a reference refers to, and a value as its formatter has it."""
    if _kind(value).GetTypeClass() == _REFERENCES:
        value = value.Dereference()
    name = value.GetTypeName()
    Formatters.at_work = name if value.IsSynthetic() else None
    return _plain(value) if Formatters.is_slow(name) else value


def _plain(value):
    """The value without its formatter."""
    return value.GetNonSyntheticValue()


def _kind(value):
    return value.GetType().GetCanonicalType()


def _summary(value):
    name = value.GetTypeName() or ""
    if Formatters.is_slow(name) or not rust.is_librarys(name):
        return None
    Formatters.at_work = name
    summary = value.GetSummary()
    Formatters.at_work = None
    return summary.strip() if summary else None


def _is_text(value):
    """Whether a value is told as the text that it is or points to."""
    summary = _summary(value)
    return bool(summary) and summary[-1:] == '"' and not summary.startswith("{")


def _is_number(value):
    """Whether a value is a number, a letter or a constant, by itself and to everybody: most are, and lldb is slow to be asked."""
    return (
        _kind(value).GetTypeClass() in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)
        and not value.IsSynthetic()
        and not value.GetError().Fail()
    )


def _is_tuple(value):
    return re.match(r"(?:__)?0$", value.GetNonSyntheticValue().GetChildAtIndex(0).GetName() or "") is not None


def _is_list(value):
    """Whether its parts are items rather than fields."""
    if _kind(value).GetTypeClass() == lldb.eTypeClassArray:
        return True
    return value.GetNumChildren(1) > 0 and (value.GetChildAtIndex(0).GetName() or "").startswith("[")


def _is_opaque(kind):
    return kind.GetCanonicalType().GetBasicType() == lldb.eBasicTypeVoid or kind.IsFunctionType()


def _is_readable(value):
    error = lldb.SBError()
    value.GetProcess().ReadMemory(value.GetLoadAddress(), 1, error)
    return error.Success()


def _symbol(target, address):
    return target.ResolveLoadAddress(address).GetSymbol().GetName() or ""


def options(limit):
    """Expressions may call functions of the program: within a time, past all breakpoints, and nothing is left of them."""
    made = lldb.SBExpressionOptions()
    made.SetTimeoutInMicroSeconds(int(limit * 1e6))
    made.SetIgnoreBreakpoints(True)
    made.SetUnwindOnError(True)
    made.SetTryAllThreads(True)
    made.SetSuppressPersistentResult(True)
    return made
