"""Source maps (ECMA-426, version 3): from generated positions to original ones and back, decoded when first asked.

Lines count from 1 and columns from 0, in UTF-16 units, on both sides: V8's columns, and the lines that people count.
A map is read in two steps. `parse` and `load` look at the JSON around the mappings and say BrokenMap if it is no map;
the mappings themselves are decoded at the first question, which may say BrokenMap too, and then says it every time.
`decode` asks for it ahead, in a thread for example: some megabytes of mappings take a second.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from collections.abc import Iterator
from typing import Annotated, NamedTuple
from urllib.parse import unquote, unquote_to_bytes

import msgspec

from .mappings import NAMED, NOWHERE, BrokenMap, Lines, Mappings, Part
from .originals import Originals, local_path

MOST_BYTES = 32 * 1024 * 1024
MOST_SOURCES = 100_000
_DEEPEST = 8
_XSSI = b")]}'"
_COMMENT = re.compile(r"//[#@][ \t]+sourceMappingURL=([^\s'\"]+)[ \t]*\r?$", re.MULTILINE)
_ONLY_COMMENTS = re.compile(r"(\s|//[^\n]*(\n|$))*")
_LINE_END = re.compile(r"\r\n?|[\n\u2028\u2029]")
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "utf-16", "utf-16le", "utf-16be"})

_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class Original(NamedTuple):
    """A place in a source, and the name that the thing there has in it, where the map tells."""

    source: str
    line: int
    column: int
    name: str | None = None


class Generated(NamedTuple):
    """A place in the file that runs."""

    line: int
    column: int


class _Offset(msgspec.Struct):
    line: _Count
    column: _Count


class _Section(msgspec.Struct):
    offset: _Offset
    map: _Map | None = None
    url: str | None = None


class _Map(msgspec.Struct, rename="camel"):
    version: int
    mappings: str | None = None
    sources: list[str | None] | None = None
    source_root: str | None = None
    sources_content: list[str | None] | None = None
    names: list[str] | None = None
    ignore_list: list[_Count] | None = None
    x_google_ignore_list: list[_Count] | None = msgspec.field(default=None, name="x_google_ignoreList")
    sections: list[_Section] | None = None


_DECODER = msgspec.json.Decoder(_Map)


class SourceMap:
    """One generated file's map. Made by `parse` or `load`."""

    def __init__(self, map: _Map, originals: Originals) -> None:
        self._names: list[str] = []
        self._paths: list[str | None] = []
        """What each entry of `sources` means, over all sections; several may mean the same file."""
        self._ids: dict[str, list[int]] = {}
        self._contents: dict[str, str] = {}
        self._ignored: set[str] = set()
        self._parts: list[Part] = []
        self._mappings: Mappings | None = None
        self._broken: str | None = None
        self._lines: dict[str, Lines] = {}
        self._lengths: dict[str, int] = {}
        for line, column, each in sorted(_flat(map, 0, 0, _DEEPEST), key=lambda found: found[:2]):
            self._take(line, column, each, originals)

    @property
    def sources(self) -> list[str]:
        """Paths, or readable names of what is no file, in the map's order and each once."""
        return list(self._ids)

    def content(self, source: str) -> str | None:
        """The text of a source as the map carries it; None where it carries none."""
        return self._contents.get(source)

    @property
    def has_names(self) -> bool:
        """Whether it tells what anything was called."""
        return bool(self._names)

    def lines_of(self, source: str) -> list[str] | None:
        """The lines of a source as the map carries it; None where it carries none."""
        content = self._contents.get(source)
        return None if content is None else _LINE_END.split(content)

    def is_ignored(self, source: str) -> bool:
        """Whether the map says that people do not want to see this source: a library's, or made by a tool."""
        return source in self._ignored

    def decode(self) -> Mappings:
        """The mappings, decoded now if they were not."""
        if self._broken is not None:
            raise BrokenMap(self._broken)
        if self._mappings is None:
            try:
                self._mappings = Mappings(self._parts)
            except BrokenMap as broken:
                self._broken = broken.reason
                raise
            self._parts = []
        return self._mappings

    @property
    def is_of_use(self) -> bool:
        """Whether anything in the generated file is said to be made from a source."""
        return any(kind != NOWHERE for kind in self.decode().kinds)

    def original(self, line: int, column: int) -> Original | None:
        """What the text at a generated position was made from: the last segment at or before it on the same line."""
        return self._led_to(self.decode().at(line - 1, column))

    def exactly(self, line: int, column: int) -> Original | None:
        """What the word that begins at a generated position was made from, where the map tells of this very word."""
        mappings = self.decode()
        segment = mappings.at(line - 1, column)
        if segment is None or mappings.position(segment) != (line - 1, column):
            return None
        return self._led_to(segment)

    def name_at(self, line: int, column: int) -> str | None:
        """What the word that begins at a generated position is called in its source, where the map tells."""
        original = self.exactly(line, column)
        return original.name if original else None

    def near(self, line: int, column: int) -> Original | None:
        """The same of text that was made from nothing: what the text before it was made from."""
        return self._led_to(self.decode().before(line - 1, column))

    def _led_to(self, segment: int | None) -> Original | None:
        mappings = self.decode()
        if segment is None or mappings.kinds[segment] == NOWHERE:
            return None
        source = self._paths[mappings.sources[segment]]
        if source is None:
            return None
        name = self._names[mappings.names[segment]] if mappings.kinds[segment] == NAMED else None
        return Original(source, mappings.lines[segment] + 1, mappings.source_columns[segment], name)

    def generated(self, source: str, line: int, column: int | None = None) -> list[Generated] | None:
        """Where the code of an original line begins, once for each stretch of generated text that was made from it.

        A line without code means the next one that has some: ask `original` about an answer to see which. With a
        column, the places made from the first column at or after it that has code, or else from the last one before.
        None where the map has no such source, where no code follows, and past the end of the text that it carries.
        """
        if source not in self._ids:
            return None
        mappings = self.decode()
        lines = self._lines.get(source)
        if lines is None:
            lines = self._lines[source] = mappings.of_sources(frozenset(self._ids[source]))
        found = lines.next_with_code(line - 1)
        if found is None or self._is_past_the_end(source, found + 1):
            return None
        segments: list[int] = list(lines.on(found))
        if column is not None:
            wanted = column if found == line - 1 else 0
            columns = {mappings.source_columns[each] for each in segments}
            nearest = min((each for each in columns if each >= wanted), default=max(columns))
            segments = [each for each in segments if mappings.source_columns[each] == nearest]
        firsts = (mappings.position(each) for each in mappings.first_of_runs(segments))
        return [Generated(line + 1, column) for line, column in firsts]

    def made_from(self, source: str, line: int, column: int) -> list[Generated]:
        """Where what was made from this very position is."""
        found = self.generated(source, line, column) or []
        backs = ((each, self.original(each.line, each.column)) for each in found)
        return [each for each, back in backs if back is not None and (back.line, back.column) == (line, column)]

    def _is_past_the_end(self, source: str, line: int) -> bool:
        """Whether the map carries the source's text and that has no such line."""
        if source not in self._contents:
            return False
        if source not in self._lengths:
            self._lengths[source] = len(_LINE_END.findall(self._contents[source])) + 1
        return line > self._lengths[source]

    def _take(self, line: int, column: int, map: _Map, originals: Originals) -> None:
        sources, names, contents = map.sources or [], map.names or [], map.sources_content or []
        if len(self._paths) + len(sources) > MOST_SOURCES:
            raise BrokenMap(f"it has more than {MOST_SOURCES:,} sources")
        first, first_name = len(self._paths), len(self._names)
        ignored = {*(map.ignore_list or ()), *(map.x_google_ignore_list or ())}
        for number, source in enumerate(sources):
            path = None if not source else originals.resolve(source, map.source_root or "")
            self._paths.append(path)
            if path is None:
                continue
            self._ids.setdefault(path, []).append(first + number)
            content = contents[number] if number < len(contents) else None
            if content is not None:
                self._contents.setdefault(path, content)
            if number in ignored:
                self._ignored.add(path)
        self._names += names
        own = range(first, len(self._paths)), range(first_name, len(self._names))
        self._parts.append(Part(map.mappings or "", line, column, *own))


