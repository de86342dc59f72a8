"""Code of tools around the program's own: what bundlers make up, modules that they evaluate, what Node and Yarn wrap around."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import stillframe

from .mapwriter import as_section, encoded
from .nodes import debugged, exited, stopped, where
from .test_node_sources import STRAIGHT

MADE_UP = """\
(() => {
var exports = { get tax() {
  return tax;
} };
function tax(n) {
  return n * 2;
}
function bill(n) {
  const sum = exports.tax(n);
  return sum;
}
bill(3);
console.log("all",
  "loaded");
run();
})();
function run() {}
"""


async def test_steps_and_the_entry_pass_by_what_a_bundler_has_made_up(tmp_path: Path) -> None:
    written = MADE_UP.replace("exports.", "").splitlines()[4:12]
    rows: list[list[tuple[int, ...]]] = [
        [(0, 0, line - 4, 0), (2, 0, line - 4, 2)] if 4 <= line < 12 else [] for line in range(14)
    ]
    rows += [[], [], [(0, 1, 0, 0)]]
    sources = {"sources": ["app.ts", "webpack://app/webpack/bootstrap"], "sourcesContent": [None, "run()"]}
    (tmp_path / "app.ts").write_text("\n".join(written))
    (tmp_path / "app.js").write_text(MADE_UP + "//# sourceMappingURL=app.js.map\n")
    (tmp_path / "app.js.map").write_text(json.dumps({"version": 3, **sources, "mappings": encoded(rows)}))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        assert where(await dbg.launch("app.js", stop_on_entry=True)) == "app.ts:8", "the first line that somebody wrote"
        assert [where(await dbg.step()) for _ in range(2)] == ["app.ts:5", "app.ts:2"], "not in the getter"
        assert where(await dbg.finish()) == "app.ts:6"
        assert exited(await dbg.next()).output == "all loaded\n"
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        assert where(await dbg.launch("app.js", breaks=["app.js:13"])) == "app.js:13"
        assert where(await dbg.step()) == "app.js:15", "who looks at such code goes through it line by line"
        await dbg.break_("app.js:17")
        stop = stopped(await dbg.continue_())
        assert [(each.function, each.kind) for each in stop.stack[:2]] == [("run", "library"), ("<anonymous>", "user")]
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js", stop_on_entry=True, all_code=True))
        assert where(stop) == "app.js:1"


async def test_files_that_were_put_together_are_told_by_an_index_map(tmp_path: Path) -> None:
    texts = {"a.ts": "function twice(n) {\n  return n * 2;\n}\n", "b.ts": "const r = twice(4);\nconsole.log(r);\n"}
    rows: dict[str, list[list[tuple[int, ...]]]] = {
        "a.ts": [[(0, 0, 0, 0)], [(2, 0, 1, 2)], [(0, 0, 2, 0)]],
        "b.ts": [[(0, 0, 0, 0), (10, 0, 0, 10)], [(0, 0, 1, 0)]],
    }
    made = {each: {"version": 3, "sources": [each], "mappings": encoded(rows[each])} for each in texts}
    sections = [as_section(made["a.ts"], 1, 0), as_section(made["b.ts"], 4, len("/* b */"))]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    whole = f"// both\n{texts['a.ts']}/* b */{texts['b.ts']}//# sourceMappingURL=out.js.map\n"
    (tmp_path / "out.js").write_text(whole)
    (tmp_path / "out.js.map").write_text(json.dumps({"version": 3, "sections": sections}))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        first = await dbg.launch("out.js", breaks=["b.ts:1", "a.ts:2"])
        assert (where(first), stopped(first).breakpoints) == ("b.ts:1", ("b1",)), "behind something on its line"
        stop = stopped(await dbg.step())
        assert (where(stop), stop.breakpoints, stop.local("n")) == ("a.ts:2", ("b2",), "4")
        assert [(each.file, each.line) for each in stop.stack] == [("a.ts", 2), ("b.ts", 1)]
        assert where(await dbg.next()) == "b.ts:2"
        assert exited(await dbg.continue_()).output == "8\n"


def evaluated(name: str, *comments: str) -> str:
    """A module of a bundle that evaluates its modules, as webpack makes it with `devtool: eval` and its like."""
    text = "\n".join(
        ["function total(n) {", "  return n + 1;", "}", "console.log(total(1));", *comments, f"//# sourceURL={name}"]
    )
    return f"eval({json.dumps(text)});\n"


async def test_modules_that_a_bundle_evaluates_are_told_by_their_maps_or_said_to_have_none(tmp_path: Path) -> None:
    made = {"version": 3, "sources": ["webpack://shop/./src/mapped.ts"], "mappings": STRAIGHT}
    inline = base64.b64encode(json.dumps(made).encode()).decode()
    comment = f"//# sourceMappingURL=data:application/json;charset=utf-8;base64,{inline}"
    (tmp_path / "src").mkdir()
    for name in ("mapped.ts", "bare.ts", "other.ts"):
        (tmp_path / "src" / name).write_text(
            "function total(n: number) {\n  return n + 1;\n}\nconsole.log(total(1));\n"
        )
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "bundle.js").write_text(
        evaluated("webpack-internal:///./src/mapped.ts", comment) + evaluated("webpack://shop/./src/bare.ts?")
    )
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(
            await dbg.launch("out/bundle.js", breaks=[f"src/{name}.ts:2" for name in ("mapped", "bare", "other")])
        )
        assert (where(stop), stop.local("n"), stop.breakpoints) == ("src/mapped.ts:2", "1", ("b1",))
        left = {each.id: (each.state, each.message or "") for each in exited(await dbg.continue_()).never_hit}
        assert left["b2"][0] == "failed" and "without a source map" in left["b2"][1]
        assert left["b3"][0] == "pending"


WORKER = """
const { Worker } = require('node:worker_threads');
new Worker('function f(n) {\\n  debugger;\\n  return n * 2;\\n}\\nf(4);', { eval: true });
"""


async def test_what_node_and_yarn_wrap_around_a_program_is_no_frame_of_the_users(tmp_path: Path) -> None:
    async with debugged(tmp_path, WORKER) as (_, first):
        assert [each.function for each in stopped(first).stack] == ["f", "<module>"]
    files = {
        "app.js": "require('./.pnp.cjs').load(() => {\n  debugger;\n});\n",
        ".pnp.cjs": "exports.load = (f) => f();\n",
    }
    async with debugged(tmp_path, files) as (dbg, first):
        assert [each.kind for each in stopped(first).stack] == ["user", "library", "user"]
        assert where(await dbg.step()) == "app.js:3"
        assert exited(await dbg.step()).exit_code == 0, "not by way of what Yarn loads packages with"


WRAPPED = """\
import { rate } from './rate';
const sums: number[] = [];
function sum(n: number): number {
  return n * rate;
}
sums.push(sum(2));
sums.push(sum(3));
setTimeout(() => {
  console.log(sums.join());
});
"""
WRAPS = """\
const fs = require('fs');
require.extensions['.ts'] = (module, file) => {
  module._compile(fs.readFileSync(file.replace(/[.]ts$/, '.made'), 'utf8'), file);
};
"""


async def test_a_function_that_a_loader_puts_around_a_file_is_the_file_itself(tmp_path: Path) -> None:
    """As tsx 4.23 does it with each CommonJS module, under the name of the source."""
    written = WRAPPED.splitlines()
    runs = [each.replace(": number[]", "").replace(": number", "") for each in written]
    runs[0] = "var copied = () => ({}), app_exports = copied(); const { rate } = require('./rate');"
    rows: list[list[tuple[int, ...]]] = [[], [(runs[0].index("const"), 0, 0, 0)]]
    rows += [[(len(row) - len(row.lstrip()), 0, at, 0)] for at, row in enumerate(runs[1:], 1)]
    made = {"version": 3, "sources": ["app.ts"], "names": [], "mappings": encoded([*rows, []])}
    inline = base64.b64encode(json.dumps(made).encode()).decode()
    text = "\n".join(["0;(()=>{", *runs, "})()", f"//# sourceMappingURL=data:application/json;base64,{inline}"])
    for name, content in {
        "app.ts": WRAPPED,
        "app.made": text,
        "node_modules/like-tsx/index.js": WRAPS,
        "rate.js": "exports.rate = 5;\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    command = ("node", "-r", "like-tsx", "app.ts")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=command, stop_on_entry=True, breaks=["app.ts:4", "app.ts:9"]))
        assert (where(stop), stop.frame and stop.frame.function) == ("app.ts:1", "<module>")
        assert [where(await dbg.next()) for _ in range(3)] == ["app.ts:2", "app.ts:6", "app.ts:4"]
        stop = stopped(await dbg.state())
        own = [(each.function, each.line) for each in stop.stack if each.kind == "user"]
        assert own == [("sum", 4), ("<module>", 6)]
        assert [each.name for each in stop.locals] == ["n", "rate"]
        assert where(await dbg.finish()) == "app.ts:6"
        assert "copied" not in {each.name for each in stopped(await dbg.state()).locals}
        await dbg.unbreak("b1")
        stop = stopped(await dbg.continue_())
        assert [(each.function, each.line) for each in stop.stack if each.kind == "user"] == [
            ("<anonymous>", 9),
            ("<module>", 8),
        ]
        assert exited(await dbg.continue_()).output == "10,15\n"


LATE = """\
interface Row {
  n: number;
}

