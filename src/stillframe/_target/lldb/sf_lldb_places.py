"""Where lines and functions of a native program really are, as lldb itself would have it: runs inside lldb."""

import os
import re

import lldb
from sf_lldb_frames import is_users, path_of

_FOR_TYPES = r"(^|::)%s(::)?(<|::h[0-9a-f]{16}$)"
"""A function of Rust's that was made for each of several types, by its name in each."""
_LLDBS = ("_$__lldb", "<lldb wrapper")
"""What lldb puts into a program to evaluate expressions is no module and no source of the program's."""


def double(debugger, target):
    """The same program without a process: a breakpoint that is made in it to see where it would be holds nobody."""
    if debugger.GetNumTargets() < 2:
        debugger.CreateTarget(target.GetExecutable().fullpath)
        debugger.SetSelectedTarget(target)
    made = debugger.GetTargetAtIndex(1)
    if not made.IsValid():  # what was joined may have no file of its own
        return target
    known = {each.GetFileSpec().fullpath for each in made.module_iter()}
    for each in target.module_iter():
        if each.GetFileSpec().fullpath not in known and _is_own(each):
            made.AddModule(each)
    return made


def _is_own(module):
    """Whether an object is of the program's own making; one that is loaded as `./plugin.so` is known by that name alone."""
    path = path_of(module.GetFileSpec())
    return is_users(path) or (path is not None and not os.path.isabs(path) and ".so" in path)


def resolve(target, files, symbols):
    return {
        "files": {path: _file(target, path, lines) for path, lines in files.items()},
        "symbols": [_symbol(target, each.get("name") or "", each.get("module")) for each in symbols],
    }


_FILES = {}
"""A module's own identity to the files that it was compiled from: Rust's units have names that are no files."""


def is_loaded(target, path):
    if target.FindCompileUnits(lldb.SBFileSpec(path, False)).GetSize() > 0:
        return True
    own = (each for each in target.module_iter() if _is_own(each))
    return any(path in _files(each) for each in own)


def _files(module):
    key = (module.GetUUIDString(), path_of(module.GetFileSpec()))
    if key not in _FILES:
        units = (module.GetCompileUnitAtIndex(at) for at in range(module.GetNumCompileUnits()))
        specs = (unit.GetSupportFileAtIndex(at) for unit in units for at in range(unit.GetNumSupportFiles()))
        _FILES[key] = frozenset(path for path in map(path_of, specs) if path)
    return _FILES[key]


def _file(target, path, lines):
    told = [_line(target, path, int(line)) for line in lines]
    loaded = any([each.pop("known") for each in told])
    return {"loaded": loaded, "lines": told, "like": [] if loaded else _like(target, path)}


def _like(target, path):
    """The files of the same name that the program was made of: one that was built elsewhere has its sources under other paths."""
    known = (each for module in target.module_iter() if _is_own(module) for each in _files(module))
    return sorted(
        {each for each in known if os.path.basename(each) == os.path.basename(path) and is_users(each)} - {path}
    )


def _line(target, path, line):
    """What lldb would make of a line: the line itself, the next one of its function that has code, or why there is none; code of
    another file that the optimiser has put there is none of it."""
    spots = _spots(target, target.BreakpointCreateByLocation(path, line))
    found = [
        each for each in spots if (each[1] or 0) >= line and os.path.basename(each[0] or "") == os.path.basename(path)
    ]
    if found:
        first = min(found, key=lambda each: each[1])
        return {"asked": line, "actual": first[1], "column": first[2], "known": True}
    if is_loaded(target, path):
        return {"asked": line, "actual": None, "reason": _no_code(path, line), "known": True}
    return {"asked": line, "actual": line, "known": False}


def _spots(target, made):
    """File and line of each place where a breakpoint would be, and the column that it needs; it is gone when this returns."""
    return [_spot(each) for each in _places(target, made)]


def _places(target, made):
    try:
        found = [made.GetLocationAtIndex(at).GetAddress() for at in range(made.GetNumLocations())]
        return sorted(found, key=lambda each: each.GetFileAddress())
    finally:
        target.BreakpointDelete(made.GetID())


