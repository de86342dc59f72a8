"""Code that brings our debugger up inside a foreign process which already runs: executed there by `inject.injection`."""

import contextlib
import json
import os
import socket
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LEAVING = 10.0  # seconds for a debugger that is about to leave to be gone


def join(host, port, server_token, client_token, vendored, pycache):
    """Connect this process to the debugger that waits at host:port; the program goes on meanwhile."""
    _import_threading()
    if not _starts_threads():
        _refuse(host, port, "Python 3.12 starts no thread once the main one is over, and a debugger needs some")
        return
    boot = _load_boot()
    quiet = os.environ.get("PYDEVD_DISABLE_FILE_VALIDATION")
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else pydevd 1.8.22 warns about frozen modules on stderr
    try:
        boot.import_engine(vendored, pycache)
    finally:
        if quiet is None:
            del os.environ["PYDEVD_DISABLE_FILE_VALIDATION"]
        else:
            os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = quiet
    from _pydevd_bundle import sf_engine, sf_requests

    if not _is_free():
        _refuse(host, port, "process %d is under another debugger already" % os.getpid())
        return
    values = {"STILLFRAME_TOKENS": "%s:%s" % (server_token, client_token), "STILLFRAME_ON_EOF": "resume"}
    settings = sf_engine.Settings(values, boot.__file__)
    sf_requests.install(settings, None)
    with _unseen():
        sf_engine.join(host, port, settings)


def _import_threading():
    """Until 3.12 `threading` takes the thread that first imports it for the main one, which this here is not."""
    if "threading" in sys.modules or sys.version_info >= (3, 13):
        return
    import threading

    main, lock = threading.main_thread(), threading._allocate_lock()
    lock.acquire()  # held as long as the thread lives; ours would be let go of when we are done
    threading._shutdown_locks.discard(main._tstate_lock)
    threading._active.pop(main.ident, None)
    main._tstate_lock, main._ident, main._native_id = lock, list(sys._current_frames())[-1], os.getpid()  # the eldest
    threading._active[main.ident] = main


def _starts_threads():
    """3.12 alone refuses from the moment on at which the main thread waits for the others to end."""
    if sys.version_info[:2] == (3, 12):
        import _thread

        try:
            _thread.start_new_thread(int, ())
        except RuntimeError:
            return False
    return True


def _is_free():
    """Whether no debugger is in this process; one that leaves is waited for, its threads too."""
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    db, deadline = get_global_debugger(), time.monotonic() + LEAVING
    if db is None:
        return True
    if getattr(db, "stillframe_released", False) or getattr(db, "stillframe_line_gone", False) or db.pydb_disposed:
        for thread in list(db.created_pydb_daemon_threads):
            thread.join(max(deadline - time.monotonic(), 0))
    return db.pydb_disposed


@contextlib.contextmanager
def _unseen():
    """The thread that runs this was started from outside: it is none of the program's, and soon gone."""
    from _pydev_bundle._pydev_saved_modules import threading

    thread = threading.current_thread()
    thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
    try:
        yield
    finally:
        threading._active.pop(thread.ident, None)


def _load_boot():
    """Our start-up script as a module, without leaving a .pyc beside it."""
    import types

    path = os.path.join(HERE, "pydevd.py")
    module = types.ModuleType("_stillframe_boot")
    module.__file__ = path
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def _refuse(host, port, message):
    event = {"seq": 1, "type": "event", "event": "stillframe", "body": {"kind": "refused", "message": message}}
    data = json.dumps(event).encode()
    try:
        with socket.create_connection((host, port), 10) as line:
            line.sendall(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    except OSError:  # nobody there to be told
        sys.stderr.flush()
