"""Arrays and tables of numpy, pandas, torch and Django by shape, kind and first items, and paged; we import none of them."""

import struct
import sys

from . import sf_watch
from .sf_fields import attributes_of, is_loaded, loaded

LARGEST = 1000000  # numbers of an array that are looked through
COLUMNS = 6  # of a table that are told
NOT_READ = type("not read", (), {"__slots__": ()})()  # what lies on another device


class Rows:
    """The items of an array along its first axis, made as they are walked: an image has millions of numbers."""

    def __init__(self, value, get, shape, told=None):
        self.value = value
        self.get = get
        self.shape = shape
        self.told = told or (lambda number: number)

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        deeper = self.shape[1:]
        for at in range(len(self)):
            one = self.get(self.value, at)
            if deeper:
                yield Rows(one, self.get, deeper, self.told)
            else:
                yield self.told(one.item()) if hasattr(one, "item") else one


def _single(number):
    """A number of 32 bits with the digits that tell it from its neighbours: 0.1, not 0.10000000149011612."""
    packed = _FLOAT32.pack(number)
    for digits in (6, 7, 8):
        short = float("%.*g" % (digits, number))
        if _FLOAT32.pack(short) == packed:
            return short
    return number


_FLOAT32 = struct.Struct("f")
_TOLD = {"float32": _single, "float16": _single, "bfloat16": _single}


class _Array:
    """A numpy array: its pages are along the first axis."""

    def __init__(self, value, base):
        self.value = value
        self.get = base.__getitem__  # not the subclass's own
        self.shape = base.shape.__get__(value)
        self.dtype = str(base.dtype.__get__(value))
        self.kind = "%s %s %s" % (type(value).__name__, _by(self.shape), self.dtype)
        self.length = self.shape[0]

    def head(self, items):
        return Rows(self.value, self.get, self.shape, _TOLD.get(self.dtype))

    def page(self, start, count):
        last = min(start + count, self.length)
        return [("[%d]" % at, self.get(self.value, at)) for at in range(start, last)]


class _Tensor:
    """A tensor of torch, of which a copy without its history is read, and only where that waits for no device."""

    def __init__(self, value):
        torch = sys.modules["torch"]
        self.base = torch.Tensor
        self.get = torch.Tensor.__getitem__
        own = "DisableTorchFunctionSubclass"  # which was called so only from torch 2.0 on
        with (getattr(torch._C, own, None) or torch._C.DisableTorchFunction)():  # not the subclass's own
            self.shape = tuple(self.base.shape.__get__(value))
            dtype, device = self.base.dtype.__get__(value), self.base.device.__get__(value)
            layout = self.base.layout.__get__(value)
            self.readable = device.type == "cpu" and layout is torch.strided
            self.plain = self.base.detach(value) if self.readable else None
            self.dtype = str(dtype).replace("torch.", "")
            words = [type(value).__name__, _by(self.shape), self.dtype]
            words += [str(device)] if device.type != "cpu" else []
            words += [str(layout).replace("torch.", "")] if layout is not torch.strided else []
            words += ["requires_grad"] if self.base.requires_grad.__get__(value) else []
        self.kind = " ".join(each for each in words if each)
        self.length = self.shape[0] if self.shape else None

    def head(self, items):
        if not self.readable:
            return NOT_READ
        told = _TOLD.get(self.dtype)
        if self.shape:
            return Rows(self.plain, self.get, self.shape, told)
        return told(self.plain.item()) if told else self.plain.item()

    def page(self, start, count):
        last = min(start + count, self.length or 0) if self.readable else 0
        return [("[%d]" % at, self.get(self.plain, at)) for at in range(start, last)]


class _Fetched:
    """A query of Django's that was sent: the rows that it brought."""

    def __init__(self, value):
        held = dict(attributes_of(value))
        self.rows = held["_result_cache"]
        self.length = len(self.rows)
        self.kind = "%s of %s" % (type(value).__name__, held["model"].__name__)

    def head(self, items):
        return self.rows

    def page(self, start, count):
        rows = self.rows[start : start + count]
        return [("[%d]" % (start + at), one) for at, one in enumerate(rows)]


class _Index:
    """The labels of a pandas table."""

    def __init__(self, value):
        self.value = value
        self.length = len(value)
        self.kind = "%s %d %s" % (type(value).__name__, self.length, value.dtype)

    def head(self, items):
        return self.value[: items + 1].tolist()

    def page(self, start, count):
        return [("[%d]" % (start + at), one) for at, one in enumerate(self.value[start : start + count].tolist())]


