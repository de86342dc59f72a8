"""What an ELF file says of itself: its machine, whether it can be run, its debug information, who compiled it."""

from __future__ import annotations

import mmap
import platform
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from ..model import plainfiles

_MAGIC = b"\x7fELF"
_MACHINES = {
    3: "i386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"
}  # fmt: skip
_ALSO = {"x86_64": ("i386",), "aarch64": ("arm",)}
"""Machines whose programs another one runs as well."""
_APART = (".gnu_debuglink", ".note.gnu.build-id")
_DEBUG = "/usr/lib/debug"
GO_BUILD_INFO = ".go.buildinfo"
_SIGNED = (".comment", ".debug_gdb_scripts")
_RUST = ("rustc", "gdb_load_rust_pretty_printers")
"""Rust 1.63, that of Debian 12, leaves no comment, but names what gdb is to load, as every version does."""
_LARGEST = 1 << 20
"""More of a section's text is not read."""


class Elf(msgspec.Struct, frozen=True):
    """The few facts of a binary that a debugger's user needs."""

    machine: str
    kind: int
    """2: a program; 3: a program or a library; 4: a core."""
    sections: frozenset[str]
    compilers: str = ""
    """What the compilers left of themselves: in its comment section, and as the names of scripts for gdb."""
    made_by_go: str = ""
    """How Go made it, in its own words: version, modules, and the flags of the build, a line each."""
    apart: bool = False
    """Its debug information is in a file of its own, which is here."""

    @property
    def has_debug_info(self) -> bool:
        return self.apart or bool(self.sections & {".debug_info", ".zdebug_info"})

    @property
    def is_stripped(self) -> bool:
        """Whether not even the names of its functions are known."""
        return not self.apart and ".symtab" not in self.sections

    @property
    def is_rust(self) -> bool:
        return any(each in self.compilers for each in _RUST)

    @property
    def is_core(self) -> bool:
        return self.kind == 4

    @property
    def is_foreign(self) -> bool:
        """Whether this machine cannot run it."""
        here = platform.machine()
        return self.machine != here and self.machine not in _ALSO.get(here, ())


def holds(path: Path, name: bytes) -> bool:
    """Whether a name stands anywhere in a binary."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return whole.find(name) >= 0


def is_elf(path: Path) -> bool:
    try:
        with plainfiles.opened(path) as file:
            return file.read(4) == _MAGIC
    except OSError:
        return False


def wide_head(file: BinaryIO) -> tuple[bytes, str] | None:
    """The header of a file of 64 bits, and the order of its bytes as `struct` writes it; None for any other file."""
    head = file.read(64)
    if len(head) < 64 or head[:5] != _MAGIC + b"\x02":
        return None
    return head, "<" if head[5] == 1 else ">"


def read_head(path: Path) -> Elf | None:
    """What the first bytes say: a core has no sections."""
    try:
        with plainfiles.opened(path) as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:4] != _MAGIC:
        return None
    kind, machine = struct.unpack_from(("<" if head[5] == 1 else ">") + "HH", head, 16)
    return Elf(_MACHINES.get(machine, f"machine {machine}"), kind, frozenset())


def read(path: Path) -> Elf | None:
    """What the file says; None for one that is no ELF file, or a broken one."""
    try:
        with plainfiles.opened(path) as file:
            head = file.read(64)
            if len(head) < 52 or head[:4] != _MAGIC:
                return None
            wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
            kind, machine = struct.unpack_from(order + "HH", head, 16)
            at, size, count, names = _table(head, wide, order)
            file.seek(at)
            rows = [_row(file.read(size), wide, order) for _ in range(count)]
            file.seek(rows[names][1])
            words = file.read(min(rows[names][2], _LARGEST))
            sections = {_word(words, name): (offset, length) for name, offset, length in rows}
            told = (*_SIGNED, *_APART, GO_BUILD_INFO)
            comment, scripts, link, note, by_go = (_content(file, sections.get(name)) for name in told)
            apart = any(each.is_file() for each in _debug_files(path, link, note))
    except (OSError, struct.error, IndexError):
        return None
    name = _MACHINES.get(machine, f"machine {machine}")
    return Elf(name, kind, frozenset(sections), (comment + scripts).decode("latin-1"), by_go.decode("latin-1"), apart)


def _content(file: BinaryIO, section: tuple[int, int] | None) -> bytes:
    if section is None:
        return b""
    file.seek(section[0])
    return file.read(min(section[1], _LARGEST))


def _debug_files(path: Path, link: bytes, note: bytes) -> Iterator[Path]:
    """Where debuggers look for debug information that was taken out of a program: by its name, and by the id of its build."""
    folder, name = path.resolve().parent, link.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    if name:
        yield from (folder / name, folder / ".debug" / name, Path(f"{_DEBUG}{folder}", name))
    if id := note[16:].hex():
        yield Path(_DEBUG, ".build-id", id[:2], f"{id[2:]}.debug")


def _table(head: bytes, wide: bool, order: str) -> tuple[int, int, int, int]:
    """Offset, size of a row, number of rows, and the row of the names of the section table."""
    (at,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 40 if wide else 32)
    size, count, names = struct.unpack_from(order + "HHH", head, 58 if wide else 46)
    return at, size, count, names


def _row(data: bytes, wide: bool, order: str) -> tuple[int, int, int]:
    (name,) = struct.unpack_from(order + "I", data, 0)
    offset, length = struct.unpack_from(order + ("QQ" if wide else "II"), data, 24 if wide else 16)
    return name, offset, length


def _word(words: bytes, at: int) -> str:
    return words[at : words.find(b"\0", at)].decode("latin-1")
