"""The last command of each project, for calls that say where to look and not what to run."""

from __future__ import annotations

from ..model.plans import Caller, Plan
from ..settings import root_of
from .kept import KeptPlan
from .shelf import Shelf


class Commands:
    """Kept on the shelf, so that a later daemon knows it too; without one, as long as the host lives."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self._here: dict[str, KeptPlan] = {}

    def keep(self, plan: Plan, caller: Caller) -> None:
        root, kept = root_of(caller), KeptPlan.of(plan)
        self._here[root] = kept
        if self._shelf is not None:
            self._shelf.save_command(root, kept)

    def last(self, caller: Caller) -> Plan | None:
        """What was last run in the caller's project, in the environment that the caller has now."""
        root = root_of(caller)
        kept = self._shelf.load_command(root) if self._shelf is not None else self._here.get(root)
        return kept.plan(caller.env, caller.umask) if kept is not None else None
