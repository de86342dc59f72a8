"""The language of `--where`: comparisons of recorded names, put into a question for SQLite. None of it is ever run as code.

qty > 3 and (type(price) == 'str' or item.sku != "A-1") and not done and len(items) >= 2 and 'x' in name
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from ..errors import UsageError
from . import texts
from .functions import written
from .pen import number_of

LONGEST = 2000
DEEPEST = 50
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<op>==|!=|<=|>=|&&|\|\||[<>=~()!])
    |(?P<path>[A-Za-z_$@][\w$@]*(?:\??\.[A-Za-z_$@][\w$]*|\[\s*(?:\d+|"[^"]*"|'[^']*')\s*\])*))""",
    re.VERBOSE,
)
_STEP = re.compile(r"""\??\.([A-Za-z_$@][\w$]*)|\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\]""")
_FALSE = (
    "",
    "False",
    "false",
    "None",
    "null",
    "nil",
    "undefined",
    "NULL",
    "0",
    "0.0",
    "''",
    '""',
    "[]",
    "{}",
    "()",
    "NaN",
)
_WORDS = {
    "true": ("True", "true"),
    "false": ("False", "false"),
    "none": ("None", "null", "nil", "undefined", "NULL"),
    "null": ("None", "null", "nil", "undefined", "NULL"),
    "nil": ("None", "null", "nil", "undefined", "NULL"),
    "undefined": ("undefined",),
}


class Path(msgspec.Struct, frozen=True):
    """A recorded name, or a part of its value; or the type or length of that."""

    root: str
    steps: tuple[texts.Step, ...] = ()
    of: Literal["value", "type", "len"] = "value"

    def __str__(self) -> str:
        inner = self.root + "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in self.steps)
        return inner if self.of == "value" else f"{self.of}({inner})"


class Constant(msgspec.Struct, frozen=True):
    value: float | str | tuple[str, ...]


Operand = Path | Constant


def parse_path(text: str) -> Path:
    """`price`, `item.qty`, `items[0]['sku']`, `type(price)` or `len(items)`."""
    reader = Reader(text, "path")
    found = reader.operand()
    if not isinstance(found, Path) or not reader.done:
        raise UsageError(f"{text!r} is no path: use a recorded name, item.qty, items[0], type(x) or len(x)")
    return found


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


class Comparison(msgspec.Struct, frozen=True):
    """A part of a value compared with a constant, as SQLite compares the two."""

    path: Path
    op: str
    constant: float | str | tuple[str, ...]

    @property
    def sensible(self) -> bool:
        """Whether it asks for what the path tells: a length is no text, and a type no number."""
        return self.path.of == "value" or (self.path.of == "len") == isinstance(self.constant, float)

    def among(self, told: Iterable[str | int]) -> set[str | int]:
        """Those of what the path may lead to for which it holds."""
        if isinstance(self.constant, float):
            return {each for each in told if self._of_number(number_of(each) if isinstance(each, str) else each)}
        return {each for each in told if self._of_words(str(each))}

    def _of_number(self, number: float | None) -> bool:
        return self.op == "!=" if number is None else _OPERATORS[self.op](number, self.constant)

    def _of_words(self, told: str) -> bool:
        words = texts.plain(told) if self.path.of == "value" else told
        if isinstance(self.constant, tuple):
            return (words in self.constant) == (self.op == "==")
        return _OPERATORS[self.op](words, self.constant)


class Conjunct(msgspec.Struct, frozen=True):
    """One of the parts of a condition that must all hold."""

    sql: str
    parameters: list[Any]
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    """Those of the values, `v1` for 1, that it is about, in the order of the names."""
    comparison: Comparison | None = None
    """The same, where it is nothing but that."""

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
    conjuncts = reader.conjuncts()
    if not reader.done:
        raise reader.wrong()
    return Question(conjuncts, reader.names, reader.paths)


SQL = tuple[str, list[Any]]


