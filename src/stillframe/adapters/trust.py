"""What a project's own files bring runs only after somebody said so: remembered by path and content in the user's state."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..errors import Denied, StoreFull, Try
from ..settings import directory

TrustState = Literal["trusted", "changed", "untrusted"]


class Brought(msgspec.Struct, frozen=True):
    """A file of a project that makes programs run which nobody has named: what it brings, and its content as a digest."""

    path: str
    digest: str
    brings: tuple[str, ...]

    @property
    def state(self) -> TrustState:
        known = _read().get(self.path)
        return "untrusted" if known is None else "trusted" if known == self.digest else "changed"

    def need_trust(self, what: str) -> None:
        """Refuse what comes from this file unless its content is trusted."""
        if (state := self.state) != "trusted":
            why = "has changed since it was trusted" if state == "changed" else "is not trusted"
            raise Denied(f"{what} comes with {self.path}, which {why}", hint=Try("trust"), detail={"path": self.path})


def digest(content: Any, files: Iterable[Path] = ()) -> str:
    """One word for some content and for the files that it names, the same as long as none of them changes."""
    made = hashlib.sha256(msgspec.json.encode(content, order="deterministic"))
    for file in files:
        made.update(str(file).encode())
        try:
            made.update(file.read_bytes())
        except OSError:
            made.update(b"\0not there")
    return made.hexdigest()


def trust(brought: Iterable[Brought]) -> None:
    """Let these run, as they are now."""
    _write({**_read(), **{each.path: each.digest for each in brought}})


def forget(paths: Iterable[str]) -> tuple[str, ...]:
    """Trust these no more; those that were trusted."""
    known = _read()
    gone = tuple(each for each in paths if each in known)
    if gone:
        _write({path: word for path, word in known.items() if path not in gone})
    return gone


def trusted_paths() -> tuple[str, ...]:
    return tuple(sorted(_read()))


def _file() -> Path:
    return directory("state") / "trusted.json"


def _read() -> dict[str, str]:
    """Path to digest. A file that somebody else could have written is as good as none."""
    try:
        with open(_file(), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
                return {}
            return msgspec.json.decode(file.read(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):  # nothing was ever trusted, or it cannot be read: then nothing is
        return {}


def _write(known: dict[str, str]) -> None:
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{os.getpid()}.new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(msgspec.json.encode(known))
        fresh.replace(file)
    except OSError as error:
        raise StoreFull(f"cannot write {file}: {error.strerror}") from None
