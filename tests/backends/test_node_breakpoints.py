"""Breakpoints in Node programs: lines, columns, functions, texts, conditions, counts and logs; what is caught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stillframe.model.outcomes import AnyOutcome, Spot, Stop

from .nodes import debugged, exited, place, stopped, where

SHOP = """
const tax = (n) => n * 2;

function total(items) {
  let sum = 0; for (const item of items) { sum += item.price; }
  // a comment

  const parts = [
    sum,
    tax(sum),
  ];
  return parts[1];
}
class Cart {
  constructor() { this.items = []; }
  add(price) { this.items.push({ price }); return this; }
  total() { return total(this.items); }
  static make() { return new Cart(); }
  get size() { return this.items.length; }
}
const held = { arrow: () => 5, method() { return 6; } };
for (let i = 0; i < 5; i++) {
  const cart = Cart.make().add(i).add(1);
  console.log(i, cart.total());
}
held.arrow(); held.method();
const later = require('./later.js');
console.log(later.taxed(2), new Cart().size);
"""
LATER = "exports.taxed = function (n) {\n  return n + 1;\n};\n"
FILES = {"shop.js": SHOP, "later.js": LATER}


async def test_places_within_a_line_are_told_apart(tmp_path: Path) -> None:
    text = "const a = [1, 2].map((n) => n + 1); const b = a.length; console.log(b);\n"
    asked = text.index("b = a") + 5
    async with debugged(tmp_path, text, breaks=[f"app.js:1:{asked}"]) as (dbg, first):
        stop = stopped(first)
        assert (stop.local("a"), stop.local("b")) == ("[2, 3]", None)
        (made,) = (await dbg.breaks()).breakpoints
        found = text.index(".length") + 2  # where V8 can hold it
        assert (made.requested.column, made.actual) == (asked, Spot(file="app.js", line=1, column=found))
        assert exited(await dbg.continue_()).output == "2\n"
    async with debugged(tmp_path, text, breaks=[f"app.js:1:{text.index('n + 1') + 1}"]) as (dbg, first):
        assert [stopped(first).local("n"), stopped(await dbg.continue_()).local("n")] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("total", 4), ("Cart.total", 16), ("shop!total", 4), ("tax", 1), ("arrow", 20), ("held.method", 20),
        ("Cart.make", 17), ("size", 18), ("taxed", 2), ("later!taxed", 2),
    ],
)  # fmt: skip
async def test_a_function_is_a_place_by_any_of_its_names_before_its_module_is_there(
    tmp_path: Path, name: str, line: int
) -> None:
    async with debugged(tmp_path, FILES, breaks=[name]) as (dbg, first):
        assert place(first)[1] in (line, 16), "a bare name may mean a method as well"
        assert (await dbg.breaks()).breakpoints[0].state == "bound"


async def test_functions_of_ecmascript_modules_are_places_before_these_are_there(tmp_path: Path) -> None:
    files = {
        "app.mjs": "import { twice } from './lib.mjs';\nconst late = await import('./late.mjs?anew=1#all');\n"
        "console.log(twice(2), late.thrice(2));\n",
        "lib.mjs": "export function twice(n) {\n  return n * 2;\n}\n",
        "late.mjs": "export const thrice = (n) => n * 3;\n",
    }
    async with debugged(tmp_path, files, breaks=["twice", "late!thrice"]) as (dbg, first):
        assert where(first) == "lib.mjs:2"
        assert where(await dbg.continue_()) == "late.mjs:1"
        assert exited(await dbg.continue_()).output == "4 6\n"


async def test_the_line_that_holds_it_is_told_and_a_line_that_cannot_is_refused(tmp_path: Path) -> None:
    async with debugged(tmp_path, FILES, stop_on_entry=True) as (dbg, _):
        for asked, line in (("5", 7), ("8", 9), ("21", 21)):
            made = await dbg.break_(f"shop.js:{asked}")
            assert made.actual is not None
            assert (made.state, made.actual.line) == ("bound", line)
        text = await dbg.break_('shop.js@"tax(sum)"')
        assert text.actual is not None
        assert text.actual.line == 9
        past = await dbg.break_("shop.js:999")
        assert (past.state, past.message) == ("failed", "shop.js has 27 lines")
        pending = await dbg.break_("later.js:2")
        assert (pending.state, pending.message) == ("pending", "later.js is not loaded yet")
        never = await dbg.break_("nobody")
        assert never.state == "pending"
        await dbg.disable("b1", "b2", "b3", text.id)
        assert where(await dbg.continue_()) == "later.js:2"
        end = exited(await dbg.continue_())
        assert [(each.id, each.state) for each in end.never_hit] == [(past.id, "failed"), (never.id, "pending")]


async def test_a_function_that_nothing_uses_has_no_code_and_its_breakpoints_are_nowhere_else(tmp_path: Path) -> None:
    text = """
