"""`trace` of Node programs: one call's life, told by the rewritten function itself, in the same shape as for any language."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import stillframe
from stillframe.errors import Unsupported, UsageError
from stillframe.model.traces import AnyStep, Life, Loop, TraceReport

from .conftest import User

SHOP_JS = """\
function priceOf(item) {
  return item.price * item.qty;
}

function total(items) {
  let out = 0;
  for (const item of items) {
    if (item.qty < 0)
      continue;
    out += priceOf(item); }

  return out;
}

console.log(total([{ price: 2, qty: 3 }, { price: 4, qty: -1 }, { price: 5, qty: 5 }, { price: 1, qty: 1 }]));
"""
SHOP_PY = """\
def priceOf(item):
    return item["price"] * item["qty"]


def total(items):
    out = 0
    for item in items:
        if item["qty"] < 0:
            continue
        out += priceOf(item)

    return out


print(total([dict(price=2, qty=3), dict(price=4, qty=-1), dict(price=5, qty=5), dict(price=1, qty=1)]))
"""
WORK = """\
import { Worker, isMainThread } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';

let asked = 0;
class Service {
  #seen = 0;
  async price(sku) {
    this.#seen += 1;
    asked += 1;
    await sleep(1);
    const found = await look(sku);
    return found;
  }
}
async function look(sku) {
  if (sku === 'none') throw new Error('no such thing');
  return sku.length;
}
function* numbers(to) {
  for (let i = 0; i < to; i++) {
    yield i;
  }
}
function often(x) { return x + 1; }
function cut(lines) {
  const out = [];
  for (const line of lines) {
    try {
      out.push(JSON.parse(line));
    } catch (error) {
      out.push(null);
    }
  }
  return out;
}
function last(n) {
  let t = 0;
  for (let i = 0; i < n; i++) {
    t += i;
    if (i === 40) process.kill(process.pid, 'SIGKILL');
  }
}
const way = process.argv[2];
if (way === 'worker' && isMainThread) new Worker(new URL(import.meta.url), { argv: ['worker'] });
if (way === 'often') for (let i = 0; i < 1_000_000; i++) often(i);
const service = new Service();
const bits = numbers(9);
bits.next();
bits.next();
cut(['1', '{', '3']);
if (way === 'worker') often(1);
await service.price('pen');
await service.price('none').catch(() => {});
if (way === 'killed') last(1000);
function closed(n) {
  try {
    n.a.b = 1;
  } finally {
    n.open = false;
  }
}
try { closed({}); } catch { }
"""


async def traced(folder: Path, at: str, *command: str, **how: object) -> TraceReport:
    async with stillframe.Debugger(cwd=str(folder)) as dbg:
        return await dbg.trace(at, command=list(command), **how)  # type: ignore[arg-type]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work.mjs").write_text(WORK)
    return tmp_path


def life(report: TraceReport) -> Life:
    assert report.life is not None, report
    return report.life


def shape(steps: tuple[AnyStep, ...]) -> list[object]:
    """What is told, without the texts in which languages differ."""
    told: list[object] = []
    for each in steps:
        if isinstance(each, Loop):
            turns = [(turn.number, turn.why, turn.like, shape(turn.steps)) for turn in each.told]
            told.append(("loop", each.line, each.last, each.turns, each.ways, turns))
        else:
            changes = [(one.name, one.new if one.name == "out" else None) for one in each.changes]
            calls = [(one.function, one.line, one.end, one.result) for one in each.calls]
            told.append((each.line, changes, calls, each.raised))
    return told


def lines(report: TraceReport) -> list[tuple[int, dict[str, str | None]]]:
    """Lines in order with what they changed, of calls without loops."""
    found = [each for each in life(report).steps if not isinstance(each, Loop)]
    return [(each.line, {one.name: one.new for one in each.changes}) for each in found]


async def test_a_call_is_told_in_the_same_shape_as_in_python(tmp_path: Path) -> None:
    (tmp_path / "shop.js").write_text(SHOP_JS)
    (tmp_path / "shop.py").write_text(SHOP_PY)
    node = await traced(tmp_path, "total", "node", "shop.js")
    python = await traced(tmp_path, "total", sys.executable, "shop.py")
    assert [each.name for each in life(node).arguments] == ["items"] == [each.name for each in life(python).arguments]
    assert shape(life(node).steps) == shape(life(python).steps)
    (loop,) = [each for each in life(node).steps if isinstance(each, Loop)]
    assert (loop.turns, loop.ways, life(node).result, node.calls) == (4, 2, "32", 1)
    assert (node.how.partition(",")[0], life(node).lines) == ("rewriting", life(python).lines)


async def test_a_recorder_that_is_preloaded_twice_tells_once_and_never_of_itself(tmp_path: Path) -> None:
    """Node 24 hands the `--require` of its environment on to the processes that `--test` starts."""
    (tmp_path / "shop.js").write_text(SHOP_JS)
    boot = str(Path(stillframe.__file__).parent / "_target" / "node" / "recording" / "boot.cjs")
    report = await traced(tmp_path, "total", "node", "--require", boot, "shop.js", depth=2)
    assert (life(report).result, report.calls, report.end.output) == ("32", 1, "32\n")


async def test_waiting_private_fields_and_what_is_outside_are_told(work: Path) -> None:
    report = await traced(work, "Service.price", "node", "work.mjs", depth=1)
    assert lines(report) == [
        (7, {"asked": "0", "this.#seen": "0"}), (8, {"this.#seen": "1"}), (9, {"asked": "1"}), (10, {}),
        (11, {"found": "3"}), (12, {}),
    ]  # fmt: skip
    waits = [each for each in life(report).steps if not isinstance(each, Loop) and each.yielded is not None]
    assert [each.line for each in waits] == [10, 11]
    (look,) = waits[1].calls
    assert (look.function, look.result, [each.line for each in look.steps]) == ("look", "3", [16, 17])
    assert (life(report).result, report.calls, report.raising, report.raising_what) == (
        "3", 2, 2, "Error: no such thing",
    )  # fmt: skip


async def test_a_generator_that_nobody_ends_and_errors_that_are_caught_are_told(work: Path) -> None:
    given = life(await traced(work, "numbers", "node", "work.mjs"))
    assert (given.end, given.at) == ("suspended", 21)
    report = await traced(work, "cut", "node", "work.mjs")
    (loop,) = [each for each in life(report).steps if isinstance(each, Loop)]
    odd = next(turn for turn in loop.told if turn.why == "differs")
    raised = [each.raised for each in odd.steps if not isinstance(each, Loop) and each.raised]
    assert (loop.turns, odd.number, [each.split(":")[0] for each in raised]) == (3, 2, ["SyntaxError"])
    closed = life(await traced(work, "closed", "node", "work.mjs"))
    begin = WORK.splitlines().index("function closed(n) {") + 1
    assert (closed.end, closed.at) == ("raised", begin + 2), "not where it was cleaned up"
    assert [each.line for each in closed.steps if not isinstance(each, Loop)][-1] == begin + 4


async def test_every_call_counts_in_every_worker_and_none_is_lost_to_a_kill(work: Path) -> None:
    often = await traced(work, "often", "node", "work.mjs", "often", call=1_000_000)
    assert (often.calls, life(often).number, life(often).arguments[0].value) == (1_000_000, 1_000_000, "999999")
    worker = await traced(work, "often", "node", "work.mjs", "worker")
    assert worker.calls == 2, "one in the program's own thread and one in the other"
    killed = await traced(work, "last", "node", "work.mjs", "killed")
    (loop,) = [each for each in life(killed).steps if isinstance(each, Loop)]
    changed = {one.name: one.new for each in loop.told[-1].steps if not isinstance(each, Loop) for one in each.changes}
    assert (life(killed).end, life(killed).at, loop.turns, changed["t"]) == ("running", 40, 41, "820")


async def test_what_is_not_there_or_cannot_be_asked_is_said(work: Path) -> None:
    missing = await traced(work, "prize", "node", "work.mjs")
    assert (missing.verdict, missing.near[0]) == ("no such function", "Service.price")
    never = await traced(work, "last", "node", "work.mjs")
    assert (never.verdict, never.found[0].line) == ("never called", 36)
    with pytest.raises(UsageError, match="--if sku === is no expression of JavaScript: Unexpected token"):
        await traced(work, "look", "node", "work.mjs", condition="sku ===")
    with pytest.raises(Unsupported, match="node --permission"):
        await traced(work, "look", "node", "--permission", "work.mjs")
    (work / "odd.js").write_text("function odd(n) {\n  var x = n;\n  function x() {}\n  return x;\n}\nodd(3);\n")
    odd = await traced(work, "odd", "node", "odd.js")
    assert (lines(odd)[0][0], life(odd).result, odd.how.partition(",")[0]) == (2, "3", "steps")
    assert odd.notes[0].startswith("odd was run a second time, stepped through: odd.js cannot be rewritten")
    outside = await traced(work, "odd.js:6", "node", "odd.js")
    assert outside.notes == ("no function of odd.js holds line 6, and functions alone are recorded",)


async def test_typescript_is_told_by_its_own_lines() -> None:
    folder = Path(__file__).parents[2] / "examples" / "bugs" / "undefined_field"
    report = await traced(folder, "sum", "node", "invoice.js")
    (loop,) = [each for each in life(report).steps if isinstance(each, Loop)]
    assert (life(report).file, life(report).line, loop.line, life(report).result) == ("invoice.ts", 13, 15, "NaN")
    caller = life(report).caller
    assert caller is not None
    assert caller.line == 28


async def test_a_linked_package_beside_the_program_is_the_users_own(tmp_path: Path) -> None:
    core, app = tmp_path / "packages" / "core", tmp_path / "packages" / "app"
    for folder in (core, app, tmp_path / "node_modules" / "@shop"):
        folder.mkdir(parents=True)
    (core / "package.json").write_text('{"name": "@shop/core", "main": "index.js"}')
    (core / "index.js").write_text("exports.add = function add(a, b) {\n  return a + b;\n};\n")
    (app / "package.json").write_text('{"name": "app"}')
    (app / "main.mjs").write_text("import { add } from '@shop/core';\nadd(1, 2);\n")
    (tmp_path / "node_modules" / "@shop" / "core").symlink_to(core)
    for name in ("add", "@shop/core!add"):
        report = await traced(app, name, "node", "main.mjs")
        assert (life(report).line, life(report).result) == (1, "3"), "by the name of its package, too"


NAMED = """\
var __defProp = Object.defineProperty;
var __name = (target, value) => __defProp(target, "name", { value, configurable: true });
const round = /* @__PURE__ */ __name((x, d = 2) => {
  const f = 10 ** d;
  return Math.round(x * f) / f;
}, "round");
const api = { run: /* @__PURE__ */ __name(async (n) => {
  return round(n);
}, "run") };
api.run(1.234);
"""


async def test_functions_whose_names_a_compiler_hands_on_are_found_by_them(tmp_path: Path) -> None:
    """As tsx does, by esbuild's `keepNames`."""
    (tmp_path / "named.cjs").write_text(NAMED)
    rounded = await traced(tmp_path, "round", "node", "named.cjs")
    assert (life(rounded).function, life(rounded).line, life(rounded).result) == ("round", 3, "1.23")
    assert life(await traced(tmp_path, "api.run", "node", "named.cjs")).line == 7
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.probe("round", "run", hits=1, command=["node", "named.cjs"])
    assert [(each.state, each.actual.line if each.actual else None) for each in report.places] == [
        ("reached", 4),
        ("reached", 8),
    ]


