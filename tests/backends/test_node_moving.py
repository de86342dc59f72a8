"""Moving a Node program by lines: loops, calls, returns, callbacks, generators, promises and modules."""

from __future__ import annotations

from pathlib import Path

import pytest

import stillframe
from stillframe.errors import EvalFailed, Unsupported, WrongState
from stillframe.model.outcomes import Running

from .nodes import changes, debugged, exited, is_18, place, returned, stopped, where

STEPS = """
function compare(a, b) { return a - b; }
function factorial(n) {
  if (n < 2) return 1;
  const below = factorial(n - 1);
  return n * below;
}
async function wait(ms) {
  await new Promise((done) => setTimeout(done, ms));
  return ms + 1;
}
async function run() {
  const sorted = [3, 1, 2].sort((a, b) => {
    const d = compare(a, b);
    return d;
  });
  let s = 0; for (let i = 0; i < 2; i++) s += i; console.log(s);
  const waited = await wait(1);
  const f = factorial(4);
  try {
    thrower(1);
  } catch (e) {
    console.log(e.message);
  }
  for (const g of generate(2)) {
    console.log(g);
  }
  return [sorted, waited, f];
}
function thrower(x) {
  if (x) throw new TypeError('thrown ' + x);
}
function* generate(n) {
  for (let i = 0; i < n; i++) yield i;
}
run().then((r) => console.log(r.length));
"""


async def test_a_step_goes_line_by_line_and_round_by_round_where_a_loop_is_one_line(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["app.js:16"]) as (dbg, _):
        rounds = []
        while place(stop := await dbg.next()) == ("run", 16):
            rounds.append(changes(stop))
        assert place(stop) == ("run", 17)
        assert [name for each in rounds for name, _, _ in each] == ["s", "i", "s", "i"]


async def test_a_callback_of_library_code_is_another_call_each_time_and_no_change_is_told_between_them(
    tmp_path: Path,
) -> None:
    async with debugged(tmp_path, STEPS, breaks=["app.js:13"]) as (dbg, first):
        assert stopped(first).local("a") == "1"
        assert changes(await dbg.next()) == [("d", None, "-2")]
        other = stopped(await dbg.next())
        assert (place(other), other.same_frame, changes(other)) == (("<anonymous>", 13), False, [])
        assert (returned(other), other.local("a"), other.local("d")) == ("-2", "2", None)


async def test_finish_leaves_a_callback_for_the_function_that_handed_it_over(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["app.js:13"]) as (dbg, _):
        await dbg.unbreak("b1")
        out = await dbg.finish()
        assert (place(out), returned(out)) == (("run", 16), "-2")


async def test_finish_of_a_recursion_comes_out_of_this_call_with_its_value(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["factorial if n == 3"]) as (dbg, first):
        assert stopped(first).local("n") == "3"
        out = await dbg.finish()
        assert (place(out), returned(out), stopped(out).local("n")) == (("factorial", 5), "6", "4")
        out = await dbg.finish()
        assert (place(out)[0], returned(out)) == ("run", "24")


RETURNS = """
const f = (n) => n;
function sum(n) {
  const base = n * 2;
  return base + f(1);
}
function lines(n) {
  const base = n * 2;
  return (
    base + 1
  );
}
function early(n) {
  if (!n) return n
  const next = f(n);
  const inner = () => { return 1 };
  return inner() && next;
}
console.log(sum(1), lines(1), early(1), f(2));
"""


@pytest.mark.parametrize(
    ("line", "printed"), [("4", "9 3 1 2"), ("9", "3 9 1 2"), ("16", "3 3 9 2"), ("1:18", "9 3 1 2")]
)
async def test_another_value_is_returned_from_wherever_in_a_return_v8_is(
    tmp_path: Path, line: str, printed: str
) -> None:
    """It leaves out the beginning of a `return` where the line before has just made what that begins with."""
    async with debugged(tmp_path, RETURNS, breaks=[f"app.js:{line}"]) as (dbg, first):
        assert where(first) == f"app.js:{line.partition(':')[0]}"
        await dbg.unbreak(all=True)
        changed = (await dbg.set_return("9" if ":" not in line else "7")).values
        assert [each.value for each in changed] == ["9" if ":" not in line else "7"]
        assert exited(await dbg.continue_()).output == f"{printed}\n"


