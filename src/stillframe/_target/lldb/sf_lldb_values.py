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
_ARRAYS = lldb.eTypeClassArray
_STRUCTS = (lldb.eTypeClassStruct, lldb.eTypeClassClass)
_NUMBERS = (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)
"""Numbers, letters and constants."""
_BASIC = {}
"""Types that the language itself has, by name, and their class: asked about once, not for each value."""
_VOID = 0x1001
"""lldb's number for an expression that has no value."""
_UNASKED = object()
_PATH = re.compile(r"^(\*?)([\w.\[\]>-]+)$")


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
    row["error"] = reading.failed
    if not reading.failed and (row["truncated"] or leads_on):
        row["ref"] = keep(value)
    return row


def brief(value):
    """The text of a value by itself."""
    return _Reading(Bounds({})).text(value, 0)[:160]


class _Seen(object):
    """A value with what lldb said about it: each question costs as much as reading a number, so it is asked once."""

    def __init__(self, value):
        self.value = value
        self.name = value.GetTypeName() or ""
        self.kind, self.form = _BASIC.get(self.name) or _class_of(value, self.name)
        self._summary = _UNASKED

    @property
    def summary(self):
        """What its formatter says of it; None where there is none, or it takes too long."""
        if self._summary is _UNASKED:
            self._summary = None
            if not Formatters.is_slow(self.name) and rust.is_librarys(self.name):
                Formatters.at_work = self.name
                self._summary = (self.value.GetSummary() or "").strip() or None
                Formatters.at_work = None
        return self._summary

    @property
    def is_text(self):
        """Whether it is told as the text that it is or points to, of which lldb reads the first 1,024 characters."""
        return self.summary is not None and self.summary.endswith(('"', '"...')) and not self.summary.startswith("{")

    @property
    def items(self):
        """Number and values of a hash table of C++'s, of which lldb says nothing by itself; None for others."""
        return cxx.unordered(self.value) if cxx.is_unordered(self.kind.GetName()) else None

    def known(self):
        """What a reference refers to, and a value as its formatter has it."""
        seen = self
        if self.form == _REFERENCES:
            seen = _Seen(self.value.Dereference())
        Formatters.at_work = seen.name if seen.value.IsSynthetic() else None
        return _Seen(_plain(seen.value)) if Formatters.is_slow(seen.name) else seen


def _class_of(value, name):
    kind = value.GetType().GetCanonicalType()
    found = kind, kind.GetTypeClass()
    if found[1] == lldb.eTypeClassBuiltin and kind.GetName() == name:
        _BASIC[name] = found
    return found


class _Reading(object):
    """One value being read; stops where enough is told."""

    def __init__(self, bounds):
        self.bounds = bounds
        self.used = 0
        self.failed = False

    def whole(self, value):
        """Text, number of parts where it has items, and whether there is something to look into."""
        seen = _Seen(value)
        if seen.form in _NUMBERS and not value.IsSynthetic():
            number = value.GetValue()
            if number:  # which it has not where it cannot be read
                return seen.summary or number, None, False
        failed = value.GetError()
        if failed.Fail():
            self.failed = failed.GetError() != _VOID
            return _failure(failed), value.GetNumChildren() if seen.form == _ARRAYS else None, False
        known = seen.known()
        text = self._sound(known, 0)
        if rust.variant(value):
            return text, None, False
        if table := seen.items:
            return text, table[0], False
        counted = _COUNTED.match(seen.summary or "")
        total = int(counted.group(1)) if counted else None
        if total is None and seen.form == _ARRAYS:
            total = known.value.GetNumChildren()
        return text, total, seen.form == _POINTERS and not seen.is_text and _leads_on(seen)

    def text(self, value, depth):
        failed = value.GetError()
        return _failure(failed) if failed.Fail() else self._sound(_Seen(value).known(), depth)

    def _sound(self, seen, depth):
        """The text of a value that can be read, as its formatter has it."""
        value = seen.value
        if held := rust.variant(value):
            return self._variant(*held, depth)
        if table := seen.items:
            return "size=%d %s" % (table[0], self._items(table, depth))
        if (owned := cxx.owned_object(value, seen.kind.GetName())) and (told := self._owned(owned, depth)):
            return told
        if seen.summary is not None and (seen.is_text or not value.MightHaveChildren()):
            return seen.summary
        if seen.form == _POINTERS:
            return self._pointer(value, seen.kind, depth)
        if value.MightHaveChildren():
            inside = self._parts(value, depth, by_name=not _is_list(seen))
            return "%s %s" % (seen.summary, inside) if seen.summary else inside
        return value.GetValue() or seen.summary or "{}"

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
        if depth == 0 and target.IsValid() and _kind(target).GetTypeClass() in _STRUCTS:
            if target.GetError().Fail() or not _is_readable(target):
                return "%s <not readable>" % hex(address)
            return "%s %s" % (hex(address), self.text(target, depth + 1))
        name = _symbol(value.GetTarget(), address) if kind.GetPointeeType().IsFunctionType() else ""
        return hex(address) + (" <%s>" % name if name else "")

    def _owned(self, pointer, depth):
        """What a smart pointer leads to, as a pointer does, but in every depth: nobody else tells of it. None where there is
        nothing to tell: no struct, or one without fields."""
        if not pointer.GetValueAsUnsigned(0):
            return "nullptr"
        target = _object(pointer)
        if target is None:
            return None
        text = self.text(target, depth + 1)
        declared = pointer.GetStaticValue().GetType().GetPointeeType().GetCanonicalType().GetName()
        name = "" if _kind(target).GetName() == declared else type_name(target) + " "
        return "%s %s%s" % (hex(pointer.GetValueAsUnsigned()), name, text) if text != "{}" else None

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


