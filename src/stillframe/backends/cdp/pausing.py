"""An order to pause: given again until it is heard, and led on until it has found something of the user's.

V8 blackboxes no script out of Node's own snapshot (Node 18 to 24: they belong to no context; Debian's build of 18 has no
snapshot), and so takes every line of the runtime between two callbacks of a program's for a place to pause at.
"""

from __future__ import annotations

import asyncio
from itertools import chain, repeat

from ...model.backend import Move
from .client import Body, CdpClient
from .finishing import RESUME, STEPS
from .frames import FrameTeller, Held, position
from .scripts import Scripts

BY_ITSELF = frozenset({"other", "step"})
"""V8's words for a pause that nothing but an order of ours has brought about."""
_PATIENCE = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds after which a pause that has not come is asked for again."""
_STEPS = 3000
"""Lines of the runtime's that are passed before a pause is told all the same; a callback of a timer's is behind some 70."""
_LOOKS = 6
"""How often a runtime that only begins is let go on, to be asked again."""
_BEGINNING = "node:internal/main/"
"""The script at the bottom of everything that the runtime does before it calls the program."""


class PauseOrder:
    """Whether somebody wants the program held, and the way there."""

    def __init__(self, client: CdpClient, scripts: Scripts, teller: FrameTeller, *, brittle: bool) -> None:
        self._client = client
        self._scripts = scripts
        self._teller = teller
        self._brittle = brittle
        """Steps through the runtime's own code may crash it."""
        self.is_given = False
        self._is_unwanted = False
        """It was given and taken back, which V8 cannot do: its pause is let go when it comes."""
        self._steps = self._looks = 0
        self._fulfilled = asyncio.Event()
        self._repeating: asyncio.Task[None] | None = None

    async def give(self) -> None:
        self.is_given, self._is_unwanted = True, False
        self._steps, self._looks = _STEPS, _LOOKS
        self._fulfilled.clear()
        await self._client.request("Debugger.pause")
        self._repeating = asyncio.create_task(self._repeat())

    def take_back(self) -> None:
        self._is_unwanted = self.is_given
        self.fulfilled()

    def fulfilled(self) -> None:
        """The program is held, or nobody wants that any more."""
        self.is_given = False
        self._fulfilled.set()

    async def _repeat(self) -> None:
        """V8 (of Node 24) forgets the order where it meets library code, as in a loop that has just printed something."""
        for seconds in chain(_PATIENCE, repeat(_PATIENCE[-1])):
            try:
                async with asyncio.timeout(seconds):
                    await self._fulfilled.wait()
                return
            except TimeoutError:
                if self._client.ended or not self.is_given:
                    return
                self._client.send("Debugger.pause")

    def onward(self, held: Held) -> str | None:
        """The way on from a pause that found nothing of the user's; None where it is to be told.

        While Node starts that is far away, so that it goes on and is asked again; else steps come to it, and miss nothing.
        """
        if not self.is_given or not self._scripts.hides_library or self.is_at_files(held):
            return None
        if self._begins(held):
            self._looks -= 1
            return RESUME if self._looks >= 0 else None
        self._steps -= 1
        return STEPS[Move.STEP] if self._steps >= 0 and not self._brittle else None

    def lets_go(self, held: Held, *, stepping: bool) -> bool:
        """Whether this is what came of an order that was taken back, or of the steps by which it was led on. A step that waits
        for the user's code to be called again is none the less under way: it does not end in what we ask an idle program."""
        if not self._is_unwanted:
            return False
        came_of_it = set(held.reasons) <= BY_ITSELF
        self._is_unwanted = not came_of_it or (stepping and self.is_at_files(held))
        return not self._is_unwanted

    def _begins(self, held: Held) -> bool:
        bottom = self._scripts.get(position(held.calls[-1])[0]) if held.calls else None
        return bottom is not None and bottom.url.startswith(_BEGINNING)

    def is_at_files(self, held: Held) -> bool:
        """Whether the pause found something of the user's own files."""
        return any(map(self._is_a_files, held.calls))

    def _is_a_files(self, call: Body) -> bool:
        """Whether a call is of the user's own files. (Its `url` may be empty: the script has it.)"""
        script = self._scripts.get(position(call)[0])
        return script is not None and bool(script.url) and self._teller.is_user(call)
