"""Which texts of values are numbers, in the ways that languages write them."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

LONGEST_NUMBER = 60
"""Characters of a text that is taken for a number."""
_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?:n| '.*)?\Z", re.DOTALL)
_PLAIN = r"-?[\d.]+(?:[eE][+-]?\d+)?"
_WRAPPED_NUMBER = re.compile(
    rf"(?:(?:[\w.]+\.)?Decimal\('|np\.(?:float|int|uint|longdouble)\d*\(|tensor\()({_PLAIN})'?(?:, [\w.]+=.*)?\)\Z"
    rf"|<(?:Tensor|ndarray) [^<>]*> (?P<scalar>{_PLAIN})\Z"
    r"|(?:[\w.]+\.)?Fraction\((?P<over>-?\d+), (?P<under>\d+)\)\Z"
)
"""Numbers of a class of their own, as they are shown in Python: `Decimal('12.50')`, `np.float64(0.5)`, `Fraction(1, 3)`,
`<Tensor float32> 0.5`."""
LONGEST_WRAPPED = 120
EXACT = 2**53
"""From here on not every whole number is a float's: ids, hashes and nanoseconds are compared as the integers that they are."""
INFINITE = {
    written.format(word): sign * math.inf
    for sign, words in ((1, ("inf", "+Inf", "Inf", "Infinity", "+inf")), (-1, ("-inf", "-Inf", "-Infinity")))
    for word in words
    for written in ("{}", "Decimal('{}')", "np.float64({})", "np.float32({})")
}
"""How languages write what is larger than every number, or smaller."""

Operator = Callable[[Any, Any], bool]
OPERATORS: dict[str, Operator] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


def number_of(text: str) -> float | None:
    """The number that a value's text is, in a class of its own, too; None where it is none."""
    return _wrapped_number(text) if may_be_wrapped(text) else bare_number(text)


def exactly(text: str) -> float | None:
    """The number that a text is compared by: large whole ones are integers, and the infinite are numbers, too."""
    number = number_of(text)
    if number is None:
        return INFINITE.get(text)
    return number if abs(number) < EXACT else _whole(text, number)


def _whole(text: str, number: float) -> float:
    match = _WRAPPED_NUMBER.match(text) if may_be_wrapped(text) else None
    digits = (match[1] or "") if match else text.partition(" ")[0].rstrip("n").replace("_", "")
    return int(digits) if digits.removeprefix("-").isdigit() else number


def may_be_wrapped(text: str) -> bool:
    """Whether a text ends or begins as such numbers do, which is quickly seen."""
    return text[-1:] == ")" or text[:1] == "<"


def _wrapped_number(text: str) -> float | None:
    match = _WRAPPED_NUMBER.match(text) if len(text) <= LONGEST_WRAPPED else None
    if match is None:
        return None
    try:
        return int(match["over"]) / int(match["under"]) if match["over"] else float(match[1] or match["scalar"])
    except (ValueError, ArithmeticError):
        return None


def bare_number(text: str) -> float | None:
    """The number that a text is as it stands."""
    if len(text) > LONGEST_NUMBER or not _NUMBER.match(text):
        return None
    try:
        return float(text)
    except ValueError:
        return _written_otherwise(text)


def _written_otherwise(text: str) -> float | None:
    """`10n`, `97 'a'`."""
    try:
        return float(text.partition(" ")[0].rstrip("n").replace("_", ""))
    except ValueError:
        return None
