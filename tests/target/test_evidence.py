"""The lines that made what a failing line uses are read off the source of its function."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import stillframe

FILE = Path(stillframe.__file__).parent / "_target" / "testing" / "sf_evidence.py"
SOURCE = """\
import contextlib, sys

def test(make, load):
    schema = make()
    other = make()
    with contextlib.nullcontext() as found:
        load(schema)
        load(2)
    return sys._getframe()
"""


def evidence(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module as it is in a runner's process, which finds the others of its folder."""
    monkeypatch.syspath_prepend(str(FILE.parent))
    spec = importlib.util.spec_from_file_location("sf_evidence", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHANGED = """\
import sys

def test(make, load):
    cart, log, price, other = make(), make(), 5, 6
    load(other)
    print(cart)
    cart.rows.add(price)
    load(log, into=cart)
    log.add(other)
    other.append(1)
    assert cart
"""


def test_what_a_line_uses_is_made_by_calls_that_change_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "changed.py"
    file.write_text(CHANGED)
    scope: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    module = evidence(monkeypatch)
    lines = module.makers(_Called(scope["test"]), 11, module.is_user)["lines"]
    assert lines == [4, 5, 7, 8, 9, 10, 11], "all but what only prints"


class _Called:
    """Enough of a frame: of a call of this function."""

    def __init__(self, function: Any) -> None:
        self.f_code = function.__code__


def test_what_runs_in_a_with_makes_what_it_gives_and_fails_it_when_it_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "made.py"
    file.write_text(SOURCE.replace("    return", "    assert found\n    return"))
    scope: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    frame: FrameType = _frame_of(scope["test"])
    module = evidence(monkeypatch)
    made = module.makers(frame, 9, module.is_user)
    assert (made["lines"], made["names"]) == ([4, 6, 7, 8, 9], ["found"]), "the assertion behind it"
    assert module.makers(frame, 6, module.is_user)["lines"] == [4, 6, 7, 8], (
        "the head of it, where it failed as it was left"
    )


def _frame_of(test: Any) -> FrameType:
    """The frame of the function as it failed: `found` is None there."""
    try:
        test(int, int)
    except AssertionError:
        trace = sys.exc_info()[2]
        assert trace is not None and trace.tb_next is not None
        return trace.tb_next.tb_frame
    raise AssertionError("it must fail")
