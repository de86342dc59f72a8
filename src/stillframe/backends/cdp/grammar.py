"""The little of JavaScript's grammar that finding functions takes: its tokens, its words, and what may be open."""

from __future__ import annotations

import enum
import re

import msgspec

from ...model.patterns import possessive

SPACE = r"(?:[\s\ufeff]++|//[^\n\r\u2028\u2029]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?)*+"
NAME = r"\#?[^\x00-\x23\x25-\x40\[\]^`{-\x7f\s\ufeff][^\x00-\x23\x25-/:-@\[\]^`{-\x7f\s\ufeff]*+"  # with $ _ \
TOKENS = {
    "name": rf"{NAME}(?:\??\.{NAME})*+",
    "open_paren": r"\(",
    "close_paren": r"\)",
    "comma": r",",
    "member": rf"\??\.{NAME}(?:\??\.{NAME})*+",
    "number": r"\.?[0-9][\w.]*+",
    "open_brace": r"\{",
    "close_brace": r"\}",
    "semicolon": r";",
    "arrow": r"=>",
    "equal": r"(?:\|\||&&|\?\?)?=(?!=)",
    "string": r'"[^"\\\n\r]*+(?:\\(?:\r\n|.)[^"\\\n\r]*+)*+"?' + "|" + r"'[^'\\\n\r]*+(?:\\(?:\r\n|.)[^'\\\n\r]*+)*+'?",
    "colon": r":",
    "open_bracket": r"\[",
    "close_bracket": r"\]",
    "choice": r"\|\||&&|\?(?!\.(?![0-9]))\??",
    "slash": r"/",
    "template": r"`",
    "step": r"\+\+|--",
    "operator": r"===?|!==?|\.\.\.|\?\.|>{1,3}=?|<<?=?|\*\*?=?|[-+%&|^]=|.",
}
TOKEN = possessive(SPACE + "(?:" + "|".join(f"({each})" for each in TOKENS.values()) + ")", re.DOTALL)
SKIPPED = possessive(SPACE)
HASHBANG = re.compile(r"\ufeff?#![^\n\r\u2028\u2029]*+")
TEMPLATE = possessive(r"[^`\\$]*+(?:(?:\\.|\$(?!\{))[^`\\$]*+)*+(?:`|(\$\{))?", re.DOTALL)
REGEX = possessive(r"/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*+\])++/\w*+")
LINE_END = re.compile(r"[\n\r\u2028\u2029]")
LITERAL = possessive(rf"'[^'\\]*'|\"[^\"\\]*\"|{NAME}(?:\.{NAME})*+")
LONGEST_COMPUTED = 200
"""A computed name longer than this is none: looking at each costs its length, and they may be nested."""

START, OPERAND, VALUE = range(3)
"""What the tokens so far call for: a statement, an operand, or anything that may come after a value."""

HEADS = frozenset({"if", "while", "for", "with"})
AFTER = dict.fromkeys(("else", "do", "try", "finally", "export", "break", "continue", "debugger"), START)
AFTER |= dict.fromkeys(("return", "throw", "case", "const", "let", "var", "import", "default", "extends"), OPERAND)
AFTER |= dict.fromkeys(("typeof", "delete", "void", "in", "of", "instanceof", "new", "yield", "await"), OPERAND)
KEYWORDS = frozenset({*HEADS, *AFTER, "function", "class", "async"})
STATEMENTS = frozenset({*HEADS, "else", "do", "try", "return", "throw", "const", "let", "var", "import", "export"})
CONTINUING = frozenset({"in", "instanceof", "extends"})
MODIFIERS = frozenset({"get", "set", "async", "*"})
"""What stands before a method's name and, as V8 counts, is part of the method. (`static` is not.)"""


class Kind(enum.IntEnum):
    """What a span is."""

    FUNCTION = 0
    CLASS = 1
    OBJECT = 2


class Span(msgspec.Struct, eq=False):
    """A definition, from its first token to the end of its last; `own` and `bound` are as spelt in the text."""

    kind: Kind
    lead: int
    """The end of the token before the first."""
    start: int
    bound: str | None = None
    """What it is assigned to, or the key it stands under."""
    own: str | None = None
    """The name that follows `function` or `class`."""
    expression: bool = True
    body: int = -1
    end: int = -1


BLOCK, PAREN, BRACKET, TEMPLATED, OBJECT, CLASS, ARROW = range(7)
BRACES = (BLOCK, TEMPLATED, OBJECT, CLASS)


class Open(msgspec.Struct, eq=False):
    """A bracket that is not closed yet, or the expression that is an arrow function's body."""

    kind: int
    end: int
    """Where its inside begins."""
    span: Span | None = None
    """The function, class or object that ends with it, or whose parameters it holds."""
    value: bool = True
    """Whether its closing ends a value: else a statement or a method."""
    keys: bool = False
    """Whether a name in it would now be the name of a member."""
    member: int = 0
    ternaries: int = 0
    binding: str | None = None
    """What the expression under way is assigned to."""
    pending: Span | None = None
    """A class whose body comes next."""
    lead: int = 0
    start: int = 0
    bound: str | None = None
    arrow: bool = False
    computed: bool = False
    base: str | None = None
