"""Where a scan of JavaScript stands: what is open, what came before, and what an expression under way is bound to."""

from __future__ import annotations

import re

from . import grammar
from .grammar import ARROW, BLOCK, CLASS, OPERAND, START, Kind, Open, Span


class Standing:
    """The state of one pass over a text, and how it moves on."""

    def __init__(self, text: str) -> None:
        self.spans: list[Span] = []
        self._text = text
        self._top = Open(BLOCK, 0, value=False)
        self._opens = [self._top]
        self._braces = 0
        self._before = START
        self._named = ("", -1, -1)
        """The last thing that may be assigned to or be a key: its spelling, its lead and its end."""
        self._bound, self._bound_end = "", -1
        """What a function that starts at this end is bound to."""
        self._async = (-1, -1, -1, START)
        self._head_end = -1
        self._unclosed = -1
        """As far as this no slash begins a regular expression: one has been tried for, to the end of its line."""
        self._naming: Span | None = None
        self._function: Span | None = None
        self._closed, self._closed_end = self._top, -1
        self._awaited: Span | None = None
        """An arrow function whose brace comes next."""
        self._whole: Span | None = None
        self._whole_end = self._arrow_end = -1
        """A function that is an expression, and where that ends; an arrow function is not called but in parentheses."""

    def _push(self, opened: Open) -> None:
        self._opens.append(opened)
        self._top = opened

    def _pop(self) -> Open:
        closed = self._opens.pop()
        self._top = self._opens[-1]
        return closed

    def _definition(self, kind: Kind, lead: int, start: int) -> Span:
        before, bound = self._before, self._bound if self._bound_end == lead else None
        if self._async[2] == lead:
            lead, start, _, before = self._async
        return Span(kind, lead, start, bound, expression=before == OPERAND)

    def _modified(self, lead: int) -> bool:
        name, _, end = self._named
        return end == lead and name in grammar.MODIFIERS

    def _used(self, lead: int) -> None:
        """If a function is called or looked into, the result is bound to the name, not the function itself."""
        if self._whole is not None and self._whole_end == lead != self._arrow_end:
            self._whole.bound = None

    def _bind(self, end: int) -> None:
        """A function that comes next is what the expression under way is assigned to."""
        if self._top.binding is not None:
            self._bound, self._bound_end = self._top.binding, end
        self._before = OPERAND

    def _end_arrows(self, end: int) -> None:
        """All arrow functions with a mere expression for a body end here."""
        while self._top.kind == ARROW:
            self._whole, self._whole_end = self._pop().span, end
            if self._whole is not None:
                self._whole.end = end

    def _end_choices(self, end: int) -> None:
        while self._top.kind == ARROW and not self._top.ternaries:
            ended = self._pop().span
            if ended is not None:
                ended.end = end

    def _perhaps_next_line(self, found: re.Match[str]) -> None:
        """No operator between two values: a new line begins a new statement, or a new member of a class."""
        lead = found.start()
        if grammar.LINE_END.search(self._text, lead, found.start(found.lastindex or 0)):
            self._end_arrows(lead)
            self._before = START
            if self._top.kind == CLASS:
                self._top.keys = True
