"""Breakpoints: what the user wants against what the debugger made of it.

The wanted set is ours and outlives runs; bindings are the debugger's and belong to one run. Every change hands the whole
set to the backend, one change at a time, so that no answer can be taken for another's.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..errors import NotFound, Try, UsageError
from ..model.backend import Backend, Binding, Stopped, Wanted
from ..model.outcomes import Breakpoint, Spot
from ..model.places import (
    AddressPlace,
    BreakSpec,
    DataPlace,
    HerePlace,
    HitRule,
    LinePlace,
    Place,
    SymbolPlace,
    TextPlace,
    parse_hit,
    parse_place,
)
from ..model.values import Frame
from ..settings import file_like
from . import sourcefile
from .kept import KeptBreakpoint

UNTIL = "until"
"""The id of the hidden breakpoint that `until` runs to."""

NO_FILE = "no such file"


@functools.lru_cache(maxsize=64)
def _instead(file: str, base: str) -> str | None:
    """The file that may be meant by one that is not there; looked for once, since breakpoints are told often."""
    return file_like(Path(file), Path(base))


class Entry(msgspec.Struct, frozen=True):
    """One breakpoint: how it was asked for, where that is, and its state."""

    id: str
    requested: Spot
    wanted: Wanted
    place: str
    base: str
    """As it was typed, and the directory it was typed in."""
    once: bool = False
    enabled: bool = True
    hidden: bool = False
    """Made by `until`, never listed."""
    binding: Binding | None = None
    hits: int = 0

    @property
    def is_of_one_process(self) -> bool:
        """Whether it means something in this very process only: an address, or data at one."""
        return self.wanted.address is not None or self.wanted.data is not None


class Breakpoints:
    def __init__(self, show: Callable[[str | None], str | None], by_column: Callable[[], bool]) -> None:
        self._entries: dict[str, Entry] = {}
        self.issued = 0
        """How many ids were given out; none is given twice."""
        self._show = show
        self._by_column = by_column
        self._syncing = asyncio.Lock()

    # What the user sees

    def view(self, entry: Entry) -> Breakpoint:
        binding, wanted = entry.binding, entry.wanted
        if binding is not None and binding.state == "unconfirmed" and entry.hits:  # by the stop itself
            binding = replace(binding, state="bound", message=None)
        actual = None
        if binding is not None and binding.line is not None:
            by_column = entry.requested.column is not None and self._by_column()
            column = binding.column if by_column else None
            actual = Spot(file=self._show(binding.file), line=binding.line, column=column)
        return Breakpoint(
            id=entry.id,
            requested=entry.requested,
            actual=actual,
            state=binding.state if binding else "pending",
            message=self._message(entry, binding),
            condition=wanted.condition,
            hit=str(wanted.hit) if wanted.hit else None,
            log=wanted.log,
            once=entry.once,
            enabled=entry.enabled,
            hits=entry.hits,
        )

    def _message(self, entry: Entry, binding: Binding | None) -> str | None:
        said = binding.message if binding else None
        if said == NO_FILE and entry.wanted.file and (instead := _instead(entry.wanted.file, entry.base)):
            said = f"{NO_FILE}; there is {instead}"
        if entry.requested.column is None or self._by_column():
            return said
        unused = f"column {entry.wanted.column} is not used: this debugger stops at lines"
        return f"{said}; {unused}" if said else unused

    def list(self) -> tuple[Breakpoint, ...]:
        return tuple(self.view(entry) for entry in self._entries.values() if not entry.hidden)

    def never_hit(self) -> tuple[Breakpoint, ...]:
        """Of log points only those that were never set: how often the others wrote is told by what they wrote."""
        asked = [entry for entry in self._entries.values() if entry.enabled and not entry.hits and not entry.hidden]
        views = [(entry, self.view(entry)) for entry in asked]
        return tuple(view for entry, view in views if entry.wanted.log is None or view.state in ("failed", "pending"))

    def get(self, id: str) -> Entry:
        if id not in self._entries:
            raise NotFound(f"there is no breakpoint {id}", hint=Try("breaks"))
        return self._entries[id]

    def id_of(self, spec: BreakSpec, base: str) -> str:
        """The id of the breakpoint that was asked for by these words."""
        for entry in self._entries.values():
            if (entry.place, entry.base, entry.wanted.condition) == (str(spec.place), base, spec.condition):
                return entry.id
        raise NotFound(f"there is no breakpoint at {spec.place}", hint=Try("breaks"))

    def __contains__(self, id: str) -> bool:
        return id in self._entries

    # What the user does

    def add(
        self,
        place: Place,
        *,
        base: str,
        condition: str | None = None,
        hit: HitRule | None = None,
        log: str | None = None,
        once: bool = False,
        hidden: bool = False,
        id: str | None = None,
    ) -> str:
        """Want a breakpoint; the same place and rules again give the one that is there. Sent by the next `sync`.

        `id` is the one that it had in an earlier run.
        """
        requested, where = locate(place, base)
        if hidden:
            id = UNTIL
        else:
            for entry in self._entries.values():
                same = replace(where, id=entry.id, condition=condition, hit=hit, log=log)
                if entry.wanted == same and entry.once == once and not entry.hidden:
                    self._entries[entry.id] = replace(entry, enabled=True)
                    return entry.id
            if id is None:
                id = self.fresh_id()
        wanted = replace(where, id=id, condition=condition, hit=hit, log=log)
        self._entries[id] = Entry(id, requested, wanted, str(place), base, once=once, hidden=hidden)
        return id

    def fresh_id(self) -> str:
        """An id that no breakpoint of the family had before; asked of its root."""
        self.issued += 1
        return f"b{self.issued}"

    def remove(self, ids: Iterable[str]) -> None:
        for id in ids:
            self.get(id)
        for id in ids:
            self._entries.pop(id, None)

    def enable(self, ids: Iterable[str], *, enabled: bool) -> None:
        for id in ids:
            self._entries[id] = replace(self.get(id), enabled=enabled)

    def adopt(self, other: Breakpoints) -> None:
        """Want what another session of the family wants, by the same ids; our own bindings and counts stay."""
        mine = self._entries
        self._entries = {id: entry for id, entry in mine.items() if entry.hidden or entry.is_of_one_process}
        for id, entry in other._entries.items():
            if entry.hidden or entry.is_of_one_process:
                continue
            known = mine.get(id)
            kept = (known.binding, known.hits) if known and known.wanted == entry.wanted else (None, 0)
            self._entries[id] = replace(entry, binding=kept[0], hits=kept[1])

    def kept(self) -> tuple[KeptBreakpoint, ...]:
        """The wanted set as it goes to disk."""
        return tuple(
            KeptBreakpoint(
                id=entry.id,
                place=entry.place,
                base=entry.base,
                condition=entry.wanted.condition,
                hit=str(entry.wanted.hit) if entry.wanted.hit else None,
                log=entry.wanted.log,
                once=entry.once,
                enabled=entry.enabled,
            )
            for entry in self._entries.values()
            if not entry.hidden and entry.wanted.data is None
        )

    def of_this_run(self) -> tuple[str, ...]:
        """What cannot be wanted again in another run."""
        return tuple(f"{entry.id} {entry.place}" for entry in self._entries.values() if entry.wanted.data is not None)

    def restore(self, kept: Iterable[KeptBreakpoint], issued: int) -> None:
        """Want again, by the same ids, what an earlier run wanted; a text that is no longer in its file is left out."""
        kept = tuple(kept)
        self.issued = max([issued, *(int(each.id[1:]) for each in kept)])
        for each in kept:
            hit = parse_hit(each.hit) if each.hit else None
            with contextlib.suppress(NotFound, UsageError):
                id = self.add(
                    parse_place(each.place),
                    base=each.base,
                    condition=each.condition,
                    hit=hit,
                    log=each.log,
                    once=each.once,
                    id=each.id,
                )
                self._entries[id] = replace(self._entries[id], enabled=each.enabled)

    # What the debugger says

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        wanted = (entry.wanted for entry in self._entries.values() if entry.enabled)
        return tuple(wanted) if self._by_column() else tuple(replace(each, column=None) for each in wanted)

    async def sync(self, backend: Backend) -> None:
        """Make the debugger's set the wanted one."""
        async with self._syncing:
            self.bound(await backend.set_breakpoints(self.wanted))

    def bound(self, bindings: Iterable[Binding]) -> None:
        for binding in bindings:
            if entry := self._entries.get(binding.id):
                self._entries[binding.id] = replace(entry, binding=binding)

    def hit(self, event: Stopped, top: Frame | None) -> tuple[str, ...]:
        """Count a stop for the breakpoints that made it: those the debugger named, else those that stand there."""
        if event.reason == "watchpoint":
            ids = event.breakpoints
        elif "breakpoint" in event.reason:
            ids = event.breakpoints or self._standing_at(top)
        else:
            return ()
        hit = tuple(id for id in ids if id in self._entries)
        if event.counts:
            self.count(hit)
        return hit

    def _standing_at(self, top: Frame | None) -> tuple[str, ...]:
        return tuple(
            each.id
            for each in self._entries.values()
            if each.enabled and each.binding and top and (top.file, top.line) == (each.binding.file, each.binding.line)
        )

    def count(self, ids: Iterable[str]) -> None:
        """One more stop for each of these; a child's stops count for its ancestors too."""
        for id in ids:
            if entry := self._entries.get(id):
                self._entries[id] = replace(entry, hits=entry.hits + 1)

    def used_up(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Those of `ids` that were to stop once only."""
        return tuple(id for id in ids if id in self._entries and self._entries[id].once)


def locate(place: Place, base: str) -> tuple[Spot, Wanted]:
    """Turn a place as typed into what was requested and what a backend can be asked for."""
    match place:
        case LinePlace(file, line, column):
            path = absolute(file, base)
            return Spot(file=file, line=line, column=column), Wanted("", file=path, line=line, column=column)
        case TextPlace(file, text):
            path = absolute(file, base)
            line, column = position_of(path, text, base)
            return Spot(file=file, line=line, text=text), Wanted("", file=path, line=line, column=column)
        case HerePlace(line):
            raise UsageError(f"{line} is no place while nothing is held: name the file too, as in shop.py:{line}")
        case AddressPlace():
            return Spot(symbol=str(place)), Wanted("", address=str(place))
        case DataPlace(_, watching, data):
            return Spot(symbol=str(place)), Wanted("", data=data, watching=watching)
        case SymbolPlace(name, module):
            if os.path.isfile(Path(base) / name):
                raise UsageError(f"{name} is a file; give a line of it, as in {name}:1")
            return Spot(symbol=str(place)), Wanted("", symbol=name, module=module)


@functools.lru_cache(1024)
def absolute(file: str, base: str) -> str:
    """A file as the user wrote it, made whole; `<string>` and its like stay."""
    if file.startswith("<") and file.endswith(">"):
        return file
    path = Path(base) / Path(file).expanduser()
    parts: list[str] = []
    for part in path.parts:  # `..` by its letters, so that symbolic links keep the name the user knows
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(Path(*parts))


def position_of(path: str, text: str, base: str) -> tuple[int, int | None]:
    """The one line of the file that holds the text, and where on it the statement begins that does, if not with the line.

    No line or several are errors that say where.
    """
    try:
        lines = sourcefile.lines(path)
    except OSError as error:
        instead = file_like(Path(path), Path(base)) if isinstance(error, FileNotFoundError) else None
        meant = f"; there is {instead}" if instead else ""
        raise NotFound(f"{path} cannot be read: {error.strerror or error}{meant}") from None
    found = [number for number, line in enumerate(lines, 1) if text in line]
    if not found:
        raise NotFound(f"no line of {Path(path).name} holds {text!r}", hint=Try("source", {"at": f"{path}:1"}))
    if len(found) > 1:
        shown = ", ".join(map(str, found[:8])) + (" …" if len(found) > 8 else "")
        raise UsageError(f"{len(found)} lines of {Path(path).name} hold {text!r}: {shown}; give more of the line")
    line = lines[found[0] - 1]
    return found[0], _statement(line, line.index(text))


def _statement(line: str, at: int) -> int | None:
    """The column, from 1, of the statement around an offset, where languages put several on a line; None for the first.

    What a comment says is said of the whole line.
    """
    if _COMMENT.search(line[: at + 2]):
        return None
    opened: list[str] = []
    start = 0
    for number, letter in enumerate(line[:at]):
        ends = line.startswith("=>", number - 1)
        if letter in "({[":
            ends = letter == "{" and _BLOCK.search(line[:number]) is not None
            opened.append("block" if ends else letter)
        elif letter in ")}]" and opened:
            ends = opened.pop() == "block"
        elif letter == ";":
            ends = opened[-1:] != ["("]
        rest = line[number + 1 :].lstrip()
        if ends and rest.strip(")]};, "):
            start = len(line) - len(rest)
    return start + 1 if start else None


_BLOCK = re.compile(r"(?:\)|=>|\b(?:else|try|do|finally))\s*$")
"""What stands before a brace that opens a block; others hold values."""
_COMMENT = re.compile(r"(?:^|\s)(?://|/\*|#|--\s)")
