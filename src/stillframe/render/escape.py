"""Making a program's text safe to read: control, bidi and undecodable characters are shown, never sent to a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from ..model.exact import STEERING

_MARKS = re.compile(r", |[{\[(]")
"""Where a part of a value begins."""
_ENDS = re.compile(r", |[}\])]")
_UNSAFE = re.compile(f"[\x00-\x1f{STEERING}]")  # C0, ESC among them, and what JSON would leave as it is
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def escape(text: str) -> str:
    """One line of safe text."""
    return _UNSAFE.sub(_shown, text)


def quoted(text: str) -> str:
    """Printed text as one quoted line, as in `output: "a 2\\nb 1\\n"`."""
    return '"' + escape(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def lines(text: str) -> str:
    """Safe text that keeps its line breaks, for text of several lines."""
    return "\n".join(escape(line) for line in text.split("\n"))


def source(text: str) -> str:
    """A line of source: tabs stay, everything else that is unsafe is shown."""
    return "\t".join(escape(part) for part in text.split("\t"))


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the cut marked."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def apart(old: str, new: str, limit: int) -> tuple[str, str]:
    """What a value was and is, each within `limit`: of long ones the part by which they differ, not what both begin with."""
    same = _alike(old, new)
    if max(len(old), len(new)) <= limit or same < limit // 4 or old == new:
        return shorten(old, limit), shorten(new, limit)
    start = max((each.end() for each in _MARKS.finditer(old, 0, same)), default=0)
    if same - start > limit // 2:
        start = same - limit // 4
    after = _alike(reversed(old[same:]), reversed(new[same:]))
    end = _ENDS.search(old, len(old) - after)
    after = len(old) - end.start() if end else 0
    return _part(old, start, after, limit), _part(new, start, after, limit)


def _alike(old: Iterable[str], new: Iterable[str]) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _part(text: str, start: int, after: int, limit: int) -> str:
    stop = len(text) - after
    return "… " + shorten(text[start:stop].lstrip() + " …" * (after > 1), limit - 2)
