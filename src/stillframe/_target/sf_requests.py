"""The `stillframe` request: one extra DAP request inside the target that gives everything of a stop in one answer.

Calls that need no thread are answered at once by pydevd's reader thread; those that look at values run on the paused
thread they are about, because code of the program must run where the program would run it.
"""

import glob
import os
import sys

from _pydevd_bundle import (
    sf_classes,
    sf_evaluate,
    sf_frames,
    sf_judging,
    sf_leaving,
    sf_patches,
    sf_places,
    sf_refusals,
    sf_release,
    sf_threads,
    sf_tickets,
    sf_values,
    sf_waits,
    sf_watch,
)
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema, register_request
from _pydevd_bundle.pydevd_constants import STATE_SUSPEND
from _pydevd_bundle.pydevd_filtering import ExcludeFilter
from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor
from _pydevd_bundle.pydevd_thread_lifecycle import pydevd_find_thread_by_id

VERSION = 1
STUCK = "stuck: the thread is still in code of the program that does not return"


class Refused(Exception):
    """A call that cannot be answered: a machine word, then one sentence."""

    def __init__(self, word, sentence):
        Exception.__init__(self, "%s: %s" % (word, sentence))


@register_request("stillframe")
class StillframeRequest:
    """The request as pydevd's JSON reader makes it."""

    def __init__(self, seq=-1, arguments=None, update_ids_from_dap=False, **_):
        self.type = "request"
        self.command = "stillframe"
        self.seq = seq
        self.arguments = arguments if isinstance(arguments, dict) else {}

    def to_dict(self, update_ids_to_dap=False):
        return {"type": self.type, "command": self.command, "seq": self.seq, "arguments": self.arguments}


def _guarded(work, *arguments):
    """(body, error) of a call; our own mistakes are told as `internal`, not lost in the target's stderr."""
    try:
        return work(*arguments), None
    except Refused as refusal:
        return None, str(refusal)
    except (KeyError, TypeError, ValueError) as error:
        return None, "usage: %s: %s" % (type(error).__name__, error)
    except Exception as error:  # the client must get an answer to every request
        return None, "internal: %s: %s" % (type(error).__name__, error)


