"""Values of native programs that are broken, endless or vast: each is told within bounds, or why it cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.errors import AdapterUnresponsive, EvalFailed
from stillframe.model.values import Value

SOURCE = Path(__file__).resolve().parents[1] / "languages" / "cpp" / "broken.cpp"


async def test_broken_endless_and_vast_values_are_told_within_bounds(tmp_path: Path) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("gdb is not installed, or has no debug adapter")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = await dbg.launch(str(SOURCE), breaks=[f'{SOURCE}@"look here"'], adapter="gdb")
        assert isinstance(stop, stillframe.Stop), stop
        told = {each.name: each for each in stop.locals}
        assert told["torn"].error and str(1 << 45) in told["torn"].value
        assert "not readable" in told["wild"].value
        assert told["bytes"].value == r'"ok\377\033[31m"'
        assert told["one"].value.count("value = 1") == 1
        assert all(len(each.value) <= 200 for each in stop.locals)
        await _pages(dbg, told)
        await _evaluations(dbg)
        assert (await dbg.stop()).action == "terminated"


async def _pages(dbg: stillframe.Debugger, told: dict[str, Value]) -> None:
    """A late page of a long row comes at once; one of a chain without end is given up, and the debugger lives on."""
    numbers = await dbg.expand(told["numbers"].ref or "", start=999_998)
    assert ([each.value for each in numbers.values], numbers.total) == (["7", "8"], 1_000_000)
    (item,) = (await dbg.expand(told["vast"].ref or "", start=(1 << 43) - 1)).values
    assert item.error and "Cannot access memory" in item.value
    with pytest.raises(AdapterUnresponsive, match="parts take longer"):
        await dbg.expand(told["ring"].ref or "", start=1 << 40)
    assert len((await dbg.expand(told["ring"].ref or "", count=3)).values) == 3


async def _evaluations(dbg: stillframe.Debugger) -> None:
    """A call in the program neither takes the frame that was chosen nor the handles."""
    await dbg.frame("f1")
    assert [each.value for each in (await dbg.eval("text.size()")).values] == [str(30 << 20)]
    assert [each.value for each in (await dbg.eval("numbers[999999]")).values] == ["8"]
    with pytest.raises(EvalFailed, match="Cannot access memory"):
        await dbg.eval("*(int *)0")
