"""Leaving functions of Node programs behind a `finally`, for whose `return` V8 has no position: it forgets a step there."""

from __future__ import annotations

from pathlib import Path

import pytest

from .nodes import debugged, exited, place, returned, stopped, where

RETURNS = """
function log(x) {
  return x;
}
function calls(a) {
  try {
    return a;
  } finally {
    log('done');
  }
}
function sets(a) {
  try {
    return a;
  } finally {
    a = 0;
  }
}
function main() {
  const a = calls(1);
  const b = sets(2);
  return a + b;
}
console.log(main());
"""

WAITED_FOR = """
async function job(n) {
  try {
    await null;
    return n;
  } finally {
    n = 0;
  }
}
const same = (each) => each;
async function main() {
  const one = await same(job(1));
  const all = await Promise.all([job(2)]);
  return [one, ...all];
}
main().then((all) => console.log(all));
"""

MEETS = """
function ends(n) {
  try {
    return n;
  } finally {
    if (n) {
      calls(n - 1);
      n = 0;
    }
  }
}
function calls(n) {
  const r = ends(n);
  return r;
}
function down(n) {
  try {
    return n ? down(n - 1) + 1 : 0;
  } finally {
    n = 9;
  }
}
calls(2);
down(2);
"""


@pytest.mark.parametrize("move", ["next", "step", "finish"])
async def test_the_end_of_a_finally_that_a_return_waits_for_leads_to_the_caller(tmp_path: Path, move: str) -> None:
    async with debugged(tmp_path, RETURNS, breaks=["app.js:15"]) as (dbg, _):
        assert place(await getattr(dbg, move)()) == ("main", 21)


async def test_so_does_the_end_of_what_such_a_finally_calls(tmp_path: Path) -> None:
    async with debugged(tmp_path, RETURNS, breaks=["app.js:8"]) as (dbg, _):
        assert place(await dbg.step()) == ("log", 2)
        out = stopped(await dbg.step())
        assert (place(out), out.returned) == (("main", 20), None), "which log has returned nothing to"
        assert "log returned 'done' before" in out.notes
    async with debugged(tmp_path, RETURNS, breaks=["app.js:8"]) as (dbg, _):
        assert place(await dbg.next()) == ("main", 20)


async def test_a_caller_that_is_called_again_on_the_way_there_is_passed_by(tmp_path: Path) -> None:
    async with debugged(tmp_path, MEETS, breaks=["app.js:6"]) as (dbg, first):
        await dbg.unbreak("b1")
        assert stopped(first).local("n") == "2"
        on = stopped(await dbg.next())
        assert (place(on), on.local("n")) == (("ends", 7), "2")
        out = stopped(await dbg.next())
        assert (place(out), out.local("r")) == (("calls", 13), "2")


async def test_a_function_that_calls_itself_is_left_for_the_call_before(tmp_path: Path) -> None:
    async with debugged(tmp_path, MEETS, breaks=["app.js:19"]) as (dbg, first):
        await dbg.unbreak("b1")
        assert stopped(first).local("n") == "0"
        for n in ("1", "2"):
            held = stopped(await dbg.next())
            while place(held) != ("down", 19):
                held = stopped(await dbg.next())
            assert held.local("n") == n
        assert exited(await dbg.continue_()).exit_code == 0


async def test_an_async_function_is_left_for_whoever_awaits_what_is_made_of_its_promise(tmp_path: Path) -> None:
    async with debugged(tmp_path, WAITED_FOR, breaks=["app.js:6"]) as (dbg, _):
        assert place(await dbg.next()) == ("main", 12)
        assert stopped(await dbg.continue_()).local("n") == "2"
        await dbg.unbreak("b1")
        assert place(await dbg.next()) == ("main", 13)


LENT = """
const { AsyncLocalStorage } = require('node:async_hooks');
const { within } = require('lent');
const store = new AsyncLocalStorage();
let seen = 0;
function node() {
  store.run({ id: 1 }, () => {
    seen += 1;
  });
  seen += 2;
  return seen;
}
function library() {
  within(() => {
    seen += 1;
  });
  seen += 2;
  return seen;
}
const done = [node(), library()];
seen = done.length;
"""
PACKAGE = """
exports.within = (f) => {
  try {
    return f();
  } finally {
    exports.last = f;
  }
};
"""


@pytest.mark.parametrize("move", ["next", "step", "finish"])
async def test_a_step_off_a_callback_comes_to_its_caller_by_way_of_a_finally_of_whoever_called_it(
    tmp_path: Path, move: str
) -> None:
    files = {"app.js": LENT, "node_modules/lent/index.js": PACKAGE}
    async with debugged(tmp_path, files, breaks=["app.js:7", "app.js:14"]) as (dbg, first):
        assert where(first) == "app.js:7"
        for behind in (9, 16):
            stop = await getattr(dbg, move)()
            assert (where(stop), returned(stop)) == (f"app.js:{behind}", "undefined")
            assert where(await dbg.next()) == f"app.js:{behind + 1}"
            if behind == 9:
                assert where(await dbg.continue_()) == "app.js:14"
