"""Why a native program stopped, told as it is: runs inside lldb.

lldb-dap 19 calls a pause, joining a program and a signal an exception, and watched data or a panic a breakpoint.
"""

import re

import lldb
import sf_lldb_cxx as cxx
import sf_lldb_frames as frames
import sf_lldb_places as places
import sf_lldb_values as values
from sf_faults import FATAL, FAULTS, SI_KERNEL, UNTOLD, WORDS, mode

_FAULT = re.compile(r"fault address(?:: |=)(0x[0-9a-fA-F]+)")
"""As lldb 19 and 22 write it."""
_BELOW = 256
"""Bytes below the stack's top that a call may be just about to use."""
_TRAP = b"\xcc"
"""The instruction by which a program itself stops for its debugger, on x86."""
_HELD_BY_US = ("SIGSTOP", "SIGINT")
_PANICS = ("__rustc::rust_panic", "std::panicking::rust_panic", "rust_panic")
"""Where every panic of Rust comes by once its message is printed, before anything is unwound, by its names over time."""


_OWN = (lldb.eStopReasonBreakpoint, lldb.eStopReasonWatchpoint, lldb.eStopReasonPlanComplete, lldb.eStopReasonException)


class Ran(object):
    """Which threads have run since their stop was told. lldb lets one thread alone make a step where it can, and lldb-dap then
    tells the stops of all the others again, as if they had come anew; the kernel knows how long each of them ran."""

    def __init__(self):
        self.told = {}

    def since_told(self, thread):
        known = self.told.get(thread.GetThreadID())
        return known is None or known != _time_run(thread)

    def tell(self, thread):
        self.told[thread.GetThreadID()] = _time_run(thread)


def _time_run(thread):
    """What the kernel counts of a thread's running; None where it does not, or the program is on another machine."""
    try:
        with open("/proc/%d/task/%d/schedstat" % (thread.GetProcess().GetProcessID(), thread.GetThreadID())) as file:
            return file.read().split()[0]
    except (OSError, IndexError):
        return None


class Untold(Exception):
    """A fault is about an address that nobody knows."""


class Catching(object):
    """Which of the ways to fail hold the program."""

    raised = False
    classes = ()


def _let_pass(process):
    """Any signal that neither ends programs for a fault nor is what lldb holds them by goes to the program as in a plain run:
    lldb would stop for each of most of them."""
    signals = process.GetUnixSignals()
    for at in range(signals.GetNumSignals()):
        number = signals.GetSignalAtIndex(at)
        if signals.GetSignalAsCString(number) not in (*FATAL, *_HELD_BY_US, "SIGTRAP"):
            signals.SetShouldStop(number, False)
            signals.SetShouldNotify(number, False)


