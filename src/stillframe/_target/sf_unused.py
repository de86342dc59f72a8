"""What pydevd imports for consoles and test runs that nobody starts over DAP: a third of the time that all of it takes."""

import sys
from types import ModuleType

# pydevd 1.8.22 looks for these names as it is imported, and uses them in none of what we use of it.
_UNUSED = {
    "xmlrpc": (),
    "xmlrpc.client": ("ServerProxy", "Marshaller", "Server"),
    "xmlrpc.server": ("SimpleXMLRPCServer",),
    "http": (),
    "http.server": ("BaseHTTPRequestHandler",),
}


class LeftOut:
    """Inside the block these modules are empty ones; the program, which comes later, imports the real ones."""

    def __init__(self):
        self._empty = {}

    def __enter__(self):
        if any(name in sys.modules for name in _UNUSED):  # the interpreter came with them: then they cost nothing
            return
        if len(sys._current_frames()) > 1:  # a program that we join may import them at this very moment
            return
        for name, attributes in _UNUSED.items():
            self._empty[name] = sys.modules[name] = module = ModuleType(name)
            for each in attributes:
                setattr(module, each, None)

    def __exit__(self, *_error):
        for name, module in self._empty.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
