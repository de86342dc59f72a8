"""Looking into a value's text: `{'sku': 'a', 'qty': 3}`, `Cart(n=0)`, `Cart {n: 0}` and `{n = 0, …}` are read as what they show.

Debuggers write values as brackets, commas and `key: value` or `key=value`, whatever the language; that is all that is known here.
What was cut off is not there, and nothing is ever run.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from ..model import exact
from ..model.values import Value
from .figures import EXACT, INFINITE, LONGEST_NUMBER, bare_number, exactly, may_be_wrapped
from .pen import ValueRest

_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
_STRING = re.compile(rf"[bBuUrRfF@]{{0,2}}({_QUOTED})")
_HEAD = re.compile(
    r"(?:<[^<>()\[\]{}]*> |\*?[\w./]+\[[\w., */\[\]]*\] (?=\{)|(?:[\w.:$*&@ <>,]|\(anonymous namespace\))*?)"
    r"(?!\(anonymous namespace\))(?=[({\[])"
)
_PRINTED = re.compile(
    r"(?:(?:std::[^={}'\"]*|&?(?:\w+|\[[\w:<>&*, ]*\])\(size=\d+\)) = |(?:0x[0-9a-f]+ )?size=\d+ )(?=\{)"
)
"""What is written before the parts of a collection: gdb's `std::map with 1 element = {…}` and, of Rust, `Vec(size=2) = {…}`,
lldb's `size=2 {…}`."""
RESERVED = r", capacity \d+(?![\w.])"
"""The comma in `std::vector of length 2, capacity 4 = {7, 8}` parts nothing."""
_SAID = re.compile(
    r"std::[\w:<>, ]*? (?:of length (\d+), capacity|with (\d+) elements?)|&?(?:\w+|\[[\w:<>&*, ]*\])\(size=(\d+)\)"
    r"|(?:0x[0-9a-f]+ )?size=(\d+)(?: |\Z)"
)
_OBJECT = re.compile(r"#<(?:struct )?[A-Z][\w:]*?(?::0x[0-9a-f]+)?:? (?=\S)")
"""What stands before the parts of an object of Ruby: `#<Cart @n=1, @of=#<Shop @name="x">>`."""
CAPACITY = r", cap: \d+,(?= \[| nil)"
"""Between the commas of this nothing is told of its own: `[]int len: 2, cap: 4, [7,8]`, as Delve writes what Go counts."""
COUNTED = rf"(?:\(loaded \d+/\d+\) )?\*?(?:\[\d*\]|map\[)[\w.*\[\]/{{}} -]*?(?: len: \d+{CAPACITY})? (?=\[)"
"""What stands before the parts of such, or of a map or an array: `map[string]int ["k": 7, ]`, `[2]int [7,8]`."""
_COUNTED = re.compile(COUNTED)
_SIZED = re.compile(r"[\w.$]+\(\d+\) (?=[\[{])")
"""What stands before the parts of a collection of JavaScript: `Map(2) {'a' => 1, …}`."""
_LENGTH = re.compile(rf"(?:\(loaded \d+/\d+\) )?\*?\[\][\w.*\[\]/{{}} -]*? len: (\d+){CAPACITY}")
DEEPEST = 12
LEFT_OUT = ("…", "...")
"""What stands for parts that are not told."""

Step = str | int
Of = Literal["value", "type", "len"]
"""What of a value is asked for: itself, its type or its length."""


@functools.lru_cache(maxsize=8192)
def parts(text: str) -> tuple[tuple[str | None, str], ...]:
    """The items of a container's text, each with its key where it has one; nothing where it is no container."""
    body = _body(text)
    if body is None:
        return ()
    return tuple(_keyed(each) for each in _split(body, ",") if each and not each.startswith(LEFT_OUT))


def _body(text: str) -> str | None:
    text = text.strip()
    if ruby := _OBJECT.match(text):
        return _unwrapped(text[ruby.end() :].removesuffix(">"))
    begin = _opening(text)
    if begin is None:
        return None
    inner = text[begin + 1 :]
    whole = inner[:-1] if inner[-1:] in (")", "]", "}") else inner
    return _unwrapped(whole) if text[begin] == "(" and inner[-1:] == ")" else whole


def _opening(text: str) -> int | None:
    """Where the bracket is that holds the items of a container."""
    if not text or _STRING.fullmatch(text) or (text.endswith(", nil") and _LENGTH.match(text)):
        return None
    head = _COUNTED.match(text) or _SIZED.match(text) or _PRINTED.match(text) or _HEAD.match(text)
    begin = head.end() if head else -1
    return begin if 0 <= begin < len(text) and text[begin] in "([{" else None


def taken_apart(text: str) -> tuple[str, str, list[str]] | None:
    """A container's text as what stands before its bracket, that bracket, and its items, with what stands for those that were
    left out; None where it is no container, or its bracket is not closed by the last character."""
    begin = _opening(text := text.strip())
    if begin is None or _closing(text, begin) != len(text) - 1:
        return None
    inner = text[begin + 1 : -1]
    body = _unwrapped(inner) if text[begin] == "(" else inner
    return text[:begin], text[begin] if body is inner else inner[0], [each for each in _split(body, ",") if each]


