"""`pdb.set_trace()` left in a program holds it for us, as `breakpoint()` does: a prompt of pdb's would find nobody."""

import sys

import pydevd
from _pydevd_bundle import sf_imports
from _pydevd_bundle.pydevd_constants import get_global_debugger


def install():
    """Once the program has imported pdb; it is not imported for this."""
    sf_imports.after("pdb", _take_over)


def _take_over():
    pdb = sys.modules["pdb"]
    real_function, real_method = pdb.set_trace, pdb.Pdb.set_trace

    def set_trace(*arguments, **options):
        if not _hold(sys._getframe(1)):
            real_function(*arguments, **options)

    def method(self, frame=None, *arguments, **options):
        frame = sys._getframe(1) if frame is None else frame
        if not _hold(frame):
            real_method(self, frame, *arguments, **options)

    pdb.set_trace = set_trace
    pdb.Pdb.set_trace = method


def _hold(frame):
    """Have this frame stop at its next line; False where nobody debugs the program any more."""
    db = get_global_debugger()
    if db is None or db.pydb_disposed:
        return False
    pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)
    return True
