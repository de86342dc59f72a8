"""The language of `--where`: comparisons of recorded names, put into a question for SQLite. None of it is ever run as code.

qty > 3 and (type(price) == 'str' or item.sku != "A-1") and not done and len(items) >= 2 and 'x' in name
qty % 2 == 1 or sku in ('A-1', 'B-2') or when >= '2026-01-01'
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from ..errors import UsageError
from . import texts
from .asking import Asking
from .conditions import Compared, Condition, Constant, Contains, Not, Operand, Path, Remainder, Several, Truth
from .figures import EXACT

LONGEST = 2000
DEEPEST = 50
_SQLITES = 2**63
"""From here on a whole number is none of SQLite's."""
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<op>==|!=|<=|>=|&&|\|\||[<>=~()!%,\[\]])
    |(?P<path>(?:[^\W\d]|[$@])[\w$@]*(?:\??\.(?:[^\W\d]|[$@])[\w$]*|\[\s*(?:\d+|"[^"]*"|'[^']*')\s*\])*))""",
    re.VERBOSE,
)
_STEP = re.compile(r"""\??\.((?:[^\W\d]|[$@])[\w$]*)|\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\]""")
_WORDS = {
    "true": ("True", "true"),
    "false": ("False", "false"),
    "none": ("None", "null", "nil", "undefined", "NULL"),
    "null": ("None", "null", "nil", "undefined", "NULL"),
    "nil": ("None", "null", "nil", "undefined", "NULL"),
    "undefined": ("undefined",),
}


def parse_path(text: str) -> Path:
    """`price`, `item.qty`, `items[0]['sku']`, `type(price)` or `len(items)`."""
    reader = Reader(text, "path")
    found = reader.operand()
    if not isinstance(found, Path) or not reader.done:
        raise UsageError(f"{text!r} is no path: use a recorded name, item.qty, items[0], type(x) or len(x)")
    return found


class Conjunct(msgspec.Struct, frozen=True):
    """One of the parts of a condition that must all hold."""

    sql: str
    parameters: list[Any]
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    """Those of the values, `v1` for 1, that it is about, in the order of the names."""
    condition: Condition
    """The same, to be judged by what its paths lead to."""

    @property
    def looks_inside(self) -> bool:
        """Whether it asks functions of ours."""
        return "sf_" in self.sql


class Question(msgspec.Struct):
    """A condition as SQL: `v1`, `v2` … are the values of the names, in the order in which they are joined."""

    conjuncts: list[Conjunct]
    names: list[str]
    paths: list[Path]
    """Those of its operands that lead into a value."""

    @property
    def sql(self) -> str:
        return " AND ".join(each.sql for each in self.conjuncts)

    @property
    def parameters(self) -> list[Any]:
        return [value for each in self.conjuncts for value in each.parameters]


def parse(text: str) -> Question:
    reader = Reader(text, "condition")
    whole = reader.either(0)
    if not reader.done:
        raise reader.wrong()
    asking = Asking()
    parts = whole.parts if isinstance(whole, Several) and whole.every else (whole,)
    conjuncts = [_conjunct(asking, each) for each in parts]
    return Question(conjuncts, asking.names, [path for path in dict.fromkeys(whole.paths) if path.steps])


def _conjunct(asking: Asking, condition: Condition) -> Conjunct:
    sql, parameters = asking.sql(condition)
    names = tuple(dict.fromkeys(path.root for path in condition.paths))
    return Conjunct(sql, parameters, names, tuple(asking.number(name) for name in names), condition)


class Reader:
    """Reads from left to right, once; what it does not know is a usage error that shows where."""

    def __init__(self, text: str, what: str) -> None:
        if len(text) > LONGEST:
            raise UsageError(f"the {what} is longer than {LONGEST} characters")
        self._text = text
        self._what = what
        self._at = 0

    @property
    def done(self) -> bool:
        return not self._text[self._at :].strip()

    def wrong(self) -> UsageError:
        rest = self._text[self._at :].strip()
        known = "names, numbers, 'text', == != < <= > >= % in, and, or, not, ( )"
        return UsageError(
            f"the {self._what} cannot be read at {rest[:40]!r}: use {known}"
            if rest
            else f"the {self._what} {self._text!r} ends too soon"
        )

    def _peek(self) -> tuple[str, str] | None:
        match = _TOKEN.match(self._text, self._at)
        if not match or match.lastgroup is None:
            return None
        return match.lastgroup, match[match.lastgroup]

    def _take(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._at)
        if not match or match.lastgroup is None:
            raise self.wrong()
        self._at = match.end()
        return match.lastgroup, match[match.lastgroup]

    def _accept(self, *words: str) -> str | None:
        seen = self._peek()
        if seen and seen[0] in ("op", "path") and seen[1] in words:
            return self._take()[1]
        return None

    # What may stand where

    def either(self, depth: int) -> Condition:
        return self._chain(depth, ("or", "||"), False, self._both)

    def _both(self, depth: int) -> Condition:
        return self._chain(depth, ("and", "&&"), True, self._negated)

    def _chain(self, depth: int, words: tuple[str, ...], every: bool, below: Callable[[int], Condition]) -> Condition:
        parts = [below(depth)]
        while self._accept(*words):
            parts.append(below(depth))
        return parts[0] if len(parts) == 1 else Several(every, tuple(parts))

    def _negated(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise UsageError(f"the {self._what} is nested deeper than {DEEPEST}")
        if self._accept("not", "!"):
            return Not(self._negated(depth + 1))
        if self._accept("("):
            inner = self.either(depth + 1)
            if not self._accept(")"):
                raise self.wrong()
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        left = self.operand()
        if self._accept("%"):
            return self._remainder(left)
        negative = self._accept("not") is not None
        op = self._accept("in", "~") if negative else self._accept("==", "=", "!=", "<=", ">=", "<", ">", "in", "~")
        if op is None:
            if negative or not isinstance(left, Path):
                raise self.wrong()
            return Truth(left)
        if op == "in" and (closing := {"(": ")", "[": "]"}.get(self._accept("(", "[") or "")):
            found = self._one_of(left, closing)
            return Not(found) if negative else found
        right = self.operand()
        if op in ("in", "~"):
            found = Contains(*((left, right) if op == "in" else (right, left)))
            return Not(found) if negative else found
        return self._compared(left, "==" if op == "=" else op, right)

    def _remainder(self, left: Operand) -> Condition:
        """`n % 2 == 1`; by itself it asks whether anything is left."""
        divisor, op, wanted = self.operand(), self._accept("==", "=", "!=", "<=", ">=", "<", ">"), Constant(0.0)
        right = self.operand() if op else wanted
        match left, divisor, right:
            case Path(of="value" | "len"), Constant(float() | int() as by), Constant(float() | int() as rest) if by:
                told = rest if abs(rest) < _SQLITES else float(rest)
                return Remainder(left, float(by), "!=" if op is None else "==" if op == "=" else op, told)
        raise UsageError(f"the {self._what} takes a remainder as in n % 2 == 1: of what was recorded, by a number")

    def _one_of(self, left: Operand, closing: str) -> Condition:
        """`n in (1, 3)`: equal to one of them. What stands in round brackets alone is itself, as in Python."""
        each, several = [self.operand()], closing == "]"
        while self._accept(","):
            several = True
            if self._accept(closing):
                break
            each.append(self.operand())
        else:
            if not self._accept(closing):
                raise self.wrong()
        if not several and not isinstance(each[0], Constant):
            return Contains(left, each[0])
        parts = tuple(self._compared(left, "==", one) for one in each)
        return parts[0] if len(parts) == 1 else Several(False, parts)

    def operand(self) -> Operand:
        kind, text = self._take()
        if kind == "number":
            return Constant(_number(text.replace("_", "")))
        if kind == "string":
            return Constant(texts.plain(text))
        if kind != "path":
            self._at -= len(text)
            raise self.wrong()
        if text in ("type", "len") and self._accept("("):
            inner = self.operand()
            if not isinstance(inner, Path) or inner.of != "value" or not self._accept(")"):
                raise self.wrong()
            return Path(inner.root, inner.steps, "type" if text == "type" else "len")
        if text.lower() in _WORDS and "." not in text:
            return Constant(_WORDS[text.lower()])
        if text in ("and", "or", "not", "in"):
            self._at -= len(text)
            raise self.wrong()
        root = re.match(r"(?:[^\W\d]|[$@])[\w$@]*", text)
        assert root is not None
        return Path(root[0], steps_of(text[root.end() :]))

    def _compared(self, left: Operand, op: str, right: Operand) -> Condition:
        if isinstance(left, Constant):
            if isinstance(right, Constant):
                raise UsageError(f"the {self._what} compares two constants; name what was recorded")
            turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
            return self._compared(right, turned, left)
        if isinstance(right, Constant) and isinstance(right.value, tuple) and op not in ("==", "!="):
            words = right.value[0]
            raise UsageError(f"the {self._what} asks whether {left} {op} {words}; only == and != make sense there")
        return Compared(left, op, right)


def _number(text: str) -> float:
    """A whole number of more digits than a float can have is as good as infinite."""
    number = float(text)
    return int(text) if EXACT <= abs(number) < math.inf and text.removeprefix("-").isdigit() else number


def steps_of(text: str) -> tuple[texts.Step, ...]:
    return tuple(
        int(match[2])
        if match[2] is not None
        else next(each for each in (match[1], match[3], match[4]) if each is not None)
        for match in _STEP.finditer(text)
    )
