"""Answers the `stillframe` request inside gdb: a whole stop in one answer, true places, values within bounds.

gdb's own server is written in Python and takes further requests; the private names of it that this leans on are in `selftest.py`.
"""

import contextlib
import sys

import gdb
import sf_gdb_called as called
import sf_gdb_cores as cores
import sf_gdb_cxx as cxx
import sf_gdb_frames as frames
import sf_gdb_machine as machine
import sf_gdb_names as names
import sf_gdb_places as places
import sf_gdb_signals as signals
import sf_gdb_stepping as stepping
import sf_gdb_values as values
import sf_gdb_waits as waiting
from gdb.dap import breakpoint as dap_breakpoint
from gdb.dap import events as dap_events
from gdb.dap import frames as dap_frames
from gdb.dap import scopes as dap_scopes
from gdb.dap import startup as dap_startup
from gdb.dap import state as dap_state
from sf_gdb_breakpoints import doubts

dap_server = sys.modules["gdb.dap.server"]  # once it runs, gdb.dap.server is the object and no more the module
VERSION = 1
REQUEST = "stillframe"
SIGNALS = "signals"
"""Our own exception filter: signals that end a program, and Rust's panics."""


class Refused(dap_startup.DAPException):
    """A request that cannot be met; begins with a machine word."""

    def __init__(self, word, message):
        super(Refused, self).__init__("%s: %s" % (word, message))


