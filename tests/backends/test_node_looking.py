"""Looking into a held Node program: scopes, values of every kind, huge and hostile ones, expressions, worlds of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import stillframe
from stillframe.errors import EvalFailed

from .nodes import debugged, exited, place, stopped
from .npm import newer_node

VALUES = """
class Point { #hidden = 1; constructor(x) { this.x = x; } get double() { console.log('RAN'); return 2; } }
const cyclic = { a: 1 }; cyclic.self = cyclic;
const bad = () => { throw new Error('trap'); };
const hostile = new Proxy({}, { get: bad, ownKeys: bad, getPrototypeOf: bad, getOwnPropertyDescriptor: bad });
function look() {
  const undef = undefined, nul = null, neg = -0, nan = NaN, big = 12345678901234567890n, sym = Symbol('s');
  const map = new Map([['a', 1], [{ k: 1 }, 'b']]), set = new Set([1, 'two']), typed = new Uint8Array([1, 2, 3]);
  const date = new Date(0), re = /a+/g, point = new Point(3), arrow = () => 1, cls = Point;
  const pending = new Promise(() => {}), done = Promise.resolve(5);
  const failed = (async () => { throw new Error('no'); })().catch((e) => { throw e; }); failed.catch(() => 0);
  const sparse = [1, , 3], named = Object.assign([, 2], { left: 1 });
  const bare = Object.create(null), error = new TypeError('bad');
  const odd = { 'a b': 1, get g() { console.log('RAN'); return 1; } }, quote = "it's\\n";
  bare.z = 1;
  return [cyclic, hostile, undef, nul, neg, nan, big, sym, map, set, typed, date, re, point, arrow, cls, pending, done,
    failed, sparse, named, bare, error, odd, quote];
}
look();
"""


async def test_values_are_told_as_what_they_are_and_nothing_of_the_programs_is_run(tmp_path: Path) -> None:
    async with debugged(tmp_path, VALUES, breaks=['app.js@"return [cyclic"'], catch=("off",)) as (dbg, first):
        stop = stopped(first)
        told = {each.name: each.value for each in stop.locals}
        expected = {
            "undef": "undefined", "nul": "null", "neg": "-0", "nan": "NaN", "big": "12345678901234567890n",
            "sym": "Symbol(s)", "map": "Map(2) {'a' => 1, {k: 1} => 'b'}", "set": "Set(2) {1, 'two'}",
            "typed": "Uint8Array(3) [1, 2, 3]", "date": "1970-01-01T00:00:00.000Z", "re": "/a+/g",
            "point": "Point {x: 3, #hidden: 1}",
            "arrow": "[Function: arrow]", "cls": "[class Point]", "pending": "Promise { <pending> }",
            "done": "Promise { 5 }", "sparse": "[1, <empty>, 3]", "named": "[<empty>, 2, left: 1]",
            "bare": "[Object: null prototype] {z: 1}", "error": "TypeError: bad", "odd": "{'a b': 1, g: <getter>}",
            "cyclic": "{a: 1, self: [Circular]}", "quote": "'it\\'s\\n'",
        }  # fmt: skip
        assert {name: told.get(name) for name in expected} == expected
        assert told["hostile"].startswith("Proxy")
        assert stop.output == ""
        values = (await dbg.eval("point.double", "odd.g + 1", "hostile.x", "(() => { throw 1; })()")).values
        assert [each.value for each in values] == ["2", "2", "Error: trap", "threw 1"], "what is asked for is run"


INNER = """
class Base { #secret = { deep: [1] }; #call() { return 1; } get #got() { console.log('RAN'); return 1; } }
class Derived extends Base { #text = 'own'; open = 1; toString() { console.log('RAN'); return ''; } }
class Sly extends URL { get href() { console.log('RAN'); return 'no'; } }
function* made() { yield 1; }
function look() {
  const url = new URL('http://a/b?c=1'), sly = new Sly('http://e/'), search = new URLSearchParams('a=1');
  const view = new DataView(new ArrayBuffer(4), 1), weak = new WeakRef({ z: 1 }), intl = new Intl.NumberFormat('en');
  const walk = [1].values(), each = new Map([[1, 2]]).entries(), generator = made(), letters = 'ab'[Symbol.iterator]();
  const derived = new Derived(), pair = [new Base()], args = arguments, empty = {}, nothing = new (class Nothing {})();
  const failed = Promise.reject(new Error('nope')), done = Promise.resolve({ a: [4] });
  const missing = Object.assign(new Error('gone', { cause: new TypeError('why') }), { code: 'ENOENT' });
  const many = new AggregateError([missing, new RangeError('two')], 'many'), match = 'abc'.match(/b/);
  const statics = class Kinds { static count = 3; static #own = 'h'; static { this.more = 1; } };
  const taker = { set only(v) {}, get both() { console.log('RAN'); return 1; } };
  const headers = new Headers({ 'x-a': '1' }), none = new Headers();
  const form = new FormData(), blob = new Blob(['abc'], { type: 't/x' });
  form.append('k', 'v');
  const request = new Request('http://a/', { method: 'PUT', headers }), response = new Response('', { status: 404 });
  const stop = new AbortController(), emitter = new (class Bus extends EventTarget { n = 1; #m = 2; })();
  stop.abort(new Error('late'));
  class Own { url = 'u'; get headers() { console.log('RAN'); } }
  const lookalike = new ({ Request: class Request extends Own {} }).Request();
  const trap = () => { console.log('RAN'); throw 1; };
  const proxy = new Proxy([1, { a: 2 }], { get: trap, ownKeys: trap, getOwnPropertyDescriptor: trap, getPrototypeOf: trap });
  const http = require('http'), message = Object.assign(new http.IncomingMessage(), { method: 'GET', url: '/x', body: { a: 1 } });
  const answer = new http.ServerResponse(message).setHeader('x-b', '2');
  const ended = made(), revoked = Proxy.revocable({}, {});
  ended.return();
  revoked.revoke();
  const gone = revoked.proxy, wide = new Proxy({ text: 'x'.repeat(500) }, { get: trap });
  return failed.catch(() => [url, sly, search, view, weak, intl, walk, each, generator, letters, derived, pair, args, empty,
    nothing, done, missing, many, match, statics, taker]);
}
look(1, 'b');
"""


async def test_what_no_field_holds_is_told_too_and_only_what_is_empty_looks_empty(tmp_path: Path) -> None:
    async with debugged(tmp_path, INNER, breaks=['app.js@"return failed"'], catch=("off",)) as (dbg, first):
        told = {each.name: each.value for each in (*stopped(first).locals, *(await dbg.locals(start=40)).values)}
        expected = {
            "url": "URL {href: 'http://a/b?c=1'}", "sly": "Sly {href: 'http://e/'}",
            "search": "URLSearchParams {text: 'a=1'}", "weak": "WeakRef {ref: {z: 1}}", "intl": "[Intl.NumberFormat]",
            "walk": "[Array Iterator]", "each": "[Map Entries] { [ 1, 2 ] }",
            "generator": "[Generator: made, suspended]", "ended": "[Generator: made, closed]",
            "letters": "[String Iterator]", "derived": "Derived {open: 1, #secret: {deep: [1]}, #text: 'own'}",
            "pair": "[Base {#secret: {deep: […]}}]", "args": "[Arguments] [1, 'b']", "empty": "{}",
            "nothing": "Nothing {}", "failed": "Promise { <rejected> Error: nope }", "done": "Promise { {a: [4]} }",
            "missing": "Error: gone {code: 'ENOENT', cause: TypeError: why}",
            "many": "AggregateError: many {errors: [Error: gone {…}, RangeError: two]}",
            "match": "['b', index: 1, input: 'abc', groups: undefined]",
            "statics": "[class Kinds] {count: 3, more: 1, #own: 'h'}", "taker": "{only: <setter>, both: <getter>}",
            "headers": "Headers {'x-a': '1'}", "none": "Headers {}", "form": "FormData {k: 'v'}",
            "blob": "Blob {size: 3, type: 't/x'}",
            "request": "Request {method: 'PUT', url: 'http://a/', headers: Headers {'x-a': '1'}, bodyUsed: false}",
            "stop": "AbortController {signal: AbortSignal {aborted: true, reason: Error: late}}",
            "emitter": "Bus {n: 1, #m: 2}", "lookalike": "Request {url: 'u'}",
            "proxy": "Proxy of [1, {a: 2}]", "gone": "<Revoked Proxy>",
        }  # fmt: skip
        assert {name: told.get(name) for name in expected} == expected
        assert told["view"].startswith("DataView {byteOffset: 1, byteLength: 3, buffer: ArrayBuffer {")
        assert told["response"].startswith("Response {status: 404, statusText: '', url: '', headers: Headers {")
        assert told["message"].startswith("IncomingMessage {method: 'GET', url: '/x', body: {a: 1}, headers: {}, ")
        assert told["answer"].startswith("ServerResponse {statusCode: 200, headers: {'x-b': '2'}, headersSent: false, ")
        wide = (await dbg.eval("wide", text=30)).values[0]
        assert [each.name for each in (await dbg.expand(wide.ref or "")).values] == ["[[Target]]", "[[Handler]]"]
        cut = (await dbg.eval("derived", text=30)).values[0]
        assert cut.ref, cut
        rows = {each.name: each.value for each in (await dbg.expand(cut.ref)).values}
        assert rows == {"open": "1", "#secret": "{deep: [1]}", "#text": "'own'"}
        assert exited(await dbg.continue_()).output == "", "nothing of the program's was run"


async def test_huge_values_come_soon_and_in_pages_with_what_all_of_one_is_like(tmp_path: Path) -> None:
    text = """
function look() {
  const million = new Array(1e6).fill(7), long = 'x'.repeat(30e6);
  const keys = Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['k' + i, i]));
  const many = Array.from({ length: 1200 }, (_, i) => i), orders = many.map((id) => (id ? { id, qty: 1 } : { id }));
  const map = new Map(many.map((i) => [i, 'x'])), set = new Set(many), typed = new Float64Array([1.5, NaN, ...many]);
  const bytes = Buffer.from('hello '.repeat(99)), raw = Buffer.alloc(50), mixed = [...many, 'x'];
  return [million, long, keys, many, orders, map, set, typed, bytes, raw, mixed];
}
look();
"""
    async with debugged(tmp_path, text, breaks=['app.js@"return [million"']) as (dbg, first):
        told = {each.name: each for each in stopped(first).locals}
        assert {name: each.shape for name, each in told.items() if each.shape} == {
            "many": "1,200 numbers, 0 to 1199", "orders": "1,200 Objects, 1,199 of them with keys id qty",
            "map": "number to string", "set": "1,200 numbers, 0 to 1199", "typed": "1,202, 0 to 1199, 1 NaN",
            "bytes": "594, 32 to 111, text 'hello hello hello hello hello hello hell'…", "raw": "50, 0 each",
            "mixed": "1,200 numbers, 1 string",
        }  # fmt: skip
        assert [told[name].total for name in ("million", "long")] == [1_000_000, 30_000_000]
        refs = {name: each.ref for name, each in told.items()}
        assert all(refs.values())
        page = await dbg.expand(refs["million"] or "", start=999_998)
        assert ([each.name for each in page.values], page.total) == (["[999998]", "[999999]"], 1_000_000)
        page = await dbg.expand(refs["keys"] or "", start=99_999)
        assert ([(each.name, each.value) for each in page.values], page.total) == ([("k99999", "99999")], 100_000)
        pages = {name: await dbg.expand(refs[name] or "", start=1198, count=2) for name in ("map", "set", "typed")}
        assert {name: [each.value for each in page.values] for name, page in pages.items()} == {
            "map": ["'x'", "'x'"], "set": ["1198", "1199"], "typed": ["1196", "1197"],
        }  # fmt: skip
        assert [page.total for page in pages.values()] == [1200, 1200, 1202]
        assert [each.name for each in pages["map"].values] == ["[1198]", "[1199]"], "by its keys"
        page = await dbg.expand(refs["long"] or "", start=29_999_999)
        assert page.values[0].value == "'x'"


async def test_a_deep_recursion_is_shown_by_its_ends(tmp_path: Path) -> None:
    text = "function rec(n) {\n  if (n === 0) debugger;\n  return n && rec(n - 1) + 1;\n}\nrec(5000);\n"
    async with debugged(tmp_path, text) as (dbg, first):
        assert stopped(first).stack_total == 5002
        frames = await dbg.stack(start=5000, count=5)
        assert [each.function for each in frames.frames] == ["rec", "<module>"]
        assert (await dbg.eval("n", frame="f4999")).values[0].value == "4999"


@pytest.mark.long
async def test_a_stack_that_leaves_our_code_no_room_is_still_shown(tmp_path: Path) -> None:
    text = """
const top = { a: 1 };
let most = 0;
function deeper(n, last) {
  most = n;
  if (n === last) debugger;
  return deeper(n + 1, last);
}
for (const last of [NaN, 200]) {
  try {
    deeper(0, most - last);
  } catch (error) {
    console.log(error.name);
  }
}
"""
    async with debugged(tmp_path, text) as (dbg, first):
        stop = stopped(first)
        assert (place(stop)[0], [each.text.strip() for each in stop.source if each.here]) == (
            "deeper",
            ["if (n === last) debugger;"],
        )
        assert stop.local("n") == str(stop.stack_total - 2)
        assert stop.notes == ("the stack is too deep for our code in the program: values are as V8 describes them",)
        assert (await dbg.eval("n")).values[0].value == stop.local("n")
        with pytest.raises(EvalFailed, match=f"ask with --frame f{stop.stack_total - 1}"):
            await dbg.eval("top")
        assert exited(await dbg.continue_()).output == "RangeError\n"


SCOPES = """
const outer = 'module';
const unused = 'elsewhere';
function make(step) {
  let count = 10;
  return function next(by) {
    for (const twice of [by * 2]) {
      try {
        throw new Error('inside');
      } catch (caught) {
        count += step + twice; // outer
        const after = count;
      }
    }
    return outer;
  };
}
class Counter { constructor() { this.n = 1; } bump() { this.n += 1; return this.n; } }
make(1)(2);
new Counter().bump();
const chain = [1].concat(2)
  .concat(
    Number(3));
"""


async def test_block_closure_catch_and_this_are_in_sight_and_what_is_not_initialised_is_not(tmp_path: Path) -> None:
    async with debugged(tmp_path, SCOPES, breaks=["app.js:10", "Counter.bump"]) as (dbg, first):
        told = {each.name: each.value for each in stopped(first).locals}
        assert told == {
            "caught": "Error: inside", "twice": "4", "by": "2", "count": "10", "step": "1", "outer": "'module'",
        }  # fmt: skip
        names = [each.name for each in (await dbg.scopes()).scopes]
        assert [name.split()[0] for name in names][:5] == ["block", "catch", "block", "local", "closure"]
        assert (await dbg.eval("count + twice", "unused")).values[0].value == "14"
        await dbg.set("count", "100")
        stop = stopped(await dbg.next())
        assert stop.local("count") == "105"
        method = stopped(await dbg.continue_())
        assert (place(method)[0], method.local("this")) == ("Counter.bump", "Counter {n: 1}")
        await dbg.break_("app.js:22")
        within = stopped(await dbg.continue_())
        assert (place(within), within.local("chain")) == (("<module>", 22), None)
        with pytest.raises(EvalFailed, match="Cannot access 'chain' before initialization"):
            await dbg.eval("chain")


async def test_functions_of_a_block_around_the_function_are_not_told_and_its_other_variables_are(
    tmp_path: Path,
) -> None:
    text = """
{
  function helper(a) { return a; }
  const rate = 3;
  function sum(n) {
    const own = () => n;
    return helper(n * rate) + own();
  }
  sum(2);
}
"""
    async with debugged(tmp_path, text, breaks=["app.js:6"]) as (_, first):
        told = {each.name: each.value for each in stopped(first).locals}
        assert told == {"n": "2", "rate": "3", "own": "[Function: own]"}


MISSING = """
const shared = 7;
function outer(list) {
  const unused = 3, kept = 4;
  setTimeout(() => {
    debugger;
  }, 1);
  function inner(x) {
    const y = x + kept;
    const cart = { y };
    return cart;
  }
  return inner(1);
}
const picked = ({ n }) => {
  const square = n * n;
  return square;
};
picked({ n: 3 });
outer([1]);
function summed(all) {
  let sum = 0;
  for (const one of all) sum += one;
  return sum;
}
summed([1]);
"""


async def test_a_name_that_v8_does_not_tell_is_explained(tmp_path: Path) -> None:
    async with debugged(tmp_path, MISSING, breaks=["app.js:16", "app.js:8", "app.js:23"]) as (dbg, first):
        (note,) = stopped(first).notes
        assert note.startswith("V8 no longer tells square: at the return of a function whose parameters have defaults")
        assert (await dbg.locals()).notes == (note,)
        with pytest.raises(EvalFailed, match="V8 no longer tells it"):
            await dbg.eval("square")
        stop = stopped(await dbg.continue_())
        assert ({each.name for each in stop.locals}, stop.notes) == ({"x", "kept"}, ())
        scope = (await dbg.scopes()).scopes[0]
        rows = {each.name: each.value for each in (await dbg.expand(scope.ref)).values}
        assert rows == {"x": "1", "y": "<uninitialised>", "cart": "<uninitialised>"}
        said = {
            each.name: each.value
            for each in (await dbg.eval("x", "cart", "unused + 1", "list", "shared", "nowhere")).values
        }
        assert said["cart"] == "ReferenceError: Cannot access 'cart' before initialization"
        rule = "V8 keeps for inner only the outer variables that it uses; ask with --frame"
        assert [said[each] for each in ("unused + 1", "list", "shared", "nowhere")] == [
            f"ReferenceError: unused is not defined here: {rule} f1",
            f"ReferenceError: list is not defined here: {rule} f1",
            f"ReferenceError: shared is not defined here: {rule} f2",
            "ReferenceError: nowhere is not defined",
        ]
        assert (await dbg.eval("unused", frame="f1")).values[0].value == "3"
        await dbg.continue_()
        with pytest.raises(EvalFailed, match="line 22 declares one, for a block that does not reach here"):
            await dbg.eval("one")
        await dbg.continue_()
        with pytest.raises(EvalFailed, match="line 3 declares one, but V8 keeps"):
            await dbg.eval("unused")


async def test_expressions_statements_and_promises_are_evaluated_and_a_constant_stays(tmp_path: Path) -> None:
    text = "const fixed = () => fixed; let a = { b: [1, 2] };\nconst done = Promise.resolve(7);\ndebugger;\n"
    async with debugged(tmp_path, text) as (dbg, _):
        words = (
            "a.b.length",
            "let q = 4; q + 1",
            "for (const x of a.b) a.last = x",
            "await done",
            "await new Promise(() => 0)",
        )
        values = (await dbg.eval(*words)).values
        assert [each.value for each in values][:4] == ["2", "5", "2", "7"]
        assert values[4].error
        assert "pending" in values[4].value
        with pytest.raises(EvalFailed, match="constant"):
            await dbg.set("fixed", "2")
        with pytest.raises(EvalFailed, match="not defined"):
            await dbg.set("nowhere", "2")
        assert (await dbg.set("a.b[0]", "'new'")).values[0].value == "'new'"
        assert (await dbg.eval("a.b")).values[0].value == "['new', 2]"


async def test_a_safe_evaluation_changes_nothing(tmp_path: Path) -> None:
    async with debugged(tmp_path, "const a = { b: 1 };\ndebugger;\n") as (dbg, _):
        assert (await dbg.eval("a.b + 1", safe=True)).values[0].value == "2"
        with pytest.raises(EvalFailed, match="change the program"):
            await dbg.eval("a.b = 2", safe=True)
        assert (await dbg.eval("a.b")).values[0].value == "1"


async def test_an_expression_that_never_ends_is_given_up_and_the_session_lives_on(tmp_path: Path) -> None:
    async with debugged(tmp_path, "const a = 1;\ndebugger;\nconsole.log(a);\n") as (dbg, _):
        with pytest.raises(EvalFailed, match="given up"):
            await dbg.eval("while (true);", timeout=0.3)
        assert (await dbg.eval("a + 1")).values[0].value == "2"
        assert exited(await dbg.continue_()).output == "1\n"


async def test_code_in_a_context_of_vm_has_conditions_variables_and_expressions(tmp_path: Path) -> None:
    files = {
        "app.js": "const vm = require('vm');\nconst text = require('fs').readFileSync('inner.js', 'utf8');\n"
        "const context = vm.createContext({ console, n: 5 });\n"
        "vm.runInContext(text, context, require('path').resolve('inner.js'));\n",
        "inner.js": "function inner(k) {\n  const local = k + n;\n  return local;\n}\ninner(2); console.log(inner(3));\n",
    }
    async with debugged(tmp_path, files, breaks=["inner.js:3 if k === 3"]) as (dbg, first):
        stop = stopped(first)
        assert ([(each.name, each.value) for each in stop.locals], stop.hit) == ([("local", "8"), ("k", "3")], 1)
        assert (await dbg.eval("k + n")).values[0].value == "8"
        assert exited(await dbg.continue_()).output == "8\n"


async def test_code_without_a_file_is_held_where_it_is(tmp_path: Path) -> None:
    text = "eval('function ev(a) { debugger; return a }\\nev(1)');\nnew Function('b', 'debugger; return b')(5);\n"
    async with debugged(tmp_path, text) as (dbg, first):
        stop = stopped(first)
        assert (place(stop), stop.local("a")) == (("ev", 1), "1")
        assert stopped(await dbg.continue_()).local("b") == "5"


async def test_library_code_is_passed_over_unless_it_is_asked_for(tmp_path: Path) -> None:
    files = {
        "app.js": "const lib = require('lib');\nconst r = lib.call(() => 5);\nrun();\n"
        "function run() {\n  const s = said(lib.asked.of);\n}\nfunction said(text) {\n  return text + r;\n}\n",
        "node_modules/lib/index.js": "exports.call = (f) => {\n  return f() + 1;\n};\nconst { parse } = require('querystring');\n"
        "Object.defineProperty(exports, 'asked', { get: () => parse('of=fig') });\n",
    }
    async with debugged(tmp_path, files, breaks=["app.js:2"]) as (dbg, _):
        assert place(await dbg.step()) == ("<anonymous>", 2), "what it calls of the user's is stepped into"
        assert [each.name for each in (await dbg.modules()).modules] == ["app.js", "index.js"], "and nothing of ours"
        await dbg.until("app.js:5")
        assert place(await dbg.step()) == ("said", 8), "and what it makes an argument of is no step for itself"
    async with debugged(tmp_path, files, breaks=["app.js:2"], all_code=True) as (dbg, _):
        inside = stopped(await dbg.step())
        assert inside.frame is not None
        assert (inside.frame.file or "").endswith("lib/index.js")


CHANGED = """\
let outer = 1;
function sum(n) {
  let total = n, hidden = 'outer one';
  const later = () => total + outer;
  for (let round = 0; round < 1; round++) {
    let hidden = 'inner one';
    debugger;
    let unset = 3;
    total += unset;
  }
  return later() + hidden;
}
console.log(sum(1));
"""


async def test_what_was_set_or_evaluated_is_what_the_variables_are_told_to_be_from_then_on(tmp_path: Path) -> None:
    async with debugged(tmp_path, CHANGED) as (dbg, first):
        before = stopped(first)
        assert (before.local("n"), before.local("round"), before.local("hidden")) == ("1", "0", "'inner one'")
        await dbg.set("n", "20")
        await dbg.set("hidden", "'changed'")
        await dbg.eval("total = 30")
        await dbg.raw("outer = 40")
        now = {each.name: each.value for each in (await dbg.locals()).values}
        assert [now.get(name) for name in ("n", "hidden", "total", "round")] == ["20", "'changed'", "30", "0"]
        assert now.get("unset") == before.local("unset")
        innermost = (await dbg.scopes()).scopes[0]
        assert innermost.ref is not None
        block = {each.name: each.value for each in (await dbg.expand(innermost.ref)).values}
        assert block["hidden"] == "'changed'"
        assert exited(await dbg.continue_()).output == "73outer one\n", "the one that was hidden is as it was"


HOT = """
function parse(rows) {
  const config = { strict: true }, name = 'rows';
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i], half = row / 2;
    total += half;
    if (row === 299999) fail(row);
  }
  return total;
}
const fail = (row) => { throw new RangeError('bad ' + row); };
const { isMainThread, Worker } = require('worker_threads');
if (isMainThread && process.argv[2]) new Worker(__filename);
else parse(Array.from({ length: 300000 }, (_, i) => i));
"""


@pytest.mark.parametrize("args", [(), ("worker",)])
@pytest.mark.parametrize("newer", [False, True])
async def test_variables_of_code_that_v8_has_optimised_are_told_as_what_they_are(
    tmp_path: Path, newer: bool, args: tuple[str, ...]
) -> None:
    """V8 forgets those that the lines ahead do not use, and then tells `undefined`, or leaves them out."""
    (tmp_path / "app.js").write_text(HOT.lstrip())
    node = str(newer_node()) if newer else "node"
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stop = stopped(await dbg.launch(command=(node, "app.js", *args), catch=["raised"]))
        assert (stop.exception and stop.exception.type, place(stop)) == ("RangeError", ("fail", 11))
        assert (await dbg.frame("up")).frame.function == "parse"
        told = {each.name: each.value for each in (await dbg.locals()).values}
        del told["rows"]
        assert told == {
            "config": "{strict: true}", "name": "'rows'", "total": "22499925000", "i": "299999", "row": "299999",
            "half": "149999.5",
        }  # fmt: skip
        assert [each.value for each in (await dbg.eval("name", "half")).values] == ["'rows'", "149999.5"]


HALVES = """
const half = (text) => text.slice(0, 1);
function look() {
  const cut = half('\\u{1F600}');
  const around = { [cut]: 'a' + cut, map: new Map([[cut, Symbol(cut)]]) };
  throw new Error('bad ' + cut);
}
const { isMainThread, Worker } = require('worker_threads');
if (isMainThread && process.argv[2]) new Worker(__filename);
else look();
"""


@pytest.mark.parametrize("args", [(), ("worker",)])
async def test_text_that_was_cut_within_a_character_is_told_wherever_it_comes_from(
    tmp_path: Path, args: tuple[str, ...]
) -> None:
    """Half a surrogate pair: V8 tells it by an escape that a strict reader of JSON refuses, with the whole message."""
    async with debugged(tmp_path, HALVES, *args, breaks=["app.js:1", "app.js:3"]) as (dbg, first):
        assert place(first) == ("<module>", 1)
        while place(stop := stopped(await dbg.continue_())) != ("look", 3):
            assert place(stop) == ("<module>", 1)
        assert place(await dbg.step()) == ("half", 1)
        stop = stopped(await dbg.finish())
        assert (place(stop), stop.returned and stop.returned.value) == (("look", 4), "'\\ud83d'")
        stop = stopped(await dbg.next())
        assert (place(stop), stop.local("cut")) == (("look", 5), "'\\ud83d'")
        around = (stop.local("around") or "").encode("ascii", "backslashreplace").decode()
        assert around == "{'\\ud83d': 'a\\ud83d', map: Map(1) {'\\ud83d' => Symbol(\\ud83d)}}"
        values = (await dbg.eval("cut", "let it = cut; it + 1", "await Promise.resolve(cut)")).values
        assert [each.value for each in values] == ["'\\ud83d'", "'\\ud83d1'", "'\\ud83d'"]
        assert (await dbg.eval("cut", safe=True)).values[0].value == "'\\ud83d'"
        assert (await dbg.set("cut", "cut + 'x'")).values[0].value == "'\\ud83dx'"
        assert stopped(await dbg.state()).local("cut") == "'\\ud83dx'"
        stop = stopped(await dbg.continue_())
        assert stop.exception is not None
        assert (place(stop), ascii(stop.exception.message)) == (("look", 5), r"'bad \ud83dx'")
