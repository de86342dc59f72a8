"""Leaving functions that stop in their midst: async functions, generators and both, by `finish`, `next` and `step`."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillframe.backends.cdp.handing import Given, given_to
from stillframe.model.outcomes import Running

from .nodes import debugged, exited, has_snapshot, place, returned, stopped

PATIENT = 30
"""Seconds for what a step comes to behind the end of a call that nothing of the user's made."""

AWAITS = """
async function wait(ms) {
  const before = ms;
  await new Promise((done) => setTimeout(done, ms));
  return before + 1;
}
async function run() {
  const waited = await wait(1);
  try {
    await fails(2);
  } catch (e) {
    console.log('caught', e.message);
  }
  return waited;
}
async function fails(n) {
  await null;
  throw new TypeError('no ' + n);
}
run().then((r) => {
  console.log('got', r);
});
"""

PARALLEL = """
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function job(n) {
  const own = n * 10;
  await sleep(n === 0 ? 20 : 1);
  return own + 1;
}
async function all() {
  return await Promise.all([0, 1, 2].map(async (n) => {
    const r = await job(n);
    return r;
  }));
}
all().then(console.log);
"""

GENERATES = """
async function* generate(n) {
  for (let i = 0; i < n; i++) {
    await new Promise((r) => setTimeout(r, 1));
    yield i;
  }
  return 'over';
}
async function main() {
  let sum = 0;
  for await (const v of generate(2)) {
    sum += v;
  }
  console.log(sum);
}
main();
"""

CLEANS = """
function* clean(n) {
  let got = yield n;
  try {
    got = yield got + 1;
  } finally {
    console.log('clean', got);
  }
}
const it = clean(1);
console.log(it.next().value);
console.log(it.next(5).value);
it.return(9);
console.log('end');
"""


async def test_finish_before_the_first_await_comes_to_whoever_awaits_the_function_with_its_value(
    tmp_path: Path,
) -> None:
    async with debugged(tmp_path, AWAITS, breaks=["app.js:2"]) as (dbg, _):
        out = await dbg.finish()
        assert (place(out), returned(out), stopped(out).local("waited")) == (("run", 9), "Promise { 2 }", "2")
        out = await dbg.finish()
        assert (place(out), returned(out)) == (("<anonymous>", 20), "Promise { 2 }"), "what was given to then"


async def test_an_async_function_that_throws_is_left_for_where_that_is_caught(tmp_path: Path) -> None:
    async with debugged(tmp_path, AWAITS, breaks=["app.js:16"]) as (dbg, _):
        assert place(await dbg.finish()) == ("run", 11)
    async with debugged(tmp_path, AWAITS, breaks=["app.js:17"]) as (dbg, _):
        assert place(await dbg.next()) == ("run", 11)


async def test_finish_stays_with_its_own_call_among_several(tmp_path: Path) -> None:
    async with debugged(tmp_path, PARALLEL, breaks=["app.js:3"]) as (dbg, first):
        await dbg.unbreak("b1")
        assert stopped(first).local("n") == "0"
        out = stopped(await dbg.finish())
        assert (place(out), returned(out), out.local("n")) == (("<anonymous>", 10), "Promise { 1 }", "0")
    async with debugged(tmp_path, PARALLEL, breaks=["app.js:3"]) as (dbg, _):
        other = stopped(await dbg.finish())
        assert (place(other)[1], other.same_frame, other.changes, other.local("n")) == (3, False, (), "1")


async def test_what_nobody_goes_on_with_is_told_at_the_end(tmp_path: Path) -> None:
    async with debugged(tmp_path, PARALLEL, breaks=["app.js:8"]) as (dbg, _):
        end = exited(await dbg.finish())
        assert end.output == "[ 1, 11, 21 ]\n"
        assert any(each.startswith("all returned Promise") for each in end.notes)


async def test_an_async_generator_is_left_for_whoever_goes_through_it(tmp_path: Path) -> None:
    async with debugged(tmp_path, GENERATES, breaks=["app.js:3", "app.js:6"]) as (dbg, _):
        await dbg.unbreak("b1")
        out = stopped(await dbg.finish())
        assert (place(out), out.local("v")) == (("main", 11), "0")
        assert place(await dbg.continue_()) == ("generate", 6)
        assert place(await dbg.next()) == ("main", 13), "past its return too"
    async with debugged(tmp_path, GENERATES, breaks=["app.js:6"]) as (dbg, _):
        assert place(await dbg.finish()) == ("main", 13)


