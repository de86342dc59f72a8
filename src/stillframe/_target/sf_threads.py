"""Threads that pydevd could not hold, blocked in native code, and greenlets that wait: told from the others, and looked into."""

import posix
import sys

from _pydev_bundle._pydev_saved_modules import ThreadingEvent, _queue, thread, time
from _pydevd_bundle import pydevd_utils, sf_frames, sf_greenlets, sf_patches
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
from _pydevd_bundle.pydevd_constants import STATE_SUSPEND, get_thread_id
from _pydevd_bundle.pydevd_daemon_thread import PyDBDaemonThread
from _pydevd_bundle.pydevd_frame_utils import create_frames_list_from_frame
from _pydevd_bundle.pydevd_thread_lifecycle import pydevd_find_thread_by_id

SETTLED = 0.02  # seconds at one instruction, though it was told to stop, after which a thread counts as blocked
PATIENCE = 0.25  # seconds that we wait for every thread to be held or settled
POLL = 0.005
LOOKS = (
    3,
    10,
)  # at the least, for the one and for the other: on a busy machine time passes in which no thread could move
GREENLETS = 100  # told at the most
DEPTH = 25  # frames from the top among which pydevd's own are, where it is about to hold a thread
# Of pydevd and of ours, what a forked process of the program's runs inside of, for its whole life.
BELOW = ("pydev_monkey.py", "sf_bare.py", "sf_children.py", "sf_endings.py", "sf_release.py")
HELD, BLOCKED, RUNNING = "held", "blocked", "running"


class Look(sf_frames.Stop):
    """A Stop of a thread that is not held: its frames are read and never written to, because it may go on at any time."""

    def mark(self, at):
        return {}

    def tell_returned(self, bounds):
        return []


class Crowd:
    """Every thread of the program while some are held: which are, and which are not because they are blocked."""

    def __init__(self):
        self._seen = {}  # thread to the place where it was met, since when, how often, and its wakes by then
        self._kept = {}  # thread to the place where it was looked into, and the values that references stand for

    def states(self, db):
        """[(thread, its pydevd id, HELD | BLOCKED | RUNNING)], as soon as that can be told of each."""
        until, looks = time.monotonic() + PATIENCE, 0
        while True:
            rows = self._rows(db)
            looks += 1
            over = looks > LOOKS[1] and time.monotonic() > until
            if over or not any(state is None for _, _, state in rows):
                return [(one, thread_id, state or RUNNING) for one, thread_id, state in rows]
            ThreadingEvent().wait(POLL)  # lets the others run: nothing tells when a thread is blocked

    def _rows(self, db):
        """By one look at where all of them are: there may be a thousand."""
        tops = _tops()
        return [(one, *self._state(db, one, tops)) for one in pydevd_utils.get_non_pydevd_threads()]

    def state(self, db, thread_id):
        """The state of one thread; RUNNING for one that is gone."""
        one = pydevd_find_thread_by_id(thread_id)
        if one is None:
            return BLOCKED if sf_greenlets.frame_of(thread_id) is not None else RUNNING
        until, looks = time.monotonic() + PATIENCE, 0
        while True:
            state = self._state(db, one, _tops())[1]
            looks += 1
            if state is not None or (looks > LOOKS[1] and time.monotonic() > until):
                return state or RUNNING
            ThreadingEvent().wait(POLL)

    def _state(self, db, one, tops):
        thread_id = get_thread_id(one)
        if db.suspended_frames_manager.get_frame_tracker(thread_id) is not None:
            return thread_id, HELD
        info = getattr(one, "additional_info", None)
        top = tops.get(one.ident)
        if info is None or info.pydev_state != STATE_SUSPEND or top is None:
            return thread_id, RUNNING
        if _is_being_held(db, top):
            return thread_id, None
        place = _point(top)
        now = time.monotonic()
        before, since, looks, wakes = self._seen.get(thread_id, (None, now, 0, None))
        if before != place:
            since, looks = now, 0
        is_settled = looks >= LOOKS[0] and now - since >= SETTLED
        if is_settled or looks == LOOKS[0] - 1:
            woken, wakes = wakes, _wakes(one)
            if is_settled and woken != wakes:  # it waits for its turn with the interpreter, not for anything else
                is_settled, looks = False, 0
        self._seen[thread_id] = (place, since, looks + 1, wakes)
        return thread_id, BLOCKED if is_settled else None

    def rows(self, db):
        told = []
        for one, thread_id, state in self.states(db):
            row = {"threadId": BaseSchema._translate_id_to_dap(thread_id), "name": one.name}
            row.update(held=state == HELD, blocked=state == BLOCKED)
            told.append(row)
        for thread_id, one in sf_greenlets.waiting(GREENLETS):
            row = {"threadId": BaseSchema._translate_id_to_dap(thread_id), "name": _greenlet_name(db, one)}
            told.append(dict(row, held=False, blocked=True))
        return told

    def look(self, db, thread_id):
        """A Look at where the thread is now, with the references that were given out while it was there."""
        top = _top(thread_id)
        if top is None:
            return None
        place = _place(thread_id)
        look = Look(db, thread_id, create_frames_list_from_frame(top))
        if self._kept.get(thread_id, (None, None))[0] != place:
            self._kept[thread_id] = (place, look.kept)
        look.kept = self._kept[thread_id][1]
        return look

    def thread_of_frame(self, frame_id):
        """pydevd's id of the thread that pydevd wants to hold, does not, and that has this frame."""
        found = [thread_id for thread_id, _ in sf_greenlets.waiting(GREENLETS)]
        for one in pydevd_utils.get_non_pydevd_threads():
            info = getattr(one, "additional_info", None)
            if info is not None and info.pydev_state == STATE_SUSPEND:
                found.append(get_thread_id(one))
        return next((thread_id for thread_id in found if _has_frame(_top(thread_id), frame_id)), None)

    def frame(self, db, frame_id):
        """(Look, frame) of a frame of a blocked thread, or None."""
        thread_id = self.thread_of_frame(frame_id)
        look = self.look(db, thread_id) if thread_id is not None else None
        frame = next((frame for frame in look.frames if id(frame) == frame_id), None) if look is not None else None
        return (look, frame) if frame is not None else None

    def thread_of_reference(self, number):
        """pydevd's id of the thread that a reference was given out for, while that thread is where it was then."""
        for thread_id, (place, kept) in list(self._kept.items()):
            if number in kept and _place(thread_id) == place:
                return thread_id
        return None

    def gone_on(self):
        """Some thread went on: what was seen belongs to a stop that is over."""
        self._seen.clear()
        self._kept.clear()


