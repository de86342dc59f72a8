"""Memory, instructions, registers and watched data, through the requests that DAP has for them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ...errors import EvalFailed, NotFound, Try, Unsupported, WrongState
from ...model.backend import Bounds, Capability
from ...model.machine import Disassembly, Instruction, Memory, SourceFile, Watchable, Watching, Written
from ...model.values import Value, Values
from . import translate
from .client import Body, DapClient, Refused
from .evidence import Evidence, wire_id
from .helper import Helper
from .launch import DapLaunch, Examines, Quirk

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]+")
_OF_PACKAGE = re.compile(r"[^\W\d]\w*\.[^\W\d]\w*")
_PAGE = 4096
_GROUP = ("Registers", "Extensions")
"""lldb-dap 19 tells registers in groups, those that everybody means by registers first."""
_SPECIAL = re.compile(r"st\d|f(ctrl|stat|tag|iseg|ioff|oseg|ooff|op)|mxcsr|k\d|[xyz]mm\d+|[vqdsbh]\d+")
"""Registers for vectors and floating point, by their names on x86 and ARM."""
_WHOLE = re.compile(r"(?:u?int(?P<bits>\d+)(?:_t)?|(?:unsigned )?(?P<word>int|long)|)")
"""Types of registers that are numbers to be read as their bits, as gdb 18.1 calls them; of `st0` the number is its value."""
_PART = re.compile(r"[a-z][a-z0-9]*")
"""What may be a register's name, and is none of the debugger's own variables."""


class Machine:
    """What lies below the source of one process, as far as its debugger reaches down."""

    tool: Any
    capabilities: frozenset[Capability]
    _client: DapClient
    _launch: DapLaunch
    _evidence: Evidence
    _helper: Helper | None

    # Memory

    async def read_memory(self, frame: str | None, where: str, offset: int, count: int) -> Memory:
        self._need(Capability.MEMORY)
        reference = await self._address(frame, where)
        place = _behind(reference, offset)
        if self._launch.examines:
            body = {"data": await self._examined(self._launch.examines, frame, place, count)}
        elif Capability.MEMORY in self._launch.adds and self._helper:
            body = await self._helper.call("memory", address=place, count=count)
        else:
            arguments = {"memoryReference": reference, "offset": offset, "count": count}
            body = await self._asked("readMemory", arguments, f"memory at {place}")
        data = _decoded(translate.text(body.get("data")) or "")
        if not data:
            raise NotFound(f"no memory can be read at {place}")
        return Memory(
            address=translate.text(body.get("address")) or place,
            hex=data.hex(),
            text="".join(chr(each) if 32 <= each < 127 else "." for each in data),
            size=len(data),
            unreadable=max(translate.number(body.get("unreadableBytes")) or 0, count - len(data)),
        )

    async def _examined(self, examines: Examines, frame: str | None, place: str, count: int) -> str:
        """As much from there on as the console tells, asked for page by page: of one that cannot be read it tells nothing."""
        first, found = int(place, 0), b""
        while (left := count - len(found)) > 0:
            at = first + len(found)
            line = examines.line(at, min(left, examines.most, _PAGE - at % _PAGE))
            body = await self._evaluated(frame, line, "repl")
            read = examines.data(translate.text(body.get("result")) or "")
            if not read:
                break
            found += read
        return base64.b64encode(found).decode()

    async def write_memory(self, frame: str | None, where: str, offset: int, data: bytes, *, partial: bool) -> Written:
        self._need(Capability.WRITE_MEMORY)
        reference = await self._address(frame, where)
        place, coded = _behind(reference, offset), base64.b64encode(data).decode()
        if Capability.WRITE_MEMORY in self._launch.adds and self._helper:
            body = await self._helper.call("poke", address=place, data=coded, partial=partial)
        else:
            arguments = {"memoryReference": reference, "offset": offset, "allowPartial": partial, "data": coded}
            body = await self._asked("writeMemory", arguments, f"memory at {place}")
        told = translate.number(body.get("bytesWritten"))
        return Written(address=place, size=len(data) if told is None else told, asked=len(data))

    # Instructions and registers

    async def disassemble(
        self, frame: str | None, where: str | None, offset: int, count: int, *, symbols: bool
    ) -> Disassembly:
        self._need(Capability.DISASSEMBLY)
        here = await self.instruction_pointer(frame) if frame is not None else None
        reference = await self._address(frame, where) if where is not None else here
        if reference is None:
            raise NotFound("where? Nothing is held whose instructions could be told")
        if Capability.DISASSEMBLY in self._launch.adds and self._helper:
            body = await self._helper.call("disassemble", address=reference, offset=offset, count=count)
        else:
            arguments = {
                "memoryReference": reference,
                "instructionOffset": offset,
                "instructionCount": count,
                "resolveSymbols": symbols,
            }
            body = await self._asked("disassemble", arguments, f"instructions at {reference}")
        found = translate.items(body, "instructions")
        if not found:
            raise NotFound(f"no instructions can be read at {reference}")
        return Disassembly(instructions=tuple(_instructions(found, _number(here), symbols)))

    async def entry(self, frame: str, function: str) -> str | None:
        """As our code inside of the debugger looks it up. The protocol has no request for it, but Delve knows the functions of
        a package by their names, as it does variables."""
        if Capability.DISASSEMBLY in self._launch.adds and self._helper:
            return translate.text((await self._helper.call("entry", text=function)).get("address"))
        if not self._launch.examines or not _OF_PACKAGE.fullmatch(function):
            return None
        try:
            return await self._address(frame, function)
        except NotFound:
            return None

    async def instruction_pointer(self, frame: str) -> str | None:
        """Where a frame is about to run, as its stack told, or as the register that means it everywhere tells."""
        told = self._evidence.instruction_pointers.get(frame)
        if told is not None:
            return told
        try:
            return await self._address(frame, "$pc")
        except (NotFound, EvalFailed):
            return None

    async def registers(self, frame: str, bounds: Bounds, names: Sequence[str] = ()) -> Values:
        if self._launch.shows_registers is None:
            return await self._registers(frame, bounds, names)
        show, hide = self._launch.shows_registers
        await self._ordered(show)
        try:
            told = (await self._registers(frame, bounds, names)).values
        finally:
            await self._ordered(hide)
        # dlv 1.27.2 writes them in columns, and calls all of them int16
        return Values(values=tuple(replace(each, name=each.name.strip(), type="") for each in told), total=len(told))

    async def _ordered(self, line: str) -> None:
        await self._client.request("evaluate", {"expression": line, "context": "repl"})

    async def _registers(self, frame: str, bounds: Bounds, names: Sequence[str]) -> Values:
        try:
            scopes = await Evidence.scopes(self._evidence, frame)  # those of the debugger itself
        except EvalFailed:  # as rdbg 1.4.0 says of a frame of Ruby's own
            scopes = ()
        scope = next((each for each in scopes if each.name.lower() == "registers" and each.ref), None)
        if scope is None or scope.ref is None:
            raise Unsupported(f"{self.tool.tool} tells no registers", hint=Try("raw"))
        found = (await self._evidence.expand(scope.ref, bounds, 0)).values
        if groups := [each.ref for each in found if each.ref and each.name.endswith(_GROUP)]:
            pages = [await self._evidence.expand(ref, bounds, 0) for ref in (groups if names else groups[:1])]
            found = tuple(each for page in pages for each in page.values)
        told = [_by_hex(each) for each in found if names or not _SPECIAL.fullmatch(each.name)]
        if names and Quirk.LISTS_WHOLE_REGISTERS in self._launch.quirks:
            told = [each for each in told if each.value.strip()]
            known = {each.name.lower() for each in told}
            told += await self._parts(frame, bounds, [each.lower() for each in names if each.lower() not in known])
        return Values(values=tuple(told), total=len(told))

    async def _parts(self, frame: str, bounds: Bounds, names: Sequence[str]) -> list[Value]:
        """Registers that are parts of others, or made of several values, each asked for by its name."""
        wanted = [f"${each}" for each in names if _PART.fullmatch(each)]
        answers = await self._evidence.evaluate(frame, wanted, bounds, 5.0)
        values = [each.value for each in answers if each.value is not None and each.value.value != "void"]
        return [_by_hex(replace(each, name=each.name.removeprefix("$"))) for each in values]

    async def sources(self) -> tuple[SourceFile, ...]:
        self._need(Capability.SOURCES)
        if Capability.SOURCES in self._launch.adds and self._helper:
            body = await self._helper.call("sources")
        else:
            body = await self._asked("loadedSources", {}, "sources")
        found = translate.items(body, "sources")
        names = [(translate.text(each.get("path")), translate.text(each.get("name"))) for each in found]
        return tuple(SourceFile(name=name or (path or "?").rpartition("/")[2], file=path) for path, name in names)

    # Watched data

    async def watchable(self, frame: str, expression: str, watching: Watching) -> Watchable:
        self._need(Capability.DATA_BREAKPOINTS)
        if self._launch.is_dead:
            raise WrongState("a core is what a process left when it died: nothing in it changes")
        if Capability.DATA_BREAKPOINTS in self._launch.adds:
            return await self._evidenced(frame, expression)
        body = await self._data_info(frame, expression)
        data = translate.text(body.get("dataId"))
        description = translate.text(body.get("description")) or ""
        if data is None:
            raise NotFound(f"{expression} cannot be watched: {description or 'the debugger does not say why'}")
        offered = body.get("accessTypes")
        if isinstance(offered, list) and offered and watching not in offered:
            raise Unsupported(f"{expression} can be watched for {', '.join(map(str, offered))} only")
        return Watchable(data=data, description=description)

    async def _evidenced(self, frame: str, expression: str) -> Watchable:
        """Our code in the debugger takes any expression; that it means something here is asked first."""
        (answer,) = await self._evidence.evaluate(frame, (expression,), Bounds(), 5.0)
        if answer.error is not None:
            raise NotFound(f"{expression} cannot be watched: {answer.error}")
        return Watchable(data=f"{frame}\0{expression}", description=expression)

    async def _data_info(self, frame: str, expression: str) -> Body:
        """A variable of the frame's own by its scope, which every debugger understands; anything else as an expression."""
        for scope in await self._evidence.scopes(frame):
            if scope.ref is None or scope.name.lower() == "registers":
                continue
            found = await self._evidence.expand(scope.ref, Bounds(), 0)
            if any(each.name == expression for each in found.values):
                number = int(scope.ref[1:])
                return await self._asked(
                    "dataBreakpointInfo", {"variablesReference": number, "name": expression}, expression
                )
        arguments: dict[str, Any] = {"name": expression, "frameId": wire_id(frame, "frame")}
        if _ADDRESS.fullmatch(expression):
            arguments = {"name": expression, "asAddress": True, "bytes": 8}
        return await self._asked("dataBreakpointInfo", arguments, expression)

    # Shared

    def _need(self, capability: Capability) -> None:
        if capability not in self.capabilities:
            raise Unsupported(f"{self.tool.tool} has no {capability.value}", hint=Try("raw"))

    async def _address(self, frame: str | None, where: str) -> str:
        """An address as it is, or where an expression of the frame lies; a pointer means what it points to."""
        if _ADDRESS.fullmatch(where):
            return where
        if Capability.MEMORY in self._launch.adds and self._helper and frame is not None:
            told = await self._helper.call("address", frameId=wire_id(frame, "frame"), text=where)
            return translate.text(told.get("address")) or where
        body = await self._evaluated(frame, where)
        if examines := self._launch.examines:
            asked = examines.address(where, translate.text(body.get("type")) or "")
            match = _ADDRESS.search(translate.text((await self._evaluated(frame, asked)).get("result")) or "")
            if match is None:
                raise NotFound(f"{where} has no address")
            return match[0]
        if reference := translate.text(body.get("memoryReference")):
            return reference
        if match := _ADDRESS.match((translate.text(body.get("result")) or "").strip().lstrip("(")):
            return match[0]
        body = await self._evaluated(frame, f"&({where})")
        reference = translate.text(body.get("memoryReference"))
        match = _ADDRESS.search(translate.text(body.get("result")) or "")
        if reference is None and match is None:
            raise NotFound(f"{where} has no address")
        return reference or (match[0] if match else "")

    async def _evaluated(self, frame: str | None, expression: str, context: str | None = None) -> Body:
        arguments: dict[str, Any] = {"expression": expression, "context": context or self._launch.evaluates_as}
        if frame is not None:
            arguments["frameId"] = wire_id(frame, "frame")
        return await self._asked("evaluate", arguments, expression)

    async def _asked(self, command: str, arguments: Mapping[str, Any], what: str) -> Body:
        try:
            return await self._client.request(command, arguments)
        except Refused as refused:
            raise NotFound(f"{what}: {refused.message}") from None


