"""The names in an expression, as whoever looks at a program means them: runs inside gdb."""

import re

import gdb

_NAME = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?<![\w.$:>])([A-Za-z_]\w*)\b(?!\s*(?:\(|::))")
_LANGUAGES = ("c", "c++")
"""Those in which a variable may be named with the file that it is in."""


def meant(text, frame):
    """The expression with its names told apart: gdb 18.1 takes a library's variable for a name that none in sight has, where
    the program has one of that name in another file, which its user knows."""
    symtab = frame.find_sal().symtab
    if symtab is None or frame.language() not in _LANGUAGES:
        return text
    return _NAME.sub(lambda found: _told_apart(found, symtab.objfile), text)


def _told_apart(found, program):
    name = found.group(1)
    symbol = gdb.lookup_symbol(name)[0] if name else None
    if symbol is None or not symbol.is_variable or symbol.symtab.objfile == program:
        return found.group(0)
    statics = gdb.lookup_static_symbols(name) if hasattr(gdb, "lookup_static_symbols") else ()
    own = {each.symtab.filename for each in statics if each.is_variable and each.symtab.objfile == program}
    return "'%s'::%s" % (own.pop(), name) if len(own) == 1 else found.group(0)
