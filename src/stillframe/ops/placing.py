"""One thing that is put into another program's place: a file of ours, or an entry in a file of its; idempotent, and never
over what somebody has edited."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from ..errors import NotFound, StillframeError
from ..model.agents import Placed
from .agentplaces import SERVER
from .settingsfiles import (
    JsonText,
    spelled_as,
    toml_table,
    unspelled,
    with_toml_table,
    without_toml_table,
)

BACKUP = ".before-stillframe"
EDITED = "edited by somebody; --force replaces it"
Kind = Literal["skill", "mcp", "subagent"]


class Place(Protocol):
    @property
    def kind(self) -> Kind: ...

    @property
    def path(self) -> Path: ...

    def is_there(self) -> bool: ...

    def install(self, *, dry_run: bool, force: bool) -> Placed: ...

    def uninstall(self, *, dry_run: bool, force: bool) -> Placed: ...


class Shipped(msgspec.Struct, frozen=True):
    """A file of ours. What we wrote is remembered by its hash, so that a newer one may take its place and an edited not."""

    agent: str
    kind: Kind
    path: Path
    text: str
    record: Path
    base: Path
    """The home directory or the project: folders below it that are left empty go, too."""

    def install(self, *, dry_run: bool, force: bool) -> Placed:
        now = _read(self.path)
        if now == self.text:
            return self._placed("unchanged")
        if now is not None and not force and not self._ours(now):
            return self._placed("kept", note=EDITED)
        self._need_room()
        if not dry_run:
            _write(self.path, self.text)
            self._remember(_hash(self.text))
        return self._placed("written" if now is None else "updated")

    def is_there(self) -> bool:
        return _read(self.path) is not None

    def keep_for(self, reader: str, **_how: bool) -> Placed:
        """Left where it is when its agent goes, since another one reads it, too."""
        return self._placed("kept", note=f"{reader} reads it, too") if self.is_there() else self._placed("absent")

    def uninstall(self, *, dry_run: bool, force: bool) -> Placed:
        now = _read(self.path)
        if now is None:
            return self._placed("absent")
        if not force and now != self.text and not self._ours(now):
            return self._placed("kept", note="edited by somebody; --force removes it")
        self._need_room()
        if not dry_run:
            self.path.unlink()
            self._remember(None)
            _tidy(self.path, self.base)
        return self._placed("removed")

    def _placed(self, state: Any, note: str | None = None) -> Placed:
        return Placed(agent=self.agent, kind=self.kind, path=str(self.path), state=state, note=note)

    def _need_room(self) -> None:
        for each in (self.path, self.record):
            _need_writable(each)

    def _ours(self, text: str) -> bool:
        return _hash(text) == _known(self.record).get(str(self.path))

    def _remember(self, digest: str | None) -> None:
        known = _known(self.record)
        known.pop(str(self.path), None)
        if digest:
            known[str(self.path)] = digest
        _write(self.record, json.dumps(known, indent=1) + "\n")


class Entry(msgspec.Struct, frozen=True):
    """Our entry among the MCP servers of an agent's settings."""

    agent: str
    kind: Kind
    path: Path
    key: str
    value: dict[str, Any]
    base: Path

    def install(self, *, dry_run: bool, force: bool) -> Placed:
        raw = _raw(self.path)
        text = unspelled(raw or "")
        now = self._now(text)
        if now == self.value:
            return self._placed("unchanged")
        if now is not None and not force and not _begun_by_us(now):
            return self._placed("kept", note=EDITED)
        changed = spelled_as(raw or "", self._with(text, self.value))
        _need_writable(self.path)
        pristine = now is not None and self._pristine(raw or "", now) is not None
        if dry_run:
            backup = None
        elif pristine:  # what is beside it is from before us, and stays so
            _write(self.path, changed)
            backup = str(self._backup)
        else:
            backup = self._save(raw, changed)
        return self._placed("written" if now is None else "updated", backup)

    def is_there(self) -> bool:
        """Whether somebody's settings have it; those that cannot be read are for whoever changes them to be told of."""
        with contextlib.suppress(NotFound):
            return self._now(unspelled(_raw(self.path) or "")) is not None
        return False

    def uninstall(self, *, dry_run: bool, force: bool) -> Placed:
        raw = _raw(self.path)
        text = unspelled(raw or "")
        now = self._now(text)
        if raw is None or now is None:
            return self._placed("absent")
        if not force and not _begun_by_us(now):
            return self._placed("kept", note="edited by somebody; --force removes it")
        pristine = self._pristine(raw, now)
        rest = spelled_as(raw, self._without(text)) if pristine is None else pristine
        _need_writable(self.path)
        return self._placed("removed", None if dry_run else self._take_away(raw, rest))

    @property
    def _is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    @property
    def _table(self) -> str:
        return f"{self.key}.{SERVER}"

    @property
    def _backup(self) -> Path:
        return self.path.with_name(self.path.name + BACKUP)

    def _now(self, text: str) -> Any:
        if self._is_toml:
            return toml_table(text, self._table, str(self.path))
        return JsonText(text, str(self.path)).get(self.key, SERVER)

    def _with(self, text: str, value: dict[str, Any]) -> str:
        if self._is_toml:
            return with_toml_table(text, self._table, value, str(self.path))
        return JsonText(text, str(self.path)).put((self.key, SERVER), value)

    def _without(self, text: str) -> str:
        if self._is_toml:
            return without_toml_table(text, self._table, str(self.path))
        return JsonText(text, str(self.path)).without((self.key, SERVER))

    def _pristine(self, raw: str, now: Any) -> str | None:
        """The file as it was before us, to the letter, where a copy tells and nobody has changed anything but us since."""
        if not self._backup.is_file() or self._backup.is_symlink() or not isinstance(now, dict):
            return None
        try:
            before = _raw(self._backup) or ""
            text = unspelled(before)
            is_so = self._now(text) is None and spelled_as(before, self._with(text, now)) == raw
        except StillframeError:  # somebody has made something else of it
            return None
        return before if is_so else None

    def _holds_nothing(self, raw: str) -> bool:
        """Whether a file is as good as none: without our entry it has neither a setting nor a comment."""
        rest = self._without(unspelled(raw)).split()
        return "".join(rest) in ("", "{}", f'{{"{self.key}":{{}}}}')

    def _is_ours_alone(self, raw: str) -> bool:
        """Whether our entry is all that a file holds; one without it is somebody's, however empty."""
        return self._now(unspelled(raw)) is not None and self._holds_nothing(raw)

    def _save(self, before: str | None, after: str) -> str | None:
        """Write it, with what was there kept beside it; the path of that."""
        kept = before is not None and not self._is_ours_alone(before)
        if kept and before is not None:
            _keep(self._backup, before, like=self.path)
        _write(self.path, after)
        return str(self._backup) if kept else None

    def _take_away(self, before: str, after: str) -> str | None:
        """As it was before us: a file that only we have written goes, and so does a copy of what is there again."""
        if self._holds_nothing(after) and not self._backup.exists() and not self.path.is_symlink():
            self.path.unlink()
            _tidy(self.path, self.base)
            return None
        if self._backup.is_file() and not self._backup.is_symlink() and _raw(self._backup) == after:
            _write(self.path, after)
            self._backup.unlink()
            return None
        return self._save(before, after)

    def _placed(self, state: Any, backup: str | None = None, note: str | None = None) -> Placed:
        return Placed(agent=self.agent, kind=self.kind, path=str(self.path), state=state, backup=backup, note=note)


