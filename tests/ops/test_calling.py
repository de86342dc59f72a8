"""What is said of the runs of a flaky program where neither its lines nor its calls show what a failing one does otherwise."""

from __future__ import annotations

from stillframe.model.reports import Repeated
from stillframe.ops.calling import better
from stillframe.ops.repeating import NONE


def test_that_nothing_is_otherwise_is_said_once_and_only_of_runs_that_could_be_compared() -> None:
    calls = told(f"{NONE}; 1 of 4 further runs failed, recorded")
    both = better(told(f"{NONE}; 2 of 4 further runs failed, held"), calls)
    assert (
        both.compared
        == f"{NONE}; 2 of 4 further runs failed, held; nor in others: 1 of 4 further runs failed, recorded"
    )
    both = better(told("no difference to tell: none of them failed; 0 of 12 further runs failed, held"), calls)
    assert both.compared == (
        "no difference to tell: none of them failed; 0 of 12 further runs failed, held; "
        f"in others: {NONE}; 1 of 4 further runs failed, recorded"
    )


def told(compared: str) -> Repeated:
    return Repeated(runs=4, failed=1, asked=4, compared=compared)
