"""Tools made from the vocabulary: names, schemas and hints from the declarations of the verbs, nothing written by hand.

A tool has one access class, so that its hints are true of every call. Where a parameter raises the class of a verb, it is
in a second tool (`break`, `break_if`), and the daemon is told to allow the first one no more than its own class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from ...errors import Denied, UsageError
from ..cli.catalogue import VERBS
from ..cli.manual import MANUAL
from ..cli.shapes import Field
from ..cli.usage import nearest
from .groups import BRIEF, CLEAR, CORE, ENDS_SOMETHING, Group

CLASSES = ("read", "inspect", "control", "exec")
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "json": "object"}
"""What JSON Schema calls a kind; places, breakpoints and hit rules are texts."""
_OWN = {
    "project": ("string", "directory that paths are relative to, kept"),
    "session": ("string", "its name; else the last one used"),
    "budget": ("integer", "characters of the reply"),
}
"""Parameters of ours, beside those of the verbs."""


class Tool(msgspec.Struct, frozen=True, dict=True):
    """One tool: the verbs behind it, and the highest class that a call of it may have."""

    name: str
    verbs: tuple[str, ...]
    access: str
    text: str
    by: str = ""
    shown: tuple[str, ...] = ()
    plain: str = ""
    """Of a tool that takes more than another one: that one's name, whose schema explains the rest."""
    other: str = ""
    """The tool that takes what this one may not."""
    refused: tuple[str, ...] = ()
    """Verbs of its kind that are not allowed here, in their order."""
    usual: str = ""
    """The verb that is meant where none is named, allowed or not; empty: the first."""

    @property
    def meant(self) -> str:
        return self.usual or self.verbs[0]

    @cached_property
    def fields(self) -> dict[str, Mapping[str, Field]]:
        """What each verb takes here, by name."""
        return {verb: {each["name"]: each for each in VERBS[verb]["fields"] if self._may(each)} for verb in self.verbs}

    def _may(self, field: Field) -> bool:
        return CLASSES.index(field.get("access", "read")) <= CLASSES.index(self.access)

    @property
    def read_only(self) -> bool:
        return self.access in ("read", "inspect")

    @property
    def destructive(self) -> bool:
        return self.access == "exec" or bool(ENDS_SOMETHING & set(self.verbs))

    def _takes(self, own: str) -> bool:
        sign = {"project": "starts", "session": "session"}.get(own)
        return sign is None or any(VERBS[verb].get(sign) for verb in self.verbs)

    def schema(self, told: set[str] | None = None) -> dict[str, Any]:
        """What a call takes. In a list that must be short, a text that stands in it already (`told`) is not told again,
        and what is not listed is taken as well."""
        properties: dict[str, Any] = {}
        if self.by and (told is None or not self.plain):
            properties[self.by] = {"type": "string", "enum": list(self.verbs)}
        for name in self._listed():
            properties[name] = self._property(name, told)
        for name, (kind, text) in _OWN.items():
            if self._takes(name) and (told is None or name in self.shown):
                short = text if told is None else "" if name in CLEAR else BRIEF[name]
                properties[name] = {"type": kind} | _told("", short, told)
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        named = [self.by] if self.by and self.meant in self.refused else []  # else `go` alone would wait, and not go on
        if required := [*named, *self._required()]:
            schema["required"] = required
        return schema

    def _listed(self) -> list[str]:
        every = list(dict.fromkeys(name for fields in self.fields.values() for name in fields))
        return [name for name in self.shown if name in every] if self.shown else every

    def _required(self) -> list[str]:
        raising = [name for name in self._listed() if self._raises(name)] if self.plain else []
        common = set.intersection(*(
            {name for name, field in fields.items() if field.get("required")} for fields in self.fields.values()
        ))  # fmt: skip
        return [name for name in self._listed() if name in common or raising == [name]]

    def _raises(self, name: str) -> bool:
        return any(_raising(fields[name]) for fields in self.fields.values() if name in fields)

    def _property(self, name: str, told: set[str] | None) -> dict[str, Any]:
        takers = [verb for verb in self.verbs if name in self.fields[verb]]
        made, text = schema_of(self.fields[takers[0]][name]), MANUAL[takers[0]]["fields"][name]
        if told is not None:
            text = "" if name in CLEAR else BRIEF.get(name) or text.partition(";")[0]
        few = f"{', '.join(takers)}: " if told is None and len(takers) < min(len(self.verbs), 3) else ""
        return made | _told(few, text, told)


def _told(few: str, text: str, told: set[str] | None) -> dict[str, str]:
    """The text of a parameter, unless it is told already."""
    if told is not None and (text in told or not text):
        return {}
    if told is not None:
        told.add(text)
    return {"description": few + text}


def _raising(field: Field) -> bool:
    """Whether a parameter raises the class of its verb: always, or with some of what it takes."""
    return bool(field.get("access") or field.get("raises"))


def schema_of(field: Field) -> dict[str, Any]:
    one: dict[str, Any] = {"type": _TYPES.get(field["kind"], "string")}
    if choices := field.get("choices"):
        one["enum"] = list(choices)
    return {"type": "array", "items": one} if field.get("many") else one


