"""Objects of the interpreter, its library and well-known ones, by the short text that people know them by; none of it is code of
the program's."""

import dis
import enum
import types

from .sf_fields import attributes_of, class_attribute, is_among, is_loaded, loaded, name_of
from .sf_iterators import ITERATORS, iterator_form

NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
PAUSABLE = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
HEAD = 16  # bytes of a buffer that are told
_MAKES_GENERATOR = dis.opmap.get("RETURN_GENERATOR")
_SPEAKS = {  # exact classes whose repr is short and the library's own, and where they are found
    "datetime": "datetime", "date": "datetime", "time": "datetime", "timedelta": "datetime", "timezone": "datetime",
    "ZoneInfo": "zoneinfo", "Decimal": "decimal", "Fraction": "fractions", "UUID": "uuid",
    "PosixPath": "pathlib", "PurePosixPath": "pathlib", "PureWindowsPath": "pathlib", "Pattern": "re", "Match": "re",
    "IPv4Address": "ipaddress", "IPv6Address": "ipaddress", "IPv4Network": "ipaddress", "IPv6Network": "ipaddress",
    "Timestamp": "pandas", "Timedelta": "pandas", "Period": "pandas", "RangeIndex": "pandas",
    "NaTType": "pandas._libs.tslibs.nattype", "device": "torch", "dtype": "torch",
}  # fmt: skip
_HOLD_OBJECTS = ("void", "object_")
_PLAIN_NUMBERS = "biufcmMSU"


def known_form(value, kind):
    """The text of such an object; None for any other."""
    if is_among(kind, NAMED):
        return "<%s %s>" % ("method" if kind is types.MethodType else "function", getattr(value, "__qualname__", "?"))
    if kind is types.ModuleType:
        return "<module %r>" % value.__dict__.get("__name__")
    if is_among(kind, PAUSABLE):
        return "<%s %s, %s>" % (kind.__name__, value.__qualname__, pausable_state(value))
    if is_among(kind, ITERATORS):
        return iterator_form(value)
    if kind is type:
        return "<class %s>" % type.__repr__(value)[7:-1] if type.__repr__(value).startswith("<class") else None
    if issubclass(kind, enum.Enum):
        plain = class_attribute(kind, "__repr__")
        return enum_form(value, kind) if getattr(plain, "__module__", None) == "enum" else None
    if kind is memoryview:
        return _memory(value)
    if _speaks(value, kind) or _is_number(value, kind):
        return repr(value)
    if is_loaded(value, "django.db.models.query", "QuerySet"):
        return _queryset(value)
    return None


def enum_form(value, kind):
    """A member by its name, and by its value where that is plain."""
    held = dict(attributes_of(value))
    name, worth = held.get("_name_"), held.get("_value_")
    told = name_of(kind) + (".%s" % name if type(name) is str else "")
    if type(worth) in (int, str, float, bool, bytes, type(None)) and len(repr(worth)) <= 60:
        return "<%s: %r>" % (told, worth)
    return "<%s>" % told


def _memory(value):
    try:
        head = bytes(value[:HEAD]) if value.ndim == 1 and value.itemsize == 1 else b""
        told = ", %r%s" % (head, "…" if value.nbytes > HEAD else "") if head else ""
        return "<memoryview of %d bytes%s>" % (value.nbytes, told)
    except ValueError:  # it was released
        return "<memoryview, released>"


def _speaks(value, kind):
    """Whether its repr is one that is known to run nothing else."""
    module = _SPEAKS.get(name_of(kind))
    if module is None or loaded(module, name_of(kind)) is not kind:
        return False
    zone = getattr(value, "tzinfo", None) if name_of(kind) in ("datetime", "time", "Timestamp") else None
    return zone is None or _speaks(zone, type(zone))


def _is_number(value, kind):
    """Whether it is one number of numpy's, or an array without an axis, which is one as well."""
    if is_loaded(value, "numpy", "generic"):
        return loaded("numpy", name_of(kind)) is kind and name_of(kind) not in _HOLD_OBJECTS
    return kind is loaded("numpy", "ndarray") and not value.ndim and value.dtype.kind in _PLAIN_NUMBERS


def _queryset(value):
    """A query of Django's that was not sent: its repr would send it. One that was is a table."""
    held = dict(attributes_of(value))
    if held.get("_result_cache") is not None:
        return None
    return "<%s of %s, not fetched>" % (name_of(type(value)), getattr(held.get("model"), "__name__", "?"))


def pausable_state(value):
    """created, running, suspended at a line, or closed: of a generator or coroutine."""
    for prefix in ("gi_", "cr_", "ag_"):
        if hasattr(value, prefix + "frame"):
            frame = getattr(value, prefix + "frame")
            if getattr(value, prefix + "running"):
                return "running"
            if frame is None:
                return "closed"
            return "created" if _is_fresh(frame) else "suspended at line %d" % frame.f_lineno
    return "unknown"


def _is_fresh(frame):
    """Whether a generator's frame has not begun: from 3.11 on it stands at or behind the instruction that makes it."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at < 0 or _MAKES_GENERATOR in tuple(code[max(at - 2, 0) : at + 1 : 2])
