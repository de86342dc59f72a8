"""Whose core it is: the program that left it, as the kernel noted it there."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from ..errors import LaunchFailed
from ..model import plainfiles
from ..model.plans import AttachPlan
from .elf import wide_head

_LOADED, _NOTES = 1, 4
"""Kinds of parts: what is in memory, and notes."""
_PAGE = 4096
_VARIABLES, _FILES = 6, 0x46494C45
"""Kinds of notes: what the kernel told the program at its start, and the files that it had in its memory."""
_ENTRY = 9
"""The variable that is the address of the program's first instruction."""
_LARGEST = 1 << 24


class Left(msgspec.Struct, frozen=True):
    """What a core says of the program that left it."""

    program: str
    entry: int
    """Where its first instruction was, counted from where its file began in memory."""


def completed(plan: AttachPlan) -> AttachPlan:
    """The plan with the program that left its core, where that was not given and is still there; LaunchFailed where another
    one was given, with which every name and line would be wrong."""
    left = left_by(Path(plan.core)) if plan.core is not None else None
    if left is None:
        return plan
    if plan.program is None:
        return replace(plan, program=left.program) if _is_of(Path(left.program), left) else plan
    if Path(plan.program).is_file() and not _is_of(Path(plan.program), left):
        raise LaunchFailed(f"{plan.core} was left by {left.program}, of which {plan.program} is no copy")
    return plan


def left_by(core: Path) -> Left | None:
    """What left it; None where the core does not say so, or is none."""
    try:
        with plainfiles.opened(core) as file:
            found = wide_head(file)
            if found is None:
                return None
            head, order = found
            notes = {kind: data for data, kind in _notes(file, head, order)}
        entry = _variables(notes.get(_VARIABLES, b""), order).get(_ENTRY, 0)
        files = list(_files(notes.get(_FILES, b""), order))
    except (OSError, struct.error):
        return None
    path = next((path for start, end, path in files if start <= entry < end), None)
    return Left(path, entry - min(start for start, _, each in files if each == path)) if path else None


def _is_of(program: Path, left: Left) -> bool:
    """Whether a file can be what left it: its first instruction is where that one's was."""
    try:
        with plainfiles.opened(program) as file:
            found = wide_head(file)
            if found is None:
                return False
            head, order = found
            (first,) = struct.unpack_from(order + "Q", head, 24)
            begins = [address for kind, _, address, _ in _rows(file, head, order) if kind == _LOADED]
            return bool(begins) and left.entry == first - min(begins) // _PAGE * _PAGE
    except (OSError, struct.error):
        return False


def _rows(file: BinaryIO, head: bytes, order: str) -> Iterator[tuple[int, int, int, int]]:
    """Kind, offset, address and size in the file of each part."""
    (at,) = struct.unpack_from(order + "Q", head, 32)
    size, count = struct.unpack_from(order + "HH", head, 54)
    for number in range(count):
        file.seek(at + number * size)
        kind, _, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", file.read(size))
        yield kind, offset, address, length


def _notes(file: BinaryIO, head: bytes, order: str) -> Iterator[tuple[bytes, int]]:
    for kind, offset, _, length in list(_rows(file, head, order)):
        if kind != _NOTES:
            continue
        file.seek(offset)
        data, at = file.read(min(length, _LARGEST)), 0
        while at + 12 <= len(data):
            name, size, sort = struct.unpack_from(order + "III", data, at)
            begin = at + 12 + -(-name // 4) * 4
            yield data[begin : begin + size], sort
            at = begin + -(-size // 4) * 4


def _variables(data: bytes, order: str) -> dict[int, int]:
    return dict(struct.iter_unpack(order + "QQ", data[: len(data) // 16 * 16]))


def _files(data: bytes, order: str) -> Iterator[tuple[int, int, str]]:
    """Begin and end in memory, and the path, of each file that was there."""
    (count,) = struct.unpack_from(order + "Q", data)
    names = data[16 + 24 * count :].split(b"\0")
    for number in range(min(count, len(names))):
        start, end = struct.unpack_from(order + "QQ", data, 16 + 24 * number)
        yield start, end, names[number].decode("utf-8", "surrogateescape")