class Reader:
    """Reads from left to right, once; what it does not know is a usage error that shows where."""

    def __init__(self, text: str, what: str) -> None:
        if len(text) > LONGEST:
            raise UsageError(f"the {what} is longer than {LONGEST} characters")
        self._text = text
        self._what = what
        self._at = 0
        self.names: list[str] = []
        self.paths: list[Path] = []
        self._touched: dict[str, None] = {}
        self._alone: tuple[SQL, Comparison] | None = None

    @property
    def done(self) -> bool:
        return not self._text[self._at :].strip()

    def wrong(self) -> UsageError:
        rest = self._text[self._at :].strip()
        return UsageError(
            f"the {self._what} cannot be read at {rest[:40]!r}: use names, numbers, 'text', == != < <= > >= in, and, or, not, ( )"
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

    def conjuncts(self) -> list[Conjunct]:
        """The whole of it, in parts that must all hold."""
        parts = [self._part(self._negated)]
        while self._accept("and", "&&"):
            parts.append(self._part(self._negated))
        if not self._accept("or", "||"):
            return parts
        other = self._part(self.either)
        sql = " AND ".join(each.sql for each in parts)
        names = dict.fromkeys(name for each in (*parts, other) for name in each.names)
        parameters = [value for each in (*parts, other) for value in each.parameters]
        return [Conjunct(f"(({sql}) OR {other.sql})", parameters, tuple(names), self._numbers(names))]

    def _part(self, read: Callable[[int], SQL]) -> Conjunct:
        self._touched.clear()
        made = read(0)
        alone = self._alone[1] if self._alone and self._alone[0] is made else None
        return Conjunct(*made, tuple(self._touched), self._numbers(self._touched), alone)

    def _numbers(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.names.index(name) + 1 for name in names)

    def either(self, depth: int) -> SQL:
        return self._chain(depth, ("or", "||"), "OR", self._both)

    def _both(self, depth: int) -> SQL:
        return self._chain(depth, ("and", "&&"), "AND", self._negated)

    def _chain(self, depth: int, words: tuple[str, ...], sql: str, below: Callable[[int], SQL]) -> SQL:
        parts = [below(depth)]
        while self._accept(*words):
            parts.append(below(depth))
        if len(parts) == 1:
            return parts[0]
        return "(" + f" {sql} ".join(part[0] for part in parts) + ")", [each for part in parts for each in part[1]]

    def _negated(self, depth: int) -> SQL:
        if depth > DEEPEST:
            raise UsageError(f"the {self._what} is nested deeper than {DEEPEST}")
        if self._accept("not", "!"):
            sql, parameters = self._negated(depth + 1)
            return f"(NOT {sql})", parameters
        if self._accept("("):
            inner = self.either(depth + 1)
            if not self._accept(")"):
                raise self.wrong()
            return inner
        return self._comparison()

    def _comparison(self) -> SQL:
        left = self.operand()
        negative = self._accept("not") is not None
        op = self._accept("in", "~") if negative else self._accept("==", "=", "!=", "<=", ">=", "<", ">", "in", "~")
        if op is None:
            if negative or not isinstance(left, Path):
                raise self.wrong()
            return self._truth(left)
        right = self.operand()
        if op in ("in", "~"):
            sql, parameters = self._contains(*((left, right) if op == "in" else (right, left)))
            return (f"(NOT {sql})", parameters) if negative else (sql, parameters)
        return self._compared(left, "==" if op == "=" else op, right)

    def operand(self) -> Operand:
        kind, text = self._take()
        if kind == "number":
            return Constant(float(text.replace("_", "")))
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
        root = re.match(r"[A-Za-z_$@][\w$@]*", text)
        assert root is not None
        return Path(root[0], steps_of(text[root.end() :]))

    # Into SQL

    def _value(self, path: Path) -> str:
        if path.root not in self.names:
            self.names.append(path.root)
        self._touched[path.root] = None
        if path.steps and path not in self.paths:
            self.paths.append(path)
        return f"v{self.names.index(path.root) + 1}"

    def _number(self, operand: Operand) -> SQL:
        if isinstance(operand, Constant):
            return "?", [operand.value if isinstance(operand.value, float) else None]
        value = self._value(operand)
        if operand.of == "len":
            return length_sql(value, operand.steps)
        if operand.steps:
            return f"sf_number({value}.text, {value}.rest, ?)", [written(operand.steps)]
        return f"{value}.number", []

    def _words(self, operand: Operand) -> SQL:
        """Its text without quotes."""
        if isinstance(operand, Constant):
            return "?", [operand.value if isinstance(operand.value, str) else str(operand.value)]
        value = self._value(operand)
        if operand.of == "type":
            if operand.steps:
                return f"sf_type({value}.text, {value}.rest, ?)", [written(operand.steps)]
            return f"{value}.type", []
        return f"sf_text({value}.text, {value}.rest, ?)", [written(operand.steps)]

    def _truth(self, path: Path) -> SQL:
        sql, parameters = self._words(path)
        return f"({sql} NOT IN ({','.join('?' * len(_FALSE))}))", [*parameters, *_FALSE]

    def _contains(self, part: Operand, whole: Operand) -> SQL:
        inner, first = self._words(part)
        outer, second = self._words(whole)
        return f"(instr({outer}, {inner}) > 0)", [*second, *first]

    def _compared(self, left: Operand, op: str, right: Operand) -> SQL:
        if isinstance(left, Constant):
            if isinstance(right, Constant):
                raise UsageError(f"the {self._what} compares two constants; name what was recorded")
            turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
            return self._compared(right, turned, left)
        if isinstance(right, Path):
            return self._two_names(left, op, right)
        match right.value:
            case float():
                made = self._with(left, op, self._number(left), [right.value])
            case str():
                made = self._with_text(left, op, right.value)
            case tuple():
                made = self._one_of(left, op, right.value)
        self._alone = made, Comparison(left, op, right.value)
        return made

    def _with(self, path: Path, op: str, operand: SQL, other: list[Any]) -> SQL:
        sql, parameters = operand
        if op != "!=":
            return f"({sql} {'=' if op == '==' else op} ?)", [*parameters, *other]
        there, more = self._words(path)
        return f"({there} IS NOT NULL AND {sql} IS NOT ?)", [*more, *parameters, *other]

    def _with_text(self, path: Path, op: str, wanted: str) -> SQL:
        plain = path.of == "value" and not path.steps and not set(wanted) & set("\\'\"\n\t")
        if plain and op in ("==", "!="):  # quoted as any language would: quick, since it asks no function of ours
            return self._one_of(path, op, (f"'{wanted}'", f'"{wanted}"', f"b'{wanted}'", f"`{wanted}`", wanted))
        return self._with(path, op, self._words(path), [wanted])

    def _one_of(self, path: Path, op: str, words: tuple[str, ...]) -> SQL:
        if op not in ("==", "!="):
            raise UsageError(f"the {self._what} asks whether {path} {op} {words[0]}; only == and != make sense there")
        if path.steps or path.of != "value":
            sql, parameters = self._words(path)
        else:
            sql, parameters = f"{self._value(path)}.text", []
        word = "IN" if op == "==" else "NOT IN"
        return f"({sql} {word} ({','.join('?' * len(words))}))", [*parameters, *words]

    def _two_names(self, left: Path, op: str, right: Path) -> SQL:
        (n1, p1), (n2, p2) = self._number(left), self._number(right)
        (t1, q1), (t2, q2) = self._words(left), self._words(right)
        op = "=" if op == "==" else op
        sql = f"CASE WHEN {n1} IS NOT NULL AND {n2} IS NOT NULL THEN {n1} {op} {n2} ELSE {t1} {op} {t2} END"
        return f"({sql})", [*p1, *p2, *p1, *p2, *q1, *q2]


def length_sql(value: str, steps: tuple[texts.Step, ...]) -> SQL:
    """The length of a value or of a part of it; that of a whole value is mostly known."""
    sql = f"sf_length({value}.text, {value}.total, {value}.rest, ?)"
    return sql if steps else f"coalesce({value}.total, {sql})", [written(steps)]


def steps_of(text: str) -> tuple[texts.Step, ...]:
    return tuple(
        int(match[2])
        if match[2] is not None
        else next(each for each in (match[1], match[3], match[4]) if each is not None)
        for match in _STEP.finditer(text)
    )
