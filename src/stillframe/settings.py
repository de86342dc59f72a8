"""Settings: what a user or a project may change, from files and from `STILLFRAME_*`, which wins.

The user's `config.toml` in the config directory, then `stillframe.toml` or `[tool.stillframe]` of `pyproject.toml` in the
project, then the environment. A value that does not fit is a usage error that names it and where it stands. `allow`, the highest
access of any call, can only be narrowed by each of them, and `ask`, the lowest that is asked about, only be lowered.
"""

from __future__ import annotations

import difflib
import math
import os
import sys
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from .errors import UsageError
from .model import plainfiles
from .model.plans import Caller


class Settings(msgspec.Struct, frozen=True):
    wait: float = 30.0
    """Seconds that a moving verb waits for a stop, unless `--timeout` says otherwise."""
    lease: float = 1800.0
    """Seconds after which a session that nobody used is ended (launched) or left (attached); 0 for never."""
    request_timeout: float = 30.0
    """Seconds that a debugger may take to answer one request."""
    start_timeout: float = 20.0
    """Seconds that a debugger may take to come up."""
    budget: int = 4000
    """Characters of text in one reply."""
    json_budget: int = 65536
    """Bytes of JSON in one reply."""
    log_events: bool = False
    """Write every event of every debugger to the daemon's log."""
    always_via: bool = False
    """Name the debugger in the text of every reply, not only of a session's first."""
    record: bool = True
    """Keep every stop in the record."""
    record_days: float = 30.0
    """Days after which a run leaves the record, unless it was saved under a name; 0 keeps it."""
    record_megabytes: float = 512.0
    """Size of the record from which on the oldest runs leave it; 0 lets it grow."""
    allow: str = "exec"
    """The highest access that any call may use: read, inspect, control or exec."""
    ask: str = ""
    """The access from which on somebody is asked before a call is made; empty: nobody is."""

    def updated(self, values: Mapping[str, Any], where: str) -> Settings:
        """These settings with some changed. Mistyped names and values that do not fit are refused; other names are let be, since
        a later version may know them."""
        known = {name: type(getattr(self, name)) for name in self.__struct_fields__}
        changes: dict[str, Any] = {}
        for name, value in values.items():
            key = name.replace("-", "_")
            if key in known:
                changes[key] = _convert(known[key], value, name, where)
            elif (meant := difflib.get_close_matches(key, [*known, ADAPTERS], 1, 0.75)) and meant[0] != key:
                raise _wrong(where, f"there is no setting {name}, as {where} has it: did you mean {meant[0]}?")
        if "allow" in changes:
            changes["allow"] = min(self.allow, changes["allow"], key=_ACCESS.index)
        if "ask" in changes:
            changes["ask"] = min(filter(None, (self.ask, changes["ask"])), key=_ACCESS.index, default="")
        return replace(self, **changes)


ADAPTERS = "adapters"
"""The one table among the settings: debuggers of the user's own."""
DEFAULTS = Settings()
"""What holds where nobody says otherwise."""


_ACCESS = ("read", "inspect", "control", "exec")


def _wrong(file: str, said: str) -> UsageError:
    """An error with words of a file in it, which may be a project's own."""
    return UsageError(said, detail={"file": file})


def _convert(kind: type, value: Any, name: str, where: str) -> Any:
    what = f"{name} in {where}"
    if kind is str:
        if value in _ACCESS or (value == "" and name == "ask"):
            return value
        raise _wrong(where, f"{what} is one of {', '.join(_ACCESS)}, not {value!r}")
    if kind is bool:
        text = str(value).strip().lower()
        if text in ("1", "true", "yes", "on"):
            return True
        if text in ("", "0", "false", "no", "off"):
            return False
        raise _wrong(where, f"{what} is true or false, not {value!r}")
    try:
        number = kind(value)
    except (TypeError, ValueError):
        raise _wrong(where, f"{what} is a number, not {value!r}") from None
    if not 0 <= number < math.inf:
        raise _wrong(where, f"{what} is a number from 0 up, not {value!r}")
    return number


def load(env: Mapping[str, str] = os.environ, project: Path | None = None) -> Settings:
    """The settings that hold here and now."""
    settings = DEFAULTS
    for path, table in tables(env, project):
        settings = settings.updated(table, str(path.name))
    return settings.updated(of_environment(env), ENVIRONMENT)


