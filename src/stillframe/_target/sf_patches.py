"""pydevd made quick and safe for our use: connecting, ending without loss, and what happens when the line drops.

Everything here leans on private names of the pinned debugpy; `selftest.py` checks that they are there.
"""

import fcntl
import itertools
import os
import signal
import sys

import pydevd
from _pydev_bundle import pydev_log
from _pydev_bundle._pydev_saved_modules import ThreadingEvent, threading, time
from _pydevd_bundle import (
    pydevd_additional_thread_info_regular,
    pydevd_comm,
    pydevd_constants,
    pydevd_net_command,
    pydevd_thread_lifecycle,
    sf_bare,
    sf_endings,
    sf_greenlets,
    sf_headroom,
    sf_last,
    sf_leaving,
    sf_lifetimes,
    sf_release,
    sf_resumed,
    sf_stepping,
    sf_tracing,
    sf_worded,
)
from _pydevd_bundle import pydevd_command_line_handling as command_line
from _pydevd_bundle.pydevd_api import PyDevdAPI
from _pydevd_bundle.pydevd_comm_constants import CMD_RETURN
from _pydevd_bundle.pydevd_constants import DebugInfoHolder
from _pydevd_bundle.pydevd_dont_trace_files import PYDEV_FILE

HERE = os.path.dirname(os.path.abspath(__file__))
CONNECT = 10.0  # seconds to reach the debugger
STALLED = 5.0  # seconds without a byte taken by the client, after which we stop waiting for it
HIGH = 1000  # the least number of the file that is our line; select takes none from 1024 on
POLL = 0.2  # seconds between two looks at a state that has no event to wait for
_real_exit, _real_close_range = os._exit, os.closerange
_halts = itertools.count(1)
_MORE = getattr(pydevd_comm.socket_module, "MSG_MORE", 0)  # Linux


def _start_client(host, port):
    """pydevd's own prints a traceback into the program's stderr when nobody listens.

    The line's number is a high one: the program's own files get the numbers of a plain run, and programs that close all
    files that they do not know seldom go so far.
    """
    sock = pydevd_comm.socket_module.create_connection((host, port), CONNECT)
    sock.settimeout(None)
    try:
        number = fcntl.fcntl(sock.fileno(), fcntl.F_DUPFD_CLOEXEC, HIGH)
    except OSError:  # the limit of this process is lower
        return sock
    sock.close()
    return pydevd_comm.socket_module.socket(fileno=number)


def _send(self, sock):
    """A message in one piece, and along with the next one where that waits already: each piece wakes the client. pydevd
    1.8.22 writes the head of a message by itself."""
    writer = threading.current_thread()
    waiting = writer._cmd_queue.queue if isinstance(writer, pydevd_comm.WriterThread) else ()
    followed = bool(waiting) and type(waiting[0]) is pydevd_net_command.NetCommand
    message = b"Content-Length: %d\r\n\r\n%s" % (len(self._as_bytes), self._as_bytes)
    sock.sendall(message, _MORE if followed else 0)
    for method in self._after_send or ():
        method(sock)


def event_command(body):
    """A `stillframe` event as pydevd's writer takes it."""
    event = {"type": "event", "event": "stillframe", "body": body}
    return pydevd_net_command.NetCommand(CMD_RETURN, 0, event, is_json=True)


def send_event(db, body, flushed=None):
    """Queue a `stillframe` event; `flushed` is called when it, and so all before it, has been written."""
    command = event_command(body)
    if flushed is not None:
        command.call_after_send(lambda sock: flushed())
    db.writer.add_command(command)


def drain(db, body):
    """Send a last event and wait until everything queued is written, or the client takes no more."""
    writer = db.writer
    if writer is None or writer is threading.current_thread() or writer._kill_received:
        return
    written = ThreadingEvent()
    send_event(db, body, written.set)
    left, since = None, time.monotonic()
    while not written.wait(POLL):
        before, left = left, writer._cmd_queue.qsize()
        if left != before:
            since = time.monotonic()
        if time.monotonic() - since > STALLED or writer not in db.created_pydb_daemon_threads:
            return


class Quick:
    """The patched methods, gathered so that the list of what we change can be read in one place."""

    settings = None
    gone_on = staticmethod(lambda thread_id: None)
    ending = staticmethod(lambda db: {"kind": "ending", "loaded": []})
    initialize_network = pydevd.PyDB.initialize_network
    dispose = pydevd.PyDB.dispose_and_kill_all_pydevd_threads
    file_type = pydevd.PyDB._internal_get_file_type
    on_disconnect = pydevd.PyDB.on_disconnect
    wait_suspend = pydevd.PyDB._do_wait_suspend
    run_thread = staticmethod(pydevd_thread_lifecycle.internal_run_thread)
    line = None
    line_inode = 0
    halted = {}  # held thread to (a number of its own for each time, the trace event at which it waits)


