"""What the threads of a program held by lldb wait for: what `sf_futex` needs to know of it."""

import os

import lldb
import sf_futex
import sf_lldb_frames as frames


class Program(object):
    """A target and its process."""

    def __init__(self, target):
        self.target = target
        self.process = target.GetProcess()

    def threads(self):
        count = min(self.process.GetNumThreads(), sf_futex.MOST)
        return [self._thread(self.process.GetThreadAtIndex(at)) for at in range(count)]

    def _thread(self, thread):
        frames = [thread.GetFrameAtIndex(at) for at in range(min(thread.GetNumFrames(), sf_futex.LEVELS))]
        functions = [each.GetFunctionName() or "" for each in frames]
        libraries = [each.GetModule().GetFileSpec().GetFilename() or "" for each in frames]
        name = thread.GetName() or "thread %d" % thread.GetIndexID()
        return sf_futex.Thread(thread.GetThreadID(), thread.GetThreadID(), name, functions, libraries)

    def word(self, address):
        error = lldb.SBError()
        number = self.process.ReadUnsignedFromMemory(address, 4, error)
        return number if error.Success() else None

    def name(self, address, thread):
        """A variable of the program that lies there; else one of the user's innermost call that is it, or points there."""
        found = self.target.ResolveLoadAddress(address)
        symbol = found.GetSymbol()
        if not symbol.IsValid() or not symbol.GetName():
            return self._local(address, self.process.GetThreadByID(thread.tid))
        offset = found.GetOffset() - symbol.GetStartAddress().GetOffset()
        return symbol.GetName() + ("+%d" % offset if offset else "")

    def _local(self, address, thread):
        for frame in frames.walk(thread, sf_futex.LEVELS):
            if frames.is_users(frames.place(frame)[0]):
                rows = frame.GetVariables(True, True, False, True)
                return next((each.GetName() for each in rows if _leads_to(each, address)), None)
        return None


def _leads_to(value, address):
    kind = value.GetType()
    if kind.IsPointerType() or kind.IsReferenceType():
        return value.Dereference().GetLoadAddress() == address
    return value.GetLoadAddress() == address


def waits(target):
    return {"parties": sf_futex.waits(target.GetProcess().GetProcessID(), Program(target))}


def running(target):
    """The threads of a program that runs, of which lldb 22 tells none: the kernel's list, if it is a program of this machine."""
    folder = "/proc/%d" % target.GetProcess().GetProcessID()
    try:
        if os.path.realpath(folder + "/exe") != os.path.realpath(target.GetExecutable().fullpath or ""):
            return []
        return [
            {"threadId": number, "name": _word(folder, number), "held": False}
            for number in sorted(map(int, os.listdir(folder + "/task")))
        ]
    except (OSError, IOError):  # it has just ended, or a thread has
        return []


def _word(folder, number):
    with open("%s/task/%d/comm" % (folder, number)) as file:
        return file.read().rstrip("\n")
