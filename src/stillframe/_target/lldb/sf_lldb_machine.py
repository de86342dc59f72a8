"""Memory and watched data of a native program, which lldb-dap 19 has no requests for: runs inside lldb."""

import base64
import re
import sys

import lldb
import sf_lldb_values as values
from sf_lldb_frames import bare, path_of

_PAGE = 4096
_SIZES = (1, 2, 4, 8)
_LONG = 8
_TWICE = "%s is watched already, and lldb stops for one watch of the same data alone: unbreak it, then watch %s"
_RED_ZONE = 128
"""So many bytes below its stack a function may use that calls no other."""
_SEARCHED = 1 << 16
"""So many bytes of a function are taken apart to see whether an instruction begins at an address."""
_LONGEST = 16
"""No instruction has more bytes."""
_BEFORE = 4096
"""So many bytes before an address may be read to find where the instructions before it begin."""
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+$")
_VARIABLES = (
    lldb.eValueTypeVariableGlobal,
    lldb.eValueTypeVariableStatic,
    lldb.eValueTypeVariableArgument,
    lldb.eValueTypeVariableLocal,
)


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
        part = data[done : done + _PAGE - at % _PAGE]
        if not _write_words(process, at, part):
            break
        done += len(part)
    if done < len(data) and not (partial and done):
        if done:
            process.WriteMemory(address, before[:done], lldb.SBError())
        raise Refusal("no memory can be written at %s" % hex(address + done))
    return {"bytesWritten": done}


def _write_words(process, address, data):
    """Whether bytes of one page could be written: lldb-server 19.1 writes words, and fails in the last one before a hole."""
    before, after = address % _LONG, -(address + len(data)) % _LONG
    words = base64.b64decode(read(process, address - before, before + len(data) + after)["data"])
    if len(words) < before + len(data) + after:
        return False
    whole = words[:before] + data + words[before + len(data) :]
    error = lldb.SBError()
    return process.WriteMemory(address - before, whole, error) == len(whole) and error.Success()


def entry_of(target, name):
    """Where the function of a name begins, which is looked up and never evaluated; None for one that nobody knows."""
    found = (each.GetFunction() for each in target.FindFunctions(name))
    return next((hex(each.GetStartAddress().GetLoadAddress(target)) for each in found if each.IsValid()), None)


def instructions(target, address, offset, count):
    """Instructions around an address; `offset` counts instructions, those before it being of the same function."""
    here = target.ResolveLoadAddress(address)
    before = []
    if offset < 0:
        start = _start(here)
        first = start.GetLoadAddress(target) if start is not None else address
        if 0 < address - first <= _BEFORE:
            found = target.ReadInstructions(start, address - first)
            before = [each for each in found if each.GetAddress().GetLoadAddress(target) < address]
    behind = [each for each in target.ReadInstructions(here, max(0, offset) + max(0, count + min(0, offset)))]
    chosen = (before[offset:] if offset < 0 else []) + behind[max(0, offset) :]
    return [_instruction(target, each) for each in chosen[:count]]


def _inside_of(target, address):
    """Where the instruction begins that an address lies in the middle of; None where one begins there, or none is known."""
    start = _start(target.ResolveLoadAddress(address))
    first = start.GetLoadAddress(target) if start is not None else address
    if not 0 < address - first <= _SEARCHED:
        return None
    error = lldb.SBError()
    code = target.GetProcess().ReadMemory(first, address - first + _LONGEST, error)
    begins = first
    for each in target.GetInstructions(start, code) if error.Success() else ():
        if each.GetAddress().GetLoadAddress(target) >= address:
            return begins if each.GetAddress().GetLoadAddress(target) > address else None
        begins = each.GetAddress().GetLoadAddress(target)
    return None


def _start(address):
    function, symbol = address.GetFunction(), address.GetSymbol()
    return function.GetStartAddress() if function.IsValid() else symbol.GetStartAddress() if symbol.IsValid() else None