@pytest.mark.parametrize("line", [13, 14, 15])
async def test_no_other_line_is_taken_for_a_return(tmp_path: Path, line: int) -> None:
    async with debugged(tmp_path, RETURNS, breaks=[f"app.js:{line}"]) as (dbg, first):
        with pytest.raises(WrongState, match="not at the return of a function"):
            await dbg.set_return("9")
        assert where(await dbg.state()) == where(first) == f"app.js:{line}"


ARROWS = """
const plus = (n) => n + 1;
const lines = (n) =>
  plus(n) + 1;
const made = (n) => (m) => n + m;
const later = async (n) => n + 3;
async function main() {
  plus(1);
  lines(1);
  made(1)(1);
  await later(1);
}
main();
"""


@pytest.mark.parametrize(
    ("place_of", "value"),
    [("1:21", "2"), ("3", "3"), ("4:21", "[Function: (anonymous)]"), ("5:28", "Promise { 4 }")],
)
async def test_finish_tells_the_value_of_an_arrow_function_that_is_one_expression(
    tmp_path: Path, place_of: str, value: str
) -> None:
    """Its return stands where V8 says that the function ends."""
    async with debugged(tmp_path, ARROWS, breaks=[f"app.js:{place_of}"]) as (dbg, first):
        assert where(first) == f"app.js:{place_of.partition(':')[0]}"
        await dbg.unbreak(all=True)
        assert returned(await dbg.finish()) == value


async def test_finish_of_a_call_that_throws_stops_where_it_is_caught(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["thrower"]) as (dbg, _):
        out = await dbg.finish()
        assert (place(out), returned(out)) == (("run", 22), None)
        assert stopped(out).local("e") == "TypeError: thrown 1"
    async with debugged(tmp_path, STEPS, breaks=["thrower"]) as (dbg, _):
        assert place(await dbg.next()) == ("run", 22), "and so does the next line"


async def test_a_step_over_an_await_stays_in_the_function(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["app.js:17"]) as (dbg, _):
        stop = stopped(await dbg.next())
        assert (place(stop), stop.local("waited")) == (("run", 18), "2")


async def test_finish_of_an_async_function_comes_to_whoever_awaits_it(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["app.js:9"]) as (dbg, first):
        assert [each.function for each in stopped(first).stack if each.kind == "user"][:2] == ["wait", "run"]
        out = await dbg.finish()
        assert (place(out), returned(out)) == (("run", 18), "Promise { 2 }")


async def test_a_step_goes_into_a_generator_and_out_again(tmp_path: Path) -> None:
    async with debugged(tmp_path, STEPS, breaks=["app.js:25"]) as (dbg, _):
        await dbg.unbreak("b1")
        assert place(await dbg.next()) == ("run", 24)
        assert place(await dbg.step()) == ("generate", 33)
        assert place(await dbg.finish())[0] == "run"