class Watching(object):
    """Breakpoints of ours on the ways to fail, and what the last of them was about."""

    def __init__(self):
        self.panics = None
        self.throws = None
        self.pausing = False
        self.ran = Ran()

    def hold(self, debugger, modes, classes):
        fatal = "uncaught" in modes
        for name in FATAL:
            line = "process handle --stop %s --pass true --notify %s %s" % (fatal, fatal, name)
            debugger.GetCommandInterpreter().HandleCommand(line, lldb.SBCommandReturnObject())
        _let_pass(debugger.GetTargetAtIndex(0).GetProcess())
        Catching.raised = "raised" in modes
        Catching.classes = tuple(each for each in classes if each != "panic")
        target = debugger.GetTargetAtIndex(0)
        any_panic = Catching.raised or "panic" in classes
        Catching.panics_raised = any_panic
        self.panics = self._breakpoint(target, self.panics, fatal or any_panic, _PANICS, "on_panic")
        throws = Catching.raised or bool(Catching.classes)
        self.throws = self._breakpoint(target, self.throws, throws, (cxx.THROW,), "on_throw")

    @staticmethod
    def _breakpoint(target, made, wanted, names, callback):
        if made is None and wanted:
            nowhere = lldb.SBFileSpecList()
            made = target.BreakpointCreateByNames(list(names), lldb.eFunctionNameTypeAuto, nowhere, nowhere)
            made.SetScriptCallbackFunction("sf_lldb." + callback)
        if made is not None:
            made.SetEnabled(wanted)
        return made

    def why(self, thread, aside):
        """Reason and further words for a stop that lldb-dap told in other ones; empty where it was right."""
        if aside and not self.ran.since_told(thread):
            return {"old": True}
        self.ran.tell(thread)
        reason = thread.GetStopReason()
        if reason == lldb.eStopReasonSignal:
            name = _signal(thread)
            if name == "SIGTRAP" and _is_left_over(thread):
                return {"old": True} if self._others(thread) else {"go_on": True}
            return {"reason": "pause"} if name in _HELD_BY_US else {"reason": "exception", "text": name}
        if reason == lldb.eStopReasonWatchpoint:
            return {"reason": "watchpoint", "numbers": [-thread.GetStopReasonDataAtIndex(0)]}
        if reason == lldb.eStopReasonBreakpoint and self._ours(thread):
            return {"reason": "exception"}
        return {"doubts": _doubts(thread)} if reason == lldb.eStopReasonBreakpoint else {}

    def _others(self, thread):
        """Whether another thread has a stop of its own, which is yet to be told or was just."""
        known = (other for other in thread.GetProcess() if other.GetThreadID() != thread.GetThreadID())
        return any(other.GetStopReason() in _OWN and self.ran.since_told(other) for other in known)

    def _ours(self, thread):
        ids = [thread.GetStopReasonDataAtIndex(at) for at in range(0, thread.GetStopReasonDataCount(), 2)]
        made = [each for each in (self.panics, self.throws) if each is not None]
        return next((each for each in made if each.GetID() in ids), None)

    def exception(self, thread):
        """What stopped this thread, where it was no wish of the user's."""
        reason = thread.GetStopReason()
        try:
            if reason == lldb.eStopReasonSignal:
                return _of_signal(thread, _signal(thread))
            ours = self._ours(thread) if reason == lldb.eStopReasonBreakpoint else None
            if ours is not None and ours is self.panics:
                return {"type": "panic", "message": "", "mode": "raised" if is_handled(thread) else "uncaught"}
            if ours is not None:
                frame = thread.GetFrameAtIndex(0)
                kind, message = cxx.described(frame, cxx.thrown(frame))
                return {"type": kind, "message": message, "mode": "raised"}
        except cxx.Unknown:
            return {"type": "C++ exception", "message": "", "mode": "raised"}
        return None


_COUNTED = re.compile(r"\((.*)\) && \(\+\+\$stillframe_hits", re.DOTALL)


def _doubts(thread):
    """Breakpoints at which this thread is held since their condition could not be evaluated, each with the reason."""
    found = {}
    for at in range(0, thread.GetStopReasonDataCount(), 2):
        made = thread.GetProcess().GetTarget().FindBreakpointByID(thread.GetStopReasonDataAtIndex(at))
        condition = made.GetCondition() or ""
        counted = _COUNTED.match(condition)
        asked = counted.group(1) if counted else "" if "$stillframe_hits" in condition else condition
        error = thread.GetFrameAtIndex(0).EvaluateExpression(asked, values.options(2.0)).GetError() if asked else None
        if error is not None and error.Fail():
            found[made.GetID()] = values.first_line(error)
    return found


def _of_signal(thread, name):
    if name in _HELD_BY_US:
        return None
    if name == "SIGABRT":
        try:
            found = cxx.uncaught(thread)
            if found is not None:
                kind, message = cxx.described(thread.GetFrameAtIndex(0), found)
                return {"type": kind, "message": message, "mode": "uncaught"}
        except cxx.Unknown:
            pass  # the C++ runtime is another one, or broken: then it is the signal
    words = WORDS.get(name, "")
    try:
        address = _fault_of(thread, name)
        if address is not None:
            words += " at address 0x%x" % address
            if name == "SIGSEGV" and _is_on_stack(thread, address):
                words = "stack overflow, " + words
    except Untold:
        words += UNTOLD
    process = thread.GetProcess()
    pid = 0 if "core" in process.GetPluginName() else process.GetProcessID()
    return {"type": name, "message": words.strip(), "mode": mode(name, pid)}


