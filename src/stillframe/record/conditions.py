"""What a condition says, as a tree that judges one hit by what its paths lead to there: true, false, or neither, as in SQL."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from . import texts
from .pen import number_of

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
    "''",
    '""',
    "[]",
    "{}",
    "()",
    "NaN",
)
"""What counts as untrue."""


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
Told = str | int | None
"""What a path leads to: a part as it was written, its type, or its length; None where it leads nowhere."""
Seen = Mapping[Path, Told]
Verdict = bool | None

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


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
            case Constant(float()):
                return self.left.of == "value" or (self.left.of == "len" and self.op != "!=")
            case _:
                return self.left.of != "len"

    def judge(self, seen: Seen) -> Verdict:
        told = seen[self.left]
        match self.right:
            case Path():
                return self._with_other(told, seen[self.right])
            case Constant(float() as wanted):
                if self.op == "!=":
                    return told is not None and _number(told) != wanted
                return _by(self.op, _number(told), wanted)
            case Constant(str() as wanted):
                if forms := quoted(self.left, self.op, wanted):
                    return self._is_one(told, forms)
                if self.op == "!=":
                    return told is not None and _words(self.left, told) != wanted
                return _by(self.op, _words(self.left, told), wanted)
            case Constant(tuple() as words):
                return self._is_one(told if is_whole(self.left) else _words(self.left, told), words)

        raise AssertionError(self.right)

    def _is_one(self, told: Told, words: tuple[str, ...]) -> Verdict:
        return None if told is None else (told in words) == (self.op == "==")

    def _with_other(self, told: Told, other: Told) -> Verdict:
        one, two = _number(told), _number(other)
        if one is not None and two is not None:
            return _by(self.op, one, two)
        assert isinstance(self.right, Path)
        return _by(self.op, _words(self.left, told), _words(self.right, other))


class Contains(msgspec.Struct, frozen=True):
    part: Operand
    whole: Operand

    @property
    def paths(self) -> tuple[Path, ...]:
        return paths_of(self.whole, self.part)

    @property
    def judged(self) -> bool:
        return all(each.of != "len" for each in self.paths)

    def judge(self, seen: Seen) -> Verdict:
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

    def judge(self, seen: Seen) -> Verdict:
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

    def judge(self, seen: Seen) -> Verdict:
        found = self.inner.judge(seen)
        return None if found is None else not found


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

    def judge(self, seen: Seen) -> Verdict:
        neither = False
        for each in self.parts:
            found = each.judge(seen)
            if found is not None and found is not self.every:
                return found
            neither |= found is None
        return None if neither else self.every


Condition = Compared | Contains | Truth | Not | Several


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


def _by(op: str, one: float | str | None, two: float | str | None) -> Verdict:
    return None if one is None or two is None else _OPERATORS[op](one, two)


def _number(told: Told) -> float | None:
    return number_of(told) if isinstance(told, str) else told


def _words(path: Path, told: Told) -> str | None:
    """Without its quotes."""
    if told is None:
        return None
    return texts.plain(str(told)) if path.of == "value" else str(told)