def _flat(map: _Map, line: int, column: int, deepest: int) -> Iterator[tuple[int, int, _Map]]:
    """A map, or the maps of its sections, each with the position at which it begins."""
    if map.version != 3:
        raise BrokenMap(f"it is of version {map.version}; only version 3 is known")
    if map.sections is None:
        if map.mappings is None:
            raise BrokenMap("it has neither mappings nor sections")
        yield line, column, map
        return
    if not deepest:
        raise BrokenMap("its sections are nested too deep")
    for section in map.sections:
        if section.map is None:
            raise BrokenMap(f"a section is elsewhere, and is not fetched: {_short(section.url or 'nowhere')}")
        at = section.offset
        yield from _flat(section.map, line + at.line, at.column + (0 if at.line else column), deepest - 1)


def parse(data: bytes | str, generated: str, map_path: str | None = None) -> SourceMap:
    """A map from its text; `generated` is the path or URL of the file that it is about, `map_path` the map's own."""
    if len(data) > MOST_BYTES:
        raise BrokenMap(f"it is larger than {MOST_BYTES // 2**20} MiB")
    try:
        raw = (data.encode() if isinstance(data, str) else data).removeprefix(b"\xef\xbb\xbf")
        if raw.startswith(_XSSI):
            raw = raw.partition(b"\n")[2]
        return SourceMap(_DECODER.decode(raw), Originals(generated, map_path))
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BrokenMap(f"it is no source map: {error}") from None
    except RecursionError:
        raise BrokenMap("it is nested too deep") from None


