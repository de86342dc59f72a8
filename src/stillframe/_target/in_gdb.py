"""Runs inside gdb, which holds the process to join: calls debugpy's native library on a thread where that is safe.

A thread that gdb interrupted while it takes the GIL, or allocates, waits for itself if a call is made on it there. So each is
looked at first, those that wait in the kernel before those that compute. Settings by environment: STILLFRAME_NATIVE (the
library), STILLFRAME_CODE (the expression to run). Says `stillframe: nowhere safe` where there is no such thread at the moment.
"""

import os
import re

import gdb

NOWHERE = "stillframe: nowhere safe"
INNERMOST = 12  # frames that are looked at
_UNSAFE = re.compile(
    r"take_gil|drop_gil|PyEval_(Restore|Save|Acquire|Release)|PyGILState|alloc|Alloc|free$|_Free|gc_collect|fork"
    r"|^_*(dl|lll|pthread|int)_|^_*dl(open|sym|close)"
)


def names(thread):
    """The functions that a thread is in, innermost first."""
    thread.switch()
    frame, found = gdb.newest_frame(), []
    while frame is not None and len(found) < INNERMOST:
        found.append(frame.name() or "")
        frame = frame.older()
    return found


def waits(thread):
    """Whether the thread was in the kernel when it was stopped."""
    thread.switch()
    return int(gdb.parse_and_eval("(long)$orig_rax")) >= 0


def chosen(threads):
    for thread in sorted(threads, key=lambda one: not waits(one)):
        if not any(_UNSAFE.search(name) for name in names(thread)):
            return thread
    return None


def run():
    threads = sorted(gdb.selected_inferior().threads(), key=lambda one: one.num)
    if not threads:  # gdb has said why it may not hold the process
        return
    thread = chosen(threads)
    if thread is None:
        print(NOWHERE)
        return
    thread.switch()
    native = os.environ["STILLFRAME_NATIVE"]
    gdb.execute("set scheduler-locking off")  # else the thread that holds the GIL would never give it up
    gdb.execute("set unwindonsignal on")  # when we are interrupted, the thread goes on where it was
    gdb.execute('call (void*)dlopen("%s", 2)' % native)
    gdb.execute("sharedlibrary %s" % os.path.splitext(os.path.basename(native))[0])
    gdb.execute('call (int)DoAttach(0, "%s", 0)' % os.environ["STILLFRAME_CODE"])


run()