function never(n) {
  return [n].map((one) => {
    return one + 1;
  });
}
function called() { return 'never'; } // never
console.log(called());
"""
    async with debugged(tmp_path, text, breaks=["never", "app.js:1", "app.js:3", "app.js:6"]) as (dbg, first):
        assert place(first) == ("called", 6)
        end = exited(await dbg.continue_())
        why = "nothing in app.js uses never, so V8 has made no code of it"
        assert [(each.state, each.message) for each in end.never_hit] == [("failed", why)] * 3


async def test_several_conditions_and_counts_on_one_line_are_told_apart(tmp_path: Path) -> None:
    async with debugged(tmp_path, FILES, stop_on_entry=True) as (dbg, _):
        one = await dbg.break_("shop.js:23", condition="i === 1")
        two = await dbg.break_("shop.js:23", condition="i >= 2", hit="2")
        seen = [_hit(await dbg.continue_()) for _ in range(2)]
        assert seen == [((one.id,), "1"), ((two.id,), "3")]
        assert exited(await dbg.continue_()).never_hit == ()


def _hit(outcome: AnyOutcome) -> tuple[tuple[str, ...], str | None]:
    return stopped(outcome).breakpoints, stopped(outcome).local("i")


async def test_a_condition_that_throws_stops_with_its_reason_and_is_no_hit(tmp_path: Path) -> None:
    async with debugged(tmp_path, FILES, breaks=["shop.js:23 if nosuch.x > 1"]) as (dbg, first):
        stop = stopped(first)
        assert any("ReferenceError: nosuch is not defined" in note for note in stop.notes)
        assert stop.hit is None
        (made,) = (await dbg.breaks()).breakpoints
        assert made.hits == 0


PASSED = """
function f(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += i;
  return sum;
}
for (let k = 0; k < 1500; k++) {
  if (k % 500 === 0) f(k % 7);
}
f(2);
"""


async def test_one_that_never_stopped_is_told_with_how_often_it_was_come_to(tmp_path: Path) -> None:
    wanted = ["app.js:3 if n > 8", "app.js:2 if n > 9", "app.js:4 if missing", "app.js:7 if k < 0", "app.js:9 if sum"]
    async with debugged(tmp_path, PASSED, breaks=wanted, timeout=60) as (dbg, outcome):
        await dbg.disable("b5")
        await dbg.break_("app.js:4", hit="9")
        while isinstance(outcome, Stop):
            assert outcome.breakpoints == ("b3",), "its condition raises"
            outcome = await dbg.continue_()
        told = {each.id: each.message for each in exited(outcome).never_hit}
    held = "its condition never held"
    assert told == {
        "b1": f"come to 4 times, {held}",
        "b2": f"come to 4 times, {held}",
        "b3": None,
        "b4": f"come to 1,000 times or more, {held}",
        "b6": "come to 3 times",
    }


LOOPS = """\
const items = [{ id: 1 }, { id: 2 }];
let total = 0, q;
for (let i = 0; i < 10; i++) total += i;
for (const item of items) {
  total += item.id;
}
for (let k = 0, n = 2; k < n; k++) {
  total += k;
}
for (const { id } of items) { total += id; }
for (const key in items[0]) console.log(key);
for (q = 0;;) { if (q++ > 4) break; }
console.log(total);
"""


async def test_a_condition_or_a_log_text_about_a_loops_variable_is_asked_in_its_rounds(tmp_path: Path) -> None:
    """V8 comes to the line of a loop once, when the variable has no value yet."""
    wanted = ["3 if i == 5", "4 if item.id == 2", "7 if k == 2", "10 if id == 2", "11 if key", "12 if q == 3"]
    wanted += ["7 if total == 48"]
    async with debugged(tmp_path, LOOPS, breaks=[f"app.js:{each}" for each in wanted]) as (dbg, outcome):
        bound = {each.id: each for each in (await dbg.breaks()).breakpoints}
        assert bound["b2"].message == "in each round of the loop, where item has its value"
        assert bound["b3"].message == "each time the loop is tested, where k has its value"
        assert bound["b7"].message is None, "it is not about the loop's variable"
        await dbg.break_("app.js:3", log="{i} of {total}", hit=">=3")
        variable = dict(zip(bound, ("i", "item", "k", "id", "key", "q", "total"), strict=True))
        seen, log = [], ""
        while isinstance(outcome, Stop):
            (id,) = outcome.breakpoints
            seen.append((id, place(outcome)[1], outcome.local(variable[id])))
            outcome = await dbg.continue_()
            log += outcome.log
    assert seen == [
        ("b1", 3, "5"), ("b2", 5, "{id: 2}"), ("b7", 7, "48"), ("b3", 7, "2"), ("b4", 10, "2"), ("b5", 11, "'id'"),
        ("b6", 12, "3"),
    ]  # fmt: skip
    assert log == "8 of 28\n9 of 36\n", "the rounds count"


async def test_what_cannot_be_a_condition_or_a_log_text_is_refused_at_once(tmp_path: Path) -> None:
    async with debugged(tmp_path, FILES, stop_on_entry=True) as (dbg, _):
        made = await dbg.break_("shop.js:23", condition="((")
        assert (made.state, "does not compile" in (made.message or "")) == ("failed", True)
        made = await dbg.break_("shop.js:23", log="a { b")
        assert (made.state, "without its }" in (made.message or "")) == ("failed", True)


@pytest.mark.long
async def test_a_log_in_a_loop_loses_nothing_and_a_part_that_fails_says_so(tmp_path: Path) -> None:
    text = "let sum = 0;\nfor (let i = 0; i < 3000; i++) {\n  sum += i;\n}\nconsole.log(sum);\n"
    async with debugged(tmp_path, text, stop_on_entry=True) as (dbg, _):
        await dbg.break_("app.js:3", log="{i} {{x}} {nosuch.y} {[i, sum]}")
        await dbg.break_("app.js:5")
        await dbg.continue_()
        text, cursor = "", "0.0.0.0"
        while (page := await dbg.output(since=cursor)).log:
            text, cursor = text + page.log, page.cursor
        lines = text.splitlines()
        head = "{x} <ReferenceError: nosuch is not defined>"
        assert lines[:2] == [f"0 {head} [ 0, 0 ]", f"1 {head} [ 1, 0 ]"]
        assert [int(line.split()[0]) for line in lines] == list(range(3000))
        assert [each.hits for each in (await dbg.breaks()).breakpoints] == [3000, 1]


async def test_breakpoints_come_and_go_while_the_program_runs(tmp_path: Path) -> None:
    text = "let turns = 0;\nconsole.log('up');\nfunction turn() {\n  turns += 1;\n}\nsetInterval(turn, 5);\n"
    async with debugged(tmp_path, text, ready="up") as (dbg, _):
        made = await dbg.break_("app.js:4")
        assert made.state == "bound"
        assert place(await dbg.wait()) == ("turn", 4)
        await dbg.disable(made.id)
        assert not isinstance(await dbg.continue_(timeout=0.2), Stop)
        await dbg.enable(made.id)
        assert place(await dbg.wait()) == ("turn", 4)


# What is thrown

THROWS = """
class ShopError extends Error { constructor(m, o) { super(m, o); this.name = 'ShopError'; } }
function deep(what) {
  const local = 'seen';
  if (what === 'text') throw 'just text';
  if (what === 'object') throw { code: 5 };
  if (what === 'null') throw null; else if (what === 'old') throw Object.setPrototypeOf({ message: 'made' }, ShopError.prototype);
  if (what === 'cause') throw new ShopError('outer', { cause: new TypeError('inner') });
  if (what === 'group') throw new AggregateError([new Error('one'), new RangeError('two')], 'many');
  if (what === 'lines') throw new Error('first line\\nsecond: line\\n    at nowhere');
  throw new ShopError('plain');
}
async function later(what) { await null; deep(what); }
const [mode, what] = process.argv.slice(2);
if (mode === 'sync') deep(what);
if (mode === 'async') later(what);
if (mode === 'timer') setTimeout(() => deep(what), 1);
if (mode === 'handled') later(what).catch((e) => console.log('handled', String(e)));
if (mode === 'awaited') (async () => { try { await later(what); } catch (e) { console.log('handled', String(e)); } })();
if (mode === 'caught') { try { deep(what); } catch (e) { console.log('handled', String(e)); } }
"""


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("plain", ("ShopError", "plain")), ("text", ("string", "'just text'")), ("object", ("Object", "{code: 5}")),
        ("null", ("null", "null")), ("lines", ("Error", "first line\nsecond: line\n    at nowhere")),
        ("old", ("ShopError", "made")),
    ],
)  # fmt: skip
async def test_whatever_is_thrown_stops_once_where_it_is_thrown(
    tmp_path: Path, what: str, told: tuple[str, str]
) -> None:
    async with debugged(tmp_path, THROWS, "sync", what) as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None
        assert (stop.exception.type, stop.exception.message, stop.exception.mode) == (*told, "uncaught")
        assert (place(stop)[0], stop.local("local")) == ("deep", "'seen'")
        assert exited(await dbg.continue_()).exit_code == 1


async def test_causes_members_and_places_of_errors_are_told(tmp_path: Path) -> None:
    async with debugged(tmp_path, THROWS, "sync", "cause") as (dbg, _):
        info = await dbg.exception()
        assert (info.type, info.cause) == ("ShopError", "TypeError: inner")
        assert [(each.function, each.line) for each in info.frames[:2]] == [("deep", 7), ("<module>", 14)]
    async with debugged(tmp_path, THROWS, "sync", "group") as (dbg, _):
        info = await dbg.exception()
        assert [(each.type, each.message) for each in info.members] == [("Error", "one"), ("RangeError", "two")]


@pytest.mark.parametrize("mode", ["async", "timer"])
async def test_an_error_in_a_promise_or_a_callback_stops_with_its_variables(tmp_path: Path, mode: str) -> None:
    async with debugged(tmp_path, THROWS, mode, "plain") as (dbg, first):
        stop = stopped(first)
        assert (stop.reason, place(stop), stop.local("local")) == ("exception", ("deep", 10), "'seen'")
        assert exited(await dbg.continue_()).exit_code == 1


@pytest.mark.parametrize("mode", ["handled", "awaited", "caught"])
async def test_an_error_that_is_handled_stops_only_where_that_was_asked_for(tmp_path: Path, mode: str) -> None:
    async with debugged(tmp_path, THROWS, mode, "plain") as (dbg, first):
        assert exited(first).output == "handled ShopError: plain\n"
    for words in (("raised",), ("ShopError",), ("Error",)):
        async with debugged(tmp_path, THROWS, mode, "plain", catch=words) as (dbg, first):
            assert place(first) == ("deep", 10)
            await dbg.catch("off")
            assert exited(await dbg.continue_()).exit_code == 0
    async with debugged(tmp_path, THROWS, mode, "plain", catch=("RangeError",)) as (dbg, first):
        assert exited(first).exit_code == 0


async def test_a_function_is_found_in_a_large_file_and_one_that_is_too_large_is_said_not_to_be_searched(
    tmp_path: Path,
) -> None:
    (tmp_path / "large.js").write_text("//" + "-" * 5_000_000 + "\nexports.first = function first(n) { return n; };\n")
    (tmp_path / "huge.js").write_text(
        "//" + "-" * 10_000_000 + "\nexports.second = function second(n) { return n; };\n"
    )
    text = "require('./large.js').first(4);\nrequire('./huge.js').second(5);\n"
    async with debugged(tmp_path, text, breaks=["first", "second", "third"]) as (dbg, first):
        assert (place(first), stopped(first).local("n")) == (("first", 2), "4")
        left = {each.id: (each.state, each.message) for each in exited(await dbg.continue_()).never_hit}
        said = "no function second is known, and huge.js is too large to be searched (10,000,000 characters)"
        assert left["b2"] == ("failed", said)


@pytest.mark.parametrize("text", ["deep('plain');", "await null;\ndeep('plain');"], ids=["sync", "after an await"])
async def test_an_error_that_ends_a_module_is_told_with_its_places(tmp_path: Path, text: str) -> None:
    module = f"function deep(what) {{\n  [what].map((each) => {{ throw new RangeError(each); }});\n}}\n{text}\n"
    async with debugged(tmp_path, {"app.mjs": module}) as (dbg, first):
        stop = stopped(first)
        assert (stop.reason, place(stop)) == ("exception", ("<anonymous>", 2))
        assert [frame.function for frame in stop.stack[:3]] == ["<anonymous>", "deep", "<module>"]
        assert stop.exception is not None
        assert (stop.exception.type, stop.exception.message) == ("RangeError", "plain")
        assert exited(await dbg.continue_()).exit_code == 1


async def test_a_line_breakpoint_is_where_the_line_itself_runs_and_a_text_is_a_place_on_it(tmp_path: Path) -> None:
    text = """
