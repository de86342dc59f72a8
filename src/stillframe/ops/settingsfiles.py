"""Editing other programs' settings by as little as possible: one entry in a JSON file (comments and order stay), one table in
a TOML file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec

from ..errors import UsageError

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[^\s,\]}/\"\[{:]+")
_LINE_REST = re.compile(r"[ \t]*(,)?[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)?")
"""What may stand behind a value on its line: a comma, and a comment that is the value's."""
INDENT = "  "


class Member(msgspec.Struct, frozen=True):
    """A key of an object and where it and its value stand in the text."""

    key: str
    begin: int
    value: int
    end: int


class JsonText:
    """A JSON file with comments, as text that is changed in one place only."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self._name = name
        self._root = self._skip(0)
        if text[self._root : self._root + 1] != "{":
            raise UsageError(f"{name} is no JSON object; it was left as it is")
        self._value(self._root)  # the whole of it must be sound before anything is changed

    def get(self, *path: str) -> Any:
        """The value at a path of keys; None where there is none."""
        found = self._find(path)
        return None if found is None else self._parsed(found)

    def put(self, path: tuple[str, ...], value: Any) -> str:
        """The text with this value there; objects on the way are made where they are missing."""
        found = self._find(path)
        if found is not None:
            return self.text[: found.value] + _dumped(value, len(path)) + self.text[found.end :]
        at, depth = self._root, 0
        while (inner := self._find(path[: depth + 1])) is not None:
            at, depth = inner.value, depth + 1
        if self.text[at] != "{":
            raise UsageError(f"{'.'.join(path[:depth])} in {self._name} is no object; it was left as it is")
        for key in reversed(path[depth + 1 :]):
            value = {key: value}
        entry = f"\n{INDENT * (depth + 1)}{json.dumps(path[depth])}: {_dumped(value, depth + 1)}"
        members = list(self._members(at))
        if members:
            last = members[-1].end
            said = _LINE_REST.match(self.text, last)
            assert said is not None
            comma = "" if said[1] else ","
            return self.text[:last] + comma + said[0] + entry + self.text[said.end() :]
        return self.text[: at + 1] + entry + "\n" + INDENT * depth + self.text[at + 1 :].lstrip()

    def without(self, path: tuple[str, ...]) -> str:
        """The text without this key, and without the comma that it needed."""
        found = self._find(path)
        if found is None:
            return self.text
        above = self._find(path[:-1])
        members = list(self._members(above.value if above else self._root))
        number = [each.key for each in members].index(path[-1])
        if number:
            comma = self._skip(members[number - 1].end)
            return self.text[:comma] + self.text[comma + 1 : found.begin].rstrip() + self.text[found.end :]
        end = members[1].begin if len(members) > 1 else found.end
        rest = self.text[end:] if len(members) > 1 else self.text[end:].lstrip()
        begin = found.begin if len(members) > 1 else len(self.text[: found.begin].rstrip())
        return self.text[:begin] + rest

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

    def _parsed(self, member: Member) -> Any:
        return json.loads(_without_comments(self.text[member.value : member.end]))

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


def _dumped(value: Any, depth: int) -> str:
    return json.dumps(value, indent=INDENT).replace("\n", "\n" + INDENT * depth)


def _without_comments(text: str) -> str:
    """JSON proper: comments and trailing commas gone, strings untouched."""
    token = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
    plain = token.sub(lambda match: match[1] or " ", text)
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda match: match[1] or "", plain)


def toml_table(text: str, table: str, name: str) -> dict[str, Any] | None:
    """A table of a TOML file by its dotted name; None where there is none."""
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no sound TOML: {error}; it was left as it is") from None
    for key in table.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def with_toml_table(text: str, table: str, values: dict[str, Any]) -> str:
    """The text with this table at its end, in the place of one that it had."""
    lines = [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    before = without_toml_table(text, table).rstrip("\n")
    return (before + "\n\n" if before else "") + "\n".join(lines) + "\n"


def without_toml_table(text: str, table: str) -> str:
    """The text without this table and those below it; a comment right above the next one stays."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", line)
        if header:
            inside = header[1] == table or header[1].startswith(table + ".")
        if not inside or (line.lstrip().startswith("#")):
            kept.append(line)
    return "".join(kept).rstrip("\n") + "\n" if kept else ""
