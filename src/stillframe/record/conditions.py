"""What a condition says, as a tree that judges one hit by what its paths lead to there: true, false, or neither, as in SQL."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import msgspec

from . import moments, texts
from .figures import OPERATORS, Operator

FALSE = (
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
    "-0.0",
    "''",
    '""',
    "[]",
    "{}",
    "()",
    "NaN",
    "0n",
    "set()",
    "frozenset()",
    "Decimal('0')",
    "Decimal('0.00')",
    "Fraction(0, 1)",
    "np.False_",
    "np.float64(0.0)",
    "np.int64(0)",
    "datetime.timedelta(0)",
)
"""What counts as untrue."""


class Path(msgspec.Struct, frozen=True):
    """A recorded name, or a part of its value; or the type or length of that."""

    root: str
    steps: tuple[texts.Step, ...] = ()
    of: texts.Of = "value"

    def __str__(self) -> str:
        inner = self.root + "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in self.steps)
        return inner if self.of == "value" else f"{self.of}({inner})"


class Constant(msgspec.Struct, frozen=True):
    value: float | int | str | tuple[str, ...]
    """A number is an integer where a float would be another one."""


Operand = Path | Constant
Told = str | int | None
"""What a path leads to: a part as it was written, its type, or its length; None where it leads nowhere."""
Seen = Mapping[Path, Told]
Verdict = bool | None

Judge = Callable[[Seen], Verdict]


def paths_of(*operands: Operand) -> tuple[Path, ...]:
    return tuple(each for each in operands if isinstance(each, Path))


class Compared(msgspec.Struct, frozen=True):
    left: Path
    op: str
    right: Operand

    @property
    def paths(self) -> tuple[Path, ...]:
        return paths_of(self.left, self.right)

    @property
    def judged(self) -> bool:
        """Whether what the paths lead to is enough: a length is no text, a type no number."""
        match self.right:
            case Path(of=of):
                return self.left.of == of == "value"
            case Constant(float() | int()):
                return self.left.of == "value" or (self.left.of == "len" and self.op != "!=")
            case _:
                return self.left.of != "len"

    @property
    def by(self) -> Operator:
        return OPERATORS[self.op]

    @property
    def needle(self) -> str | None:
        """What is in every text for which it holds, but for escapes."""
        match self:
            case Compared(op="==", right=Constant(str() as words)) if self.moment is None:
                return words
        return None

    @property
    def moment(self) -> str | None:
        """The date that a value is compared with, if it is compared with one."""
        match self:
            case Compared(left=Path(of="value"), right=Constant(str() as words)):
                return moments.wanted(words)
        return None

    def judge(self) -> Judge:
        if self.moment is not None:
            return functools.partial(_by_moment, self.left, self.by, self.moment, self._judge_as_text())
        return self._judge_as_text()

    def _judge_as_text(self) -> Judge:
        left, right, by = self.left, self.right, self.by
        if isinstance(right, Path):
            return functools.partial(self._two, right)
        wanted = right.value
        if isinstance(wanted, float | int):
            return functools.partial(_by_number, left, by, wanted)
        if isinstance(wanted, str) and not (forms := quoted(left, self.op, wanted)):
            return functools.partial(_by_words, left, by, wanted)
        return functools.partial(_is_one, left, self.op == "==", wanted if isinstance(wanted, tuple) else forms)

    def _two(self, right: Path, seen: Seen) -> Verdict:
        by, told, other = self.by, seen[self.left], seen[right]
        one, two = texts.number(told), texts.number(other)
        if one is not None and two is not None:
            return by(one, two)
        if (one is None) != (two is None) and self.op not in ("==", "!="):
            return None
        first, second = moments.shown(told), moments.shown(other)
        if first is None or second is None:
            first, second = _words(self.left, told), _words(right, other)
        return None if first is None or second is None else by(first, second)


def _by_number(path: Path, by: Operator, wanted: float, seen: Seen) -> Verdict:
    number = texts.number(seen[path])
    if number is None:
        return seen[path] is not None if by is operator.ne else None
    return by(number, wanted)


def _by_moment(path: Path, by: Operator, wanted: str, otherwise: Judge, seen: Seen) -> Verdict:
    moment = moments.shown(seen[path])
    return otherwise(seen) if moment is None else by(moment, wanted)


def _by_words(path: Path, by: Operator, wanted: str, seen: Seen) -> Verdict:
    words = _words(path, seen[path])
    return by(words, wanted) if words is not None else False if by is operator.ne else None


def _is_one(path: Path, meant: bool, of: tuple[str, ...], seen: Seen) -> Verdict:
    told = seen[path] if is_whole(path) else _words(path, seen[path])
    return None if told is None else (told in of) == meant


class Remainder(msgspec.Struct, frozen=True):
    """What is left of a number that was divided, compared with another; it has the divisor's sign, as in Python."""

    path: Path
    divisor: float
    op: str
    wanted: float

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def judged(self) -> bool:
        return self.path.of != "type"

    needle: ClassVar[None] = None

    def judge(self) -> Judge:
        return functools.partial(self._judge, OPERATORS[self.op])

    def _judge(self, by: Operator, seen: Seen) -> Verdict:
        rest = remainder(texts.number(seen[self.path]), self.divisor)
        return None if rest is None else by(rest, self.wanted)


