"""Function breakpoints as the debugger is told of them, and which of its numbers belongs to which name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import translate
from .client import DapClient
from .launch import DapLaunch, Quirk

Arguments = dict[str, Any]
_REQUEST = "setFunctionBreakpoints"


class Functions:
    """The functions that one debugger was told to stop in."""

    def __init__(self, client: DapClient, launch: DapLaunch) -> None:
        self._client = client
        self._apart = Quirk.SHUFFLES_FUNCTIONS in launch.quirks
        self._numbers: dict[str, int] = {}
        """Name to the debugger's number, where its answers are in no order."""

    async def tell(self, asked: Sequence[Arguments]) -> list[translate.Body]:
        """Make the whole set so; an answer for each, in the order in which they are asked for."""
        if not self._apart:
            return await self._told(asked)
        return await self._told_apart(asked)

    async def _told(self, asked: Sequence[Arguments]) -> list[translate.Body]:
        body = await self._client.request(_REQUEST, {"breakpoints": list(asked)})
        return translate.items(body, "breakpoints")

    async def _told_apart(self, asked: Sequence[Arguments]) -> list[translate.Body]:
        """One new name after the other: the number that was not there before is that of the name that was not."""
        first = {each["name"]: each for each in asked}  # it knows one breakpoint for each name
        self._numbers = {name: number for name, number in self._numbers.items() if name in first}
        sent = [each for each in first.values() if each["name"] in self._numbers]
        answers = _by_number(await self._told(sent))
        for each in first.values():
            if each["name"] not in self._numbers:
                sent.append(each)
                answers = _by_number(await self._told(sent))
                new = next((number for number in answers if number not in self._numbers.values()), -1)
                self._numbers[each["name"]] = new
        return [answers.get(self._numbers.get(each["name"], -1), {}) for each in asked]


def _by_number(answers: Sequence[translate.Body]) -> dict[int, translate.Body]:
    return {number: each for each in answers if (number := translate.number(each.get("id"))) is not None}
