"""Memory and instructions of a native program, as far as they can be read: runs inside gdb."""

import base64

import gdb
import sf_gdb_spoken as spoken
from gdb.dap import startup as dap_startup

_PAGE = 4096
_SEARCHED = 1 << 16
"""So many bytes of a function are taken apart to see whether an instruction begins at an address."""
_BEFORE = 4096
"""So many bytes before an address may be read to find where the instructions before it begin."""


class Unable(dap_startup.DAPException):
    """What cannot be done, and why."""

    def __init__(self, message):
        super(Unable, self).__init__("unknown: %s" % str(message).partition("\n")[0])


def read(address, count):
    """As many bytes from an address on as can be read, up to the first page that cannot."""
    data = b""
    while len(data) < count:
        at = address + len(data)
        try:
            data += bytes(gdb.selected_inferior().read_memory(at, min(count - len(data), _PAGE - at % _PAGE)))
        except (gdb.error, OverflowError):
            break
    return {"address": hex(address), "data": base64.b64encode(data).decode(), "unreadableBytes": count - len(data)}


def write(address, coded, partial):
    """Bytes to an address; none of them where not all can be written, unless a part will do."""
    data, done = base64.b64decode(coded), 0
    before = base64.b64decode(read(address, len(data))["data"])
    while done < len(data):
        part = data[done : done + _PAGE - (address + done) % _PAGE]
        try:
            gdb.selected_inferior().write_memory(address + done, part)
        except (gdb.error, OverflowError):
            break
        done += len(part)
    if done < len(data) and not (partial and done):
        if done:
            gdb.selected_inferior().write_memory(address, before[:done])
        raise Unable("no memory can be written at %s" % hex(address + done))
    return {"bytesWritten": done}


def address_of(_frame, text):
    """Where an expression lies, or where it points to."""
    try:
        value = gdb.parse_and_eval(text)
        kind = value.type.strip_typedefs()
        if text.startswith("$") or kind.code == gdb.TYPE_CODE_PTR:
            return int(value) % (1 << 64)
        if value.address is None:
            raise Unable("%s has no address" % text)
        return int(value.address) % (1 << 64)
    except gdb.error as error:
        raise Unable(error)


def entry_of(name):
    """Where the function of a name begins, which is looked up and never evaluated; None for one that nobody knows."""
    if "'" in name:
        return None
    try:
        found = spoken.function(name)
    except gdb.error:
        return None
    return next((hex(first) for each in found if (first := _start(each.pc))), None)


def instructions(address, offset, count):
    """Instructions around an address; `offset` counts instructions, those before it being of the same function."""
    arch = gdb.selected_inferior().architecture()
    before = []
    first = _start(address)
    try:
        if offset < 0 and first is not None and 0 < address - first <= _BEFORE:
            before = [each for each in arch.disassemble(first, address - 1) if each["addr"] < address]
        behind = arch.disassemble(address, count=max(0, offset) + max(0, count + min(0, offset)))
    except (gdb.error, OverflowError):
        return {"instructions": []}
    chosen = (before[offset:] if offset < 0 else []) + behind[max(0, offset) :]
    return {"instructions": [_instruction(each) for each in chosen[:count]]}


def inside_of(address):
    """Where the instruction begins that an address lies in the middle of; None where one begins there, or none is known."""
    first = _start(address)
    if first is None or not 0 < address - first <= _SEARCHED:
        return None
    last = gdb.selected_inferior().architecture().disassemble(first, address)[-1]["addr"]
    return last if last < address else None


def _instruction(told):
    address, size = told["addr"], told["length"]
    data = base64.b64decode(read(address, size)["data"])
    place, function = gdb.find_pc_line(address), function_at(address)
    row = {
        "address": hex(address),
        "instruction": told["asm"],
        "instructionBytes": " ".join("%02x" % each for each in data),
        "symbol": function.print_name if function is not None else _symbol(address),
    }
    if place.symtab is not None:
        row.update(line=place.line, location={"path": place.symtab.fullname()})
    return row


def function_at(address):
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return block.function if block is not None else None


def _symbol(address):
    """The name of the function without debug information that an address is in."""
    said = gdb.execute("info symbol %d" % address, to_string=True)
    return None if said.startswith("No symbol") else said.partition(" in section")[0].partition(" + ")[0]


def _start(address):
    function = function_at(address)
    if function is not None:
        return function.value().address and int(function.value().address)
    said = gdb.execute("info symbol %d" % address, to_string=True).partition(" in section")[0]
    name, plus, offset = said.partition(" + ")
    return address - int(offset) if plus and offset.isdigit() else None
