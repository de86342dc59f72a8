"""The scripts that V8 has parsed: their files, their source maps, and the way between what runs and what was written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import unquote, urlsplit

import msgspec

from .client import Body
from .sourcemaps import BrokenMap, Original, SourceMap, load

_MADE_UP = re.compile(r"^[\w.+-]+://[^/]*/(?:\.{1,2}/)*|\?.*$")
"""What bundlers put before and after the name of a source."""
_BUNDLERS = re.compile(r"webpack://[^/]*/(?:webpack/|external )")
_RETURN = re.compile(r"\breturn\b")
_PLAIN = re.compile(r"[A-Za-z0-9/._~-]")


class Script(msgspec.Struct):
    """One parsed script. `path` is its file where it has one, else its name as V8 tells it."""

    id: str
    url: str
    path: str
    is_file: bool
    user: bool
    lines: int
    map_url: str = ""
    hash: str = ""
    """By which V8 knows its text."""
    made_by: str = ""
    """The file whose code made this script while it ran, where that is known."""
    _map: SourceMap | None = None
    _looked: bool = False
    broken: str | None = None
    """Why its source map cannot be used."""

    def map(self) -> SourceMap | None:
        """Its source map, read when first asked for; None where there is none that can be used."""
        if not self._looked:
            self._looked = True
            if self.map_url:
                try:
                    self._map = load(self.map_url, self.path if self.is_file else self.made_by or self.path)
                    self._map.decode()
                except BrokenMap as broken:
                    self._map, self.broken = None, broken.reason
        return self._map


class Spot(msgspec.Struct, frozen=True):
    """A position as the user knows it: lines from 1, columns from 1."""

    file: str
    line: int
    column: int
    mapped: bool = False


class Scripts:
    """Every script of one isolate, by id and by file."""

    def __init__(self, library: Sequence[str], hidden: str, *, hides_library: bool, homes: Sequence[str] = ()) -> None:
        self.hides_library = hides_library
        self._homes = homes
        """Folders from which the program may look for packages, besides that of each of its files."""
        self.looks_into_library = not hides_library
        """Only the user's own code is of interest."""
        self._library = re.compile("|".join(library)) if library else None
        self.library = tuple(library)
        self.hidden = hidden
        self._by_id: dict[str, Script] = {}
        self._by_file: dict[str, list[Script]] = {}
        self._unread: dict[str, str] = {}
        self._nameless: list[Script] = []
        """Those that a tool gave the name of a source but no map that leads there."""
        self._real: dict[str, str] = {}
        self._links: dict[str, list[tuple[str, str]]] = {}
        self._sources: dict[str, list[str]] = {}
        self.tell: Callable[[str], None] = lambda said: None
        """Takes what is worth saying of source maps."""
        self._astray: set[tuple[str, str]] = set()

    def parsed(self, body: Body) -> Script:
        """Take in a `scriptParsed`."""
        url = str(body.get("url") or "")
        path = path_of(url)
        script = Script(
            id=str(body.get("scriptId")),
            url=url,
            path=path or url or "<eval>",
            is_file=path is not None,
            user=bool(url) and url != self.hidden and not (self._library and self._library.search(url)),
            lines=int(body.get("endLine") or 0) + 1,
            map_url=str(body.get("sourceMapURL") or ""),
            hash=str(body.get("hash") or ""),
        )
        if script.map_url and not script.is_file:
            script.made_by = self._maker(body)
        elif not script.is_file and "://" in url:
            self._nameless.append(script)
        self._by_id[script.id] = script
        self._by_file.setdefault(self.real(script.path), []).append(script)
        return script

    def failed(self, body: Body) -> None:
        """Take in a `scriptFailedToParse`: there is nothing of it to debug, but an error may be about it."""
        if (path := path_of(str(body.get("url") or ""))) is not None:
            self._unread[str(body.get("scriptId"))] = path

    def unread(self, id: str) -> str | None:
        """The file of a script that V8 could not read."""
        return self._unread.get(id)

    def get(self, id: str) -> Script | None:
        return self._by_id.get(id)

    def all(self) -> list[Script]:
        return list(self._by_id.values())

    def of_file(self, file: str) -> list[Script]:
        """Scripts that are this file, the newest last."""
        return self._by_file.get(self.real(file), [])

    def of_source(self, file: str) -> list[tuple[Script, str]]:
        """Scripts that were made from this file, each with the name that its map has for it."""
        wanted = self.real(file)
        made = (script for script in self._by_id.values() if script.map_url and script.user)
        return [(script, source) for script in made if (source := self.source_in(script, wanted))]

    def source_in(self, script: Script, real: str) -> str | None:
        """The name of this file among the sources of a script's map."""
        made = script.map()
        if made is None:
            return None
        return next((source for source in made.sources if self.real(source) == real), None)

    def unmapped(self, real: str) -> Script | None:
        """A script that a bundle made of this file as it ran, without telling which line became which."""
        return next((each for each in self._nameless if real.endswith("/" + _MADE_UP.sub("", each.url))), None)

    def spellings(self, path: str) -> list[str]:
        """The paths under which Node may load a file that it is told not to resolve links for (--preserve-symlinks)."""
        found = [path]
        for folder in dict.fromkeys(each for home in (os.path.dirname(path), *self._homes) for each in _upwards(home)):
            found += [link + path[len(to) :] for link, to in self._links_in(folder) if path.startswith(to + "/")]
        return found

    def _links_in(self, folder: str) -> list[tuple[str, str]]:
        """The packages beside a folder that are links into a workspace, each with where it leads."""
        if folder not in self._links:
            packages = os.path.join(folder, "node_modules")
            entries = [*_entries(packages)]
            for scope in [each.path for each in entries if each.name.startswith("@")]:
                entries += _entries(scope)
            links = [each.path for each in entries if each.is_symlink()]
            self._links[folder] = [(each, os.path.realpath(each)) for each in links]
        return self._links[folder]

    def real(self, path: str) -> str:
        known = self._real.get(path)
        if known is None:
            known = self._real[path] = os.path.realpath(path) if path.startswith("/") else path
        return known

    def is_library(self, path: str) -> bool:
        return self._library is not None and self._library.search(path) is not None

    def reads_map(self, script: Script) -> bool:
        """Whether a script is told by what it was made from: the program's own, and library code that somebody looks into."""
        return script.user or (self.looks_into_library and script.is_file)

    def _maker(self, body: Body) -> str:
        """The file that evaluated the text of a script: bundles do so with each of their modules."""
        calls = (body.get("stackTrace") or {}).get("callFrames") or ()
        paths = (path_of(str(each.get("url") or "")) for each in calls)
        return next((path for path in paths if path is not None), "")

    def _hides_source(self, script: Script, made: SourceMap) -> bool:
        """Whether a script has the name of the file that it was made from, as loaders that compile give it."""
        return script.is_file and script.path in made.sources

    def is_named_as_source(self, script: Script) -> bool:
        """Whether a position in the file of this name may be one of what runs or of what was written."""
        made = script.map() if self.reads_map(script) else None
        return made is not None and self._hides_source(script, made)

    def _returning(self, made: SourceMap, original: Original, line: int, column: int) -> Original:
        """V8 has a `return` end where its text ends. In text without a blank between, as loaders make it, that is the brace which
        ends the function, and the line of that brace would be told."""
        before = made.original(line + 1, column - 1) if column else None
        if before is None or before.line == original.line or before.source != original.source:
            return original
        lines = self.written(made, original.source)
        closes = _at(lines, original.line)[original.column : original.column + 1] == "}"
        return before if closes and _RETURN.search(_at(lines, before.line)) else original

    def is_closing(self, script_id: str, line: int, column: int) -> bool | None:
        """Whether a position is that of a brace in what the user wrote; None of what was not made from that."""
        text, spot = self.written_line(script_id, line, column), self.spot(script_id, line, column)
        return None if text is None or spot is None else text[spot.column - 1 : spot.column] == "}"

    def written_line(self, script_id: str, line: int, column: int) -> str | None:
        """The line that a position was made from, as the user wrote it; None of what was not made from anything."""
        script = self._by_id.get(script_id)
        made = script.map() if script is not None and self.reads_map(script) else None
        spot = self.spot(script_id, line, column)
        return _at(self.written(made, spot.file), spot.line) if made is not None and spot and spot.mapped else None

    def written_text(self, script: Script, line: int, column: int) -> str | None:
        """The whole text that a position was made from, as the user wrote it; None of what was not made from anything."""
        made = script.map() if self.reads_map(script) else None
        spot = self.spot(script.id, line, column) if made is not None else None
        return "\n".join(self.written(made, spot.file)) if made is not None and spot and spot.mapped else None

    def written(self, made: SourceMap, source: str) -> list[str]:
        """The lines of a source: of its file, or else of the text in the map; often there is neither."""
        if source not in self._sources:
            self._sources[source] = _lines_in(source) or made.lines_of(source) or []
        return self._sources[source]

    def written_name(self, script_id: str, line: int, column: int, name: str) -> str:
        """What a function is called in its source that V8 knows by this name, and whose parameters begin here."""
        script = self._by_id.get(script_id)
        made = script.map() if script is not None and self.reads_map(script) else None
        if made is None or column < len(name):
            return name
        return made.name_at(line + 1, column - len(name)) or name

    def is_made_up(self, script_id: str, line: int, column: int) -> bool:
        """Whether a compiler or bundler has added what is at a position: its map is of use, and leads nowhere from there, or into
        the bundler's own code."""
        script = self._by_id.get(script_id)
        made = script.map() if script is not None and self.reads_map(script) else None
        if script is None or made is None or not made.is_of_use:
            return False
        original = made.original(line + 1, column)
        return original is None or is_bundlers(original.source)

    def is_around(self, script_id: str, line: int, column: int) -> bool:
        """Whether a loader has put what is at a position around the text of a file, under the name of that file."""
        script = self._by_id.get(script_id)
        if script is None or not script.map_url or not script.is_file or not self.reads_map(script):
            return False
        made = script.map()
        if made is None or not made.is_of_use or not self._hides_source(script, made):
            return False
        return made.original(line + 1, column) is None

    def _leads_astray(self, script: Script, source: str, line: int, length: int) -> None:
        if not script.user or (script.id, source) in self._astray:
            return
        self._astray.add((script.id, source))
        if length:
            name, own = (path.rpartition("/")[2] for path in (source, script.path))
            self.tell(
                f"the source map of {own} leads to line {line} of {name}, which has {length}: it is shown as it runs"
            )
        else:
            self.tell(f"what {script.path} was made from is not there ({source}): it is shown as it runs")

    # Positions

    def spot(self, script_id: str, line: int, column: int) -> Spot | None:
        """Where a position of V8 (from 0) is in what the user wrote."""
        script = self._by_id.get(script_id)
        if script is None:
            return None
        if self.reads_map(script) and (made := script.map()) is not None:
            original = made.original(line + 1, column)
            if original is None and self._hides_source(script, made):
                original = made.near(line + 1, column)  # else a line of what runs would be told as one of its source
            if original is not None:
                original = self._returning(made, original, line, column)
                length = len(self.written(made, original.source))
                if original.line <= length:
                    return Spot(original.source, original.line, original.column + 1, mapped=True)
                self._leads_astray(script, original.source, original.line, length)
        return Spot(script.path, line + 1, column + 1)


