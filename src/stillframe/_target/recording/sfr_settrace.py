"""Hearing of the program by `sys.settrace`, until Python 3.11: every call of the program pays, and a later tracer ends it."""

import dis
import os
import sys
import threading

from . import sfr_code

_RETURNS = frozenset(dis.opmap[each] for each in ("RETURN_VALUE",) if each in dis.opmap)
_RESUME = dis.opmap.get("RESUME", -1)
_YIELDS = frozenset(dis.opmap[each] for each in ("YIELD_VALUE", "YIELD_FROM") if each in dis.opmap)
_YIELD_FROM = dis.opmap.get("YIELD_FROM", -1)
_PASSED = -1


class Tracer:
    """Our place as the one tracer there is, kept as long as nobody takes it."""

    def __init__(self, told):
        self.told = told
        self.taken = False
        self.original = sys.settrace

    def install(self):
        original, mine = self.original, self.guarded

        def settrace(function):
            """Ours again where a tracer leaves; told where one comes."""
            if function is None:
                return original(mine)
            if function is not mine and not self.taken:
                self.taken = True
                self._tell(sys._getframe(1), function)
            return original(function)

        sys.settrace = settrace
        sys.addaudithook(self._heard)
        threading.settrace(mine)
        original(mine)

    def _heard(self, event, _):
        """Of a tracer in C, as coverage's, which asks nobody for `sys.settrace`."""
        if event != "sys.settrace" or self.taken:
            return
        frame = sys._getframe(1)
        if frame.f_code.co_filename != __file__:
            self.taken = True
            self._tell(frame, None)

    def _tell(self, frame, function):
        who = (getattr(type(function), "__module__", "") or "").partition(".")[0]
        who = who if who not in ("builtins", "") else frame.f_globals.get("__name__") or "something"
        self.told.lost(
            "another tracer (%s, %s:%d) took the place of the recorder, which until Python 3.11 there is only one of: what ran"
            " afterwards is not recorded" % (who.partition(".")[0], os.path.basename(frame.f_code.co_filename), frame.f_lineno)
        )  # fmt: skip

    def guarded(self, frame, event, given):
        try:
            return self.call(frame)
        except Exception as error:  # ours: raised here, it would end all tracing without a word
            self.fail(error)
            return None

    def fail(self, error):
        self.told.lost("the recorder failed, and stopped recording: %s: %s" % (type(error).__name__, error))
        self.original(None)


class TraceTracer(Tracer):
    def __init__(self, told, trace, finder):
        Tracer.__init__(self, told)
        self.trace = trace
        self.finder = finder
        self.seen = {}
        self.errors = {}
        """What came up in a frame since it was last entered, and at which instruction; that it passed, once another line runs."""
        self.install()

    def call(self, frame):
        trace, code = self.trace, frame.f_code
        known = self.seen.get(id(code))
        if known is None or known[0] is not code:
            self.finder.look(code, frame)
            self.seen[id(code)] = known = (code, sfr_code.is_users_call(frame, trace.all_code))
        is_target = id(code) in trace.targets
        if not is_target and (trace.root is None or trace.done or not known[1]):
            return None
        life = trace.live.get(id(frame))
        if life is not None and life.code is code and life.body.pauses and _has_begun(frame):
            trace.resumed(frame)
            return self.inside
        if code.co_flags & sfr_code.PAUSES and _has_begun(frame):
            return None  # one that began before we listened
        lined = trace.entered(frame, code)
        if not is_target and id(frame) not in trace.live:
            return None
        frame.f_trace_lines = bool(lined)
        return self.inside

    def inside(self, frame, event, given):
        try:
            return self._inside(frame, event, given)
        except Exception as error:
            self.fail(error)
            return None

    def _inside(self, frame, event, given):
        trace = self.trace
        if event == "line":
            if self.errors and frame in self.errors:
                self.errors[frame] = (self.errors[frame][0], _PASSED)
            if not trace.line(frame, frame.f_lineno):
                frame.f_trace_lines = False
        elif event == "exception":
            trace.threw(frame, given[1])
            self.errors[frame] = (given[1], frame.f_lasti)
        elif event == "return":
            self._left(frame, given)
        return self.inside

    def _left(self, frame, value):
        """It returned, gave something, waits, or an error left it: Python tells these alike, and which it was is to be seen
        from the instruction that it stands at."""
        trace, code = self.trace, frame.f_code
        error, at = self.errors.pop(frame, (None, _PASSED))
        if _returns(frame):
            trace.returned(frame, value)
        elif value is not None or (_pauses(frame) and (error is None or at != frame.f_lasti)):
            trace.yielded(frame, value)
        elif error is not None:
            trace.unwound(frame, code, error)
        else:
            trace.returned(frame, value)


def _returns(frame):
    code, at = frame.f_code.co_code, frame.f_lasti
    return 0 <= at < len(code) and code[at] in _RETURNS


def _pauses(frame):
    """Whether it stands at a `yield` or `await`; until 3.10 one that awaits stands before the instruction for it."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if not frame.f_code.co_flags & sfr_code.PAUSES or at < 0:
        return False
    return code[at] in _YIELDS or (at + 2 < len(code) and code[at + 2] == _YIELD_FROM)


def _has_begun(frame):
    """Whether this call of a generator is its being resumed: from 3.11 on its first instruction tells, before it had none yet."""
    at = frame.f_lasti
    if at < 0:
        return False
    code = frame.f_code.co_code
    return code[at + 1] != 0 if code[at] == _RESUME else True


class ProbeTracer(Tracer):
    def __init__(self, told, probes, finder):
        Tracer.__init__(self, told)
        self.finder = finder
        self.codes = {}
        self.seen = {}
        for each in probes:
            each.arm = self.arm
        self.install()

    def arm(self, probe, code, line, entries):
        lines, starts = self.codes.setdefault(id(code), ({}, []))
        if line is None:
            starts.append(probe)
        else:
            lines[line] = (*lines.get(line, ()), (probe, entries))

    def call(self, frame):
        code = frame.f_code
        if id(code) not in self.seen:
            self.seen[id(code)] = code
            self.finder.look(code, frame)
        found = self.codes.get(id(code))
        if found is None:
            return None
        lines, starts = found
        own = frame.f_locals if sfr_code.FILLS_LOCALS else None
        if starts and not (code.co_flags & sfr_code.PAUSES and _has_begun(frame)):
            for each in starts:
                each.hit(frame, own)
        if not lines:
            return None

        def inside(frame, event, given):
            """It answers nothing, and so stays where it is: if it named itself, it would outlive the frame, with its locals."""
            if event == "line":
                here = lines.get(frame.f_lineno)
                if here is not None:
                    try:
                        for probe, entries in here:
                            if entries is None or frame.f_lasti in entries:
                                probe.hit(frame, own)
                    except Exception as error:
                        self.fail(error)

        return inside
