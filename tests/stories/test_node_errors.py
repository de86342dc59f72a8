"""Errors of Node programs: where they were thrown first and with which values, what they came from, who passed them on."""

from __future__ import annotations

import shutil

import pytest

from .conftest import User

AGAIN = """\
function parse(text) {
  const n = Number(text);
  if (Number.isNaN(n)) throw new TypeError('bad ' + text);
  return n;
}
function sum(texts) {
  let total = 0;
  for (const text of texts) {
    try { total += parse(text); }
    catch (e) { console.error('oops'); throw e; }
  }
  return total;
}
sum(['1', '2', 'x3']);
"""


def test_an_error_that_is_thrown_again_is_told_where_it_was_thrown_first(user: User) -> None:
    user.file("again.js", AGAIN)
    rows = user.ok("crash", "--", "node", "again.js").splitlines()
    assert rows[0].startswith("TypeError: bad x3 at again.js:3 in parse; exit 1 after "), rows
    assert "  n=NaN, text='x3'" in rows
    assert any(row.startswith("< sum again.js:9  try { total += parse(text); }  total=3,") for row in rows), rows
    assert "note: caught, and passed on at again.js:10 in sum" in rows
    held = user.ok("crash", "--hold", "--", "node", "again.js").splitlines()
    assert held[0].endswith("TypeError: bad x3 at again.js:10 in sum; held"), "what can be asked is what is told"
    assert "note: the error was made at again.js:3 in parse" in held
    assert user.ok("eval", "total") == "total = 3  (number)\n"


AWAITER = """\
const awaiter = (make) => new Promise((resolve, reject) => {
  const run = make();
  function fulfilled(value) { try { step(run.next(value)); } catch (e) { reject(e); } }
  function step(result) { result.done ? resolve(result.value) : Promise.resolve(result.value).then(fulfilled); }
  step(run.next());
});
const main = () => awaiter(function* () {
  const price = yield 4;
  return price.amount.value;
});
main();
"""


def test_an_error_in_a_function_that_was_compiled_to_a_generator_is_told_there(user: User) -> None:
    user.file("down.js", AWAITER)
    rows = user.ok("crash", "--", "node", "down.js").splitlines()
    assert rows[0].startswith("TypeError: Cannot read properties of undefined (reading 'value') at down.js:9 in "), rows
    assert "  price=4" in rows
    assert "note: caught, and passed on at down.js:3 in fulfilled" in rows


RETRIED = """\
const failure = (text) => Object.assign(new Error(text), { status: 404 });
const rows = new Map([['a', 1]]);
function find(key) {
  if (!rows.has(key)) throw failure('no ' + key);
}
async function retry(times, job) {
  for (let i = 1; ; i++) {
    try { return await job(i); }
    catch (e) {
      if (i < times) continue;
      e.message = `after ${i}: ${e.message}`;
      throw e;
    }
  }
}
await retry(2, (i) => find('k' + i));
"""


def test_an_error_that_another_function_made_and_that_was_changed_later_has_its_values(user: User) -> None:
    user.file("retried.mjs", RETRIED)
    rows = user.ok("crash", "--", "node", "retried.mjs").splitlines()
    assert rows[0].startswith("Error: after 2: no k2 at retried.mjs:4 in find; exit 1 after "), rows
    assert "  rows=Map(1) {'a' => 1}, key='k2'" in rows
    assert "note: seen at the last of 2 such errors that were thrown there" in rows


CAUSES = """\
function read(row) { return row.cells[0].text; }
function load(rows) {
  try { return rows.map(read); }
  catch (e) { throw new Error('cannot load', { cause: e }); }
}
function main(rows) {
  try { return load(rows); }
  catch (e) { throw new RangeError('cannot start', { cause: e }); }
}
main([{ cells: [] }]);
"""


def test_the_whole_chain_of_causes_is_told_with_the_places(user: User) -> None:
    user.file("causes.js", CAUSES)
    rows = user.ok("crash", "--", "node", "causes.js").splitlines()
    assert rows[0].startswith("RangeError: cannot start at causes.js:8 in main; exit 1 after "), rows
    assert rows[1:3] == [
        "  from Error: cannot load at causes.js:4 in load",
        "  from TypeError: Cannot read properties of undefined (reading 'text') at causes.js:1 in read",
    ]
    user.file("round.js", "const a = new Error('a', { cause: 7 }), b = new Error('b', { cause: a });\nthrow b;\n")
    rows = user.ok("crash", "--", "node", "round.js").splitlines()
    assert rows[1:3] == ["  from Error: a at round.js:1 in <module>", "  from number 7"]
    user.file("many.mjs", "const one = async () => { throw new TypeError('one'); };\nawait Promise.any([one()]);\n")
    rows = user.ok("crash", "--", "node", "many.mjs").splitlines()
    assert rows[1] == "  TypeError: one at many.mjs:1 in one"
    user.file("ring.js", "const a = new Error('a'), b = new Error('b', { cause: a });\na.cause = b;\nthrow b;\n")
    rows = user.ok("crash", "--", "node", "ring.js").splitlines()
    assert (rows[1], rows[2][:4]) == ("  from Error: a at ring.js:1 in <module>", "  1 "), "a ring is gone round once"


def test_a_nameless_function_that_goes_on_after_an_await_is_not_called_the_module(user: User) -> None:
    handler = "const on = (handle) => setTimeout(() => handle(undefined), 1);\non(async (user) => {\n  await null;\n"
    for name in ("bare.js", "bare.mjs"):
        user.file(name, f"{handler}  return user.name;\n}});\n")
        user.ok("launch", name)
        assert user.ok("exception").endswith(f"\npassed: <anonymous> {name}:4\n")
        user.ok("stop")
    user.file("top.mjs", "await null;\nnull.x;\n")
    user.ok("launch", "top.mjs")
    assert user.ok("exception").endswith("\npassed: <module> top.mjs:2\n")


