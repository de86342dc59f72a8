"""Claims checked over a whole run of a Node program: every hit counts, and the first counter-example is shown whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import stillframe
from stillframe.errors import UsageError
from stillframe.model.views import ProbedPlace

SHOP = """\
class Shop {
  sell(item) {
    const price = item.price;
    this.sold += price;
    return price;
  }
}
const shop = new Shop();
const later = (item) =>
  item.price * 2;
for (let i = 0; i < 2000; i++) {
  if (i === 1500 && process.argv[2]) process.kill(process.pid, process.argv[2]);
  outer: for (const way of [1, 2]) { if (way === 2) continue outer; shop.sell({ price: i % 700 ? i : 'free' }); }
  switch (i % 3) {
    case 1: later({ price: i });
  }
}
"""


async def probed(folder: Path, *words: str, **asked: object) -> list[ProbedPlace]:
    (folder / "shop.js").write_text(SHOP)
    async with stillframe.Debugger(cwd=str(folder)) as dbg:
        report = await dbg.probe(*asked.pop("at"), command=["node", "shop.js", *words], **asked)  # type: ignore[misc,arg-type]
    return list(report.places)


async def test_every_hit_counts_and_the_first_counter_example_is_shown(tmp_path: Path) -> None:
    at = ("shop.js:4", "shop.js:10 if item.price > 1000", "Shop.sell", "shop.js:13", "shop.js:40", "nobody")
    found = await probed(tmp_path, at=at, eval=["item.price"], expect=["item.price >= 0", "item.none.at"])
    sell, later, entry, loop, behind, nobody = found
    (price,) = sell.gathered
    assert (sell.state, sell.count, price.least, price.most, price.others) == ("reached", 2000, "1", "1999", 3)
    assert (price.more, price.types) == (True, ("string",))
    positive, odd = sell.claims
    assert (positive.held, positive.violated, positive.errors) == (1997, 3, 0)
    assert (odd.held, odd.violated, odd.errors, odd.error_hit) == (0, 0, 2000, 1)
    assert odd.error is not None
    assert odd.error.startswith("TypeError: ")
    counter = positive.counter
    assert counter is not None
    assert counter.hit == 1
    assert {each.name: each.value for each in counter.locals}["price"] == "'free'"
    assert (later.count, entry.count, loop.count) == (333, 2000, 2000)
    assert entry.actual is not None
    assert entry.actual.line == 3
    assert (behind.state, nobody.state) == ("unbound", "unbound")


async def test_a_million_hits_are_all_counted(tmp_path: Path) -> None:
    (tmp_path / "often.js").write_text(
        "function often(n) {\n  return n + 1;\n}\nfor (let i = 0; i < 1e6; i++) often(i);\n"
    )
    async with stillframe.Debugger(cwd=str(tmp_path)) as dbg:
        report = await dbg.probe("often.js:2", eval=["n"], expect=["n < 999999"], command=["node", "often.js"])
    (claim,), (value,) = report.places[0].claims, report.places[0].gathered
    assert (claim.held, claim.violated, value.least, value.most) == (999_999, 1, "0", "999999")


async def test_hits_before_a_kill_are_counted(tmp_path: Path) -> None:
    (terminated,) = await probed(tmp_path, "SIGTERM", at=("shop.js:4",), expect=["true"])
    assert 1500 - 16 < terminated.count <= 1500


async def test_a_claim_that_is_no_expression_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--expect price >= is no expression of JavaScript"):
        await probed(tmp_path, at=("shop.js:4",), expect=["price >="])