def _closing(text: str, begin: int) -> int:
    """Where the bracket is that closes the one there; -1 where none does."""
    depth = 0
    for match in _cuts(",").finditer(text, begin):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def _unwrapped(inside: str) -> str:
    """What stands in brackets inside of others, and nothing beside: `deque([1, 2])`, `Counter({'a': 1})` hold what those do."""
    whole = inside[:1] in ("[", "{", "(") and _closing(inside, 0) == len(inside) - 1
    return inside[1:-1] if whole else inside


@functools.lru_cache(maxsize=8192)
def _in_place(text: str) -> int:
    """How many of a container's parts are at the place that they are shown at: what is behind those left out is not."""
    if text.startswith("range("):  # its arguments, and none of its numbers
        return 0
    shown = [each for each in _split(_body(text) or "", ",") if each]
    return next((at for at, each in enumerate(shown) if each.startswith(LEFT_OUT)), len(shown))


@functools.cache
def _cuts(separator: str) -> re.Pattern[str]:
    """What matters on the way to a separator: strings, in which nothing counts, and brackets."""
    return re.compile(rf"{_QUOTED}|{CAPACITY}|of length \d+{RESERVED}|[(\[{{]|[)\]}}]|{re.escape(separator)}")


@functools.cache
def _cuts_of_ruby(separator: str) -> re.Pattern[str]:
    """The same where objects of Ruby are inside, which have brackets of their own."""
    return re.compile(rf"{_QUOTED}|#<|{re.escape(separator)}|[=-]>|>|[(\[{{]|[)\]}}]")


def _split(text: str, separator: str, most: int = -1) -> list[str]:
    """Cut at a separator that stands outside brackets and quotes."""
    found: list[str] = []
    objects: list[int] = []
    depth = begin = 0
    for match in (_cuts_of_ruby if "#<" in text else _cuts)(separator).finditer(text):
        token = match[0]
        if token == "#<":
            depth += 1
            objects.append(depth)
        elif token == ">":
            if objects and objects[-1] == depth:
                depth = objects.pop() - 1
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == separator and depth == 0 and most != 0:
            found.append(text[begin : match.start()].strip())
            begin, most = match.end(), most - 1
    found.append(text[begin:].strip())
    return found


def _keyed(item: str) -> tuple[str | None, str]:
    key, _, text = parted(item)
    if key[:2] in ("['", '["') and key[-1] == "]":  # of a map, as gdb writes it
        key = key[1:-1]
    return plain(key) if key else None, text


def parted(item: str) -> tuple[str, str, str]:
    """An item of a container: its key, as it is written, what stands between, and its value; without a key only that."""
    if _COUNTED.match(item) or _PRINTED.match(item) or item.startswith("#<"):
        return "", "", item
    for separator in (": ", " = ", "=>", "=", ":"):
        pieces = _split(item, separator, 1) if separator in item else ()
        if len(pieces) == 2 and pieces[0] and pieces[1]:
            return pieces[0], separator, pieces[1]
    return "", "", item


def plain(text: str) -> str:
    """A string's content without its quotes; other text as it is."""
    quote = text[:1]
    if quote in ("'", '"') and text[-1] == quote and text.count(quote) == 2 and "\\" not in text:
        return text[1:-1]  # as nearly all are
    text = text.strip()
    match = _STRING.fullmatch(text)
    if not match:
        return text
    inner = match[1][1:-1]
    return re.sub(r"\\(.)", r"\1", inner) if "\\" in inner else inner


def follow(value: Value, steps: Sequence[Step]) -> Value | None:
    """The part of a value that a path leads to, as far as it was recorded."""
    for step in steps[:DEEPEST]:
        found = _child(value, step)
        if found is None or found.value.startswith(LEFT_OUT):
            return None
        value = found
    return value


def goes_beyond(value: Value, more: bool, steps: Sequence[Step], of: Of = "value") -> bool:
    """Whether a path leads out of what was recorded, so that nobody can tell what is there, or whether anything is.
    `more`: the value had parts of its own when it was recorded. `of`: what is asked for of the part."""
    for step in steps[:DEEPEST]:
        found = _child(value, step)
        if found is None:
            return is_cut(value, more)
        if found.value.startswith(LEFT_OUT):
            return True
        value, more = found, False
    cut = is_cut_text(value.value)
    return cut if of == "value" else of == "len" and length_of(value) is None and (cut or is_cut(value, more))


def is_cut_text(text: str) -> bool:
    """Whether it is the beginning of a longer text: `'abc'…`."""
    return text.endswith("…") and _STRING.fullmatch(text[:-1]) is not None


