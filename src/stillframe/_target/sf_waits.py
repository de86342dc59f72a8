"""What the threads and tasks of a program wait for, and who holds it where that is certain: told of a program that hangs."""

import gc
import os
import sys
import types

from _pydevd_bundle import pydevd_utils, sf_frames, sf_greenlets, sf_locks, sf_pipes, sf_threads, sf_values
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
from _pydevd_bundle.pydevd_constants import get_thread_id

TASKS = 200  # told at the most
DEEP = 60  # frames of one that are looked into
UNKNOWN = "unknown"


class Party:
    """A thread or a task: its frames, innermost first, and what we find out about it."""

    def __init__(self, number, what, name, frames, ident=None, state=None, native_id=None):
        self.number = number
        self.what = what
        self.name = name
        self.frames = frames
        self.ident = ident  # of a thread
        self.native_id = native_id  # the kernel's word for it
        self.state = state
        self.waits = None  # in words
        self.lock = None
        self.on = []  # threads and tasks that it waits for
        self.user = []  # those of its frames that are the user's

    def told(self, holders):
        row = {"id": str(self.number), "what": self.what, "name": self.name, "waits": self.waits, "state": self.state}
        row.update(holder=None, on=[str(each.number) for each in self.on])
        if self.lock is not None:
            found = holders(self.lock)
            row["holder"] = ", ".join(text for _, text in found) or UNKNOWN
            others = [party for party, _ in found if party is not self]
            row["on"] = [str(party.number) for party in others or [party for party, _ in found]]
        return row


class _Scene(sf_frames.Stop):
    """Describes frames of a task, which no stop of a thread holds."""

    def __init__(self, db):
        self.db = db
        self.frames = types.SimpleNamespace(frame_id_to_lineno={})


def tell(db, crowd, bounds, count):
    """[row] of every thread and task: what it waits for, who holds that, and of a task where it stands."""
    scene = _Scene(db)
    parties = _threads(db, crowd) + _tasks(db)
    for party in parties:
        party.user = [frame for frame in party.frames if scene.is_user(frame)]
    for party in parties:
        _find_out(party, parties)
    table = _held_by_source(parties)

    def holders(lock):
        owner = sf_locks.owner_of(lock)
        named = [(party, party.name) for party in parties if owner is not None and party.ident == owner]
        return named or table.get(id(lock), [])

    rows = []
    for party in parties:
        row = party.told(holders)
        if party.what == "task":
            row["frames"] = [scene.describe_frame(frame) for frame in party.frames]
            at = party.user[0] if party.user else None
            found = sf_frames.local_rows(at, at.f_lineno)[:count] if at is not None else []
            row["values"] = [sf_values.describe(name, value, bounds, lambda value: None) for name, value in found]
        rows.append(row)
    return rows


def _held_by_source(parties):
    """Lock to [(party, words)] of those who are inside a `with` of it."""
    table = {}
    for party in parties:
        for frame in party.user[:DEEP]:
            for lock, _, line in sf_locks.held(frame):
                where = "%s (inside its with, %s:%d)" % (party.name, os.path.basename(frame.f_code.co_filename), line)
                table.setdefault(id(lock), []).append((party, where))
    return table


# Who there is


def _threads(db, crowd):
    states = {id(one): state for one, _, state in crowd.states(db)}
    tops, found = sys._current_frames(), []
    for one in pydevd_utils.get_non_pydevd_threads():
        frames = [frame for frame in _outwards(tops.get(one.ident)) if db.get_file_type(frame) != db.PYDEV_FILE]
        number = BaseSchema._translate_id_to_dap(get_thread_id(one))
        state = None if states.get(id(one)) == sf_threads.BLOCKED else "running"
        native_id = os.getpid() if one is sf_greenlets.real_threading().main_thread() else one.native_id
        found.append(Party(number, "thread", one.name, frames[:DEEP], one.ident, state, native_id))
    return found


