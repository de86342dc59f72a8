"""Hit counts and log points of gdb's breakpoints, which its protocol has only half of: runs inside gdb."""

import re
import sys

import gdb
import sf_gdb_places as places
from gdb.dap import breakpoint as dap_breakpoint

dap_server = sys.modules["gdb.dap.server"]
_COUNTED = re.compile(r"\$_sf_hit\(\d+, \d, \d+, (.*)\)$", re.DOTALL)


class Hits(gdb.Function):
    """`$_sf_hit(breakpoint, kind, number, condition)`: counts how often the condition held, and says whether to stop now."""

    def __init__(self):
        super(Hits, self).__init__("_sf_hit")
        self.counts = {}

    def invoke(self, key, kind, number, condition):
        if not bool(condition):
            return 0
        key, number = int(key), int(number)
        count = self.counts[key] = self.counts.get(key, 0) + 1
        return int((count == number, count >= number, count % number == 0)[int(kind)])


_ACTS = re.compile(r"\w\s*\(|\+\+|--|(?<![=!<>])=(?!=)")
"""Calls and assignments; a bracket alone is a cast or a group."""


def doubts(numbers):
    """Number and error of those breakpoints whose condition cannot be evaluated here: gdb stops at them, and only prints why.

    One that calls functions or assigns is not evaluated a second time.
    """
    for each in gdb.breakpoints():
        condition = each.condition if each.number in numbers else None
        if not condition:
            continue
        counted = _COUNTED.match(condition)
        text = counted.group(1) if counted else condition
        try:
            if not _ACTS.search(text):
                bool(gdb.parse_and_eval(text))
        except gdb.error as error:
            yield each.number, str(error).partition("\n")[0]


def log_point(tell):
    """A breakpoint that tells a text and never stops; gdb 18.1's own cannot have a condition."""

    class LogPoint(gdb.Breakpoint):
        def __init__(self, message, **where):
            super(LogPoint, self).__init__(**where)
            self._parts = re.split("{(.*?)}", message)
            self._condition = None

        condition = property(lambda self: self._condition, lambda self, text: setattr(self, "_condition", text))

        def stop(self):
            try:
                if self._condition is None or bool(gdb.parse_and_eval(self._condition)):
                    tell(self.number, "".join(_part(*each) for each in enumerate(self._parts)))
            except gdb.error as error:
                tell(self.number, "<%s>" % error)
            return False

    return LogPoint


def _part(index, text):
    if index % 2 == 0:
        return text
    try:
        return gdb.parse_and_eval(text).format_string(max_elements=50, max_characters=400)
    except gdb.error as error:
        return "<%s>" % error


def without_stubs(made):
    """Of a function that a library has, gdb 18.1 takes the stub by which that library calls it for one more place of it."""
    places_of = made.locations if made.type == gdb.BP_BREAKPOINT and not made.pending else ()
    if len(places_of) > 1 and any(each.source for each in places_of):
        for each in places_of:
            if each.enabled and not each.source and "@plt in section" in _symbol(each.address):
                each.enabled = False


def _symbol(address):
    return gdb.execute("info symbol %d" % address, to_string=True)


def install(request):
    Hits()
    gdb.events.breakpoint_created.connect(without_stubs)
    gdb.events.breakpoint_modified.connect(without_stubs)

    def tell(number, text):
        dap_server.send_event(request, {"kind": "log", "id": number, "text": text})

    dap_breakpoint._PrintBreakpoint = log_point(tell)
    theirs = dap_breakpoint._rewrite_fn_breakpoint

    def whole(**arguments):
        """With the log text and the file that the protocol has no words for."""
        spec = theirs(**arguments)
        spec.update(places.spot(spec.pop("function"), arguments.get("module")))
        if arguments.get("logMessage"):
            spec["logMessage"] = arguments["logMessage"]
        return spec

    dap_breakpoint._rewrite_fn_breakpoint = whole
