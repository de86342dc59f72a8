"""Breakpoints below the source: on instructions, and on data that the program touches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ...errors import NotFound, Try, Unsupported
from ...model.backend import Binding, Capability, Wanted
from ...model.outcomes import Bound
from . import translate
from .client import Body, DapClient, Refused
from .evidence import wire_id
from .helper import Helper
from .launch import DapLaunch
from .terms import terms


def is_deep(wanted: Wanted) -> bool:
    return wanted.address is not None or wanted.data is not None


class DeepBreakpoints:
    """The instructions and the data that one process is held at; `names` gets the debugger's number of each."""

    def __init__(
        self,
        client: DapClient,
        launch: DapLaunch,
        helper: Helper | None,
        offers: Callable[[], frozenset[Capability]],
        names: dict[int, tuple[str, ...]],
    ) -> None:
        self._client = client
        self._launch = launch
        self._helper = helper
        self._offers = offers
        self._names = names
        self._instructions: list[dict[str, Any]] = []
        self._data: list[dict[str, Any]] = []
        self._by_helper: dict[str, tuple[int, Wanted]] = {}
        """Wanted id to what our code inside the debugger made of it."""
        self._bindings: dict[str, Binding] = {}

    async def set(self, wanted: Sequence[Wanted]) -> dict[str, Binding]:
        """Make the whole set so; the binding of each."""
        instructions = [each for each in wanted if each.address is not None]
        data = [each for each in wanted if each.data is not None]
        added = self._launch.adds if self._helper else frozenset()
        by_helper = [*(instructions if Capability.INSTRUCTION_BREAKPOINTS in added else ())]
        by_helper += data if Capability.DATA_BREAKPOINTS in added else ()
        if Capability.INSTRUCTION_BREAKPOINTS not in added:
            await self._set_instructions(instructions)
        if Capability.DATA_BREAKPOINTS not in added:
            await self._set_data(data)
        if self._helper is not None:
            await self._set_by_helper(by_helper, self._helper)
        return {each.id: self._bindings[each.id] for each in wanted}

    async def _set_instructions(self, wanted: Sequence[Wanted]) -> None:
        arguments = [{**_instruction(each), **terms(self._launch, each)} for each in wanted]
        if arguments == self._instructions:
            return
        self._need(Capability.INSTRUCTION_BREAKPOINTS)
        wrong = [each for each in wanted if await self._is_inside(each)]
        for each in wrong:
            self._bindings[each.id] = Binding(each.id, "failed", message=f"no instruction begins at {each.address}")
        wanted = [each for each in wanted if each not in wrong]
        arguments = [{**_instruction(each), **terms(self._launch, each)} for each in wanted]
        body = await self._client.request("setInstructionBreakpoints", {"breakpoints": arguments})
        self._instructions = arguments
        self._answered(wanted, body)

    async def _is_inside(self, wanted: Wanted) -> bool:
        """Whether the debugger itself says that no instruction begins there: a breakpoint in the middle of one changes it."""
        if self._launch.no_instruction is None:
            return False
        place = _instruction(wanted)
        address = hex(int(place["instructionReference"], 0) + place.get("offset", 0))
        try:
            await self._client.request("disassemble", {"memoryReference": address, "instructionCount": 1})
        except Refused as refused:
            return bool(self._launch.no_instruction.search(refused.message))
        return False

    async def _set_data(self, wanted: Sequence[Wanted]) -> None:
        arguments = [
            {"dataId": each.data, "accessType": each.watching, **terms(self._launch, replace(each, log=None))}
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

    async def _set_by_helper(self, wanted: Sequence[Wanted], helper: Helper) -> None:
        names = {each.id: each for each in wanted}
        for id, (number, before) in tuple(self._by_helper.items()):
            if names.get(id) != before:
                await helper.call("unwatch" if before.data else "unhold", number=number)
                del self._by_helper[id]
        for each in wanted:
            if each.id not in self._by_helper:
                self._bindings[each.id] = await self._held(each, helper)

    async def _held(self, wanted: Wanted, helper: Helper) -> Binding:
        told = terms(self._launch, replace(wanted, log=None))
        if wanted.log or (wanted.data and "hitCondition" in told):
            takes = "a condition only" if "hitCondition" in told else "no log text"
            return Binding(wanted.id, "failed", message=f"watched data takes {takes}")
        frame, _, expression = (wanted.data or "").partition("\0")
        question: dict[str, Any] = {"address": wanted.address, "condition": told.get("condition")}
        if wanted.data:
            question |= {"frameId": wire_id(frame, "frame"), "text": expression, "how": wanted.watching}
        try:
            made = await helper.call("watch" if wanted.data else "hold", **question)
        except (NotFound, Refused) as refused:
            return Binding(wanted.id, "failed", message=refused.message)
        number = translate.number(made.get("number")) or 0
        self._by_helper[wanted.id] = (number, wanted)
        self._names[number] = (wanted.id,)
        return Binding(wanted.id, "bound", message=translate.text(made.get("text")))

    def over(self, number: int) -> Binding | None:
        """The debugger itself has ended a watch: its data is gone."""
        for id, (watched, _) in tuple(self._by_helper.items()):
            if watched == number:
                del self._by_helper[id]
                return Binding(id, "failed", message="its data is gone: the call that it belonged to has returned")
        return None

    def _need(self, capability: Capability) -> None:
        if capability not in self._offers():
            raise Unsupported(f"{self._launch.tool.tool} has no {capability.value}", hint=Try("raw"))


def _instruction(wanted: Wanted) -> dict[str, Any]:
    """`0x401136+4` as an address and an offset."""
    text = wanted.address or ""
    for sign in "+-":
        address, found, offset = text.partition(sign)
        if found:
            return {"instructionReference": address, "offset": int(sign + offset)}
    return {"instructionReference": text}
