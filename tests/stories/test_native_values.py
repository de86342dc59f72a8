"""Values of native programs that are broken, endless or vast: each is told within bounds, or why it cannot be."""

from __future__ import annotations

import os
import subprocess
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


NAMESAKES = {
    "lib.c": "int level = 99;\nint loud(int n) { return n + level; }\n",
    "quiet.c": "static int level = 5;\nint quiet(int n) { return n + level; }\n",
    "main.c": "int loud(int);\nint quiet(int);\nint main(void) {\n    int n = quiet(1);\n    return loud(n) == 0;\n}\n",
}


def _build_namesakes(folder: Path) -> None:
    for name, text in NAMESAKES.items():
        (folder / name).write_text(text)
    for line in ("-shared -fPIC lib.c -o libloud.so", "main.c quiet.c -o app -L. -lloud -Wl,-rpath,."):
        subprocess.run(["cc", "-g", *line.split()], cwd=folder, check=True)


async def test_a_name_that_the_program_has_is_not_taken_for_a_librarys(tmp_path: Path) -> None:
    found = find(GDB.needs[0], os.environ, ".")
    if found.path is None or found.problem:
        pytest.skip("gdb is not installed, or has no debug adapter")
    _build_namesakes(tmp_path)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        await dbg.launch("./app", breaks=["main.c:5", "loud"], adapter="gdb")
        for text, value in {"level": "5", "level + n": "11", 'sizeof "level"': "6", "loud(level)": "104"}.items():
            assert (await dbg.eval(text)).values[0].value == value, text
        assert (await dbg.eval('(int) puts("level")')).values[0].value == "6", "a text needs memory of the program's"
        assert (await dbg.raw('print (int) puts("on")')).text.strip() == "$1 = 3"
        with pytest.raises(EvalFailed):
            await dbg.eval('quiet("a", nobody)')
        await dbg.set("level", "7")
        assert (await dbg.eval("quiet(0)")).values[0].value == "7"
        assert isinstance(await dbg.continue_(), stillframe.Stop), "no call leaves it running"
        assert (await dbg.eval("level")).values[0].value == "99", "in the library it is the library's"
