"""Errors of Node programs by their class: also where only library code throws and catches them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stillframe.adapters import understand
from stillframe.adapters.leaving import misjudges_errors
from stillframe.errors import NotFound
from stillframe.model.plans import Plan

from .nodes import debugged, exited, place, stopped, where

FILES = {
    "app.js": """
const { ask } = require('far');
async function main() {
  try {
    await ask();
  } catch (e) {
    console.log('caught', e.message);
  }
  console.log('end');
}
main();
""",
    "node_modules/far/index.js": """
class FarError extends Error {}
const pass = (e) => { throw e; };
exports.ask = () => new Promise((done, fail) => {
  setTimeout(() => fail(new FarError('too far')), 1);
}).catch(pass);
""",
}


async def test_an_error_of_a_named_class_stops_in_library_code_too_and_once(tmp_path: Path) -> None:
    async with debugged(tmp_path, FILES, catch=["FarError"]) as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None
        assert (stop.exception.type, where(stop)) == ("FarError", "node_modules/far/index.js:4")
        assert exited(await dbg.continue_()).output == "caught too far\nend\n"


async def test_a_step_goes_on_past_errors_of_other_classes_in_library_code(tmp_path: Path) -> None:
    async with debugged(tmp_path, FILES, breaks=["app.js:4"], catch=["NearError"]) as (dbg, _):
        assert place(await dbg.next()) == ("main", 6)
        assert place(await dbg.next()) == ("main", 8)


LISTENER = """
const target = new EventTarget();
target.addEventListener('far', () => {
  const why = 'too far';
  throw new Error(why);
});
target.dispatchEvent(new Event('far'));
"""


async def test_calls_of_which_only_the_places_are_known_have_no_variables_of_others(tmp_path: Path) -> None:
    """What Node itself catches, to throw it once more later, is held then, unless it is asked for where it is thrown."""
    async with debugged(tmp_path, LISTENER) as (dbg, first):
        stop = stopped(first)
        assert (where(stop), stop.locals) == ("app.js:4", ())
        frames = (await dbg.stack()).frames
        assert [(each.file, each.line) for each in frames if each.kind == "user"] == [("app.js", 4), ("app.js", 6)]
        with pytest.raises(NotFound, match="of f0 only the place is known: no call is held there"):
            await dbg.locals()
        with pytest.raises(NotFound, match="there is no frame f99"):
            await dbg.frame("f99")
    async with debugged(tmp_path, LISTENER, catch=["raised"]) as (_, first):
        assert (where(first), stopped(first).local("why")) == ("app.js:4", "'too far'")


OVERTAKEN = """
const risky = (n) => {
  if (n) throw new Error('n' + n);
};
function main() {
  let kept;
  try { risky(1); } catch (e) { kept = e; }
  try { risky(2); } catch (e) { debugger; }
}
process.on('uncaughtException', (e) => {
  console.log('heard', e.message);
});
main();
risky(3);
"""


@pytest.mark.parametrize("move", ["next", "step", "finish"])
async def test_a_step_that_an_error_has_overtaken_is_over_and_where_that_is_caught_is_no_stop(
    tmp_path: Path, move: str
) -> None:
    """V8 (of Node 18 to 24) goes on with such a step when it is told to go on, by a pause of no other kind than that of a
    `debugger` statement."""
    async with debugged(tmp_path, OVERTAKEN, breaks=["app.js:2"], catch=["raised"]) as (dbg, _):
        await dbg.unbreak(all=True)
        seen = [stopped(await getattr(dbg, move)())]
        seen += [stopped(await dbg.continue_()) for _ in range(3)]
        told = [(place(each), each.exception.message if each.exception else each.reason) for each in seen]
        assert told == [
            (("risky", 2), "n1"), (("risky", 2), "n2"), (("main", 7), "debugger statement"), (("risky", 2), "n3"),
        ]  # fmt: skip
        assert exited(await dbg.continue_()).output == "heard n3\n"


@pytest.mark.parametrize(("words", "looked_at"), [("node a.js", True), ("npx tsx a.ts", True), ("sh -c true", False)])
def test_errors_are_looked_at_where_they_are_thrown_behind_a_runner_of_packages_too(
    words: str, looked_at: bool
) -> None:
    plan = Plan(command=tuple(words.split()), kind="command", cwd="/", env=dict(os.environ))
    assert misjudges_errors(understand(plan)) == looked_at


LOADS = """
import { far } from 'far';
import fs from 'node:fs';
try { fs.readFileSync('/nowhere/at/all'); } catch { far(); }
"""


async def test_what_nodes_own_code_throws_to_itself_is_no_stop_and_what_it_throws_to_the_program_is(
    tmp_path: Path,
) -> None:
    """For each import of a package Node's loader first tries whether its name is an address."""
    files = {
        "app.mjs": LOADS,
        "node_modules/far/package.json": '{"type": "module", "exports": "./far.js"}',
        "node_modules/far/far.js": "export const far = () => console.log('far');\n",
    }
    async with debugged(tmp_path, files, catch=("raised",)) as (dbg, first):
        assert stopped(first).exception is not None
        assert [(each.file, each.line) for each in stopped(first).stack if each.kind == "user"] == [("app.mjs", 3)]
        assert exited(await dbg.continue_()).output == "far\n"


BY_NODE = """\
const zlib = require('zlib');
const path = require('path');
function risky() {
  try {
    zlib.gunzipSync(Buffer.from('nonsense'));
  } catch (error) {
    return path.join('a', error.code);
  }
}
let told = risky();
told = path.join(told, 'b');
console.log(told);
"""


@pytest.mark.parametrize("catch", ["raised", "Error"])
async def test_errors_that_nodes_own_code_throws_to_the_program_are_raised_there_whatever_it_comes_out_of(
    tmp_path: Path, catch: str
) -> None:
    """V8 tells of no error that begins in code that it passes over, as all of Node's is that is in no snapshot."""
    async with debugged(tmp_path, BY_NODE, catch=[catch]) as (dbg, first):
        stop = stopped(first)
        assert stop.exception is not None and stop.exception.message == "incorrect header check"
        assert next((each.function, each.line) for each in stop.stack if each.kind == "user") == ("risky", 5)
        steps = [place(stopped(await dbg.step())) for _ in range(3)]
        assert steps == [("risky", 7), ("<module>", 11), ("<module>", 12)], "into no code of Node's"
        assert exited(await dbg.continue_()).output == "a/Z_DATA_ERROR/b\n"
