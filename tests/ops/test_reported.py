"""Which error a program is said to have caught before it gave up."""

from __future__ import annotations

from stillframe.model.outcomes import Exited
from stillframe.model.reports import Failure
from stillframe.model.values import ExceptionInfo
from stillframe.ops.failing import Watched
from stillframe.ops.reported import EACH, handled_before

GAVE_UP = Failure(what="SystemExit: 1", kind="exit", exception=ExceptionInfo(type="SystemExit", message="1"))


def errors(count: int) -> list[Failure]:
    return [Failure(what=f"ValueError: {n}", kind="exception") for n in range(count)]


def test_it_is_the_last_of_them_and_not_said_to_be_the_very_last_where_not_each_was_looked_at() -> None:
    seen = Watched(end=Exited(exit_code=1), raised=errors(3))
    found = handled_before(seen, GAVE_UP)
    assert found is not None
    assert (found.what, found.notes) == ("ValueError: 2", ("the last of 3 errors that it caught and reported",))
    many = handled_before(Watched(end=Exited(exit_code=1), raised=errors(EACH)), GAVE_UP)
    assert many is not None and "looked at" in many.notes[0]


def test_there_is_none_of_a_good_end_of_another_process_or_where_the_end_tells_it_already() -> None:
    assert handled_before(Watched(end=Exited(exit_code=0), raised=errors(1)), None) is None
    child = Failure(what="ValueError: 0", kind="exception", process="shop.1")
    assert handled_before(Watched(end=Exited(exit_code=1), raised=[child]), GAVE_UP) is None
    cause = ExceptionInfo(type="ValueError", message="0", link="context")
    told = Failure(what="SystemExit: 1", kind="exit", exception=ExceptionInfo(type="SystemExit", causes=(cause,)))
    assert handled_before(Watched(end=Exited(exit_code=1), raised=errors(1)), told) is None
    raised = Failure(what="KeyError: 1", kind="exception")
    assert handled_before(Watched(end=Exited(exit_code=1), raised=errors(1)), raised) is None
