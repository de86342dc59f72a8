"""Memory of a Go program, by Delve's console: its `readMemory` knows only what it has told the address of, and not to its end."""

from __future__ import annotations

import re

from ...backends.dap.launch import Examines

_ROW = re.compile(r"^0x[0-9a-f]+: +((?:0x[0-9a-f]{2}\s*)+)$", re.MULTILINE)
_HOLDS_ELEMENTS = re.compile(r"string$|\[\]")


def _address(where: str, type: str) -> str:
    """The number of a place: what a pointer points to, the first element of a slice or string, else the variable itself."""
    if type.startswith("*") or type in ("unsafe.Pointer", "uintptr"):
        return f"uintptr({where})"
    return f"uintptr(&({where})[0])" if _HOLDS_ELEMENTS.match(type) else f"uintptr(&({where}))"


def _line(address: int, count: int) -> str:
    return f"dlv examinemem -fmt hex -size 1 -count {count} {address:#x}"


def _data(told: str) -> bytes:
    """What was read; nothing where Delve tells why it could not."""
    return bytes(int(each, 16) for row in _ROW.finditer(told) for each in row[1].split())


BY_CONSOLE = Examines(address=_address, line=_line, data=_data, most=1000)