def _tops():
    """The innermost frame of every thread but the calling one, whose own would hold itself and all the others."""
    tops = sys._current_frames()
    tops.pop(thread.get_ident(), None)
    return tops


def _top(thread_id):
    """The innermost frame of a thread, or of a greenlet that waits for its turn; None for one that is gone."""
    one = pydevd_find_thread_by_id(thread_id)
    return sys._current_frames().get(one.ident) if one is not None else sf_greenlets.frame_of(thread_id)


def _place(thread_id):
    frame = _top(thread_id)
    return None if frame is None else _point(frame)


def _point(frame):
    return id(frame), frame.f_lasti


def _wakes(one):
    """How often a thread has gone to sleep and woken up by itself, as the kernel counts; None where nothing tells.

    One that waits for the interpreter looks every 5 ms whether that is free, and may be kept from running for much longer on a
    busy machine: it is about to be held, though it stands still like one that is blocked.
    """
    try:
        file = posix.open("/proc/self/task/%d/status" % one.native_id, posix.O_RDONLY)
        try:
            return posix.read(file, 4096).partition(b"\nvoluntary_ctxt_switches:")[2].split()[0]
        finally:
            posix.close(file)
    except (OSError, TypeError, AttributeError, IndexError):
        return None


def _has_frame(frame, frame_id):
    while frame is not None and id(frame) != frame_id:
        frame = frame.f_back
    return frame is not None


def _greenlet_name(db, one):
    """By the outermost function of the user's in it: what it was started for."""
    frame, name = one.gr_frame, type(one).__name__
    while frame is not None:
        if not db.apply_files_filter(frame, frame.f_code.co_filename, True):
            name = frame.f_code.co_name
        frame = frame.f_back
    return "greenlet " + name


def _is_being_held(db, frame):
    """Whether the thread is in pydevd's code already, called by code of the program: it will be held in a moment."""
    within = False
    for _ in range(DEPTH):
        if frame is None:
            return False
        own = db.get_file_type(frame) == db.PYDEV_FILE and not frame.f_code.co_filename.endswith(BELOW)
        if within and not own:
            return True
        within = within or own
        frame = frame.f_back
    return False


def held(db):
    """The threads that are really held, each with the breakpoints that it stands at.

    pydevd tells of one stop when it holds all threads; others that came to a breakpoint of their own are known only here.
    """
    rows = []
    for thread_id in list(db.suspended_frames_manager._thread_id_to_tracker):
        info = getattr(pydevd_find_thread_by_id(thread_id), "additional_info", None)
        hit = list(info.hit_breakpoint_ids or ()) if info is not None else []
        halt, event = sf_patches.Quick.halted.get(thread_id, (0, None))
        row = {"threadId": BaseSchema._translate_id_to_dap(thread_id), "hit": hit, "halt": halt}
        row["arrived"] = event == "line"  # about to run its line; at any other event it has run it already
        rows.append(row)
    return rows


class Lookers:
    """A thread of ours that reads values of blocked threads, one call at a time; another one where it got stuck itself.

    The reader must not do it: the program's own code may run, and may never return; and while the reader works, no thread
    comes to be held.
    """

    def __init__(self):
        self.jobs = _queue.Queue()
        self.present = None

    def post(self, db, job):
        if self.present is None or self.present.py_db is not db:  # none yet, or that of a debugger before this one
            self.jobs = _queue.Queue()
            self.replace(db)
        if self.present is None:
            job()
        else:
            self.jobs.put(job)

    def replace(self, db):
        """None can be started in 3.12 once the main thread is over; then the reader does it after all."""
        self.present = _Looker(db, self)
        try:
            self.present.start()
        except RuntimeError:
            self.present = None


class _Looker(PyDBDaemonThread):
    """Hidden and untraced, because it is one of pydevd's own kind."""

    def __init__(self, py_db, lookers):
        PyDBDaemonThread.__init__(self, py_db)
        self.name = "pydevd.Stillframe.Looker"
        self.lookers = lookers

    def _on_run(self):
        while not self._kill_received and self.lookers.present is self:
            job = self.lookers.jobs.get()
            if job is not None:
                job()

    def do_kill_pydev_thread(self):
        PyDBDaemonThread.do_kill_pydev_thread(self)
        self.lookers.jobs.put(None)
