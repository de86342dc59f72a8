"""What the threads of a program held by gdb wait for: what `sf_futex` needs to know of it."""

import contextlib
import os
import sys

import gdb
import sf_futex
import sf_gdb_frames as frames


class Program(object):
    """The selected inferior."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        self.by_id = {}

    def threads(self):
        found = sorted(self.inferior.threads(), key=lambda each: each.global_num)[: sf_futex.MOST]
        return [self._thread(each) for each in found]

    def _thread(self, thread):
        thread.switch()
        self.by_id[thread.global_num] = thread
        functions, libraries = [], []
        with contextlib.suppress(gdb.error):  # a stack that cannot be unwound is known as far as it goes
            frame = gdb.newest_frame()
            while frame is not None and len(functions) < sf_futex.LEVELS:
                functions.append(frame.name() or "")
                libraries.append(os.path.basename(gdb.solib_name(frame.pc()) or ""))
                frame = frame.older()
        name = thread.name or "thread %d" % thread.num
        return sf_futex.Thread(thread.global_num, thread.ptid[1], name, functions, libraries)

    def word(self, address):
        try:
            return int.from_bytes(bytes(self.inferior.read_memory(address, 4)), sys.byteorder)
        except gdb.MemoryError:
            return None

    def name(self, address, thread):
        """A variable of the program that lies there; else one of the user's innermost call that is it, or points there."""
        told = gdb.execute("info symbol %d" % address, to_string=True)
        if " in section " in told:
            return told.partition(" in section ")[0].replace(" + ", "+")
        self.by_id[thread.id].switch()
        frame = gdb.newest_frame()
        while frame is not None and not frames.is_users(frames.place(frame)[0]):
            frame = frame.older()
        rows = frames.variables(frame) if frame is not None else []
        return next((name for name, value in rows if _leads_to(value, address)), None)


def _leads_to(value, address):
    try:
        if value.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
            return int(value.referenced_value().address) == address
        return value.address is not None and int(value.address) == address
    except (gdb.error, AttributeError):  # it lies where nothing can be read, or is no value but the reason why
        return False


def waits(arguments):
    selected = gdb.selected_thread()
    try:
        return {"parties": sf_futex.waits(gdb.selected_inferior().pid, Program())}
    finally:
        if selected is not None:
            selected.switch()
