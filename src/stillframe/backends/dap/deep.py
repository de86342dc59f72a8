"""Breakpoints below the source: on instructions, and on data that the program touches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import Unsupported
from ...model.backend import Binding, Capability, Wanted
from ...model.outcomes import Bound
from . import translate
from .client import Body, DapClient, Refused
from .evidence import wire_id
from .launch import ConsoleWatch, DapLaunch

Terms = Callable[[Wanted], dict[str, Any]]


def is_deep(wanted: Wanted) -> bool:
    return wanted.address is not None or wanted.data is not None


class DeepBreakpoints:
    """The instructions and the data that one process is held at; `names` gets the debugger's number of each."""

    def __init__(
        self,
        client: DapClient,
        launch: DapLaunch,
        offers: Callable[[], frozenset[Capability]],
        terms: Terms,
        names: dict[int, tuple[str, ...]],
    ) -> None:
        self._client = client
        self._launch = launch
        self._offers = offers
        self._terms = terms
        self._names = names
        self._instructions: list[dict[str, Any]] = []
        self._data: list[dict[str, Any]] = []
        self._by_console: dict[str, tuple[int, Wanted]] = {}
        """Wanted id to what the console made of it."""
        self._bindings: dict[str, Binding] = {}

    async def set(self, wanted: Sequence[Wanted]) -> dict[str, Binding]:
        """Make the whole set so; the binding of each."""
        instructions = [each for each in wanted if each.address is not None]
        data = [each for each in wanted if each.data is not None]
        await self._set_instructions(instructions)
        if self._launch.console_watch is not None:
            await self._set_by_console(data, self._launch.console_watch)
        else:
            await self._set_data(data)
        return {each.id: self._bindings[each.id] for each in wanted}

    async def _set_instructions(self, wanted: Sequence[Wanted]) -> None:
        arguments = [{**_instruction(each), **self._terms(each)} for each in wanted]
        if arguments == self._instructions:
            return
        self._need(Capability.INSTRUCTION_BREAKPOINTS)
        body = await self._client.request("setInstructionBreakpoints", {"breakpoints": arguments})
        self._instructions = arguments
        self._answered(wanted, body)

    async def _set_data(self, wanted: Sequence[Wanted]) -> None:
        arguments = [
            {"dataId": each.data, "accessType": each.watching, **self._terms(replace(each, log=None))}
            for each in wanted
        ]
        if arguments == self._data:
            return
        self._need(Capability.DATA_BREAKPOINTS)
        body = await self._client.request("setDataBreakpoints", {"breakpoints": arguments})
        self._data = arguments
        self._answered(wanted, body)

    def _answered(self, wanted: Sequence[Wanted], body: Body) -> None:
        told = translate.items(body, "breakpoints")
        for index, each in enumerate(wanted):
            self._bindings[each.id] = self._judged(each, told[index] if index < len(told) else {})

    def _judged(self, wanted: Wanted, told: Mapping[str, Any]) -> Binding:
        number = translate.number(told.get("id"))
        if number is not None:
            self._names[number] = (wanted.id,)
        source = told.get("source")
        file = translate.text(source.get("path")) if isinstance(source, Mapping) else None
        message = translate.text(told.get("message"))
        state: Bound = "bound" if told.get("verified") is True else "failed" if message else "pending"
        return Binding(wanted.id, state, file, translate.number(told.get("line")), message)

    async def _set_by_console(self, wanted: Sequence[Wanted], how: ConsoleWatch) -> None:
        names = {each.id: each for each in wanted}
        for id, (number, before) in tuple(self._by_console.items()):
            if names.get(id) != before:
                await self._say(None, how.remove.format(number=number))
                del self._by_console[id]
        for each in wanted:
            if each.id not in self._by_console:
                self._bindings[each.id] = await self._watched(each, how)

    async def _watched(self, wanted: Wanted, how: ConsoleWatch) -> Binding:
        frame, _, expression = (wanted.data or "").partition("\0")
        if wanted.hit or wanted.log:
            return Binding(wanted.id, "failed", message="watched data takes a condition only")
        try:
            said = await self._say(frame, how.commands[wanted.watching].format(expression=expression))
            match = how.number.search(said)
            if match is None:
                return Binding(wanted.id, "failed", message=" ".join(said.split()) or "the console made nothing of it")
            number = int(match[1])
            self._by_console[wanted.id] = (number, wanted)
            self._names[number] = (wanted.id,)
            if wanted.condition:
                await self._say(frame, how.condition.format(number=number, condition=wanted.condition))
        except Refused as refused:
            return Binding(wanted.id, "failed", message=refused.message)
        return Binding(wanted.id, "bound", message=match[0])

    async def _say(self, frame: str | None, line: str) -> str:
        arguments: dict[str, Any] = {"expression": line, "context": "repl"}
        if frame:
            arguments["frameId"] = wire_id(frame, "frame")
        return str((await self._client.request("evaluate", arguments)).get("result", ""))

    def _need(self, capability: Capability) -> None:
        if capability not in self._offers():
            raise Unsupported(f"{self._launch.tool.tool} has no {capability.value}")


def _instruction(wanted: Wanted) -> dict[str, Any]:
    """`0x401136+4` as an address and an offset."""
    text = wanted.address or ""
    for sign in "+-":
        address, found, offset = text.partition(sign)
        if found:
            return {"instructionReference": address, "offset": int(sign + offset)}
    return {"instructionReference": text}
