"""Hearing of the program by `sys.monitoring`, from Python 3.12 on: nothing is paid outside of what was asked for."""

import atexit
import sys

from . import sfr_code

_TOOLS = (4, 3, 2, 5)
_NAME = "stillframe"
_getframe = sys._getframe


class NoTool(Exception):
    """Every place for a tool is taken."""


class Ears:
    """Our place among the monitoring tools; what we register there never lets an error of ours into the program."""

    def __init__(self, told):
        self.told = told
        self.monitoring = sys.monitoring
        self.events = sys.monitoring.events
        self.tool = next((each for each in _TOOLS if self.monitoring.get_tool(each) is None), None)
        if self.tool is None:
            raise NoTool("every place for a monitoring tool is taken")
        self.monitoring.use_tool_id(self.tool, _NAME)
        self.wanted = 0
        self.gone = False
        self.callbacks = {}
        self.local = {}
        told.on_end.append(self.look)
        atexit.register(self.look)

    def hear(self, event, callback):
        disable = self.monitoring.DISABLE

        def guarded(*given):
            try:
                return callback(*given)
            except Exception as error:  # ours: raised here, it would be raised in the program
                self.fail(error)
                return disable

        self.register(event, guarded)

    def register(self, event, callback):
        self.callbacks[event] = callback
        self.monitoring.register_callback(self.tool, event, callback)

    def want(self, events):
        """Hear these of all code."""
        self.wanted = events
        self.monitoring.set_events(self.tool, events)

    def is_ours(self):
        """Whether our place is as we left it: any code of the program may free it, ask for other events there, or take our
        callbacks away. To ask is to put them back."""
        tool, ask = self.tool, self.monitoring
        try:
            if (ask.get_tool(tool), ask.get_events(tool)) != (_NAME, self.wanted):
                return False
            if any(ask.get_local_events(tool, code) & events != events for code, events in self.local.values()):
                return False
            heard = [ask.register_callback(tool, event, each) is each for event, each in self.callbacks.items()]
            return all(heard)
        except ValueError:
            return False

    def look(self):
        """Tell at the program's end that nothing was heard of it any more. Nobody could sooner: what stands before the functions
        of `sys.monitoring` is code, of which other tools hear while they hold their locks."""
        if not self.gone and not self.is_ours():
            self.gone = True
            self.told.lost(
                "something in the program took the recorder's place among the monitoring tools (%d): what ran afterwards is"
                " not recorded" % self.tool
            )  # fmt: skip

    def fail(self, error):
        if self.gone:
            return
        self.look()
        if self.gone:
            return
        self.gone = True
        self.monitoring.set_events(self.tool, 0)
        for event in (self.events.LINE, self.events.PY_RETURN, self.events.PY_START, self.events.PY_YIELD):
            self.monitoring.register_callback(self.tool, event, None)
        self.told.lost("the recorder failed, and stopped recording: %s: %s" % (type(error).__name__, error))


