"""Which calls started what runs later: the part of a stack that V8 keeps of calls that have returned."""

from __future__ import annotations

from pathlib import Path

import pytest

import stillframe

from .nodes import stopped

STORE = """\
const { AsyncLocalStorage } = require('async_hooks');
const store = new AsyncLocalStorage();
function serve() {
  store.run({}, () => {
    setTimeout(() => { debugger; }, 1);
  });
}
serve();
"""


async def test_what_nodes_own_code_was_given_to_call_is_no_code_of_a_file_itself(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text(STORE)
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        stopped(await dbg.launch("app.js"))
        frames = (await dbg.stack()).frames
        told = [("<anonymous>", 5), ("<anonymous>", 5), ("serve", 4), ("<module>", 8)]
        assert [(each.function, each.line) for each in frames] == told


@pytest.mark.parametrize(
    "words", [("-e", "setTimeout(() => { debugger; }, 1)"), ("-p", "setTimeout(() => { debugger; }, 1)")]
)
async def test_what_node_puts_around_code_is_not_among_the_calls_that_started_something(words: tuple[str, ...]) -> None:
    async with stillframe.Debugger() as dbg:
        stopped(await dbg.launch(command=["node", *words]))
        frames = (await dbg.stack()).frames
        assert [(each.function, each.file) for each in frames] == [("<anonymous>", "[eval]"), ("<module>", "[eval]")]


async def test_whoever_is_joined_while_it_comes_up_still_tells_what_started_a_callback(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text("function later() { setTimeout(() => { debugger; }, 1); }\nlater();\n")
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        for _ in range(6):  # Node 24 forgot it where it was asked to note that while it loaded a module
            stopped(await dbg.launch("app.js"))
            assert [each.function for each in (await dbg.stack()).frames] == ["<anonymous>", "later", "<module>"]
            await dbg.stop()