async def test_a_step_from_a_yield_comes_to_the_caller_and_the_next_line_stays_in_the_generator(tmp_path: Path) -> None:
    async with debugged(tmp_path, CLEANS, breaks=["app.js:2"]) as (dbg, _):
        assert place(await dbg.step())[0] == "<module>"
    async with debugged(tmp_path, CLEANS, breaks=["app.js:2"]) as (dbg, _):
        assert place(await dbg.next()) == ("clean", 4)


async def test_a_generator_that_is_ended_from_outside_is_left_for_its_caller(tmp_path: Path) -> None:
    for move in ("next", "finish"):
        async with debugged(tmp_path, CLEANS, breaks=["app.js:6"]) as (dbg, _):
            assert place(await getattr(dbg, move)()) == ("<module>", 13)


async def test_an_error_that_a_step_off_a_calls_end_comes_to_is_told_as_that(tmp_path: Path) -> None:
    text = "async function first() {\n  return 1;\n}\nfunction second() {\n  throw new Error('later');\n}\n"
    async with debugged(tmp_path, text + "setTimeout(first, 1);\nsetTimeout(second, 5);\n", breaks=["app.js:2"]) as (
        dbg,
        _,
    ):
        assert stopped(await dbg.next()).reason == "return"
        stop = stopped(await dbg.next(timeout=PATIENT))
        how = "exception" if has_snapshot() else "step"  # which V8 takes as far as the next code of the user's
        assert (stop.reason, place(stop), stop.returned) == (how, ("second", 5), None)
        assert "first returned Promise { 1 } before" in stop.notes
        if how == "step":
            assert (stop := stopped(await dbg.next())).reason == "exception" and place(stop) == ("second", 5)
    text = "function none() {\n  return null;\n}\nfunction takes() {\n  return none().x;\n}\ntakes();\n"
    async with debugged(tmp_path, text, breaks=["app.js:2"]) as (dbg, _):
        stop = stopped(await dbg.finish())
        assert (stop.reason, place(stop), stop.returned) == ("exception", ("takes", 5), None)


CALLED_BACK = """
setTimeout(() => {
  console.log('tick');
}, 1);
async function job(n) {
  await null;
  console.log('job', n);
}
job(7)
  .catch(console.error);
new (require('node:events'))().on('go', async (n) => {
  try {
    await job(n);
  } catch (e) {}
}).emit('go', 8);
setTimeout(() => {}, 60000);
"""


async def test_the_next_line_after_the_last_one_of_what_nothing_of_yours_called_is_its_end(tmp_path: Path) -> None:
    async with debugged(tmp_path, CALLED_BACK, breaks=["app.js:2", "app.js:6"]) as (dbg, first):
        end = stopped(await dbg.next())
        assert (stopped(first).local("n"), place(end), end.reason) == ("7", ("job", 7), "return"), (
            "whose promise is dropped"
        )
        assert returned(end) == "Promise { undefined }"
        other = stopped(await dbg.next(timeout=PATIENT))
        assert (place(other), other.local("n"), other.reason) == (("job", 6), "8", "breakpoint")
        awaits = stopped(await dbg.next())
        assert (place(awaits)[0], awaits.reason) == ("<anonymous>", "return"), (
            "nothing comes after the one who awaits it"
        )
        assert place(await dbg.next(timeout=PATIENT)) == ("<anonymous>", 2)
        end = stopped(await dbg.next(count=3))
        assert (place(end), end.reason, returned(end)) == (("<anonymous>", 3), "return", "undefined")


ROUTER = """
exports.run = (handlers, req) => {
  let at = 0;
  const next = (error) => !error && at < handlers.length && handlers[at++](req, next);
  setTimeout(next, 1);
};
"""

SERVES = """
const router = require('router');
const wrap = (handler) => (req, next) => Promise.resolve(handler(req, next)).catch(next);
function auth(req, next) {
  req.user = 'anon';
  return next();
}
async function load(req) {
  await new Promise((done) => setTimeout(done, 1));
  req.row = 1;
}
function early(req) {
  if (req.user) {
    return;
  }
}
router.run([auth, wrap(load)], {});
router.run([auth, early], {});
setTimeout(() => {}, 60000);
"""


