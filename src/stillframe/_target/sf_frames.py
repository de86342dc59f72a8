"""What a paused thread shows: its frames, the locals of one, what was returned, and the exception that stopped it."""

import dis
import functools
import itertools
import linecache
import os
import re
import sys
import types

from _pydevd_bundle import sf_compare, sf_raised, sf_reported, sf_turns, sf_values
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_CAUGHT_EXCEPTION
from _pydevd_bundle.pydevd_constants import RETURN_VALUES_DICT
from _pydevd_bundle.pydevd_thread_lifecycle import pydevd_find_thread_by_id
from _pydevd_bundle.sf_fields import is_among, module_of, name_of
from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

RETURNS = 8  # returned values that a stop tells at the most
DEEPEST = 200  # frames told at the most to reach the user's own frame under library ones
INSIDE = 12  # parts of one value that are told along with it at the most
CAUSES = 8  # exceptions of a chain that a stop tells at the most
MEMBERS = 16  # exceptions in groups that a stop tells at the most, however they are nested
_WORD = re.compile(r"[^\W\d]\w*")
_UNTOLD = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type) + (
    type(functools.lru_cache(None)(len)),  # a function behind a cache
    types.MethodDescriptorType,
)
_NOTIONS = ("typing", "typing_extensions", "__future__")  # whose objects a module has for its annotations
_ALIASES = tuple(getattr(types, name) for name in ("GenericAlias", "UnionType") if hasattr(types, name))
_NONE = object()
ASYNC_GENERATOR = 0x200  # of a code's flags
COROUTINE = 0x80
SUSPENDABLE = 0x20 | COROUTINE | ASYNC_GENERATOR  # generators and coroutines
YIELDED = "async_generator_wrapped_value"  # the class of what such code gives to whoever iterates, and not to the loop
HOOKS = ("_asyncgen_firstiter_hook", "_asyncgen_finalizer_hook")  # called by the interpreter, not by the program
_references = itertools.count(1)
_invocations = itertools.count(1)
_LEAVING = frozenset(
    dis.opmap[name]
    for name in ("RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR", "YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME")
    if name in dis.opmap
)


class Names:
    """What a frame's function is called where its code does not tell (before 3.11): `sf_places` knows it by the file's text."""

    of = staticmethod(lambda frame: frame.f_code.co_name)


class Returns(dict):
    """pydevd's record of what calls out of a frame returned; in our hands it also tells the frame from every other one.

    pydevd keeps such a dict among the locals of the calling frame. One of ours there is an identity that lives exactly as
    long as that invocation does and prolongs nothing. It also hears of each return while the frame that is left still
    stands, and so knows a return from an exception, for which `sys.settrace` reports a return of None.
    """

    left = staticmethod(lambda frame, value: None)  # `sf_leaving` hears of each frame that returns

    def __init__(self):
        dict.__init__(self)
        self.key = next(_invocations)
        self.entered = False  # whether a breakpoint on the function has been come to here
        self.prints = {}  # of the locals that are told in part: what they held when the program was last held here
        self.said = {}  # of those whose repr is code of the program's: who they were, and what they said then

    @classmethod
    def of(cls, frame):
        """The record in this frame, put there if need be."""
        names = frame.f_locals
        found = names.get(RETURN_VALUES_DICT)
        if type(found) is not cls:
            found = cls()
            names[RETURN_VALUES_DICT] = found
        return found

    def __setitem__(self, name, value):
        if name.rpartition(".")[2] in HOOKS or type(value).__name__ == YIELDED:
            return  # the event loop's own, and what an asynchronous generator yields: nobody was given that
        frame = left_frame(sys._getframe(1)) if sys.version_info < (3, 12) else None
        if frame is not None and frame.f_code.co_flags & SUSPENDABLE and not is_over(frame):
            return  # pydevd 1.8.22 takes it for returning where it waits
        if value is not None or is_returning(frame):
            self.pop(name, None)  # the last one told is the last one in
            dict.__setitem__(self, name, value)
            if frame is not None and is_returning(frame):
                self.left(frame, value)