async def test_a_step_over_a_module_that_is_loaded_by_it_stays_on_its_way(tmp_path: Path) -> None:
    files = {
        "app.mjs": "const first = 1;\nconst late = await import('./late.mjs');\nconsole.log(late.twice(first));\n",
        "late.mjs": "export const twice = (n) => n * 2;\n",
    }
    async with debugged(tmp_path, files, breaks=["app.mjs:2", "nowhere"]) as (dbg, _):
        stop = stopped(await dbg.next())
        assert where(stop) == "app.mjs:3"
        assert exited(await dbg.next()).output == "2\n"
    files = {"app.js": "const late = require('./late.js');\nconsole.log(late);\n", "late.js": "module.exports = 3;\n"}
    async with debugged(tmp_path, files, breaks=["app.js:1", "nowhere"]) as (dbg, _):
        assert where(await dbg.next()) == "app.js:2"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.js", "const a = 1;\nconsole.log(a);\n"),
        ("app.cjs", "require('./other.cjs');\nconst a = 1;\nconsole.log(a);\n"),
        ("app.mjs", "import './other.mjs';\nconst a = 1;\nconsole.log(a);\n"),
    ],
)
async def test_the_entry_is_the_first_line_of_the_program_itself(tmp_path: Path, name: str, text: str) -> None:
    files = {name: text, "other.mjs": "export const b = 2;\n", "other.cjs": "exports.b = 2;\n"}
    async with debugged(tmp_path, files, stop_on_entry=True) as (dbg, first):
        stop = stopped(first)
        assert stop.reason == "entry"
        assert where(stop) in (f"{name}:1", f"{name}:2"), "the first that runs, which may be an import (Node 18)"
        over = stopped(await dbg.until(f"{name}:{text.count(chr(10))}"))
        assert over.local("a") == "1"
        assert exited(await dbg.next()).output == "1\n"


