"""Programs that were made from others: compiled TypeScript, loaders that compile, bundles, published packages, broken maps."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import stillframe
from stillframe.render.looking import show

from .nodes import debugged, exited, place, stopped, where
from .npm import compile_typescript, configuration, install, newer_node

SHOP = """\
interface Item { price: number; qty: number }
enum Kind { Plain, Taxed }

export class Cart {
  private items: Item[] = [];
  constructor(public readonly kind: Kind) {}
  add(price: number, qty = 1): this {
    this.items.push({ price, qty });
    return this;
  }
  total(): number {
    let sum: number = 0;
    for (const { price, qty } of this.items) {
      sum += price * qty;
    }
    return this.kind === Kind.Taxed ? sum * 2 : sum;
  }
}
const top: string = 'level';
const cart = new Cart(Kind.Taxed).add(2).add(3, 2);
console.log(top, cart.total());
"""
COMMONJS = {"target": "es2017", "module": "commonjs"}
WAYS: dict[str, dict[str, object]] = {
    "a file beside it": {**COMMONJS, "sourceMap": True},
    "inline": {**COMMONJS, "inlineSourceMap": True, "inlineSources": True},
    "with a root": {**COMMONJS, "sourceMap": True, "sourceRoot": "../src"},
    "a module": {"target": "es2020", "module": "es2020", "moduleResolution": "node", "sourceMap": True},
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The shop as a project, compiled in each of the ways."""
    projects = {way: tmp_path_factory.mktemp("project") for way in WAYS}
    for way, project in projects.items():
        (project / "src").mkdir()
        (project / "src" / "shop.ts").write_text(SHOP)
        (project / "package.json").write_text(json.dumps({"type": "module" if way == "a module" else "commonjs"}))
        (project / "tsconfig.json").write_text(configuration(**WAYS[way], outDir="out"))
    compile_typescript(*projects.values())
    return projects


@pytest.mark.parametrize("way", WAYS)
async def test_compiled_programs_are_told_in_the_words_of_what_was_written(compiled: dict[str, Path], way: str) -> None:
    async with stillframe.Debugger(cwd=str(compiled[way])) as dbg:
        first = stopped(await dbg.launch("out/shop.js", breaks=["src/shop.ts:19", "src/shop.ts:14"]))
        assert (where(first), first.breakpoints) == ("src/shop.ts:19", ("b1",)), "top-level code as well"
        (here,) = [each.text for each in first.source if each.here]
        assert here == "const top: string = 'level';"
        stop = stopped(await dbg.continue_())
        assert (place(stop), stop.local("price"), stop.breakpoints) == (("Cart.total", 14), "2", ("b2",))
        assert [(each.file, each.line) for each in stop.stack if each.kind == "user"][1] == ("src/shop.ts", 21)
        state, stack = stopped(await dbg.state(generated=True)), await dbg.stack(generated=True)
        runs = (compiled[way] / "out/shop.js").read_text().splitlines()
        for told, frames in ((state, state.stack), (stack, stack.frames)):
            assert [_rest(runs, each.generated) for each in frames[:2]] == ["sum += price * qty;", "total());"]
            assert "src/shop.ts:14 [out/shop.js:" in show(told, "shop", 2000), "both sides of it"
        assert where(await dbg.next()) == "src/shop.ts:13"
        other = await dbg.source(generated=True)
        assert (other.file or "").endswith("out/shop.js")
        (there,) = [each for each in other.lines if each.here]
        assert there.text == runs[there.line - 1]
        await dbg.unbreak(all=True)
        assert where(await dbg.finish()) == "src/shop.ts:21"
        assert exited(await dbg.continue_()).output == "level 16\n"


def _rest(lines: Sequence[str], at: str | None) -> str:
    """What stands there, to the end of its line; the place ends with a line and a column from 1."""
    _, line, column = (at or "").rsplit(":", 2)
    return lines[int(line) - 1][int(column) - 1 :]


LOADERS = {
    "tsx": ("node", "--import", "tsx", "shop.ts"),
    "ts-node": ("node", "-r", "ts-node/register/transpile-only", "shop.ts"),
}


@pytest.mark.parametrize("place_of", ["shop.ts:14", "Cart.total"])
@pytest.mark.parametrize("command", LOADERS.values(), ids=LOADERS)
async def test_loaders_that_compile_are_told_in_the_words_of_the_file(
    tmp_path: Path, command: Sequence[str], place_of: str
) -> None:
    (tmp_path / "shop.ts").write_text(SHOP)
    (tmp_path / "package.json").write_text('{"type": "commonjs"}')
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"module": "commonjs", "target": "es2020"}}')
    install(tmp_path)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=tuple(command), breaks=[place_of]))
        assert place(stop) == ("Cart.total", 14 if ":" in place_of else 12)
        assert (stop.frame.file if stop.frame else "") == "shop.ts"


