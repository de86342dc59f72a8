"""Python's own hook at start-up, put first on PYTHONPATH of a program to be recorded: arms the recorder, then steps aside.

The program finds sys.path as in a plain run, and the sitecustomize that it would have found there; its environment keeps our two
variables, so that the Pythons it starts are recorded too. Python 2 and every later version may come by here.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _arm():
    sys.path[:] = [entry for entry in sys.path if entry != _HERE]
    folder = os.environ.get("STILLFRAME_RECORDING")
    if not folder or sys.version_info < (3, 8) or sys.implementation.name != "cpython":
        return
    import importlib
    import types

    package = types.ModuleType("_stillframe_recording")
    package.__path__ = [_HERE, os.path.dirname(_HERE)]
    sys.modules[package.__name__] = package
    caching = sys.pycache_prefix
    sys.pycache_prefix = os.environ.get("STILLFRAME_PYCACHE") or os.path.join(folder, "pycache")
    try:
        importlib.import_module(package.__name__ + ".sfr_boot").begin(folder)
    except Exception as error:  # the program must run as it is, whatever becomes of us: no hello, and the reason beside
        try:
            with open(os.path.join(folder, "%d.failed" % os.getpid()), "w") as file:
                file.write("%s: %s" % (type(error).__name__, error))
        except OSError:
            pass
    finally:
        sys.pycache_prefix = caching


_arm()
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402, F401  # the one of a plain run; where there is none, `site` takes this error for just that
