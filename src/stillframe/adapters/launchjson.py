"""An editor's `.vscode/launch.json`: found, read with its comments, its variables resolved or refused with the reason."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import NotFound, Try, UsageError
from .trust import Brought, digest

_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])')
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_PLATFORM = {"linux": "linux", "darwin": "osx"}
IGNORED = frozenset(
    {
        "presentation", "internalConsoleOptions", "serverReadyAction", "preLaunchTask", "postDebugTask", "console", "trace",
        "suppressMultipleSessionWarning", "linux", "osx", "windows", "debugServer", "externalConsole", "integratedTerminal",
        "redirectOutput", "logging", "showLog",
    }
)  # fmt: skip
"""What is the editor's own business, or a matter of how output is shown."""


class LaunchFile(msgspec.Struct, frozen=True):
    """What one launch.json holds."""

    path: Path
    configurations: tuple[Mapping[str, Any], ...]
    compounds: tuple[Mapping[str, Any], ...]
    brought: Brought

    @property
    def folder(self) -> str:
        """The workspace: what the file's own folder lies in."""
        return str(self.path.parent.parent)

    @property
    def names(self) -> tuple[str, ...]:
        named = (each.get("name") for each in (*self.configurations, *self.compounds))
        return tuple(dict.fromkeys(name for name in named if isinstance(name, str)))

    def chosen(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """The configuration of this name, or those of the compound."""
        if found := self._configuration(name):
            return (found,)
        compound = next((each for each in self.compounds if each.get("name") == name), None)
        if compound is None:
            there = ", ".join(self.names) or "none"
            raise NotFound(f"no configuration {name!r} in {self.path}; there are: {there}", hint=Try("configs"))
        members = self.members(compound)
        found_all = [(each, self._configuration(each)) for each in members]
        if missing := [each for each, found in found_all if found is None]:
            raise NotFound(f"the compound {name!r} names {missing[0]!r}, which is no configuration in {self.path}")
        if not members:
            raise UsageError(
                f"the compound {name!r} in {self.path} names no configurations", detail={"file": str(self.path)}
            )
        return tuple(found for _each, found in found_all if found is not None)

    def members(self, compound: Mapping[str, Any]) -> tuple[str, ...]:
        listed = _list(compound.get("configurations"))
        return tuple(str(each.get("name") if isinstance(each, dict) else each) for each in listed)

    def _configuration(self, name: str) -> Mapping[str, Any] | None:
        return next((each for each in self.configurations if each.get("name") == name), None)


def find(cwd: str) -> LaunchFile:
    """The nearest launch.json above a directory."""
    if found := find_or_none(cwd):
        return found
    raise NotFound(f"no .vscode/launch.json in {cwd} or above it")


def find_or_none(cwd: str) -> LaunchFile | None:
    here = Path(cwd).absolute()
    for folder in (here, *here.parents):
        path = folder / ".vscode" / "launch.json"
        if path.is_file():
            return _read(path)
    return None


def table_of(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file of an editor's, and the JSON object in it."""
    try:
        content = path.read_bytes().decode("utf-8-sig")
        table = json.loads(without_comments(content))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    except ValueError as error:
        raise UsageError(f"{path} is no JSON, comments aside: {error}") from None
    if not isinstance(table, dict):
        raise UsageError(f"{path} is no JSON object")
    return content, table


def _read(path: Path) -> LaunchFile:
    content, table = table_of(path)
    configurations = tuple(each for each in _list(table.get("configurations")) if isinstance(each, dict))
    compounds = tuple(each for each in _list(table.get("compounds")) if isinstance(each, dict))
    brought = Brought(str(path.resolve()), digest(content), tuple(_told(each) for each in configurations))
    return LaunchFile(path, configurations, compounds, brought)


def _told(configuration: Mapping[str, Any]) -> str:
    """One configuration in a line, for whoever is to trust it."""
    what = next(
        (
            str(configuration[key])
            for key in ("program", "module", "script", "runtimeExecutable")
            if configuration.get(key)
        ),
        "",
    )
    kind = f"{configuration.get('request', 'launch')} by {configuration.get('type')}"
    return f"configuration {str(configuration.get('name'))!r}: {kind}" + (f", {what}" if what else "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def without_comments(text: str) -> str:
    """Plain JSON of the same length: comments and commas before a closing bracket become blanks."""
    text = _COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    return _TRAILING.sub(lambda match: match[1] or " ", text)


def resolved(configuration: Mapping[str, Any], folder: str, env: Mapping[str, str]) -> dict[str, Any]:
    """A configuration with this platform's part laid over it and every variable that we know in its place."""
    name = str(configuration.get("name"))
    return {
        key: value if key in IGNORED else substituted(value, name, folder, env)
        for key, value in here(configuration).items()
    }


def here(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """A table with this platform's part laid over it."""
    ours = configuration.get(_PLATFORM.get(os.uname().sysname.lower(), ""))
    merged = {**configuration, **(ours if isinstance(ours, dict) else {})}
    return {key: value for key, value in merged.items() if key not in ("linux", "osx", "windows")}


def substituted(value: Any, name: str, folder: str, env: Mapping[str, str]) -> Any:
    """The same with every variable in its place; one that we do not know is refused."""
    match value:
        case str():
            return _VARIABLE.sub(lambda match: _variable(match[1], name, folder, env), value)
        case dict():
            return {key: substituted(each, name, folder, env) for key, each in value.items()}
        case list():
            return [substituted(each, name, folder, env) for each in value]
    return value


def _variable(word: str, name: str, folder: str, env: Mapping[str, str]) -> str:
    kind, colon, rest = word.partition(":")
    known = {
        "workspaceFolder": folder,
        "workspaceRoot": folder,
        "workspaceFolderBasename": Path(folder).name,
        "cwd": folder,
        "userHome": env.get("HOME", str(Path.home())),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
    if colon and kind == "env":
        return env.get(rest, "")
    if not colon and word in known:
        return known[word]
    raise UsageError(f"{name!r} has ${{{word}}}: {_why_not(kind)}", detail={"file": "launch.json"})


def _why_not(kind: str) -> str:
    match kind:
        case "input":
            return "it asks somebody at an editor, and nobody is there; write the value into the configuration"
        case "command":
            return "it is the answer of an editor's command; write the value, or use dbg attach --pid N for a process"
        case "config":
            return "it is a setting of the editor, which nobody reads here; write the value"
        case "workspaceFolder":
            return "only one folder is known here, without a name"
        case "file" | "fileBasename" | "fileDirname" | "fileExtname" | "fileBasenameNoExtension" | "relativeFile":
            return "no file is open here, since there is no editor; write the path, or launch the file by its name"
        case _:
            return "only an editor knows that"
