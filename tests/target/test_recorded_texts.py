"""What a recorder writes of a small container is what it would write the long way."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stillframe

TARGET = Path(stillframe.__file__).parent / "_target"
NESTED: Any = [1]
NESTED.append(NESTED)
VALUES = [
    [], (), {}, (1,), [1, 2.5, None, True], {"last": 0.5, 3: "x", None: False}, [float("nan"), -0.0],
    ["it's", "\n", "é", "\ud800"],
    list(range(8)), list(range(9)), {n: n for n in range(9)}, ["x" * 40], {"k" * 40: 1}, {"k" * 20: "v" * 20}, ["x" * 12] * 3,
    [10**30], [10**100], [10**5000], [[1], {}], {"a": [1]}, NESTED, [b"x"], {(1, 2): 3}, ("a" * 29,), ("a" * 30,), [0, 1] * 4,
]  # fmt: skip


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    package = ModuleType("_recording")
    package.__path__ = [str(TARGET / "recording"), str(TARGET)]
    monkeypatch.setitem(sys.modules, "_recording", package)
    return importlib.import_module("_recording.sfr_texts")


@pytest.mark.parametrize("room", [20, 100, 400])
def test_a_small_container_is_told_as_any_other(texts: Any, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    short = [texts.Texts(room).text(each) for each in VALUES]
    monkeypatch.setattr(texts.Texts, "_plainly", lambda *_: None)
    assert short == [texts.Texts(room).text(each) for each in VALUES]