@pytest.mark.long
@pytest.mark.parametrize("runner", ["tsx", "ts-node"])
async def test_a_loader_that_is_started_as_a_command_is_followed_to_the_program(tmp_path: Path, runner: str) -> None:
    (tmp_path / "shop.ts").write_text(SHOP)
    (tmp_path / "package.json").write_text('{"type": "commonjs"}')
    (tmp_path / "tsconfig.json").write_text(configuration(**COMMONJS))
    install(tmp_path)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=("npx", runner, "shop.ts"), breaks=["shop.ts:14"], timeout=60))
        assert (place(stop), stop.local("price"), where(stop)) == (("Cart.total", 14), "2", "shop.ts:14")


STEPPED = """\
type Row = { n: number };
function double(n: number): number {
  const twice = n * 2;
  return twice;
}
function total(rows: Row[]): number {
  let sum = 0;
  for (const row of rows) {
    sum += double(row.n);
  }
  return sum;
}
async function fetched(): Promise<Row[]> {
  await new Promise((done) => setTimeout(done, 2));
  return [{ n: 1 }];
}
async function main() {
  const rows = await fetched();
  const all = total(rows);
  console.log(all);
}
main();
"""


@pytest.mark.parametrize("command", LOADERS.values(), ids=LOADERS)
async def test_steps_and_returns_are_told_by_the_lines_that_were_written_however_few_lines_run(
    tmp_path: Path, command: Sequence[str]
) -> None:
    (tmp_path / "shop.ts").write_text(STEPPED)
    (tmp_path / "package.json").write_text('{"type": "commonjs"}')
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"module": "commonjs", "target": "es2020"}}')
    install(tmp_path)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=tuple(command), breaks=["shop.ts:19", "shop.ts:4"]))
        assert (where(stop), stop.breakpoints) == ("shop.ts:19", ("b1",))
        assert {each.line for each in stop.stack if each.file == "shop.ts"} <= {19, 22}, (
            "what runs around it has no line"
        )
        assert [each.actual and each.actual.line for each in (await dbg.breaks()).breakpoints] == [19, 4]
        assert [where(await dbg.step()) for _ in range(4)] == [f"shop.ts:{n}" for n in (7, 8, 9, 3)]
        stop = stopped(await dbg.next())
        assert (where(stop), stop.breakpoints, stop.local("twice")) == ("shop.ts:4", ("b2",), "2")
        assert [where(await dbg.next()) for _ in range(3)] == [f"shop.ts:{n}" for n in (8, 11, 20)]
        runs = await dbg.source(generated=True)
        assert all(": number" not in each.text for each in runs.lines), runs
        assert exited(await dbg.continue_()).output == "2\n"


@pytest.mark.parametrize("app", ["app.js", "app.mjs"])
async def test_a_published_package_is_told_by_the_sources_that_its_maps_name(tmp_path: Path, app: str) -> None:
    install(tmp_path)
    taken = "import { produce } from 'immer';" if app == "app.mjs" else "const { produce } = require('immer');"
    (tmp_path / app).write_text(
        f"{taken}\nconst base = {{ items: [1, 2] }};\n"
        "const next = produce(base, (draft) => {\n  draft.items.push(3);\n});\nconsole.log(next.items.length);\n"
    )
    source = "node_modules/immer/src/core/immerClass.ts"
    line = next(
        n for n, text in enumerate((tmp_path / source).read_text().splitlines(), 1) if "= recipe(proxy)" in text
    )
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(app, breaks=[f"{source}:{line}"]))
        assert stop.frame is not None
        assert ((stop.frame.file or "").endswith("immer/src/core/immerClass.ts"), stop.frame.line) == (True, line)
        assert [each.text.strip() for each in stop.source if each.here] == ["result = recipe(proxy)"]
        assert stop.local("base") == "{items: [1, 2]}"
        assert (await dbg.breaks()).breakpoints[0].state == "bound"
        assert where(await dbg.finish()) == f"{app}:6"
        assert exited(await dbg.continue_()).output == "3\n"
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        await dbg.launch(app, breaks=[f"{app}:3"], all_code=True)
        inside = stopped(await dbg.step())
        assert inside.frame is not None
        assert (inside.frame.file or "").endswith("immer/src/core/immerClass.ts")


PLAIN = "function twice(n) {\n  return n * 2;\n}\nconsole.log(twice(2));\n//# sourceMappingURL=app.js.map\n"


