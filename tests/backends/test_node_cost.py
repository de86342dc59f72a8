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
    """But the one for files, which brings another along in Node 18."""
    (tmp_path / "plain.js").write_text(f"require('fs');{LOADED}")
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
