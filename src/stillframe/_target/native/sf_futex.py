"""What a thread of a held program waits for, by the kernel's word: the futex that it sleeps at. A mutex of glibc knows its owner.

Runs inside gdb and inside lldb; `program` is what each of them knows of the program: `threads()` of Thread, `word(address)`, a
number of four bytes there or None, and `name(address, thread)`, what the program calls that address.
"""

import os
import re

MOST = 200  # threads that are looked at
LEVELS = 10  # calls of each: what takes a lock is among the innermost
OWNER = 8  # glibc's pthread_mutex_t begins with the futex; who holds it is its third number, on every machine of 32 and 64 bits
_CALLS = {"x86_64": 202, "i386": 240, "i686": 240, "aarch64": 98, "riscv64": 98}  # the number of futex()
_TAKES = re.compile(r"^_*(GI_+)?pthread_mutex_(lock|timedlock|clocklock|cond_lock)(_full)?(@.*)?$")
_OTHER = re.compile(r"rwlock|barrier|cond_|sem_|\bsyscall\b|once")


class Thread(object):
    """A thread: the debugger's word for it, the kernel's, and the innermost functions that it is in."""

    def __init__(self, id, tid, name, functions, libraries):
        self.id = id
        self.tid = tid
        self.name = name
        self.functions = functions
        self.libraries = libraries


def waits(pid, program):
    """A row for each thread of which something is known."""
    threads = program.threads()
    by_tid = {each.tid: each.id for each in threads}
    rows = []
    for each in threads:
        futex = _futex(pid, each.tid)
        if futex is None:
            continue
        told = _mutex(each, futex[0], by_tid, program) or _join(each, futex, by_tid, program)
        if told is not None:
            rows.append(dict(told, id=each.id, name=each.name, what="thread"))
    return rows


def _futex(pid, tid):
    """The address that a thread sleeps at, and the value that it found there; None where it does something else."""
    try:
        with open("/proc/%d/task/%d/syscall" % (pid, tid)) as file:
            words = file.read().split()
    except (OSError, IOError):  # no process of this machine, or none that we may look into
        return None
    if len(words) < 4 or words[0] != str(_CALLS.get(os.uname()[4])):
        return None
    return int(words[1], 16), int(words[3], 16) & 0xFFFFFFFF


def _mutex(thread, address, by_tid, program):
    at = next((n for n, each in enumerate(thread.functions) if _TAKES.match(each)), None)
    if at is None or "libc.so" not in thread.libraries[at] and "libpthread" not in thread.libraries[at]:
        return None  # another C library lays a mutex out in another way
    told = {"waits": "mutex %s" % (program.name(address, thread) or hex(address))}
    owner = program.word(address + OWNER)
    if not owner:
        return dict(told, holder="unknown")
    if owner not in by_tid:
        return dict(told, holder="thread %d, which is none of this process now" % owner)
    return dict(told, held_by=str(by_tid[owner]), on=[by_tid[owner]])


def _join(thread, futex, by_tid, program):
    """glibc waits for a thread's end at the place where the kernel is to wipe out its number."""
    address, value = futex
    if value not in by_tid or by_tid[value] == thread.id or program.word(address) != value:
        return None
    if any(_OTHER.search(each) for each in thread.functions) or "libc.so" not in (thread.libraries or [""])[0]:
        return None
    return {"ends": str(by_tid[value]), "on": [by_tid[value]]}
