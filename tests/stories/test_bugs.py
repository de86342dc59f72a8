"""The twenty faulty programs of examples/bugs: one call shows the faulty value and the line that made it wrong."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from bench.bugs import Bug, bugs

from .conftest import User

BUDGET = 4000
MISSING = 5


@pytest.fixture(params=bugs().values(), ids=lambda bug: bug.name)
def bug(request: pytest.FixtureRequest, user: User) -> Bug:
    made: Bug = request.param
    user.here = made.laid_out(user.here)
    return made


def test_one_call_shows_the_faulty_value_and_the_line_that_made_it_wrong(bug: Bug, user: User) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # where pytest is
    said = user.says(*shlex.split(bug.ask), env={"PATH": path})
    if said.code == MISSING and not os.environ.get("STILLFRAME_ALL"):
        pytest.skip(said.err)
    assert (said.code, said.err) == (0, "")
    told = said.out
    assert [each for each in bug.shows if each not in told] == [], told
    assert len(told) <= BUDGET
    assert user.json("sessions")["sessions"] == []


def test_the_manifest_names_every_program_and_no_other() -> None:
    assert set(bugs()) == {each.parent.name for each in Path("examples/bugs").glob("*/*.*")}
