"""The signals that end programs for what they did, and what they are called: runs inside gdb and inside lldb."""

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