class Desk(object):
    """Everything that our request can be asked."""

    def __init__(self):
        self.watching = signals.Watching()
        self.steps = stepping.Steps()
        self.machine = machine.Machine()
        self.called = called.Called()
        self.kept = {}
        self.next = 1
        self.quiet = False
        self.coded = False  # whether the program ended with an exit code
        self.commands = 0  # how many commands that may move the program gdb is in the middle of
        self.calls = {
            "hello": self.hello,
            "resolve": lambda a: places.resolve(a.get("files") or {}, a.get("symbols") or []),
            "loaded": self.loaded,
            "modules": lambda a: places.modules(int(a.get("start", 0)), int(a.get("count", 100))),
            "release": self.release,
            "crowd": self.crowd,
            "unwatch": self.machine.unwatch,
            "unhold": self.machine.unwatch,
        }
        self.held_calls = {
            "stop": self.stop,
            "locals": self.locals,
            "expand": self.expand,
            "eval": self.eval,
            "assign": self.assign,
            "waits": waiting.waits,
            **self.machine.calls,
        }

    def handle(self, call, arguments):
        try:
            if call in self.calls:
                return self.calls[call](arguments)
            if call not in self.held_calls:
                raise Refused("unknown", "no call %r" % (call,))
            if dap_events.inferior_running:
                raise Refused("running", "the program is running")
            if gdb.selected_inferior().pid == 0:
                raise Refused("running", "there is no program")
            return self.held_calls[call](arguments)
        except KeyError as error:
            raise Refused("stale", "%s belongs to a stop that is over" % error)

    # Of the whole program

    def hello(self, arguments):
        return {"helper": VERSION, "gdb": gdb.VERSION}

    def release(self, arguments):
        """Let go of a program that gdb started; one that it joined it lets go by itself when it is told to go."""
        inferior = gdb.selected_inferior()
        if inferior.pid and not inferior.was_attached and not cores.is_core(inferior):
            gdb.execute("detach", to_string=True)
        return {}

    def loaded(self, arguments):
        known = {path: places.resolve({path: [1]}, [])["files"][path] for path in arguments["files"]}
        return {"loaded": [path for path, answer in known.items() if answer["loaded"]]}

    def crowd(self, arguments):
        held = not dap_events.inferior_running
        rows = [
            {"threadId": each.global_num, "name": each.name or "thread %d" % each.num, "held": held}
            for each in sorted(gdb.selected_inferior().threads(), key=lambda each: each.global_num)
        ]
        return {"threads": rows, "held": []}

    # Of a held thread

    def stop(self, arguments):
        thread = int(arguments["threadId"])
        self._select(thread)
        levels = int(arguments.get("levels", 20))
        walked = frames.walk(levels)
        bounds = values.Bounds(arguments)
        count = int(arguments.get("values", 40))
        at = frames.top(walked)
        body = {"frames": [frames.row(*each) for each in walked], "total": frames.total(walked, levels), "at": at}
        if walked and count:
            frame = walked[at][1]
            self._compare(frame)
            frame.select()
            rows = frames.variables(frame)
            body["locals"] = [values.describe(name, value, bounds, self.keep) for name, value in rows[:count]]
            body["locals_total"] = len(rows)
        if "returned" in self.watching.why and self.watching.why["thread"] == thread:
            name, value = self.watching.why["returned"]
            body["returned"] = [values.describe(name, value, bounds, self.keep)]
        body["exception"] = self.watching.exception(thread, self._calling)
        body["loaded"] = self.loaded({"files": arguments.get("watch") or []})["loaded"]
        return body

    def locals(self, arguments):
        frame = frames.frame_of(arguments["frameId"])
        if arguments.get("scope") == "globals":
            rows = frames.globals_(frame)
        else:
            rows = frames.variables(frame, everything=bool(arguments.get("all")))
        start, count = int(arguments.get("start", 0)), int(arguments.get("count", 100))
        bounds = values.Bounds(arguments)
        told = [values.describe(name, value, bounds, self.keep) for name, value in rows[start : start + count]]
        return {"values": told, "total": len(rows)}

    def expand(self, arguments):
        value = self.kept[arguments["ref"]]
        start, count = int(arguments.get("start", 0)), int(arguments.get("count", 100))
        bounds = values.Bounds(arguments)
        try:
            with bounds.alarm():
                total, rows = values.children(value, start, count, bounds)
        except values.TooLong:
            raise Refused("stuck", "its parts take longer than %g s to read" % bounds.seconds)
        except (gdb.error, RuntimeError, ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise Refused("broken", "its parts cannot be read: %s" % error)
        return {"values": [values.describe(name, each, bounds, self.keep) for name, each in rows], "total": total}

    def eval(self, arguments):
        bounds, limit = values.Bounds(arguments), float(arguments.get("timeout", 5.0))
        results = []
        for text in arguments["expressions"]:
            frames.frame_of(arguments["frameId"])
            self.machine.check_write(str(text))
            results.append(self._told(str(text), str(text), limit, bounds))
        return {"results": results}

    def assign(self, arguments):
        frames.frame_of(arguments["frameId"])
        target = str(arguments["target"])
        text = "%s = (%s)" % (target, arguments["value"])
        self.machine.check_write(text)
        limit, bounds = float(arguments.get("timeout", 5.0)), values.Bounds(arguments)
        done = self._told(target, text, limit, bounds)
        return (
            done if "error" in done else self._told(target, target, limit, bounds)
        )  # in Rust an assignment is nothing

    def _told(self, name, text, limit, bounds):
        try:
            with self._calling(text, limit):
                row = values.describe(
                    name, gdb.parse_and_eval(names.meant(text, gdb.selected_frame())), bounds, self.keep
                )
                return {"error": row["value"].strip("<>")} if row["error"] else {"value": row}
        except (gdb.error, RuntimeError) as error:
            return {"error": str(error).partition("\n")[0]}  # further lines tell which settings of gdb would change it

    @contextlib.contextmanager
    def _calling(self, text, limit):
        """Let an expression call functions of the program: within a time, past all breakpoints, and nobody is told."""
        off = [each for each in gdb.breakpoints() if each.enabled] if "(" in text else []
        self.quiet = True
        try:
            with dap_breakpoint.suppress_new_breakpoint_event():
                for each in off:
                    each.enabled = False
            with gdb.with_parameter("direct-call-timeout", max(1, int(limit))):
                yield
        finally:
            with dap_breakpoint.suppress_new_breakpoint_event():
                for each in off:
                    if each.is_valid():
                        each.enabled = True
            self.called.settle()
            self.quiet = False

    def _compare(self, frame):
        """Say of a source that it is newer than the program; at once, so that it is told with this stop."""
        found = frame.find_sal().symtab
        said = places.newer(found.fullname(), found.objfile) if found is not None else None
        if said:
            server = dap_server._server
            at_once = server._send_event if hasattr(server, "_send_event") else server.send_event  # before gdb 18
            at_once("output", {"category": "console", "output": said})

    def _select(self, thread):
        dap_state.set_thread(thread)

    def keep(self, value):
        number = self.next
        self.next += 1
        self.kept[number] = value
        return number

    def stopped(self, event):
        """Take note of a stop before gdb's own code tells it."""
        self.machine.stopped(event)
        self.watching.stopped(event)

    def gone_on(self, event):
        """What was told of a stop means nothing any more, unless the program only runs a call for somebody who looks at it."""
        if not self.quiet and self.called.open <= 0:
            self.kept.clear()
            dap_frames._clear_frame_ids(event)


def install(desk):
    """Make the request known, and tell stops and ends by what we know of them."""

    @dap_server.request(REQUEST, expect_stopped=False)
    def stillframe(*, call: str, **arguments):
        return desk.handle(call, arguments)

    stepping.install(desk.steps, frames.Settings.just_my_code)
    _tell_better(desk)
    _catch_signals(desk)
    cores.install()
    desk.called.install()
    gdb.events.cont.disconnect(dap_frames._clear_frame_ids)
    gdb.events.cont.connect(desk.gone_on)
    gdb.events.register_changed.connect(_forget_registers)


def _forget_registers(_event):
    """gdb keeps what it told of a frame until the program goes on, also registers that somebody has written to since."""
    dap_scopes.frame_to_scope.clear()


def _tell_better(desk):
    send = dap_server.send_event
    send_stop = getattr(
        dap_server, "send_event_maybe_later", send
    )  # gdb 16 has stops wait for the answer to the request
    held_back = []  # stops and ends within a command, which says more when it is done

    def told(event, body=None):
        if desk.quiet and event in ("stopped", "continued"):
            return
        if event == "exited" and not desk.coded:
            body = {}  # gdb 18.1 calls that 0, also where it killed the program
        if event in ("stopped", "exited", "terminated") and desk.commands:
            held_back.append((event, body))
            return
        if event == "stopped":
            body = desk.machine.judged(body)
            body = desk.watching.reason(body) if body is not None else None
        if event == "stopped" and body is None:
            dap_server.send_gdb(lambda: dap_events.exec_and_expect_stop("continue &"))
        elif event == "stopped" and desk.steps.goes_on(body):
            dap_server.send_gdb(lambda: dap_events.exec_and_expect_stop(desk.steps.again()))
        else:
            for number, message in doubts(body.get("hitBreakpointIds") or ()) if event == "stopped" else ():
                about = {"id": number, "threadId": body["threadId"], "message": message}
                send(REQUEST, dict(about, kind="condition_error"))
            (send_stop if event == "stopped" else send)(event, body)

    dap_events.send_event = dap_events.send_event_maybe_later = told
    dap_events.exec_and_log = _executing(desk, send, held_back, told)
    # Ours come before gdb's own, which tell.
    for registry, ours, theirs in (
        (gdb.events.stop, desk.stopped, dap_events._on_stop),
        (gdb.events.exited, _ending(desk, send), dap_events._on_exit),
    ):
        registry.disconnect(theirs)
        registry.connect(ours)
        registry.connect(theirs)


def _executing(desk, send, held_back, told):
    def executed(command, raises=True):
        """As gdb's own, which keeps to itself what is said until a program that is started comes to its first stop or its end:
        its forks. They are told before that, which whoever hears of it takes for all that there is. Before gdb 18 it was said
        whether a failure is to be raised; else it is only noted down."""
        said = ""
        desk.commands += 1
        try:
            said = gdb.execute(command, from_tty=True, to_string=True)
        except gdb.error as error:
            if str(error).startswith("During startup program "):
                send(REQUEST, {"kind": "unstarted", "message": str(error)})
            if raises:
                raise dap_startup.DAPException(str(error)) from error
            dap_startup.log_stack()
        finally:
            desk.commands -= 1
            for line in said.splitlines():
                if line.startswith("[Detaching after "):
                    send("output", {"category": "stdout", "output": line + "\n"})
            while held_back and not desk.commands:
                told(*held_back.pop(0))

    return executed


def _ending(desk, send):
    def exited(event):
        name = signals.ending(event)
        desk.coded = hasattr(event, "exit_code")
        if name is not None:
            send(REQUEST, {"kind": "signal", "signal": name})

    return exited


def _catch_signals(desk):
    """One more filter beside gdb's own for C++."""
    theirs = dap_breakpoint.set_exception_breakpoints
    filters = dap_server._capabilities["exceptionBreakpointFilters"]
    dap_server._capabilities["exceptionBreakpointFilters"] = (*filters, {"filter": SIGNALS, "label": "Fatal signals"})

    def ours(**arguments):
        wanted = list(arguments.get("filters") or ())
        classes = [each["path"][-1]["names"][0] for each in arguments.pop("exceptionOptions", None) or ()]
        raised = "throw" in wanted or "panic" in classes
        dap_server.send_gdb_with_response(lambda: desk.watching.hold(SIGNALS in wanted, raised))
        options = [
            {"filterId": "throw", "condition": '$_sf_thrown("%s")' % each} for each in classes if each != "panic"
        ]
        kept = [each for each in wanted if each != SIGNALS]
        return theirs(**dict(arguments, filters=kept, filterOptions=options))

    dap_server._commands["setExceptionBreakpoints"] = ours
    dap_server._capabilities["supportsExceptionOptions"] = True
    cxx.Thrown()