class _NoNap:
    """Stands for the time module while pydevd connects: it ends with a fixed sleep of 0.1 s (1.8.22)."""

    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        return (lambda seconds: None) if name == "sleep" else getattr(self._real, name)


def _initialize_network(self, sock, terminate_on_socket_close=True):
    real, pydevd.time = pydevd.time, _NoNap(pydevd.time)
    try:
        Quick.initialize_network(self, sock, terminate_on_socket_close)
    finally:
        pydevd.time = real
    socket = sys.modules["socket"]
    try:
        Quick.line, Quick.line_inode = sock, os.fstat(sock.fileno()).st_ino
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:  # gone already: the reader will say so
        pass


def _wait_for_ready_to_run(self):
    """As pydevd's, but over when the client left: then the program runs on undebugged instead of waiting for ever."""
    event = self._py_db_command_thread_event
    while not self.ready_to_run and not self.pydb_disposed:
        self.process_internal_commands()
        event.wait(POLL)
        event.clear()


def _line_dropped(self):
    """End of the client's line, as the reader sees it."""
    db = self.py_db
    if db is None:
        return
    if not db.pydb_disposed:
        _leave_behind(db)
        db.dispose_and_kill_all_pydevd_threads()
    db._py_db_command_thread_event.set()
    for event in list(db._thread_events.values()):
        event.set()


def _leave_behind(db):
    """The client is gone: a launched program dies with its debugger, any other goes on at full speed."""
    db.stillframe_line_gone = True
    let_go = db.terminate_requested or getattr(db, "stillframe_released", False)
    waiting_child = not db.ready_to_run and db.get_arg_ppid()
    if Quick.settings.kill_at_eof and not let_go and not waiting_child and not _line_closed_here(db):
        os.kill(os.getpid(), signal.SIGKILL)
    if db.ready_to_run:
        sf_release.release(db)
        PyDevdAPI().request_disconnect(db, resume_threads=True)  # else a paused thread would go on stepping


def _line_closed_here(db):
    reader = db.reader
    return reader is not None and _closed_by_program(reader.sock)


def _on_disconnect(self):
    self.stillframe_released = True
    Quick.on_disconnect(self)


def _watch_for_the_end(self):
    """CheckAliveThread's work without its polling: wait for each thread of the program. The interpreter waits for us in its
    turn, then runs the callbacks of atexit, of which pydevd's own is the last and disposes."""
    while not self._kill_received:
        threads = (each for each in pydevd.pydevd_utils.get_non_pydevd_threads() if not each.daemon)
        thread = next((each for each in threads if sf_last.is_alive(each)), None)
        if thread is None:
            return
        threading.Thread.join(thread, POLL)  # not its own join: that may be the program's, or gevent's
        self.py_db.check_output_redirect()


def _dispose(self, wait=True, timeout=0.5):
    if not self.pydb_disposed and not self.terminate_requested and not getattr(self, "stillframe_line_gone", False):
        if threading.current_thread() is self.writer:  # it could not write
            if not _line_closed_here(self):
                return  # the reader comes to the end, too, and first to what we were told before it: to let go, perhaps
            _leave_behind(self)
        else:
            drain(self, Quick.ending(self))
    Quick.dispose(self, wait, timeout)
    sf_lifetimes.forget_frames()


def _wait_for_writer(self, timeout):
    """pydevd also waits 0.5 s for its reader, which ends only when the client closes; the writer is what matters."""
    writer = self.writer
    if writer is not None and writer is not threading.current_thread() and writer.is_alive():
        writer.join(STALLED)


def _file_type(self, abs_real_path_and_basename):
    if os.path.dirname(abs_real_path_and_basename[0]) == HERE:
        return PYDEV_FILE
    return Quick.file_type(self, abs_real_path_and_basename)


def _waking(do_it):
    """After a command for one thread, have that thread look again at once.

    pydevd 1.8.22 wakes a random thread instead: a loop in _update_stepping_info reuses the name of its argument. With
    two threads or more that costs a step 0.2 s now and then.
    """

    def done(self, db):
        thread_id = self.thread_id
        do_it(self, db)
        if thread_id != "*":
            db._thread_events[thread_id].set()

    return done


def _run_thread(thread, set_additional_thread_info):
    Quick.run_thread(thread, set_additional_thread_info)
    db = pydevd_constants.get_global_debugger()
    if db is not None:
        db._thread_events[pydevd_constants.get_thread_id(thread)].set()


