"""A condition as a question for SQLite, which asks functions of ours about parts of values. None of it is ever run as code."""

from __future__ import annotations

from typing import Any

from . import conditions, texts
from .conditions import Condition, Constant, Operand, Path
from .figures import EXACT, INFINITE
from .functions import written

SQL = tuple[str, list[Any]]
_INFINITE = " ".join(
    f"WHEN '{text.replace(chr(39), 2 * chr(39))}' THEN {'-' * (number < 0)}9e999" for text, number in INFINITE.items()
)
"""The infinite, which are not kept as numbers."""


class Asking:
    """`v1`, `v2` … are the values of the names, in the order in which these are joined."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def sql(self, condition: Condition) -> SQL:
        match condition:
            case conditions.Several(every, parts):
                each = [self.sql(part) for part in parts]
                both = (" AND " if every else " OR ").join(sql for sql, _ in each)
                return f"({both})", [value for _, given in each for value in given]
            case conditions.Not(inner):
                sql, given = self.sql(inner)
                return f"(NOT {sql})", given
            case conditions.Truth(path):
                sql, given = self._words(path)
                return f"({sql} NOT IN ({','.join('?' * len(conditions.FALSE))}))", [*given, *conditions.FALSE]
            case conditions.Contains(sought, whole):
                (outer, first), (within, second) = self._words(whole), self._words(sought)
                return f"(instr({outer}, {within}) > 0)", [*first, *second]
            case conditions.Remainder(path, divisor, op, wanted):
                sql, given = self._rest(path)
                return f"({sql} {'=' if op == '==' else op} ?)", [*given, divisor, wanted]
            case conditions.Compared(left, op, Path() as right):
                return self._two_names(left, op, right)
            case conditions.Compared(left, op, Constant(int() as number)):
                return self._exactly(left, op, number)
            case conditions.Compared(left, op, Constant(float() as number)):
                return self._with(left, op, self._number(left), [number])
            case conditions.Compared(left, op, Constant(str() as text)):
                return self._with_moment(condition, *self._with_text(left, op, text))
            case conditions.Compared(left, op, Constant(tuple() as words)):
                return self._one_of(left, op, words)
        raise AssertionError(condition)

    def number(self, name: str) -> int:
        """That of a name's value."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name) + 1

    def _number(self, operand: Operand) -> SQL:
        if isinstance(operand, Constant):
            return "?", [operand.value if isinstance(operand.value, float | int) else None]
        value = f"v{self.number(operand.root)}"
        if operand.of == "len":
            return length(value, operand.steps)
        if operand.steps:
            return f"sf_height({value}.text, {value}.rest, ?)", [written(operand.steps)]
        return f"coalesce({value}.number, CASE {value}.text {_INFINITE} END)", []

    def _exactly(self, path: Path, op: str, number: int) -> SQL:
        """With a whole number that no float is."""
        if path.of != "value":
            return self._with(path, op, self._number(path), [float(number)])
        value = f"v{self.number(path.root)}"
        return f"sf_exactly({value}.text, {value}.rest, ?, ?, ?)", [written(path.steps), op, str(number)]

    def _rest(self, path: Path) -> SQL:
        """What is left of it, but for the divisor, which comes last."""
        if path.of != "value":
            sql, given = self._number(path)
            return f"sf_remainder({sql}, ?)", given
        value = f"v{self.number(path.root)}"
        return f"sf_rest({value}.text, {value}.rest, ?, ?)", [written(path.steps)]

    def _words(self, operand: Operand) -> SQL:
        """Its text without quotes."""
        if isinstance(operand, Constant):
            return "?", [conditions.words_of(operand)]
        value = f"v{self.number(operand.root)}"
        if operand.of == "type":
            if operand.steps:
                return f"sf_type({value}.text, {value}.rest, ?)", [written(operand.steps)]
            return f"{value}.type", []
        return f"sf_text({value}.text, {value}.rest, ?)", [written(operand.steps)]

    def _with(self, path: Path, op: str, operand: SQL, other: list[Any]) -> SQL:
        sql, parameters = operand
        if op != "!=":
            return f"({sql} {'=' if op == '==' else op} ?)", [*parameters, *other]
        there, more = self._words(path)
        return f"({there} IS NOT NULL AND {sql} IS NOT ?)", [*more, *parameters, *other]

    def _with_text(self, path: Path, op: str, wanted: str) -> SQL:
        if forms := conditions.quoted(path, op, wanted):  # quick, since it asks no function of ours
            return self._one_of(path, op, forms)
        return self._with(path, op, self._words(path), [wanted])

    def _moment(self, path: Path) -> SQL:
        """The date that it shows."""
        if path.of != "value":
            return "NULL", []
        value = f"v{self.number(path.root)}"
        return f"sf_moment({value}.text, {value}.rest, ?)", [written(path.steps)]

    def _with_moment(self, compared: conditions.Compared, otherwise: str, given: list[Any]) -> SQL:
        """Compared as dates, where both are such; else as texts."""
        if compared.moment is None:
            return otherwise, given
        moment, steps = self._moment(compared.left)
        sql = f"CASE WHEN {moment} IS NULL THEN {otherwise} ELSE {moment} {compared.op} ? END"
        return f"({sql})", [*steps, *given, *steps, compared.moment]

    def _one_of(self, path: Path, op: str, words: tuple[str, ...]) -> SQL:
        whole = conditions.is_whole(path)
        sql, parameters = (f"v{self.number(path.root)}.text", []) if whole else self._words(path)
        word = "IN" if op == "==" else "NOT IN"
        return f"({sql} {word} ({','.join('?' * len(words))}))", [*parameters, *words]

    def _two_names(self, left: Path, op: str, right: Path) -> SQL:
        (n1, p1), (n2, p2) = self._number(left), self._number(right)
        (m1, r1), (m2, r2) = self._moment(left), self._moment(right)
        (t1, q1), (t2, q2) = self._words(left), self._words(right)
        both, p3 = self._two_numbers(left, op, right, (n1, p1), (n2, p2))
        neither, p4 = (
            ("", []) if op in ("==", "!=") else (f" WHEN {n1} IS NOT NULL OR {n2} IS NOT NULL THEN NULL", [*p1, *p2])
        )
        op = "=" if op == "==" else op
        sql = (
            f"CASE WHEN {n1} IS NOT NULL AND {n2} IS NOT NULL THEN {both}"
            f"{neither} WHEN {m1} IS NOT NULL AND {m2} IS NOT NULL THEN {m1} {op} {m2} ELSE {t1} {op} {t2} END"
        )
        return f"({sql})", [*p1, *p2, *p3, *p4, *r1, *r2, *r1, *r2, *q1, *q2]

    def _two_numbers(self, left: Path, op: str, right: Path, one: SQL, other: SQL) -> SQL:
        """By SQLite as far as a float is exactly what it stands for."""
        quick = f"{one[0]} {'=' if op == '==' else op} {other[0]}"
        if left.of != "value" or right.of != "value":
            return quick, [*one[1], *other[1]]
        v1, v2 = f"v{self.number(left.root)}", f"v{self.number(right.root)}"
        exactly = f"sf_both({v1}.text, {v1}.rest, ?, ?, {v2}.text, {v2}.rest, ?)"
        given = [written(left.steps), op, written(right.steps)]
        return f"CASE WHEN abs({one[0]}) < {EXACT} THEN {quick} ELSE {exactly} END", [
            *one[1], *one[1], *other[1], *given
        ]  # fmt: skip


def length(value: str, steps: tuple[texts.Step, ...]) -> SQL:
    """The length of a value or of a part of it; that of a whole value is mostly known."""
    sql = f"sf_length({value}.text, {value}.total, {value}.rest, ?)"
    return sql if steps else f"coalesce({value}.total, {sql})", [written(steps)]


def told(path: Path, value: str = "v0") -> SQL:
    """What a path leads to in a value."""
    steps = written(path.steps)
    match path.of:
        case "len":
            return length(value, path.steps)
        case "type":
            return (f"sf_type({value}.text, {value}.rest, ?)", [steps]) if steps else (f"{value}.type", [])
        case _:
            return (f"sf_shown({value}.text, {value}.rest, ?)", [steps]) if steps else (f"{value}.text", [])
