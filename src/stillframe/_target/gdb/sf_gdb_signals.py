"""Why a native program stopped and how it ended, told as it is: runs inside gdb.

gdb 18.1 says in its protocol that a program which died of a signal exited with code 0, and of a signal only that there was one.
"""

import signal

import gdb
import sf_gdb_cores as cores
import sf_gdb_cxx as cxx
import sf_gdb_frames as frames
import sf_gdb_spoken as spoken
from sf_faults import FATAL, FAULTS, SI_KERNEL, UNTOLD, WORDS, mode

_BELOW = 256
"""Bytes below the stack's top that a call may be just about to use."""
_PANICS = ("__rustc::rust_panic", "std::panicking::rust_panic", "rust_panic")
"""Where every panic of Rust comes by once its message is printed, before anything is unwound, by its names over time."""


class Watching(object):
    """Which of the ways to fail hold the program, and why it was last held."""

    def __init__(self):
        self.why = {}  # of the last stop: thread, signal, caught, returned
        self.panics = []
        self.entry = False
        self.joins = False  # the stop that joining a program is, is not told: it goes on at once
        self.functions = {}  # thread to the function that it was last held in

    def hold(self, fatal, raised):
        """Hold the program at signals that end it and at panics, or let all of that take its course; `raised`: at panics too
        that the program handles."""
        # Any other goes to the program as in a plain run, but for those that gdb itself holds programs by.
        gdb.execute("handle all nostop noprint pass", to_string=True)
        gdb.execute("handle SIGSTOP stop print pass", to_string=True)  # by it gdb 18.1 ends calls that take too long
        for name in FATAL:
            gdb.execute("handle %s %s print pass" % (name, "stop" if fatal else "nostop noprint"), to_string=True)
        for each in self.panics:
            if each.is_valid():
                each.delete()
        known = [name for name in _PANICS if (fatal or raised) and _is_known(name)]
        self.panics = [Panic(name, raised) for name in known[:1]]

    def stopped(self, event):
        """Take note of a stop before gdb's own code tells it."""
        thread = gdb.selected_thread()
        number = thread.global_num if thread is not None else 0
        self.why = {"thread": number}
        details = getattr(event, "details", {}) or {}
        if isinstance(event, gdb.SignalEvent):
            self.why["signal"] = event.stop_signal
        if isinstance(event, gdb.BreakpointEvent):
            mine = [each for each in event.breakpoints if any(each is panic for panic in self.panics)]
            caught = [each for each in event.breakpoints if each.type == getattr(gdb, "BP_CATCHPOINT", None)]
            self.why["panic"] = bool(mine)
            self.why["caught"] = bool(caught)
        if details.get("finish-value") is not None:
            self.why["returned"] = (self.functions.get(number, "it"), details["finish-value"])
        self.functions[number] = _innermost()

    def reason(self, body):
        """A `stopped` body with the reason that we know better; None for a stop that nobody asked for."""
        if body.get("reason") == "attach" and self.joins:
            self.joins = False
            return None
        if cores.is_core(gdb.selected_inferior()):
            self.why = {"thread": body.get("threadId"), "signal": _name(gdb.parse_and_eval("$_exitsignal"))}
            return dict(body, reason="exception", text=self.why["signal"])
        if self.why.get("panic") or self.why.get("caught"):
            return dict(body, reason="exception", hitBreakpointIds=[])
        if body.get("reason") != "signal":
            self.why.pop("signal", None)  # we sent it ourselves, to hold the program or to join it
        if self.why.get("signal"):
            return dict(body, reason="exception", text=self.why["signal"])
        if self.entry and body.get("reason") == "breakpoint":
            self.entry = False
            return dict(body, reason="entry", hitBreakpointIds=[])
        return body

    def exception(self, thread, calling):
        """What stopped this thread, where it was no wish of the user's; found out once."""
        if self.why.get("thread") != thread:
            return None
        if "exception" not in self.why:
            with calling("()", 1.0):
                self.why["exception"] = self._exception()
        return self.why["exception"]

    def _exception(self):
        name = self.why.get("signal")
        if name == "SIGABRT" and (found := _cxx(cxx.uncaught)):
            return {"type": found[0], "message": found[1], "mode": "uncaught"}
        if name and name != "0":
            return {"type": name, "message": _message(name), "mode": mode(name, _local_pid())}
        if self.why.get("panic"):
            return {"type": "panic", "message": "", "mode": "raised" if is_handled() else "uncaught"}
        if self.why.get("caught"):
            kind, message = _cxx(cxx.thrown) or ("C++ exception", "")
            return {"type": kind, "message": message, "mode": "raised"}
        return None


class Panic(gdb.Breakpoint):
    """Holds the program at a panic of Rust."""

    def __init__(self, name, raised):
        super(Panic, self).__init__(function=name, internal=True)
        self._raised = raised

    def stop(self):
        return self._raised or not is_handled()


def is_handled():
    """Whether code of the user's own catches the panic that is under way: Rust's runtime does so at the end of each thread."""
    catches, frame, depth = False, gdb.newest_frame(), 0
    while frame is not None and depth < 500:
        name = frame.name() or ""
        catches = catches or name.endswith("panic::catch_unwind") or "::panic::catch_unwind<" in name
        if catches and frames.is_users(frames.place(frame)[0]):
            return True
        frame, depth = frame.older(), depth + 1
    return False


def ending(event):
    """The signal that a program died of, if it did."""
    if hasattr(event, "exit_code"):
        return None
    try:
        return _name(gdb.parse_and_eval("$_exitsignal"))
    except (gdb.error, TypeError):  # void: it was no signal
        return None


def _name(number):
    try:
        return signal.Signals(int(number)).name
    except ValueError:
        return "signal %d" % int(number)


def _message(name):
    words = WORDS.get(name, "")
    try:
        info = gdb.parse_and_eval("$_siginfo")
        code = int(info["si_code"])
        if name in FAULTS and code == SI_KERNEL:
            return words + UNTOLD
        if name in FAULTS and code > 0:
            address = int(info["_sifields"]["_sigfault"]["si_addr"])
            words = "stack overflow, %s" % words if _is_on_stack(address) else words
            return ("%s at address %s" % (words, hex(address))).strip()
        sender = int(info["_sifields"]["_kill"]["si_pid"])
    except (gdb.error, ValueError, TypeError, LookupError):  # a core or a far target may not tell
        return words
    if code <= 0 and sender and sender != gdb.selected_inferior().pid:
        return ("%s, sent by process %d" % (words, sender)).lstrip(", ")
    return words


def _local_pid():
    """The program's number where it lives on this machine; 0 for a core and behind a gdbserver."""
    inferior = gdb.selected_inferior()
    native = inferior.connection is not None and inferior.connection.type == "native"
    return inferior.pid if native else 0


def _is_on_stack(address):
    """Whether an address is of the innermost call's own part of the stack: it can be used, unless the stack is full."""
    frame = gdb.newest_frame()
    older = frame.older()
    return older is not None and _top(frame) - _BELOW <= address < _top(older)


def _top(frame):
    return int(frame.read_register("sp"))


def _cxx(find):
    """Class and message of a C++ exception; None where there is none, or its library does not tell."""
    try:
        found = find()
        return cxx.described(found) if found is not None else None
    except (gdb.error, ValueError, TypeError):
        return None


def _is_known(name):
    try:
        return bool(spoken.function(name))
    except gdb.error:
        return False


def _innermost():
    try:
        return gdb.newest_frame().name() or "it"
    except gdb.error:
        return "it"