def _wait_suspend(self, thread, frame, event, *arguments):
    Quick.halted[pydevd_constants.get_thread_id(thread)] = (next(_halts), event)
    try:
        return sf_headroom.with_room(frame, Quick.wait_suspend, self, thread, frame, event, *arguments)
    finally:
        Quick.halted.pop(pydevd_constants.get_thread_id(thread), None)
        sf_leaving.follow(frame, event)
        sf_stepping.follow(frame)
        Quick.gone_on(pydevd_constants.get_thread_id(thread))


def _closed_by_program(sock):
    """Whether our socket's number is no longer our socket: a program that daemonises closes all it does not know."""
    try:
        return os.fstat(sock.fileno()).st_ino != Quick.line_inode
    except OSError:
        return True


def _close_range(low, high):
    """os.closerange, but for our line while it is ours."""
    number = Quick.line.fileno() if Quick.line is not None and not _closed_by_program(Quick.line) else -1
    if low <= number < high:
        _real_close_range(low, number)
        low = number + 1
    _real_close_range(low, high)


def _exit_without_loss(status):
    db = pydevd_constants.get_global_debugger()
    if db is not None and getattr(db, "stillframe_pid", None) == os.getpid() and not db.pydb_disposed:
        sf_endings.exits(db, status)
        drain(db, Quick.ending(db))
    _real_exit(status)


def _unnumbered(init):
    """Threads of pydevd that start later take no number that the program's own would have had."""

    def made(self, *arguments, **options):
        real = sf_greenlets.real_threading()
        kept, real._counter = real._counter, itertools.count(1000).__next__
        try:
            init(self, *arguments, **options)
        finally:
            real._counter = kept

    return made


class _OneEach(dict):
    """What there is one of for each thread, made by whoever asks first: of two that ask at once both get the same.

    In pydevd 1.8.22 it is a defaultdict, whose maker is code of Python's. A thread that was just being held and the reader that
    was asked about it could then each make a queue: the thread never heard what it was asked.
    """

    def __init__(self, make, made):
        dict.__init__(self, made)
        self._make = make

    def __missing__(self, key):
        return self.setdefault(key, self._make())


def _new_db(init):
    def made(self, set_as_global=True):
        init(self, set_as_global)
        self._cmd_queue = _OneEach(self._cmd_queue.default_factory, self._cmd_queue)
        self._thread_events = _OneEach(self._thread_events.default_factory, self._thread_events)
        self.stillframe_pid = os.getpid()
        sf_headroom.install()
        self.fix_top_level_trace_and_get_trace_func = sf_headroom.watch(self.fix_top_level_trace_and_get_trace_func)

    return made


def patch(settings):
    """Change pydevd's classes, once per process; forked children inherit it."""
    again, Quick.settings = Quick.settings is not None, settings
    if again:
        return
    cls = pydevd.PyDB
    cls.__init__ = _new_db(cls.__init__)
    cls.initialize_network = _initialize_network
    cls.wait_for_ready_to_run = _wait_for_ready_to_run
    cls.on_disconnect = _on_disconnect
    cls._do_wait_suspend = _wait_suspend
    sf_leaving.patch()
    sf_leaving.Hooks.say = sf_tracing.Hooks.say = staticmethod(send_event)
    cls.dispose_and_kill_all_pydevd_threads = _dispose
    cls._PyDB__wait_for_threads_to_finish = _wait_for_writer
    cls._internal_get_file_type = _file_type
    pydevd.PyDBDaemonThread.__init__ = _unnumbered(pydevd.PyDBDaemonThread.__init__)
    pydevd.CheckAliveThread._on_run = _watch_for_the_end
    pydevd_comm.ReaderThread._terminate_on_socket_close = _line_dropped
    pydevd_net_command.NetCommand.send = _send
    pydevd_thread_lifecycle.internal_run_thread = _run_thread
    for command in (pydevd_comm.InternalThreadCommand, pydevd_comm.InternalSetNextStatementThread):
        command.do_it = _waking(command.do_it)
    cls.ignore_system_exit_code = sf_endings.is_plain_end
    DebugInfoHolder.DEBUG_TRACE_LEVEL = -1  # pydevd's own complaints are not the program's stderr
    pydev_log._pydevd_log_exception = lambda *arguments: None
    sf_tracing.patch()
    sf_last.patch()
    sf_lifetimes.patch()
    sf_bare.patch()
    sf_resumed.patch()
    sf_worded.patch()
    pydevd_additional_thread_info_regular._current_frames = sf_release.current_frames
    cls.set_tracing_for_untraced_contexts = sf_release.trace_everybody
    pydevd.start_client = _start_client
    pydevd.patch_stdin = lambda: None  # a forked child would get a wrapped sys.stdin
    command_line.get_pydevd_file = lambda: settings.boot
    os._exit, os.closerange = _exit_without_loss, _close_range
    if sys.version_info >= (3, 12):
        os.fork = sf_release.quiet_fork(os.fork)
    os.register_at_fork(after_in_child=sf_release.let_go_after_fork)
