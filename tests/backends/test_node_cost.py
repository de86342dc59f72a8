"""What being debugged costs a Node program, and what is told of orders for whose answer nobody waits."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from stillframe.model.outcomes import Running

from .nodes import debugged, exited, place, stopped

LOADED = """
const loaded = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
const costly = ['worker_threads', 'child_process', 'internal/child_process', 'inspector', 'net', 'stream'];
console.log('loaded:', costly.filter((name) => loaded.includes(name)));
"""


async def test_no_module_is_loaded_that_the_program_did_not_ask_for(tmp_path: Path) -> None:
    """But the one for files, which brings another along in Node 18, and in Node 24 the one that sets the flags of V8."""
    own = "require('fs'); if (Number.parseInt(process.versions.node, 10) > 22) require('v8');"
    (tmp_path / "plain.js").write_text(f"{own}{LOADED}")
    plain = await asyncio.to_thread(
        subprocess.run, ["node", "plain.js"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    async with debugged(tmp_path, LOADED) as (_, end):
        assert exited(end).output == plain.stdout


async def test_children_of_a_program_that_loads_the_module_for_them_late_are_followed(tmp_path: Path) -> None:
    program = """
function start() {
  const { spawn, spawnSync } = require('child_process');
  const keys = Object.keys(spawn(process.execPath, ['child.js'], { stdio: 'ignore' }));
  console.log(keys.includes('stderr'), spawnSync(process.execPath, ['child.js']).status);
}
start();
"""
    files = {"app.js": program, "child.js": "let n = 1;\nn += 1;\nprocess.exit(n);\n"}
    async with debugged(tmp_path, files, breaks=["child.js:2"]) as (dbg, first):
        second = stopped(await dbg.continue_())
        assert (place(first), place(second)) == (("<module>", 2), ("<module>", 2))
        end = exited(await dbg.continue_())
        assert "true 2" in second.output + end.output


async def test_a_step_that_v8_refuses_is_told_as_such(tmp_path: Path) -> None:
    program = "const every = setInterval(() => {}, 1000);\nlet n = 1;\nn += 1;\nconsole.log('on');\n"
    async with debugged(tmp_path, program, breaks=["app.js:2"]) as (dbg, first):
        stopped(first)
        await dbg.request("Debugger.resume", "{}")  # behind the session's back
        assert "on" in (await dbg.output(since="0.0.0.0", wait=True)).stdout, (
            "else V8 is still on its way out of its pause"
        )
        outcome = await dbg.next(timeout=0)
        while not any("Debugger.stepOver was refused" in note for note in outcome.notes):
            outcome = await dbg.wait(timeout=0.1)  # V8's answer comes when it comes
            assert isinstance(outcome, Running), outcome


async def test_each_of_many_steps_shows_the_variables_of_its_own_line(tmp_path: Path) -> None:
    lines = "\n".join(f"  n = {number};" for number in range(20))
    program = f"function f() {{\n  let n;\n{lines}\n  return n;\n}}\nf();\n"
    async with debugged(tmp_path, program, breaks=["app.js:3"]) as (dbg, first):
        stopped(first)
        assert [stopped(await dbg.next()).local("n") for _ in range(20)] == [str(number) for number in range(20)]


async def test_a_file_that_was_written_over_since_it_was_loaded_is_not_taken_for_what_runs(tmp_path: Path) -> None:
    """The text of a file stands for that of its script as long as V8's hash says so, which spares a question."""
    program = """const factor = 3;
require('fs').writeFileSync(__filename, '// gone\\n'.repeat(8));
function scaled(n) {
  const twice = n + n;
  return twice * factor;
}
scaled(2);
"""
    async with debugged(tmp_path, program, breaks=["app.js:5"]) as (_, first):
        assert [stopped(first).local(name) for name in ("n", "twice", "factor")] == ["2", "4", "3"]
    async with debugged(tmp_path, program.replace("require", "//"), breaks=["app.js:5"]) as (_, first):
        assert [stopped(first).local(name) for name in ("n", "twice", "factor")] == ["2", "4", "3"]


async def test_nothing_of_a_package_is_looked_at_before_it_runs_unless_something_in_it_is_wanted(
    tmp_path: Path,
) -> None:
    """Each look holds the program for a while, and packages come by the thousand, most with a source map."""
    looks = "globalThis[Symbol.for('stillframe')].loading({!r}, {!r})".format
    mapped, named = "f();\n//# sourceMappingURL=a.js.map", "function wanted() {}"
    asked = [
        looks(text, path)
        for path in ("/x/src/a.js", "/x/node_modules/a/a.js", "/x/node_modules/b/b.js")
        for text in (mapped, named, "function other() {}", r"function w\u0061nted() {}")
    ]
    async with debugged(tmp_path, "let n = 1;\nn += 1;\n", breaks=["app.js:2"]) as (dbg, first):
        stopped(first)

        async def found() -> list[bool]:
            return [each.value == "true" for each in (await dbg.eval(*asked)).values]

        nothing = [False] * 4
        assert await found() == [*(True, False, False, False), *nothing, *nothing], "a file's line is wanted"
        await dbg.break_("wanted")
        assert await found() == [*(True, True, False, True), *nothing, *nothing], "and a function of the user's own"
        await dbg.break_("a!wanted")
        assert await found() == [*(True, True, False, True), *(False, True, False, True), *nothing], (
            "and one of a package"
        )


async def test_a_function_of_a_large_script_is_found_after_another_was_not(tmp_path: Path) -> None:
    """As in bundles: a text is not searched for what it has not, and is searched again for what it has."""
    many = "\n".join(f"function f{number}(a, b) {{ return a + b + {number}; }}" for number in range(6000))
    async with debugged(
        tmp_path, f"let n = 1;\nbeta();\nfunction beta() {{\n  n += 1;\n}}\n{many}\n", breaks=["app.js:2"]
    ) as (dbg, first):
        stopped(first)
        assert (await dbg.break_("alpha")).state == "pending"
        assert (await dbg.break_("beta")).state == "bound"
        assert place(await dbg.continue_()) == ("beta", 4)
