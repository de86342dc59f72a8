"""Steps by lines as people count them: a line that compilers made several statements of is one: runs inside gdb."""

import sys

import gdb

dap_next = sys.modules["gdb.dap.next"]
dap_server = sys.modules["gdb.dap.server"]
MOST = 50
"""So many further steps are taken on one line; a step that goes backwards is a round of a loop, and is told."""
_JUMPS = ("jmp", "b")
"""On x86 and on ARM."""
SKIPPED = (
    "^std::",
    "^__gnu_cxx::",
    "^core::",
    "^alloc::",
    "^hashbrown::",
    "^<core::",
    "^<alloc::",
    "^<std::",
)
"""Functions of the libraries that a step does not go into; gdb's patterns have no alternatives."""


class Steps(object):
    """What the last step was and where it began."""

    def __init__(self):
        self._command = None
        self._from = None
        self._count = 0

    def begins(self, command):
        self._command, self._count = command, 0
        self._from = _here()

    def goes_on(self, body):
        """Whether a stop is only another statement of the line that the step began on; the step is repeated then."""
        if body.get("reason") != "step" or self._command is None:
            self._command = None
            return False
        now = _here()
        if self._from is None or now is None or now[:-1] != self._from[:-1]:
            return False
        if now[-1] <= self._from[-1] and (self._count or not _only_jumps(self._from[-1])):
            return False
        self._from, self._count = now, self._count + 1
        return self._count < MOST

    def again(self):
        return "%s &" % self._command


def _here():
    """Thread, function, caller's stack and line of the innermost call, and its address."""
    try:
        frame = gdb.newest_frame()
        older = frame.older()
        where = frame.find_sal()
        below = int(older.read_register("sp")) if older is not None else 0
        return gdb.selected_thread().global_num, frame.name(), below, where.line, frame.pc()
    except (gdb.error, ValueError):
        return None


def _only_jumps(address):
    """Whether all that the statement at an address does is to go elsewhere, as at the end of a loop's body, of which compilers
    say that it is of the loop's first line: Rust 1.63."""
    try:
        (only,) = gdb.selected_frame().architecture().disassemble(address, count=1)
        return only["asm"].split()[0] in _JUMPS and address + only["length"] == gdb.find_pc_line(address).last + 1
    except (gdb.error, TypeError, ValueError, IndexError):  # what is there cannot be read
        return False


def install(steps, just_my_code):
    """Learn of every step before it is taken."""

    def noted(name, command):
        theirs = dap_server._commands[name]

        def ours(**arguments):
            by_line = arguments.get("granularity", "statement") != "instruction"
            dap_server.send_gdb_with_response(lambda: steps.begins(command if by_line else None))
            return theirs(**arguments)

        dap_server._commands[name] = ours

    theirs = dap_next.exec_and_expect_stop

    def in_background(command, *further, **named):
        """gdb 18.1 waits for the end of a step where requests are answered, so that one that has come just behind the step
        is answered when the step ends, if ever."""
        theirs(command if command.endswith("&") else command + " &", *further, **named)

    dap_next.exec_and_expect_stop = in_background
    noted("next", "next")
    noted("stepIn", "step")
    for name in ("continue", "stepOut"):
        noted(name, None)
    for pattern in SKIPPED if just_my_code else ():
        gdb.execute("skip -rfu %s" % pattern, to_string=True)