def _with_column(address):
    """A place by its line and column, since lldb does not know it by the function's name."""
    entry = address.GetLineEntry()
    file, line, column = _spot(address)
    return file, line, column or entry.GetColumn() or None


def _spot(address):
    entry = address.GetLineEntry()
    if not entry.IsValid():
        return None, None, None
    return path_of(entry.GetFileSpec()), entry.GetLine() or None, _behind_prologue(address, entry)


def _behind_prologue(address, entry):
    """The column of the second statement of a function that is written in one line: lldb 19.1 stops before such a function has
    got its arguments. None for any other place."""
    function, unit = address.GetFunction(), address.GetCompileUnit()
    start = address.GetFileAddress()
    if not function.IsValid() or function.GetStartAddress().GetFileAddress() != start:
        return None
    at = unit.FindLineEntryIndex(0, entry.GetLine(), entry.GetFileSpec())
    while at < unit.GetNumLineEntries():
        each = unit.GetLineEntryAtIndex(at)
        place = each.GetStartAddress().GetFileAddress()
        if start < place < function.GetEndAddress().GetFileAddress() and each.GetColumn() > entry.GetColumn():
            return each.GetColumn()
        at = unit.FindLineEntryIndex(at + 1, entry.GetLine(), entry.GetFileSpec())
    return None


STOOD = set()
"""Addresses of breakpoints, also of those that are removed by now."""


def one_place_each(target):
    """Where a compiler has cut a line into parts, its breakpoint stops at the first part in each function and at no other."""
    for made in target.breakpoint_iter():
        found = [made.GetLocationAtIndex(at) for at in range(made.GetNumLocations())]
        STOOD.update(each.GetLoadAddress() for each in found)
        first = set()
        for each in sorted(found, key=lambda each: each.GetLoadAddress()):
            function = each.GetAddress().GetFunction()
            key = (function.GetStartAddress().GetFileAddress(), each.GetAddress().GetLineEntry().GetLine())
            if function.IsValid() and key in first:
                each.SetEnabled(False)
            first.add(key)


def _no_code(path, line):
    try:
        with open(path, "rb") as file:
            count = len(file.read().splitlines())
    except OSError:
        return "no compiled code for line %d" % line
    if line > max(count, 1):
        return "%s has %d line%s" % (path.rpartition("/")[2], count, "" if count == 1 else "s")
    return "no compiled code for line %d" % line


def _symbol(target, name, module):
    """Where a function begins after its prologue; None for one that nobody knows."""
    if not name:
        return None
    found = _spots(target, target.BreakpointCreateByName(name))
    if not found and re.match(r"^[\w:]+$", name):
        found = [_with_column(each) for each in _places(target, target.BreakpointCreateByRegex(_FOR_TYPES % name))]
    if module:
        found = [each for each in found if (each[0] or "").rpartition("/")[2] == module.rpartition("/")[2]]
    first = next((each for each in found if each[0]), (None, None, None))
    # Of a function that was made for several types, lldb 19.1 may come too early into some of them only.
    column = next((each[2] for each in found if each[2] and each[:2] == first[:2]), None)
    lines = len({each[:2] for each in found})
    return (
        {"file": first[0], "line": first[1], "column": column, "places": len(found), "lines": lines} if found else None
    )


def modules(target, start, count):
    """The objects that the program has loaded: itself and its libraries."""
    rows = [
        {"name": each.GetFileSpec().GetFilename(), "file": path_of(each.GetFileSpec()), "user": index == 0}
        for index, each in enumerate(target.module_iter())
        if not (each.GetFileSpec().GetFilename() or "").startswith(_LLDBS)
    ]
    return {"modules": rows[start : start + count], "total": len(rows)}


def sources(target):
    """The files that the program's own code was compiled from."""
    found = {path for module in target.module_iter() for path in _files(module) if _LLDBS[1] not in path}
    return [{"name": path.rpartition("/")[2], "path": path} for path in sorted(found)]
