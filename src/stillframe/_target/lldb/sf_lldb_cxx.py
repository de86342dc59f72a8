"""C++ exceptions on their way: class, bases and message, by the tables that every compiler leaves for them: runs inside lldb."""

import re

import lldb

_HEADER = 112
"""The bytes that libstdc++ keeps before an exception object, on machines with addresses of 64 bits."""
_BASES = 20
"""More classes above an exception are not looked at."""
_THROWS = re.compile(r"^(?:__cxa_throw|__cxa_rethrow|std::terminate)\b")
THROW = "__cxa_throw"


_UNORDERED = re.compile(r"^std::unordered_(?:multi)?(?:map|set)<")


def is_unordered(name):
    """Whether a type is a hash table of C++'s, or refers or points to one."""
    return name is not None and _UNORDERED.match(name) is not None


def unordered(value):
    """Number and values of the items of a hash table of libstdc++, of which lldb 19.1 says that it is empty; None for others."""
    plain = value.GetNonSyntheticValue()
    table = plain.GetChildMemberWithName("_M_h")
    count = table.GetChildMemberWithName("_M_element_count")
    kind = table.GetType().GetCanonicalType().GetTemplateArgumentType(1)
    if not count.IsValid() or not kind.IsValid():
        return None
    node = table.GetChildMemberWithName("_M_before_begin").GetChildMemberWithName("_M_nxt").GetValueAsUnsigned()
    return count.GetValueAsUnsigned(), _nodes(plain, node, kind)


def _nodes(value, node, kind):
    """Items from the first node on; each has the next one's address before it."""
    process, at = value.GetProcess(), 0
    while node:
        yield value.GetTarget().CreateValueFromAddress("[%d]" % at, lldb.SBAddress(node + 8, value.GetTarget()), kind)
        node, at = _pointer(process, node), at + 1


class Unknown(Exception):
    """The program's memory does not tell it."""


def thrown(frame):
    """The exception that is being thrown in this call of the C++ runtime: class names from its own up, and its address."""
    registers = {each: frame.FindRegister(each) for each in ("arg1", "arg2")}
    if not all(each.IsValid() for each in registers.values()):
        raise Unknown()
    process = frame.GetThread().GetProcess()
    return _classes(process, registers["arg2"].GetValueAsUnsigned()), registers["arg1"].GetValueAsUnsigned()


def uncaught(thread):
    """The exception that has ended the program, where one has; None where it was something else."""
    frames = [thread.GetFrameAtIndex(at) for at in range(16)]
    frame = next((each for each in frames if each.IsValid() and _THROWS.match(each.GetFunctionName() or "")), None)
    process = thread.GetProcess()
    if frame is None or process.GetAddressByteSize() != 8:
        return None
    state = frame.EvaluateExpression("((void *(*)())__cxa_get_globals)()", _quietly())
    header = _pointer(process, state.GetValueAsUnsigned())
    return (_classes(process, _pointer(process, header)), header + _HEADER) if header else None


def described(frame, found):
    """Class and message of an exception; the message is what its own `what` says, where it is a std::exception."""
    classes, address = found
    name = classes[0] if classes else "C++ exception"
    if "std::exception" not in classes:
        return name, ""
    process = frame.GetThread().GetProcess()
    what = _pointer(process, _pointer(process, address) + 16)
    text = frame.EvaluateExpression("((char *(*)(void *))%d)((void *)%d)" % (what, address), _quietly())
    return name, _text(process, text.GetValueAsUnsigned())


def _quietly():
    options = lldb.SBExpressionOptions()
    options.SetIgnoreBreakpoints(True)
    options.SetUnwindOnError(True)
    options.SetTimeoutInMicroSeconds(1000000)
    options.SetSuppressPersistentResult(True)
    return options


def _classes(process, info):
    """The class that a type_info is of, and those above it as long as each has one base at its beginning."""
    found = []
    while info and len(found) < _BASES:
        found.append(_demangled(process, _text(process, _pointer(process, info + 8)).lstrip("*")))
        if "__si_class_type_info" not in _symbol(process, _pointer(process, info)):
            break
        info = _pointer(process, info + 16)
    return found


