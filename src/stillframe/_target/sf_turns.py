"""What a comprehension was at when an error left it, from Python 3.12 on, where it is part of the function that it stands in.

Before that it was a call of its own, whose variables a traceback keeps. Since then Python unbinds them as the error leaves the
comprehension, before anybody can look; so they are noted as it is raised. Imports nothing but the library's.
"""

import dis
import sys

_TOOLS = (5, 4, 3)
_NAME = "stillframe: comprehensions"
_KEPT = 8  # calls that were left so, of which it is remembered
_CODES = 2000  # code objects of which it is remembered whether there are comprehensions in them
_UNDOING = (
    "SWAP",
    "POP_TOP",
    "STORE_FAST",
    "STORE_FAST_STORE_FAST",
    "STORE_FAST_LOAD_FAST",
    "NOP",
    "CACHE",
    "EXTENDED_ARG",
)
_CLEARS = dis.opmap.get("LOAD_FAST_AND_CLEAR", -1)
_LEAVES = frozenset(dis.opmap[name] for name in ("RERAISE", "RAISE_VARARGS") if name in dis.opmap)


class Undone:
    """Where the interpreter takes back the variables of comprehensions of one function, and from which of its code."""

    def __init__(self, code):
        self.code = code
        self.ranges = []  # (start, end, names that are taken back, the offset that raises the error again)
        self.offsets = set()  # of the code that does it
        told = list(dis.get_instructions(code))
        at = {each.offset: number for number, each in enumerate(told)}
        for entry in dis._parse_exception_table(code):
            names, again = _undoing(told, at.get(entry.target))
            if names:
                self.ranges.append((entry.start, entry.end, names, again))
                self.offsets.update(range(entry.target, again + 1, 2))

    def names(self, offset):
        """The variables of the comprehensions that an instruction is inside of, the inner ones first."""
        found, before = [], None
        while offset != before:
            before = offset
            for start, end, names, again in self.ranges:
                if start <= before < end:
                    found.extend(names)
                    offset = again
                    break
        return found


def _undoing(told, number):
    """(names, offset) of a handler that does nothing but take back names and raise the error again; no names of another."""
    names = []
    while number is not None and number < len(told):
        each = told[number]
        if each.opname == "RERAISE":
            return names, each.offset
        if each.opname not in _UNDOING:
            break
        if each.opname.startswith("STORE_FAST"):
            names.extend(each.argval if isinstance(each.argval, tuple) else (each.argval,))
        number += 1
    return [], 0


def undone(code):
    """What there is of comprehensions in a function, or None: nothing, or a Python that makes them calls of their own."""
    if _CLEARS < 0 or _CLEARS not in code.co_code[::2]:
        return None
    found = Undone(code)
    return found if found.ranges else None


class Turns:
    """Notes what the variables of comprehensions were as an error was raised in one, of the last few calls.

    Nothing of the program's is kept beyond those values. A frame is known by its address, which the next one may have; but
    no error leaves a function with a comprehension without being heard of here, which forgets what was noted at that address.
    """

    def __init__(self):
        self._codes = {}
        self._kept = {}

    def raised(self, code, offset):
        known = self._codes.get(id(code))
        if known is None or known[0] is not code:
            if len(self._codes) >= _CODES:
                self._codes.clear()
            known = self._codes[id(code)] = (code, undone(code))
        if known[1] is not None:
            self._note(known[1], sys._getframe(2), offset)

    def _note(self, undone, frame, offset):
        kept, names = self._kept, undone.names(offset)
        kept.pop(id(frame), None)
        if names:
            has = frame.f_locals
            kept[id(frame)] = (undone.code, offset, {name: has[name] for name in names if name in has})
            while len(kept) > _KEPT:
                kept.pop(next(iter(kept)), None)

    def of(self, frame):
        """The variables of the comprehension that an error left this frame by; none where it was not left so."""
        code, offset, names = self._kept.get(id(frame), (None, 0, {}))
        if code is frame.f_code and (frame.f_lasti == offset or code.co_code[frame.f_lasti] in _LEAVES):
            return names
        return {}


_noted = Turns()
of = _noted.of


def watch():
    """Note them from now on; forked children inherit it. Where every place for a tool is taken, nothing is noted."""
    monitoring = getattr(sys, "monitoring", None)
    taken = [monitoring.get_tool(each) for each in _TOOLS] if monitoring is not None else [_NAME]
    if _NAME in taken or None not in taken:
        return
    tool = _TOOLS[taken.index(None)]

    def raised(code, offset, error):
        try:
            _noted.raised(code, offset)
        except Exception:  # ours: raised here, it would be raised in the program
            monitoring.set_events(tool, 0)

    monitoring.use_tool_id(tool, _NAME)
    monitoring.register_callback(tool, monitoring.events.RAISE, raised)
    monitoring.set_events(tool, monitoring.events.RAISE)
