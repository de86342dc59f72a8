"""Red tests of JavaScript, Go and Rust: each runner's own report decides, and a debugger shows the frame that failed."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from stillframe.adapters.finding import find
from stillframe.adapters.go import GO

from .conftest import User

ALL = os.environ.get("STILLFRAME_ALL") == "1"
GUESTS = Path(sys.prefix) / "guests" / "node" / "node_modules"
PATIENT = ("--timeout", "100")

SHOP = """\
function total(items) {
  let out = 0;
  for (const item of items) out += item.price * item.qty;
  return out;
}
module.exports = { total };
"""
BODY = """\
describe("shop", () => {
  it("adds up", () => {
    const items = [{ price: 2, qty: 3 }, { price: "4", qty: "x" }];
    const got = total(items);
    CLAIM
  });
  it("is good", () => {});
  it.skip("comes later", () => {});
});
"""


def missing(what: str) -> None:
    reason = f"{what} is not installed"
    if ALL:
        pytest.fail(reason)
    pytest.skip(reason)


def values(frame: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in frame["values"]}


@pytest.mark.long
def test_nodes_own_runner_is_found_held_at_the_failure_and_recorded_for_the_calls(user: User) -> None:
    user.file("shop.js", SHOP)
    imports = 'const { describe, it } = require("node:test");\nconst assert = require("node:assert");\n'
    user.file("shop.test.js", imports + SHOP_IMPORT + BODY.replace("CLAIM", "assert.strictEqual(got, 10);"))
    report = user.json("test", *PATIENT)
    assert (report["runner"], report["verdict"], report["runtime"].split()[0], report["ran"]) == (
        "node:test", "red", "Node", 3,
    )  # fmt: skip
    assert report["counts"] == {"total": 3, "passed": 1, "failed": 1, "skipped": 1}
    first = report["failures"][0]
    assert first["id"] == "shop.test.js::shop::adds up"
    assert values(first["frames"][0])["got"] == "NaN"
    assert [(each["name"], each["value"]) for each in first["operands"]] == [("actual", "NaN"), ("expected", "10")]
    assert [(each["function"], each["result"]) for each in first["calls"]] == [("total", "NaN")]
    held = user.json("test", "shop.test.js::shop::adds up", "--hold", *PATIENT)["held"]
    assert user.json("eval", "items.length", "--session", held["session"])["values"][0]["value"] == "2"
    user.ok("stop")
    assert "green, 1 passed" in user.ok("test", "shop.test.js::shop::is good", *PATIENT)
    said = user.fails("test", "adds upp", *PATIENT, code=1, error="not_found")
    assert "nearest: shop.test.js::adds up" in said
    said = user.fails("test", "shops.test.js::adds up", code=1, error="not_found")
    assert said.endswith("shops.test.js; there is shop.test.js (try: dbg test 'shop.test.js::adds up')\n"), said
    said = user.fails("test", "--runner", "jest", code=5, error="adapter_missing")
    assert said.endswith("npm install --save-dev jest (try: dbg test again, once that is installed)\n"), said
    user.file("broken.test.js", "throw new Error('at load');\n")
    text = user.ok("test", "broken.test.js", *PATIENT)
    assert ": 1 file of tests could not be read\n" in text and "Error: at load" in text, "once, and no word of calls"
    assert "note: " not in text
    user.file("late.test.js", imports + "it('is early', () => { Promise.reject(new Error('too late')); });\n")
    text = user.ok("test", "late.test.js", "--once", *PATIENT)
    assert ": 1 of 2 failed\nlate.test.js, in its end at late.test.js\n" in text and "too late" in text, text
    user.file("left.test.js", imports + "it('leaves', () => process.exit(0));\n")
    text = user.ok("test", "left.test.js", *PATIENT)
    assert ": green, 1 passed" in text and "\nnote: left.test.js told of no test" in text, text
    user.file("slow.test.js", imports + SLOW)
    for wait in ("5", "20", "80"):  # as much as it takes to come to the failure, since the rest never ends
        slow = user.json("test", "slow.test.js", "--timeout", wait)
        if slow.get("failures") and slow["failures"][0].get("calls"):
            break
    assert slow["verdict"] == "unfinished"
    assert values(slow["failures"][0]["frames"][0])["got"] == "3", "what failed by then is explained all the same"
    assert [each["function"] for each in slow["failures"][0]["calls"]] == ["more"]
    user.file("seldom.test.js", imports + SELDOM)
    text = user.ok("test", "seldom.test.js::by turns", "--repeat", "2", *PATIENT)  # a suite is all of its tests
    assert "\nfirst difference: seldom.test.js:8 in pick, hit 1: returned 0 -> 1\n  (1 of 3 further runs" in text, text


SLOW = """\
const more = (n) => n + 1;
it("is too much", () => {
  const got = more(2);
  assert.strictEqual(got, 2);
});
it("never ends", () => new Promise(() => setInterval(() => {}, 1000)));
"""
SELDOM = """\
const fs = require("node:fs");
const pick = () => {
  const number = fs.existsSync("count") ? Number(fs.readFileSync("count", "utf8")) + 1 : 1;
  fs.writeFileSync("count", String(number));
  const odd = number % 2;
  return 1 - odd;
};
describe("by turns", () => {
  it("is even", async () => {
    assert.strictEqual(await pick(), 0);
  });
});
"""


TABLE = """\
const { describe, it } = require("node:test");
const assert = require("node:assert");
const double = (of) => (of > 1 ? of * 2 + 1 : of * 2);
describe("doubled", () => {
  describe("by a table", () => {
    for (const of of [1, 2, 3]) {
      it(`${of} is doubled`, () => {
        const got = double(of);
        assert.strictEqual(got, of * 2);
      });
    }
  });
  it("is as it is elsewhere", () => assert.deepStrictEqual([process.env.NO_COLOR, process.env.CI], [undefined, "no"]));
});
"""


def test_one_row_of_a_table_of_tests_is_run_again_without_its_suite_and_in_the_callers_environment(user: User) -> None:
    user.file("double.test.js", TABLE)
    report = user.json("test", *PATIENT, env={"CI": "no"})
    assert report["counts"] == {"total": 4, "passed": 2, "failed": 2}, report
    first = report["failures"][0]
    assert (first["id"].rpartition("::")[2], report.get("notes", [])) == ("2 is doubled", []), report
    assert [(each["function"], each["result"]) for each in first["calls"]] == [("double", "5")], report
    again = user.json("test", first["id"], "--once", *PATIENT)
    assert again["counts"]["total"] == 1, again


def test_the_calls_behind_an_error_that_a_test_throws_itself_are_those_of_its_condition(user: User) -> None:
    user.file("leap.test.js", LEAP)
    (first,) = user.json("test", *PATIENT)["failures"]
    assert (first["line"], [(each["function"], each["result"]) for each in first["calls"]]) == (
        8, [("isLeap", "false"), ("by", "0"), ("by", "0")],
    )  # fmt: skip


def test_calls_that_changed_what_a_failing_line_uses_are_told(user: User) -> None:
    user.file("cart.test.js", CART)
    (first,) = user.json("test", *PATIENT)["failures"]
    told = [(each["function"], each["arguments"][-1]["value"]) for each in first["calls"] if not each.get("depth")]
    assert told[:3] == [("Cart.add", "1"), ("Cart.add", "3"), ("Cart.check", "'x'")], first["calls"]
    assert [each for each, _ in told[3:]] == ["Cart.total"]


CART = """\
const { test } = require("node:test");
const assert = require("node:assert");
class Cart {
  items = [];
  add(price, qty = 1) { this.items.push(qty > 1 ? price * qty : 0); }
  check(sign) { return sign; }
  get total() { return this.items.reduce((sum, each) => sum + each, 0); }
}
test("total", async () => {
  const cart = new Cart(), other = new Cart();
  cart.add(5);
  other.add(7);
  cart.add(2, 3);
  await cart.check("x");
  assert.strictEqual(cart.total, 11);
});
"""
LEAP = """\
const { it } = require("node:test");
const by = (year, number) => year % number;
const isLeap = (year) => by(year, 4) === 0 && by(year, 100) !== 0;
const shown = (year) => `the year ${year}`;
const check = (year) => {
  if (isLeap(year) !== true) {
    const said = shown(year);
    throw new Error(`${said} is none`);
  }
};
it("is one", () => check(2000));
"""


LONG = """\
const made = (total) => ({ words: Array.from({ length: 9 }, (_, at) => `word ${at}`), total, note: "as it is" });
it("is long", () => expect(made(6)).toEqual(made(5)));
"""
SHOP_IMPORT = 'const { total } = require("./shop.js");\n'
RUNNERS = {
    "jest": ("shop.test.js", SHOP_IMPORT, "expect(got).toBe(10);"),
    "vitest": (
        "shop.test.mjs",
        'import { describe, it, expect } from "vitest";\nimport { total } from "./shop.js";\n',
        "expect(got).toBe(10);",
    ),
    "mocha": (
        "test/shop.js",
        'const assert = require("node:assert");\n' + SHOP_IMPORT.replace("./", "../"),
        "assert.equal(got, 10);",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_runner_of_the_project_is_found_and_its_failure_told_with_the_locals_of_its_frame(
    user: User, runner: str
) -> None:
    if not (GUESTS / runner).is_dir():
        missing(f"{runner} (./dev test brings it)")
    (user.here / "node_modules").symlink_to(GUESTS)
    name, imports, claim = RUNNERS[runner]
    user.file("package.json", f'{{"private": true, "scripts": {{"test": "{runner}"}}}}')
    user.file("shop.js", SHOP)
    user.file(name, imports + BODY.replace("CLAIM", claim))
    report = user.json("test", *PATIENT)
    assert (report["runner"], report["verdict"]) == (runner, "red"), report
    assert report["version"] and report["counts"] == {"total": 3, "passed": 1, "failed": 1, "skipped": 1}
    first = report["failures"][0]
    assert first["id"] == f"{name}::shop::adds up"
    assert values(first["frames"][0])["got"] == "NaN", report
    assert first["frames"][0]["source"][-1]["text"].strip() == claim
    said = user.fails("test", "adds upp", *PATIENT, code=1, error="not_found")
    assert f"{runner} finds no test that matches adds upp; nearest: {name}::adds up" in said, said
    if runner == "jest":  # which makes errors inside as it shows an undefined, and catches them
        user.file("lacks.test.js", "test('lacks', () => { expect({ v: 3, c: undefined }).toEqual({ v: 4 }); });\n")
        report = user.json("test", "lacks.test.js", *PATIENT)
        assert "notes" not in report, report
    if runner == "vitest":  # whose message cuts what was compared
        assert [(each["name"], each["value"]) for each in first["operands"]] == [("actual", "NaN"), ("expected", "10")]
        user.file("long.test.mjs", imports + LONG)
        (long,) = user.json("test", "long.test.mjs", "--once", *PATIENT)["failures"]
        rows = [each.strip() for each in long["message"].splitlines()]
        assert (
            '-   "total": 5,' in rows and '+   "total": 6,' in rows and not any("word" in each for each in rows[1:])
        ), long
        # The error then tells no call of the user's.
        user.file("settled.test.mjs", imports + SETTLED)
        (first,) = user.json("test", "settled.test.mjs", *PATIENT)["failures"]
        assert (first["line"], first.get("frames", [])) == (4, []), first
        assert [(each["function"], each["result"]) for each in first["calls"]] == [("due", "0"), ("total", "6")]
        # Its report has but a stack of one that took too long, which says nothing of that.
        user.file("slow.test.mjs", imports + "it('is slow', async () => { await new Promise(() => {}); }, 50);\n")
        (slow,) = user.json("test", "slow.test.mjs", "--once", *PATIENT)["failures"]
        assert slow["type"] == "Error" and slow["message"].startswith("Test timed out in 50ms."), slow
        user.file("late.test.mjs", imports + "it('is early', () => { Promise.reject(new Error('late')); });\n")
        text = user.ok("test", "late.test.mjs", *PATIENT)
        assert ": 1 passed, none failed, and yet exit 1 after " in text and "\nError: late\n" in text, text
    if runner == "mocha":  # which tells paths from the project's folder on
        user.file("test/status.js", STATUS)
        (far,) = user.json("test", "test/status.js", "--once", *PATIENT)["failures"]
        assert [(each["function"], each["line"]) for each in far["frames"]] == [("<anonymous>", 3)], far


@pytest.mark.long
@pytest.mark.parametrize("runner", ["jest", "mocha"])
def test_a_run_that_was_held_at_a_red_test_goes_on_to_the_end_that_it_has_by_itself(user: User, runner: str) -> None:
    if not (GUESTS / runner).is_dir():
        missing(f"{runner} (./dev test brings it)")
    (user.here / "node_modules").symlink_to(GUESTS)
    name, imports, claim = RUNNERS[runner]
    user.file("package.json", f'{{"private": true, "scripts": {{"test": "{runner}"}}}}')
    user.file("shop.js", SHOP)
    user.file(name, imports + BODY.replace("CLAIM", claim))
    assert user.json("test", "--hold", *PATIENT)["held"]["session"] == "test"
    end = user.json("continue", *PATIENT)
    assert (end["state"], end["exit_code"]) == ("exited", 1), end
    assert "ENOENT" not in end.get("stderr", ""), "its report still has a place"
    if runner == "jest":  # which takes words behind a reporter for further ones
        assert user.json("test", "--once", *PATIENT, "--", "npx", "jest", "shop")["counts"]["total"] == 3


@pytest.mark.long
def test_mocha_tells_what_was_compared_as_it_is_and_what_ran_when_it_did_not_end(user: User) -> None:
    if not (GUESTS / "mocha").is_dir():
        missing("mocha (./dev test brings it)")
    (user.here / "node_modules").symlink_to(GUESTS)
    user.file("package.json", '{"private": true, "scripts": {"test": "mocha"}}')
    user.file("test/compared.js", COMPARED)
    told = user.json("test", "test/compared.js", "--all", *PATIENT)
    assert [[each["value"] for each in one["operands"]] for one in told["failures"]] == [
        ["Map(1) { 1 => 2 }", "Map(1) { 1 => 3 }"], ["'abc'", "/x/"], ["null", "5"], ["true", "'x'"], ["undefined", "'x'"],
    ]  # fmt: skip
    assert told["failures"][2]["id"] == "test/compared.js::compared::plainly::null"
    far = user.ok("test", "test/compared.js", "--all", "--once", *PATIENT, "--", "--parallel")
    assert "actual=null  expected=5" in far and "{}" not in far, far
    user.file("test/handed.js", HANDED)
    text = user.ok("test", "test/handed.js", *PATIENT)
    assert "it failed without an error thrown there" in text and "wanted=201" in text, text
    assert "so that there was nothing to hold" in user.ok("test", "test/handed.js", "--hold", *PATIENT)
    assert user.json("sessions")["sessions"] == []
    user.file("test/spins.js", "it('ends', () => {});\nit('spins', () => { for (;;); });\n")
    text = user.ok("test", "test/spins.js", "--timeout", "6")
    assert " in test/spins.js::spins; 1 passed by then (--timeout gives it more time; `dbg hang -- COMMAND`" in text, (
        text
    )
    user.file("package.json", '{"private": true, "scripts": {"test": "npm run unit", "unit": "mocha tdd/*.js"}}')
    user.file("tdd/one.js", "suite('is not there in bdd', () => {});\n")
    text = user.ok("test", *PATIENT)
    assert "ReferenceError: suite is not defined" in text and "node:internal" not in text, text


def test_a_runner_is_started_by_the_script_that_its_package_names(user: User) -> None:
    if not (GUESTS / "mocha").is_dir():
        missing("mocha (./dev test brings it)")
    user.file("package.json", '{"private": true, "scripts": {"test": "mocha"}}')
    user.file("node_modules/mocha/package.json", '{"version": "6.2.3", "bin": {"mocha": "./bin/mocha"}}')
    user.file("node_modules/mocha/bin/mocha", f"require({str(GUESTS / 'mocha' / 'bin' / 'mocha.js')!r});\n")
    user.file("test/one.js", "it('is one', () => {});\n")
    assert user.ok("test", *PATIENT).startswith("mocha 6.2.3, ")
    user.file("node_modules/mocha/package.json", '{"version": "6.2.3", "bin": 3}')
    user.fails("test", *PATIENT, code=5, error="adapter_missing")


COMPARED = """\
const assert = require("node:assert");
describe("compared", () => {
  describe("plainly", () => {
    it("null", () => assert.strictEqual(null, 5));
    it("true", () => assert.strictEqual(true, "x"));
    it("undefined", () => assert.strictEqual(undefined, "x"));
  });
  it("Map", () => assert.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])));
  it("pattern", () => assert.match("abc", /x/));
});
"""
HANDED = """\
it("is handed on", (done) => {
  const wanted = 201;
  const error = new Error(`expected ${wanted}`); // as libraries do that ask a server
  setImmediate(() => done(error));
});
"""
SETTLED = """\
const due = async (items) => total(items) - 6;
it("is settled", async () => {
  const items = [{ price: 2, qty: 3 }];
  await expect(due(items)).resolves.toBe(3);
});
"""
STATUS = """\
it("is made", () => {
  const status = 200;
  const error = new Error("expected 201"); // as libraries make it that say where they were asked
  error.stack += "\\n----\\n    at check (node_modules/mocha/index.js:1:1)\\n    at " + require.resolve("mocha") + ":2:1\\n"
    + "    at check (node_modules/mocha/index.js:3:1)";
  throw error;
});
"""

GO_SHOP = """\
package shop