def is_cut(value: Value, more: bool) -> bool:
    """Whether there may be parts of this value that its text does not show."""
    body = _body(value.value)
    if body is None:  # `<Cart object>` shows nothing of its parts; a number or a string has none
        return more or value.value.startswith("<")
    shown = [each for each in _split(body, ",") if each]
    return (
        not _is_closed(value.value)
        or any(each.startswith(LEFT_OUT) for each in shown)
        or (value.total or 0) > len(shown)
    )


def _is_closed(text: str) -> bool:
    """Whether a container's text goes up to its end."""
    return text.rstrip()[-1:] in (")", "]", "}", ">")


def inside(value: Value) -> tuple[Value, ...]:
    """The parts that were recorded of a value: those told beside its text, or else those that this shows whole. Their types
    nobody told."""
    if value.children:
        return value.children
    shown = parts(value.value)[
        : None if _is_closed(value.value) else -1
    ]  # the last may be a key, or half of what it was
    placed = _in_place(value.value)
    return tuple(
        Value(name=f"[{n}]" if key is None else key, value=text)
        for n, (key, text) in enumerate(shown)
        if key is not None or n < placed
    )


def names(step: Step) -> tuple[str, ...]:
    """What a debugger may call the part that a step leads to."""
    return str(step), f"[{step}]", f"'{step}'", f'"{step}"', f"['{step}']"


def _child(value: Value, step: Step) -> Value | None:
    wanted = str(step)
    if value.children:
        forms = names(step)
        for each in value.children:
            if each.name in forms:
                return each
    items = parts(value.value)
    if isinstance(step, int) and not any(key == wanted for key, _ in items):
        if 0 <= step < min(len(items), _in_place(value.value)):
            return of_text(wanted, items[step][1])
        return None
    for known in (wanted, f":{wanted}", f"@{wanted}"):  # Ruby's symbols, and the variables of its objects
        for key, text in items:
            if key == known:
                return of_text(wanted, text)
    return None


def of_text(name: str, text: str) -> Value:
    return Value(name=name, type=type_of(text), value=text)


def type_of(text: str) -> str:
    """The kind of value that a text shows; only told for parts of a value, whose own type nobody recorded."""
    if _STRING.fullmatch(text):
        return "bytes" if text[:1] in "bB" else "str"
    if (number := bare_number(text)) is not None:
        return "int" if number.is_integer() and "." not in text and "e" not in text.lower() else "float"
    if text in ("True", "False", "true", "false"):
        return "bool"
    if text in ("None", "null", "nil", "undefined", "NULL"):
        return "None"
    head = _HEAD.match(text)
    if head and head[0].strip():
        return head[0].strip()
    return {"{": "dict", "[": "list", "(": "tuple"}.get(text[:1], "object")


def number(told: str | int | None) -> float | None:
    """What is told as a number; most texts begin like none."""
    if not isinstance(told, str):
        return told
    return exactly(told) if told[:1].isdigit() or told[:1] == "-" or may_be_wrapped(told) else INFINITE.get(told)


TOGETHER = 1024
"""What is told in so many hits is read as numbers together."""
_NUMBERS = re.compile(r"[-+.,0-9eE]*")


def numbers(told: Sequence[str | int | None]) -> list[float | None]:
    """The same of many. Nearly all numbers are written as JSON would, and such are read in one go."""
    found: list[float | None] = []
    for begin in range(0, len(told), TOGETHER):
        some = told[begin : begin + TOGETHER]
        if (read := _as_json(some)) is None:
            known = {each: number(each) for each in set(some)}
            read = [known[each] for each in some]
        found += read
    return found


def _as_json(told: Sequence[str | int | None]) -> Sequence[float | None] | None:
    """None where one of them is no number, is written otherwise, or is too large for a float to be exactly it."""
    try:
        row = ",".join(told)  # type: ignore[arg-type]
        if not _NUMBERS.fullmatch(row) or max(map(len, told)) > LONGEST_NUMBER:  # type: ignore[arg-type]
            return None
        read = msgspec.json.decode(f"[{row}]", type=list[float])
    except (TypeError, msgspec.DecodeError):
        return None
    return read if len(read) == len(told) and max(read) < EXACT and min(read) > -EXACT else None


def restored(type: str, text: str, total: int | None, rest: str | None) -> Value:
    """A value from its row."""
    more = exact.decode(rest, ValueRest) if rest else ValueRest()
    return Value(
        name="",
        type=type,
        value=text,
        total=total,
        truncated=more.truncated,
        error=more.error,
        children=more.children,
    )


def length_of(value: Value) -> int | None:
    if value.total is not None:
        return value.total
    if _STRING.fullmatch(value.value) and not value.truncated:
        return len(plain(value.value))
    if counted := _LENGTH.match(value.value):
        return int(counted[1])
    if said := _SAID.match(value.value):
        return int(said[said.lastindex or 0])
    if "…" in value.value or "..." in value.value:
        return None
    return len(parts(value.value)) if _body(value.value) is not None else None
