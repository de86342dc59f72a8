"""Reading what our code inside a runner's process wrote (`_target/testing`): lines of JSON, whole up to the moment of a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...model.outcomes import SourceLine
from ...model.reports import ReportFrame
from ...model.tested import Beside, Counts, Given, TestFailure, Told
from ...model.values import Value

FILE = "journal"
MOST = 20
"""Failures whose evidence is told."""
ASIDES = 3
"""Errors that failed no test, and are told all the same."""
_WORST = ("passed", "xpassed", "xfailed", "skipped", "failed")
Show = Callable[[str | None], str | None]


def read(folder: Path, show: Show) -> Told:
    """Everything that was told; `show` makes a file's path what the user should see."""
    reading = Reading(show)
    for said in _lines(folder / FILE):
        reading.take(said)
    return reading.told()


class Reading(msgspec.Struct):
    """What is known of a run, line by line."""

    show: Show
    hello: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    outcomes: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    failures: list[TestFailure] = msgspec.field(default_factory=list[TestFailure])
    names: tuple[str, ...] = ()
    collected: int = 0
    deselected: int = 0
    uncollected: int = 0
    running: str | None = None
    notes: list[str] = msgspec.field(default_factory=list[str])
    ended: bool = False
    ordinal: int = 0
    """Of the calls of the first failing test's function, the one that failed."""

    def take(self, said: dict[str, Any]) -> None:
        match said["kind"]:
            case "hello":
                self.hello = said
            case "collected":
                self.collected, self.names = said["count"], tuple(said["names"])
            case "deselected":
                self.deselected += said["count"]
            case "running":
                self.running = said["id"]
            case "uncollected":
                self.uncollected += 1
                self.failures.append(failure({**said, "when": "collection"}, self.show))
            case "aside":
                self.notes.append(said["text"])
            case "test":
                self._test(said, said["id"], said["outcome"])
            case "end":
                self.ended = True

    def _test(self, said: dict[str, Any], id: str, outcome: str) -> None:
        self.running = None
        self.outcomes[id] = max(self.outcomes.get(id, "passed"), outcome, key=_WORST.index)
        if outcome == "failed":
            self.ordinal = self.ordinal or sum(function_of(each) == function_of(id) for each in self.outcomes)
            self.failures.append(failure(said, self.show))

    def told(self) -> Told:
        ended = list(self.outcomes.values())
        counts = Counts(
            total=max(len(ended), self.collected),
            uncollected=self.uncollected,
            deselected=self.deselected,
            **{kind: ended.count(kind) for kind in _WORST},
        )
        return Told(
            version=self.hello.get("version", ""),
            runtime=f"Python {self.hello['python']}" if self.hello else "",
            interpreter=self.hello.get("executable", ""),
            counts=counts,
            failures=tuple(self.failures[:MOST]),
            names=self.names,
            begun=bool(self.hello),
            finished=self.ended,
            running=self.running,
            ordinal=self.ordinal or 1,
            notes=tuple(dict.fromkeys(self.notes))[:ASIDES],
        )


def function_of(id: str) -> str:
    """A test without what tells apart the runs of its function."""
    return id.partition("[")[0]


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return
    for line in text[: text.rfind(b"\n") + 1].splitlines():
        yield msgspec.json.decode(line)


def failure(said: dict[str, Any], show: Show) -> TestFailure:
    """One failure with the evidence of its frames."""
    told: dict[str, Any] = said["evidence"]
    frames = tuple(_frame(each, show) for each in told["frames"])
    top = frames[0] if frames else None
    printed = said.get("printed") or {}
    made, given = told.get("made") or {}, told.get("given")
    return TestFailure(
        id=said["id"],
        label=said.get("label", ""),
        when=said.get("when", "call"),
        type=told["type"],
        message=told["message"],
        causes=tuple(_cause(each, show) for each in told.get("causes", ())),
        members=tuple(_cause(each, show) for each in told.get("members", ())),
        beside=_beside((*told.get("causes", ()), *told.get("members", ()))),
        added=tuple(told.get("added", ())),
        held=tuple(_value(each) for each in told.get("held", ())),
        expression=told["frames"][0]["source"] if frames else "",
        operands=tuple(_value(each) for each in told.get("operands", ())),
        frames=frames,
        file=top.file if top else show(told.get("file")),
        line=top.line if top else told.get("line"),
        output=printed.get("stdout", ""),
        stderr=printed.get("stderr", ""),
        log=printed.get("log", ""),
        printed=said.get("printed_total", 0),
        makers=tuple(made.get("lines", ())),
        names=(given["name"],) if given else tuple(made.get("names", ())),
        given=Given(**given) if given else None,
    )


def _value(told: dict[str, Any]) -> Value:
    return Value(**told)


def _frame(told: dict[str, Any], show: Show) -> ReportFrame:
    return ReportFrame(
        function=told["function"],
        file=show(told["file"]),
        line=told["line"],
        source=(SourceLine(told["line"], told["source"], here=True),),
        values=tuple(_value(each) for each in told["values"]),
        values_total=told["total"],
        folded=told.get("folded", 0),
        times=told.get("times", 1),
        skipped=told.get("skipped", 0),
    )


def _beside(told: Sequence[dict[str, Any]]) -> tuple[Beside, ...]:
    rows = tuple(
        Beside(values=tuple(_value(one) for one in each.get("locals", ())), added=tuple(each.get("added", ())))
        for each in told
    )
    return rows if any(each.values or each.added for each in rows) else ()


def _cause(told: dict[str, Any], show: Show) -> str:
    text = f"{told['type']}: {told['message']}" if told["message"] else told["type"]
    where = f" at {show(told['file'])}:{told['line']} in {told['function']}" if told.get("file") else ""
    return text + where
