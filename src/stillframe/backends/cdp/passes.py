"""Breakpoints that the program comes to without being stopped by them, as our code in the target tells of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...model import exact
from ...model.backend import Output, Wanted

_EXACTLY = 100
"""Up to here each time is told (`TOLD_EACH` in store.js), then powers of ten."""


class Passes:
    """How often each was come to, and which of them have stopped the program: those are no riddle."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._stopped: set[str] = set()

    def heard(self, payload: str) -> Output | None:
        """Take what is said of a breakpoint: its log text, or how often it was come to by now. None where there is nothing to
        tell, or the words are not of our making."""
        try:
            said = exact.decode(payload, dict[str, Any])
        except msgspec.DecodeError:
            return None
        if "passed" in said:
            self._times[str(said.get("id"))] = int(said["passed"])
            return None
        return Output("log", f"{said.get('text')}\n".encode("utf-8", "surrogatepass"), (str(said.get("id")),))

    def stopped(self, ids: Iterable[str]) -> None:
        """These have stopped it, by a hit or by what their condition raised."""
        self._stopped.update(ids)

    def told(self, wanted: Wanted) -> str | None:
        """What is to be said of one that never stopped the program though it was come to."""
        times = 0 if wanted.id in self._stopped else self._times.get(wanted.id, 0)
        if not times:
            return None
        many = "once" if times == 1 else f"{times:,} times" if times <= _EXACTLY else f"{times:,} times or more"
        return f"come to {many}, its condition never held" if wanted.condition and not wanted.hit else f"come to {many}"