def is_bundlers(source: str) -> bool:
    """Whether this is the name that webpack has for code of its own in a source map."""
    return _BUNDLERS.match(source) is not None


def _lines_in(path: str) -> list[str]:
    """The lines of a file, one more for what may follow its last line end; none where there is no such file."""
    if not os.path.isfile(path):
        return []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")
    except OSError:
        return []


def _at(lines: Sequence[str], line: int) -> str:
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _upwards(folder: str) -> Iterator[str]:
    while folder not in ("/", ""):
        yield folder
        folder = os.path.dirname(folder)


def path_of(url: str) -> str | None:
    """The file behind a script's address."""
    if url.startswith("file://"):
        return unquote(urlsplit(url).path)
    return url if url.startswith("/") else None


def url_pattern(*paths: str) -> str:
    """A pattern for every way in which the address of a file may be spelled that has these paths.

    A module may be imported anew under a query (`app.config.mjs?mtime=1`), which is no part of its file's name.
    """
    words = ["".join(map(spelled, path)) for path in paths]
    file = words[0] if len(words) == 1 else f"(?:{'|'.join(words)})"
    return f"^(?:{file}|file://{file}(?:[?#].*)?)$"


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def spelled(letter: str) -> str:
    if _PLAIN.match(letter):
        return re.escape(letter) if letter in ".-~" else letter
    raw = letter.encode("utf-8", "surrogateescape")
    encoded = "".join(f"%{byte:02X}" for byte in raw)
    lower = "".join(f"%{byte:02x}" for byte in raw)
    literal = re.escape(letter) if letter.isascii() else letter
    return f"(?:{literal}|{encoded}|{lower})"
