"""Text of what lies below the source: memory as hex and characters, instructions by function and line."""

from __future__ import annotations

from ..model.machine import Disassembly, Instruction, Memory, SourceFiles, Written
from .escape import escape

_ROW = 16


def memory_rows(result: Memory) -> list[str]:
    """Sixteen bytes a row, with their address and their characters."""
    data = bytes.fromhex(result.hex)
    start = int(result.address, 0) if result.address.startswith("0x") else None
    rows = []
    for at in range(0, len(data), _ROW):
        part = data[at : at + _ROW]
        address = hex(start + at) if start is not None else f"{escape(result.address)}+{at}"
        rows.append(f"{address}  {part.hex(' '):<{_ROW * 3 - 1}}  {escape(result.text[at : at + _ROW])}")
    if result.unreadable:
        rows.append(f"{result.unreadable:,} bytes behind these cannot be read")
    return rows


def written(result: Written) -> str:
    text = f"wrote {result.size} byte{'s' * (result.size != 1)} at {escape(result.address)}"
    return text if result.size == result.asked else f"{text}, of {result.asked}"


def disassembly_rows(result: Disassembly) -> list[str]:
    """Instructions, each marked if it is about to run; a row of its own where function or line change."""
    rows: list[str] = []
    before: tuple[str | None, str | None, int | None] = (None, None, None)
    for each in result.instructions:
        place = (_function(each) or before[0], each.file, each.line)
        if place != before and any(place):
            rows.append(_heading(*place))
        before = place
        code = f"{escape(each.bytes):<24} " if each.bytes else ""
        rows.append(f"{'>' if each.here else ' '} {escape(each.address)}  {code}{escape(each.text)}")
    return rows


def _function(instruction: Instruction) -> str | None:
    return instruction.symbol.partition("+")[0].strip("<> ") if instruction.symbol else None


def _heading(function: str | None, file: str | None, line: int | None) -> str:
    where = f"{(file or '').rpartition('/')[2]}:{line}" if file and line else ""
    return escape(" ".join(part for part in (function, where) if part)) + ":"


def source_rows(result: SourceFiles) -> list[str]:
    return [escape(each.file or each.name) for each in result.sources]