def _instruction(target, instruction):
    address = instruction.GetAddress()
    entry, symbol = address.GetLineEntry(), address.GetSymbol()
    data = instruction.GetData(target)
    told = [instruction.GetMnemonic(target), instruction.GetOperands(target)]
    comment = instruction.GetComment(target)
    row = {
        "address": hex(address.GetLoadAddress(target)),
        "instruction": " ".join([*told, *(["; " + comment] if comment else [])]),
        "instructionBytes": " ".join("%02x" % each for each in data.uint8s),
        "symbol": bare(symbol.GetName()) if symbol.IsValid() else None,
    }
    if entry.IsValid() and entry.GetLine():
        row.update(line=entry.GetLine(), location={"path": path_of(entry.GetFileSpec())})
    return row


def hold(target, place, condition):
    """A breakpoint on an instruction, by its address and perhaps so many bytes behind it."""
    text, sign, offset = place.partition("+")
    address = int(text, 0) + (int(offset) if sign else 0)
    if read(target.GetProcess(), address, 1)["unreadableBytes"]:
        raise Refusal("no memory can be read at %s" % place)
    begins = _inside_of(target, address)
    if begins is not None:
        raise Refusal("0x%x is in the middle of an instruction, which begins at 0x%x" % (address, begins))
    made = target.BreakpointCreateByAddress(address)
    if condition:
        made.SetCondition(condition)
    return {"number": made.GetID()}


_POINTERS = {"$pc": lldb.SBFrame.GetPC, "$sp": lldb.SBFrame.GetSP, "$fp": lldb.SBFrame.GetFP}
"""Registers are asked for and not evaluated: in a frame of Rust's, lldb 22.1 tells an address in its own memory for them."""


def address_of(frame, text, options):
    """Where an expression lies, or where it points to."""
    if text in _POINTERS:
        return _POINTERS[text](frame)
    if text.startswith("$") and (register := frame.FindRegister(text[1:])).IsValid():
        return int.from_bytes(bytes(register.GetData().uint8s[:8]), sys.byteorder)
    value = _variable(frame, text) or _evaluated(frame, text, options)
    kind = value.GetType().GetCanonicalType()
    if kind.IsPointerType() or kind.IsFunctionType() or text.startswith("$"):
        return value.GetValueAsUnsigned()
    if value.GetValueType() in _VARIABLES and value.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS:
        return value.GetLoadAddress()
    try:
        return _evaluated(frame, "&(%s)" % text, options).GetValueAsUnsigned()
    except Refusal:
        raise Refusal("%s has no address" % text)


def _variable(frame, text):
    value = frame.GetValueForVariablePath(text)
    return value if value.IsValid() and value.GetError().Success() else None


def _evaluated(frame, text, options):
    value = frame.EvaluateExpression(text, options)
    if value.GetError().Fail():
        raise Refusal(values.first_line(value.GetError()))
    return value


