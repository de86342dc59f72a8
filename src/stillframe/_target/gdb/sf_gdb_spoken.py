"""Places as gdb reads them, by `gdb.decode_line`: runs inside gdb."""

import re

import gdb

_PLAIN = re.compile(r"[\w/.:~ +-]*$")


def line(file, number):
    """What gdb makes of a line of a file; gdb.error where it knows none."""
    return _decoded("%s:%d" % (_quoted(file), number), file)


def function(name, file=None):
    """What gdb makes of a function, or of one of a file; gdb.error where it knows none."""
    if not file:
        return _decoded(_quoted(name), name)
    return _decoded("%s:%s" % (_quoted(file), _quoted(name)), file + name)


def _decoded(text, names):
    """A text that gdb 18.1 cannot take apart makes its `decode_line` leave Python without an error that could be caught, and gdb
    never answers again; its commands fail of it as of anything else. So names with odd signs are tried by one of these first."""
    if not _PLAIN.match(names):
        gdb.execute("info line " + text, to_string=True)
    return tuple(gdb.decode_line(text)[1] or ())


def _quoted(text):
    """A name between quotes, so that blanks and colons are its own. One that has a `"`, such as C++'s `operator""_km`, stands
    bare, since gdb closes no quotes around it; and no name begins with one."""
    if text[:1] in ("", "'", '"'):
        raise gdb.error("%s is no name" % text)
    return "'%s'" % text if '"' not in text or not re.match(r"[\w/~]", text) else text
