"""The signals that end programs for what they did, and what they are called: runs inside gdb and inside lldb."""

import signal

FATAL = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")
FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
"""Those that are about an address."""
SI_KERNEL = 0x80
"""The code of a fault of which the processor tells no address, as of one that none can have: the kernel then says 0."""
UNTOLD = " at an address that the processor does not tell"
WORDS = {
    "SIGSEGV": "invalid memory access",
    "SIGBUS": "bad memory access",
    "SIGFPE": "bad arithmetic",
    "SIGILL": "bad instruction",
    "SIGABRT": "aborted",
    "SIGSYS": "bad system call",
}


def mode(name, pid):
    """How a signal holds the process of this number, if it is of this machine: one that the program has a handler for need not
    be its end."""
    if name not in FATAL:
        return "unknown"
    return "not handled so far" if pid and _has_handler(name, pid) else "uncaught"


def _has_handler(name, pid):
    try:
        with open("/proc/%d/status" % pid) as file:
            caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt:"))
    except (OSError, ValueError, StopIteration):
        return False
    return bool(caught >> (getattr(signal, name) - 1) & 1)
