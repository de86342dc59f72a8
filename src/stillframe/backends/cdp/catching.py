"""Pauses at what is thrown or rejected: which of them are stops, by what the user chose and by what V8 foresees wrongly."""

from __future__ import annotations

from ...model.backend import CatchRule
from .client import CdpClient
from .evidence import Evidence
from .frames import Held
from .rejected import Rejections, plain
from .scripts import Scripts
from .thrown import Handing, classes
from .wording import Wording

_REJECTS = r"(?:Promise\s*\.\s*)?reject|Promise(?:Reject)?"
"""A call that makes a promise rejected, or one that is made so; the last is how Node's own code calls it, of web streams."""


class Catching:
    """What is to stop the program of all that is thrown in it."""

    def __init__(self, client: CdpClient, scripts: Scripts, evidence: Evidence, wording: Wording) -> None:
        self._client = client
        self._scripts = scripts
        self._evidence = evidence
        self._wording = wording
        self._handing = Handing(scripts)
        self._rejections = Rejections(client, scripts, evidence)
        self._classes: tuple[str, ...] = ()
        """Where not empty, only these classes of what is thrown and caught stop the program."""
        self._stops_raised = False

    def want(self, catch: CatchRule) -> str:
        """Take what the user chose; V8's word for when it is to pause."""
        self._stops_raised = "raised" in catch.modes
        self._classes = () if self._stops_raised else catch.classes
        if self._stops_raised or catch.classes:
            return "all"
        return "uncaught" if catch.modes else "none"

    @property
    def lost_error(self) -> str | None:
        """One that V8 has lost, so that the program goes on as if nothing had been thrown."""
        return self._handing.lost

    async def is_end(self, held: Held) -> bool:
        """Whether Node's own call that ends the program by an error is a stop: one that was not told when it was thrown."""
        arguments = {"callFrameId": held.top.get("callFrameId"), "expression": "error", "silent": True}
        answer = await self._client.request("Debugger.evaluateOnCallFrame", arguments)
        error = answer.get("result") or {}
        reason = await self._rejections.meant(held, error)
        if await self._rejections.is_told(reason, stands_in=reason is not error):
            return False
        self._handing.told()
        self._evidence.lost_error, self._evidence.lost_places = reason, self._rejections.places(reason)
        return True

    async def is_stop(self, held: Held) -> bool:
        """Whether what V8 pauses at as thrown is a stop."""
        if self._handing.is_it(held) or not await self._is_wanted(held):
            return False
        if held.data.get("uncaught") and held is not self._evidence.handed_over:
            self._rejections.told = plain(held.data)
        return True

    async def _is_wanted(self, held: Held) -> bool:
        if self._classes and not held.data.get("uncaught"):
            if self._is_runtimes(held):
                return False
            names, known = await classes(self._evidence.asking, held.data)
            again = known and not self._evidence.teller.is_user(held.top)  # library code hands on what was told
            return not again and bool(set(self._classes) & set(names))
        is_uncaught = bool(held.data.get("uncaught")) and not await self._is_handed_over(held)
        return is_uncaught or (self._stops_raised and not self._is_runtimes(held))

    def _is_runtimes(self, held: Held) -> bool:
        """An error that Node's own code throws to itself, as its loader does with each name of a package that is no address: a
        part of it comes out of a snapshot, which V8 does not pass over."""
        own = self._scripts.hides_library and self._evidence.teller.is_runtime(held.top)
        return own and all(each.kind == "library" for each in self._evidence.teller.frames(held))

    async def _is_handed_over(self, held: Held) -> bool:
        """A promise that is made rejected, not by a throw: whoever is given it may handle it; if nobody does, Node tells."""
        if held.reason != "promiseRejection":
            return False
        if handed := await self._wording.calls(held, _REJECTS):
            if self._evidence.teller.is_runtime(held.top):  # streams say only afterwards that nobody need handle it
                self._evidence.handed_over = held
            self._rejections.note(held)
        return handed
