"""Promises that were rejected by what is no error: by what, and where, since Node's own error for these tells neither."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from ...model.values import Frame
from .client import Body, CdpClient, Refused
from .evidence import Evidence
from .frames import Held, position
from .scripts import Scripts
from .thrown import is_foreseen

_STAND_IN = "UnhandledPromiseRejection"
_TELLS = "node:internal/process/promises"
_REASON = "typeof promiseInfo === 'object' ? promiseInfo.reason : reason"
"""In Node's own call that tells of a rejection (18 to 24)."""
_KEPT = 50


class Rejections:
    """Where values that are no objects were handed over as the reason of a promise, the newest of them."""

    def __init__(self, client: CdpClient, scripts: Scripts, evidence: Evidence) -> None:
        self._client = client
        self._scripts = scripts
        self._evidence = evidence
        self.told: Body = {}
        """What was told last as thrown and not caught, where it is no object: a text or number has no identity."""
        self._seen: deque[tuple[Body, tuple[Frame, ...]]] = deque(maxlen=_KEPT)

    def note(self, held: Held) -> None:
        if "objectId" not in held.data:
            places = (replace(each, id="", key=None) for each in self._evidence.teller.frames(held))
            self._seen.append((plain(held.data), tuple(places)))

    def places(self, reason: Body) -> tuple[Frame, ...]:
        """The calls in which a promise was rejected by this; they are gone."""
        return next((frames for known, frames in reversed(self._seen) if known == plain(reason)), ())

    async def is_told(self, error: Body, *, stands_in: bool) -> bool:
        """Whether it was told when it was thrown; of what Node made an error for, `stands_in`, nobody has asked yet."""
        if "objectId" not in error:
            return error == self.told
        return stands_in and await is_foreseen(self._evidence.asking, error)

    async def meant(self, held: Held, error: Body) -> Body:
        """By what a promise was rejected, where this error is only Node's word for that; else the error itself."""
        if not str(error.get("description") or "").lstrip("[").startswith(_STAND_IN):
            return error
        for call in held.calls:
            script = self._scripts.get(position(call)[0])
            if script is None or script.url != _TELLS:
                continue
            words = {"callFrameId": call.get("callFrameId"), "expression": _REASON, "silent": True}
            try:
                answer = await self._client.request("Debugger.evaluateOnCallFrame", words)
            except Refused:
                continue
            if "exceptionDetails" not in answer:
                return dict(answer.get("result") or error)
        return error


def plain(thrown: Body) -> Body:
    """What was thrown, without what V8 says of its fate."""
    return {key: value for key, value in thrown.items() if key != "uncaught"}