class _Series:
    """A pandas series: one value for each label."""

    def __init__(self, value):
        self.value = value
        self.length = len(value)
        self.kind = "Series %d %s" % (self.length, value.dtype)

    def head(self, items):
        """One more than is shown, so that the cut is seen; labels only where they say more than a count."""
        piece = self.value.iloc[: items + 1]
        if is_loaded(self.value.index, "pandas", "RangeIndex") or not self.value.index.is_unique:
            return piece.tolist()
        return dict(zip(piece.index.tolist(), piece.tolist()))

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


def table_of(value, seconds=1.0):
    """The value as something with `kind`, `length`, `head` and `page`; None where it is no such thing, or will not tell."""
    kind = type(value)
    array = loaded("numpy", "ndarray")
    if isinstance(array, type) and issubclass(kind, array):
        plain = kind.__repr__ is array.__repr__  # a masked array, say, tells more than its numbers
        return _Array(value, array) if plain and array.ndim.__get__(value) else None
    for module, name, made in _MADE:
        if is_loaded(value, module, name):
            return asked(seconds, made, value)
    return None


_MADE = (
    ("pandas", "Series", _Series),
    ("pandas", "DataFrame", _Frame),
    ("pandas", "Index", _Index),
    ("torch", "Tensor", _Tensor),
    ("django.db.models.query", "QuerySet", _Fetched),
)


def asked(seconds, function, *arguments):
    """What code of the library gives within its time; None where it fails."""
    try:
        return sf_watch.within(seconds, function, *arguments)
    except (sf_watch.Overdue, Exception):  # an array of somebody's own class may do anything
        return None


def extremes(value, seconds):
    """What all of an array or table is like: extremes, and how many are missing; None for anything else."""
    array = loaded("numpy", "ndarray")
    if isinstance(array, type) and issubclass(type(value), array):
        return asked(seconds, _of_array, array.view(value, array))
    for module, name, tell in _TELL:
        if is_loaded(value, module, name):
            return asked(seconds, tell, value)
    return None


def _of_array(plain):
    if plain.dtype.kind not in "iuf" or not 0 < plain.size <= LARGEST:
        return None
    if plain.dtype.kind == "f":
        numpy = sys.modules["numpy"]
        missing = int(numpy.isnan(plain).sum())
        plain = plain[~numpy.isnan(plain)] if missing else plain
        return _span(plain.min(), plain.max(), missing, "nan") if plain.size else "%d nan" % missing
    return "%d to %d" % (plain.min(), plain.max())


def _span(low, high, missing, what, form="%.6g"):
    return (form + " to " + form) % (low, high) + (", %d %s" % (missing, what) if missing else "")


def _of_series(series):
    if not 0 < len(series) <= LARGEST:
        return None
    missing = int(series.isna().sum())
    if series.dtype.kind in "iuf" and missing < len(series):
        return _span(series.min(), series.max(), missing, "missing")
    if series.dtype.kind in "mM" and missing < len(series):
        return _span(series.min(), series.max(), missing, "missing", form="%s")
    return "%d missing" % missing if missing else None


def _of_frame(frame):
    """Each column's kind, extremes and gaps."""
    told = []
    for at, name in enumerate(frame.columns[:COLUMNS].tolist()):
        column = frame.iloc[:, at]
        told.append(" ".join(each for each in (str(name), str(column.dtype), _of_series(column)) if each))
    return "; ".join(told) + ("; …" if frame.shape[1] > COLUMNS else "")


def _of_tensor(value):
    """As of an array, on the processor's own memory: anywhere else that would wait for a device."""
    tensor = _Tensor(value)
    if not tensor.readable or not 0 < tensor.plain.numel() <= LARGEST or tensor.plain.is_complex():
        return None
    real = tensor.plain
    if real.is_floating_point():
        real = real[~real.isnan()]
    missing = tensor.plain.numel() - real.numel()
    if not real.numel() or str(real.dtype) == "torch.bool":
        return "%d nan" % missing if missing else None
    return _span(real.min().item(), real.max().item(), missing, "nan")


_TELL = (("pandas", "Series", _of_series), ("pandas", "DataFrame", _of_frame), ("torch", "Tensor", _of_tensor))