@pytest.mark.parametrize(
    ("map", "note"),
    [
        ('{"version": 3, "sources": ["app.ts"], "mappings": "!!!!"}', "is of no use"),
        ("no JSON", "is of no use"),
        (None, "is of no use"),
        ('{"version": 3, "sources": ["nosuch.ts"], "mappings": "AAAA;AACA;AACA;AACA"}', "is not there"),
    ],
    ids=["broken", "no map", "missing", "without its sources"],
)
async def test_a_map_of_no_use_is_noted_and_what_runs_is_shown(tmp_path: Path, map: str | None, note: str) -> None:
    (tmp_path / "app.js").write_text(PLAIN)
    if map is not None:
        (tmp_path / "app.js.map").write_text(map)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js", breaks=["app.js:2"]))
        assert (where(stop), stop.local("n")) == ("app.js:2", "2")
        assert any(note in each for each in stop.notes), stop.notes
        assert exited(await dbg.continue_()).output == "4\n"


CARRIED = "const n: number = 1;\nfunction twice(m: number) {\n  return m * 2;\n}\nconsole.log(twice(n));\n"
STRAIGHT = "AAAA;AACA;AACA;AACA;AACA"


async def test_a_source_that_only_the_map_carries_is_shown_from_there(tmp_path: Path) -> None:
    runs = CARRIED.replace(": number", "") + "//# sourceMappingURL=app.js.map\n"
    (tmp_path / "app.js").write_text(runs)
    made = {"version": 3, "sources": ["lost/app.ts"], "sourcesContent": [CARRIED], "mappings": STRAIGHT}
    (tmp_path / "app.js.map").write_text(json.dumps(made))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js", breaks=["app.js:3"]))
        assert (where(stop), stop.local("m")) == ("lost/app.ts:3", "1")
        assert [each.text for each in stop.source] == CARRIED.splitlines()[:3]
        (note,) = stop.notes
        assert note == "lost/app.ts is not on disk; its lines are those in the source map of app.js"
        assert [each.text for each in (await dbg.source(around=9)).lines] == CARRIED.splitlines()
        assert [each.text for each in (await dbg.source(generated=True, around=9)).lines] == runs.splitlines()
        assert [each.text for each in (await dbg.frame("1")).source if each.here] == ["console.log(twice(n));"]


TYPED = """\
enum Kind { Plain = 1, Taxed }
class Box {
  constructor(private readonly n: number) {}
  value(): number {
    const v: number = this.n / 2;
    return v + Kind.Taxed;
  }
}
for (const n of [1, 2, 3]) console.log(new Box(n).value());
"""
PLAIN_TYPES = TYPED.replace("enum Kind { Plain = 1, Taxed }", "const Kind = { Taxed: 2 }").replace(
    "constructor(private readonly n: number) {}", "n: number; constructor(n: number) { this.n = n; }"
)


@pytest.mark.parametrize("type", ["commonjs", "module", ""])
@pytest.mark.parametrize("writes", [True, False], ids=["transforms", "strips"])
async def test_typescript_that_node_itself_runs_is_held_and_recorded_at_its_lines(
    tmp_path: Path, type: str, writes: bool
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"type": type} if type else {}))
    (tmp_path / "app.ts").write_text(TYPED if writes else PLAIN_TYPES)
    command = (str(newer_node()), *(["--experimental-transform-types"] if writes else []), "app.ts")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=command, breaks=["app.ts:6 if v > 1"]))
        assert (place(stop), stop.local("v")) == (("Box.value", 6), "1.5")
        await dbg.stop()
        report = await dbg.probe("app.ts:6", expect=["v < Kind.Taxed"], command=command)
        traced = await dbg.trace("Box.value", call=2, command=command)
    assert [(each.count, each.claims[0].held) for each in report.places] == [(3, 3)]
    assert (report.end.output, "stripTypeScriptTypes" in report.end.stderr) == ("2.5\n3\n3.5\n", False)
    assert traced.life is not None
    assert (traced.life.line, traced.life.result) == (4, "3")


async def test_what_vite_wraps_around_a_module_is_not_told_and_what_a_program_calls_so_is(tmp_path: Path) -> None:
    program = """
const run = (0, eval)(`(async function (__vite_ssr_import__, __vite_ssr_exports__, require, module, __filename) {
const __vite_ssr_import_0__ = { rate: 2 };
const total = 3;
__vite_ssr_exports__.twice = function twice(n) {
  const import_own = n * __vite_ssr_import_0__.rate;
  return (() => { debugger; return import_own + total; })();
};
debugger;
})`);
const made = {};
run(null, made, require, module, __filename).then(() => made.twice(4));
"""
    async with debugged(tmp_path, program) as (dbg, first):
        assert stopped(first).reason == "debugger statement"
        assert [each.name for each in stopped(first).locals] == ["total"]
        assert {each.name for each in stopped(await dbg.continue_()).locals} == {"import_own", "total"}


