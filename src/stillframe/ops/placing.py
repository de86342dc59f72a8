"""One thing that is put into another program's place: a file of ours, or an entry in a file of its; idempotent, and never
over what somebody has edited."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from ..errors import NotFound
from ..model.agents import Placed
from .agentplaces import SERVER
from .settingsfiles import JsonText, toml_table, with_toml_table, without_toml_table

BACKUP = ".before-stillframe"
EDITED = "edited by somebody; --force replaces it"


class Place(Protocol):
    def install(self, *, dry_run: bool, force: bool) -> Placed: ...

    def uninstall(self, *, dry_run: bool, force: bool) -> Placed: ...


class Shipped(msgspec.Struct, frozen=True):
    """A file of ours. What we wrote is remembered by its hash, so that a newer one may take its place and an edited not."""

    agent: str
    kind: Literal["skill", "mcp", "subagent"]
    path: Path
    text: str
    record: Path

    def install(self, *, dry_run: bool, force: bool) -> Placed:
        now = _read(self.path)
        if now == self.text:
            return self._placed("unchanged")
        if now is not None and not force and not self._ours(now):
            return self._placed("kept", note=EDITED)
        if not dry_run:
            _write(self.path, self.text)
            self._remember(_hash(self.text))
        return self._placed("written" if now is None else "updated")

    def uninstall(self, *, dry_run: bool, force: bool) -> Placed:
        now = _read(self.path)
        if now is None:
            return self._placed("absent")
        if not force and now != self.text and not self._ours(now):
            return self._placed("kept", note="edited by somebody; --force removes it")
        if not dry_run:
            self.path.unlink()
            self._remember(None)
            with contextlib.suppress(OSError):  # a folder with something else in it stays
                self.path.parent.rmdir()
                if self.path.parent.name != SERVER and self.kind == "skill":
                    self.path.parent.parent.rmdir()
        return self._placed("removed")

    def _placed(self, state: Any, note: str | None = None) -> Placed:
        return Placed(agent=self.agent, kind=self.kind, path=str(self.path), state=state, note=note)

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
    kind: Literal["skill", "mcp", "subagent"]
    path: Path
    key: str
    value: dict[str, Any]

    def install(self, *, dry_run: bool, force: bool) -> Placed:
        text = _read(self.path)
        now = self._now(text)
        if now == self.value:
            return self._placed("unchanged")
        if now is not None and not force and not _begun_by_us(now):
            return self._placed("kept", note=EDITED)
        changed = self._with(text)
        return self._placed("written" if now is None else "updated", self._save(text, changed, dry_run))

    def uninstall(self, *, dry_run: bool, force: bool) -> Placed:
        text = _read(self.path)
        now = self._now(text)
        if text is None or now is None:
            return self._placed("absent")
        if not force and not _begun_by_us(now):
            return self._placed("kept", note="edited by somebody; --force removes it")
        return self._placed("removed", self._save(text, self._without(text), dry_run))

    @property
    def _is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    @property
    def _table(self) -> str:
        return f"{self.key}.{SERVER}"

    def _now(self, text: str | None) -> Any:
        if not (text or "").strip():
            return None
        assert text is not None
        if self._is_toml:
            return toml_table(text, self._table, self.path.name)
        return JsonText(text, self.path.name).get(self.key, SERVER)

    def _with(self, text: str | None) -> str:
        if self._is_toml:
            return with_toml_table(text or "", self._table, self.value)
        return JsonText(text if (text or "").strip() and text else "{}\n", self.path.name).put(
            (self.key, SERVER), self.value
        )

    def _without(self, text: str) -> str:
        if self._is_toml:
            return without_toml_table(text, self._table)
        return JsonText(text, self.path.name).without((self.key, SERVER))

    def _save(self, before: str | None, after: str, dry_run: bool) -> str | None:
        """Write it, with what was there kept beside it; the path of that."""
        if dry_run:
            return None
        backup = None
        if before is not None:
            backup = self.path.with_name(self.path.name + BACKUP)
            _write(backup, before)
        _write(self.path, after)
        return str(backup) if backup else None

    def _placed(self, state: Any, backup: str | None = None, note: str | None = None) -> Placed:
        return Placed(agent=self.agent, kind=self.kind, path=str(self.path), state=state, backup=backup, note=note)


def _begun_by_us(entry: Any) -> bool:
    """Whether an entry is one that some install wrote: it runs `dbg mcp`, with nothing but an access of ours behind it, and
    nobody has put variables or the like into it."""
    if not isinstance(entry, dict) or not set(entry) <= {"type", "tools", "command", "args"}:
        return False
    args = entry.get("args")
    if Path(str(entry.get("command"))).name != "dbg" or not isinstance(args, list) or args[:1] != ["mcp"]:
        return False
    return args[1:] == [] or (args[1:2] == ["--allow"] and len(args) == 3)


def _known(record: Path) -> dict[str, str]:
    try:
        found = json.loads(record.read_text())
    except (OSError, ValueError):
        return {}
    return {str(path): str(digest) for path, digest in found.items()} if isinstance(found, dict) else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path} cannot be read: {error}; nothing was changed there") from None


def _write(path: Path, text: str) -> None:
    """The whole of it or nothing, through a link to where the file really is, with the mode that it had."""
    real = Path(os.path.realpath(path))
    mode = real.stat().st_mode & 0o777 if real.exists() else None
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(draft, mode if mode is not None else 0o600 if real.name.startswith(".claude") else 0o644)
        os.replace(draft, real)
    except OSError as error:
        raise NotFound(f"{path} cannot be written: {error}") from None
