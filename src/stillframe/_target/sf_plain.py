"""What our code needs in a program that no debugger runs in: the writer of values, with a deadline that needs no pydevd.

Loaded by its path, so that nothing of ours is on the program's own path. In a debugged program the writer that the debugger
has loaded is the one given out, for it is the same.
"""

import ctypes
import importlib
import sys
import threading
import types

PACKAGE = "_stillframe"  # where our modules are in a program without a debugger
AGAIN = 0.05  # seconds between two shots at code that swallowed the one before
_set_async_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
_set_async_exception.argtypes = (ctypes.c_ulong, ctypes.py_object)


class Overdue(BaseException):
    """Raised inside code of the program whose time is up."""


def _watch(late, seconds, over, lock):
    wait = seconds
    while not over.wait(wait):
        with lock:
            if not over.is_set():
                _set_async_exception(late, Overdue)
        wait = AGAIN


def within(seconds, function, *arguments):
    """Call the function with a deadline; Overdue when it had to be cut off. Code that blocks in C is not freed."""
    over, lock = threading.Event(), threading.Lock()
    watch = threading.Thread(target=_watch, args=(threading.get_ident(), seconds, over, lock), daemon=True)
    watch.start()
    try:
        try:
            return function(*arguments)
        finally:
            with lock:
                over.set()
            for _ in range(100):  # a shot that has not struck yet strikes here
                pass
    finally:
        over.set()


def values(folder):
    """The module that writes values: the debugger's own where there is one, else loaded from our folder."""
    found = sys.modules.get("_pydevd_bundle.sf_values") or sys.modules.get(PACKAGE + ".sf_values")
    if found is not None:
        return found
    package = types.ModuleType(PACKAGE)
    package.__path__ = [folder]
    package.sf_watch = watch = types.ModuleType(PACKAGE + ".sf_watch")
    watch.Overdue, watch.within = Overdue, within
    sys.modules[PACKAGE], sys.modules[watch.__name__] = package, watch
    silent, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # our folder is not the program's to write in
    try:
        return importlib.import_module(PACKAGE + ".sf_values")
    finally:
        sys.dont_write_bytecode = silent