function made(row: Row): Error {
  return new RangeError(String(row.n));
}

Promise.reject(made({ n: 3 }));
"""
TELLS_MAPPED = {
    "by Node": "process.setSourceMapsEnabled(true);\n",
    "by a package": """\
Error.prepareStackTrace = function mapped(error, sites) {
  const rows = { made: '6:10', '': '9:16' };
  const own = sites.filter((each) => each.getFileName() === file);
  const named = own.map((each) => [each.getFunctionName() || '', each.getFunctionName() || 'Object.<anonymous>']);
  return [error, ...named.map(([name, told]) => `    at ${told} (${file}:${rows[name]})`)].join('\\n');
};
""",
    "by nobody": "",
}


@pytest.mark.parametrize("told", TELLS_MAPPED)
async def test_the_lines_of_an_error_that_speaks_of_what_was_written_are_not_looked_up_once_more(
    tmp_path: Path, told: str
) -> None:
    pieces = {"function made(row){": (4, 0), "return ": (5, 2), "new RangeError(String(row.n))}": (5, 9)}
    pieces |= {"Promise.reject(": (8, 0), "made({n:3}));": (8, 15)}
    runs, row = "", list[tuple[int, ...]]()
    for piece, (line, column) in pieces.items():
        row.append((len(runs), 0, line, column))
        runs += piece
    map = {"version": 3, "sources": ["late.ts"], "names": [], "mappings": encoded([row])}
    inline = base64.b64encode(json.dumps(map).encode()).decode()
    loads = WRAPS.replace("module._compile", TELLS_MAPPED[told] + "module._compile")
    files = {"late.ts": LATE, "late.made": f"{runs}\n//# sourceMappingURL=data:application/json;base64,{inline}"}
    for name, content in {**files, "node_modules/like-tsx/index.js": loads}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=("node", "-r", "like-tsx", "late.ts")))
        assert stop.exception is not None
        own = [(each.function, each.line) for each in stop.exception.frames if each.kind == "user"]
        assert (where(stop), own) == ("late.ts:6", [("made", 6), ("<module>", 9)])