class Desk:
    """Answers the calls of one process."""

    def __init__(self, settings, program):
        self.settings = settings
        self.program = program
        self.places = sf_places.Places(program)
        self.included = set()  # library files that breakpoints were asked for in
        self.posted = {}  # thread to the Tickets that wait for it
        self.forgotten = (
            None  # the last token that nobody waits for: its ticket may be on its way from one to the other
        )
        self.busy = {}  # paused thread to the Ticket that it works on
        self.crowd = sf_threads.Crowd()
        self.lookers = sf_threads.Lookers()
        self.standing = None  # what is to be told of each stop that ends a step, as the arguments of `stop`
        self.at_once = {
            "hello": self.hello,
            "follow": self.follow,
            "resolve": self.resolve,
            "loaded": self.loaded,
            "modules": self.modules,
            "release": self.release,
            "classes": self.classes,
            "conditions": self.conditions,
            "forget": self.forget,
        }
        self.on_looker = {"crowd": self.threads, "waits": self.waits}
        self.on_thread = {"stop": self.stop, "locals": self.locals, "expand": self.expand}
        self.on_thread.update({"eval": self.eval, "assign": self.assign})

    def handle(self, db, request):
        """Called by the reader thread, which keeps threads from going on meanwhile: the answer, or None when it will come."""
        name = request.arguments.get("call")
        if name in self.at_once:
            body, error = _guarded(self.at_once[name], db, request.arguments)
            return sf_tickets.answer(request, body, error)
        ticket = sf_tickets.Ticket(db, request)
        if name in self.on_looker:
            self.lookers.post(db, lambda: ticket.answer(*_guarded(self.on_looker[name], db, request.arguments)))
            return None
        if name not in self.on_thread:
            return sf_tickets.answer(request, error="unknown: no call %r" % (name,))
        thread_id, error = _guarded(self._thread_of, db, request.arguments)
        if error is not None:
            return sf_tickets.answer(request, error=error)
        if _is_held(db, thread_id):
            return self._post(db, ticket, name, thread_id)
        self.lookers.post(db, lambda: self._look(db, ticket, name, thread_id))
        return None

    def _post(self, db, ticket, name, thread_id):
        """Have the paused thread answer; the answer if it cannot."""
        if self._is_stuck((thread_id, True)):
            return sf_tickets.answer(ticket.request, error=STUCK)
        self.posted.setdefault(thread_id, []).append(ticket)
        db.post_method_as_internal_command(thread_id, self._on_paused_thread, ticket, name, thread_id)
        return None

    def follow(self, db, arguments):
        """From now on a stop that ends a step is told of in full, right behind the word of it."""
        self.standing = arguments
        return {}

    def ended_step(self, db, thread_id):
        """The current thread is about to say that a step ended here: whether what is seen here will follow. To be asked for it
        takes a turn of the client's, one of the reader's and one of this thread's, as long as all else of it."""
        if self.standing is None or self._is_stuck((thread_id, True)):
            return False
        ticket = sf_tickets.Unasked(db, BaseSchema._translate_id_to_dap(thread_id), self.standing)
        self._post(db, ticket, "stop", thread_id)
        return True

    def _is_stuck(self, owner):
        return owner in self.busy and self.busy[owner].answered

    def _look(self, db, ticket, name, thread_id):
        """On a looker's thread, for a thread that was not held: it may be so by now, be blocked, or run."""
        if self.crowd.state(db, thread_id) == sf_threads.HELD:
            with db._main_lock:
                if _is_held(db, thread_id):
                    refusal = self._post(db, ticket, name, thread_id)
                    if refusal is not None:
                        db.writer.add_command(refusal)
                    return
        _, error = _guarded(self._check_blocked, db, name, thread_id, ticket.request.arguments)
        if error is not None:
            ticket.answer(error=error)
        else:
            self._work(db, ticket, name, (thread_id, False))

    def _check_blocked(self, db, name, thread_id, arguments):
        """Refuse a call about a thread that is not held, but for looking into one that is blocked."""
        number = BaseSchema._translate_id_to_dap(thread_id)
        if self.crowd.state(db, thread_id) != sf_threads.BLOCKED:
            raise (
                Refused("running", "thread %s is not paused" % number) if "threadId" in arguments else _stale(arguments)
            )
        if self._is_stuck((thread_id, False)):
            raise Refused(*STUCK.split(": "))
        if name in ("eval", "assign"):
            raise Refused(
                "blocked", "thread %s is in native code or waits; it can be looked into, not evaluated in" % number
            )

    def _on_paused_thread(self, db, ticket, name, thread_id):
        self.posted[thread_id].remove(ticket)
        if not ticket.answered:
            self._work(db, ticket, name, (thread_id, True))

    def _work(self, db, ticket, name, owner):
        """Answer a ticket: on the paused thread, or on a looker's for one that is not held."""

        def give_up():
            ticket.give_up()
            if not owner[1]:
                self.lookers.replace(db)

        ticket.guard = give_up
        self.busy[owner] = ticket
        with sf_watch.when_stuck(give_up):
            body, error = _guarded(self.on_thread[name], db, owner[0], ticket)
        del self.busy[owner]
        ticket.answer(body, error)

    def gone_on(self, thread_id):
        """Refuse what came too late: a thread that stepped on does not look at its queue before its next stop."""
        self.crowd.gone_on()
        for ticket in self.posted.get(thread_id, ()):
            ticket.answer(error="running: the thread has gone on")

    def ending(self, db):
        """The last word: what was loaded; before it, what may have kept breakpoints from stopping the program."""
        if sys.version_info < (3, 12) and "coverage" in sys.modules:
            message = "coverage is loaded: while it measures, breakpoints do not stop the program before Python 3.12"
            sf_patches.send_event(db, {"kind": "untraced", "message": message + " (pytest: --no-cov)"})
        for each in sf_classes.lacking(sf_judging.never_met(db)):
            meant = "; %s is one" % each["nearest"] if each["nearest"] else ""
            message = "%s was never raised: there was no exception class of that name%s" % (each["name"], meant)
            sf_patches.send_event(db, {"kind": "untraced", "message": message})
        return {"kind": "ending", "loaded": self.places.ever_named()}

    def hello(self, db, arguments):
        self.standing = None  # of a process that this one was forked from, or of a client that has left
        return {
            "helper": VERSION,
            "python": "%d.%d.%d" % sys.version_info[:3],
            "pid": os.getpid(),
            "ppid": db.get_arg_ppid() or os.getppid(),
            "executable": sys.executable,
            "argv": [str(word) for word in sys.argv],
            "program": self.places.main_file(),
            "debugpy": _debugpy_version(),
        }

    def resolve(self, db, arguments):
        found = self.places.resolve(arguments.get("files") or {}, arguments.get("symbols") or [])
        self._include(db, set(found["files"]).union(one["file"] for one in found["symbols"] if one))
        return found

    def _include(self, db, files):
        """A file that a breakpoint was asked for in is the user's business, even if it is a library's."""
        fresh = {path for path in files - self.included if not db.in_project_roots_filename_uncached(path)}
        if fresh:
            self.included |= fresh
            db.set_exclude_filters([ExcludeFilter(glob.escape(path), False, True) for path in sorted(self.included)])

    def loaded(self, db, arguments):
        self.places.named.update(arguments["files"])
        return {"loaded": self.places.loaded(arguments["files"])}

    def modules(self, db, arguments):
        return self.places.modules(int(arguments.get("start", 0)), int(arguments.get("count", 100)))

    def classes(self, db, arguments):
        return {"lacking": sf_classes.lacking([str(each) for each in arguments["names"]])}

    def conditions(self, db, arguments):
        """Why each of these conditions is no expression of this Python; None of one that is."""
        return {"problems": [sf_evaluate.misread(str(each)) for each in arguments["texts"]]}

    def forget(self, db, arguments):
        """Whoever asked for an evaluation is gone: it is not begun, or cut off as if its time were up."""
        self.forgotten = arguments["token"]
        tickets = list(self.busy.values()) + [each for waiting in self.posted.values() for each in waiting]
        for ticket in tickets:
            if ticket.request.arguments.get("token") == arguments["token"]:
                ticket.unwanted = True
                if ticket.guard is None:
                    ticket.answer(error="running: nobody waits for it any more")
                else:
                    sf_watch.watchdog().hurry(ticket.guard)
        return {}

    def release(self, db, arguments):
        sf_release.release(db)
        return {}

    def threads(self, db, arguments):
        rows = self.crowd.rows(db) if arguments.get("threads", True) else []  # first: meanwhile threads come to be held
        return {"held": sf_threads.held(db), "threads": rows}

    def waits(self, db, arguments):
        return {"parties": sf_waits.tell(db, self.crowd, _bounds(arguments), int(arguments.get("values", 12)))}

    def stop(self, db, thread_id, ticket):
        arguments, body = ticket.request.arguments, ticket.body
        stop = self._stop(db, thread_id)
        watched = arguments.get("watch") or []
        self.places.named.update(watched)
        own = bool(arguments.get("own", True))
        bounds = _bounds(arguments)
        stop.tell(int(arguments.get("levels", 20)), int(arguments.get("values", 40)), bounds, body, own)
        stop.tell_inside(body, int(arguments.get("inside", 0)), bounds)
        body["loaded"] = self.places.loaded(watched)
        return body

    def locals(self, db, thread_id, ticket):
        arguments = ticket.request.arguments
        stop, frame = self._frame(db, arguments["frameId"])
        scope = arguments.get("scope", "locals")
        rows = sf_frames.local_rows(frame, stop.line(frame), scope, bool(arguments.get("all")))
        return _page(stop, len(rows), _cut(rows, arguments), _bounds(arguments))

    def expand(self, db, thread_id, ticket):
        arguments = ticket.request.arguments
        stop = sf_frames.stop_of_reference(db, arguments["ref"]) or self._look_of_reference(db, arguments["ref"])
        if stop is None or arguments["ref"] not in stop.kept:
            raise _stale(arguments)
        bounds = _bounds(arguments)
        value, start = stop.kept[arguments["ref"]], int(arguments.get("start", 0))
        total, rows = sf_values.children(value, start, int(arguments.get("count", 100)), bounds)
        if sf_values.is_a(value, (str, bytes, bytearray)):
            bounds = sf_values.Bounds(bounds.text * 12 + 8, bounds.items, bounds.seconds)  # a slice is told whole
        return _page(stop, total, rows, bounds)

    def eval(self, db, thread_id, ticket):
        arguments = ticket.request.arguments
        stop, frame = self._frame(db, arguments["frameId"])
        limit = float(arguments.get("timeout", 5.0))
        bounds = _bounds(arguments)
        results = []
        for text in arguments["expressions"]:
            if ticket.unwanted or arguments.get("token", 0) == self.forgotten:
                break
            outcome = sf_evaluate.evaluate(frame, str(text), limit, bounds)
            results.append(_told(outcome, str(text), stop, bounds))
        return {"results": results}

    def assign(self, db, thread_id, ticket):
        arguments = ticket.request.arguments
        stop, frame = self._frame(db, arguments["frameId"])
        limit, bounds = float(arguments.get("timeout", 5.0)), _bounds(arguments)
        outcome = sf_evaluate.assign(frame, str(arguments["target"]), str(arguments["value"]), limit, bounds)
        return _told(outcome, str(arguments["target"]), stop, bounds)

    def _thread_of(self, db, arguments):
        """pydevd's id of the thread that a call is about."""
        found = None
        if "threadId" in arguments:
            found = BaseSchema._dap_id_to_obj_id.get(arguments["threadId"])
            if not isinstance(found, str):
                raise Refused("unknown", "no thread %s" % arguments["threadId"])
        elif "ref" in arguments:
            stop = sf_frames.stop_of_reference(db, arguments["ref"])
            found = stop.thread_id if stop is not None else self.crowd.thread_of_reference(arguments["ref"])
        elif "frameId" in arguments:
            frame_id = BaseSchema._dap_id_to_obj_id.get(arguments["frameId"])
            if isinstance(frame_id, int):
                found = db.suspended_frames_manager.get_thread_id_for_variable_reference(frame_id)
                found = found or self.crowd.thread_of_frame(frame_id)
        else:
            raise Refused("usage", "a threadId, frameId or ref is needed")
        if found is None:
            raise _stale(arguments)
        return found

    def _stop(self, db, thread_id):
        stop = sf_frames.Stop.of(db, thread_id) or self.crowd.look(db, thread_id)
        if stop is None:
            raise Refused("running", "the thread has gone on")
        return stop

    def _frame(self, db, number):
        found = sf_frames.frame_of(db, number) or self.crowd.frame(db, BaseSchema._dap_id_to_obj_id.get(number))
        if found is None:
            raise _stale({"frameId": number})
        return found

    def _look_of_reference(self, db, number):
        thread_id = self.crowd.thread_of_reference(number)
        return self.crowd.look(db, thread_id) if thread_id is not None else None