def left_frame(frame):
    """The frame that is being left: the first below pydevd's own."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("_pydevd", "pydevd")):
        frame = frame.f_back
    return frame


def is_returning(frame):
    """Whether the frame that is being left is at an instruction that leaves it."""
    if frame is None or frame.f_lasti < 0:
        return True
    return frame.f_code.co_code[frame.f_lasti] in _LEAVING


def is_over(frame):
    """Whether the frame that is being left comes to its own end (until 3.11)."""
    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["RETURN_VALUE"]


class Stop:
    """One stop of one thread, living on pydevd's tracker of its frames: gone, with all it refers to, when it resumes."""

    def __init__(self, db, thread_id, frames):
        self.db = db
        self.thread_id = thread_id
        self.frames = frames
        self.visible = [frame for frame in frames if not _is_start_up(db, frame)]
        self._drop_runpy(frames)
        self.kept = {}
        self.returned = _NONE
        self.changed = {}  # by name, in the frame that is told: found once, however often the stop is asked for
        sf_compare.is_own = functools.partial(_is_users_class, db)  # nothing of this stop: that one stays

    @classmethod
    def of(cls, db, thread_id):
        """The stop that the thread is in, or None while it runs."""
        tracker = db.suspended_frames_manager.get_frame_tracker(thread_id)
        frames = tracker.get_frames_list(thread_id) if tracker is not None else None
        if frames is None:
            return None
        held = getattr(tracker, "stillframe", None)
        if held is None or held.frames is not frames:
            held = tracker.stillframe = cls(db, thread_id, frames)
        return held

    def _drop_runpy(self, frames):
        """`python -m` has runpy's own frames below the program; a plain stop does not show them."""
        if len(self.visible) == len(frames):
            return
        while len(self.visible) > 1 and self.visible[-1].f_globals.get("__name__") == "runpy":
            self.visible.pop()

    def keep(self, value):
        number = next(_references)
        self.kept[number] = value
        return number

    def line(self, frame):
        return self.frames.frame_id_to_lineno.get(id(frame), frame.f_lineno)

    def describe_frame(self, frame):
        code = frame.f_code
        path = _file_of(frame)
        name = frame.f_globals.get("__name__")
        user = self.is_user(frame)
        return {
            "id": BaseSchema._translate_id_to_dap(id(frame)),
            "function": getattr(code, "co_qualname", None) or (Names.of(frame) if user else code.co_name),
            "file": path,
            "line": self.line(frame),
            "module": name if type(name) is str else None,
            "user": user,
            "key": None,
        }

    def mark(self, at):
        """Know the frames again that the next step can end in: those told of, and their callers."""
        keys = {}
        for index in {0, 1, at, at + 1}:
            if index < len(self.visible):
                keys[index] = str(Returns.of(self.visible[index]).key)
        return keys

    def is_user(self, frame):
        path = get_abs_path_real_path_and_base_from_frame(frame)[0]
        return not self.db.apply_files_filter(frame, path, True)

    def top_user(self):
        """Index of the innermost frame of the user's own code; 0 where there is none near, or all code is asked for."""
        if not self.db.get_use_libraries_filter():
            return 0
        for index, frame in enumerate(self.visible[:DEEPEST]):
            if self.is_user(frame):
                return index
        return 0

    def tell(self, levels, count, bounds, body, own=True):
        """Fill the body of `stop`, but for what is loaded: piece by piece, so that what is there by now can be sent."""
        at = self.top_user() if own else 0
        shown = self.visible[: max(levels, at + 1)]
        rows = local_rows(shown[at], self.line(shown[at])) if shown else []
        body.update(frames=[self.describe_frame(frame) for frame in shown], total=len(self.visible), at=at)
        for index, key in self.mark(at).items():
            if index < len(shown):
                body["frames"][index]["key"] = key
        body.update(locals=[], locals_total=len(rows), returned=[], exception=None, changed={})
        for name, value in rows[:count]:
            body["locals"].append(stuck_value(name, value))
            row = body["locals"][-1] = sf_values.describe(name, value, bounds, self.keep)
            if row.pop("asked", False):
                row["restless"] = self.is_restless(Returns.of(shown[at]), row, value, bounds)
            parts = self.parts_changed(Returns.of(shown[at]), name, value, row["truncated"])
            if parts:
                body["changed"][name] = [[path, _part(part, came, bounds)] for path, part, came in parts]
        body["returned"] = self.tell_returned(bounds)
        body["exception"] = self.tell_exception(bounds)

    def is_restless(self, record, row, value, bounds):
        """Whether the same object says something else each time that it is asked: that is no doing of the line that ran."""
        before, record.said[row["name"]] = record.said.get(row["name"]), (id(value), row["value"])
        if row["error"] or before is None or before[0] != id(value) or before[1] == row["value"]:
            return False
        return sf_values.describe(row["name"], value, bounds, _no_reference)["value"] != row["value"]

    def parts_changed(self, record, name, value, is_cut):
        """The parts of a local that are others than when the program was last held in this frame, where its text is cut."""
        if name not in self.changed:
            before = record.prints.pop(name, _NONE)
            self.changed[name] = ()
            if is_cut:
                now = record.prints[name] = sf_compare.held(value)
                if before is not _NONE and not sf_compare.is_same(before, now):
                    self.changed[name] = _parts(before, now, value)
        return self.changed[name]

    def tell_inside(self, body, most, bounds):
        """Add what is inside of locals whose text is cut, so many parts of all of them, as long as there are some left."""
        for row in body["locals"] if most else ():
            if row["ref"] is not None and most > 0:
                row["children"] = sf_values.inside(self.kept[row["ref"]], min(most, INSIDE), bounds)
                most -= len(row["children"])

    def tell_returned(self, bounds):
        """What calls out of this frame gave back since the last stop, the newest last. pydevd only adds to its record,
        so we empty it at each stop."""
        if self.returned is _NONE:
            self.returned = []
            record = self.visible[0].f_locals.get(RETURN_VALUES_DICT) if self.visible else None
            if record:
                self.returned = list(record.items())[-RETURNS:]
                record.clear()
        return [sf_values.describe(name, value, bounds, self.keep) for name, value in self.returned]

    def tell_exception(self, bounds):
        frames = self.frames
        if frames.exc_type is None:
            return None
        left = sf_raised.Left(self.is_user, self.visible)
        row = self._tell_error(frames.exc_desc, frames.trace_obj, bounds, left, itertools.repeat(None, MEMBERS))
        row["mode"] = self._mode()
        return row

    def _tell_error(self, error, trace, bounds, left, room, most=20):
        """An exception, where it passed, what it came from, and those inside it where it is a group of them."""
        chain = _chain(error)
        kind, _, message = sf_values.told(error, bounds).partition(": ")
        row = {"type": kind, "message": message, "frames": self._raise_path(trace, most)}
        row["notes"] = sf_values.notes_of(error)
        row["values"] = [sf_values.describe(*held, bounds, _no_reference) for held in sf_values.held_by(error, message)]
        row["cause"] = sf_values.told(chain[0][1], bounds) if chain else None
        row["causes"] = [self._tell_cause(link, one, bounds, left) for link, one in chain]
        inside = _members(error)
        row["members"] = [self._tell_member(one, bounds, left, room) for one, _ in zip(inside, room)]
        row["members_total"] = len(inside)
        return row

    def _tell_member(self, error, bounds, left, room):
        row = self._tell_error(error, error.__traceback__, bounds, left, room, 8)
        if not row["members"]:
            row["locals"] = self._tell_left(error, bounds, left)
        return row

    def _tell_cause(self, link, error, bounds, left):
        """An exception of the chain that led to another one: where it passed, and how the one before came of it."""
        kind, _, message = sf_values.told(error, bounds).partition(": ")
        row = {"type": kind, "message": message, "link": link, "frames": self._raise_path(error.__traceback__, 8)}
        row["locals"] = self._tell_left(error, bounds, left)
        return row

    def _tell_left(self, error, bounds, left):
        """The values of the call that an exception was raised in, those first that its line names."""
        frame, line = left.call_of(error) or (None, 0)
        if frame is None:
            return []
        here = _WORD.findall(linecache.getline(frame.f_code.co_filename, line))
        rows = sorted(local_rows(frame, line), key=lambda row: here.index(row[0]) if row[0] in here else len(here))
        small = sf_values.Bounds(sf_raised.TEXT, sf_raised.ITEMS, bounds.seconds)
        return [sf_values.describe(*row, small, _no_reference) for row in left.share(rows)]

    def _mode(self):
        """How the exception came to stop us, as pydevd marked its list of frames."""
        if isinstance(self.frames.exc_desc, SystemExit):
            return "exit"
        if id(self.frames.exc_desc) == sf_reported.Caught.told_now:
            return "raised"
        thread = pydevd_find_thread_by_id(self.thread_id)
        if getattr(thread, "stop_reason", None) == CMD_STEP_CAUGHT_EXCEPTION:
            current = self.frames.current_frame
            last = self.frames.last_frame() if len(self.frames) else None
            return "user" if current is not None and current is not last else "raised"
        return "uncaught"

    def _raise_path(self, trace, most):
        """Where the exception passed, innermost first."""
        steps = []
        while trace is not None:
            if not _is_start_up(self.db, trace.tb_frame):
                steps.append((trace.tb_frame, trace.tb_lineno))
            trace = trace.tb_next
        told = []
        for frame, line in reversed(steps[-most:]):
            row = self.describe_frame(frame)
            row["line"] = line
            told.append(row)
        return told


