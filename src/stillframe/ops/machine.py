"""Below the source: instructions, memory, registers, the files of a program, and breakpoints on data and instructions."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Literal

import msgspec

from ..errors import Try, Unsupported, UsageError
from ..model import wording
from ..model.backend import Capability
from ..model.machine import (
    Disassembles,
    Disassembly,
    ListsSources,
    MemoryReply,
    ReadsMemory,
    ReadsRegisters,
    SourceFiles,
    Watches,
    Watching,
    WritesMemory,
)
from ..model.outcomes import Breakpoint
from ..model.places import AddressPlace, DataPlace, HitRule, parse_place
from ..model.plans import Caller
from ..model.values import Values
from ..registry import Access, Param, operation
from ..session import family
from ..session.handles import frame_index
from ..session.session import Session
from .common import FrameWord, ThreadWord

MOST_BYTES = 16 * 1024
"""The most memory that one call tells: its text is three times as long."""
MOST_INSTRUCTIONS = 1000

_NAME = re.compile(r"0[xX][0-9a-fA-F]+|[\w.]+")
"""What names data and calls nothing."""
_SPOT = re.compile(r"(?:&?[\w.:]+|\$\w+)(?:\s*[+-]\s*\w+)?")
"""What names a place in memory and calls nothing: an address, a variable, a register, and so many bytes from there. Anything else
is an expression, by which debuggers call functions, set variables and (gdb's `$_shell`) run commands."""


def _reckoned(where: str) -> Access | None:
    return None if _SPOT.fullmatch(where.strip()) else Access.EXEC


_WHERE = Param(
    "an address (0x…), a name, a register or an expression, which is exec; a pointer means what it points to",
    positional=True, metavar="WHERE", raises=_reckoned,
)  # fmt: skip
Where = Annotated[str | None, _WHERE]
Condition = Annotated[str | None, Param("stop only when this is true", flag="--if", access=Access.EXEC)]


async def _frame(session: Session, frame: str | None, thread: str | None) -> str:
    session.need_stopped()
    return await session.frame_id(session.thread_id(thread), frame_index(frame) if frame else None)


def need(session: Session, capability: Capability) -> None:
    """Another debugger of the language may have it, and `raw` reaches this one's own commands."""
    if capability not in session.backend.capabilities:
        raise Unsupported(f"{session.tool.tool} has no {capability.value}", hint=Try("raw"))


@operation(Access.INSPECT, aliases=("disassemble", "dis", "disas"), example="dbg disasm --count 12")
async def disasm(
    session: Session,
    where: Where = None,
    count: Annotated[int, Param("how many instructions", metavar="N")] = 10,
    back: Annotated[int, Param("begin so many instructions before that", metavar="N")] = 0,
    skip: Annotated[int, Param("begin so many instructions behind that", metavar="N")] = 0,
    symbols: Annotated[bool, Param("name the functions that addresses belong to, which is the default")] = True,
    frame: FrameWord = None,
    thread: ThreadWord = None,
) -> Disassembly:
    """Show instructions of the machine: those about to run, or from an address or function on."""
    session.need_stopped()
    need(session, Capability.DISASSEMBLY)
    backend = session.backend
    assert isinstance(backend, Disassembles)
    if not 1 <= count <= MOST_INSTRUCTIONS:
        raise UsageError(f"--count takes 1 to {MOST_INSTRUCTIONS}")
    id = await _frame(session, frame, thread)
    return await backend.disassemble(id, where, skip - back, count, symbols=symbols)


@operation(Access.INSPECT, aliases=("mem", "x"), example="dbg memory buffer --count 64")
async def memory(
    session: Session,
    where: Annotated[str, _WHERE],
    count: Annotated[int, Param("how many bytes", metavar="N")] = 64,
    offset: Annotated[int, Param("begin so many bytes behind it", metavar="N")] = 0,
    write: Annotated[
        str | None, Param("put these bytes there instead of reading", access=Access.EXEC, metavar="DATA")
    ] = None,
    form: Annotated[
        Literal["hex", "base64", "text"], Param("how DATA is written: hex, base64 or text", flag="--as")
    ] = "hex",
    partial: Annotated[bool, Param("write as much of it as can be written")] = False,
    frame: FrameWord = None,
    thread: ThreadWord = None,
) -> MemoryReply:
    """Read memory of the program as hex and text, or write to it."""
    id, backend = await _frame(session, frame, thread), session.backend
    if write is not None:
        need(session, Capability.WRITE_MEMORY)
        assert isinstance(backend, WritesMemory)
        session.touched = True
        return await backend.write_memory(id, where, offset, _bytes(write, form), partial=partial)
    need(session, Capability.MEMORY)
    assert isinstance(backend, ReadsMemory)
    if not 1 <= count <= MOST_BYTES:
        raise UsageError(f"--count takes 1 to {MOST_BYTES:,} bytes")
    return await backend.read_memory(id, where, offset, count)


def _bytes(data: str, form: str) -> bytes:
    try:
        match form:
            case "hex":
                return bytes.fromhex(data.removeprefix("0x"))
            case "base64":
                return base64.b64decode(data, validate=True)
            case _:
                return data.encode()
    except (ValueError, binascii.Error):
        pairs = ": two digits for each byte, as in 0aff" if form == "hex" else ""
        raise UsageError(f"{data[:40]!r} is no {form}{pairs}") from None


@operation(Access.INSPECT, aliases=("regs",), example="dbg registers rip rsp")
async def registers(
    session: Session,
    names: Annotated[tuple[str, ...], Param("only these registers", positional=True, rest=True, metavar="NAME")] = (),
    frame: FrameWord = None,
    thread: ThreadWord = None,
) -> Values:
    """Show the machine's registers in a frame."""
    id = await _frame(session, frame, thread)
    backend = session.backend
    if not isinstance(backend, ReadsRegisters):
        raise Unsupported(f"{session.tool.tool} tells no registers", hint=Try("raw"))
    asked = tuple(dict.fromkeys(name.lstrip("$").lower() for name in names))
    found = await backend.registers(id, session.bounds, asked)
    if not asked:
        return msgspec.structs.replace(found, values=session.handles.values(found.values))
    chosen = tuple(each for each in found.values if each.name.lstrip("$").lower() in asked)
    missing = {*asked} - {each.name.lstrip("$").lower() for each in chosen}
    if missing:
        raise UsageError(f"{session.tool.tool} tells no register {', '.join(sorted(missing))}", hint=Try("registers"))
    return Values(values=session.handles.values(chosen), total=len(chosen))


@operation(Access.INSPECT, example="dbg sources --match shop")
async def sources(
    session: Session,
    match: Annotated[str | None, Param("only those whose path holds this", metavar="TEXT")] = None,
    start: Annotated[int, Param("the first to show", metavar="N")] = 0,
    count: Annotated[int, Param("how many", metavar="N")] = 50,
) -> SourceFiles:
    """List the source files that the program was made of, as far as its debugger knows."""
    session.need_live()
    need(session, Capability.SOURCES)
    assert isinstance(session.backend, ListsSources)
    found = await session.backend.sources()
    chosen = [each for each in found if match is None or match in (each.file or each.name)]
    return SourceFiles(sources=tuple(chosen[start : start + count]), total=len(chosen), start=start)


Hits = Annotated[HitRule | None, Param("stop at the Nth time (3), from then on (>=3), or at every Nth (%3)")]


@operation(Access.CONTROL, example="dbg watch cart.total")
async def watch(
    session: Session,
    caller: Caller,
    what: Annotated[
        str,
        Param(
            "a variable, a field, an expression or an address",
            positional=True,
            metavar="WHAT",
            raises=lambda what: None if _NAME.fullmatch(what) else Access.EXEC,
        ),
    ],
    read: Annotated[bool, Param("stop when it is read, not when it is written")] = False,
    access: Annotated[bool, Param("stop when it is read or written")] = False,
    condition: Condition = None,
    hit: Hits = None,
    frame: FrameWord = None,
    thread: ThreadWord = None,
) -> Breakpoint:
    """Stop wherever the program writes to some data, or reads it. A watch ends with the run, since addresses do."""
    session.need_stopped()
    watching: Watching = "readWrite" if access else "read" if read else "write"
    backend = session.backend
    if not isinstance(backend, Watches) or Capability.DATA_BREAKPOINTS not in backend.capabilities:
        told = f"`{wording.call('probe', {'places': 'LOC'}, eval=what)}` tells its values"
        raise Unsupported(f"{session.tool.tool} has no data breakpoints; {told}", hint=Try("raw"))
    found = await backend.watchable(await _frame(session, frame, thread), what, watching)
    return await _added(session, DataPlace(what, watching, found.data), caller, condition, hit)


@operation(Access.CONTROL, name="break-insn", aliases=("bi",), example="dbg break-insn 0x401136 --offset 4")
async def break_insn(
    session: Session,
    caller: Caller,
    at: Annotated[str, Param("the address of an instruction", positional=True, metavar="ADDRESS")],
    offset: Annotated[int, Param("so many bytes behind it", metavar="N")] = 0,
    condition: Condition = None,
    hit: Hits = None,
) -> Breakpoint:
    """Set a breakpoint on an instruction of the machine, as `disasm` shows them."""
    session.need_live()
    place = parse_place(at)
    if not isinstance(place, AddressPlace):
        raise UsageError(f"{at!r} is no address, as 0x401136 is", hint=Try("disasm"))
    need(session, Capability.INSTRUCTION_BREAKPOINTS)
    return await _added(session, AddressPlace(place.address, place.offset + offset), caller, condition, hit)


async def _added(
    session: Session, place: AddressPlace | DataPlace, caller: Caller, condition: str | None, hit: HitRule | None
) -> Breakpoint:
    """Want it in this very process: an address means nothing in another one."""
    id = session.root.breakpoints.fresh_id()
    session.breakpoints.add(place, base=caller.cwd, condition=condition, hit=hit, id=id)
    await session.breakpoints.sync(session.backend)
    made = session.breakpoints.view(session.breakpoints.get(id))
    if made.state == "failed":
        session.breakpoints.remove([id])
        await family.sync_breakpoints(session)
    return made
