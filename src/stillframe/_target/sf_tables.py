"""Arrays and tables of numpy and pandas, told by shape, kind and first items, and paged; neither is imported by us."""

import sys

from . import sf_watch

LARGEST = 1000000  # numbers of an array that are looked through


class Rows:
    """The items of an array along its first axis, made as they are walked: an image has millions of numbers."""

    def __init__(self, value, get, shape):
        self.value = value
        self.get = get
        self.shape = shape

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        deeper = self.shape[1:]
        for at in range(len(self)):
            one = self.get(self.value, at)
            yield Rows(one, self.get, deeper) if deeper else one.item() if hasattr(one, "item") else one


class _Array:
    """A numpy array: its pages are along the first axis."""

    def __init__(self, value, base):
        self.value = value
        self.get = base.__getitem__  # not the subclass's own
        self.shape = base.shape.__get__(value)
        self.kind = "%s %s %s" % (type(value).__name__, _by(self.shape), base.dtype.__get__(value))
        self.length = self.shape[0]

    def head(self, items):
        return Rows(self.value, self.get, self.shape)

    def page(self, start, count):
        last = min(start + count, self.length)
        return [("[%d]" % at, self.get(self.value, at)) for at in range(start, last)]


class _Series:
    """A pandas series: one value for each label."""

    def __init__(self, value):
        self.value = value
        self.length = len(value)
        self.kind = "Series %d %s" % (self.length, value.dtype)

    def head(self, items):
        """One more than is shown, so that the cut is seen."""
        return self.value.iloc[: items + 1].tolist()

    def page(self, start, count):
        piece = self.value.iloc[start : start + count]
        return [("[%s]" % (label,), one) for label, one in zip(piece.index.tolist(), piece.tolist())]


class _Frame:
    """A pandas table: told by its columns, paged by its rows."""

    def __init__(self, value):
        self.value = value
        self.length = len(value)
        self.kind = "DataFrame %s" % _by(value.shape)

    def head(self, items):
        piece = self.value.iloc[: items + 1, : items + 1]
        return {name: piece.iloc[:, at].tolist() for at, name in enumerate(piece.columns.tolist())}

    def page(self, start, count):
        piece = self.value.iloc[start : start + count]
        names = piece.columns.tolist()
        rows = (dict(zip(names, row)) for row in piece.itertuples(index=False, name=None))
        return [("[%s]" % (label,), row) for label, row in zip(piece.index.tolist(), rows)]


def _by(shape):
    return "x".join(str(length) for length in shape)


def loaded(module, name):
    """A class of a module, if the program has loaded that."""
    return getattr(sys.modules.get(module), name, None)


def table_of(value, seconds=1.0):
    """The value as something with `kind`, `length`, `head` and `page`; None where it is no such thing, or will not tell."""
    kind = type(value)
    array = loaded("numpy", "ndarray")
    if isinstance(array, type) and issubclass(kind, array):
        plain = kind.__repr__ is array.__repr__  # a masked array, say, tells more than its numbers
        return _Array(value, array) if plain and array.ndim.__get__(value) else None
    for name, made in (("Series", _Series), ("DataFrame", _Frame)):
        base = loaded("pandas", name)
        if isinstance(base, type) and issubclass(kind, base):
            return asked(seconds, made, value)
    return None


def asked(seconds, function, *arguments):
    """What code of the library gives within its time; None where it fails."""
    try:
        return sf_watch.within(seconds, function, *arguments)
    except (sf_watch.Overdue, Exception):  # an array of somebody's own class may do anything
        return None


def extremes(value, seconds):
    """The smallest and the largest number of an array, and how many are none; None for anything else."""
    array = loaded("numpy", "ndarray")
    if not isinstance(array, type) or not issubclass(type(value), array):
        return None
    if array.dtype.__get__(value).kind not in "iuf" or not 0 < array.size.__get__(value) <= LARGEST:
        return None
    return asked(seconds, _extremes, array.view(value, array))


def _extremes(plain):
    if plain.dtype.kind == "f":
        numpy = sys.modules["numpy"]
        missing = int(numpy.isnan(plain).sum())
        plain = plain[~numpy.isnan(plain)] if missing else plain
        told = "%.6g to %.6g" % (plain.min(), plain.max()) if plain.size else ""
        return told + ("%s%d nan" % (", " if told else "", missing) if missing else "")
    return "%d to %d" % (plain.min(), plain.max())
