"""Source that is in no file: what a debugger has of it, for those who show lines."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import msgspec


class SourceText(msgspec.Struct, frozen=True):
    """Lines of source, and whose they are: `what V8 runs`, `those in its source map`."""

    lines: list[str]
    origin: str


@runtime_checkable
class HoldsSource(Protocol):
    async def source_text(self, file: str, frame: str | None) -> SourceText | None:
        """The source of what a frame of the backend's runs, or else of what it knows under this name; None where it has none."""
        ...

    async def running_text(self, frame: str) -> SourceText | None:
        """What really runs in a frame: a file of that name may hold what this was made from, and not itself."""
        ...
