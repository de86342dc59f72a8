"""Which breakpoints hold the program where it is paused. Conditions that failed for a name which a compiler spells otherwise are
tried again as they were meant, and set so for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model.backend import Wanted
from .breakpoints import Breakpoints
from .client import CdpClient
from .evidence import Evidence
from .frames import Held, position
from .scripts import Scripts

Ids = tuple[str, ...]
Failed = tuple[tuple[str, str], ...]
"""Breakpoints by id, each with what its condition raised."""


class Hit(NamedTuple):
    """What stops the program at a breakpoint's place."""

    ids: Ids
    counts: bool = True
    """False where it is held only because conditions raised something."""
    said: Ids = ()
    """What is to be told of conditions."""


class Retrying:
    """What has become of the conditions where the program is held."""

    def __init__(self, client: CdpClient, scripts: Scripts, evidence: Evidence, breakpoints: Breakpoints) -> None:
        self._client = client
        self._scripts = scripts
        self._evidence = evidence
        self._breakpoints = breakpoints

    async def judge(self, held: Held) -> Hit | None:
        """By which breakpoints the program is held here; None where none should be here, or no condition holds."""
        if self._breakpoints.is_astray(held.hits):
            return None
        wanted = self._breakpoints.standing(held.hits)
        ids = tuple(dict.fromkeys(each.id for each in wanted))
        if not self._breakpoints.is_conditional(held.hits):
            return Hit(ids)
        found, failed = await self._take_hits()
        if not found and not failed and self._breakpoints.are_early:  # nobody could ask, so it is asked now
            for text in self._breakpoints.conditions(held.hits):
                await self._ask_here(held, text)
            found, failed = await self._take_hits()
            if not found and not failed:
                return None
        found, failed = await self._meant(held, wanted, found, failed)
        if not found and wanted and all(each.condition for each in wanted):
            return None
        ids = tuple(id for id in ids if id in found) or ids
        self._breakpoints.passes.stopped(ids)
        said = tuple(f"the condition of {id} raised {what}\n" for id, what in failed)
        return Hit(ids, not set(ids) <= {id for id, _ in failed}, said)

    async def _meant(self, held: Held, wanted: Sequence[Wanted], found: Ids, failed: Failed) -> tuple[Ids, Failed]:
        """The breakpoints that stop here, and what conditions raised; none where each was meant otherwise, and is not so."""
        for id, said in failed:
            text = next((each.condition for each in wanted if each.id == id), None)
            if text is None or not said.endswith(" is not defined") or not await self._again(held, id, text):
                continue
            more, failing = await self._take_hits()
            found = (*(each for each in found if each != id), *more)
            failed = (*(each for each in failed if each[0] != id), *failing)
        return found, failed

    async def _take_hits(self) -> tuple[Ids, Failed]:
        """Which conditional breakpoints held where the program stopped, and what their conditions raised."""
        body = await self._evidence.asking.ask("hits()", "")
        failed = tuple((str(id), str(said)) for id, said in body.get("failed") or ())
        return tuple(str(each) for each in body.get("hits") or ()), failed

    async def _again(self, held: Held, id: str, text: str) -> bool:
        """Whether there was another way to understand it, in which it is evaluated now."""
        script = self._scripts.get(position(held.top)[0])
        spelled = await self._evidence.spellings.bound(held.top, text)
        if script is None or not spelled:
            return False
        await self._ask_here(held, await self._breakpoints.spell(id, script.path, spelled))
        return True

    async def _ask_here(self, held: Held, condition: str) -> None:
        """Have a condition evaluated where the program is held, as V8 does when it comes there."""
        words = {"callFrameId": held.top.get("callFrameId"), "expression": condition, "silent": True}
        await self._client.request("Debugger.evaluateOnCallFrame", words)