def test_a_promise_that_is_rejected_by_what_is_no_error_is_told_where_it_was(user: User) -> None:
    user.file("why.mjs", "function ask(n) {\n  return Promise.reject(n + 1);\n}\nask(2);\n")
    rows = user.ok("crash", "--", "node", "why.mjs").splitlines()
    assert rows[0].startswith("number: 3 at why.mjs:2 in ask; exit 1 after "), rows
    assert "  n=2" in rows
    assert not any(row.startswith("also:") for row in rows), "Node's own error for it is no further one"
    rows = user.ok("crash", "--", "node", "-e", "Promise.reject({ code: 7 })").splitlines()
    assert rows[0].startswith("Object: {code: 7} at [eval]:1 in <module>; exit 1 after "), rows
    user.file("why.js", "const ask = (n) => Promise.reject('no ' + n);\nask(2);\n")
    said = user.ok("launch", "why.js").splitlines()
    assert said[0].endswith("why stopped: string: 'no 2', uncaught, at why.js:1 in ask"), said
    user.ok("stop")


def test_an_import_that_node_cannot_follow_is_told_at_its_line(user: User) -> None:
    user.file("gone.mjs", "import fs from 'fs';\nimport {\n  a,\n} from './lib/../none.mjs';\nfs.x(a);\n")
    rows = user.ok("crash", "--", "node", "gone.mjs").splitlines()
    assert rows[0].startswith("Error: Cannot find module '") and " at gone.mjs:4 in <module>; exit 1 after " in rows[0]
    assert "> 4  } from './lib/../none.mjs';" in rows


SEVERAL = """\
async function row(id) {
  await null;
  throw new Error('no row', { cause: new TypeError(`id ${id} is odd`) });
}
async function load(ids) {
  try { return await Promise.any(ids.map(row)); }
  catch (e) { throw new Error('not loaded', { cause: e }); }
}
await (process.argv[2] ? load([3, 5]) : Promise.any([row(7)]));
"""


def test_the_errors_that_a_group_holds_are_told_with_their_causes_also_where_it_is_a_cause_itself(user: User) -> None:
    user.file("several.mjs", SEVERAL)
    rows = user.ok("crash", "--", "node", "several.mjs", "deep").splitlines()
    assert rows[0].startswith("Error: not loaded at several.mjs:7 in load; exit 1 "), rows
    assert rows[1:4] == [
        "  from AggregateError: All promises were rejected",
        "    Error: no row at several.mjs:3 in row, from TypeError: id 3 is odd",
        "    Error: no row at several.mjs:3 in row, from TypeError: id 5 is odd",
    ]
    rows = user.ok("crash", "--", "node", "several.mjs").splitlines()
    assert rows[1] == "  Error: no row at several.mjs:3 in row, from TypeError: id 7 is odd", rows


def test_an_await_at_the_top_of_a_module_that_nothing_settles_is_said_to_be_it(user: User) -> None:
    user.file("wait.mjs", "await new Promise(() => {});\n")
    text = user.ok("crash", "--", "node", "wait.mjs")
    assert " exit 13 " in text and "an await at the top of a module that nothing is left to settle; dbg hang" in text


RELEASED = """\
const reader = new ReadableStream({ start() {} }).getReader();
const pending = reader.read();
pending.catch(() => console.log('released'));
reader.releaseLock();
await 0;
JSON.parse('{');
"""


def test_a_promise_that_a_stream_rejects_for_whoever_handles_it_is_no_failure(user: User) -> None:
    user.file("reads.mjs", RELEASED)
    said = user.ok("crash", "--", "node", "reads.mjs")
    assert said.startswith("SyntaxError: ") and " at reads.mjs:6 in <module>; exit 1" in said, said
    assert "also: " not in said


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_an_error_that_a_program_behind_npm_caught_before_its_bad_end_is_told(user: User) -> None:
    user.file("package.json", '{"name": "x", "scripts": {"lint": "node lint.js"}}')
    user.file("rule.js", "module.exports = (node) => {\n  const kind = node.init.type;\n  return kind;\n};\n")
    user.file(
        "lint.js",
        "try {\n  require('./rule.js')({ name: 'odd' });\n} catch (error) {\n  console.error(error.message);\n"
        "  process.exitCode = 2;\n}\n",
    )
    report = user.json("crash", "--", "npm", "run", "lint")
    assert (report["end"]["exit_code"], "failure" in report) == (2, False)
    handled = report["handled"]
    assert handled["what"] == "TypeError: Cannot read properties of undefined (reading 'type')"
    assert (handled["process"], handled["stack"]["frames"][0]["line"]) == ("crash-npm.1", 2)


LISTENER = """\
const { Worker, isMainThread, parentPort } = require('worker_threads');
function work(n) {
  throw new Error('bad ' + n);
}
if (isMainThread) {
  const worker = new Worker(__filename);
  worker.on('error', () => {});
  worker.postMessage(3);
} else parentPort.on('message', (n) => { work(n); });
"""


def test_a_listener_of_a_worker_is_one_call_whether_it_is_held_or_only_known_by_the_errors_stack(user: User) -> None:
    user.file("workers.js", LISTENER)
    report = user.json("crash", "--", "node", "workers.js")
    told = [
        (each["function"], each["line"]) for each in report["failure"]["stack"]["frames"] if not each.get("library")
    ]
    assert told == [("work", 3), ("<anonymous>", 9)], report
