"""Two walks through the same places, compared."""

from __future__ import annotations

from stillframe.model.outcomes import Exited, Stop
from stillframe.model.values import Frame, Value
from stillframe.ops.walking import Walk, first_difference

TEST, NET = range(2)
"""The places: the line that the test failed in, and one of a function that it calls."""


def in_test(line: int) -> Stop:
    frame = Frame(function="test", file="t.py", line=line)
    return Stop(reason="breakpoint", thread="t1", frame=frame, stack=(frame,))


def in_net(amount: str, line: int, thread: str = "t1") -> Stop:
    inner = Frame(function="net", file="p.py", line=2)
    stack = (inner, Frame(function="test", file="t.py", line=line))
    return Stop(
        reason="breakpoint", thread=thread, frame=inner, stack=stack, locals=(Value(name="amount", value=amount),)
    )


def test_what_an_older_run_did_behind_the_line_that_failed_is_no_difference() -> None:
    then = Walk(((NET, in_net("1", 6)), (TEST, in_test(7)), (NET, in_net("5", 8))), Exited(exit_code=0))
    now = Walk(((NET, in_net("1", 6)), (TEST, in_test(7)), (NET, in_net("2", 7))), Exited(exit_code=1))
    found = first_difference(then, now, failed_in=TEST)
    assert found is not None
    assert (found.function, found.hit, found.hits, found.differences) == ("net", 2, (1, 2), ())
    whole = first_difference(then, now)
    assert whole is not None and whole.differences, "which are of two different calls"
    same = Walk((*then.seen[:2], (NET, in_net("5", 6, "t2"))), then.end)
    other = first_difference(same, Walk((*then.seen[:2], (NET, in_net("6", 6, "t2"))), now.end), failed_in=TEST)
    assert other is not None and other.differences[0].new == "6", "another thread is not behind that line"
