"""Who may do what: a call's access class against the highest that its client was allowed, and a log of what ran code."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .errors import Denied
from .record import redaction
from .registry import Access, Call, Operation

log = logging.getLogger(__name__)

AUDIT_BYTES = 1024 * 1024
"""How long the log grows before the older half of it goes to a second file."""
SHOWN = 500
"""Characters of one argument that the log keeps."""


TOLD_AS_THEY_ARE = frozenset({"eval", "set", "set-return", "raw", "request"})
"""Verbs by which a caller names the very thing that it wants to see: nothing is left out of what they answer."""


def needed(operation: Operation, bound: Mapping[str, Any], *, reveal: bool) -> Access:
    """The class of a call; a condition, `--do` or `--reveal` makes any call exec."""
    return Access.EXEC if reveal else operation.access_for(bound)


def check(operation: Operation, needed: Access, given: Access, settings: Access, place: str = "") -> None:
    """Refuse a call whose class is above what its client was given, or above what the settings (of a `place`) leave of that."""
    allow = min(given, settings)
    if needed > allow:
        needs, only = needed.name.lower(), allow.name.lower()
        of = f" of {place}" if place else ""
        way = f"`allow` in the settings{of}, now {only}," if settings < needed else f"--allow {needs}"
        raise Denied(
            f"{operation.name} needs {needs}, and only {only} is allowed here: {way} grants it",
            detail={"needs": needs, "allowed": only},
        )


def must_ask(needed: Access, ask: str) -> bool:
    """Whether the settings want somebody to be asked before a call of this class is made."""
    return bool(ask) and needed >= Access[ask.upper()]


def unasked(operation: Operation, needs: str) -> Denied:
    """A call that somebody has to agree to, and nobody is there."""
    return Denied(
        f"{operation.name} needs {needs}, which is asked about here, and nobody is there to be asked: "
        "call it at a terminal; or `ask` in the settings grants it",
        detail={"needs": needs, "asked": True},
    )


class Audit:
    """A line for every call that runs code of the caller's, made or refused; for the user's eyes only."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, call: Call, *, refused: bool) -> None:
        """Write a call down before it is made. Debugging goes on where that is not possible, and the daemon's log says so."""
        entry = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": call.caller.client,
            "op": call.op,
            "session": call.session,
            "cwd": call.caller.cwd,
            "args": {name: _kept(name, given) for name, given in call.args.items() if given not in (None, (), [])},
            "reveal": call.reveal,
            "refused": refused,
        }
        line = json.dumps({key: value for key, value in entry.items() if value}, default=str) + "\n"
        try:
            self._append(line.encode())
        except OSError as error:
            log.warning("the audit log cannot be written: %s", error)

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
            full = os.fstat(handle).st_size > AUDIT_BYTES
        finally:
            os.close(handle)
        if full:
            self._path.replace(self._path.with_suffix(".log.1"))


def _kept(name: str, given: Any) -> Any:
    """An argument as the log keeps it: of variables their names alone, since their values are often secrets; of all else what
    does not look like one."""
    if isinstance(given, list | tuple):
        safe = given if name == "env" else redaction.anything(list(given), name)
        return [_kept(name, each) for each in safe]
    if isinstance(given, str):
        return given.partition("=")[0] if name == "env" else redaction.text(given)[:SHOWN]
    return given
