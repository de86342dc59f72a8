"""Of many calls behind a failure those are told that gave what the failing line holds."""

from __future__ import annotations

from stillframe.model import tested
from stillframe.model.tested import MadeCall
from stillframe.model.values import Value
from stillframe.ops.reproducing import otherwise
from stillframe.ops.telling import GAVE, NEAR, NOTHING, OTHER, best, folded, ranked


def call(function: str, result: str | None, depth: int = 0, raised: str | None = None) -> MadeCall:
    return MadeCall(function=function, result=result, depth=depth, raised=raised)


MADE = [
    call("Schema", "None"),
    call("is_iterable", "True", 1),
    call("validate", "{'a': ['low']}"),
    call("load", None, 1, raised="Invalid: low"),
    call("store", "None", 2),
    call("merge", "{'a': ['low']}", 3),
    call("copy", "['low']", 4),
    call("clear", "None", 2),
]


def test_calls_that_gave_the_value_come_first_with_those_that_made_and_helped_them() -> None:
    failure = tested.TestFailure(id="t", operands=(Value(name="errors", value="{'a': ['low']}"),))
    calls = ranked(MADE, failure)
    assert [each.rank for each in calls] == [OTHER, OTHER, GAVE, GAVE, GAVE, GAVE, NEAR, NOTHING]
    assert [each.function for each in calls if each.between] == ["Schema", "load", "store"]
    assert [each.function for each in best(calls, 5)] == ["validate", "load", "store", "merge", "copy"]


def test_a_value_that_many_calls_return_says_nothing_of_where_it_came_from() -> None:
    calls = ranked(MADE, tested.TestFailure(id="t", operands=(Value(name="found", value="True"),)))
    assert GAVE not in [each.rank for each in calls]
    assert best(calls, 1)[0].function == "validate", "the last call of the test itself"


def test_equal_calls_that_follow_each_other_are_told_once() -> None:
    assert [each.count for each in folded([MADE[1], MADE[1], MADE[2], MADE[1]])] == [2, 1, 1]


def test_a_further_run_that_failed_with_other_values_is_said_to_have() -> None:
    failure = tested.TestFailure(id="t", message="expected 17.85 to equal 13.5\n")
    assert otherwise(failure, "\x1b[31mexpected  17.85\x1b[39m to equal 13.5\n\n- 13.5\n+ 17.85") is None
    assert otherwise(failure, "") is None, "the debugger told no message"
    assert "(expected 14.85 to equal 13.5)" in (otherwise(failure, "expected 14.85 to equal 13.5") or "")


def test_a_generator_whose_values_make_what_the_line_holds_gave_it() -> None:
    failure = tested.TestFailure(id="t", operands=(Value(name="got", value="[(1, 2), (None, None)]"),))
    gave = MadeCall(function="windows", result="None", yielded=("(1, 2)", "(None, None)"), yielded_total=2)
    other = MadeCall(function="windows", result="None", yielded=("(1, 2)", "(3, 4)"), yielded_total=2)
    assert [each.rank for each in ranked([gave, other, call("last", "None")], failure)] == [GAVE, OTHER, NOTHING]


def test_a_call_that_gave_what_the_giver_was_given_is_near_and_so_is_one_that_gave_a_part_of_the_value() -> None:
    text = "{'bar': ['low'], 'foo': ['high']}"
    failure = tested.TestFailure(id="t", operands=(Value(name="errors", value=text),))
    merged = MadeCall(function="merge", result=text, arguments=(Value(name="one", value="{'bar': ['low']}"),))
    made = [call("copy", "{'bar': ['low']}"), call("merge", "{'bar': ['low']}"), call("pair", f"({text}, 1)")]
    parts = [call("part", "'foo': ['high']"), call("short", "'foo'")]
    calls = ranked([*made, *parts, merged, call("last", "None")], failure)
    assert [each.rank for each in calls] == [OTHER, NEAR, GAVE, NEAR, OTHER, GAVE, NOTHING]
