"""Where the sources that a source map names are: paths where files can be told, readable names where not."""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import unquote, urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: `C:` is a drive
_ROOTS = re.compile(r"^(\./|\[project\]/)+")  # webpack's and Turbopack's words for the project's directory
_MOST_ANCESTORS = 20


def local_path(place: str) -> str | None:
    """The path that a `file:` URL or a path names; None for what is no file at all, such as `evalmachine.<anonymous>`."""
    if place.lower().startswith("file:"):
        try:
            path = unquote(urlsplit(place).path)
        except ValueError:
            return None
        return posixpath.normpath(path) if path.startswith("/") else None
    if _SCHEME.match(place) or not place.startswith("/"):
        return None
    return posixpath.normpath(place)


class Originals:
    """Finds what the entries of `sources` mean, for one generated file."""

    def __init__(self, generated: str, map_path: str | None = None) -> None:
        script = local_path(generated)
        beside = map_path or script
        self._base = posixpath.dirname(beside) if beside else None
        """What relative entries are relative to: the place of the map, or that of the file in which it is inline."""
        self._ancestors = _ancestors(posixpath.dirname(script or map_path or ""))
        self._entries: dict[tuple[str, str], bool] = {}

    def resolve(self, source: str, root: str = "") -> str:
        """A path, whether or not there is such a file; the entry itself where it cannot be one."""
        if root and not source.startswith("/") and not _SCHEME.match(source):
            source = root.removesuffix("/") + "/" + source
        if source.lower().startswith("file:"):
            return local_path(source) or source
        if _SCHEME.match(source):
            return self._under_an_ancestor(source)
        if "\0" in source:
            return source  # Rollup's mark for a module that is no file
        path = posixpath.normpath(posixpath.join(self._base or "", source))
        if "%" not in path and "?" not in path:
            return path
        bare = path.split("?", 1)[0]  # Vite's parts of a component: `a.vue?type=script`
        return next(filter(os.path.isfile, (path, unquote(path), bare, unquote(bare))), path)

    def _under_an_ancestor(self, url: str) -> str:
        """A bundler's made-up URL (`webpack://shop/./src/a.ts?1f3b`): the file in the nearest directory that has it.

        The first part of such a URL is the name of a package, not a directory. Where there is no such file, the
        URL stays, without the hash that tells two versions of one module apart.
        """
        readable = url.split("?", 1)[0]
        package, _, rest = readable.partition("://")[2].partition("/")
        if rest.startswith("/"):
            path = posixpath.normpath(rest)
            return path if os.path.isfile(path) else readable
        if package.startswith("@"):
            rest = rest.partition("/")[2]
        rest = posixpath.normpath(unquote(_ROOTS.sub("", rest)))
        if rest.startswith("~/"):  # webpack 1's word for where packages are
            rest = "node_modules" + rest[1:]
        for directory in self._ancestors:
            path = posixpath.normpath(posixpath.join(directory, rest))
            if self._has_entry(directory, rest.partition("/")[0]) and os.path.isfile(path):
                return path
        return readable

    def _has_entry(self, directory: str, name: str) -> bool:
        """Kept, since a bundle has thousands of sources in the same few directories."""
        key = (directory, name)
        if key not in self._entries:
            self._entries[key] = os.path.lexists(posixpath.join(directory, name))
        return self._entries[key]


def _ancestors(directory: str) -> list[str]:
    found: list[str] = []
    while directory.startswith("/") and len(found) < _MOST_ANCESTORS:
        found.append(directory)
        if directory == "/":
            break
        directory = posixpath.dirname(directory)
    return found