function unused(a) { return a; } const twice = (n) => n * 2; console.log(twice(2));
process.once('late', (m) => { const d = m + 1; console.log({ d }); }); // once
process.emit('late', 4);
"""
    breaks = ["app.js:1", 'app.js@"const d"', 'app.js@"// once"', "app.js:3:40"]
    async with debugged(tmp_path, text, breaks=breaks) as (dbg, first):
        assert (place(first), stopped(first).breakpoints) == (("<module>", 1), ("b1",))
        assert (await dbg.breaks()).breakpoints[3].message == "line 3 of app.js has 24 characters"
        once = stopped(await dbg.continue_())
        assert (place(once), once.breakpoints) == (("<module>", 2), ("b3",)), "a comment is its statement's"
        late = stopped(await dbg.continue_())
        assert (place(late), late.breakpoints, late.local("m")) == (("<anonymous>", 2), ("b2",), "4")


async def test_a_source_whose_made_file_was_never_loaded_is_pending(tmp_path: Path) -> None:
    made = {"version": 3, "sources": ["far.ts"], "names": [], "mappings": "AAAA"}
    (tmp_path / "far.js.map").write_text(json.dumps(made))
    (tmp_path / "far.ts").write_text("let a: number = 1;\n")
    files = {
        "app.js": "try { require('./far.js'); } catch {}\n",
        "far.js": "let a = {;\n//# sourceMappingURL=far.js.map\n",
    }
    async with debugged(tmp_path, files, breaks=["far.ts:1"]) as (_, first):
        assert [each.state for each in exited(first).never_hit] == ["pending"]
