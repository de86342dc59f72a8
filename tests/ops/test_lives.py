"""A recorded call, read as its life."""

from __future__ import annotations

from stillframe.model.recorder import AnySaid, Call, Limited, Line, Raised, Threw, Yielded
from stillframe.model.traces import Step
from stillframe.ops.lives import told


def test_an_exception_is_told_at_the_line_that_raised_it_and_not_at_what_cleaned_up_behind_it() -> None:
    said: list[AnySaid] = [Call(1, 0, "load", "/app.py", 4), Line(1, 5), Raised(1, "KeyError: 'a'"), Line(1, 6)]
    said += [Raised(1, "ValueError: no"), Line(1, 8)]
    for exception, line in (("ValueError: no", 6), ("OSError: of what cleaned up", 8)):
        life = told([*said, Threw(1, exception)], lambda file: file, lambda file, line: "").life
        assert life is not None and (life.end, life.result, life.at) == ("raised", exception, line)


def test_what_a_generator_gave_after_its_lines_were_too_many_is_not_told_of_the_last_of_them() -> None:
    said: list[AnySaid] = [Call(1, 0, "count", "/app.py", 4), Line(1, 5), Yielded(1, "1"), Line(1, 5), Yielded(1, "2")]
    life = told([*said, Limited(1, "lines"), Yielded(1, "3")], lambda file: file, lambda file, line: "").life
    assert life is not None and life.yielded == ("1", "2", "3")
    assert [each.yielded for each in life.steps if isinstance(each, Step)] == ["1", "2"]
