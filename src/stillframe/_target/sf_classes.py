"""Classes of exceptions by name: whether the program has one by now, and which of those that it has is meant, perhaps."""

from .sf_fields import is_a

MOST = 5000  # classes that are looked through


def lacking(names):
    """[{"name", "nearest"}] of the names that no class of exceptions has, nor ever had when one was raised."""
    known = _known() if names else set()
    return [{"name": name, "nearest": _nearest(name, known)} for name in names if name not in known]


def _known():
    """Names of all classes of exceptions, plain and with their modules."""
    found, classes, seen = set(), [BaseException], set()
    while classes and len(seen) < MOST:
        kind = classes.pop()
        if kind in seen:
            continue
        seen.add(kind)
        found.update((kind.__name__, "%s.%s" % (kind.__module__, kind.__qualname__)))
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
