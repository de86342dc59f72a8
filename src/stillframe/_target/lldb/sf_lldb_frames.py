"""The calls of a held native thread and their variables: runs inside lldb."""

import linecache
import os
import re
import time

import lldb
import sf_names
from sf_lldb_values import shorter

_COUNTING = 0.2
"""How long the frames below those that are told may be counted, in seconds."""
_OUTERMOST = ("_start", "clone", "__clone", "clone3", "__clone3", "start_thread")
"""What every thread begins in."""
_STATIC = lldb.eValueTypeVariableStatic
_SHIFT = 19
"""lldb-dap's own number of a frame: its thread's index above so many bits, its own below."""


class Settings(object):
    """What the host says of the session."""

    just_my_code = True
    foreign = re.compile("^$")


class Known(object):
    """What was told of code and stays true: from step to step the callers are the same, and each word of lldb's costs as much
    as reading a number. Forgotten when a module comes or goes, since another one may lie at its addresses then."""

    def __init__(self):
        self._modules = None
        self.forget()

    def forget(self):
        self.callers = None
        self.rows = []
        self.plain = set()  # file and name of functions that keep no variables between their calls

    def refresh(self, target):
        """Hear of modules that came or went since the last time."""
        if self._modules is None:
            self._modules = lldb.SBListener("stillframe.modules")
            heard = lldb.SBTarget.eBroadcastBitModulesLoaded | lldb.SBTarget.eBroadcastBitModulesUnloaded
            target.GetBroadcaster().AddListener(self._modules, heard | lldb.SBTarget.eBroadcastBitSymbolsLoaded)
            self.forget()
        event = lldb.SBEvent()
        while self._modules.PeekAtNextEvent(event):  # to get one where there is none takes a nap
            self._modules.GetNextEvent(event)
            self.forget()


def walk(thread, levels):
    """The innermost calls of a thread."""
    found = []
    for index in range(levels):
        frame = thread.GetFrameAtIndex(index)
        if not frame.IsValid():
            break
        found.append(frame)
    return found


def total(thread, walked, levels):
    """How many calls there are; None where counting them would take long."""
    if len(walked) < levels or not walked:
        return len(walked)
    count, end = len(walked), time.monotonic() + _COUNTING
    while thread.GetFrameAtIndex(count).IsValid():
        count += 1
        if count % 64 == 0 and time.monotonic() > end:
            return None
    return count


def cut(walked, levels):
    """What has to be said of a stack whose end is not where programs begin: lldb 19.1 loses the callers of a function whose code
    an optimising compiler has put into two places."""
    if not walked or len(walked) == levels or walked[-1].GetFunctionName() is None:
        return []
    last = walked[-1].GetSymbol().GetName() or walked[-1].GetFunctionName()
    known = last in _OUTERMOST or last.startswith("___lldb_unnamed_symbol")
    return [] if known else ["lldb finds no caller of %s, but there may be some" % function_name(walked[-1])]


def frame_of(process, wanted):
    """The call behind a number; KeyError for one that is not there."""
    thread = process.GetThreadByIndexID(int(wanted) >> _SHIFT)
    frame = thread.GetFrameAtIndex(int(wanted) & (1 << _SHIFT) - 1) if thread.IsValid() else None
    if frame is None or not frame.IsValid():
        raise KeyError(wanted)
    return frame


def path_of(spec):
    """A file by its whole path; None where there is none."""
    return os.path.normpath(spec.fullpath) if spec.IsValid() and spec.fullpath else None


def place(frame):
    """File and line that a call is at."""
    entry = frame.GetLineEntry()
    return (path_of(entry.GetFileSpec()), entry.GetLine() or None) if entry.IsValid() else (None, None)


def rows(thread, walked, known):
    """What is told of each of a thread's calls."""
    if not walked:
        return []
    above = thread.GetIndexID() << _SHIFT
    innermost = _row(above | walked[0].GetFrameID(), walked[0])
    callers = (above, innermost["file"], innermost["function"], [frame.GetPC() for frame in walked[1:]])
    if known.callers != callers:
        known.callers, known.rows = callers, [_row(above | frame.GetFrameID(), frame) for frame in walked[1:]]
    return [innermost, *known.rows]