async def test_the_entry_is_found_by_a_node_without_a_snapshot_whose_loader_v8_passes_over(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text("const b = require('./other.js');\nconsole.log(b);\n")
    (tmp_path / "other.js").write_text("module.exports = 2;\n")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        first = stopped(await dbg.launch(command=["node", "--no-node-snapshot", "app.js"], stop_on_entry=True))
        assert (first.reason, where(first)) == ("entry", "app.js:1")
        over = stopped(await dbg.next())
        assert (where(over), over.local("b")) == ("app.js:2", "2"), "and it passes over the loader again"
        assert exited(await dbg.next()).output == "2\n"


async def test_an_idle_server_is_paused_when_it_does_something_and_runs_until_then(tmp_path: Path) -> None:
    text = "process.stdin.on('data', (d) => {\n  console.log('got', String(d).length);\n});\nconsole.log('up');\n"
    async with debugged(tmp_path, text, stdin="-", timeout=0) as (dbg, first):
        assert isinstance(first, Running)
        assert "up" in (await dbg.output(since="0.0.0.0", wait=True)).stdout
        await dbg.pause(timeout=0)
        outcome = await dbg.wait(timeout=1)
        if isinstance(outcome, Running):  # as nothing of it runs that could be held
            await dbg.input("abc")
            outcome = await dbg.wait()
        # Its V8 may crash by steps in the runtime's code, so that it is told there; of Debian's primordials it names no script.
        runtime = ("node", "None") if is_18() else ()
        assert stopped(outcome).reason == "pause"
        assert where(stopped(outcome)).partition(":")[0] in ("app.js", *runtime)


@pytest.mark.long
async def test_an_idle_server_that_a_step_has_left_is_told_to_wait_for_its_event_loop(tmp_path: Path) -> None:
    text = "process.stdin.on('data', (d) => {\n  globalThis.n = String(d).length;\n});\nconsole.log('up');\n"
    async with debugged(tmp_path, text, stdin="-", breaks=["app.js:2"], timeout=0) as (dbg, _):
        await dbg.input("abc")
        assert where(stopped(await dbg.wait())) == "app.js:2"
        done = stopped(await dbg.finish())
        assert (done.reason, where(done), done.returned and done.returned.value) == ("return", "app.js:3", "undefined")
        assert isinstance(await dbg.finish(timeout=0.5), Running)
        paused = await dbg.pause(timeout=0.2)
        assert isinstance(paused, Running)
        assert any(note.startswith("the pause comes as soon as it runs code") for note in paused.notes)
        (loop,) = (await dbg.hang()).groups
        assert (loop.what, loop.stack.frames) == ("event loop", ())
        assert (loop.waits_for or "").startswith("its event loop")
        await dbg.input("abcd")
        assert where(stopped(await dbg.wait())) == "app.js:2"


async def test_finish_of_what_only_library_code_called_is_held_at_its_return_with_the_value(tmp_path: Path) -> None:
    text = """
async function later(a) {
  await null;
  return a + 1;
}
function tick(a) {
  setImmediate(later, a);
  return a * 10;
}
setTimeout(tick, 1, 4);
"""
    async with debugged(tmp_path, text, breaks=["tick", "later"]) as (dbg, _):
        for line, value in ((7, "40"), (3, "Promise { 5 }")):
            stop = stopped(await dbg.finish())
            assert (stop.reason, stop.frame and stop.frame.line, stop.returned and stop.returned.value) == (
                "return", line, value,
            )  # fmt: skip
            left = await dbg.finish(timeout=30)
        assert exited(left).notes == ("later returned Promise { 5 }, and nothing of your code went on with that",)


async def test_a_call_of_an_imported_function_as_compilers_write_it_is_one_step_in_the_line_around_it(
    tmp_path: Path,
) -> None:
    text = """
const m = { f: (t) => t.length };
function go(out) {
  out.push((0, m.f)('x'), (0, m.f)('y'));
  for (const t of ['a', 'b']) out.push((0, m.f)(t));
  while (out.length < 6) out.push((0, m.f)('q'));
  return out;
}
go([]);
"""
    async with debugged(tmp_path, text, breaks=["app.js:3"]) as (dbg, _):
        done = exited(await dbg.next(count=12))
        assert [each.line for each in done.trail if each.function is None] == [3, 4, 4, 4, 5, 5, 5]


async def test_a_debugger_statement_is_a_stop(tmp_path: Path) -> None:
    async with debugged(tmp_path, "let a = 1;\ndebugger;\na = 2;\n") as (dbg, first):
        stop = stopped(first)
        assert (stop.reason, place(stop), stop.breakpoints) == ("debugger statement", ("<module>", 2), ())
        assert place(await dbg.next()) == ("<module>", 3)


async def test_a_frame_begins_again_and_a_return_gives_back_something_else(tmp_path: Path) -> None:
    text = "function taxed(n) {\n  const tax = n * 2;\n  return n + tax;\n}\nconsole.log(taxed(1));\n"
    async with debugged(tmp_path, text, breaks=["app.js:3"]) as (dbg, _):
        if is_18():
            with pytest.raises(Unsupported, match="this Node can begin no call again, as Node 20 and later can"):
                await dbg.restart_frame()
        else:
            again = stopped(await dbg.restart_frame())
            assert (again.reason, place(again)) == ("restart", ("taxed", 2))
            assert place(await dbg.continue_()) == ("taxed", 3)
        assert (await dbg.set_return("n + 40")).values[0].value == "41"
        assert exited(await dbg.continue_()).output == "41\n"
    async with debugged(tmp_path, text, breaks=["app.js:2"], all_code=True) as (dbg, _):
        with pytest.raises(WrongState):
            await dbg.set_return("1")
        assert place(await dbg.state()) == ("taxed", 2), "and nothing has moved"
        inner = next(each for each in (await dbg.stack()).frames if (each.file or "").startswith("node:"))
        with pytest.raises(Unsupported, match="a call of Node's own"):
            await dbg.restart_frame(inner.id)
        assert exited(await dbg.continue_()).output == "3\n"


async def test_live_edits_change_what_is_called_next_and_say_why_they_cannot(tmp_path: Path) -> None:
    text = "function greet() {\n  return 'old';\n}\nfor (let i = 0; i < 2; i++) {\n  console.log(greet());\n}\n"
    async with debugged(tmp_path, text, breaks=["app.js:5"]) as (dbg, _):
        (tmp_path / "app.js").write_text(text.replace("'old'", "'new'"))
        await dbg.hotpatch("app.js", dry_run=True)
        await dbg.hotpatch("app.js")
        await dbg.unbreak(all=True)
        assert exited(await dbg.continue_()).output == "new\nnew\n"
    async with debugged(tmp_path, text, breaks=["app.js:5"]) as (dbg, _):
        (tmp_path / "app.js").write_text("function greet( {")
        with pytest.raises(EvalFailed, match="SyntaxError"):
            await dbg.hotpatch("app.js")


PRICES = """
const rate = 2;
function price(x) {
  const p = x * rate;
  return p;
}
let i = 1;
const t = setInterval(() => {
  console.log(price(i++));
  if (i > 3) clearInterval(t);
}, 1);
"""


async def test_a_live_edit_of_the_held_function_begins_it_again_without_a_hit(tmp_path: Path) -> None:
    async with debugged(tmp_path, PRICES, breaks=["app.js:3"]) as (dbg, _):
        (tmp_path / "app.js").write_text(PRICES.lstrip().replace("x * rate", "x * rate * 10"))
        if is_18():
            for dry_run in (True, False):
                with pytest.raises(EvalFailed, match="the held one: this Node can begin no call again"):
                    await dbg.hotpatch("app.js", dry_run=dry_run)
            return
        await dbg.hotpatch("app.js", dry_run=True)
        assert stopped(await dbg.state()).reason == "breakpoint", "which does nothing"
        assert (await dbg.hotpatch("app.js")).notes
        again = stopped(await dbg.state())
        assert (again.reason, place(again), again.local("p")) == ("restart", ("price", 3), None)
        assert (await dbg.breaks()).breakpoints[0].hits == 1
        assert stopped(await dbg.continue_()).output == "20\n"
        assert (await dbg.breaks()).breakpoints[0].hits == 2


@pytest.mark.parametrize(
    "new",
    [
        PRICES.lstrip().replace("const rate", "const added = 5;\nconst rate").replace("* rate", "* rate * added"),
        "function price(x) {\n  return 1;\n}\n",
    ],
    ids=["another variable for functions", "a removed callback"],
)
async def test_a_live_edit_that_would_leave_old_text_running_is_refused(tmp_path: Path, new: str) -> None:
    async with debugged(tmp_path, PRICES, breaks=["app.js:8"]) as (dbg, _):
        (tmp_path / "app.js").write_text(new)
        for dry_run in (True, False):
            with pytest.raises(EvalFailed, match="would go on with the old text of"):
                await dbg.hotpatch("app.js", dry_run=dry_run)
        again = stopped(await dbg.continue_())
        assert (again.output, place(again), again.breakpoints) == ("2\n", ("<anonymous>", 8), ("b1",))


async def test_a_pause_comes_to_code_of_the_program_also_while_node_starts_or_runs_its_own(tmp_path: Path) -> None:
    text = "let n = 0;\nfunction spin() {\n  n++;\n  return Promise.resolve().then(spin);\n}\nspin();\n"
    async with debugged(tmp_path, text, timeout=0) as (dbg, _):
        stop = stopped(await dbg.pause(timeout=30))
        assert (stop.reason, where(stop).partition(":")[0]) == ("pause", "app.js")
        assert (await dbg.eval("typeof spin")).values[0].value == "'function'"


async def test_what_a_call_returned_is_not_told_of_another_call_that_comes_next(tmp_path: Path) -> None:
    text = """
function each(list) {
  const all = list.map((n) => {
    return n + 1;
  });
  return all;
}
each([1, 2]);
"""
    async with debugged(tmp_path, text, breaks=["app.js:3"]) as (dbg, _):
        await dbg.unbreak("b1")
        stop = stopped(await dbg.step())
        assert (where(stop), stop.local("n"), stop.returned) == ("app.js:3", "2", None)
        assert "<anonymous> returned 2 before" in stop.notes
        stop = stopped(await dbg.step())
        assert (where(stop), stop.returned and stop.returned.value) == ("app.js:5", "3")