STOCK = """\
class Item { constructor(sku, qty) { this.sku = sku; this.qty = qty; } }
class Stock {
  constructor(count) {
    this.items = new Map();
    this.named = {};
    for (let n = 0; n < count; n++) this.items.set(`s${n}`, new Item(`s${n}`, n));
    this.log = [];
  }
  take(sku, qty) {
    this.items.set(sku, new Item(sku, qty));
    this.log.push([sku, qty]);
    this.named['a-b'] = qty;
    delete this.named['a-b'];
    return this.log.length;
  }
}
new Stock(12).take('s9', 40);
"""


def test_of_a_large_value_the_part_is_told_that_a_line_changed(user: User) -> None:
    user.file("stock.js", STOCK)
    text = user.ok("trace", "take", "--", "node", "stock.js")
    lines = {line.split()[0]: line for line in text.splitlines() if line[:4].strip().isdigit()}
    assert lines["10"].endswith("  this.items['s9']=Item {sku: 's9', qty: 40}"), text
    assert lines["11"].endswith("  this.log[0]=['s9', 40]"), text
    assert lines["12"].endswith("  this.named['a-b']=40"), text
    assert lines["13"].endswith("  this.named['a-b'] (gone)"), text


CLOSED = """\
function* count() {
  let i = 0;
  try {
    while (true) yield i++;
  } finally {
    i = -1;
  }
}
for (const x of count()) if (x > 1) break;
"""


def test_a_generator_that_is_closed_tells_where_it_waited_and_what_its_finally_ran(user: User) -> None:
    user.file("closed.js", CLOSED)
    rows = user.ok("trace", "count", "--", "node", "closed.js").splitlines()
    assert "suspended at line 4, then closed, and ran on to line 6" in rows, rows
    user.file(
        "closed.py",
        "def one():\n    try:\n        yield 1\n    finally:\n        done = True\n\nfor x in one():\n    break\n",
    )
    rows = user.ok("trace", "one", "--", "python3", "closed.py").splitlines()
    assert "suspended at line 3, then closed, and ran on to line 5" in rows, rows
    user.file("plain.js", "function* one() {\n  yield 1;\n  yield 2;\n}\nfor (const x of one()) break;\n")
    rows = user.ok("trace", "one", "--", "node", "plain.js").splitlines()
    assert "suspended at line 2, then closed: it did not come to its end" in rows, rows
