"""The tasks of an editor's `.vscode/tasks.json` that a configuration wants done first, as commands that run here."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import UsageError
from ..model.plans import Build
from .launchjson import here, substituted, table_of
from .trust import Brought, digest

_DEFAULT = "${defaultBuildTask}"
_AS_WORDS = ("process", "cppbuild")
"""Types whose command and arguments are words; those of `shell` are a line of the shell's."""


class NotRun(Exception):
    """Why a task cannot be run here."""


class TaskFile(msgspec.Struct, frozen=True):
    """What one tasks.json holds."""

    path: Path
    tasks: tuple[Mapping[str, Any], ...]
    brought: Brought

    @property
    def folder(self) -> str:
        return str(self.path.parent.parent)

    def builds(self, label: str, env: Mapping[str, str]) -> tuple[Build, ...]:
        """The commands of a task, those of the tasks that it depends on first; the file has to be trusted."""
        self.brought.need_trust(f"the task {label!r}")
        return self._builds(label, env, ())

    def _builds(self, label: str, env: Mapping[str, str], above: tuple[str, ...]) -> tuple[Build, ...]:
        if label in above:
            raise NotRun(f"it depends on itself, by way of {above[-1]!r}")
        task = self._task(label)
        on = task.get("dependsOn")
        others = [str(each) for each in (on if isinstance(on, list) else [on] if on else [])]
        before = tuple(made for each in others for made in self._builds(each, env, (*above, label)))
        return (*before, *self._own(_label(task), substituted(task, label, self.folder, env)))

    def _task(self, label: str) -> Mapping[str, Any]:
        if label == _DEFAULT:
            found = next((each for each in self.tasks if _is_default(each.get("group"))), None)
        else:
            found = next((each for each in self.tasks if _label(each) == label), None)
        if found is None:
            raise NotRun(f"{self.path} has no task {label!r}")
        return here(found)

    def _own(self, label: str, task: Mapping[str, Any]) -> tuple[Build, ...]:
        """What the task itself runs; one that only gathers others runs nothing."""
        if task.get("isBackground") is True:
            raise NotRun(f"{label!r} runs in the background, and nobody would end it")
        kind, command = str(task.get("type", "shell")), task.get("command")
        if kind == "npm":
            words = ["npm", "run", str(task.get("script"))]
            return (Build(shlex.join(words), str(Path(self.folder, str(task.get("path") or "."))), label),)
        if kind not in ("shell", *_AS_WORDS):
            raise NotRun(f"{label!r} is of type {kind!r}, which only an editor's extension knows how to run")
        if command is None:
            return ()
        options = _table(task.get("options"))
        added = _table(options.get("env"))
        words = [_word(each) for each in (command, *(task.get("args") or ()))]
        line = shlex.join(words) if kind in _AS_WORDS else " ".join((words[0], *map(_quoted, words[1:])))
        cwd = str(Path(self.folder, str(options.get("cwd") or ".")))
        return (Build(line, cwd, label, {str(name): str(value) for name, value in added.items()}),)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _label(task: Mapping[str, Any]) -> str:
    return str(task.get("label", task.get("taskName")))


def _is_default(group: Any) -> bool:
    return isinstance(group, dict) and group.get("kind") == "build" and group.get("isDefault") is True


def _word(given: Any) -> str:
    return str(given.get("value")) if isinstance(given, dict) else str(given)


def _quoted(word: str) -> str:
    """An argument as an editor gives it to the shell: quoted only where it holds a space."""
    return shlex.quote(word) if " " in word else word


def find_tasks(folder: str) -> TaskFile | None:
    """The tasks.json of a workspace."""
    path = Path(folder) / ".vscode" / "tasks.json"
    if not path.is_file():
        return None
    content, table = table_of(path)
    listed = table.get("tasks")
    tasks = tuple(each for each in listed if isinstance(each, dict)) if isinstance(listed, list) else ()
    return TaskFile(path, tasks, Brought(str(path.resolve()), digest(content), tuple(map(_told, tasks))))


def _told(task: Mapping[str, Any]) -> str:
    """One task in a line, for whoever is to trust it."""
    what = " ".join(_word(each) for each in (task.get("command", task.get("script", "")), *(task.get("args") or ())))
    return f"task {_label(task)!r}: {what.strip() or 'others'}"


def before_launch(
    given: Mapping[str, Any], folder: str, env: Mapping[str, str]
) -> tuple[tuple[Build, ...], str | None]:
    """What a configuration wants done first, or why that is not done."""
    label = given.get("preLaunchTask")
    if not label:
        return (), None
    if isinstance(label, dict):
        label = label.get("task", label.get("label"))
    label = str(label)
    try:
        file = find_tasks(folder)
        if file is None:
            raise NotRun(f"there is no {Path(folder, '.vscode', 'tasks.json')}")
        return file.builds(label, env), None
    except (NotRun, UsageError) as error:
        return (), f"the task {label!r} was not run: {error}; run it yourself where it is needed"