async def test_a_map_that_leads_past_the_end_of_its_source_is_noted_and_what_runs_is_shown(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(PLAIN)
    made = {"version": 3, "sources": ["app.ts"], "sourcesContent": ["const one = 1;"], "mappings": STRAIGHT}
    (tmp_path / "app.js.map").write_text(json.dumps(made))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js", breaks=["app.js:2"]))
        assert (where(stop), [each.text for each in stop.source if each.here]) == ("app.js:2", ["  return n * 2;"])
        assert any("leads to line 2 of app.ts, which has 1" in each for each in stop.notes), stop.notes


async def test_code_that_is_in_no_file_is_shown_as_v8_has_it(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(
        "require('fs').unlinkSync(__filename);\ndebugger;\neval('let ev = 1;\\ndebugger;');\n"
        "new Function('b', 'debugger; return b')(5);\n"
    )
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js"))
        assert ([each.text for each in stop.source if each.here], where(stop)) == (["debugger;"], "app.js:2")
        assert stop.notes == ("app.js is not on disk; its lines are what V8 runs",)
        (line,) = (await dbg.source("app.js:1", around=0)).lines
        assert line.text.startswith("require('fs')")
        stop = stopped(await dbg.continue_())
        assert [each.text for each in stop.source] == ["let ev = 1;", "debugger;"]
        assert stop.notes == ("<eval> is no file; its lines are what V8 runs",)
        assert [each.text for each in stopped(await dbg.continue_()).source][-1] == "debugger; return b"
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=("node", "-e", "let a = 1; debugger; console.log(a)")))
        assert ([each.text for each in stop.source], stop.local("a")) == (["let a = 1; debugger; console.log(a)"], "1")


async def test_packages_are_held_under_the_links_by_which_they_are_loaded(tmp_path: Path) -> None:
    for name, text in {
        "lib": "exports.f = (a) => {\n  return a;\n};\n",
        "@own/esm": "export const g = (a) => {\n  return a;\n};\n",
    }.items():
        folder = tmp_path / "packages" / name.rpartition("/")[2]
        folder.mkdir(parents=True)
        (folder / "index.js").write_text(text)
        (folder / "package.json").write_text(
            json.dumps({"name": name, "type": "module" if "@" in name else "commonjs"})
        )
        link = (tmp_path / "app" if "@" in name else tmp_path) / "node_modules" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
    (tmp_path / "app" / "app.js").write_text("require('lib').f(1);\nimport('@own/esm/index.js').then((m) => m.g(2));\n")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        places = ["packages/lib/index.js:2", "packages/esm/index.js:2"]
        first = await dbg.launch(command=("node", "--preserve-symlinks", "app/app.js"), breaks=places)
        assert (stopped(first).local("a"), stopped(first).breakpoints) == ("1", ("b1",))
        assert stopped(await dbg.continue_()).local("a") == "2"
        named = await dbg.launch(command=("node", "app/app.js"), breaks=["@own/esm!g", "lib!f", "lib!g"], name="named")
        assert (place(named), stopped(named).breakpoints) == (("exports.f", 2), ("b2",)), (
            "by the name of its package, too"
        )
        assert (place(again := await dbg.continue_()), stopped(again).breakpoints) == (("g", 2), ("b1",))


async def test_functions_that_react_makes_for_their_names_alone_are_no_place_of_the_component(tmp_path: Path) -> None:
    """A server that renders evaluates one for each call on its way, with a source map that leads to the component's own line."""
    written = {"version": 3, "sources": [str(tmp_path / "app.js")], "names": [], "mappings": "AAAA"}
    inline = base64.b64encode(json.dumps(written).encode()).decode()
    address = f"//# sourceURL=rsc://React/Server/app.js?0\n//# sourceMappingURL=data:application/json;base64,{inline}"
    made = json.dumps(f"({{ Page: (_) => _() }})\n{address}")
    program = f"function Page() {{ return 1; }}\nconst fake = (0, eval)({made}).Page;\nconsole.log(fake(Page));\n"
    async with debugged(tmp_path, program, breaks=["app.js:1"]) as (dbg, first):
        assert place(first) == ("Page", 1)
        assert [each.kind for each in stopped(first).stack] == ["user", "library", "user"]
        assert exited(await dbg.continue_()).output == "1\n"
