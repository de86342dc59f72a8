"""Runs inside gdb, which holds the process to join: starts a thread there that runs our code when it gets the GIL.

Nothing waits in the process while gdb holds it: a call that waited on one of its threads could not be given up without
leaving that thread in the middle of it. A thread that gdb interrupted while it allocates or loads would wait for itself even
so, hence each is looked at first, those that wait in the kernel before those that compute. STILLFRAME_CODE in the environment
is the text to run. Says `stillframe: started` when all went well, `stillframe: nowhere safe` where no thread can be used at
the moment, `stillframe: not up` where the interpreter does not run yet, or no more, `stillframe: narrow` where this gdb could not
undo a call; with STILLFRAME_NARROW it was told of fewer registers, which it can.
"""

import os
import re
import struct

import gdb

STARTED, NOWHERE, NOT_UP, NARROW = (
    "stillframe: started",
    "stillframe: nowhere safe",
    "stillframe: not up",
    "stillframe: narrow",
)
READ, WRITE, RUN = 1, 2, 4  # protections of memory
INNERMOST = 12  # frames that are looked at
_UNSAFE = re.compile(r"alloc|free|fork|nptl|^_*(dl|lll|int)_|^_*dl(open|sym|close)|pthread_(create|exit|detach)")


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


def chosen(threads, narrow):
    """A thread that a call does not harm; while gdb keeps fewer registers, one that computes might miss the others."""
    for thread in sorted((one for one in threads if not narrow or waits(one)), key=lambda one: not waits(one)):
        if not any(_UNSAFE.search(name) for name in names(thread)):
            return thread
    return None


def keeps_registers():
    """Whether gdb can write back the registers of the thread, as it must after a call.

    On a processor that has more of them than gdb before 14 knows (AMX), the kernel refuses that, and a thread that waited in
    the kernel would come back with a number of the kernel's own. One flag of no consequence is changed, and changed back.
    """
    try:
        flags = int(gdb.parse_and_eval("$mxcsr"))
        gdb.execute("set var $mxcsr = %d" % (flags ^ 1))
        gdb.execute("set var $mxcsr = %d" % flags)
    except gdb.error:
        return False
    return True


def call(function, *arguments):
    words = ", ".join("(unsigned long)%d" % each for each in arguments)
    kinds = ", ".join("unsigned long" for _ in arguments)
    return int(gdb.parse_and_eval("((unsigned long (*)(%s))%s)(%s)" % (kinds, function, words)))


def room(size, protection):
    """Fresh memory of the process (Linux: private, anonymous); never given back, since nobody knows when it is done with."""
    at = call("mmap", 0, size, protection, 0x22, 2**64 - 1, 0)
    if at >= 2**64 - 4096:
        raise gdb.GdbError("the process gets no memory")
    return at


def thread_entry():
    """A function for a new thread (x86-64): takes the GIL, runs the text that is its argument, gives the GIL back.

    debugpy's library 1.8.22 has one as well, but it gives the GIL back even where the interpreter ends the thread
    because the program is at its end, and that aborts the program.
    """
    ensure, run, release = (
        struct.pack("<Q", int(gdb.parse_and_eval("(unsigned long)&%s" % name)))
        for name in ("PyGILState_Ensure", "PyRun_SimpleString", "PyGILState_Release")
    )
    steps = (
        b"\xf3\x0f\x1e\xfa",  # endbr64
        b"\x53\x41\x54\x48\x83\xec\x08",  # push rbx; push r12; sub rsp, 8
        b"\x48\x89\xfb",  # mov rbx, rdi
        b"\x48\xb8" + ensure + b"\xff\xd0",  # movabs rax, PyGILState_Ensure; call rax
        b"\x41\x89\xc4\x48\x89\xdf",  # mov r12d, eax; mov rdi, rbx
        b"\x48\xb8" + run + b"\xff\xd0",  # movabs rax, PyRun_SimpleString; call rax
        b"\x44\x89\xe7",  # mov edi, r12d
        b"\x48\xb8" + release + b"\xff\xd0",  # movabs rax, PyGILState_Release; call rax
        b"\x48\x83\xc4\x08\x41\x5c\x5b\x31\xc0\xc3",  # add rsp, 8; pop r12; pop rbx; xor eax, eax; ret
    )
    at = room(4096, READ | RUN)
    gdb.selected_inferior().write_memory(at, b"".join(steps))  # a debugger may write where the program may not
    return at


def is_up():
    """Whether the interpreter runs; before that its library may not be there, or not be ready to be called."""
    try:
        return call("Py_IsInitialized") & 0xFFFFFFFF != 0
    except gdb.error:
        return False


def run():
    threads = sorted(gdb.selected_inferior().threads(), key=lambda one: one.num)
    if not threads:  # gdb has said why it may not hold the process
        return
    thread = chosen(threads, "STILLFRAME_NARROW" in os.environ)
    if thread is None:
        print(NOWHERE)
        return
    thread.switch()
    if not keeps_registers():
        print(NARROW)
        return
    gdb.execute("set scheduler-locking off")  # else a thread that holds a lock of the allocator would never give it up
    gdb.execute("set unwindonsignal on")  # when we are interrupted, the thread goes on where it was
    if not is_up():
        print(NOT_UP)
        return
    code = os.environ["STILLFRAME_CODE"].encode() + b"\0"
    data = room(8 + len(code), READ | WRITE)
    gdb.selected_inferior().write_memory(data + 8, code)
    failed = call("pthread_create", data, 0, thread_entry(), data + 8) & 0xFFFFFFFF
    if failed:
        raise gdb.GdbError("the process gets no thread: %s" % os.strerror(failed))
    call("pthread_detach", int(gdb.parse_and_eval("*(unsigned long *)%d" % data)))
    print(STARTED)


run()
