"""Which parts of a value a recorder tells as changed: held against what was really done to it."""

from __future__ import annotations

import importlib
import sys
import types
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stillframe

_TARGET = Path(stillframe.__file__).parent / "_target"
_NAME = "recorder_of_the_tests"

ATOMS = st.integers(0, 3) | st.sampled_from(["a", "b"])
ROWS = st.lists(ATOMS | st.lists(ATOMS, max_size=2), max_size=6)
KEYED = st.dictionaries(st.sampled_from("abcdef"), ATOMS, max_size=6)


@pytest.fixture(scope="module")
def compare() -> Any:
    """The recorder's own module, which finds its neighbours as it does in a program."""
    package = types.ModuleType(_NAME)
    package.__path__ = [str(_TARGET / "recording"), str(_TARGET)]
    before = set(sys.modules)
    sys.modules[_NAME] = package
    yield importlib.import_module(f"{_NAME}.sf_compare")
    for name in set(sys.modules) - before:
        del sys.modules[name]


def told(compare: Any, value: Any, edit: Any) -> list[tuple[str, Any, bool]]:
    before = compare.held(value)
    edit(value)
    found: list[tuple[str, Any, bool]] = compare.changed_parts(before, compare.held(value), value)
    return found


def redone(compare: Any, old: list[Any], parts: list[tuple[str, Any, bool]]) -> list[Any]:
    """What a reader makes of the parts: what is gone was there, and what there is now has the place that is told."""
    new = list(old)
    places = [(int(path[1:-1]), part, came) for path, part, came in parts]
    for at in sorted((at for at, part, _ in places if part is compare.GONE), reverse=True):
        del new[at]
    for at, part, came in sorted((each for each in places if each[1] is not compare.GONE), key=lambda each: each[0]):
        if came or at == len(new):
            new.insert(at, part)
        else:
            new[at] = part
    return new


@given(
    old=ROWS,
    at=st.integers(0, 6),
    taken=st.integers(0, 3),
    put=st.lists(ATOMS, max_size=3),
    kind=st.sampled_from((list, deque)),
)
def test_what_is_told_of_a_row_makes_the_new_one_of_the_old(
    compare: Any, old: list[Any], at: int, taken: int, put: list[Any], kind: Any
) -> None:
    def edit(value: Any) -> None:
        rest = list(value)
        rest[at : at + taken] = put
        value.clear()
        value.extend(rest)

    value = kind(old)
    before = compare.held(value)
    edit(value)
    parts = compare.changed_parts(before, compare.held(value), value)
    if parts and all(path.count("[") == 1 for path, _, _ in parts):
        assert redone(compare, old, parts) == list(value)


@given(old=ROWS.filter(bool), data=st.data())
def test_one_item_that_came_or_went_is_always_told(compare: Any, old: list[Any], data: Any) -> None:
    at = data.draw(st.integers(0, len(old) - 1))
    value = list(old)
    ((_, part, _),) = told(compare, value, lambda value: value.pop(at))
    assert part is compare.GONE
    new = ["new"]
    ((path, part, came),) = told(compare, value, lambda value: value.insert(at, new))
    assert (path, part, came) == (f"[{at}]", new, at < len(old) - 1)


@given(old=KEYED, new=KEYED, kind=st.sampled_from((dict, OrderedDict)))
def test_what_is_told_of_a_dict_makes_the_new_one_of_the_old(
    compare: Any, old: dict[str, Any], new: dict[str, Any], kind: Any
) -> None:
    value = kind(old)

    def edit(value: Any) -> None:
        value.clear()
        value.update(new)

    parts = told(compare, value, edit)
    made = {f"[{key!r}]": held for key, held in old.items()}
    made.update((path, part) for path, part, _ in parts)
    if parts:
        assert {path: part for path, part in made.items() if part is not compare.GONE} == {
            f"[{key!r}]": held for key, held in new.items()
        }


def test_a_key_that_another_took_the_place_of_is_a_change(compare: Any) -> None:
    value = {"a": 1}
    before = compare.held(value)
    value["b"] = value.pop("a")
    assert not compare.is_same(before, compare.held(value))
    assert compare.changed_parts(before, compare.held(value), value) == [
        ("['b']", 1, False),
        ("['a']", compare.GONE, False),
    ]


def test_keys_are_never_asked_nor_kept(compare: Any) -> None:
    class Key:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        __hash__ = object.__hash__

    value = {Key(): 1, Key(): 2}
    assert told(compare, value, lambda value: value.popitem()) == []
    assert [sys.getrefcount(each) for each in value] == [sys.getrefcount(each) for each in {Key(): 1}]
