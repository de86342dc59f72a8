"""Memory and watched data of a native program, which lldb-dap 19 has no requests for: runs inside lldb."""

import base64
import re

import lldb
import sf_lldb_values as values

_PAGE = 4096
_SIZES = (1, 2, 4, 8)
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+$")


class Refusal(Exception):
    """What cannot be done, and why."""


def read(process, address, count):
    """As many bytes from an address on as can be read, up to the first page that cannot."""
    data = b""
    while len(data) < count:
        at = address + len(data)
        error = lldb.SBError()
        part = process.ReadMemory(at, min(count - len(data), _PAGE - at % _PAGE), error)
        if error.Fail() or not part:
            break
        data += part
    return {"address": hex(address), "data": base64.b64encode(data).decode(), "unreadableBytes": count - len(data)}


def write(process, address, data, partial):
    """Bytes to an address; none of them where not all can be written, unless a part will do."""
    before = base64.b64decode(read(process, address, len(data))["data"])
    done = 0
    while done < len(data):
        at = address + done
        error = lldb.SBError()
        size = process.WriteMemory(at, data[done : done + _PAGE - at % _PAGE], error)
        if error.Fail() or not size:
            break
        done += size
    if done < len(data) and not partial:
        if done:
            process.WriteMemory(address, before[:done], lldb.SBError())
        raise Refusal("no memory can be written at %s" % hex(address + done))
    return {"bytesWritten": done}


def address_of(frame, text, options):
    """Where an expression lies, or where it points to."""
    value = frame.EvaluateExpression(text, options)
    if value.GetError().Fail():
        raise Refusal(values.first_line(value.GetError()))
    kind = value.GetType().GetCanonicalType()
    if kind.IsPointerType() or kind.IsFunctionType():
        return value.GetValueAsUnsigned()
    address = _lies(frame, text, value)
    if address is None:
        raise Refusal("%s has no address" % text)
    return address


def _lies(frame, text, value):
    variable = frame.GetValueForVariablePath(text)
    found = (
        variable.GetLoadAddress() if variable.IsValid() and variable.GetError().Success() else value.GetLoadAddress()
    )
    return None if found == lldb.LLDB_INVALID_ADDRESS else found


class Watches(object):
    """What of the program's data is watched; that of a call ends with it."""

    def __init__(self):
        self._locals = {}  # breakpoint behind the call to watchpoint and the call's own address
        self.over = {}  # watchpoint whose call is over to what it watched
        self._texts = {}

    def set(self, target, frame, text, how, condition, options):
        address, size = self._spot(frame, text, options)
        error = lldb.SBError()
        made = target.WatchAddress(address, size, how in ("read", "readWrite"), how in ("write", "readWrite"), error)
        if error.Fail() or not made.IsValid():
            raise Refusal(values.first_line(error) if error.Fail() else "lldb made nothing of it")
        if condition:
            made.SetCondition(condition)
        self._texts[made.GetID()] = text
        if self._is_of(frame, address):
            self._end_with(target, frame, made.GetID())
        return {"number": -made.GetID(), "text": "%d bytes at %s" % (size, hex(address))}

    def remove(self, target, number):
        target.DeleteWatchpoint(-number)
        for breakpoint in [each for each, (watched, _) in self._locals.items() if watched == -number]:
            target.BreakpointDelete(breakpoint)
            del self._locals[breakpoint]
        return {}

    def _spot(self, frame, text, options):
        if _ADDRESS.match(text):
            return int(text, 16), 8
        value = frame.GetValueForVariablePath(text)
        if not value.IsValid() or value.GetError().Fail():
            value = frame.EvaluateExpression(text, options)
        if value.GetError().Fail():
            raise Refusal(values.first_line(value.GetError()))
        value = value.GetNonSyntheticValue()
        address, size = value.GetLoadAddress(), value.GetByteSize()
        if address == lldb.LLDB_INVALID_ADDRESS:
            raise Refusal("%s lies nowhere in memory" % text)
        if size not in _SIZES:
            raise Refusal("%s has %d bytes, and 1, 2, 4 or 8 can be watched: watch a part of it" % (text, size))
        return address, size

    @staticmethod
    def _is_of(frame, address):
        return frame.GetSP() <= address < frame.GetCFA()

    def _end_with(self, target, frame, watchpoint):
        """Watched data of a call is somebody else's once the call has returned."""
        caller = frame.GetParentFrame() if hasattr(frame, "GetParentFrame") else None
        caller = caller or frame.GetThread().GetFrameAtIndex(frame.GetFrameID() + 1)
        if not caller.IsValid():
            return
        made = target.BreakpointCreateByAddress(caller.GetPC())
        made.SetThreadID(frame.GetThread().GetThreadID())
        made.SetScriptCallbackFunction("sf_lldb.on_left")
        self._locals[made.GetID()] = (watchpoint, frame.GetCFA())

    def left(self, frame, number):
        """Whether to hold the program where a call may have returned: the one whose data is watched, not one that it made."""
        watchpoint, address = self._locals[number]
        if frame.GetSP() < address:
            return False
        target = frame.GetThread().GetProcess().GetTarget()
        target.DeleteWatchpoint(watchpoint)
        target.FindBreakpointByID(number).SetEnabled(False)
        self.over[number] = watchpoint
        return True

    def ended(self, thread):
        """The watchpoint that ended with this stop, and what it watched."""
        for at in range(0, thread.GetStopReasonDataCount(), 2):
            number = thread.GetStopReasonDataAtIndex(at)
            if number in self.over:
                watchpoint = self.over.pop(number)
                del self._locals[number]
                thread.GetProcess().GetTarget().BreakpointDelete(number)
                return watchpoint, self._texts.get(watchpoint, "")
        return None