def of_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What `STILLFRAME_*` says of settings, by their names."""
    names = {"STILLFRAME_" + name.upper(): name for name in DEFAULTS.__struct_fields__}
    return {names[key]: value for key, value in env.items() if key in names}


ENVIRONMENT = "the environment"


def origins(env: Mapping[str, str] = os.environ, project: Path | None = None) -> dict[str, str]:
    """Where each setting comes from that is not by default what it is: the path of a file, or the environment."""
    found: dict[str, str] = {}
    settings = DEFAULTS
    said = [*((str(path), table) for path, table in tables(env, project)), (ENVIRONMENT, of_environment(env))]
    for where, table in said:
        before, settings = settings, settings.updated(table, where)
        for name in (key.replace("-", "_") for key in table):
            narrows = name in ("allow", "ask")  # one that would widen it is not why it is so
            if name in settings.__struct_fields__ and not (
                narrows and getattr(settings, name) == getattr(before, name)
            ):
                found[name] = where
    return found


def unknown(env: Mapping[str, str] = os.environ, project: Path | None = None) -> list[tuple[str, str]]:
    """The names that files give something to which is no setting, each with its file: they are let be, and change nothing."""
    known = {*DEFAULTS.__struct_fields__, ADAPTERS}
    said = [(name, str(path)) for path, table in tables(env, project) for name in table]
    return [(name, path) for name, path in said if name.replace("-", "_") not in known]


def tables(env: Mapping[str, str], project: Path | None) -> list[tuple[Path, Mapping[str, Any]]]:
    """What the files say, the user's first: each file that is there, and its table for us."""
    found: list[tuple[Path, Mapping[str, Any]]] = []
    for path, keys in candidates(project, env):
        try:
            table: Any = _parsed(path)
        except OSError:
            continue
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise _wrong(path.name, f"{path.name} cannot be read: {error}") from None
        for key in keys:
            table = table.get(key, {}) if isinstance(table, dict) else {}
        if not isinstance(table, dict):
            raise UsageError(f"{'.'.join(keys)} in {path.name} is no table")
        found.append((path, table))
    return found


def candidates(project: Path | None, env: Mapping[str, str] = os.environ) -> list[tuple[Path, tuple[str, ...]]]:
    """The files that may have settings, the later ones holding, and the names of the tables in which ours lies there."""
    of_project = [("pyproject.toml", ("tool", "stillframe")), ("stillframe.toml", ())]
    return [(users_file(env), ()), *((project / name, keys) for name, keys in of_project if project is not None)]


_PARSED: dict[Path, tuple[tuple[int, int, int], dict[str, Any]]] = {}


def _parsed(path: Path) -> dict[str, Any]:
    """What a file says; parsed again when it has changed, for that takes longer than all else before a launch."""
    now = path.stat()
    stamp = (now.st_mtime_ns, now.st_size, now.st_ino)
    known = _PARSED.get(path)
    if known is None or known[0] != stamp:
        known = _PARSED[path] = (stamp, tomllib.loads(plainfiles.read(path).decode("utf-8")))
    return known[1]


_ROOTS = (
    ".git",
    "pyproject.toml",
    "package.json",
    "go.mod",
    "Cargo.toml",
    "stillframe.toml",
    ".hg",
    "setup.py",
    "manage.py",
)


_SEEN: dict[str, tuple[tuple[int, ...], str]] = {}
"""Directory to the root that was found, and to when the directories up to there were last changed: it is asked at every call."""


def project_root(cwd: str) -> str:
    """The directory that a call's project lies in: the nearest one above with a sign of a project, else the cwd."""
    here = cwd if cwd in _SEEN else str(Path(cwd))
    known = _SEEN.get(here)
    if known is None or known[0] != _changes(here, len(known[0])):
        before = _changes(here)
        root, looked_at = _found_root(here)
        known = _SEEN[here] = (before[:looked_at], root)
    return known[1]


_ASKED: list[tuple[Caller, str]] = []
"""The caller that was asked about last."""


