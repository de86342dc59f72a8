"""The machine below the source: memory, instructions, registers, watched data, and the powers of a debugger that reach them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from .backend import Bounds
from .values import Values

Watching = Literal["write", "read", "readWrite"]
"""What is done to watched data before the program is held."""


class Memory(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="read"):
    """Bytes of the program's memory from an address on."""

    address: str
    hex: str = ""
    text: str = ""
    """The bytes as ASCII, a dot for each that is none."""
    size: int = 0
    unreadable: int = 0
    """How many of the bytes asked for could not be read, from the end of these on."""


class Written(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="written"):
    """What became of a write to memory."""

    address: str
    size: int
    asked: int


MemoryReply = Memory | Written
"""What `memory` answers: what was read, or what became of a write."""


class Instruction(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One instruction of the machine; `here` marks the one about to run."""

    address: str
    text: str
    bytes: str = ""
    symbol: str | None = None
    file: str | None = None
    line: int | None = None
    here: bool = False


class Disassembly(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    instructions: tuple[Instruction, ...]


class SourceFile(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A file that went into the program, as far as the debugger knows."""

    name: str
    file: str | None = None


class SourceFiles(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    sources: tuple[SourceFile, ...]
    total: int | None = None
    start: int = 0


class Watchable(msgspec.Struct, frozen=True, kw_only=True):
    """Data that can be watched: the debugger's word for it, and what it says of it."""

    data: str
    description: str = ""


# Powers: a backend that offers one also lists its Capability.


@runtime_checkable
class ReadsMemory(Protocol):
    async def read_memory(self, frame: str | None, where: str, offset: int, count: int) -> Memory:
        """Bytes from an address, or from where an expression of the frame lies or points to."""
        ...


@runtime_checkable
class WritesMemory(Protocol):
    async def write_memory(self, frame: str | None, where: str, offset: int, data: bytes, *, partial: bool) -> Written:
        """Put bytes there. `partial`: as many as can be had, where not all of them are writable."""
        ...


@runtime_checkable
class Disassembles(Protocol):
    async def disassemble(
        self, frame: str | None, where: str | None, offset: int, count: int, *, symbols: bool
    ) -> Disassembly:
        """Instructions from an address or expression on, or from where the frame is; `offset` counts instructions."""
        ...

    async def entry(self, frame: str, function: str) -> str | None:
        """Where a function begins, by its name alone, which calls nothing; None where that cannot be told."""
        ...

    async def instruction_pointer(self, frame: str) -> str | None:
        """The address of the instruction at which a frame goes on, where it can be told."""
        ...


@runtime_checkable
class ReadsRegisters(Protocol):
    async def registers(self, frame: str, bounds: Bounds, names: Sequence[str] = ()) -> Values:
        """The registers of a frame; where some are named, those for vectors and floating point and parts of others, too."""
        ...


@runtime_checkable
class ListsSources(Protocol):
    async def sources(self) -> tuple[SourceFile, ...]: ...


@runtime_checkable
class Watches(Protocol):
    async def watchable(self, frame: str, expression: str, watching: Watching) -> Watchable:
        """What to want so that the program is held when this data is touched; NotFound or Unsupported say why it cannot be."""
        ...
