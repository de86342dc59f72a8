"""A recorded call, read as its life."""

from __future__ import annotations

from stillframe.model.recorder import AnySaid, Call, Line, Raised, Threw
from stillframe.ops.lives import told


def test_an_exception_is_told_at_the_line_that_raised_it_and_not_at_what_cleaned_up_behind_it() -> None:
    said: list[AnySaid] = [Call(1, 0, "load", "/app.py", 4), Line(1, 5), Raised(1, "KeyError: 'a'"), Line(1, 6)]
    said += [Raised(1, "ValueError: no"), Line(1, 8)]
    for exception, line in (("ValueError: no", 6), ("OSError: of what cleaned up", 8)):
        life = told([*said, Threw(1, exception)], lambda file: file, lambda file, line: "").life
        assert life is not None and (life.end, life.result, life.at) == ("raised", exception, line)
