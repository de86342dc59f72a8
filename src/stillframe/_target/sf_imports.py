"""Something to be done right after the program has imported a module, and not a moment before."""

import sys
from importlib.machinery import PathFinder

_awaited = {}  # name of a module to what is called once it is there
_find_spec = PathFinder.__dict__["find_spec"]


def after(name, call):
    """Call this when the module has been imported: now, where it is there already.

    The finder itself is changed: another one in `sys.meta_path` would show.
    """
    if name in sys.modules:
        call()
        return
    if not _awaited:
        PathFinder.find_spec = classmethod(_watching)
    _awaited[name] = call


def _watching(cls, name, path=None, target=None):
    spec = _find_spec.__get__(None, cls)(name, path, target)
    if spec is None or name not in _awaited or not hasattr(spec.loader, "exec_module"):
        return spec
    spec.loader = _Followed(spec.loader, _awaited[name])
    return spec


class _Followed:
    """A loader that calls something once its module is there, and leaves the real loader in the module."""

    def __init__(self, real, call):
        self.real = real
        self.call = call

    def __getattr__(self, name):
        return getattr(self.real, name)

    def create_module(self, spec):
        return self.real.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.real
        self.real.exec_module(module)
        _awaited.pop(module.__spec__.name, None)
        if not _awaited:
            PathFinder.find_spec = _find_spec
        self.call()
