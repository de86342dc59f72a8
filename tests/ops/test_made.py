"""The calls behind a failure, read from the recording of a second run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stillframe.adapters.runners.stacks import makers
from stillframe.model import tested
from stillframe.model.outcomes import Exited
from stillframe.model.reports import ReportFrame
from stillframe.ops.made import is_same, with_calls
from stillframe.render.tested import report

TOLD = [
    ["hello", 7, 1, "CPython 3.12.1", "sys.monitoring"],
    ["call", 1, 0, "test", "/t.py", 3],
    ["call", 2, 1, "net", "/t.py", 1, [["amount", "50"]], 0, ["test", "/t.py", 4]],
    ["ret", 2, "30"],
    ["call", 3, 1, "Price.__repr__", "/t.py", 9, [], 0, ["test", "/t.py", 4]],
    ["ret", 3, "'Price(30)'"],
    ["exc", 1, "AssertionError: assert 30 == 40"],
]


@pytest.mark.parametrize(
    ("expression", "told"),
    [("assert net(50) == 40", ["net"]), ("assert f'{net(50)!r}' == ''", ["net", "Price.__repr__"])],
)
def test_a_repr_by_which_the_runner_tells_of_the_failure_did_not_lead_to_it(
    tmp_path: Path, expression: str, told: list[str]
) -> None:
    (tmp_path / "7-1.told").write_text("".join(json.dumps(each) + "\n" for each in TOLD))
    frames = (ReportFrame(function="test", file="/t.py", line=4),)
    failed = tested.TestFailure(id="t", type="AssertionError", expression=expression, frames=frames, makers=(4,))
    found = with_calls(failed, tmp_path, "/", alone=False)
    assert found is not None and [each.function for each in found.calls] == told


def test_of_a_generator_the_values_that_it_gave_are_told_the_first_and_the_last_of_many(tmp_path: Path) -> None:
    told: list[list[object]] = [
        *TOLD[:2],
        ["call", 2, 1, "turns", "/t.py", 1, [], 0, ["test", "/t.py", 4]],
        *(["yield", 2, str(number), [["n", str(number)]]] for number in range(100)),
        ["ret", 2, "None"],
        TOLD[-1],
    ]
    (tmp_path / "7-1.told").write_text("".join(json.dumps(each) + "\n" for each in told))
    frames = (ReportFrame(function="test", file="/t.py", line=4),)
    failed = tested.TestFailure(id="t", type="AssertionError", frames=frames, makers=(4,))
    found = with_calls(failed, tmp_path, "/", alone=False)
    assert found is not None
    (call,) = found.calls
    assert (call.yielded, call.yielded_total) == (("0", "1", "2", "3", "4", "5", "6", "7", "99"), 100)
    assert [each.value for each in call.values] == ["99"], "what was changed when it gave a value"
    result = tested.TestReport(
        runner="pytest", verdict="red", command=("pytest",), end=Exited(exit_code=1), failures=(found,)
    )
    (row,) = (each for each in report(result, 4000).splitlines() if "turns(" in each)
    assert row.strip() == "turns() yielded 100 values: 0, 1, 2, 3, 4, 5, 6, 7, … 99 t.py:1  n=99"


def test_the_lines_that_made_what_a_failing_line_uses_are_found_in_typescript_too(tmp_path: Path) -> None:
    rows = [
        "const given: Map<string, number> = load('a');",
        "const { price: cost, ...rest }: Item = given.get('x')!;",
        "let other: () => number;",
        "const got: number = total(cost, rest);",
        "expect(got).toBe(90);",
    ]
    (tmp_path / "cart.test.ts").write_text("\n".join(rows))
    assert makers(tmp_path / "cart.test.ts:5") == ((1, 2, 4, 5), ("got",))


def test_the_lines_that_give_values_to_parts_of_what_a_failing_line_uses_are_found(tmp_path: Path) -> None:
    rows = [
        "const one = price(1);",
        "const other = {};",
        "const prices = {};",
        "other.x = price(9);",
        "for (const n of [0, 1]) prices[n] = price(n);",
        "prices.late ??= one;",
        "if (prices.late === one || prices[0] == other.y) log(1);",
        "delete prices[1];",
        "assert.deepStrictEqual(prices, {});",
    ]
    (tmp_path / "p.test.js").write_text("\n".join(rows))
    assert makers(tmp_path / "p.test.js:9")[0] == (1, 3, 5, 6, 8, 9)


@pytest.mark.parametrize(
    ("above", "named"),
    [
        ("beforeEach(() => { seed = ' A'; });", ()),
        ("test('other', () => { const seed = 4; const got = made(seed); });", ()),
        ("beforeEach(() => { seed = make(' A'); });", ("seed",)),
        ("const seed = `${base}-1`;", ("seed",)),
        ("const other = first(), seed = null;", ()),
        ("const seed = made(1);\n});\ntest('this', () => {\n  const seed = 4;", ()),
    ],
)
def test_calls_are_said_to_have_made_no_name_whose_value_is_written_out(
    tmp_path: Path, above: str, named: tuple[str, ...]
) -> None:
    rows = [*above.splitlines(), "assert.strictEqual(mk(seed), 6);"]
    (tmp_path / "a.test.js").write_text("\n".join(rows))
    assert makers(Path(tmp_path, f"a.test.js:{len(rows)}"))[1] == named


@pytest.mark.parametrize(
    ("raised", "same"),
    [
        ("RangeError: bad id -1", False),
        ("Error: bad id -1", True),
        ("cart.Error: bad id -1", True),
        ("JestAssertionError: expect(received).resolves.toBeDefined()", True),
    ],
)
def test_another_error_whose_class_only_ends_alike_is_not_the_failure(raised: str, same: bool) -> None:
    failed = tested.TestFailure(id="t", type="Error", message="expect(received).resolves.toBeDefined()")
    assert is_same(raised, failed) is same
