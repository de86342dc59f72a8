"""Finding what was asked for among the code that the program runs, and telling which functions there are."""

import os
import sys

from . import sfr_code
from .sfr_told import quoted

MOST_NAMES = 3000
_MODULE = "<module>"
_MAIN = "__main__"


class Finder:
    """Looks at each code object once, when it first runs; a module's also for all that is defined in it."""

    def __init__(self, told, wants, all_code):
        self.told = told
        self.wants = wants
        self.all_code = all_code
        self.names = {}
        self.said = 0
        # Wants with a function in a file: one that a library makes by that name, as it runs, is not meant.
        self.placed = set()
        self.by_name = any(each.where.get("function") for each in wants)
        self.modules = {each.where.get("module") for each in wants}
        self.modules |= {(each.where.get("function") or "").rpartition(".")[0] for each in wants}
        self.modules -= {None, ""}
        self.files = {each.where["file"] for each in wants if each.where.get("file")}

    def look(self, code, frame):
        """Take in a code object that runs for the first time; what is wanted is told of it by `want.found`."""
        users = sfr_code.is_users(code.co_filename, self.all_code)
        asked = sfr_code.real(code.co_filename) in self.files if self.files else False
        if code.co_name == _MODULE:
            if users or asked or self._is_named(frame):
                self._module(code, frame, users)
        elif users or asked or self._is_named(frame):
            name = self.name_of(code)
            self._match(code, name, frame, users)
            if code.co_flags & sfr_code.FUNCTION:
                self._defined(code, name, True)

    def _is_named(self, frame):
        """Whether it is of a module that was named: `json!loads`, or `json.loads`."""
        return not self.modules.isdisjoint(_names_of(frame))

    def name_of(self, code):
        found = self.names.get(id(code))
        if found is not None and found[0] is code:
            return found[1]
        return getattr(code, "co_qualname", code.co_name)

    def _module(self, code, frame, users):
        inner = list(sfr_code.nested(code))
        for want in self.wants:
            want.in_module(code, inner, self)
        if self.by_name:
            inner = sfr_code.with_lambdas(code, inner)
        for each, name in inner:
            self.names[id(each)] = (each, name)  # the code is kept, so that its id stays its own
        for each, name in inner:
            self._match(each, name, frame, users)
            if users:
                self._defined(each, name, False)

    def _match(self, code, name, frame, users):
        made = code.co_filename.startswith("<")
        for want in self.wants:
            if not want.where.get("function") or (made and id(want) in self.placed):
                continue
            if self._fits(want.where, code, name, frame, users):
                if not made:
                    self.placed.add(id(want))
                want.found(code, name)

    def _fits(self, where, code, name, frame, users):
        wanted, module = sfr_code.plain_name(where["function"]), where.get("module")
        plain = sfr_code.plain_name(name)
        names = _names_of(frame)
        is_it = plain == wanted or plain.endswith("." + wanted)
        if where.get("file") and sfr_code.real(code.co_filename) != where["file"]:
            return False
        if module:
            return is_it and any(each == module or each.endswith("." + module) for each in names)
        whole = any(("." + each + "." + plain).endswith("." + wanted) for each in names)
        return (is_it or whole) and (users or whole)

    def _defined(self, code, name, ran):
        if self.said >= MOST_NAMES or name.rpartition(".")[2].startswith("<"):
            return
        self.said += 1
        where = quoted(sfr_code.real(code.co_filename))
        line = '["defined",%s,%s,%d,%s]' % (
            quoted(sfr_code.plain_name(name)),
            where,
            code.co_firstlineno,
            "true" if ran else "false",
        )
        self.told.say(line)


def _names_of(frame):
    """What the module of a call is called: the program itself also as it would be imported, from whatever folder."""
    own = frame.f_globals.get("__name__")
    if own != _MAIN:
        return (own,) if type(own) is str else ()
    called, file = getattr(frame.f_globals.get("__spec__"), "name", None), frame.f_globals.get("__file__")
    if type(called) is not str or called == own:  # it was named by its file or folder
        called = os.path.splitext(sfr_code.real(file))[0].replace(os.sep, ".") if type(file) is str else own
    return (own, called[: -len("." + own)] if called.endswith("." + own) else called)


def innermost(code, inner, line):
    """The function whose body holds the line, with its name; the module where none does."""
    best, name = code, _MODULE
    for each, its in inner:
        last = max(sfr_code.lines_of(each) or [each.co_firstlineno])
        if each.co_firstlineno <= line <= last and each.co_firstlineno >= best.co_firstlineno and not its.endswith(">"):
            best, name = each, its
    return best, name


def holders(code, line):
    """The code in which a line's statement runs: (code, name) pairs. None of them where the line holds nothing."""
    found = [(each, name) for each, name in _bodies(code) if line in _own_lines(each)]
    named = [(each, name) for each, name in found if not name.endswith(">") or name == _MODULE]
    inside = [(each, name) for each, name in named if name != _MODULE]
    return inside[-1:] or named or found


def next_line(code, line):
    """The line itself where it holds code, else the next one that does; None behind the last."""
    lines = {each for body, _ in _bodies(code) for each in _own_lines(body)}
    return min((each for each in lines if each >= line), default=None)


def _bodies(code):
    """All code of a module: its own level, then the functions and the bodies of classes in it, outer ones first."""
    return [(code, _MODULE)] + list(sfr_code.nested(code, classes=True))


def _own_lines(code):
    """The lines that hold code of it. That of the word `class` is a statement of whoever defines the class."""
    is_class = not code.co_flags & sfr_code.FUNCTION and code.co_name != _MODULE
    return sfr_code.lines_of(code) - ({code.co_firstlineno} if is_class else set())


def version():
    return "CPython %d.%d.%d" % sys.version_info[:3]
