"""The roll of a host's sessions: which there are, in memory and on disk, which one a call means, and which names are free."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

from ..errors import Busy, NoSession, Try
from ..model.plans import Caller
from ..settings import root_of
from .kept import Kept
from .names import check_name, made_of
from .session import Session
from .shelf import Shelf


class Roll:
    """Finding and naming. A call without a name means the session that its client is at, or the only one that lives here."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self._all: dict[str, Session] = {}
        self._opening: set[str] = set()
        """Names of sessions that are just being opened."""
        self._current: dict[tuple[str, str], str] = {}
        """The session that each client is at, project by project."""
        self._last: dict[str, str] = {}
        """The session that the last call in each project was about."""

    @property
    def all(self) -> tuple[Session, ...]:
        return tuple(self._all.values())

    @property
    def live(self) -> int:
        return sum(session.live for session in self._all.values())

    def find(self, name: str | None, caller: Caller, *, any_one: bool = False) -> Session:
        """The session meant: by name, else the one that this client is at, else the only live one of the project; or any
        live one, where all of them are meant."""
        found = self.find_or_kept(name, caller, any_one=any_one)
        if isinstance(found, Session):
            return found
        if name is None:
            found = next((each for each in self._kept_here(caller) if each.state == "live"), None)
        if found is None:
            raise nobody_here(self.in_other_projects(caller))
        found.need_here()
        if name is None:
            raise NoSession(f"{found.name} was lost with its daemon", hint=found.again)
        what = "not debugged any more" if found.attached else "not running"
        raise NoSession(f"{found.name} is {what}; its breakpoints are kept", hint=found.again)

    def in_other_projects(self, caller: Caller) -> tuple[str, ...]:
        """The sessions that live in other projects than the caller's, each with where that is."""
        here = root_of(caller)
        return tuple(
            f"{each.name} in {each.origin.root}"
            for each in self._all.values()
            if each.live and each.parent is None and not each.private and each.origin.root != here
        )

    def find_or_kept(self, name: str | None, caller: Caller, *, any_one: bool = False) -> Session | Kept | None:
        """For what can do without a session in memory: that one, else what is on disk of it, or of the newest here."""
        if name is None:
            return self._meant(caller, any_one) or next(iter(self._kept_here(caller)), None)
        check_name(name)
        if name in self._all:
            return self._all[name]
        kept = next((each for each in self._kept_here(caller) if each.name == name), None)
        if kept is None:
            raise NoSession(f"there is no session {name}", hint=Try("sessions"))
        return kept

    def knows(self, name: str, caller: Caller) -> bool:
        """Whether a session of this name is in memory, or kept for this project."""
        check_name(name)
        return name in self._all or any(each.name == name for each in self._kept_here(caller))

    def project_of(self, name: str) -> str | None:
        """The project of a session in memory."""
        found = self._all.get(name)
        return found.root.origin.root if found else None

    def _meant(self, caller: Caller, any_one: bool) -> Session | None:
        """The session in memory that a call without a name is about."""
        root = root_of(caller)
        roots = [
            each for each in self._all.values() if each.origin.root == root and each.parent is None and not each.private
        ]
        live = [each for each in roots if any(member.live for member in each.family())]
        current = self._all.get(self._current.get((caller.client, root), ""))
        if current is not None and current.parent is not None and not current.live:
            current = current.root  # a child is current until it ends
        if current is not None and not (current.root.stopping and live):
            return current
        if len(live) == 1 or (live and any_one):
            stopped = [each for each in live[0].family() if each.live]
            return stopped[0]
        if live:
            names = ", ".join(each.name for each in live)
            raise NoSession(f"several sessions live here: {names}; name one with --session", hint=Try("sessions"))
        return max(roots, key=lambda each: each.last_used, default=None)

    def use(self, session: Session, client: str) -> bool:
        """Make this the client's session of its project; True where the last call there was about another one."""
        if session.private:
            return False
        session.last_used = time.monotonic()
        self._current[client, session.origin.root] = session.name
        before = self._last.get(session.origin.root, session.name)
        self._last[session.origin.root] = session.name
        return before != session.name

    def lost_here(self, caller: Caller) -> tuple[Kept, ...]:
        """Sessions of this project that lived when their daemon died."""
        return tuple(each for each in self._kept_here(caller) if each.state == "live" and not each.elsewhere)

    def elsewhere(self, caller: Caller) -> tuple[Kept, ...]:
        """Sessions of this project that live with another daemon."""
        return tuple(each for each in self._kept_here(caller) if each.elsewhere)

    def _kept_here(self, caller: Caller) -> list[Kept]:
        """What is on disk of sessions of this project that are not in memory, newest first."""
        root = root_of(caller)
        found = self._shelf.of_project(root) if self._shelf else ()
        return [each for each in found if each.name not in self._all or self._all[each.name].origin.root != root]

    # Naming

    def _free_name(self, name: str | None, default: str, caller: Caller) -> str:
        elsewhere = {each.name: each for each in self.elsewhere(caller)}
        if name is not None:
            check_name(name)
            if daemon := elsewhere[name].elsewhere if name in elsewhere else None:
                raise Busy(f"a live session of another daemon is called {name} ({daemon.way} sessions)")
            if self._is_taken(name):
                raise Busy(f"a live session is called {name}", hint=Try("stop", {"session": name}))
            return name
        stem = made_of(default)
        names = (stem if number == 1 else f"{stem}-{number}" for number in itertools.count(1))
        return next(each for each in names if each not in elsewhere and not self._is_taken(each))

    def _is_taken(self, name: str) -> bool:
        """Whether a live session has this name, or one that is just being opened."""
        old = self._all.get(name)
        return name in self._opening or (old is not None and any(each.live for each in old.family()))


def nobody_here(others: Sequence[str]) -> NoSession:
    """That a project has no session; and whom else was meant, perhaps, by somebody who has gone to another directory."""
    if not others:
        return NoSession("no session here", hint=Try("launch"))
    listed = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return NoSession(
        f"no session here; there is {listed}: --session NAME reaches it", hint=Try("sessions", {"all": True})
    )
