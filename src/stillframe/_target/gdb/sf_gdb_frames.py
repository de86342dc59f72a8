"""The calls of a held native thread and their variables: runs inside gdb."""

import linecache
import os
import re
import time

import gdb
from gdb.dap import frames as dap_frames
from sf_gdb_values import shorter

FOREIGN = re.compile(
    r"^(/usr/(?!local/src|src/(?!rustc-))|/lib|/rustc/|/build/|\.\.?/|/opt/rh/)|/rustlib/src/|/\.cargo/(registry|git)/|/\.rustup/"
)
"""Sources of the system, of a distribution's build machines, of Rust's library and of crates."""
_COUNTING = 0.2
"""How long the frames below those that are told may be counted, in seconds."""


class Settings(object):
    """What the host says of the session."""

    just_my_code = True


def walk(levels):
    """Number and frame of the innermost calls of the selected thread; the numbers are those of gdb's own requests."""
    return [(number, each.inferior_frame()) for number, each in dap_frames.dap_frame_generator(0, levels, False)]


def frame_of(number):
    """The call behind a number, its thread selected; KeyError for one of an earlier stop."""
    try:
        frame = dap_frames.frame_for_id(number).inferior_frame()
    except IndexError:
        raise KeyError(number)
    frame.select()
    return frame


def total(walked, levels):
    """How many calls there are; None where counting them would take long."""
    if len(walked) < levels or not walked:
        return len(walked)
    count, frame, end = len(walked), walked[-1][1].older(), time.monotonic() + _COUNTING
    while frame is not None:
        count += 1
        if count % 64 == 0 and time.monotonic() > end:
            return None
        frame = frame.older()
    return count


def place(frame):
    """File and line that a call is at."""
    found = frame.find_sal()
    if found.symtab is None:
        return None, None
    return found.symtab.fullname(), found.line


def row(number, frame):
    file, line = place(frame)
    return {
        "id": number,
        "function": function_name(frame),
        "file": file,
        "line": line,
        "user": is_users(file),
        "module": _object(frame),
    }


def function_name(frame):
    """The function without its arguments and, in C++ and Rust, with its scopes."""
    if frame.type() == gdb.SIGTRAMP_FRAME:
        return "<signal handler called>"
    name = frame.name()
    if name is None:
        return hex(frame.pc())
    return shorter(re.sub(r"::h[0-9a-f]{16}$", "", name))


def _object(frame):
    objfile = gdb.current_progspace().objfile_for_address(frame.pc())
    return objfile.filename.rpartition("/")[2] if objfile is not None and objfile.filename else None


def is_users(file):
    if file is None:
        return False
    return not Settings.just_my_code or (os.path.isabs(file) and not FOREIGN.search(file))


def top(walked):
    """The index of the innermost call of the user's own code, or of the innermost of all."""
    return next((index for index, (_, frame) in enumerate(walked) if is_users(place(frame)[0])), 0)


def variables(frame, everything=False):
    """Name and value of what a call's function has in scope, the innermost block first to claim a name; arguments first.

    What is declared further down has no value yet, only what lay in its memory before, and is left out.
    """
    found = {}
    for block in _blocks(frame):
        for symbol in block:
            if symbol.name in found or not (symbol.is_variable or symbol.is_argument) or not symbol.name:
                continue
            if not everything and _is_compilers(symbol):
                continue
            if everything or symbol.is_argument or _is_born(symbol, block, frame):
                found[symbol.name] = symbol
    rows = sorted(found.values(), key=lambda each: (not each.is_argument, each.line))
    return [(each.name, _value(each, frame)) for each in rows]


def _is_compilers(symbol):
    """What compilers name for themselves: C++'s loops over a range, and the iterator of a `for` of Rust's."""
    if symbol.name.startswith("__"):
        return True
    if symbol.name != "iter" or not symbol.type.name or not symbol.type.name.startswith("core::"):
        return False
    return linecache.getline(symbol.symtab.fullname(), symbol.line).lstrip().startswith("for ")


def _value(symbol, frame):
    try:
        return symbol.value(frame)
    except gdb.error as error:
        return "<%s>" % error


def _blocks(frame):
    try:
        block = frame.block()
    except RuntimeError:  # no symbols here
        return
    while block is not None and not block.is_global and not block.is_static:
        yield block
        if block.function is not None:
            return
        block = block.superblock


def _is_born(symbol, block, frame):
    """Whether the line that declares a variable has run."""
    file, line = place(frame)
    if symbol.addr_class == gdb.SYMBOL_LOC_STATIC or line is None or symbol.symtab.fullname() != file:
        return True
    if symbol.line != line:
        return symbol.line < line
    # Of this very line: a loop's own variable, once the loop has begun; any other gets its value when the line is done.
    begun = frame.level() > 0 or frame.pc() != frame.find_sal().pc
    return begun and gdb.find_pc_line(block.start).line == line


def globals_(frame):
    """The variables of the file that a call's function is in."""
    try:
        block = frame.block()
    except RuntimeError:
        return []
    found = {}
    for scope in (block.static_block, block.global_block):
        for symbol in scope or ():
            if symbol.is_variable and symbol.name and symbol.name not in found:
                found[symbol.name] = symbol
    return [(name, _value(found[name], frame)) for name in sorted(found)]
