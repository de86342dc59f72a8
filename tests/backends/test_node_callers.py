"""Steps into what Node's own code calls at once: listeners, and what runs with a store of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from .nodes import debugged, has_snapshot, is_18, place

pytestmark = pytest.mark.skipif(is_18() or not has_snapshot(), reason="V8 does not step through this Node's own code")

CALLS = """
const { EventEmitter } = require('node:events');
const { AsyncLocalStorage } = require('node:async_hooks');
const { Transform } = require('node:stream');
const bus = new EventEmitter();
bus.on('order', (order) => {
  order.total = order.price * order.count;
});
bus.on('order', (order) => {
  order.seen = true;
});
const store = new AsyncLocalStorage();
const upper = new Transform({
  transform(chunk, encoding, done) {
    done(null, String(chunk).toUpperCase());
  },
});
const target = new EventTarget();
target.addEventListener('go', (event) => {
  event.seen = true;
});
function go() {
  bus.emit('order', { price: 3, count: 2 });
  store.run({ id: 1 }, () => {
    upper.write('abc');
  });
  target.dispatchEvent(new Event('go'));
  console.log({ a: [1, 2] });
  bus.emit('nobody hears it');
  return 1;
}
go();
"""


async def test_a_step_comes_to_what_nodes_own_code_calls(tmp_path: Path) -> None:
    for line, inside in ((22, 6), (23, 24), (24, 14), (26, 19)):
        async with debugged(tmp_path, CALLS, breaks=[f"app.js:{line}"]) as (dbg, _):
            assert place(await dbg.step())[1] == inside


async def test_a_step_goes_from_listener_to_listener_and_back_to_who_emitted(tmp_path: Path) -> None:
    async with debugged(tmp_path, CALLS, breaks=["app.js:22"]) as (dbg, _):
        assert [place(await dbg.step())[1] for _ in range(3)] == [6, 9, 23]


async def test_a_step_over_what_calls_nothing_of_the_users_is_one_line(tmp_path: Path) -> None:
    async with debugged(tmp_path, CALLS, breaks=["app.js:27"]) as (dbg, _):
        assert [place(await dbg.step()) for _ in range(2)] == [("go", 28), ("go", 29)]
    async with debugged(tmp_path, CALLS, breaks=["app.js:22"]) as (dbg, _):
        assert [place(await dbg.next()) for _ in range(2)] == [("go", 23), ("go", 26)]
