"""Programs that switch greenlets or let gevent change the threading module: pydevd goes on with modules of its own.

pydevd 1.8.22 does this where GEVENT_SUPPORT is in the environment, but then knows no thread of a program that has gevent
installed and does not use it. So its copy of `threading` lives on the threads of the real one, until the program imports
`gevent.monkey`; and nothing of gevent is imported before the program does it.
"""

import gc
import os
import sys

from _pydevd_bundle import sf_imports, sf_unused

SWITCH = "GEVENT_SUPPORT"
PREFIX = "greenlet_"  # of the ids under which greenlets stand among threads
COPIED = ("threading", "_thread", "time", "socket", "queue", "select")  # what gevent changes and pydevd uses
SHARED = (
    "Thread",
    "_DummyThread",
    "_MainThread",
    "_active",
    "_limbo",
    "_active_limbo_lock",
    "_dangling",
    "_main_thread",
)
SHARED += ("_shutdown_locks", "_shutdown_locks_lock", "_register_atexit")
STAND_IN = "_pydevd_bundle.pydevd_gevent_integration"


class _Modules:
    """The threading module of the program and the one of pydevd; None where they are the same."""

    real = None
    own = None
    kept = {}  # what pydevd's own had under the names that it shares for now


def _is_installed(name, path):
    """Whether such a package can be imported, by a look at the folders: asking the import system costs more."""
    return name in sys.modules or any(os.path.isdir(os.path.join(entry or ".", name)) for entry in path)


def prepare(path):
    """Before pydevd is imported: give it modules of its own where gevent may change the real ones."""
    if _is_installed("greenlet", path):
        sf_imports.after("greenlet", enable_gevent_integration)
    if not _is_installed("gevent", path):
        return
    sf_imports.after("gevent.monkey", _part)
    os.environ[SWITCH] = "True"
    sys.modules[STAND_IN] = sys.modules[__name__]
    import _pydevd_bundle

    _pydevd_bundle.pydevd_gevent_integration = sys.modules[__name__]
    for name in COPIED:
        __import__(name)
    saved, kept = _import_copies()
    _Modules.real, _Modules.own = kept["threading"], saved.threading
    if not _is_patched():
        for name in SHARED:
            if hasattr(_Modules.real, name):
                _Modules.kept[name] = getattr(_Modules.own, name)
                setattr(_Modules.own, name, getattr(_Modules.real, name))


def _import_copies():
    """pydevd's modules, with copies in them, and the real ones by name.

    What was imported on the way knows the copies: the program's `import http.client` gets one that knows the real ones.
    """
    before = set(sys.modules)
    kept = {name: sys.modules.pop(name) for name in COPIED}
    try:
        with sf_unused.LeftOut():
            from _pydev_bundle import _pydev_saved_modules as saved
    finally:
        sys.modules.update(kept)
        for name in set(sys.modules) - before:
            if not name.startswith("_pydev"):
                del sys.modules[name]
    return saved, kept


def settle(given):
    """After pydevd was imported: the environment is the program's again, and its threads are traced and counted."""
    import pydevd
    from _pydev_bundle import pydev_monkey

    if given is None:
        os.environ.pop(SWITCH, None)
    else:
        os.environ[SWITCH] = given
    pydevd.pydevd_gevent_integration = sys.modules[__name__]  # asked for each thread that begins to be traced
    if _Modules.real is not None and not _is_patched():
        pydev_monkey.threading_modules_to_patch.append(_Modules.real)


def hide_threads():
    """When pydevd's first thread was started, and it hides them: hide them from the program's module, too."""
    if _Modules.real is not None:
        for name in ("enumerate", "active_count"):
            getattr(_Modules.real, name).__code__ = getattr(_Modules.own, name).__code__


def real_threading():
    """The threading module that the program has."""
    from _pydev_bundle._pydev_saved_modules import threading

    return _Modules.real or threading


def _is_patched():
    return bool(getattr(sys.modules.get("gevent.monkey"), "saved", None))


def _part():
    """gevent is about to change the real module: pydevd's threads leave it, and the main thread is a twin from now on."""
    real, own = _Modules.real, _Modules.own
    if real is None or own._active is not real._active or _is_patched():
        return
    from _pydevd_bundle.pydevd_constants import get_global_debugger
    from _pydevd_bundle.pydevd_daemon_thread import PyDBDaemonThread

    main = real._main_thread
    for name, value in _Modules.kept.items():
        setattr(own, name, value)
    own._active, own._main_thread = dict(real._active), main
    db = get_global_debugger()
    if db is not None:
        db.threading_active = own._active  # where it looks up the thread of a frame, until 3.11
    PyDBDaemonThread.__bases__ = (own.Thread,)
    for ident, one in list(real._active.items()):
        if getattr(one, "is_pydev_daemon_thread", False):
            del real._active[ident]
    twin = object.__new__(type(main))  # gevent makes its main thread a greenlet's; pydevd's stays the system's
    twin.__dict__.update(main.__dict__)
    real._dangling.add(twin)
    real._main_thread = real._active[main.ident] = twin
    real._shutdown = _ending(main, real._shutdown)


def _ending(main, shutdown):
    """From 3.13 a thread is over when its handle says so, and gevent gives the twin another one."""

    def end():
        handle = getattr(main, "_os_thread_handle", None) or getattr(main, "_handle", None)
        if handle is not None:
            handle._set_done()
        shutdown()

    return end


def log_gevent_debug_info():
    """Asked for by pydevd when it takes this module for its own integration."""


def enable_gevent_integration():
    """Trace greenlets of this thread, until 3.11: each has a trace function of its own, which begins as none."""
    greenlet = sys.modules.get("greenlet")
    if sys.version_info >= (3, 12) or not hasattr(greenlet, "settrace"):
        return
    import pydevd_tracing

    greenlet.settrace(lambda event, arguments: pydevd_tracing.reapply_settrace())


def waiting(most):
    """(id, greenlet) of those that were switched away from; not gevent's hub, which is the one to switch them."""
    kind = getattr(sys.modules.get("greenlet"), "greenlet", None)
    if kind is None:
        return []
    found = [one for one in gc.get_objects() if issubclass(type(one), kind) and one.gr_frame is not None]
    return [("%s%d" % (PREFIX, id(one)), one) for one in found if type(one).__module__ != "gevent.hub"][:most]


def frame_of(thread_id):
    """The innermost frame of a greenlet by its id; None once it runs, or is gone, or where this is no greenlet's id."""
    if not str(thread_id).startswith(PREFIX):
        return None
    return next((one.gr_frame for name, one in waiting(sys.maxsize) if name == thread_id), None)
