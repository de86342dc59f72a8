"""Which variables of a loop's block have no value yet where the program is held (`@`), by the text alone."""

from __future__ import annotations

import pytest

from stillframe.backends.cdp.declarations import is_of_earlier_round, is_uninitialised


def asked(block: str) -> tuple[list[str], tuple[int, int], list[dict[str, object]]]:
    before = block.partition("@")[0].split("\n")
    lines = block.replace("@", "").split("\n")
    end = {"lineNumber": len(lines) - 1, "columnNumber": len(lines[-1])}
    scope = {"type": "block", "startLocation": {"lineNumber": 0, "columnNumber": 0}, "endLocation": end}
    return lines, (len(before) - 1, len(before[-1])), [scope]


@pytest.mark.parametrize(
    ("block", "name"),
    [
        ("{\n  @use(1);\n  const x = 2;\n}", "x"),
        ("{\n  const x = @f(1);\n}", "x"),
        ("{\n  const x = f(1)\n    .@g();\n}", "x"),
        ("{\n  const x = {\n    a: @f(),\n  };\n}", "x"),
        ("{\n  @use(1); // x\n  let { a, b: x } = y;\n}", "x"),
        ("{\n  @use('x = 1')\n  class x {}\n}", "x"),
    ],
)
def test_what_is_declared_here_or_later_in_a_round_has_no_value_yet(block: str, name: str) -> None:
    assert is_of_earlier_round(name, *asked(block))


@pytest.mark.parametrize(
    ("block", "name"),
    [
        ("{\n  const x = 2;\n  @use(x);\n}", "x"),
        ("{\n  @use(1);\n  const a = f(1, x);\n}", "x"),
        ("{\n  @use(1);\n  if (a) { const x = 1; }\n}", "x"),
        ("{\n  @use(1);\n  const f = () => {\n    const x = 1;\n  };\n}", "x"),
        ("{\n  const x = later(() => { @use(1); });\n}", "x"),
        ("{\n  const x = f(1), y = @g();\n}", "x"),
        ("{\n  @use(1);\n  var x = 2;\n}", "x"),
        ("{\n  @use(1);\n  const y = o.x;\n}", "x"),
    ],
)
def test_a_variable_that_may_have_its_value_is_told(block: str, name: str) -> None:
    assert not is_of_earlier_round(name, *asked(block))


def test_a_value_that_is_being_made_over_several_lines_is_not_there_yet() -> None:
    assert is_uninitialised("x", *asked("{\n  const x = await f(\n    a(),\n    @b(),\n  );\n}"))
    assert not is_uninitialised("x", *asked("{\n  const x = void 0\n  @b()\n}"))


def test_a_name_in_a_text_or_a_comment_before_its_declaration_gives_it_no_value() -> None:
    assert is_uninitialised(
        "cart", *asked("{\n  const m = require('./cart.js'); // cart\n  @f();\n  const cart = m();\n}")
    )
    assert not is_uninitialised("cart", *asked("{\n  const cart = require('./cart.js');\n  @f();\n}"))
