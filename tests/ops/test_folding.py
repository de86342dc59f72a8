"""Loops are folded by the ways their turns went, whatever told of the lines."""

from __future__ import annotations

from stillframe.model.outcomes import Change
from stillframe.model.traces import Loop, Step
from stillframe.ops.folding import Fold, inferred, kind


def walked(lines: list[int], loops: list[tuple[int, int]]) -> list[object]:
    """A number for each line outside of loops, and (turns, ways, turns told) for each loop."""
    fold = Fold(loops)
    for line in lines:
        fold.take(Step(line=line))
    return [
        (each.turns, each.ways, [turn.number for turn in each.told]) if isinstance(each, Loop) else each.line
        for each in fold.steps()
    ]


def test_the_last_look_at_the_header_is_no_turn() -> None:
    assert walked([1, 2, 3, 2, 3, 2, 4], [(2, 3)]) == [1, (2, 1, [1, 2]), 4]
    assert walked([1, 2, 4], [(2, 3)]) == [1, (0, 1, [0]), 4]
    assert walked([1, 2, 3, 2, 3], [(2, 3)]) == [1, (2, 1, [1, 2])], "it was left in the middle"


def test_a_loop_in_one_line_is_folded_and_a_last_look_that_changes_something_is_a_turn() -> None:
    for last in ((), (Change(name="n", new="0"),)):
        fold = Fold([(2, 2)])
        for number in range(30):
            fold.take(Step(line=2, changes=(Change(name="n", new=str(30 - number)),)))
        fold.take(Step(line=2, changes=last))
        (loop,) = fold.steps()
        assert isinstance(loop, Loop) and (loop.turns, loop.ways) == (30 + len(last), 1)


def test_turns_that_went_another_way_are_told_once_each() -> None:
    lines = [turn for number in range(100) for turn in ([1, 2, 3] if number % 10 == 4 else [1, 3])]
    assert walked([*lines, 1], [(1, 3)]) == [(100, 2, [1, 5, 100])]


def test_a_loop_in_a_loop_is_folded_in_each_turn() -> None:
    inner = [2, 3, 2, 3, 2]
    assert walked([1, *inner, 4, 1, *inner, 4, 1, 5], [(1, 4), (2, 3)]) == [(2, 1, [1, 2]), 5]


def test_a_value_of_another_sort_makes_a_turn_worth_telling() -> None:
    fold = Fold([(1, 2)])
    for price in ("1.5", "2", "'12.50'", "3"):
        fold.take(Step(line=1))
        fold.take(Step(line=2, changes=(Change(name="price", new=price),)))
    (loop,) = fold.steps()
    assert isinstance(loop, Loop)
    assert [(turn.number, turn.why) for turn in loop.told] == [(1, "first"), (3, "differs"), (4, "last")]
    assert [kind(each) for each in ("-1.5e3", "NaN", "None", "Cart(items=[])", "[1]", "true", "0x5f {a = 1}")] == [
        "number", "nan", "None", "Cart", "[", "bool", "address",
    ]  # fmt: skip


def test_the_turn_in_which_a_number_becomes_none_is_told() -> None:
    fold = Fold([(1, 2)])
    for mean in ("1.5", "inf", "2.5", "nan", "nan", "nan"):
        fold.take(Step(line=1))
        fold.take(Step(line=2, changes=(Change(name="mean", new=mean),)))
    (loop,) = fold.steps()
    assert isinstance(loop, Loop)
    assert [(turn.number, turn.why) for turn in loop.told] == [(1, "first"), (4, "differs"), (6, "last")]


def test_loops_that_nobody_told_of_are_known_by_coming_back() -> None:
    sources = {5: "    for item in items {", 6: "        if item.qty > best {"}
    assert inferred([4, 5, 6, 7, 5, 6, 7, 5, 9], sources) == ((5, 7),)
    assert inferred([4, 5, 6, 7, 6, 5, 6, 7, 6, 5, 9], sources) == ((5, 7),), (
        "the end of a branch is told as its first line"
    )