def root_of(caller: Caller) -> str:
    """The root of a call's project: looked for once in a call, however often it is asked."""
    if not _ASKED or _ASKED[0][0] is not caller:
        _ASKED[:] = [(caller, project_root(caller.cwd))]
    return _ASKED[0][1]


def _changes(folder: str, most: int = sys.maxsize) -> tuple[int, ...]:
    """When a directory and those above it last got or lost a file: a sign can come or go in no other way."""
    stamps = [_mtime(folder)]
    while len(stamps) < most and (above := os.path.dirname(folder)) != folder:
        folder = above
        stamps.append(_mtime(folder))
    return tuple(stamps)


def _found_root(here: str) -> tuple[str, int]:
    """The root, and how many directories were looked at: what lies above the nearest sign does not matter."""
    folder, looked_at = here, 1
    while not any(os.path.exists(os.path.join(folder, sign)) for sign in _ROOTS):
        above = os.path.dirname(folder)
        if above == folder:
            return here, looked_at
        folder, looked_at = above, looked_at + 1
    return folder, looked_at


class PerProject:
    """The settings of each project, read again when one of its files has changed."""

    def __init__(self, given: Settings | None = None) -> None:
        self._given = given
        self._users = str(users_file())
        self._known: dict[str, tuple[tuple[int, ...], Settings]] = {}

    def at(self, root: str) -> Settings:
        if self._given is not None:
            return self._given
        stamp = _mtime(f"{root}/pyproject.toml"), _mtime(f"{root}/stillframe.toml"), _mtime(self._users)
        known = self._known.get(root)
        if known is None or known[0] != stamp:
            known = self._known[root] = (stamp, load(project=Path(root)))
        return known[1]

    def origins(self, root: str) -> Mapping[str, str]:
        """Where those of a project come from that are not by default what they are."""
        if self._given is not None:
            given = self._given
            return {
                name: "the program"
                for name in given.__struct_fields__
                if getattr(given, name) != getattr(DEFAULTS, name)
            }
        return origins(project=Path(root))


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


_XDG = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "data": ("XDG_DATA_HOME", ".local/share"),
}


def directory(kind: str, env: Mapping[str, str] = os.environ) -> Path:
    """Our directory of one of the XDG kinds: config, state, cache or data. It may not exist yet."""
    variable, below_home = _XDG[kind]
    given = env.get(variable, "")
    base = Path(given) if given.startswith("/") else Path(env.get("HOME") or "~").expanduser() / below_home
    return base / "stillframe"


def users_file(env: Mapping[str, str] = os.environ) -> Path:
    """The file with the settings of the user's own."""
    return directory("config", env) / "config.toml"


# Files of a project

LOOKED_AT = 2000
"""Names of files among which one is looked for."""
ALIKE = 0.8
_FOREIGN = frozenset({"node_modules", "venv", "__pycache__", "target"})


def file_like(path: Path, folder: Path) -> str | None:
    """What is meant by a path to no file, from the folder: the file that the project's root has under this name, one of nearly
    the same name beside it, or the only one below that is called so, by as much of its path as was given."""
    with_root = Path(project_root(str(folder)), os.path.relpath(path, folder))
    if os.path.isfile(with_root):
        return os.path.relpath(with_root, folder)
    beside = [each.name for each in entries(path.parent) if os.path.isfile(each)]
    if near := difflib.get_close_matches(path.name, beside, 1, ALIKE):
        return os.path.relpath(path.parent / near[0], folder)
    same = [each for each in _files_below(folder) if each.name == path.name and os.path.isfile(each)]
    given = f"/{os.path.relpath(path, folder)}"
    same = [each for each in same if each.path.endswith(given)] or same
    return os.path.relpath(same[0].path, folder) if len(same) == 1 else None


def _files_below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The project's own files, those that lie higher first, as far as they are looked at."""
    folders, seen = deque([folder]), 0
    while folders and seen < LOOKED_AT:
        for each in entries(folders.popleft()):
            seen += 1
            if each.is_dir(follow_symlinks=False):
                folders.append(Path(each.path))
            else:
                yield each


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder, but for what is hidden or nobody's own."""
    try:
        with os.scandir(folder) as found:
            return sorted(
                (each for each in found if not each.name.startswith(".") and each.name not in _FOREIGN),
                key=lambda each: each.name,
            )
    except OSError:
        return []
