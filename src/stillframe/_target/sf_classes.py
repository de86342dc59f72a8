"""Classes of exceptions by name: whether the program has one by now, and which of those that it has is meant, perhaps."""

import os
import sys

from .sf_fields import is_a

MOST = 5000  # classes that are looked through


def loaded(name):
    """The class that a dotted name means by now; nothing is imported, and no code of the program's is asked."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found = sys.modules.get(".".join(parts[:cut]))
        for part in parts[cut:]:
            found = getattr(found, "__dict__", {}).get(part)
        if is_a(found, type):
            return found
    return None


def is_called(kind, name):
    """Whether a class has this name: its own, with its module's, or one that a module has it by (`json.JSONDecodeError`)."""
    return name in _names(kind) or ("." in name and loaded(name) is kind)


def _names(kind):
    """The plain name of a class, and with its module; of the program itself that is its file's or module's name, too."""
    found = [kind.__name__, kind.__qualname__, "%s.%s" % (kind.__module__, kind.__qualname__)]
    if kind.__module__ == "__main__":
        main = sys.modules.get("__main__")
        spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
        stem = os.path.splitext(os.path.basename(file))[0] if is_a(file, str) else None
        called = [spec.name] if spec is not None else [stem] if stem else []
        found += ["%s.%s" % (each, kind.__qualname__) for each in called]
    return found


def lacking(names):
    """[{"name", "nearest"}] of the names that no class of exceptions has, nor ever had when one was raised."""
    known = _known() if names else set()
    return [
        {"name": name, "nearest": _nearest(name, known)} for name in names if name not in known and not loaded(name)
    ]


def _known():
    """Names of all classes of exceptions, plain and with their modules."""
    found, classes, seen = set(), [BaseException], set()
    while classes and len(seen) < MOST:
        kind = classes.pop()
        if kind in seen:
            continue
        seen.add(kind)
        found.update(_names(kind))
        classes += type.__subclasses__(kind)
    return found


def _nearest(name, known):
    """The known name that takes the fewest letters to change, where these are few."""
    most = max(1, len(name) // 4)
    near = [each for each in known if is_a(each, str) and abs(len(each) - len(name)) <= most]
    best = min(((_changes(name.lower(), each.lower()), each) for each in near), default=(most + 1, None))
    return best[1] if best[0] <= most else None


def _changes(one, other):
    """Letters to put in, take out or replace to make one text the other."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        before, row[0] = row[0], number
        for at, found in enumerate(other, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != found))
    return row[-1]
