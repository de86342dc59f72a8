"""What prepared a test before it began (`setUp`, `setup_method`): a line of it, and how often it has run, by which a further run
can record the very call that made what a test failed by."""

import dis

_NAMES = ("asyncSetUp", "setUp", "setup_method")
_SKIPPED = "__unittest_skip__"


def place(name, code, number):
    """Where a function is that gave something, for whoever is to record it."""
    line = max((line for _, line in dis.findlinestarts(code) if line), default=code.co_firstlineno)
    return {"name": name, "file": code.co_filename, "line": line, "number": number}


class SetUps:
    def __init__(self, is_user):
        self._is_user = is_user
        self._numbers = {}

    def begun(self, kind, method):
        """A test of this class is prepared, unless it is skipped."""
        code = self._code(kind)
        if code is not None and not getattr(kind, _SKIPPED, False) and not getattr(method, _SKIPPED, False):
            self._numbers[code] = self._numbers.get(code, 0) + 1

    def given(self, kind, made):
        """What made a part of `self` that the failing statement uses, where nothing in the test itself did."""
        code = self._code(kind) if made and not made["lines"] else None
        parts = [each for each in made["parts"] if each.startswith("self.")] if code is not None else []
        return place(parts[0], code, self._numbers[code]) if parts and code in self._numbers else None

    def _code(self, kind):
        for name in _NAMES:
            found = next((vars(each)[name] for each in getattr(kind, "__mro__", ()) if name in vars(each)), None)
            code = getattr(found, "__code__", None)
            if code is not None and self._is_user(code):
                return code
        return None