def load(url: str, generated: str) -> SourceMap:
    """The map that a generated file's `sourceMappingURL` names: inline, or in a file; nothing is fetched."""
    if url[:5].lower() == "data:":
        return parse(_inline(url), generated)
    if re.match(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:", url, re.IGNORECASE):
        raise BrokenMap(f"it is not on this machine, and is not fetched: {_short(url)}")
    for path in _candidates(url, generated):
        if os.path.lexists(path):
            return parse(_read(path), generated, path)
    raise BrokenMap(f"there is no file {_short(url)}")


def mapping_url(text: str) -> str | None:
    """The URL in the last `//# sourceMappingURL=` comment of a generated file, if only comments follow it."""
    at = text.rfind("sourceMappingURL=")
    if at < 0:
        return None
    found = _COMMENT.match(text, text.rfind("//", 0, at))
    if found is None or not _ONLY_COMMENTS.fullmatch(text, found.end()):
        return None
    return found[1]


def _candidates(url: str, generated: str) -> Iterator[str]:
    """The paths that a URL may mean, most literal first: tools differ in whether they encode, and add `?v=…`."""
    if url[:5].lower() == "file:":
        path = local_path(url)
        if path is not None:
            yield path
        return
    script = local_path(generated)
    if script is None and not url.startswith("/"):
        raise BrokenMap(f"{_short(url)} is relative to a script that is no file")
    for each in (url, unquote(url), unquote(re.split("[?#]", url, maxsplit=1)[0])):
        if each and "\0" not in each:
            yield os.path.normpath(os.path.join(os.path.dirname(script or "/"), each))


def _read(path: str) -> bytes:
    try:
        # a pipe of that name must not make the opening wait for a writer
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BrokenMap(f"{_short(path)} is no regular file")
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BrokenMap(f"{_short(path)} cannot be read: {error.strerror}") from None


def _inline(url: str) -> bytes:
    """What a `data:` URL holds, as UTF-8."""
    if len(url) > 2 * MOST_BYTES:
        raise BrokenMap(f"it is larger than {MOST_BYTES // 2**20} MiB")
    head, comma, body = url[5:].partition(",")
    if not comma:
        raise BrokenMap("its data: URL has no data")
    _, *words = (word.strip().lower() for word in head.split(";"))
    try:
        data = unquote_to_bytes(body)
    except UnicodeError:
        raise BrokenMap("its data: URL is no text") from None
    if "base64" in words:
        digits = b"".join(data.split()).rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        try:
            data = base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
        except binascii.Error as error:
            raise BrokenMap(f"its data: URL is no base 64: {error}") from None
    charset = next(
        (word.removeprefix("charset=").strip("\"'") for word in words if word.startswith("charset=")), "utf-8"
    )
    if charset not in _CHARSETS:
        raise BrokenMap(f"its data: URL is in an unknown charset, {_short(charset)}")
    try:
        return data if charset in ("utf-8", "utf8") else data.decode(charset).encode()
    except UnicodeError:
        raise BrokenMap(f"its data: URL is not in {charset}") from None


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"


__all__ = ["BrokenMap", "Generated", "Original", "SourceMap", "load", "mapping_url", "parse"]
