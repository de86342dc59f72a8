"""Names of imports and exports in programs that were made from others, spelled there in each compiler's own way."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import stillframe

from .mapwriter import encoded
from .nodes import place, stopped, where
from .npm import bundle, compile_typescript, configuration, install
from .test_node_sources import COMMONJS, LOADERS, STRAIGHT


async def test_names_that_only_a_compiler_gave_to_imports_are_not_told(tmp_path: Path) -> None:
    written = (
        "import { rate } from './rate';\nfunction taxed(n) {\n  return n * rate + _own;\n}\nvar _own = taxed(1);\n"
    )
    runs = written.replace("import { rate } from './rate'", "var rate_1 = { rate: 2 }").replace(
        "n * rate", "n * rate_1.rate"
    )
    (tmp_path / "app.ts").write_text(written)
    (tmp_path / "app.js").write_text(runs + "//# sourceMappingURL=app.js.map\n")
    (tmp_path / "app.js.map").write_text(json.dumps({"version": 3, "sources": ["app.ts"], "mappings": STRAIGHT}))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js", breaks=["app.ts:3"]))
        assert [each.name for each in stop.locals] == ["n", "_own"]
        assert (await dbg.eval("rate_1.rate")).values[0].value == "2"


TAX = """\
export const VAT = 0.2;
export function rate(n: number): number { return n / 10; }
export default function gross(n: number): number { return n * (1 + VAT); }
"""
BILL = """\
import gross, { rate as tenth, VAT } from './tax';
import * as tax from './tax';
import { sep } from 'path';
export let last = 0;
function bill(n: number): number {
  const sum = gross(n) + tenth(n) + VAT + tax.VAT;
  last = n;
  return sum;
}
function shadowed(VAT: number | undefined) {
  return VAT;
}
for (let i = 0; i < 9; i++) bill(i);
console.log(shadowed(undefined), sep, last);
"""


def bill(folder: Path, way: str) -> tuple[tuple[str, ...], str]:
    """The program as a project; how it is run, and the file that it begins with."""
    (folder / "src").mkdir()
    for name, text in {"tax.ts": TAX, "shop.ts": BILL}.items():
        (folder / ("src" if way == "tsc" else "") / name).write_text(text)
    (folder / "package.json").write_text('{"type": "commonjs"}')
    (folder / "tsconfig.json").write_text(configuration(**COMMONJS, outDir="out", sourceMap=True))
    install(folder)
    if way == "tsc":
        compile_typescript(folder)
    return (("node", "out/shop.js"), "src/shop.ts") if way == "tsc" else (LOADERS[way], "shop.ts")


@pytest.mark.long
@pytest.mark.parametrize("way", ["tsc", *LOADERS])
async def test_what_a_file_imports_and_exports_has_its_written_name_however_it_was_compiled(
    tmp_path: Path, way: str
) -> None:
    command, file = bill(tmp_path, way)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        wanted = [f"{file}:{each}" for each in ("8 if n > tenth(40)", "11", "13 if i == 8")]
        first = await dbg.launch(command=tuple(command), breaks=wanted)
        assert (place(first), stopped(first).local("n"), stopped(first).notes) == (("bill", 8), "5", ())
        assert not [each.name for each in stopped(first).locals if re.search("import_|_1|__", each.name)]
        asked = (
            "gross(10)",
            "tenth(5)",
            "VAT",
            "tax.VAT",
            "last",
            "n + VAT",
            "await tenth(1)",
            "const x = VAT; x * 2",
            "'VAT'",
        )
        told = [each.value for each in (await dbg.eval(*asked)).values]
        assert told == ["12", "0.5", "0.2", "0.2", "5", "5.2", "0.1", "0.4", "'VAT'"]
        assert (await dbg.set("sum", "VAT")).values[0].value == "0.2"
        lost, _ = (await dbg.eval("sep", "n")).values
        gone = "sep is not defined here: V8 keeps for bill only the outer variables that it uses"
        assert gone in (lost.value or "") or lost.value == "'/'", (
            "said to be lost, but where V8 has kept it (Node 24 does)"
        )
        assert stopped(await dbg.continue_()).local("n") == "6", "the condition is V8's own again"
        await dbg.unbreak("b1")
        last = stopped(await dbg.continue_())
        assert (last.breakpoints, place(last)[1], last.local("i")) == (("b3",), 13, "8"), "in a round of the loop"
        assert place(await dbg.continue_()) == ("shadowed", 11)
        assert (await dbg.eval("VAT")).values[0].value == "undefined", "a variable of that name comes first"


BUNDLED = """\
import whole, { rate as tenth, VAT } from './tax';
import half from './half';
function bill(n: number): number {
  const sum = whole(n) + tenth(n) + VAT + half(n);
  return sum;
}
function other(other: number): number {
  return other;
}
for (let i = 0; i < 9; i++) bill(i);
other(1);
"""


async def test_imports_have_their_written_names_in_a_bundle_that_has_them_by_those_of_their_home(
    tmp_path: Path,
) -> None:
    files = {
        "tax.ts": TAX,
        "half.ts": "export default function other(n: number) { return n / 2; }\n",
        "app.ts": BUNDLED,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    bundle(tmp_path / "app.ts", tmp_path / "out.js")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("out.js", breaks=["app.ts:5 if tenth(n) > 0.5 && whole(n) > VAT"]))
        assert (where(stop), stop.local("n"), stop.notes) == ("app.ts:5", "6", ())
        told = [each.value for each in (await dbg.eval("tenth(5)", "whole(10)", "VAT", "half")).values]
        assert told[:3] == ["0.5", "12", "0.2"]
        assert told[3] == "ReferenceError: half is not defined", (
            "`other` is a name that the file has for something else"
        )


async def test_functions_have_their_written_names_in_a_stack_whatever_a_minifier_calls_them(tmp_path: Path) -> None:
    (tmp_path / "tax.ts").write_text(TAX)
    (tmp_path / "half.ts").write_text("export default function half(n: number) {\n  return [n].map((m) => m / 2);\n}\n")
    (tmp_path / "app.ts").write_text(BUNDLED)
    bundle(tmp_path / "app.ts", tmp_path / "out.js", "--minify")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("out.js", breaks=["half.ts:2"]))
        assert (place(stop), [each.function for each in stop.stack]) == (("half", 2), ["half", "bill", "<module>"])
        assert "function bill(" not in (tmp_path / "out.js").read_text()


RENAMED = """\
const rates = { low: 0.2 };
function bill(items, rebate) {
  let runningTotal = 0;
  for (const item of items) {
    const price = item.qty * rates.low;
    runningTotal += price;
  }
  const parts = items.map((each) => each.qty + rebate);
  if (parts.length > 1) {
    let label = 'outer' + rebate;
    {
      let label = rebate;
      runningTotal += label - rebate;
    }
    {
      let label = parts[0];
      label += 1;
      console.log(label, rates.low);
    }
    console.log(label);
  }
  return runningTotal;
}
bill([{ qty: 1 }, { qty: 2 }], 10);
console.log(bill([{ qty: 5 }, { qty: 6 }], 10));
"""


async def test_variables_have_their_written_names_where_the_map_is_sure_of_them(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(RENAMED)
    bundle(tmp_path / "app.js", tmp_path / "out.js", "--minify")
    assert "runningTotal" not in (tmp_path / "out.js").read_text()
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        wanted = [f"app.js:{each}" for each in ("4 if item.qty == 2", "13", "18", "22")]
        stop = stopped(await dbg.launch("out.js", breaks=wanted))
        told = {each.name: each.value for each in stop.locals}
        items = "[{qty: 1}, {qty: 2}]"
        own = {"item": "{qty: 2}", "items": items, "rebate": "10", "runningTotal": "0.2", "rates": "{low: 0.2}"}
        assert (place(stop), told) == (("bill", 5), own)
        asked = ("items.map((item) => item.qty)", "`${runningTotal}`", "runningTotal <= 1", "runningTotal += 3")
        assert [each.value for each in (await dbg.eval(*asked)).values] == ["[1, 2]", "'0.2'", "true", "3.2"]
        assert (await dbg.set("rebate", "20")).values[0].value == "20"
        assert [each.value for each in (await dbg.expand("items")).values] == ["{qty: 1}", "{qty: 2}"]
        stop = stopped(await dbg.next(2))
        assert [each.name for row in stop.trail for each in row.changes] == ["price", "runningTotal"]
        assert stop.local("runningTotal") == "3.6"
        gone = stopped(await dbg.continue_())
        names = {each.name for each in gone.locals}
        assert place(gone) == ("bill", 13)
        assert "label" not in names, (
            "the inner one was taken out of what runs: the other is not the one that is meant here"
        )
        assert {"parts", "items", "rebate", "runningTotal"} < names
        inner = stopped(await dbg.continue_())
        assert (place(inner), inner.local("label")) == (("bill", 18), "22")
        assert (await dbg.eval("label")).values[0].value == "22"
        assert stopped(await dbg.continue_()).local("runningTotal") == "3.6"
        lying = json.loads((tmp_path / "out.js.map").read_text())
        lying["names"] = [f"no{each}" for each in lying["names"]]
        (tmp_path / "out.js.map").write_text(json.dumps(lying))
        wrong = stopped(await dbg.launch("out.js", breaks=["app.js:8"]))
        assert not {each.name for each in wrong.locals} & set(lying["names"]), (
            "a map that is at odds with the source is not sure"
        )


WEBPACKED = """var _tax__WEBPACK_IMPORTED_MODULE_0__ = { VAT: 0.2, "default": (n) => n * 2 };
function bill(n) {
  return (0,_tax__WEBPACK_IMPORTED_MODULE_0__["default"])(n) + _tax__WEBPACK_IMPORTED_MODULE_0__.VAT;
}
bill(1); bill(2);
"""


async def test_the_default_of_a_module_has_its_written_name_where_it_is_spelled_in_brackets(tmp_path: Path) -> None:
    written = (
        "import gross, { VAT } from './tax';\nfunction bill(n) {\n  return gross(n) + VAT;\n}\nbill(1); bill(2);\n"
    )
    columns = [
        (0, 0, 2, 2),
        (9, 0, 2, 9),
        (len('  return (0,_tax__WEBPACK_IMPORTED_MODULE_0__["default"])(n) + '), 0, 2, 20),
    ]
    rows = [[(0, 0, 0, 0)], [(0, 0, 1, 0)], columns, [(0, 0, 3, 0)], [(0, 0, 4, 0)]]
    (tmp_path / "app.ts").write_text(written)
    (tmp_path / "app.js").write_text(WEBPACKED + "//# sourceMappingURL=app.js.map\n")
    (tmp_path / "app.js.map").write_text(json.dumps({"version": 3, "sources": ["app.ts"], "mappings": encoded(rows)}))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch("app.js", breaks=["app.ts:3 if gross(n) > 2"]))
        assert (where(stop), stop.local("n")) == ("app.ts:3", "2")
        assert [each.value for each in (await dbg.eval("gross(4)", "VAT")).values] == ["8", "0.2"]
        (found,) = (await dbg.probe("app.ts:3", expect=["gross(n) > 2"], command=("node", "app.js"))).places
        assert [(each.held, each.violated, each.errors) for each in found.claims] == [(1, 1, 0)]


@pytest.mark.long
@pytest.mark.parametrize("way", ["tsc", "tsx"])
async def test_claims_and_traces_know_imports_by_their_written_names(tmp_path: Path, way: str) -> None:
    command, file = bill(tmp_path, way)
    asked = {"expect": ["gross(n) > VAT", "tax.VAT < 0"], "eval": ["tenth(n)", "last"]}
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        (found,) = (await dbg.probe(f"{file}:8 if n > tenth(70)", command=command, **asked)).places  # type: ignore[arg-type]
        traced = await dbg.trace("bill", condition="n > tenth(70)", command=command)
    assert [(each.held, each.violated, each.errors) for each in found.claims] == [(1, 0, 0), (0, 1, 0)]
    assert [(each.least, each.most) for each in found.gathered] == [("0.8", "0.8"), ("8", "8")]
    assert traced.life is not None
    assert [each.value for each in traced.life.arguments] == ["8"]