def _instructions(found: list[Mapping[str, Any]], here: int | None, symbols: bool) -> list[Instruction]:
    """Instructions with the file and line of each: a debugger tells them where they change only."""
    told: list[Instruction] = []
    file: str | None = None
    line: int | None = None
    for each in found:
        location = each.get("location")
        if isinstance(location, Mapping):
            file = translate.text(location.get("path")) or translate.text(location.get("name"))
        line = translate.number(each.get("line")) or line
        address = (translate.text(each.get("address")) or "?").lower()
        told.append(
            Instruction(
                address=address,
                text=" ".join((translate.text(each.get("instruction")) or "?").split()),
                bytes=(translate.text(each.get("instructionBytes")) or "").strip(),
                symbol=translate.text(each.get("symbol")) if symbols else None,
                file=file,
                line=line,
                here=here is not None and _number(address) == here,
            )
        )
    return told


def _by_hex(register: Value) -> Value:
    """A register as it is read: gdb 18.1 tells a number with a sign, as the language would."""
    kind = _WHOLE.fullmatch(register.type or "")
    if kind is None or not re.fullmatch(r"-?\d+", register.value):
        return register
    bits = int(kind["bits"] or (32 if kind["word"] == "int" else 64))
    return msgspec.structs.replace(register, value=hex(int(register.value) % (1 << bits)))


def _number(address: str | None) -> int | None:
    try:
        return int(address, 0) if address else None
    except ValueError:  # a word of the debugger's own
        return None


def _behind(reference: str, offset: int) -> str:
    number = _number(reference)
    return hex(number + offset) if number is not None else reference + (f"{offset:+d}" if offset else "")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        raise NotFound("the debugger's answer holds no memory") from None
