"""The lines that made what a failing line uses are read off the source of its function."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import FrameType
from typing import Any

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


def evidence() -> Any:
    spec = importlib.util.spec_from_file_location("sf_evidence", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_runs_in_a_with_makes_what_it_gives_and_fails_it_when_it_is_left(tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text(SOURCE.replace("    return", "    assert found\n    return"))
    scope: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    frame: FrameType = _frame_of(scope["test"])
    makers = evidence().makers
    assert makers(frame, 9) == {"lines": [4, 6, 7, 8, 9], "names": ["found"]}, "the assertion behind it"
    assert makers(frame, 6)["lines"] == [4, 6, 7, 8], "the head of it, where it failed as it was left"


def _frame_of(test: Any) -> FrameType:
    """The frame of the function as it failed: `found` is None there."""
    try:
        test(int, int)
    except AssertionError:
        trace = sys.exc_info()[2]
        assert trace is not None and trace.tb_next is not None
        return trace.tb_next.tb_frame
    raise AssertionError("it must fail")
