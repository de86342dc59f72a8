"""C++ exceptions on their way: class, bases and message, by the tables that every compiler leaves for them: runs inside gdb."""

import re

import gdb

_HEADER = 112
"""The bytes that libstdc++ keeps before an exception object, on machines with addresses of 64 bits."""
_BASES = 20
"""More classes above an exception are not looked at."""
_THROWS = ("__cxa_throw", "__cxa_rethrow", "std::terminate()", "std::terminate")


def thrown():
    """The exception that is being thrown where gdb caught it: class names from its own up, and the object's address."""
    gdb.newest_frame().select()
    info = int(gdb.parse_and_eval("$_probe_arg1"))
    return _classes(info), int(gdb.parse_and_eval("$_probe_arg0"))


def uncaught():
    """The exception that has ended the program, where one has; None where it was something else."""
    frame, depth = gdb.newest_frame(), 0
    while frame is not None and depth < 16:
        if frame.name() in _THROWS:
            break
        frame, depth = frame.older(), depth + 1
    else:
        return None
    if frame is None or gdb.lookup_type("long").sizeof != 8:
        return None
    header = _pointer(int(gdb.parse_and_eval("((void *(*)())__cxa_get_globals)()")))
    return (_classes(_pointer(header)), header + _HEADER) if header else None


def described(found):
    """Class and message of an exception; the message is what its own `what` says, where it is a std::exception."""
    classes, address = found
    name = classes[0] if classes else "C++ exception"
    if "std::exception" not in classes:
        return name, ""
    what = _pointer(_pointer(address) + 16)
    text = gdb.parse_and_eval("((char *(*)(void *))%d)((void *)%d)" % (what, address))
    return name, text.string(errors="backslashreplace", length=-1)[:2000]


class Thrown(gdb.Function):
    """`$_sf_thrown("Class")`: whether what is being thrown is of this class or derives from it."""

    def __init__(self):
        super(Thrown, self).__init__("_sf_thrown")

    def invoke(self, name):
        wanted = name.string()
        try:
            classes, _address = thrown()
        except gdb.error:  # it cannot be told: rather one stop too many
            return 1
        return int(any(each == wanted or each.endswith("::" + wanted) for each in classes))


def _classes(info):
    """The class that a type_info is of, and those above it as long as each has one base at its beginning."""
    found = []
    while info and len(found) < _BASES:
        match = re.match(r"typeinfo for (.*?)(?:@\S+)? in section", _symbol(info))
        if match is None:
            break
        found.append(match.group(1))
        if "__si_class_type_info" not in _symbol(_pointer(info)):
            break
        info = _pointer(info + 16)
    return found


def _symbol(address):
    return gdb.execute("info symbol %d" % address, to_string=True)


def _pointer(address):
    kind = gdb.lookup_type("void").pointer().pointer()
    return int(gdb.Value(address).cast(kind).dereference())
