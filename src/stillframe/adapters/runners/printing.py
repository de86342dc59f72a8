"""What tests printed, as reporters told of it: of a test where its runner knows which it was, else of its file or the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from ...model.tested import Shared, TestFailure
from .journal import Show
from .stacks import test_id

KEPT = 4000
"""Characters of each stream that are told, the newest, as of pytest."""
Whose = Literal["file", "run"]
RUN = ""
"""Whose it is where not even the file is known."""


class Heard(msgspec.Struct):
    """The newest of what somebody printed, by stream, and how much it was."""

    streams: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    total: int = 0
    tasks: set[str] = msgspec.field(default_factory=set[str])
    """The runner's own numbers of who it was: tests may have the same titles."""

    def take(self, stream: str, text: str, total: int = 0) -> None:
        self.streams[stream] = (self.streams.get(stream, "") + text)[-KEPT:]
        self.total += total or len(text)

    @property
    def cut(self) -> int:
        """How much it was in all, where that is not all told."""
        return self.total if self.total > sum(map(len, self.streams.values())) else 0


def heard(rows: Iterable[dict[str, Any]], show: Show) -> dict[str, Heard]:
    """What was printed by whom: by the names of tests, of files, and of nobody."""
    found: dict[str, Heard] = {}
    for said in rows:
        titles = tuple(said.get("titles", ()))
        owner = found.setdefault(test_id(said["file"], titles, show) if said.get("file") else RUN, Heard())
        owner.tasks |= {said["task"]} if titles else set()
        kept = sum(map(len, said["printed"].values()))
        for stream, text in said["printed"].items():
            owner.take(stream, text)
        owner.total += max(0, said["total"] - kept)
    return found


def with_printed(failed: TestFailure, by: dict[str, Heard]) -> TestFailure:
    """A failure with what its test printed; and what its file or the run did, where nobody knows by which test."""
    file = failed.id.partition("::")[0]
    own = by.get(failed.id) if failed.id != file else None
    shared: list[tuple[Whose, Heard | None]] = [("file", by.get(file)), ("run", by.get(RUN))]
    if own is not None and len(own.tasks) > 1:
        own, shared = None, [("file", own), *shared]
    rows = tuple(
        Shared(by=who, output=each.streams.get("stdout", ""), stderr=each.streams.get("stderr", ""), printed=each.cut)
        for who, each in shared
        if each is not None and each.total
    )
    failed = replace(failed, shared=rows)
    return failed if own is None else replace(failed, **printed_by(own))


def printed_by(own: Heard) -> dict[str, Any]:
    """The fields of a failure that tell what its test itself printed."""
    return {"output": own.streams.get("stdout", ""), "stderr": own.streams.get("stderr", ""), "printed": own.cut}


def newest(text: str) -> dict[str, Any]:
    """The same of a whole text, which a runner tells beside its verdict."""
    own = Heard()
    own.take("stdout", text)
    return printed_by(own)
