"""What differs between two texts of one value, told by where it is: `self.items['b'].qty 2 -> 1` says more than both of them do.

Nothing is claimed that the texts do not show. A part that is cut in one of them may be the same, sets have no order, and of a
list out of which something was taken nobody can tell which items moved: then the whole container is what differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from . import texts

MOST = 3
"""Parts that are told one by one; more of them are better seen in the whole."""
DEEPEST = 6
_NAME = re.compile(r"[^\W\d][\w$]*")
_WORDS = frozenset({"True", "False", "None", "true", "false", "nil", "null", "NaN", "undefined"})
_SIZES = re.compile(r"len: \d+, cap: \d+|\(\d+\)")
"""What a head tells of the number of items, which may be another; an address is not."""
_POINTER = re.compile(r"0x[0-9a-f]")
_CUT = re.compile(r"['\"`]?(?:…|\.\.\.)")
"""Where a text is cut, or a string in it, which is closed there all the same."""


class Part(msgspec.Struct, frozen=True):
    """A part that is not what it was; None where it was not there, or is not there any more."""

    path: str
    old: str | None
    new: str | None


class Inside(msgspec.Struct, frozen=True):
    """The few parts by which two texts differ."""

    parts: tuple[Part, ...]
    cut: bool
    """More may differ, in what the texts leave out."""


def inside(old: str, new: str) -> Inside | None:
    """None where nothing but the whole texts tells by what they differ."""
    parts = _differing("", old, new, DEEPEST)
    if not 0 < len(parts) <= MOST or not all(each.path for each in parts):
        return None
    return Inside(tuple(parts), cut=any(map(_CUT.search, (old, new))))


def _differing(path: str, old: str, new: str, deep: int) -> list[Part]:
    if old == new:
        return []
    before, after = (_Container.of(each) for each in (old, new))
    if deep and before and after and before.kind == after.kind:
        found = (
            _by_key(path, before, after, deep) if before.keyed and after.keyed else _by_place(path, before, after, deep)
        )
        if found is not None and len(found) <= MOST:
            return found
    return [Part(path, old, new)] if _surely_differ(old, new) else []


def _surely_differ(old: str, new: str) -> bool:
    """Whether they do so before anything is left out of one of them."""
    shown = min((found.start() for each in (old, new) if (found := _CUT.search(each))), default=None)
    return old[:shown] != new[:shown]


def _by_key(path: str, old: _Container, new: _Container, deep: int) -> list[Part] | None:
    """Parts that have names. One that only one of them shows may be left out of the other."""
    before, after = old.named(), new.named()
    if before is None or after is None:
        return None
    found: list[Part] = []
    for step in dict.fromkeys([*before, *after]):
        if step in before and step in after:
            found += _differing(path + step, before[step], after[step], deep - 1)
        elif not (old.cut if step in after else new.cut):
            found.append(Part(path + step, before.get(step), after.get(step)))
    return found


def _by_place(path: str, old: _Container, new: _Container, deep: int) -> list[Part] | None:
    """Items in order: those that changed where they are, or that came or went at the end."""
    if not (old.ordered and new.ordered):
        return None
    before, after = old.values, new.values
    both = list(zip(before, after, strict=False))
    found = [
        part
        for at, pair in enumerate(both[: min(old.in_place, new.in_place)])
        for part in _differing(f"{path}[{at}]", *pair, deep - 1)
    ]
    if old.cut or new.cut or len(before) == len(after):
        return found
    if found:
        return None  # which of them moved cannot be told
    came = [Part(f"{path}[{at}]", None, after[at]) for at in range(len(both), len(after))]
    return came + [Part(f"{path}[{at}]", before[at], None) for at in range(len(both), len(before))]


class _Container(msgspec.Struct, frozen=True):
    """A container's text: its kind, its items as `texts.parted` tells them, and whether some are left out."""

    kind: tuple[str, str]
    items: Sequence[tuple[str, str, str]]
    cut: bool
    in_place: int

    @classmethod
    def of(cls, text: str) -> _Container | None:
        """None where it is none, or its brackets are not what holds all of it."""
        taken = texts.taken_apart(text)
        if taken is None:
            return None
        head, bracket, shown = taken
        left_out = [at for at, each in enumerate(shown) if each.startswith(texts.LEFT_OUT)]
        items = [texts.parted(each) for at, each in enumerate(shown) if at not in left_out]
        return cls((_SIZES.sub("", head), bracket), items, bool(left_out), min(left_out, default=len(items)))

    @property
    def keyed(self) -> bool:
        return all(key for key, _, _ in self.items)

    @property
    def ordered(self) -> bool:
        """A list, an array or a tuple: what stands in a call's brackets is in no place, and a set has none."""
        head, bracket = self.kind
        return not any(key for key, _, _ in self.items) and (bracket == "[" or (bracket == "(" and not head.strip()))

    @property
    def values(self) -> list[str]:
        return [text for _, _, text in self.items]

    def named(self) -> dict[str, str] | None:
        """The values by the steps that lead to them; None where a step would lead to several, or is no whole key."""
        points = bool(_POINTER.search(self.kind[0]))
        found = {_step(key, between, points): text for key, between, text in self.items}
        whole = all(key.count("<") == key.count(">") for key, _, _ in self.items)
        return found if whole and len(found) == len(self.items) else None


def _step(key: str, between: str, points: bool) -> str:
    """As it is written in most languages: `.qty`, `['b']`, `[3]`; and `->qty` behind a pointer."""
    if key.startswith("["):
        return key
    if not _NAME.fullmatch(key) or key in _WORDS or between == "=>":
        return f"[{key}]"
    return f"->{key}" if points else f".{key}"
