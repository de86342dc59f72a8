"""The shapes of the generated catalogue and manual, for the type checker alone: the client never imports this."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Field(TypedDict):
    """One parameter of a verb; keys that would be empty are left out."""

    name: str
    kind: str
    flag: NotRequired[str]
    short: NotRequired[str]
    aliases: NotRequired[list[str]]
    positional: NotRequired[bool]
    rest: NotRequired[bool]
    last: NotRequired[bool]
    many: NotRequired[bool]
    required: NotRequired[bool]
    choices: NotRequired[list[str]]
    metavar: NotRequired[str]
    on: NotRequired[bool]
    """A switch that is on unless `--no-…` turns it off."""
    access: NotRequired[str]
    """The class that a call rises to where this is given."""
    raises: NotRequired[bool]
    """Whether a call may rise to exec by what is given here."""
    default: NotRequired[float]
    """The number that stands for one that is not given."""


class Verb(TypedDict):
    """One verb as the parser needs it."""

    access: Literal["read", "inspect", "control", "exec"]
    fields: list[Field]
    aliases: NotRequired[list[str]]
    session: NotRequired[bool]
    starts: NotRequired[bool]
    owned: NotRequired[bool]
    here: NotRequired[bool]


class Page(TypedDict):
    """What `dbg help VERB` says."""

    group: str
    doc: str
    example: str
    fields: dict[str, str]


Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