def remainder(number: float | None, divisor: float) -> float | None:
    """None where there is none, as of what is no number."""
    if number is None or not math.isfinite(number):
        return None
    return number % (int(divisor) if isinstance(number, int) and divisor.is_integer() else divisor)


class Contains(msgspec.Struct, frozen=True):
    part: Operand
    whole: Operand

    @property
    def paths(self) -> tuple[Path, ...]:
        return paths_of(self.whole, self.part)

    @property
    def judged(self) -> bool:
        return all(each.of != "len" for each in self.paths)

    @property
    def needle(self) -> str | None:
        """What is in every text for which it holds, but for escapes."""
        return words_of(self.part) if isinstance(self.part, Constant) else None

    def judge(self) -> Judge:
        return self._judge

    def _judge(self, seen: Seen) -> Verdict:
        part, whole = (
            _words(each, seen[each]) if isinstance(each, Path) else words_of(each) for each in (self.part, self.whole)
        )
        return None if part is None or whole is None else part in whole


class Truth(msgspec.Struct, frozen=True):
    path: Path

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def judged(self) -> bool:
        return self.path.of != "len"

    needle: ClassVar[None] = None

    def judge(self) -> Judge:
        return self._judge

    def _judge(self, seen: Seen) -> Verdict:
        words = _words(self.path, seen[self.path])
        return None if words is None else words not in FALSE


class Not(msgspec.Struct, frozen=True):
    inner: Condition

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.inner.paths

    @property
    def judged(self) -> bool:
        return self.inner.judged

    needle: ClassVar[None] = None

    def judge(self) -> Judge:
        return functools.partial(_negated, self.inner.judge())


class Several(msgspec.Struct, frozen=True):
    """All of them, or any."""

    every: bool
    parts: tuple[Condition, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(path for each in self.parts for path in each.paths)

    @property
    def judged(self) -> bool:
        return all(each.judged for each in self.parts)

    needle: ClassVar[None] = None

    def judge(self) -> Judge:
        return functools.partial(_together, self.every, [each.judge() for each in self.parts])


def _negated(inner: Judge, seen: Seen) -> Verdict:
    found = inner(seen)
    return None if found is None else not found


def _together(every: bool, parts: Sequence[Judge], seen: Seen) -> Verdict:
    neither = False
    for each in parts:
        found = each(seen)
        if found is not None and found is not every:
            return found
        neither |= found is None
    return None if neither else every


Condition = Compared | Remainder | Contains | Truth | Not | Several


def is_whole(path: Path) -> bool:
    """Whether a recorded value itself is meant."""
    return path.of == "value" and not path.steps


def quoted(path: Path, op: str, words: str) -> tuple[str, ...]:
    """The texts of a whole value that any language would write for such words; none where these are not easily told."""
    if op not in ("==", "!=") or not is_whole(path) or set(words) & set("\\'\"\n\t"):
        return ()
    return (f"'{words}'", f'"{words}"', f"b'{words}'", f"`{words}`", words)


def words_of(constant: Constant) -> str:
    return constant.value if isinstance(constant.value, str) else str(constant.value)


def _words(path: Path, told: Told) -> str | None:
    """Without its quotes."""
    if told is None:
        return None
    return texts.plain(str(told)) if path.of == "value" else str(told)
