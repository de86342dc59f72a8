"""Lines of ours among those that a program prints, left out in whatever pieces they come: a read ends anywhere, and a runtime
that writes of its own death does so a word at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 64 * 1024
"""What goes on for longer without an end is no line of ours."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_PLACE = re.compile(rb"\S[^\n]*:\d+\r?\n")
"""Where a line of source is, told on the line before it."""


class Hiding:
    """What has one of the marks in it is left out; with a line of source goes the one that says where it is, and what points
    into it. A line is told when it has ended, and one that may belong to the next when that has."""

    def __init__(self, marks: Sequence[bytes]) -> None:
        self._marks = tuple(marks)
        self._held = b""
        self._points = False
        """The last line was ours, and the next may point into it."""

    def shown(self, data: bytes) -> bytes:
        """What can be told now that this has come, too."""
        data = self._held + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > LONGEST:
            end = len(data)
        kept, self._held = self._kept(data[:end]), data[end:]
        if kept and _PLACE.fullmatch(kept[-1]):
            self._held = kept.pop() + self._held
        return b"".join(kept)

    def rest(self) -> bytes:
        """What was held back, when nothing more comes."""
        data, self._held = self._held, b""
        return b"".join(self._kept(data))

    def _kept(self, data: bytes) -> list[bytes]:
        if not self._points and not any(mark in data for mark in self._marks):
            last = data.rfind(b"\n", 0, -1) + 1
            return [each for each in (data[:last], data[last:]) if each]
        kept: list[bytes] = []
        for line in _LINE.findall(data):
            points = self._points and not line.strip(b" \t^\r\n")
            self._points = points or any(mark in line for mark in self._marks)
            if not self._points:
                kept.append(line)
            elif not points and kept and _PLACE.fullmatch(kept[-1]):
                kept.pop()
        return kept