def _demangled(process, name):
    """A class by the name that its type_info has for it."""
    said = lldb.SBCommandReturnObject()
    interpreter = process.GetTarget().GetDebugger().GetCommandInterpreter()
    interpreter.HandleCommand("language cplusplus demangle _ZTI" + name, said)
    return (said.GetOutput() or "").partition("typeinfo for ")[2].strip() or name


def _text(process, address):
    error = lldb.SBError()
    said = process.ReadCStringFromMemory(address, 2000, error)
    if error.Fail():
        raise Unknown()
    return said


def _symbol(process, address):
    return process.GetTarget().ResolveLoadAddress(address).GetSymbol().GetName() or ""


def _pointer(process, address):
    error = lldb.SBError()
    value = process.ReadPointerFromMemory(address, error)
    if error.Fail():
        raise Unknown()
    return value


_OWNERS = '"^std::unique_ptr<.+>(( )?&)?$"'


class Owner(object):
    """What a `std::unique_ptr` owns, read where it lies. lldb 22.1 dies of its own formatter where it cannot parse the type of
    what is inside one, which is so for abstract classes (g++ 12)."""

    def __init__(self, value, _session):
        self._value = value
        self._pointer = None

    def update(self):
        self._pointer = owned(self._value)
        return False

    def num_children(self, most=1):
        return min(most, 1 if self._pointer is not None and self._pointer.GetValueAsUnsigned(0) else 0)

    def get_child_index(self, name):
        return {"pointer": 0, "$$dereference$$": 1}.get(name, -1)

    def get_child_at_index(self, index):
        if self._pointer is None or index not in (0, 1):
            return None
        return self._pointer.Dereference() if index else self._pointer

    def has_children(self):
        return True


def owned(value):
    """The pointer inside a `std::unique_ptr`; behind its deleter, where that has something in it."""
    kind = value.GetType()
    kind = (kind.GetDereferencedType() if kind.IsReferenceType() else kind).GetCanonicalType()
    held = kind.GetTemplateArgumentType(0)
    held = held.GetArrayElementType() if held.IsArrayType() else held
    size = held.GetPointerType().GetByteSize()
    offset = kind.GetByteSize() - size
    if not held.IsValid() or offset < 0:
        return None
    at = value.GetValueAsUnsigned() if value.GetType().IsReferenceType() else value.GetLoadAddress()
    return value.CreateValueFromAddress("pointer", at + offset, held.GetPointerType())


_SMART = re.compile(r"^std::(unique|shared|weak)_ptr<")


def owned_object(value, name):
    """The pointer inside a smart pointer of libstdc++; None for other values, for a `weak_ptr` whose object is no more, and where
    there is a deleter to be told of, too."""
    found = _SMART.match(name or "")
    if found is None:
        return None
    if found.group(1) == "unique":
        pointer = owned(value)
        if pointer is None or pointer.GetByteSize() != value.GetByteSize():
            return None
    else:
        plain = value.GetNonSyntheticValue()
        pointer = plain.GetChildMemberWithName("_M_ptr")
        counts = plain.GetChildMemberWithName("_M_refcount").GetChildMemberWithName("_M_pi")
        if found.group(1) == "weak" and counts.GetChildMemberWithName("_M_use_count").GetValueAsSigned(0) <= 0:
            return None
    return pointer if pointer.IsValid() else None


def owned_summary(value, _session):
    pointer = owned(value.GetNonSyntheticValue())
    if pointer is None:
        return "std::unique_ptr"
    address = pointer.GetValueAsUnsigned(0)
    return hex(address) if address else "nullptr"


def install(debugger):
    """Put ours before lldb's own, in versions after 19."""
    version = re.search(r"version (\d+)", lldb.SBDebugger.GetVersionString())
    if version and int(version.group(1)) > 19:
        debugger.HandleCommand("type synthetic add -x -l sf_lldb.Owner %s" % _OWNERS)
        debugger.HandleCommand("type summary add -x -e -F sf_lldb.owned_summary %s" % _OWNERS)
