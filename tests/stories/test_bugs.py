"""The twenty faulty programs of examples/bugs: one call shows the faulty value and the line that made it wrong."""

from __future__ import annotations

import os
import shlex
import subprocess
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
    if said.code == MISSING and os.environ.get("STILLFRAME_ALL") != "1":
        pytest.skip(said.err)
    assert (said.code, said.err) == (0, "")
    told = said.out
    assert [each for each in bug.shows if each not in told] == [], told
    assert bug.made in told or bug.source() in told, told
    assert len(told) <= BUDGET
    assert user.json("sessions")["sessions"] == []
    assert fails_as_it_says(bug, user.here, path)


def fails_as_it_says(bug: Bug, here: Path, path: str) -> bool:
    """Whether the failing command does, by itself: one that never ends was ended by `hang`, which told what it waits for."""
    if bug.ends == "never":
        return bug.ask.startswith("hang ") and bug.ask.endswith(bug.fails)
    env = {**os.environ, "PATH": path}
    run = subprocess.run(shlex.split(bug.fails), cwd=here, env=env, capture_output=True, text=True)
    assert (str(run.returncode), bug.says in run.stdout + run.stderr) == (bug.ends, True), run
    return True


def test_the_manifest_names_every_program_and_no_other() -> None:
    assert len(bugs()) == 20
    assert set(bugs()) == {each.parent.name for each in Path("examples/bugs").glob("*/*.*")}