class TraceEars(Ears):
    """Hears of one call: of every function's first start until it is found, of everything of the user's while it runs."""

    def __init__(self, told, trace, finder):
        Ears.__init__(self, told)
        self.trace = trace
        self.finder = finder
        self.seen = {}
        trace.listen, trace.unlisten = self.listen, self.unlisten
        events = self.events
        self.alone = events.PY_START | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        self.hear(events.PY_START, self.start)
        self.hear_lines()
        self.hear(events.PY_RETURN, lambda code, offset, value: trace.returned(_getframe(2), value))
        self.hear(events.PY_YIELD, lambda code, offset, value: trace.yielded(_getframe(2), value))
        self.hear(events.PY_RESUME, lambda code, offset: trace.resumed(_getframe(2)))
        self.hear(events.PY_THROW, lambda code, offset, error: trace.resumed(_getframe(2)))
        self.hear(events.RAISE, lambda code, offset, error: trace.threw(_getframe(2), error))
        self.hear(events.PY_UNWIND, lambda code, offset, error: trace.unwound(_getframe(2), code, error))
        self.want(events.PY_START | events.PY_UNWIND)

    def start(self, code, offset):
        trace, frame = self.trace, _getframe(2)
        known = self.seen.get(id(code))
        if known is None or known[0] is not code:
            self.finder.look(code, frame)
            self.seen[id(code)] = known = (code, sfr_code.is_users_call(frame, trace.all_code))
        is_target = id(code) in trace.targets
        if not is_target and (trace.root is None or trace.done or not known[1]):
            return self.monitoring.DISABLE
        lined = trace.entered(frame, code)
        if trace.done or trace.root is None:
            return None
        life = trace.live.get(id(frame))
        if life is not None:
            self._want(code, self.alone | (self.events.LINE if lined else 0))
        return None

    def _want(self, code, events):
        before = self.local.get(id(code), (code, 0))[1]
        if events & ~before:
            self.local[id(code)] = (code, before | events)
            self.monitoring.set_local_events(self.tool, code, before | events)

    def hear_lines(self):
        """Guarded as all that we hear, by one call where there would be three: most of what is heard is lines."""
        tell, disable = self.trace.line, self.monitoring.DISABLE

        def line(code, line):
            try:
                if not tell(_getframe(1), line):
                    self._want_no_lines(code)
            except Exception as error:
                self.fail(error)
                return disable

        self.register(self.events.LINE, line)

    def _want_no_lines(self, code):
        events = self.local[id(code)][1] & ~self.events.LINE
        self.local[id(code)] = (code, events)
        self.monitoring.set_local_events(self.tool, code, events)

    def listen(self):
        """The call has begun: every function of the user's may be one that it calls, those seen before too."""
        events = self.events
        self.want(events.PY_START | events.PY_UNWIND | events.RAISE | events.PY_THROW)
        self.monitoring.restart_events()

    def unlisten(self):
        """The call is over: further ones are only counted."""
        for code, _ in self.local.values():
            self.monitoring.set_local_events(self.tool, code, 0)
        self.local = {}
        for body in self.trace.targets.values():
            self.monitoring.set_local_events(self.tool, body.code, self.events.PY_START)
        self.want(self.events.PY_START | self.events.PY_UNWIND)


class ProbeEars(Ears):
    """Hears of the lines that are probed, and of no others a second time."""

    def __init__(self, told, probes, finder):
        Ears.__init__(self, told)
        self.finder = finder
        self.lines = {}
        self.starts = {}
        self.seen = {}
        for each in probes:
            each.arm = self.arm
        self.hear(self.events.PY_START, self.start)
        disable, lines = self.monitoring.DISABLE, self.lines

        def line(code, line):
            found = lines.get(line)
            if found is None:
                return disable
            each, probe, entries, more = found
            try:
                if each is code:
                    if entries is None:
                        probe.hit(_getframe(1))
                        if not more:
                            return None
                    elif _getframe(1).f_lasti in entries:
                        probe.hit(_getframe(1))
                elif not more:
                    return disable
                return self.further(code, _getframe(1), found)
            except Exception as error:
                self.fail(error)
                return disable

        self.register(self.events.LINE, line)
        self.want(self.events.PY_START)

    def arm(self, probe, code, line, entries):
        if line is None or _begins_with(code, line):
            self.starts.setdefault(id(code), (code, []))[1].append(probe)
        else:
            first = self.lines.get(line)
            if first is None:
                self.lines[line] = (code, probe, entries, [])
            else:
                first[-1].append((code, probe, entries))
            self.local[id(code)] = (code, self.events.LINE)
            self.monitoring.set_local_events(self.tool, code, self.events.LINE)

    def further(self, code, frame, found):
        """The others that are probed at a line of this number, in whichever files; nobody's where none is of this one."""
        mine = found[0] is code
        for each, probe, entries in found[-1]:
            if each is code:
                mine = True
                if entries is None or frame.f_lasti in entries:
                    probe.hit(frame)
        return None if mine else self.monitoring.DISABLE

    def start(self, code, offset):
        frame = _getframe(2)
        if id(code) not in self.seen:
            self.seen[id(code)] = code
            self.finder.look(code, frame)
        found = self.starts.get(id(code))
        if found is None:
            return self.monitoring.DISABLE
        for each in found[1]:
            each.hit(frame)
        return None


def _begins_with(code, line):
    """Whether a function begins with this line, as `def f(x): return x` does, and ends with it: from 3.13 on Python tells of such
    a line when it is first asked to, and then of the calls alone."""
    if not code.co_flags & sfr_code.FUNCTION or code.co_flags & sfr_code.PAUSES:
        return False
    return next((each for _, _, each in code.co_lines() if each is not None), None) == line
