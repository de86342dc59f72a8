"""Editing other programs' settings by as little as possible: one entry in a JSON file (comments and order stay), one table in
a TOML file. What comes out is read again by a whole parser: it is what was there and the entry, or nothing is changed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ..errors import UsageError

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[^\s,\]}/\"\[{:]+")
_LINE_REST = re.compile(r"[ \t]*(,)?(?:[ \t]*/\*[^\n]*?\*/)*(?:[ \t]*//[^\n]*)?")
"""What may stand behind a value on its line: a comma, and comments that are the value's."""
_FIRST_INDENT = re.compile(r"\n([ \t]+)\Z")
INDENT = "  "
BYTE_ORDER = "\ufeff"


class Member(msgspec.Struct, frozen=True):
    """A key of an object and where it and its value stand in the text."""

    key: str
    begin: int
    value: int
    end: int


class JsonText:
    """A JSON file with comments, as text that is changed in one place only; what holds nothing but comments gets an object."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self._name = name
        self._root = self._skip(0)
        if self._root == len(text):
            self.text = text + "{}\n"
        if self.text[self._root : self._root + 1] != "{":
            raise UsageError(f"{name} is no JSON object; it was left as it is")
        self._data = _json(self.text, name)  # the whole of it must be sound before anything is changed
        try:
            self._value(self._root)
        except RecursionError:
            raise _too_deep(name) from None
        first = next(self._members(self._root), None)
        found = _FIRST_INDENT.search(self.text, 0, first.begin) if first else None
        self._indent = found[1] if found else INDENT

    def get(self, *path: str) -> Any:
        """The value at a path of keys; None where there is none."""
        found: Any = self._data
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def put(self, path: tuple[str, ...], value: Any) -> str:
        """The text with this value there; objects on the way are made where they are missing."""
        text = self._put(path, value)
        _must_be(_json(text, self._name), edited(self._data, path, value), path, self._name)
        return text

    def without(self, path: tuple[str, ...]) -> str:
        """The text without this key, and without the comma that it needed."""
        found = self._find(path)
        if found is None:
            return self.text
        above = self._find(path[:-1])
        text = self._without(found, above.value if above else self._root)
        _must_be(edited(_json(text, self._name), path, None), edited(self._data, path, None), path, self._name)
        return text

    def _put(self, path: tuple[str, ...], value: Any) -> str:
        found = self._find(path)
        if found is not None:
            return self.text[: found.value] + self._dumped(value, len(path)) + self.text[found.end :]
        at, depth = self._root, 0
        while (inner := self._find(path[: depth + 1])) is not None:
            at, depth = inner.value, depth + 1
        if self.text[at] != "{":
            raise UsageError(f"{'.'.join(path[:depth])} in {self._name} is no object; it was left as it is")
        for key in reversed(path[depth + 1 :]):
            value = {key: value}
        entry = f"\n{self._indent * (depth + 1)}{json.dumps(path[depth])}: {self._dumped(value, depth + 1)}"
        members = list(self._members(at))
        if members:
            last = members[-1].end
            said = _LINE_REST.match(self.text, last)
            assert said is not None
            rest = said[0] if said[1] else "," + said[0]
            return self.text[:last] + rest + entry + self.text[said.end() :]
        end = self._skip(at + 1)
        return self.text[:end].rstrip() + entry + "\n" + self._indent * depth + self.text[end:]

    def _without(self, found: Member, at: int) -> str:
        """The text without this member of the object that begins there; comments before and behind it stay."""
        before = [each for each in self._members(at) if each.end < found.begin]
        head, rest = self.text[: found.begin].rstrip(), self.text[found.end :]
        if before:
            comma = self._skip(before[-1].end)
            head = head[:comma] + head[comma + 1 :]
        elif self.text[(comma := self._skip(found.end))] == ",":
            return self.text[: found.begin] + (self.text[found.end : comma] + self.text[comma + 1 :]).lstrip()
        elif len(head) == at + 1:
            return head + rest.lstrip()
        ends_in_comment = "//" in head.rpartition("\n")[2]
        return head + ("\n" if ends_in_comment and not rest.lstrip(" \t").startswith("\n") else "") + rest

    def _dumped(self, value: Any, depth: int) -> str:
        return json.dumps(value, indent=self._indent).replace("\n", "\n" + self._indent * depth)

    def _find(self, path: tuple[str, ...]) -> Member | None:
        at, found = self._root, None
        for key in path:
            if self.text[at] != "{":
                return None
            found = next((each for each in self._members(at) if each.key == key), None)
            if found is None:
                return None
            at = found.value
        return found

    def _members(self, at: int) -> Iterator[Member]:
        at = self._skip(at + 1)
        while self.text[at : at + 1] != "}":
            string = _STRING.match(self.text, at)
            if string is None:
                raise self._broken(at)
            value = self._expect(":", self._skip(string.end()))
            end = self._value(value)
            yield Member(json.loads(string[0]), at, value, end)
            at = self._skip(end)
            if self.text[at : at + 1] == ",":
                at = self._skip(at + 1)
            elif self.text[at : at + 1] != "}":
                raise self._broken(at)

    def _value(self, at: int) -> int:
        """Where the value that begins here ends."""
        match self.text[at : at + 1]:
            case "{":
                end = at
                for member in self._members(at):
                    end = member.end
                return self._closing(end if end > at else at + 1, "}")
            case "[":
                at = self._skip(at + 1)
                while self.text[at : at + 1] != "]":
                    at = self._skip(self._value(at))
                    if self.text[at : at + 1] == ",":
                        at = self._skip(at + 1)
                return at + 1
        found = _STRING.match(self.text, at) or _PLAIN.match(self.text, at)
        if found is None:
            raise self._broken(at)
        return found.end()

    def _closing(self, at: int, mark: str) -> int:
        at = self._skip(at)
        if self.text[at : at + 1] == ",":
            at = self._skip(at + 1)
        if self.text[at : at + 1] != mark:
            raise self._broken(at)
        return at + 1

    def _expect(self, mark: str, at: int) -> int:
        if self.text[at : at + 1] != mark:
            raise self._broken(at)
        return self._skip(at + 1)

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def _broken(self, at: int) -> UsageError:
        line = self.text.count("\n", 0, at) + 1
        return UsageError(f"{self._name} is no sound JSON at line {line}; it was left as it is")


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(_without_comments(text))
    except json.JSONDecodeError as error:
        raise UsageError(f"{name} is no sound JSON at line {error.lineno}; it was left as it is") from None
    except RecursionError:
        raise _too_deep(name) from None


def _too_deep(name: str) -> UsageError:
    return UsageError(f"{name} is nested too deeply to be read; it was left as it is")


def _without_comments(text: str) -> str:
    """JSON proper: comments and trailing commas gone, lines and strings as they were."""
    token = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
    plain = token.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match[1] or "", plain)


def edited(data: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """The data with this value there; with None, without it and without what is empty then."""
    key, *below = path
    inner = data.get(key)
    if below:
        value = edited(inner if isinstance(inner, dict) else {}, below, value) or None
    others = {each: kept for each, kept in data.items() if each != key}
    return others if value is None else {**others, key: value}


def _must_be(found: Any, expected: Any, path: Sequence[str], name: str, hint: str = "") -> None:
    if found != expected:
        raise UsageError(
            f"{name} writes {path[0]} in a form that is not changed here, such as twice or in one line; "
            f"it was left as it is{hint}"
        )


def spelled_as(raw: str, text: str) -> str:
    """A text in the spelling of a file: its newlines, and the mark of a byte order that it may begin with."""
    mark = BYTE_ORDER if raw.startswith(BYTE_ORDER) else ""
    return mark + (text.replace("\n", "\r\n") if _of_windows(raw) else text)


def unspelled(raw: str) -> str:
    text = raw.removeprefix(BYTE_ORDER)
    return text.replace("\r\n", "\n") if _of_windows(raw) else text


def _of_windows(raw: str) -> bool:
    return "\r\n" in raw and raw.count("\n") == raw.count("\r\n")


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no sound TOML: {error}; it was left as it is") from None


def toml_table(text: str, table: str, name: str) -> dict[str, Any] | None:
    """A table of a TOML file by its dotted name; None where there is none."""
    found: Any = _toml(text, name)
    for key in table.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def with_toml_table(text: str, table: str, values: dict[str, Any], name: str) -> str:
    """The text with this table at its end, in the place of one that it had."""
    said = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    before = _lines_without(text, table).rstrip("\n")
    after = (before + "\n\n" if before else "") + "\n".join([f"[{table}]", *said]) + "\n"
    path = table.split(".")
    try:
        found = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        found = {}
    by_hand = f"; by hand: {path[-1]} = {{ {', '.join(said)} }} in {path[0]}"
    _must_be(found, edited(_toml(text, name), path, values), path, name, by_hand)
    return after


def without_toml_table(text: str, table: str, name: str) -> str:
    """The text without this table and those below it; a comment right above the next one stays."""
    after, path = _lines_without(text, table), table.split(".")
    try:
        found = edited(tomllib.loads(after), path, None)
    except tomllib.TOMLDecodeError:
        found = {}
    _must_be(found, edited(_toml(text, name), path, None), path, name)
    return after


def _lines_without(text: str, table: str) -> str:
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header is not None:
            inside = header[: table.count(".") + 1] == table.split(".")
        if not inside or (line.lstrip().startswith("#")):
            kept.append(line)
    return "".join(kept).rstrip("\n") + "\n" if kept else ""


def _header(line: str) -> list[str] | None:
    """The keys of the table that begins with this line, quoted or not."""
    if not line.lstrip().startswith("["):
        return None
    try:
        found: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    keys: list[str] = []
    while found:
        ((key, inner),) = found.items()
        keys.append(key)
        found = inner[0] if isinstance(inner, list) else inner
    return keys
