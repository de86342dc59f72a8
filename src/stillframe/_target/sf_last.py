"""The main thread after its last line: while others go on, and where callbacks of atexit run, it is a thread like any other.

Python itself calls it stopped by then, and pydevd 1.8.22 neither traces nor holds a thread that is, and lets go when all are. It
lets go at the end of all callbacks, too, since its own was registered before any of the program's.
"""

import sys

from _pydev_bundle import pydev_is_thread_alive
from _pydevd_bundle import sf_greenlets, sf_watch

is_alive = pydev_is_thread_alive.is_thread_alive


def _is_there(thread):
    return is_alive(thread) or thread is sf_greenlets.real_threading().main_thread()


def begin(db):
    """Have the threads that may be needed later from the start: 3.12 alone starts none once the main thread is over."""
    if sys.version_info[:2] == (3, 12):
        sf_watch.watchdog()
        db.timeout_tracker.call_on_timeout(0.0, int)  # pydevd's own, for a pause


def patch():
    """Change pydevd's modules, which have the function by its name; the compiled ones, too."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        for name in ("is_thread_alive", "pydevd_is_thread_alive"):
            if names.get(name) is is_alive:
                setattr(module, name, _is_there)
    monitoring = sys.modules.get("_pydevd_sys_monitoring._pydevd_sys_monitoring")
    if monitoring is not None:
        monitoring.ThreadInfo.is_thread_alive = lambda self: _is_there(self.thread)