def _begun_by_us(entry: Any) -> bool:
    """Whether an entry is one that some install wrote: it runs `dbg mcp`, with nothing behind it but what an install puts there,
    and nobody has put variables or the like into it."""
    if not isinstance(entry, dict) or not set(entry) <= {"type", "tools", "command", "args"}:
        return False
    args = entry.get("args")
    if Path(str(entry.get("command"))).name != "dbg" or not isinstance(args, list) or args[:1] != ["mcp"]:
        return False
    flags = [str(each) for each in args[1::2]]
    return len(args) % 2 == 1 and len(set(flags)) == len(flags) and set(flags) <= {"--allow", "--answers"}


def _known(record: Path) -> dict[str, str]:
    try:
        found = json.loads(record.read_text())
    except (OSError, ValueError):
        return {}
    return {str(path): str(digest) for path, digest in found.items()} if isinstance(found, dict) else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str | None:
    """A text with plain newlines, as ours have them, whatever a checkout made of them."""
    found = _raw(path)
    return None if found is None else found.replace("\r\n", "\n")


def _raw(path: Path) -> str | None:
    """What a file holds. Something else in its place, such as a link to a device, is neither read nor replaced."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotFound(f"{path} is no plain file; nothing was changed there")
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path} cannot be read: {error}; nothing was changed there") from None


def _need_writable(path: Path) -> None:
    """Refuse, before anything is changed, what could not be written: the whole file is put in its place, so its folder counts;
    and a file that somebody has made read-only, which that would pass over."""
    real = Path(os.path.realpath(path))
    if real.exists() and not os.access(real, os.W_OK):
        raise NotFound(f"{path} cannot be written: it is read-only for you; nothing was changed")
    folder = real.parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise NotFound(f"{path} cannot be written: {folder} is no folder; nothing was changed")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise NotFound(f"{path} cannot be written: you may not write to {folder}; nothing was changed")


def _write(path: Path, text: str) -> None:
    """The whole of it or nothing, through a link to where the file really is, with the mode that it had."""
    real = Path(os.path.realpath(path))
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o600 if real.name.startswith(".claude") else 0o644
    _replace(real, text, mode)


def _keep(path: Path, text: str, *, like: Path) -> None:
    """A copy, as hidden from others as what it is a copy of; in the place of a link that somebody has laid there."""
    _replace(path, text, like.stat().st_mode & 0o777)


def _replace(path: Path, text: str, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(text.encode())
            os.chmod(draft, mode)
            os.replace(draft, path)
        except OSError:
            os.unlink(draft)
            raise
    except OSError as error:
        raise NotFound(f"{path} cannot be written: {error}") from None


def _tidy(path: Path, base: Path) -> None:
    """Take away the folders that are empty now, below the home directory or the project."""
    with contextlib.suppress(OSError):  # a folder with something else in it stays
        for folder in path.parents:
            if base not in folder.parents:
                return
            folder.rmdir()
