"""To whom the value of a call goes, by the text around it: nobody, the caller of the function it is in, or what is done there."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

from .suspending import LONGEST, end_of_call

_BEGINS = re.compile(
    r"(?:(?P<anew>^)|(?P<hands>\breturn\s|=>)|[;{})]|\b(?:else|void)\s)\s*(?P<wrapped>\bPromise\.resolve\(\s*)?(?:[\w$#.?\[\]'\"]*\.)?$"
)
"""What may stand before a call that is a statement by itself, or all that is returned."""
_GOES_ON = re.compile(r"(?:[=(\[,?:+\-*/|&<>!~^%.]|\b(?:await|return|yield|throw|typeof|new|of|in))\s*$")
"""A line whose statement the next one goes on with."""
_HANDS = re.compile(r"=>\s*$")
"""A line whose arrow function the next one is all of."""
_CATCH = re.compile(r"\.catch(?=\s*\()")
_ENDS = re.compile(r"[;}\w$]|//|/\*|$")
"""What may stand behind a statement."""
_ENDS_ARROW = re.compile(r"[),\]]")
"""What may stand behind the body of an arrow function besides."""


class Given(enum.Enum):
    """Who has the value of a call."""

    NOBODY = enum.auto()
    CALLER = enum.auto()
    """Whoever called the function that the call is in: it is returned."""
    HERE = enum.auto()
    """Something is done with it, as far as the text tells."""


def given_to(lines: Sequence[str], line: int, column: int) -> Given:
    """To whom the value of the call at a position goes. A `catch` behind it, or a `Promise.resolve` around it, takes none."""
    begins = _BEGINS.search(lines[line][:column]) if line < len(lines) else None
    if begins is None:
        return Given.HERE
    above = next((each for each in reversed(lines[:line]) if each.strip()), "") if begins["anew"] is not None else ""
    hands = begins["hands"] or (_HANDS.search(above) and "=>")
    if not hands and _GOES_ON.search(above):
        return Given.HERE
    rest = _behind("\n".join([lines[line][column:], *lines[line + 1 : line + LONGEST]]), begins["wrapped"] is not None)
    if rest is None or not (_ENDS.match(rest) or (hands == "=>" and _ENDS_ARROW.match(rest))):
        return Given.HERE
    return Given.CALLER if hands else Given.NOBODY


def _behind(text: str, wrapped: bool) -> str | None:
    """What follows a call that a text begins with, and what takes no value of it; None where it is not seen to end."""
    while end := end_of_call([text], 0, 0):
        text = text[end[1] + 1 :].lstrip()
        if wrapped and text.startswith(")"):
            wrapped, text = False, text[1:].lstrip()
        if not (caught := _CATCH.match(text)):
            return None if wrapped else text
        text = text[caught.end() :]
    return None
