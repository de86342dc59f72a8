"""What a script's text defines: the spans of its functions, classes and named objects, in one pass over its tokens.

A scanner, not a parser. It knows which bracket it stands in and whether the token before ended a value, and that is
enough to tell a regular expression from a division, a block from an object, and a method from a call. Every token is
matched together with the space and the comments before it, so a match starts where the token before it ended: two
tokens are neighbours if the end of the one is the start (here: the lead) of the other.

Text that is no JavaScript gives odd spans, never an error, and takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from . import grammar
from .grammar import (
    ARROW,
    BLOCK,
    BRACES,
    BRACKET,
    CLASS,
    OBJECT,
    OPERAND,
    PAREN,
    START,
    TEMPLATED,
    VALUE,
    Kind,
    Open,
    Span,
)
from .standing import Standing


class Scan(Standing):
    """One pass over a text; `spans` are all that have a body, in no order that matters."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._run()

    def _run(self) -> None:
        text, match = self._text, grammar.TOKEN.match
        handlers: list[Callable[[re.Match[str]], int | None]] = [self._operator]
        handlers += [getattr(self, f"_{each}") for each in grammar.TOKENS]
        hashbang = grammar.HASHBANG.match(text)
        end = hashbang.end() if hashbang else 0
        while (found := match(text, end)) is not None:
            end = handlers[found.lastindex or 0](found) or found.end()
        self._end_arrows(end)
        for left in self._opens:
            if left.span is not None:
                left.span.end = len(text)

    # Names and other operands

    def _name(self, found: re.Match[str]) -> None:
        name, top = found[1], self._top
        if top.kind >= CLASS and self._before == VALUE and name not in grammar.CONTINUING:
            self._perhaps_next_line(found)
            top = self._top
        if top.keys:
            self._key(name, found)
        elif self._naming is not None and name != "extends":
            self._naming.own = name
            self._naming = None
            self._before = VALUE
        elif name in grammar.KEYWORDS:
            self._keyword(name, found)
        else:
            self._named = (name, found.start(), found.end())
            self._before = VALUE

    def _keyword(self, word: str, found: re.Match[str]) -> None:
        lead, end = found.span()
        if word in grammar.STATEMENTS:
            self._top.binding = None
        if word == "async":
            self._async = (lead, end - len(word), end, self._before)
            self._named = (word, lead, end)
            self._before = VALUE
            if self._bound_end == lead:
                self._bound_end = end
        elif word == "function":
            self._naming = self._function = self._definition(Kind.FUNCTION, lead, end - len(word))
        elif word == "class":
            self._naming = self._top.pending = self._definition(Kind.CLASS, lead, end - len(word))
            self._before = OPERAND
        elif word in grammar.HEADS or (word == "await" and self._head_end == lead):
            self._head_end = end
            self._before = OPERAND
        else:
            if word == "extends":
                self._naming = None
            elif word == "default" and self._before == START:
                self._bound, self._bound_end = word, end
            self._before = grammar.AFTER[word]

    def _key(self, name: str, found: re.Match[str]) -> None:
        if not self._modified(found.start()):
            self._top.member = found.end() - len(name)
        self._named = (name, found.start(), found.end())
        self._before = VALUE

    def _literal(self, found: re.Match[str]) -> None:
        if self._top.kind >= CLASS and self._before == VALUE:
            self._perhaps_next_line(found)
        if self._top.keys:
            self._key(found[found.lastindex or 0], found)
        self._before = VALUE

    _string = _number = _literal

    def _member(self, found: re.Match[str]) -> None:
        name = found[found.lastindex or 0]
        if name != ".bind":  # whose result is still this function to whoever debugs it
            self._used(found.start())
        self._named = (name, found.start(), found.end())
        self._before = VALUE

    def _template(self, found: re.Match[str]) -> int:
        return self._template_from(found.end())

    def _template_from(self, at: int) -> int:
        chunk = grammar.TEMPLATE.match(self._text, at)
        end = chunk.end() if chunk else at
        if chunk and chunk[1]:
            self._braces += 1
            self._push(Open(TEMPLATED, end))
            self._before = OPERAND
        else:
            self._before = VALUE
        return end

    def _slash(self, found: re.Match[str]) -> int | None:
        literal = None
        if self._before != VALUE and found.end() > self._unclosed:
            literal = grammar.REGEX.match(self._text, found.end() - 1)
            if literal is None:
                line_end = grammar.LINE_END.search(self._text, found.end())
                self._unclosed = line_end.end() if line_end else len(self._text)
        self._before = VALUE if literal else OPERAND
        return literal.end() if literal else None

    # Brackets

    def _open_paren(self, found: re.Match[str]) -> None:
        lead, end = found.span()
        self._used(lead)
        opened = Open(PAREN, end)
        if self._function is not None:
            opened.span, self._function, self._naming = self._function, None, None
        elif self._top.keys and self._named[2] == lead:
            opened.span = Span(Kind.FUNCTION, lead, self._top.member, self._named[0], expression=False)
        else:
            opened.lead, opened.start = self._async[:2] if self._async[2] == lead else (lead, end - 1)
            opened.bound = opened.binding = self._bound if self._bound_end == lead else None
            opened.value = self._head_end != lead
        self._push(opened)
        self._before = OPERAND

    def _close_paren(self, found: re.Match[str]) -> None:
        lead, end = found.span()
        self._end_arrows(lead)
        self._before = VALUE
        if self._top.kind != PAREN:
            return
        closed = self._closed = self._pop()
        self._closed_end = end
        if not closed.value:
            self._before = START
        if self._whole is not None and self._whole_end == lead and self._whole.lead == closed.end:
            # A function alone in parentheses is named like one without, if nobody calls what they hold.
            self._whole.bound = self._whole.bound or closed.bound
            self._whole.lead, self._whole_end = closed.lead, end

    def _open_brace(self, found: re.Match[str]) -> None:
        lead, end = found.span()
        opened = Open(BLOCK, end, value=False)
        if self._awaited is not None:
            opened.span, opened.value, opened.arrow, self._awaited = self._awaited, True, True, None
        elif self._closed_end == lead and self._closed.span is not None:
            opened.span = self._closed.span
            opened.value = opened.span.expression
            self.spans.append(opened.span)
        elif self._top.pending is not None:
            opened.kind, opened.keys = CLASS, True
            opened.span, self._top.pending = self._top.pending, None
            opened.value = opened.span.expression
            self.spans.append(opened.span)
        else:
            if self._top.kind >= CLASS and self._before == VALUE:
                self._perhaps_next_line(found)
            if self._before == OPERAND:
                opened.kind, opened.keys, opened.value = OBJECT, True, True
                if self._bound_end == lead:
                    opened.span = Span(Kind.OBJECT, lead, end - 1, self._bound)
                    self.spans.append(opened.span)
        if opened.span is not None:
            opened.span.body = end
        self._braces += 1
        self._naming = self._function = None
        self._push(opened)
        self._before = START

    def _close_brace(self, found: re.Match[str]) -> int | None:
        lead, end = found.span()
        self._end_arrows(lead)
        self._before = START
        if not self._braces:
            return None
        self._braces -= 1
        while (closed := self._pop()).kind not in BRACES:
            if closed.kind == ARROW and closed.span is not None:
                closed.span.end = lead
        if closed.kind == TEMPLATED:
            return self._template_from(end)
        if closed.span is not None:
            closed.span.end = end
            if closed.span.kind is Kind.FUNCTION and closed.value:
                self._whole, self._whole_end = closed.span, end
                self._arrow_end = end if closed.arrow else -1
        if closed.value:
            self._before = VALUE
        elif self._top.kind == CLASS:
            self._top.keys = True
        return None

    def _open_bracket(self, found: re.Match[str]) -> None:
        lead, end = found.span()
        self._used(lead)
        opened = Open(BRACKET, end)
        if self._top.keys:
            opened.computed = True
            if not self._modified(lead):
                self._top.member = end - 1
        elif self._named[2] == lead:
            opened.base = self._named[0]
        self._push(opened)
        self._before = OPERAND

    def _close_bracket(self, found: re.Match[str]) -> None:
        lead, end = found.span()
        self._end_arrows(lead)
        self._before = VALUE
        if self._top.kind != BRACKET:
            return
        closed = self._pop()
        if not closed.computed and closed.base is None:
            return
        inside = self._text[closed.end : lead].strip() if lead - closed.end < grammar.LONGEST_COMPUTED else ""
        literal = inside if grammar.LITERAL.fullmatch(inside) else ""
        if closed.computed:
            self._named = (f"[{literal}]", lead, end)
        elif closed.base is not None and len(closed.base) < grammar.LONGEST_COMPUTED and literal[:1] in ("'", '"'):
            self._named = (f"{closed.base}.{literal[1:-1]}", lead, end)

    # What binds an expression, or ends it

    def _arrow(self, found: re.Match[str]) -> None:
        lead, end = found.span()
        self._before = OPERAND
        if self._closed_end == lead:
            closed = self._closed
            span = Span(Kind.FUNCTION, closed.lead, closed.start, closed.bound)
        elif self._named[2] == lead:
            name, first, name_end = self._named
            span = Span(Kind.FUNCTION, first, name_end - len(name), self._bound if self._bound_end == first else None)
            if self._async[2] == first:
                span.lead, span.start = self._async[:2]
        else:
            return
        skipped = grammar.SKIPPED.match(self._text, end)
        span.body = skipped.end() if skipped else end
        self.spans.append(span)
        if self._text.startswith("{", span.body):
            self._awaited = span
        else:
            self._push(Open(ARROW, end, span))

    def _equal(self, found: re.Match[str]) -> None:
        name, _, end = self._named
        top = self._top
        top.keys = False
        top.binding = name if end == found.start() else None
        self._bind(found.end())

    def _choice(self, found: re.Match[str]) -> None:
        if found[found.lastindex or 0] == "?":
            self._top.ternaries += 1
        self._bind(found.end())

    def _colon(self, found: re.Match[str]) -> None:
        if self._top.kind == ARROW:
            self._end_choices(found.start())
        top = self._top
        if top.ternaries:
            top.ternaries -= 1
            self._bind(found.end())
        elif top.kind == OBJECT:
            self._equal(found)
        else:
            self._before = START if top.kind == BLOCK else OPERAND

    def _comma(self, found: re.Match[str]) -> None:
        self._end_arrows(found.start())
        top = self._top
        top.binding = None
        top.ternaries = 0
        top.keys = top.kind == OBJECT
        self._before = OPERAND

    def _semicolon(self, found: re.Match[str]) -> None:
        self._end_arrows(found.start())
        top = self._top
        top.binding = None
        top.ternaries = 0
        top.keys = top.kind == CLASS
        if top.kind == OBJECT:  # then it is none
            top.kind, top.value = BLOCK, False
        self._before = START

    def _step(self, found: re.Match[str]) -> None:
        if self._top.kind >= CLASS and self._before == VALUE:
            self._perhaps_next_line(found)

    def _operator(self, found: re.Match[str]) -> None:
        operator, top = found[found.lastindex or 0], self._top
        if top.keys and operator == "*":
            if not self._modified(found.start()):
                top.member = found.end() - 1
            self._named = (operator, found.start(), found.end())
        elif operator == "...":
            top.keys = False
        elif operator in "!~@" and top.kind >= CLASS and self._before == VALUE:
            self._perhaps_next_line(found)
        self._before = OPERAND