class Watches(object):
    """What of the program's data is watched; that of a call ends with it."""

    def __init__(self):
        self._ends = {}  # breakpoint behind a call to watchpoint and the call's own address
        self._over = {}  # the same, once the call has returned, to the watchpoint
        self._watched = {}  # watchpoint to its text, address and type, and what the data was

    def set(self, target, frame, text, how, condition, options):
        address, kind = self._spot(target, frame, text, options)
        if address == lldb.LLDB_INVALID_ADDRESS:
            raise Refusal("%s lies nowhere in memory" % text)
        size = kind.GetByteSize()
        if size not in _SIZES:
            raise Refusal("%s has %d bytes, and 1, 2, 4 or 8 can be watched: watch a part of it" % (text, size))
        for other, at, its, _ in self._watched.values():
            if at < address + size and address < at + its.GetByteSize():
                raise Refusal(_TWICE % (other, text))
        error = lldb.SBError()
        made = target.WatchAddress(address, size, how in ("read", "readWrite"), how in ("write", "readWrite"), error)
        if error.Fail() or not made.IsValid():
            raise Refusal(values.first_line(error) if error.Fail() else "lldb made nothing of it")
        if condition:
            made.SetCondition(condition)
        self._watched[made.GetID()] = [text, address, kind, _now(target, text, address, kind)]
        if how == "read":
            _asked(target, "watchpoint command add -F sf_lldb.on_touched %d" % made.GetID())
        if frame.GetSP() - _RED_ZONE <= address < frame.GetCFA():
            self._end_with(target, frame, made.GetID())
        return {"number": -made.GetID()}

    def remove(self, target, number):
        target.DeleteWatchpoint(-number)
        self._watched.pop(-number, None)
        for breakpoint in [each for each, (watched, _) in self._ends.items() if watched == -number]:
            target.BreakpointDelete(breakpoint)
            del self._ends[breakpoint]
        return {}

    def changes(self, target, watchpoint):
        """What watched data was when it was last told, and is."""
        if watchpoint not in self._watched:
            return []
        text, address, kind, before = self._watched[watchpoint]
        after = self._watched[watchpoint][3] = _now(target, text, address, kind)
        return ["%s: %s -> %s" % (text, before, after)] if before != after else ["%s is %s" % (text, after)]

    def touched(self, target, watchpoint):
        """Whether what is watched for reading was read: x86 cannot tell that from writing, so what changed was written."""
        text, address, kind, before = self._watched[watchpoint]
        after = self._watched[watchpoint][3] = _now(target, text, address, kind)
        return before == after

    def _spot(self, target, frame, text, options):
        """Where the data lies, and its type."""
        if _ADDRESS.match(text):
            return int(text, 16), target.GetBasicType(lldb.eBasicTypeLong)
        value = _variable(frame, text)
        if value is not None:
            return value.GetNonSyntheticValue().GetLoadAddress(), value.GetType()
        pointer = _evaluated(frame, "&(%s)" % text, options)
        return pointer.GetValueAsUnsigned(), pointer.GetType().GetPointeeType()

    def _end_with(self, target, frame, watchpoint):
        """Watched data of a call is somebody else's once the call has returned."""
        caller = frame.GetThread().GetFrameAtIndex(frame.GetFrameID() + 1)
        if caller.IsValid():
            made = target.BreakpointCreateByAddress(caller.GetPC())
            made.SetThreadID(frame.GetThread().GetThreadID())
            made.SetScriptCallbackFunction("sf_lldb.on_left")
            self._ends[made.GetID()] = (watchpoint, frame.GetCFA())

    def left(self, frame, number):
        """Whether to hold the program where a call may have returned: the one whose data is watched, not one that it made."""
        watchpoint, address = self._ends[number]
        if frame.GetSP() < address:
            return False
        frame.GetThread().GetProcess().GetTarget().DeleteWatchpoint(watchpoint)
        self._over[number] = watchpoint
        return True

    def ended(self, thread):
        """The watchpoint that ended with this stop, and what it watched."""
        for at in range(0, thread.GetStopReasonDataCount(), 2):
            number = thread.GetStopReasonDataAtIndex(at)
            if number in self._over:
                watchpoint = self._over.pop(number)
                del self._ends[number]
                thread.GetProcess().GetTarget().BreakpointDelete(number)
                return watchpoint, self._watched.pop(watchpoint, [""])[0]
        return None


def _asked(target, line):
    answer = lldb.SBCommandReturnObject()
    target.GetDebugger().GetCommandInterpreter().HandleCommand(line, answer)
    if not answer.Succeeded():
        raise Refusal((answer.GetError() or "lldb refuses %s" % line).strip())


def _now(target, text, address, kind):
    return values.brief(target.CreateValueFromAddress(text, lldb.SBAddress(address, target), kind))
