"""The calls that made what a failing line uses, from a second run of the tests that records itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..adapters.recorders import Recording, read
from ..model.recorder import Ask, Call, Line, Raised, Returned, Threw, TraceAsk, Where, Yielded
from ..model.reports import ReportFrame
from ..model.tested import MadeCall, TestFailure
from ..model.values import Value
from .lives import Gave
from .telling import best, folded, ranked

DEPTH = 6
"""How far below the test the lines of calls are recorded; what is called there is recorded by arguments and result."""
DEEP = 20
"""Calls of itself beyond which a function's recursion is the story, and not what it was given."""
MOST_LINES, MOST_CALLS = 200_000, 5_000
SHOWN = 40
"""Calls that a report carries."""
LOCALS = 4


class Node(msgspec.Struct):
    """A recorded call, with those that it made."""

    call: Call
    parent: Node | None = None
    calls: list[Node] = msgspec.field(default_factory=list["Node"])
    locals: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    line: int | None = None
    returned: str | None = None
    raised: str | None = None
    gave: Gave = msgspec.field(default_factory=Gave)
    handled: list[tuple[str, int]] = msgspec.field(default_factory=list[tuple[str, int]])
    """What was raised in it, whoever handled it, and how many calls it had made by then."""


def ask_for(failure: TestFailure, cwd: str, ordinal: int, *, alone: bool) -> Ask | None:
    """What to record in the second run: the call of the test that failed. None where no call made anything.

    Where the runner calls each test by itself (`alone`), calls beyond its own code are of those tests that made this one.
    """
    if given := failure.given:
        where = Where(file=str(Path(given.file).resolve()), line=given.line)
        return Ask(trace=_traced(where, given.number))
    if not failure.makers or (failure.frames and failure.frames[0].times > DEEP):
        return None
    test = _own(failure, alone=alone)[-1] if failure.frames else failure  # whose own place is then that of the test
    if test.file is None or test.line is None:
        return None
    where = Where(file=str(Path(cwd, test.file).resolve()), line=test.line)
    return Ask(trace=_traced(where, ordinal))


def _traced(where: Where, number: int) -> TraceAsk:
    return TraceAsk(where=where, call=number, depth=DEPTH, most_lines=MOST_LINES, most_calls=MOST_CALLS)


def _own(failure: TestFailure, *, alone: bool) -> tuple[ReportFrame, ...]:
    """The calls from the failing one out to the test itself."""
    gap = next((at for at, each in enumerate(failure.frames) if at and each.folded), len(failure.frames))
    return failure.frames[:gap] if alone else failure.frames


def with_calls(failure: TestFailure, folder: Path, cwd: str, *, alone: bool) -> TestFailure | None:
    """The failure with the calls behind it; None where the recorded run did not fail in that call."""
    roots = [root for each in read(folder) if (root := _tree(each)) is not None]
    if failure.given:
        return _told_of(failure, roots[:1], cwd) if roots else None
    ended = next((each for each in roots if each.raised is not None), None)
    if ended is None or not is_same(ended.raised, failure):
        ended = next((found for each in roots if (found := _up_to_handled(each, failure))), None)
    if ended is None:
        return None
    failed = _failed(ended, len(_own(failure, alone=alone)) - 1)
    lines = set(failure.makers)
    made = [each for each in failed.calls if each.call.caller is None or each.call.caller[2] in lines]
    made = [each for each in made if not _is_for_show(each, failure)]
    return _told_of(failure, made, cwd)


def _told_of(failure: TestFailure, made: list[Node], cwd: str) -> TestFailure:
    """The failure with these calls and those below them, as far as it did not come out of them."""
    below = [pair for each in made for pair in _below(each, 0) if not is_same(pair[0].raised, failure)]
    calls = ranked(folded([_told(node, depth, cwd) for node, depth in below]), failure)
    return msgspec.structs.replace(failure, calls=tuple(best(calls, SHOWN)), calls_total=len(calls))


def _is_for_show(node: Node, failure: TestFailure) -> bool:
    """Whether it is a repr that the runner made to tell of the failure, and none that the statement itself asks for."""
    return node.call.function.rpartition(".")[2] == "__repr__" and not re.search(r"repr|[!%]r\b", failure.expression)


def is_same(raised: str | None, failure: TestFailure) -> bool:
    """Whether a call ended by the failure: by its class, which runners may tell otherwise, or by what it said."""
    if raised is None:
        return False
    first = failure.message.strip().partition("\n")[0][:40]
    named = re.search(rf"(?<![\w$]){re.escape(failure.type)}(?![\w$])", raised.partition(":")[0])
    return not failure.type or named is not None or bool(first and first in raised)


def _tree(recording: Recording) -> Node | None:
    """The recorded call with everything below it."""
    nodes: dict[int, Node] = {}
    root: Node | None = None
    for said in recording.said:
        match said:
            case Call():
                node = nodes[said.id] = Node(said, nodes.get(said.parent))
                if node.parent is not None:
                    node.parent.calls.append(node)
                root = root or node
            case Line(call, line, changes) if call in nodes:
                nodes[call].line = line
                nodes[call].locals.update((each.name, each.text) for each in changes)
            case Returned(call, value, changes) if call in nodes:
                nodes[call].returned = value
                nodes[call].locals.update((each.name, each.text) for each in changes)
            case Yielded(call, value, changes) if call in nodes:
                nodes[call].gave.take(value)
                nodes[call].locals.update((each.name, each.text) for each in changes)
            case Raised(call, exception) if call in nodes:
                nodes[call].handled.append((exception, len(nodes[call].calls)))
            case Threw(call, exception) if call in nodes:
                nodes[call].raised = exception
    return root


def _up_to_handled(test: Node, failure: TestFailure) -> Node | None:
    """A test up to a failure that did not end it, as that of a `with self.subTest()` does not."""
    made = next((count for exception, count in test.handled if is_same(exception, failure)), None)
    return None if made is None else msgspec.structs.replace(test, raised=failure.type, calls=test.calls[:made])


def _failed(root: Node, depth: int) -> Node:
    """The call that failed: so far down from the test through those of the user's that the exception came out of."""
    node = root
    for _ in range(depth):
        deeper = [each for each in node.calls if each.raised is not None and each.call.file.startswith("/")]
        if not deeper:
            break
        node = deeper[-1]
    return node


def _below(node: Node, depth: int) -> Iterator[tuple[Node, int]]:
    """A call and those below it, but for code that no line of a file holds: what a library or compiler made as it ran."""
    if not node.call.file.startswith("/") or not node.call.line:
        return
    yield node, depth
    for each in node.calls:
        yield from _below(each, depth + 1)


def _told(node: Node, depth: int, cwd: str) -> MadeCall:
    call = node.call
    given = dict(call.arguments)
    file = Path(call.file)
    shown = str(file.relative_to(Path(cwd).resolve())) if file.is_relative_to(Path(cwd).resolve()) else call.file
    others = {name: text for name, text in node.locals.items() if text not in (given.get(name), node.returned)}
    return MadeCall(
        function=call.function,
        arguments=tuple(Value(name=name, value=text) for name, text in call.arguments),
        result=node.returned,
        raised=node.raised,
        yielded=tuple(node.gave.values),
        yielded_total=node.gave.total,
        file=shown,
        line=node.line or call.line,
        depth=depth,
        values=tuple(Value(name=name, value=text) for name, text in list(others.items())[-LOCALS:]),
    )