async def test_a_handler_whose_wrapper_hands_its_promise_on_to_library_code_is_held_at_its_end(tmp_path: Path) -> None:
    files = {"app.js": SERVES, "node_modules/router/index.js": ROUTER}
    async with debugged(tmp_path, files, breaks=["app.js:9"]) as (dbg, _):
        end = stopped(await dbg.next())
        assert (place(end), end.reason, returned(end)) == (("load", 10), "return", "Promise { undefined }")
        left = await dbg.next()
        assert isinstance(left, Running), "not for as long as a stop is waited for"
        assert left.notes == ("nothing of your code goes on with what returned (dbg wait tells the next stop)",)


async def test_a_call_that_is_held_at_its_end_without_having_come_there_by_a_line_of_its_own_is_told_to_end(
    tmp_path: Path,
) -> None:
    files = {"app.js": SERVES, "node_modules/router/index.js": ROUTER}
    async with debugged(tmp_path, files, breaks=["app.js:12"]) as (dbg, _):
        assert place(await dbg.next()) == ("early", 13)
        caller = stopped(await dbg.next())
        assert (place(caller), caller.reason, returned(caller)) == (("auth", 5), "step", "undefined")
        end = stopped(await dbg.next())
        assert (place(end), end.reason, returned(end)) == (("auth", 5), "return", "undefined")
        assert isinstance(await dbg.finish(timeout=0), Running)


async def test_an_anonymous_function_is_not_taken_for_another_one_that_awaits_it(tmp_path: Path) -> None:
    text = """
const lib = require('lib');
lib.use(async (next) => {
  await next();
  console.log('after');
});
lib.use(async () => {
  await null;
  console.log('in');
});
setTimeout(lib.go, 1);
"""
    library = """
const all = [];
exports.use = (each) => all.push(each);
exports.go = (at = 0) => all[at] && Promise.resolve(all[at](() => exports.go(at + 1)));
"""
    async with debugged(tmp_path, {"app.js": text, "node_modules/lib/index.js": library}, breaks=["app.js:7"]) as (
        dbg,
        _,
    ):
        await dbg.next()
        out = stopped(await dbg.next())
        assert (place(out), out.reason, returned(out)) == (("<anonymous>", 4), "step", "Promise { undefined }")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("job(3);", Given.NOBODY),
        ("job(3)\nmore()", Given.NOBODY),
        ("a.b.job(3);", Given.NOBODY),
        ("this.job?.(3)", Given.NOBODY),
        ("if (x) job(3); else y()", Given.NOBODY),
        ("if (x) y(); else job(3)", Given.NOBODY),
        ("try { job(3) } catch {}", Given.NOBODY),
        ("void job(3)", Given.NOBODY),
        ("before()\njob(3)", Given.NOBODY),
        ("job(3).catch((e) => { x(e); });", Given.NOBODY),
        ("job(3)\n  .catch(x)\n  .catch(y)", Given.NOBODY),
        ("job(3).then(x)", Given.HERE),
        ("job(3)\n  .then(x)", Given.HERE),
        ("job(3).catch(x).finally(y)", Given.HERE),
        ("await job(3)", Given.HERE),
        ("await a.job(3);", Given.HERE),
        ("return job(3)", Given.CALLER),
        ("return a.job(3).catch(x);", Given.CALLER),
        ("return Promise.resolve(job(3)).catch(next);", Given.CALLER),
        ("Promise.resolve(job(3)).catch(next)", Given.NOBODY),
        ("Promise.resolve(job(3)).then(next)", Given.HERE),
        ("Promise.resolve(job(3), x)", Given.HERE),
        ("f => (x) => Promise.resolve(job(3)).catch(x);", Given.CALLER),
        ("use((x) => job(3));", Given.CALLER),
        ("use((x) =>\n  job(3), y)", Given.CALLER),
        ("use((x) => job(3) + 1)", Given.HERE),
        ("return job(3) || x", Given.HERE),
        ("const p = job(3)", Given.HERE),
        ("const p =\n  job(3)", Given.HERE),
        ("await\n  a.job(3)", Given.HERE),
        ("x => job(3)", Given.CALLER),
        ("[job(1), job(2)]", Given.HERE),
        ("all(job(3))", Given.HERE),
        ("job(3) || x", Given.HERE),
        ("job(3", Given.HERE),
    ],
)
def test_to_whom_the_value_of_a_call_goes_is_known_by_its_text(text: str, given: Given) -> None:
    lines = text.split("\n")
    line = next(number for number, each in enumerate(lines) if "job" in each)
    assert given_to(lines, line, lines[line].index("job")) is given
