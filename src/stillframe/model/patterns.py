"""Patterns that never look back, on every Python: before 3.11.5 a group that is repeated possessively may match wrongly."""

from __future__ import annotations

import re
import sys

_FAULTY = sys.version_info < (3, 11, 5)
"""CPython's gh-106052: `(?:…)*+` loses its place where what is repeated has looked back. `(?>(?:…)*)`, which means the same, does
not."""
_PIECE = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\(|\)(?:(?:[*+?]|\{\d+(?:,\d*)?\})\+)?|[^\\\[()]+", re.DOTALL)


def possessive(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern that has such groups."""
    return re.compile(_atomic(pattern) if _FAULTY else pattern, flags)


def possessive_in_bytes(pattern: str) -> re.Pattern[bytes]:
    """The same for texts as they are kept, in UTF-8."""
    return re.compile((_atomic(pattern) if _FAULTY else pattern).encode())


def _atomic(pattern: str) -> str:
    """The same with an atomic group around each one that is repeated possessively."""
    pieces: list[str] = []
    opened: list[int] = []
    for piece in _PIECE.findall(pattern):
        if piece == "(":
            opened.append(len(pieces))
        elif piece[0] == ")":
            at = opened.pop()
            if len(piece) > 1:
                pieces[at] = "(?>" + pieces[at]
                piece = piece[:-1] + ")"
        pieces.append(piece)
    return "".join(pieces)
