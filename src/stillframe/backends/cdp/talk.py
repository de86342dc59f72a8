"""What is said beside the program: the runtime's words about its inspector, log texts, console calls where we joined."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...model.backend import Output
from .asking import text_of
from .client import Body

_LOUD = frozenset({"error", "warning", "trace", "assert"})


class OwnWords:
    """Takes out of standard error what the runtime says of its inspector, which it writes in whole lines."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._pattern = re.compile(rf"(?m)(?:{'|'.join(patterns)})\n".encode()) if patterns else None
        self._starts = tuple(each.lstrip("^").partition(" ")[0].encode() for each in patterns)

    def without(self, data: bytes) -> bytes:
        """The program's own part of what was written."""
        if self._pattern is None or not any(start in data for start in self._starts):
            return data
        return self._pattern.sub(b"", data)


def console_text(body: Body) -> Output:
    """A console call as the line that it printed; its arguments may be of any type."""
    words = [
        str(each.get("value")) if each.get("type") == "string" else text_of(each) for each in body.get("args") or ()
    ]
    stream = "stderr" if body.get("type") in _LOUD else "stdout"
    return Output(stream, (" ".join(words) + "\n").encode("utf-8", "surrogatepass"))  # type: ignore[arg-type]
