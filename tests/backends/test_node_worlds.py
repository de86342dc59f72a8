"""Modules that a tool runs in a world of their own, made into functions by `vm.compileFunction`, as Jest 30 does with tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stillframe

from .mapwriter import encoded
from .nodes import stopped, where

RUNNER = """\
const vm = require('node:vm');
const { readFileSync } = require('node:fs');
RUNTIME
const file = require.resolve('./cart.js');
const parsingContext = vm.createContext(WORLD);
const options = { filename: file, parsingContext, importModuleDynamically: async () => {} };
const made = { exports: {} };
vm.compileFunction(readFileSync(file, 'utf8'), ['module'], options)(made);
made.exports.add(4);
"""
WRITTEN = """\
const one = { a: 1, b: 2 };
function add(n) {
  const sum = n + one.a;
  return sum;
}
module.exports = { add };
"""
MADE = """\
const one = {
  a: 1,
  b: 2
};
function add(n) {
  const sum = n + one.a;
  return sum;
}
module.exports = {
  add
};
//# sourceMappingURL=cart.js.map
"""
LINES = [(0, 0), (0, 12), (0, 18), (0, 24), (1, 0), (2, 2), (3, 2), (4, 0), (5, 0), (5, 19), (5, 23)]


def project(folder: Path, world: str, runtime: str = "") -> None:
    """A tool, in its package, that runs what a compiler has made of a source under the source's own name."""
    package = folder / "node_modules" / "jest-runtime"
    package.mkdir(parents=True)
    (package / "index.js").write_text("exports.world = () => new Proxy({}, {});\n")
    source, rows = folder / "src", [[(0, 0, *each)] for each in LINES]
    source.mkdir()
    (source / "cart.js").write_text(WRITTEN)
    out = folder / "out"
    out.mkdir()
    (out / "run.js").write_text(RUNNER.replace("RUNTIME", runtime).replace("WORLD", world))
    (out / "cart.js").write_text(MADE)
    told = {"version": 3, "sources": ["../src/cart.js"], "mappings": encoded(rows)}
    (out / "cart.js.map").write_text(json.dumps(told))


@pytest.mark.parametrize("wanted", ["src/cart.js:3", "add"])
async def test_a_breakpoint_stands_in_a_module_that_a_tool_makes_a_function_of(tmp_path: Path, wanted: str) -> None:
    project(tmp_path, "{}")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("out/run.js", breaks=[wanted]))
        assert (where(stop), stop.breakpoints, stop.local("n")) == ("src/cart.js:3", ("b1",), "4")
        assert where(await dbg.next()) == "src/cart.js:4"


async def test_a_step_past_such_a_module_goes_on_when_that_has_been_looked_at(tmp_path: Path) -> None:
    project(tmp_path, "{}")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        await dbg.launch("out/run.js", breaks=["out/run.js:8", "src/cart.js:4"])
        assert where(await dbg.next()) == "out/run.js:9"


async def test_a_world_behind_jests_proxy_is_known_by_what_is_loaded_whatever_started_it(tmp_path: Path) -> None:
    project(tmp_path, "world()", "const { world } = require('jest-runtime');")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("out/run.js", breaks=["src/cart.js:3"]))
        assert (where(stop), stop.local("n")) == ("src/cart.js:3", "4"), stop.notes