def _is_users_class(db, kind):
    """What a library's object holds inside is no news."""
    file = getattr(sys.modules.get(type.__dict__["__module__"].__get__(kind)), "__file__", None)
    return type(file) is str and db.in_project_roots_filename_uncached(os.path.abspath(file))


def _parts(before, now, value):
    try:
        return sf_compare.changed_parts(before, now, value)
    except (IndexError, RuntimeError):  # a thread that is not held has changed it meanwhile
        return ()


def _part(value, came, bounds):
    """What a part holds now. Words of ours are in brackets: no text of a value is."""
    if value is sf_compare.GONE:
        return "(gone)"
    return sf_values.describe("", value, bounds, _no_reference)["value"] + (" (inserted)" if came else "")


def _no_reference(value):
    """What is told in short, of an exception or a part, is not kept to be looked into: it has no reference."""


def _file_of(frame):
    """The file that a frame's code is from. A .pyc alone names the source as it was compiled: then it is the module's own."""
    path = get_abs_path_real_path_and_base_from_frame(frame)[0]
    compiled = frame.f_globals.get("__file__")
    if type(compiled) is str and compiled.endswith(".pyc") and not os.path.exists(path):
        return os.path.abspath(compiled[:-1])
    return path


def _chain(error):
    """[(how, exception)] that an exception was raised from, the nearest first: "cause" said so, "context" was being handled."""
    chain, seen = [], {id(error)}
    while len(chain) < CAUSES:
        cause = getattr(error, "__cause__", None)
        link = "cause" if cause is not None else "context"
        if cause is None and not getattr(error, "__suppress_context__", True):
            cause = getattr(error, "__context__", None)
        if not isinstance(cause, BaseException) or id(cause) in seen:
            break
        seen.add(id(cause))
        chain.append((link, cause))
        error = cause
    return chain


