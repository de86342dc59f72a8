"""What the program made goes when it would go without a debugger: threads that are over, and what frames hold at its very end.

pydevd 1.8.22 keeps every thread that ever was, so that none gets the number of another: a server that starts one for each
request would keep them all, with all that they hold.
"""

import itertools
import os
import sys

from _pydev_bundle._pydev_saved_modules import thread
from _pydevd_bundle import pydevd_constants

MONITORING = "_pydevd_sys_monitoring._pydevd_sys_monitoring"
_numbers = itertools.count(1)


def _number_thread(one, is_current_thread):
    """The name of a thread, the first time it is asked for; by a count, since the id of one that went is given out again."""
    with pydevd_constants._thread_id_lock:
        found = getattr(one, "__pydevd_id__", None)
        if found is None:
            found = one.__pydevd_id__ = "pid_%s_id_%d" % (pydevd_constants.get_pid(), next(_numbers))
    return found


def forget_frames():
    """Keep no frame: what it holds would go too late to be heard of, as `__del__` at the very end.

    From 3.12 on pydevd keeps two of each thread, its outermost and the one that an exception would leave last.
    """
    monitoring = sys.modules.get(MONITORING)
    if monitoring is not None:
        monitoring.reset_thread_local_info()


def _unless_over(create, module):
    """As pydevd's maker of what it knows of a thread, for the first event there; but a thread that is over stays so.

    What it held goes last, and may run code: the thread is none of Python's by then, and pydevd would take it for a foreign one.
    Of threads that nothing was heard of before, its own too, that code is the set's of all threads.
    """
    born = {}  # ident, which the next thread may have again, to the kernel's number, which it has not

    def created(depth):
        ident, number = module._get_ident(), thread.get_native_id()
        if ident not in module._thread_active and (born.get(ident) == number or _leaves_set()):
            return None
        info = create(depth + 1)
        if info is not None and ident in module._thread_active:
            born[ident] = number
        return info

    return created


def _leaves_set():
    """Whether nothing runs here but what takes a thing that goes out of a weak set."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return os.path.basename(frame.f_code.co_filename) == "_weakrefset.py"


def patch():
    """Change pydevd's modules; from 3.12 on the one that hears of events, too."""
    pydevd_constants._get_or_compute_thread_id_with_lock = _number_thread
    monitoring = sys.modules.get(MONITORING)
    if monitoring is not None:
        monitoring._create_thread_info = _unless_over(monitoring._create_thread_info, monitoring)
