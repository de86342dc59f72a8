"""What an object is made of, without running code of the program: the fields that its class declares, else its own attributes.

Rows of a database are told by what was loaded of them, whatever their repr: that may well send a query.
"""

import sys
import types

MAPPED = "_sa_instance_state"  # SQLAlchemy's own attribute of a row; what was loaded of the row stands beside it
NOT_LOADED = type("not loaded", (), {"__slots__": ()})()  # a column that the database has and the program has not read


# What a class says of itself, without its metaclass having a say: that may be code of the program.
name_of = type.__dict__["__name__"].__get__
_names_in = type.__dict__["__dict__"].__get__
_ancestors = type.__dict__["__mro__"].__get__
_SLOTS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def is_among(kind, kinds):
    """Whether a class is one of these of the interpreter's. One with a metaclass is none, and may not like to be compared."""
    return type(kind) is type and kind in kinds


def module_of(kind):
    """The name of the module that made a class; empty where the class has something else in its place."""
    found = _names_in(kind).get("__module__")
    return found if type(found) is str else kind.__module__ if type(kind) is type and found is None else ""


def loaded(module, name):
    """A class of a module, if the program has loaded that; nothing is imported, nor made by a lazy module's own code."""
    found = sys.modules.get(module)
    return found.__dict__.get(name) if isinstance(found, types.ModuleType) else None


def is_a(value, kinds):
    """isinstance without asking the value for its `__class__`, which may be code of the program."""
    return issubclass(type(value), kinds)


def class_attribute(kind, name):
    """An attribute of a class without its metaclass having a say; None if there is none."""
    for base in _ancestors(kind):
        names = _names_in(base)
        if name in names:
            return names[name]
    return None


def is_loaded(value, module, name):
    """Whether a value is of that class, of a module that the program may have loaded."""
    kind = loaded(module, name)
    return isinstance(kind, type) and issubclass(type(value), kind)


def fields_of(value, kind):
    """(name, value) pairs where the class declares its fields and has no repr of its own; of rows always; else None."""
    if issubclass(kind, tuple):
        return _paired(class_attribute(kind, "_fields"), value)
    if kind is loaded("sqlite3", "Row"):
        return list(zip(value.keys(), tuple(value)))
    if kind is loaded("sqlalchemy.engine.row", "Row"):
        return _paired(getattr(value, "_fields", None), getattr(value, "_data", None))
    own = own_dict(value)
    if MAPPED in own:
        return _of_mapped(own)
    if is_loaded(value, "django.db.models.base", "Model"):
        return _of_django(own, kind)
    names = _declared(kind)
    if names is None and is_loaded(value, "pydantic.main", "BaseModel"):
        return _of_pydantic(value, own, kind)
    if names is None:
        return None
    held = dict(attributes_of(value))
    return [(name, held[name]) for name in names if name in held]


def _declared(kind):
    """The names that a dataclass or a class of attrs shows in the repr that was made for it; None where it has another."""
    plain = class_attribute(kind, "__repr__")
    fields = class_attribute(kind, "__dataclass_fields__")
    if type(fields) is dict and _file_of(getattr(plain, "__wrapped__", None)) == "<string>":
        return [name for name, field in fields.items() if field.repr]
    fields = class_attribute(kind, "__attrs_attrs__")
    if isinstance(fields, tuple) and _is_of_attrs(plain):
        # A function for one field's repr is how secrets are hidden: then the class speaks for itself.
        shown = [each.repr for each in fields]
        if all(type(each) is bool for each in shown):
            return [each.name for each in fields if each.repr]
    return None


def _file_of(function):
    return getattr(getattr(function, "__code__", None), "co_filename", "")


def _is_of_attrs(plain):
    """Whether attrs made this repr: compiled from text since 21.1, a closure of its own module before."""
    if _file_of(plain).startswith("<attrs generated"):
        return True
    return getattr(plain, "__globals__", {}).get("__name__") == "attr._make"


def _paired(names, values):
    """Names and as many values, both in tuples; None where they are something else."""
    if type(names) is tuple and is_a(values, tuple) and len(names) == tuple.__len__(values):
        return list(zip(names, tuple.__iter__(values)))
    return None


def _of_pydantic(value, own, kind):
    """Fields in the order of the class, then what was given beyond them; of pydantic 2 and 1."""
    base = loaded("pydantic.main", "BaseModel")
    for name in ("__repr__", "__repr_args__"):
        if class_attribute(kind, name) is not class_attribute(base, name):
            return None
    declared = None
    for name in ("__pydantic_fields__", "model_fields", "__fields__"):  # from 2.10 on, before, in 1
        found = class_attribute(kind, name)
        declared = declared or (found if type(found) is dict else None)
    hidden = {
        name for name, one in (declared or {}).items() if not getattr(getattr(one, "field_info", one), "repr", True)
    }
    slot = class_attribute(kind, "__pydantic_extra__")
    more = slot.__get__(value, kind) if type(slot) is types.MemberDescriptorType else None
    found = [(name, one) for name, one in own.items() if name not in hidden]
    return found + (list(more.items()) if type(more) is dict else [])


def _of_mapped(own):
    """A row of SQLAlchemy: what was loaded, in the order of the class, and of one that is in the database what was not."""
    state = own[MAPPED]
    columns = getattr(state, "manager", None)
    columns = list(dict.keys(columns)) if isinstance(columns, dict) else []
    stored = getattr(state, "key", None) is not None
    found = [(name, own.get(name, NOT_LOADED)) for name in columns if stored or name in own]
    return found + [(str(name), one) for name, one in list(own.items()) if name not in columns and name != MAPPED]


def _of_django(own, kind):
    """A row of Django: its columns in their order, then what a query put beside them."""
    options = class_attribute(kind, "_meta")
    names = [each.attname for each in options.concrete_fields]
    found = [(name, own.get(name, NOT_LOADED)) for name in names]
    return found + [(name, one) for name, one in list(own.items()) if name not in names and not name.startswith("_")]


def own_dict(value):
    kind = type(value)
    slot = class_attribute(kind, "__dict__")
    if type(slot) not in _SLOTS:  # there is none, or a property in its place, as lazy proxies have
        return {}
    try:
        names = slot.__get__(value, kind)
    except (AttributeError, TypeError):
        return {}
    return names if type(names) is dict else {}


def attributes_of(value):
    """(name, value) of the instance's own attributes, from its dict and slots; properties are not run."""
    found = [(str(name), one) for name, one in list(own_dict(value).items()) if name != MAPPED]
    for kind in _ancestors(type(value)):
        names = _names_in(kind)
        if "__slots__" not in names:
            continue
        for name, slot in list(names.items()):
            if type(slot) is types.MemberDescriptorType:
                try:
                    found.append((name, slot.__get__(value, kind)))
                except AttributeError:  # a slot not filled yet
                    continue
    found.sort(key=lambda pair: pair[0].startswith("_"))  # what the object is for, then how it does it
    return found
