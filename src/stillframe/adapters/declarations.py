"""Which debuggers settings declare, and the catalogue of those that nobody has tried; a broken entry harms no other."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ..settings import project_root, tables
from .declared import Declaration, DeclaredAdapter, Origin
from .trust import Brought, digest

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_CATALOGUE = Path(__file__).with_name("catalogue.toml")
_FIELD = re.compile(r" - at (?:`key` in )?`\$\.?([^`]*)`")


class BrokenEntry(msgspec.Struct, frozen=True):
    """A declaration that cannot be used, and why."""

    name: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"the adapter {self.name} in {self.where} cannot be used: {self.why}"


class Declarations(msgspec.Struct, frozen=True):
    """What is declared for one place, in the order in which it counts."""

    user: tuple[DeclaredAdapter, ...] = ()
    project: tuple[DeclaredAdapter, ...] = ()
    broken: tuple[BrokenEntry, ...] = ()

    @property
    def catalogue(self) -> tuple[DeclaredAdapter, ...]:
        """Those that come with us and that nobody has run; a declaration of the same name stands in for one."""
        taken = {each.name for each in (*self.user, *self.project)}
        return tuple(each for each in catalogue() if each.name not in taken)

    @property
    def all(self) -> tuple[DeclaredAdapter, ...]:
        mine = {each.name for each in self.user}
        return (*self.user, *(each for each in self.project if each.name not in mine), *self.catalogue)


def declarations(env: Mapping[str, str], cwd: str, taken: frozenset[str] = frozenset()) -> Declarations:
    """What the user's settings and those of the project around a directory declare; `taken` names are our own adapters'."""
    found: list[list[DeclaredAdapter]] = [[], []]
    broken: list[BrokenEntry] = []
    root = Path(project_root(cwd))
    for path, table in tables(env or os.environ, root):
        given = table.get("adapters", {})
        of_project = path.parent == root
        brought = _brought(path, given) if of_project and given else None
        for each in _read(given, Origin(path.name, str(path.parent), brought=brought), taken):
            if isinstance(each, BrokenEntry):
                broken.append(each)
            else:
                found[of_project].append(each)
    return Declarations(tuple(found[0]), tuple(found[1]), tuple(broken))


def brought_here(cwd: str) -> tuple[Brought, ...]:
    """The settings files of a project that declare debuggers."""
    root = Path(project_root(cwd))
    found = ((path, table.get("adapters")) for path, table in tables({}, root) if path.parent == root)
    return tuple(_brought(path, given) for path, given in found if given)


@cache
def catalogue() -> tuple[DeclaredAdapter, ...]:
    """The debuggers that come as data with us."""
    given = tomllib.loads(_CATALOGUE.read_text(encoding="utf-8"))
    read = _read(given, Origin("the catalogue", str(_CATALOGUE.parent), how="unverified"), frozenset())
    return tuple(each for each in read if isinstance(each, DeclaredAdapter))


def _brought(path: Path, given: Any) -> Brought:
    """By the table alone, so that other settings may change; and by the project's own files that its commands name."""
    entries = given.items() if isinstance(given, dict) else ()
    commands = {name: entry.get("command") for name, entry in entries if isinstance(entry, dict)}
    lists = {name: [str(word) for word in words] for name, words in commands.items() if isinstance(words, list)}
    files = sorted({path.parent / word.replace("${dir}/", "") for words in lists.values() for word in words})
    brings = tuple(f"adapter {name}: {shlex.join(words)}" for name, words in lists.items())
    return Brought(str(path.resolve()), digest(given, (each for each in files if each.is_file())), brings)


def _read(given: Any, origin: Origin, taken: frozenset[str]) -> Iterator[DeclaredAdapter | BrokenEntry]:
    if not isinstance(given, dict):
        yield BrokenEntry("of no name", origin.where, "`adapters` is no table")
        return
    for name, entry in given.items():
        try:
            if not _NAME.fullmatch(name):
                raise ValueError("its name is not made of a to z, 0 to 9 and -")
            if name in taken:
                raise ValueError("an adapter of ours has this name")
            declaration = msgspec.convert(entry, Declaration)
            declaration.check()
        except msgspec.ValidationError as error:
            yield BrokenEntry(name, origin.where, _plainly(str(error)))
        except ValueError as error:
            yield BrokenEntry(name, origin.where, str(error))
        else:
            yield DeclaredAdapter(name, declaration, origin)


def _plainly(error: str) -> str:
    """The decoder's error with the field in front."""
    field = _FIELD.search(error)
    said = _FIELD.sub("", error)
    return f"`{field[1]}`: {said}" if field and field[1] else said
