"""Places of native programs whose names are odd, or whose sources lie elsewhere."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import stillframe
from stillframe.adapters.finding import find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.lldb import LLDB


def _installed(adapter: Any) -> Any:
    found = find(adapter.needs[0], os.environ, ".")
    there = found.path is not None and not found.problem
    return pytest.param(adapter.name, marks=pytest.mark.skipif(not there, reason=f"{adapter.name} is not installed"))


by_each = pytest.mark.parametrize("kind", [_installed(GDB), _installed(LLDB)])

UNITS = """struct Twice {
    int operator()(int n) { return n * 2; }
};

long double operator""_km(long double v) {
    return v * 1000;
}

int main() {
    Twice twice;
    int far = (int) 2.5_km;
    return twice(far) == 5000;
}
"""


@pytest.fixture
async def dbg(tmp_path: Path) -> AsyncIterator[stillframe.Debugger]:
    async with stillframe.Debugger(cwd=str(tmp_path)) as debugger:
        yield debugger


def _build(compiler: str, file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    line = [compiler, "-g", "-O0", str(file), "-o", str(file.parent.parent / "app")]
    subprocess.run(line, check=True, capture_output=True)


@by_each
async def test_names_with_quotes_and_signs_in_them_are_looked_for_like_any_other(
    dbg: stillframe.Debugger, tmp_path: Path, kind: str
) -> None:
    """gdb 18.1 never answered again where it was asked for one with a `"` in it."""
    odd = 'src/we"ird.cpp'
    await asyncio.to_thread(_build, "c++", tmp_path / odd, UNITS)
    stop = await dbg.launch("./app", adapter=kind, breaks=[f"{odd}:11", 'operator""_km'])
    assert isinstance(stop, stillframe.Stop) and stop.frame is not None, stop
    assert (stop.frame.file, stop.frame.line) == (odd, 11)
    for name in ('a"b', "it's", '"', "'", 'x<"i(', f"{odd}!nobody"):
        assert (await dbg.break_(name)).state == "pending", name
    assert (await dbg.break_('else"where.cpp:3')).state == "pending"
    if kind == "gdb":  # lldb knows this one by another name
        assert (await dbg.break_("Twice::operator()")).state == "bound"
        stop = await dbg.continue_()
        assert isinstance(stop, stillframe.Stop) and stop.frame is not None, stop
        assert stop.frame.line == 6 and stop.frame.function.startswith("operator")
    await dbg.stop()


@by_each
async def test_a_source_of_the_same_name_that_the_program_was_made_of_is_named(
    dbg: stillframe.Debugger, tmp_path: Path, kind: str
) -> None:
    source = tmp_path / "src" / "main.c"
    await asyncio.to_thread(_build, "cc", source, "int main(void) {\n    int n = 3;\n    return n;\n}\n")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "main.c").write_text(source.read_text())
    end = await dbg.launch("./app", adapter=kind, breaks=["main.c:3", "copy/main.c:3", "other.c:3"])
    assert isinstance(end, stillframe.Exited), end
    assert [(each.state, each.message) for each in end.never_hit] == [
        ("pending", f"no such file; there is {source}"),
        ("pending", f"the program was made of another main.c: {source}"),
        ("pending", "other.c is not loaded yet"),
    ]