def _fault_of(thread, name):
    """The address that a fault is about, as lldb's description has it, else as the kernel told it; none of a signal that
    somebody sent."""
    info = thread.GetSiginfo() if name in FAULTS else lldb.SBValue()
    code = info.GetChildMemberWithName("si_code").GetValueAsSigned() if info.IsValid() else 0
    if code == SI_KERNEL:
        raise Untold
    if told := _FAULT.search(thread.GetStopDescription(400) or ""):
        return int(told.group(1), 16)
    address = info.GetValueForExpressionPath("._sifields._sigfault.si_addr")
    return address.GetValueAsUnsigned() if code > 0 and address.IsValid() else None


def _is_on_stack(thread, address):
    """Whether an address is of the innermost call's own part of the stack: it can be used, unless the stack is full."""
    here, older = thread.GetFrameAtIndex(0), thread.GetFrameAtIndex(1)
    return older.IsValid() and here.GetSP() - _BELOW <= address < older.GetSP()


def _is_left_over(thread):
    """Whether a thread ran into a breakpoint, a user's or one of another thread's step, that was removed at that moment. As a
    rule lldb-server has put it back before that already; else it is put back here."""
    frame, error, process = thread.GetFrameAtIndex(0), lldb.SBError(), thread.GetProcess()
    info = thread.GetSiginfo()
    sent = info.IsValid() and info.GetChildMemberWithName("si_code").GetValueAsSigned() <= 0
    if sent or "core" in process.GetPluginName() or not process.GetTarget().GetTriple().startswith("x86_64"):
        return False
    before = process.ReadMemory(frame.GetPC() - 1, 1, error)
    if error.Fail() or before == _TRAP:
        return False
    return not _is_behind(frame) or frame.SetPC(frame.GetPC() - 1)


def _is_behind(frame):
    """Whether a thread stands behind a breakpoint's place: in the middle of an instruction, or behind one of a single byte."""
    target, at = frame.GetThread().GetProcess().GetTarget(), frame.GetPC()
    function = frame.GetFunction() if frame.GetFunction().IsValid() else frame.GetSymbol()
    starts = {each.GetAddress().GetLoadAddress(target) for each in function.GetInstructions(target)}
    return at - 1 in places.STOOD or bool(starts and at not in starts)


def _signal(thread):
    number = thread.GetStopReasonDataAtIndex(0)
    return thread.GetProcess().GetUnixSignals().GetSignalAsCString(number) or "signal %d" % number


def is_handled(thread):
    """Whether code of the user's own catches the panic that is under way: Rust's runtime does so at the end of each thread."""
    catches = False
    for frame in frames.walk(thread, 500):
        name = frame.GetFunctionName() or ""
        catches = catches or "::panic::catch_unwind" in name
        if catches and frames.is_users(frames.place(frame)[0]):
            return True
    return False


def holds_panic(frame):
    return Catching.panics_raised or not is_handled(frame.GetThread())


def holds_throw(frame):
    if Catching.raised or not Catching.classes:
        return True
    try:
        classes, _address = cxx.thrown(frame)
    except cxx.Unknown:  # it cannot be told: rather one stop too many
        return True
    return any(each == wanted or each.endswith("::" + wanted) for each in classes for wanted in Catching.classes)


def drop_steps(process):
    """Forget every step that another stop has overtaken; of a thread that has none lldb says so, which is as well."""
    interpreter = process.GetTarget().GetDebugger().GetCommandInterpreter()
    for thread in process:
        where = lldb.SBExecutionContext(thread)
        interpreter.HandleCommand("thread plan discard 1", where, lldb.SBCommandReturnObject())
    return {}