def variable(frame, text):
    """A variable, a part of one or what it points to, read without a compiler; not valid where the text is more than that."""
    path = _PATH.match(text)
    if path is None:
        return lldb.SBValue()
    value = frame.GetValueForVariablePath(path.group(2))
    if not path.group(1):
        return value
    # To lldb `*` before a reference is what it refers to, and to C++ what that points to.
    return lldb.SBValue() if value.GetType().IsReferenceType() else frame.GetValueForVariablePath(text)


def children(value, start, count):
    """A page of the parts of a value: how many there are, and rows of name and value."""
    seen = _Seen(value).known()
    if held := rust.variant(seen.value):
        seen = _Seen(held[1])
    if table := seen.items:
        rows = itertools.islice(table[1], start, start + count)
        return table[0], [(each.GetName(), each) for each in rows]
    value = seen.value
    if (owned := cxx.owned_object(value, seen.kind.GetName())) and (target := _object(owned)):
        return children(target, start, count)
    if seen.form == _POINTERS and not value.IsSynthetic():
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
    name = value.GetTypeName()
    return name if name in _BASIC else shorter(value.GetDisplayTypeName() or value.GetTypeName() or "")[:200]


def shorter(name):
    """A name of C++ with its most common part as people write it."""
    return _STRING.sub("std::string", name)


def first_line(error):
    """What a failure is, without the place in the expression and the drawing below it, nor what lldb 22 says before it of how
    it took the expression."""
    lines = (error.GetCString() or "it failed").strip().splitlines()
    at = next((at for at, each in enumerate(lines) if each.startswith("error: ")), 0)
    told = " ".join(each.strip() for each in lines[at : at + (2 if lines[at].endswith(":") else 1)])
    return re.sub(r"^(?:error: )*(?:<user expression \d+>:\d+:\d+: )?", "", told)


def _failure(error):
    return "void" if error.GetError() == _VOID else "<%s>" % first_line(error)


def _plain(value):
    """The value without its formatter."""
    return value.GetNonSyntheticValue()


def _kind(value):
    return value.GetType().GetCanonicalType()


def _is_tuple(value):
    return re.match(r"(?:__)?0$", value.GetNonSyntheticValue().GetChildAtIndex(0).GetName() or "") is not None


def _is_list(seen):
    """Whether its parts are items rather than fields."""
    if seen.form == _ARRAYS:
        return True
    return seen.value.GetNumChildren(1) > 0 and (seen.value.GetChildAtIndex(0).GetName() or "").startswith("[")


def _leads_on(seen):
    """Whether there is something behind a pointer that can be looked into."""
    return seen.value.GetValueAsUnsigned(0) != 0 and not _is_opaque(seen.kind.GetPointeeType())


def _is_opaque(kind):
    return kind.GetCanonicalType().GetBasicType() == lldb.eBasicTypeVoid or kind.IsFunctionType()


def _is_readable(value):
    error = lldb.SBError()
    value.GetProcess().ReadMemory(value.GetLoadAddress(), 1, error)
    return error.Success()


def _object(pointer):
    """The struct that a smart pointer leads to, as the class that it was made of; None where there is none."""
    made = pointer.GetDynamicValue(lldb.eDynamicDontRunTarget)
    target = (made if made.IsValid() else pointer).Dereference()
    is_struct = target.IsValid() and _kind(target).GetTypeClass() in _STRUCTS
    return target if is_struct and _is_readable(target) else None


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