def _outwards(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def _tasks(db):
    """Tasks of the event loops that run, that are not done."""
    module = sys.modules.get("asyncio.tasks")
    found = []
    for loop in _loops(module) if module is not None else ():
        tasks = sorted(module.all_tasks(loop), key=lambda one: (len(one.get_name()), one.get_name()))
        for number, task in enumerate(tasks[:TASKS], 1 + len(found)):
            frames, _ = _chain(task.get_coro())
            party = Party("task-%d" % number, "task", task.get_name(), frames[:DEEP])
            party.task = task
            found.append(party)
    return found


def _loops(module):
    """The event loops that run: by their own frames, and those that have none, such as uvloop's, by their tasks; from 3.14 on,
    where no set has those, by looking for them."""
    by_frames = [
        next((one.f_locals.get("self") for one in _outwards(frame) if _is_loop(one)), None)
        for frame in sys._current_frames().values()
    ]
    by_tasks = [task.get_loop() for name in _TASK_SETS for task in _copied(getattr(module, name, ()))]
    kind = sys.modules["asyncio.events"].AbstractEventLoop
    others = [one for one in gc.get_objects() if issubclass(type(one), kind)] if sys.version_info >= (3, 14) else []
    loops = {id(loop): loop for loop in [*by_frames, *by_tasks, *others] if loop is not None}
    return [loop for loop in loops.values() if loop.is_running()]


_TASK_SETS = ("_all_tasks", "_scheduled_tasks", "_eager_tasks")  # of Python 3.8 to 3.11; from 3.12 on


def _copied(tasks):
    for _ in range(1000):  # as asyncio's own all_tasks does: other threads may make some meanwhile
        try:
            return list(tasks)
        except RuntimeError:
            continue
    return []


def _is_loop(frame):
    return frame.f_code.co_name == "run_forever" and os.path.basename(frame.f_code.co_filename) == "base_events.py"


def _chain(coroutine):
    """The frames of what a coroutine awaits, innermost first, and what the innermost waits for."""
    frames = []
    while coroutine is not None and len(frames) < 1000:
        for prefix in ("cr_", "gi_", "ag_"):
            frame = getattr(coroutine, prefix + "frame", None)
            if frame is not None:
                frames.insert(0, frame)
                coroutine = getattr(coroutine, prefix + ("yieldfrom" if prefix == "gi_" else "await"))
                break
        else:
            break
    return frames, coroutine


# What they wait for


def _find_out(party, parties):
    if party.state == "running":
        return
    if party.what == "task":
        _of_task(party, parties)
        return
    top = party.frames[0] if party.frames else None
    if top is None:
        return
    if any(_by_library(party, frame, parties) for frame in _entries(party)):
        return
    if _runs_loop(top):
        party.waits = _WORDS["base_events.py", "run_forever"]
        return
    found = sf_locks.taken(top, party.ident)
    if found is not None:
        party.lock, party.waits = found[0], "%s %s" % (sf_locks.kind_of(found[0]), found[1])
    elif party.user and party.user[0] is top and sf_locks.is_calling(top):
        party.waits = sf_locks.call_on(top)
    if party.lock is None and (piped := sf_pipes.waited_at(party.native_id)):
        party.waits = "%s: %s" % (party.waits, piped) if party.waits else piped


def _runs_loop(frame):
    """Whether the innermost frame of a thread has called an event loop that is none of Python's own making."""
    call = (sf_locks.call_on(frame) or "") if sf_locks.is_calling(frame) else ""
    return call.partition("(")[0].endswith((".run_until_complete", ".run_forever"))


def _entries(party):
    """Frames of libraries inside the innermost one of the user's: what that one called first."""
    inside = []
    for frame in party.frames:
        if party.user and frame is party.user[0]:
            break
        inside.append(frame)
    return reversed(inside)


def _by_library(party, frame, parties):
    """Whether a call of the standard library tells what is waited for."""
    file, name = os.path.basename(frame.f_code.co_filename), frame.f_code.co_name
    own = frame.f_locals.get("self")
    words = _WORDS.get((file, name))
    kind = type(own).__name__
    if (file, name) == ("threading.py", "join"):
        party.on = [each for each in parties if each.ident is not None and each.ident == getattr(own, "ident", None)]
        party.waits = "thread %s to end" % (party.on[0].name if party.on else "that is gone")
    elif file == "threading.py" and name in ("wait", "acquire", "_wait") and kind in _THREADING:
        party.waits = _THREADING[kind]
    elif file == "queue.py" and name in ("get", "put", "join"):
        party.waits = _queue_words(name, own)
    elif file == "subprocess.py" and name in ("wait", "communicate", "_wait", "_communicate"):
        party.waits = _end_of(getattr(own, "pid", None))
    elif (file, name) == ("popen_fork.py", "poll"):
        party.waits = _end_of(getattr(own, "pid", None))
    elif file == "queues.py" and name == "put" and hasattr(own, "_sem"):
        most = getattr(own, "_maxsize", "?")
        party.waits = "room in a %s, %s of %s" % (kind, most, most)
    elif file == "queues.py" and name == "get" and hasattr(own, "_reader"):
        party.waits = "an item of a %s" % kind
    elif (file, name) == ("_base.py", "result"):
        party.on = [each for each in parties if _works_on(each, own)]
        begun = "that %s works on" % party.on[0].name if party.on else "that no worker has begun"
        unknown = not party.on and getattr(own, "_state", None) != "PENDING"
        party.waits = "the result of a Future" + ("" if unknown else " " + begun)
    elif words is not None:
        party.waits = words
    return party.waits is not None


def _end_of(pid):
    why = sf_pipes.held_up(pid) if type(pid) is int else None
    return "process %s to end%s" % (pid or "?", ", %s" % why if why else "")


def _works_on(party, future):
    """Whether a thread of a pool is in the call that this future is of."""
    runs = [each for each in party.frames if each.f_code.co_name == "run" and party.what == "thread"]
    return any(getattr(each.f_locals.get("self"), "future", None) is future for each in runs)


_THREADING = {
    "Event": "an Event that is not set",
    "Condition": "a Condition to be notified",
    "Semaphore": "a Semaphore that is used up",
    "BoundedSemaphore": "a Semaphore that is used up",
    "Barrier": "a Barrier, for others to come",
}
_WORDS = {
    ("_base.py", "wait"): "Futures to be done",
    ("socket.py", "readinto"): "data from a socket",
    ("socket.py", "accept"): "a connection to a socket",
    ("socket.py", "create_connection"): "a connection to be made",
    ("ssl.py", "read"): "data from a socket",
    ("ssl.py", "recv_into"): "data from a socket",
    ("selectors.py", "select"): "a file or socket to be ready",
    ("connection.py", "_recv"): "data from a pipe",
    ("base_events.py", "run_forever"): "its event loop, where nothing is ready",
}


def _queue_words(name, own):
    held = len(getattr(own, "queue", ()))
    if name == "get":
        return "an item of a %s that is empty" % type(own).__name__
    if name == "join":
        return "a %s to be worked off, %s tasks left" % (type(own).__name__, getattr(own, "unfinished_tasks", "?"))
    return "room in a %s, %d of %d" % (type(own).__name__, held, getattr(own, "maxsize", 0))


def _of_task(party, parties):
    waiter = getattr(party.task, "_fut_waiter", None)
    if waiter is None:
        busy = getattr(party.task.get_coro(), "cr_running", False)  # its loop's thread is in it, and blocked there
        party.waits = "what its thread waits for" if busy else "its turn"
        return
    inner = party.frames[0] if party.frames else None
    file, name = (os.path.basename(inner.f_code.co_filename), inner.f_code.co_name) if inner is not None else ("", "")
    own = inner.f_locals.get("self") if inner is not None else None
    awaited = _awaited(waiter, inner, file, name)
    tasks = [each for each in parties if each.what == "task" and any(each.task is one for one in awaited)]
    if tasks:
        party.on = tasks
        names = ", ".join(each.name for each in tasks[:4]) + (", …" if len(tasks) > 4 else "")
        party.waits = "task%s %s" % ("s" if len(tasks) > 1 else "", names)
    elif file == "locks.py" and name == "acquire" and sf_locks.lock_of(own) is not None:
        party.lock, party.waits = own, "a Lock"
    elif file == "locks.py" and type(own).__name__ in _THREADING:
        party.waits = _THREADING[type(own).__name__]
    elif file == "queues.py" and name in ("get", "put", "join"):
        party.waits = _task_queue_words(name, own)
    elif (file, name) == ("tasks.py", "sleep"):
        party.waits = "sleep(%s)" % inner.f_locals.get("delay")
    elif file == "streams.py":
        party.waits = "data of a stream (%s)" % name
    else:
        party.waits = "a %s that nobody has set" % type(waiter).__name__.lstrip("_")


def _task_queue_words(name, own):
    if name == "get":
        return "an item of a %s that is empty" % type(own).__name__
    return "a %s (%s)" % (type(own).__name__, name)


def _awaited(waiter, inner, file, name):
    """The futures that a task stands or falls with."""
    if type(waiter).__name__ == "_GatheringFuture":
        return list(getattr(waiter, "_children", ()))
    if file == "tasks.py" and name in ("_wait", "wait"):
        return [one for one in inner.f_locals.get("fs", ()) if not one.done()]
    if file == "taskgroups.py":
        return list(getattr(inner.f_locals.get("self"), "_tasks", ()))
    return [waiter]
