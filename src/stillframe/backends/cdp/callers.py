"""What of Node's own code calls what it was given at once, as `emit` does its listeners: a step goes on in it to such a call.

Node's own code comes out of a snapshot, which V8 does not pass over (see `pausing.py`): it pauses there at each position. So a
step leaves all that only works for itself (`console.log` has thousands of them), and looks a little way into what calls.
"""

from __future__ import annotations

import re

from ...model.backend import Move
from .frames import FrameTeller, Held, position
from .journeys import Journey
from .scripts import Scripts

_CALLS = re.compile(
    r"node:(?:events|async_hooks|assert|internal/(?:async_local_storage/.*|event_target|streams/.*|assert/.*))$"
)


class Callers:
    """Tells whether a step that has come into Node's own code goes on there."""

    def __init__(self, scripts: Scripts, teller: FrameTeller, *, brittle: bool) -> None:
        self._scripts = scripts
        self._teller = teller
        self._brittle = brittle
        """Steps through the runtime's own code may crash it."""

    def may_call(self, held: Held, journey: Journey) -> bool:
        """Whether code of the user's may come next, since the runtime's that the user's has called calls what it was given."""
        if journey.move is not Move.STEP or self._brittle or journey.looks_on <= 0:
            return False
        called = next((at for at, call in enumerate(held.calls) if self._teller.is_user(call)), 0)
        script = self._scripts.get(position(held.calls[called - 1])[0]) if called else None
        if script is None or _CALLS.match(script.url) is None:
            return False
        journey.looks_on -= 1
        return True