class Toolset:
    """The tools of one client."""

    def __init__(self, tools: Iterable[Tool], allow: str = "exec", *, brief: bool = False, asked: str = "core") -> None:
        self._by_name = {tool.name: tool for tool in tools}
        self._allow = allow
        self.words = (asked, allow)
        """What they were chosen by."""
        self._brief = brief

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_name.values())

    def schemas(self) -> Iterator[tuple[Tool, dict[str, Any]]]:
        """Every tool with what it takes."""
        told: set[str] | None = set() if self._brief else None
        for tool in self:
            yield tool, tool.schema(told)

    def find(self, name: str) -> Tool:
        if name in self._by_name:
            return self._by_name[name]
        if needs := _needed(name, self._allow):
            raise self.refusal(name, needs)
        meant = nearest(name, self._by_name)
        raise UsageError(
            f"there is no tool {name!r:.80}" + (f"; did you mean {meant}?" if meant else ""),
            detail={"tools": ", ".join(self._by_name)},
        )

    def refusal(self, called: str, needs: str, instead: str = "") -> Denied:
        """That something needs more than is allowed here, and what does not."""
        more = f" ({instead})" if instead else ""
        return Denied(f"{called} needs {needs}, and only {self._allow} is allowed here{more}", detail={"needs": needs})

    def spelled(self, verb: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """A next step in the words of this client: a tool and its arguments; none where no tool of it does that."""
        for tool in self._by_name.values():
            if verb in tool.verbs:
                by = {tool.by: verb} if tool.by and verb != tool.meant else {}
                known = {*tool.fields[verb], *(["session"] if VERBS[verb].get("session") else [])}
                given = {name or _first_word(verb): value for name, value in arguments.items()}
                return tool.name, by | {name: value for name, value in given.items() if name in known}
        return None


def _first_word(verb: str) -> str:
    """The parameter that a bare word is for."""
    return next((field["name"] for field in VERBS[verb]["fields"] if field.get("positional")), "")


def toolset(asked: str = "core", allow: str = "exec") -> Toolset:
    """`core`, `all`, or names of tools and verbs, or both, separated by commas; nothing above the class that is allowed."""
    core = list(_core(allow))
    every = [tool for verb in VERBS for tool in _of_verb(verb, allow)]
    if asked == "core":
        return Toolset(core, allow, brief=True, asked=asked)
    if asked == "all":
        return Toolset(every, allow, asked=asked)
    known = {tool.name: tool for tool in (*every, *core)}
    sets = {"core": core, "all": every}
    chosen: list[Tool] = []
    for name in filter(None, (word.strip().replace("-", "_") for word in asked.split(","))):
        if name in sets:
            chosen += sets[name]
            continue
        if name not in known:
            if needs := _needed(name, allow):
                raise UsageError(f"--tools: {name} needs {needs}, and only {allow} is allowed here")
            meant = nearest(name, known)
            raise UsageError(f"--tools: there is no tool {name!r}" + (f"; did you mean {meant}?" if meant else ""))
        chosen.append(known[name])
    if not chosen:
        raise UsageError("--tools takes core, all, or names separated by commas")
    return Toolset(chosen, allow, asked=asked)


def _needed(name: str, allow: str) -> str:
    """The class of a tool that there is, but not for a client that is allowed no more than this."""
    tools = (*_core("exec"), *(tool for verb in VERBS for tool in _of_verb(verb, "exec")))
    needs = next((tool.access for tool in tools if tool.name == name), "read")
    return needs if CLASSES.index(needs) > CLASSES.index(allow) else ""


def _core(allow: str) -> Iterable[Tool]:
    for group in CORE:
        verbs = [verb for verb in group.verbs if verb in VERBS]
        if verbs:
            yield from _made(group, verbs, allow)


def _of_verb(verb: str, allow: str) -> Iterable[Tool]:
    raising = sorted(filter(_raising, VERBS[verb]["fields"]), key=lambda field: not field.get("access"))
    name = verb.replace("-", "_")
    twin = ""
    if raising and VERBS[verb]["access"] != "exec":
        twin = f"{name}_{(raising[0].get('flag') or raising[0]['name']).lstrip('-').replace('-', '_')}"
    return _made(Group(name, (verb,), twin=twin), [verb], allow)


def _made(group: Group, verbs: Sequence[str], allow: str) -> Iterable[Tool]:
    """A group's tool, and the second one with the parameters that raise its class; of what is allowed."""
    allowed = CLASSES.index(allow)
    mine = tuple(verb for verb in verbs if CLASSES.index(VERBS[verb]["access"]) <= allowed)
    if not mine:
        return
    access = max((VERBS[verb]["access"] for verb in mine), key=CLASSES.index)
    raising = [each["name"] for verb in mine for each in VERBS[verb]["fields"] if _raising(each)]
    doubled = bool(raising) and access != "exec" and bool(group.twin) and allow == "exec"
    text = group.text or _sentence(MANUAL[mine[0]]["doc"])
    if mine[0] != verbs[0]:  # what the text of all is about is not allowed
        text = " ".join(re.split(r"[.:;]", _sentence(MANUAL[verb]["doc"]), maxsplit=1)[0] + "." for verb in mine)
    refused = tuple(verb for verb in verbs if verb not in mine)
    twin = group.twin if doubled else ""
    yield Tool(group.name, mine, access, text, group.by, group.shown, other=twin, refused=refused, usual=verbs[0])
    if doubled:
        takers = tuple(verb for verb in mine if any(map(_raising, VERBS[verb]["fields"])))
        raises = tuple(dict.fromkeys(raising))
        text = group.twin_text or f"As {group.name}, with {' or '.join(raises)}."
        by = group.by if len(takers) > 1 else ""
        yield Tool(group.twin, takers, "exec", text, by, group.twin_shown, plain=group.name)


def _sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())
