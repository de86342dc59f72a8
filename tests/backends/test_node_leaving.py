"""Leaving functions that stop in their midst: async functions, generators and both, by `finish`, `next` and `step`."""

from __future__ import annotations

from pathlib import Path

from .nodes import debugged, exited, has_snapshot, place, returned, stopped

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
        stop = stopped(await dbg.next())
        how = "exception" if has_snapshot() else "step"  # which V8 takes as far as the next code of the user's
        assert (stop.reason, place(stop), stop.returned) == (how, ("second", 5), None)
        assert "first returned Promise { 1 } before" in stop.notes
        if how == "step":
            assert (stop := stopped(await dbg.next())).reason == "exception" and place(stop) == ("second", 5)
    text = "function none() {\n  return null;\n}\nfunction takes() {\n  return none().x;\n}\ntakes();\n"
    async with debugged(tmp_path, text, breaks=["app.js:2"]) as (dbg, _):
        stop = stopped(await dbg.finish())
        assert (stop.reason, place(stop), stop.returned) == ("exception", ("takes", 5), None)