def _row(number, frame):
    file, line = place(frame)
    return {
        "id": number,
        "function": function_name(frame),
        "file": file,
        "line": line,
        "user": is_users(file),
        "module": frame.GetModule().GetFileSpec().GetFilename(),
    }


def lines(target, function):
    """File and line of every instruction of a function that begins a line."""
    found = set()
    for each in function.GetInstructions(target) if function.IsValid() else ():
        entry = each.GetAddress().GetLineEntry()
        found.add((path_of(entry.GetFileSpec()), entry.GetLine()))
    return found


def function_name(frame):
    """The function without its arguments and, in C++ and Rust, with its scopes."""
    name = frame.GetFunctionName()
    if name is None:
        return hex(frame.GetPC())
    return bare(name)


def bare(name):
    return shorter(sf_names.bare(name))


def is_users(file):
    if file is None:
        return False
    return not Settings.just_my_code or (os.path.isabs(file) and not Settings.foreign.search(file))


def variables(frame, known, everything=False):
    """Name and value of what a call's function has in scope, the innermost block first to claim a name; arguments first.

    What is declared further down has no value yet, only what lay in its memory before, and is left out.
    """
    found, here = {}, place(frame)
    for value in (*frame.GetVariables(True, True, False, True), *_statics(frame, here, known)):
        name, kind, where = value.GetName(), value.GetValueType(), value.GetDeclaration()
        argument = kind == lldb.eValueTypeVariableArgument
        if not name or (not everything and _is_compilers(name, value, where)):
            continue
        if not (everything or argument or kind == _STATIC or _is_born(where, frame, here)):
            continue
        line = where.GetLine()
        if name not in found or line > found[name][1]:
            found[name] = (value, line, argument, name)
    rows = sorted(found.values(), key=lambda each: (not each[2], each[1]))
    return [(name, value) for value, _line, _argument, name in rows]


def _is_compilers(name, value, where):
    """What compilers name for themselves: C++'s loops over a range, and the iterator of a `for` of Rust's."""
    if name.startswith("__"):
        return True
    if name != "iter" or not (value.GetTypeName() or "").startswith("core::"):
        return False
    return linecache.getline(path_of(where.GetFileSpec()) or "", where.GetLine()).lstrip().startswith("for ")


def _is_born(where, frame, here):
    """Whether the line that declares a variable has run, where the call is at this place."""
    file, line = here
    if line is None or not where.IsValid() or path_of(where.GetFileSpec()) != file:
        return True
    if where.GetLine() != line:
        return where.GetLine() < line
    # Of this very line: a loop's own variable, once the loop has begun; any other gets its value when the line is done.
    begun = (
        frame.GetFrameID() > 0
        or frame.GetPCAddress().GetFileAddress() != frame.GetLineEntry().GetStartAddress().GetFileAddress()
    )
    block = frame.GetBlock()
    start = block.GetRangeStartAddress(0) if block.IsValid() and block.GetNumRanges() else None
    return begun and start is not None and start.GetLineEntry().GetLine() == line


def _statics(frame, here, known):
    """Variables that a function keeps between its calls; lldb tells them with those of the file."""
    whose = here[0], frame.GetFunctionName()
    if whose in known.plain:
        return []
    found = [each for each in frame.GetVariables(False, False, True, True) if each.GetValueType() == _STATIC]
    if not found:
        known.plain.add(whose)
        return []
    function = frame.GetFunction()
    first = function.GetStartAddress().GetLineEntry().GetLine() if function.IsValid() else 0
    declared = [(each, each.GetDeclaration()) for each in found]
    own = [
        (each, where) for each, where in declared if path_of(where.GetFileSpec()) == here[0]
    ]  # not those of a header
    return [each for each, where in own if 0 < first <= where.GetLine() <= (here[1] or 0)]


def globals_(frame, known):
    """The variables of the file that a call's function is in."""
    kept = {each.GetName() for each in _statics(frame, place(frame), known)}
    found = {
        each.GetName(): each for each in frame.GetVariables(False, False, True, True) if each.GetName() not in kept
    }
    return [(name, found[name]) for name in sorted(found)]
