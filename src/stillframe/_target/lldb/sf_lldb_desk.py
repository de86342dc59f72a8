"""Answers our command inside lldb: a whole stop in one answer, true places, values within bounds."""

import base64
import re
import resource
import traceback

import lldb
import sf_lldb_frames as frames
import sf_lldb_machine as machine
import sf_lldb_places as places
import sf_lldb_rust as rust
import sf_lldb_stops as stops
import sf_lldb_values as values
import sf_lldb_waits as waiting

VERSION = 1
_HELD = (lldb.eStateStopped, lldb.eStateCrashed, lldb.eStateSuspended)


class Refused(Exception):
    """A call that cannot be met; begins with a machine word."""

    def __init__(self, word, message):
        super(Refused, self).__init__("%s: %s" % (word, message))


class Desk(object):
    """Everything that our command can be asked."""

    def __init__(self, settings):
        frames.Settings.just_my_code = settings.get("just_my_code", True)
        rust.Settings.is_rust = settings.get("rust", False)
        frames.Settings.foreign = re.compile(settings.get("foreign", "^$"))
        self.watching = stops.Watching()
        self.watches = machine.Watches()
        self.known = frames.Known()
        self.functions = {}  # thread to the function that it was last held in
        self.kept = {}
        self.next = 1
        self.stop_id = None
        self.quiet = False
        self.counts = False  # whether there are variables for the hits of breakpoints
        self.debugger = None
        self.calls = {
            "hello": lambda a: {"helper": VERSION},
            "resolve": self.resolve,
            "loaded": lambda a: {"loaded": [each for each in a["files"] if places.is_loaded(self.target, each)]},
            "modules": lambda a: places.modules(self.target, int(a.get("start", 0)), int(a.get("count", 100))),
            "sources": lambda a: {"sources": places.sources(self.target)},
            "placed": lambda a: places.one_place_each(self.target) or {},
            "catch": self.catch,
            "release": lambda a: {},
            "crowd": self.crowd,
            "hold": lambda a: machine.hold(self.target, str(a["address"]), a.get("condition")),
            "unhold": lambda a: self.target.BreakpointDelete(int(a["number"])) and {} or {},
            "unwatch": lambda a: self.watches.remove(self.target, int(a["number"])),
        }
        self.held_calls = {
            "stop": self.stop,
            "why": self.why,
            "locals": self.locals,
            "expand": self.expand,
            "eval": self.eval,
            "assign": self.assign,
            "waits": lambda a: waiting.waits(self.target),
            "address": self.address,
            "memory": lambda a: machine.read(self.process, int(a["address"], 0), int(a["count"])),
            "poke": self.poke,
            "entry": self.entry,
            "disassemble": self.disassemble,
            "watch": self.watch,
            "jump": self.jump,
            "move": self.move,
            "drop_steps": lambda a: stops.drop_steps(self.process),
            "select": self.select,
        }

    @property
    def target(self):
        return self.debugger.GetTargetAtIndex(0)  # there may be another one, of our own

    @property
    def process(self):
        return self.target.GetProcess()

    @property
    def _is_running(self):
        return self.process.IsValid() and self.process.GetState() not in (
            *_HELD,
            lldb.eStateUnloaded,
            lldb.eStateExited,
        )

    def answer(self, debugger, call, arguments):
        self.debugger = debugger
        try:
            return {"body": self._answered(call, arguments)}
        except Refused as refused:
            return {"error": str(refused)}
        except machine.Refusal as refusal:
            return {"error": "unknown: %s" % refusal}
        except KeyError as error:
            return {"error": "stale: %s belongs to a stop that is over" % error}
        except values.TooLong:
            return {"error": "stuck: it takes too long to read"}
        except Exception:  # a fault of ours must be told as one, and not as lldb's text about it
            return {"error": "internal: %s" % traceback.format_exc()[-2000:]}

    def _leave_no_core(self):
        """lldb-dap 19.1 aborts when it is let go. What it has started by now keeps its own limits."""
        if not self.quiet and self.process.IsValid():
            self.quiet = True
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

    def _answered(self, call, arguments):
        self._leave_no_core()
        if call in self.calls:
            return self.calls[call](arguments)
        if call not in self.held_calls:
            raise Refused("unknown", "no call %r" % (call,))
        if self.process.GetState() not in _HELD:
            raise Refused("running", "the program is running")
        if self.stop_id != self.process.GetStopID():
            self.stop_id = self.process.GetStopID()
            self.kept.clear()
            self.known.refresh(self.target)
        return self.held_calls[call](arguments)

    # Of the whole program

    def resolve(self, arguments):
        self._make_counters()
        double = places.double(self.debugger, self.target)
        return places.resolve(double, arguments.get("files") or {}, arguments.get("symbols") or [])

    def catch(self, arguments):
        self._make_counters()
        self.watching.hold(self.debugger, arguments.get("modes") or (), arguments.get("classes") or ())
        return {}

    def _make_counters(self):
        """Variables of lldb's own for the hits of breakpoints; the first call of all comes before the program runs.

        Never while it runs: to evaluate anything lldb 19.1 then reads the stack as if the program were held, keeps it, and tells
        it again at the next stop, whatever that one's place is.
        """
        if self.counts or self._is_running:
            return
        self.counts = True
        made = values.options(5.0)
        made.SetLanguage(lldb.eLanguageTypeC_plus_plus)
        self.target.EvaluateExpression("int $stillframe_hits[1024] = {0}", made)

    def crowd(self, arguments):
        held = self.process.GetState() == lldb.eStateStopped
        rows = [
            {"threadId": each.GetThreadID(), "name": each.GetName() or "thread %d" % each.GetIndexID(), "held": held}
            for each in self.process
        ]
        return {"threads": rows or waiting.running(self.target), "held": []}

    # Of a held thread

    def why(self, arguments):
        thread = self._thread(arguments)
        if ended := self.watches.ended(thread):
            notes = ["%s is gone: its call has returned" % ended[1]]
            return {"reason": "watchpoint", "numbers": [-ended[0]], "gone": [-ended[0]], "notes": notes}
        told = self.watching.why(thread, bool(arguments.get("aside")))
        if told.get("reason") == "watchpoint":
            told["notes"] = self.watches.changes(self.target, -told["numbers"][0])
        return told

    def stop(self, arguments):
        thread = self._thread(arguments)
        self.watching.ran.tell(thread)
        levels, count = int(arguments.get("levels", 20)), int(arguments.get("values", 40))
        walked = frames.walk(thread, levels)
        bounds = values.Bounds(arguments)
        rows = frames.rows(thread, walked, self.known)
        at = next((index for index, each in enumerate(rows) if each["user"]), 0)
        body = {
            "frames": rows,
            "total": frames.total(thread, walked, levels),
            "at": at,
        }
        if walked and count:
            rows = frames.variables(walked[at], self.known)
            body["locals"] = [values.describe(name, value, bounds, self.keep) for name, value in rows[:count]]
            body["locals_total"] = len(rows)
        number = thread.GetThreadID()
        if thread.GetStopReason() == lldb.eStopReasonPlanComplete and thread.GetStopReturnValue().IsValid():
            function = self.functions.get(number, "it")
            body["returned"] = [values.describe(function, thread.GetStopReturnValue(), bounds, self.keep)]
        if walked and count:
            self.functions[number] = frames.function_name(walked[0])
        body["notes"] = values.Formatters.take_notes() + frames.cut(walked, levels)
        body["exception"] = self.watching.exception(thread)
        watch = arguments.get("watch") or []
        body["loaded"] = [each for each in watch if places.is_loaded(self.target, each)]
        return body

    def locals(self, arguments):
        frame = self._frame(arguments)
        if arguments.get("scope") == "globals":
            rows = frames.globals_(frame, self.known)
        else:
            rows = frames.variables(frame, self.known, everything=bool(arguments.get("all")))
        start, count = int(arguments.get("start", 0)), int(arguments.get("count", 100))
        bounds = values.Bounds(arguments)
        told = [values.describe(name, value, bounds, self.keep) for name, value in rows[start : start + count]]
        return {"values": told, "total": len(rows), "notes": values.Formatters.take_notes()}

    def expand(self, arguments):
        value = self.kept[arguments["ref"]]
        start, count = int(arguments.get("start", 0)), int(arguments.get("count", 100))
        bounds = values.Bounds(arguments)
        with values.Alarm(bounds.seconds * 5, values.Formatters.give_up):
            total, rows = values.children(value, start, count)
        return {"values": [values.describe(name, each, bounds, self.keep) for name, each in rows], "total": total}

    def eval(self, arguments):
        bounds, limit = values.Bounds(arguments), float(arguments.get("timeout", 5.0))
        results = [self._evaluated(arguments, str(text), str(text), bounds, limit) for text in arguments["expressions"]]
        return {"results": results}

    def assign(self, arguments):
        target = str(arguments["target"])
        text = "%s = (%s)" % (target, arguments["value"])
        told = self._evaluated(arguments, target, text, values.Bounds(arguments), float(arguments.get("timeout", 5.0)))
        return self._evaluated(arguments, target, target, values.Bounds(arguments), 5.0) if "value" in told else told

    def _evaluated(self, arguments, name, text, bounds, limit):
        frame = self._frame(arguments)
        value = values.variable(frame, text)
        if not value.IsValid() or value.GetError().Fail():
            value = frame.EvaluateExpression(text, values.options(limit))
        row = values.describe(name, value, bounds, self.keep)
        return {"error": row["value"].strip("<>")} if row["error"] and row["ref"] is None else {"value": row}

    # The machine

    def address(self, arguments):
        return {"address": hex(machine.address_of(self._frame(arguments), str(arguments["text"]), values.options(5.0)))}

    def poke(self, arguments):
        data = base64.b64decode(arguments["data"])
        return machine.write(self.process, int(arguments["address"], 0), data, bool(arguments.get("partial")))

    def entry(self, arguments):
        return {"address": machine.entry_of(self.target, str(arguments["text"]))}

    def disassemble(self, arguments):
        address, offset, count = int(arguments["address"], 0), int(arguments["offset"]), int(arguments["count"])
        return {"instructions": machine.instructions(self.target, address, offset, count)}

    def watch(self, arguments):
        return self.watches.set(
            self.target,
            self._frame(arguments),
            str(arguments["text"]),
            str(arguments["how"]),
            arguments.get("condition"),
            values.options(5.0),
        )

    def jump(self, arguments):
        """Go on at another line of the innermost call's function."""
        thread, line = self._thread(arguments), int(arguments["line"])
        file = str(arguments["file"])
        function = thread.GetFrameAtIndex(0).GetFunction()
        if (file, line) not in frames.lines(self.target, function):
            raise Refused(
                "unknown", "line %d is none of %s" % (line, frames.bare(function.GetName() or "this function"))
            )
        error = thread.JumpToLine(lldb.SBFileSpec(file, False), line)
        if error.Fail():
            raise Refused("unknown", values.first_line(error))
        return {}

    def select(self, arguments):
        """Have lldb's own commands be about this call; they may change whatever is known."""
        self.known.forget()
        frame = self._frame(arguments)
        self.process.SetSelectedThread(frame.GetThread())
        frame.GetThread().SetSelectedFrame(frame.GetFrameID())
        return {}

    def move(self, arguments):
        """One instruction; the stop is told by lldb-dap."""
        error = lldb.SBError()
        self._thread(arguments).StepInstruction(arguments["how"] == "next instruction", error)
        if error.Fail():
            raise Refused("unknown", values.first_line(error))
        return {}

    # Shared

    def _thread(self, arguments):
        thread = self.process.GetThreadByID(int(arguments["threadId"]))
        if not thread.IsValid():
            raise Refused("unknown", "no thread %s" % arguments["threadId"])
        return thread

    def _frame(self, arguments):
        return frames.frame_of(self.process, arguments["frameId"])

    def keep(self, value):
        number = self.next
        self.next += 1
        self.kept[number] = value
        return number