func Total(prices []int) int {
	sum := 0
	for _, price := range prices[1:] {
		sum += price
	}
	return sum
}
"""
GO_TESTS = """\
package shop

import "testing"

func TestTotal(t *testing.T) {
	for _, tc := range []struct{ name string; want int }{{"few", 3}, {"many", 5}} {
		t.Run(tc.name, func(t *testing.T) {
			got := Total([]int{2, 3})
			if got != tc.want {
				t.Errorf("the total is %d",
					got)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	t.Skip("later")
}
"""


GO_PANIC = """
func TestPanics(t *testing.T) {
	var none []int
	t.Log(none[len(none)])
}

const table = "\\n\\tError Trace:\\tshop_test.go:1\\n\\tError:      \\tNot equal: \\n" +
	"\\t            \\texpected: %d\\n\\t            \\tactual  : %d" // as testify puts it

func TestTable(t *testing.T) {
	t.Errorf(table, 5, Total([]int{2, 3}))
}

func ExampleTotal() {
	os.Stdout.WriteString(strconv.Itoa(Total([]int{2, 3})))
	// Output: 5
}
"""


@pytest.mark.long
def test_a_failing_go_test_is_held_where_it_says_so(user: User) -> None:
    if shutil.which("go") is None or find(GO.needs[0], os.environ, "/").path is None:
        missing("go, or dlv,")
    user.file("go.mod", "module example/shop\n\ngo 1.21\n")
    user.file("shop.go", GO_SHOP)
    user.file("shop_test.go", GO_TESTS)
    report = user.json("test", *PATIENT)
    assert (report["runner"], report["verdict"], report["ran"]) == ("go", "red", 2)
    assert report["counts"] == {"total": 3, "passed": 1, "failed": 1, "skipped": 1}
    first = report["failures"][0]
    assert (first["id"], first["message"]) == ("shop_test.go::TestTotal/many", "the total is 3")
    told = values(first["frames"][0])
    assert next(iter(told)) == "got", "which the statement uses, in a line behind the one where it stands"
    assert (told["got"], told["tc"]) == ("3", '{name: "many", want: 5}')
    assert report["notes"] == ["the calls that made these values are not told: what go runs has no recorder"]
    said = user.fails("test", "TestTotl", *PATIENT, code=1, error="not_found")
    assert "nearest: shop_test.go::TestTotal" in said
    assert "shop_test.go::TestTotal/many at shop_test.go" in user.ok("test", "TestTotal/many", *PATIENT)
    for nothing in ("TestTotal/none", "shop_test.go::TestTotal/none"):
        said = user.fails("test", nothing, *PATIENT, code=1, error="not_found")
        assert f"go finds no test that matches {nothing}" in said
    user.file("shop_test.go", GO_TESTS.replace("got != tc.want", "got != nothing"))
    text = user.ok("test", *PATIENT)
    assert "1 file of tests could not be read" in text and "undefined: nothing" in text
    assert "note: " not in text, "there are no values that any calls could have made"
    user.file("shop_test.go", GO_TESTS.replace('import "testing"', 'import ("os"; "strconv"; "testing")') + GO_PANIC)
    report = user.json("test", "--once", *PATIENT)
    assert report["counts"]["total"] == 4, "of seven"
    assert report["failures"][0]["id"].endswith("/many")
    text = user.ok("test", "TestTable", *PATIENT)
    assert (
        "\n  Error: Not equal:\n  expected: 5\n  actual : 3\n" in text
        and "t.Errorf(table, 5, Total([]int{2, 3}))    actual=3 expected=5" in text
    )
    text = user.ok("test", "ExampleTotal", *PATIENT)
    assert ": 1 of 1 failed\nshop_test.go::ExampleTotal\n  got:\n  3\n  want:\n  5\n" in text, (
        "run once: it fails when it is over"
    )
    (note,) = report["notes"]
    assert (
        note == "the panic in shop_test.go::TestPanics ended the tests of its package: what comes behind it was not run"
    )


RUST = """\
pub fn total(prices: &[u32]) -> u32 {
    prices[1..].iter().sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds_up() {
        let prices = vec![2, 3];
        let got = super::total(&prices);
        assert_eq!(got, 5);
    }

    #[test]
    fn good() {}
}
"""


@pytest.mark.long
def test_a_panicking_rust_test_is_held_where_it_panics(user: User) -> None:
    if shutil.which("cargo") is None or shutil.which("gdb") is None:
        missing("cargo, or gdb,")
    user.file("Cargo.toml", '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n')
    user.file("src/lib.rs", RUST)
    report = user.json("test", *PATIENT)
    assert (report["runner"], report["verdict"], report["ran"]) == ("cargo", "red", 2)
    first = report["failures"][0]
    assert (first["id"], first["file"], first["line"]) == ("tests::adds_up", "src/lib.rs", 11)
    assert [(each["name"], each["value"]) for each in first["operands"]] == [("left", "3"), ("right", "5")]
    assert values(first["frames"][0])["got"] == "3"
    assert report["notes"] == ["the calls that made these values are not told: what cargo runs has no recorder"]
    assert "green, 1 passed (1 deselected)" in user.ok("test", "tests::good", *PATIENT)
    said = user.fails("test", "tests::adds_upp", *PATIENT, code=1, error="not_found")
    assert "cargo finds no test that matches tests::adds_upp; nearest: adds_up" in said, said
    user.file(
        "src/lib.rs", "/// ```\n/// assert_eq!(shop::total(&[2, 3]), 6);\n/// ```\n" + RUST.replace("got, 5", "got, 3")
    )
    text = user.ok("test", *PATIENT)
    assert ": 1 of 3 failed\nsrc/lib.rs - total (line 1) at src/lib.rs:2\n" in text, "an example of the documentation"
    assert "left=3 right=6" in text and "which of its lines failed is not known" in text
    assert ": 1 of 1 failed" in user.ok("test", "src/lib.rs - total (line 1)", *PATIENT)


PROGRAM = """\
mod price;
fn main() {
    println!("{}", price::net(3));
}
#[cfg(test)]
mod tests {
    #[test]
    fn begins() {
        let got: Result<i32, std::num::ParseIntError> = "4".parse();
        assert_eq!(got, Ok(4));
    }
}
"""
PRICE = """\
pub fn net(pieces: i32) -> i32 {
    pieces * 2
}
#[cfg(test)]
mod tests {
    #[test]
    fn an_error() -> Result<(), std::num::ParseIntError> {
        "x".parse::<i32>().map(|_| ())
    }
    #[test]
    fn nets() {
        let got = super::net(3);
        assert_eq!(got, 9);
    }
}
"""


@pytest.mark.long
def test_files_and_directories_of_a_cargo_workspace_choose_their_tests(user: User) -> None:
    if shutil.which("cargo") is None or shutil.which("gdb") is None:
        missing("cargo, or gdb,")
    user.file("Cargo.toml", '[workspace]\nmembers = ["app", "lib"]\nresolver = "2"\n')
    for name in ("app", "lib"):
        user.file(f"{name}/Cargo.toml", f'[package]\nname = "shop-{name}"\nversion = "0.1.0"\nedition = "2021"\n')
    user.file("app/src/main.rs", PROGRAM)
    user.file("app/src/price.rs", PRICE)
    user.file("lib/src/lib.rs", "#[test]\nfn stands() {}\n")
    user.file("lib/tests/whole.rs", "#[test]\nfn goes() {}\n")
    told = user.json("test", "app/src/price.rs", *PATIENT)
    assert (told["counts"]["total"], told["counts"]["failed"]) == (2, 2), (
        "a program without a library, and one module of it"
    )
    assert [each["id"] for each in told["failures"]] == ["price::tests::nets", "price::tests::an_error"], "places first"
    assert values(told["failures"][0]["frames"][0])["got"] == "6"
    places = (".", "app", "lib", "lib/tests")
    totals = {each: user.json("test", each, "--once", *PATIENT)["counts"]["total"] for each in places}
    assert totals == {".": 5, "app": 3, "lib": 2, "lib/tests": 1}
    assert "green, 1 passed" in user.ok("test", "app/src/main.rs::begins", *PATIENT)


@pytest.mark.long
def test_a_cargo_test_that_was_chosen_by_a_word_or_has_a_namesake_in_the_workspace_is_looked_at(user: User) -> None:
    if shutil.which("cargo") is None or shutil.which("gdb") is None:
        missing("cargo, or gdb,")
    user.file("Cargo.toml", '[workspace]\nmembers = ["one", "two"]\nresolver = "2"\n')
    test = "    #[test]\n    fn it_works() {\n        let got = SUM;\n        assert_eq!(got, 4);\n    }\n"
    for name, made in (("one", "2 + 2"), ("two", "3 + 2")):
        user.file(f"{name}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n')
        user.file(f"{name}/src/lib.rs", "#[cfg(test)]\nmod tests {\n" + test.replace("SUM", made) + "}\n")
    for words in (("test",), ("test", "--", "cargo", "test", "-p", "two", "works")):
        told = user.json(*words, *(() if len(words) > 1 else PATIENT))
        assert (told["verdict"], told["counts"]["failed"], told["ran"]) == ("red", 1, 2), words
        assert told["failures"][0]["file"] == "two/src/lib.rs"
        assert values(told["failures"][0]["frames"][0])["got"] == "5", "of the second run, under a debugger"
