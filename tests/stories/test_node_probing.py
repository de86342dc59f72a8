"""Claims checked over a whole run of a Node program: every hit counts, and the first counter-example is shown whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import stillframe
from stillframe.errors import UsageError
from stillframe.model.outcomes import Exited
from stillframe.model.views import ProbedPlace, ProbeReport
from stillframe.render.probes import report as rendered

SHOP = """\
class Shop {
  sell(item) {
    const price = item.price;
    this.sold += price;
    return price;
  }
}
const shop = new Shop();
const later = (item) =>
  item.price * 2;
for (let i = 0; i < 2000; i++) {
  if (i === 1500 && process.argv[2]) process.kill(process.pid, process.argv[2]);
  outer: for (const way of [1, 2]) { if (way === 2) continue outer; shop.sell({ price: i % 700 ? i : 'free' }); }
  switch (i % 3) {
    case 1: later({ price: i });
  }
}
"""


async def probed(folder: Path, *words: str, **asked: object) -> list[ProbedPlace]:
    (folder / "shop.js").write_text(SHOP)
    async with stillframe.Debugger(cwd=str(folder)) as dbg:
        report = await dbg.probe(*asked.pop("at"), command=["node", "shop.js", *words], **asked)  # type: ignore[misc,arg-type]
    return list(report.places)


async def test_every_hit_counts_and_the_first_counter_example_is_shown(tmp_path: Path) -> None:
    at = ("shop.js:4", "shop.js:10 if item.price > 1000", "Shop.sell", "shop.js:13", "shop.js:40", "nobody")
    found = await probed(tmp_path, at=at, eval=["item.price"], expect=["item.price >= 0", "item.none.at"])
    sell, later, entry, loop, behind, nobody = found
    (price,) = sell.gathered
    assert (sell.state, sell.count, price.least, price.most, price.others) == ("reached", 2000, "1", "1999", 3)
    assert (price.more, price.types) == (True, ("string",))
    positive, odd = sell.claims
    assert (positive.held, positive.violated, positive.errors) == (1997, 3, 0)
    assert (odd.held, odd.violated, odd.errors, odd.error_hit) == (0, 0, 2000, 1)
    assert odd.error is not None
    assert odd.error.startswith("TypeError: ")
    counter = positive.counter
    assert counter is not None
    assert counter.hit == 1
    assert {each.name: each.value for each in counter.locals}["price"] == "'free'"
    assert (later.count, entry.count, loop.count) == (333, 2000, 2000)
    assert entry.actual is not None
    assert entry.actual.line == 3
    assert (behind.state, nobody.state) == ("unbound", "unbound")


async def test_a_million_hits_are_all_counted(tmp_path: Path) -> None:
    (tmp_path / "often.js").write_text(
        "function often(n) {\n  return n + 1;\n}\nfor (let i = 0; i < 1e6; i++) often(i);\n"
    )
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.probe("often.js:2", eval=["n"], expect=["n < 999999"], command=["node", "often.js"])
    (claim,), (value,) = report.places[0].claims, report.places[0].gathered
    assert (claim.held, claim.violated, value.least, value.most) == (999_999, 1, "0", "999999")
    assert not report.places[0].at_least


async def test_hits_before_a_kill_are_counted(tmp_path: Path) -> None:
    (terminated,) = await probed(tmp_path, "SIGTERM", at=("shop.js:4",), expect=["true"])
    assert 1500 - 16 < terminated.count <= 1500
    assert terminated.at_least
    assert terminated.message == (
        "at least: the program was killed, and up to 15 hits just before that are not counted"
    )
    text = rendered(ProbeReport(command=("node",), places=(terminated,), end=Exited()), 4000)
    assert text.startswith(f"shop.js:4 reached at least {terminated.count:,} times\n"), text


async def test_a_claim_that_is_no_expression_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--expect price >= is no expression of JavaScript"):
        await probed(tmp_path, at=("shop.js:4",), expect=["price >="])


ENDS = """\
const each = (list, f) => list.forEach(f)
const sums = []
each([1, 2, 3], (n) => {
  const double = n * 2
  if (n === 3) return
  sums.push(double)
})
function short() { sums.push(7)
}
function always(n) {
  if (n) sums.pop()
  return n
}
async function later(n) {
  await null; sums.push(n)
}
short()
always(1)
later(8)
"""


async def test_the_brace_that_ends_a_function_is_looked_at_once_its_last_line_has_run(tmp_path: Path) -> None:
    (tmp_path / "ends.js").write_text(ENDS)
    at = tuple(f"ends.js:{line}" for line in (7, 9, 13, 16))
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.probe(*at, expect=["sums.length > 1"], command=["node", "ends.js"])
    callback, short, always, later = report.places
    (claim,) = callback.claims
    assert (callback.count, claim.held, claim.violated) == (2, 1, 1), "not where a return has left it before"
    assert claim.counter is not None
    assert {each.name: each.value for each in claim.counter.locals}["double"] == "2"
    assert [each.count for each in (short, later)] == [1, 1]
    assert always.actual is not None
    assert always.actual.line == 15, "the next line with code, where a return is the last one"


CONTEXTS = """\
const vm = require('vm');
const filename = __dirname + '/part.js';
const text = require('fs').readFileSync(filename, 'utf8');
const told = [];
const world = () => ({ told });
new vm.Script(text, { filename }).runInNewContext(world());
vm.runInNewContext(text, world(), filename);
vm.runInNewContext(text, world(), { filename });
const made = vm.createContext(world());
new vm.Script(text, { filename }).runInContext(made);
vm.runInContext(text, made, filename);
vm.compileFunction(text, ['told'], { filename, parsingContext: made })(told);
const still = vm.createContext(Object.freeze(world()));
vm.runInContext(`(() => {${text}})()`, still, filename);
const module_ = new vm.SourceTextModule(text, { identifier: filename, context: made });
module_.link(() => {}).then(() => module_.evaluate()).then(() => console.log(told.length > 0));
const same = vm.constants?.DONT_CONTEXTIFY;
vm.runInNewContext(same ? text.replace('told', 'void 0 ?? []') : text, same ?? world(), filename);
"""


async def test_a_text_of_a_file_is_recorded_in_whichever_context_the_program_runs_it(tmp_path: Path) -> None:
    (tmp_path / "contexts.js").write_text(CONTEXTS)
    (tmp_path / "part.js").write_text("var each = (n) => {\n  return n + 1;\n};\ntold.push(each(1));\n")
    command = ["node", "--experimental-vm-modules", "--no-warnings", "contexts.js"]
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.probe("part.js:2", expect=["n === 1"], command=command)
    assert isinstance(report.end, Exited)
    assert (report.end.exit_code, report.end.output) == (0, "true\n"), "the recorder ends no program"
    (claim,) = report.places[0].claims
    assert (report.places[0].count, claim.held) == (9, 9)