def _members(error):
    """The exceptions that a group holds; the class of groups is a builtin from 3.11, and a package's before."""
    is_group = any(kind.__name__ == "BaseExceptionGroup" for kind in type(error).__mro__)
    inside = getattr(error, "exceptions", ()) if is_group else ()
    return [one for one in inside if isinstance(one, BaseException)] if type(inside) in (tuple, list) else []


def stuck_value(name, value):
    """Stands for a value while its text is made; sent only where that never ends."""
    text = "<repr does not return and cannot be interrupted>"
    row = {"name": name, "type": name_of(type(value)), "value": text, "total": None, "truncated": False}
    row.update(ref=None, error=True)
    return row


def _is_start_up(db, frame):
    return db.get_file_type(frame) == db.PYDEV_FILE


def frame_of(db, frame_number):
    """(Stop, frame) of a DAP frame id, or None when its thread has gone on."""
    frame_id = BaseSchema._dap_id_to_obj_id.get(frame_number)
    thread_id = db.suspended_frames_manager.get_thread_id_for_variable_reference(frame_id)
    if thread_id is None:
        return None
    stop = Stop.of(db, thread_id)
    frame = db.find_frame(thread_id, frame_id)
    return (stop, frame) if stop is not None and frame is not None else None


def stop_of_reference(db, number):
    """The Stop that keeps a reference, or None: it ended when its thread went on."""
    for tracker in list(db.suspended_frames_manager._thread_id_to_tracker.values()):
        stop = getattr(tracker, "stillframe", None)
        if stop is not None and number in stop.kept:
            return stop
    return None


def snapshot(frame):
    """The frame's locals as a dict of our own: 3.13 gives a live proxy, earlier versions a shared dict. Of one that an error
    left in the middle of a comprehension also what that was at."""
    return {**frame.f_locals, **sf_turns.of(frame)}


def argument_names(code):
    count = getattr(code, "co_argcount", 0) + getattr(code, "co_kwonlyargcount", 0)
    flags = getattr(code, "co_flags", 0)
    count += bool(flags & 0x04) + bool(flags & 0x08)
    return getattr(code, "co_varnames", ())[:count]


def local_rows(frame, line, scope="locals", everything=False):
    """(name, value) in the order of the contract: arguments, names on the current line, the rest."""
    names = snapshot(frame) if scope == "locals" else dict(frame.f_globals)
    if not everything:
        module = frame.f_code.co_name == "<module>" or scope != "locals"
        names = {name: value for name, value in names.items() if _is_told(name, value, module)}
    lead = [name for name in argument_names(frame.f_code) if name in names] if scope == "locals" else []
    here = _WORD.findall(linecache.getline(frame.f_code.co_filename, line or 0))
    order = dict.fromkeys(lead + [name for name in here if name in names])
    order.update(dict.fromkeys(name for name in names if isinstance(name, str)))
    return [(name, names[name]) for name in order]


def _is_told(name, value, module):
    """Whether a name is one of the program's data; what a function has of `typing` is, and what a module has is not."""
    if not isinstance(name, str) or not name.isidentifier():  # comprehensions have `.0`, pytest `@py_assert1`
        return False
    if name.startswith(("__pydevd", "_pydev_stop")) or (name.startswith("__") and name.endswith("__")):
        return False
    kind = type(value)
    if issubclass(kind, _UNTOLD):
        return False
    return not module or not (is_among(kind, _ALIASES) or module_of(kind) in _NOTIONS or name == "TYPE_CHECKING")