def _stale(arguments):
    what = "reference %s" % arguments["ref"] if "ref" in arguments else "frame %s" % arguments["frameId"]
    return Refused("stale", what + " belongs to a stop that is over")


def _told(outcome, name, stop, bounds):
    if outcome.error is not None:
        return {"error": outcome.error}
    if outcome.is_statement:
        row = {"name": name, "type": "", "value": "", "total": None, "truncated": False, "ref": None, "error": False}
        return {"value": row}
    return {"value": sf_values.describe(name, outcome.value, bounds, stop.keep)}


def _is_held(db, thread_id):
    """Whether the thread is held, and not on its way already; asked under the lock of those who would resume it."""
    if db.suspended_frames_manager.get_frames_list(thread_id) is None:
        return False
    thread = pydevd_find_thread_by_id(thread_id)
    return getattr(getattr(thread, "additional_info", None), "pydev_state", None) == STATE_SUSPEND


def _bounds(arguments):
    return sf_values.Bounds(arguments.get("text", 160), arguments.get("items", 8), arguments.get("seconds", 1.0))


def _cut(rows, arguments):
    start = int(arguments.get("start", 0))
    return rows[start : start + int(arguments.get("count", 100))]


def _page(stop, total, rows, bounds):
    values = [sf_values.describe(name, value, bounds, stop.keep) for name, value in rows]
    return {"values": values, "total": total}


def _debugpy_version():
    """The version of the debugpy that holds this pydevd, from its own file: importing it would start its adapter."""
    import pydevd

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(pydevd.__file__))))
    try:
        with open(os.path.join(package, "_version.py"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    _, found, rest = text.partition('"version": "')
    return rest.partition('"')[0] if found else None


def install(settings, program):
    """Make the request known to pydevd."""
    desk = Desk(settings, program)
    sf_refusals.install()
    PyDevJsonCommandProcessor.on_stillframe_request = lambda self, db, request: desk.handle(db, request)
    desk.places.install()
    sf_patches.Quick.gone_on = staticmethod(desk.gone_on)
    sf_patches.Quick.ending = staticmethod(desk.ending)
    sf_leaving.Hooks.ended_step = staticmethod(desk.ended_step)
    return desk
