"""What a directory says of its tests: configurations, packages that it depends on, and the test files in it."""

from __future__ import annotations

import json
import re
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from .scripts import unfolded

MOST_FILES = 40
"""Test files that are looked into."""
_DEPTH = 4
_SKIPPED = {"node_modules", "__pycache__", "venv", "env", "dist", "build", "target", "vendor", "coverage"}
_READ = 64 * 1024
TEST_FILES = {
    ".py": re.compile(r"test.*\.py$|.*_test\.py$"),
    ".js": re.compile(r".*[._-](test|spec)\.[cm]?[jt]sx?$|test\.[cm]?[jt]sx?$"),
    ".go": re.compile(r".*_test\.go$"),
    ".rs": re.compile(r".*\.rs$"),
}
_FAMILY = {"pytest": ".py", "unittest": ".py", "django": ".py", "script": ".py", "go": ".go", "cargo": ".rs"}
_FOREIGN = ("ava", "tap", "tape", "jasmine", "uvu", "karma", "cypress", "lab", "qunit", "playwright")
"""Runners of JavaScript's by the names of their programs, so that a project's own is named where we cannot read it."""
_ANY_SCRIPT = re.compile(r".*\.[cm]?[jt]sx?$")
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")


class Signs:
    """One directory, looked at when asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[str, list[str]] = {}

    def has(self, *names: str) -> bool:
        return any(any(self.folder.glob(name)) for name in names)

    def text(self, name: str) -> str:
        """A file's text; empty where there is none."""
        try:
            with (self.folder / name).open(encoding="utf-8", errors="replace") as file:
                return file.read(_READ)
        except OSError:
            return ""

    @cached_property
    def package(self) -> dict[str, Any]:
        """The project's package.json; empty where it has none that can be read."""
        try:
            found = json.loads(self.text("package.json") or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def test_script(self) -> str:
        """What `npm test` runs, with the scripts that it runs in their places."""
        scripts = self.package.get("scripts")
        return unfolded("test", scripts) if isinstance(scripts, dict) else ""

    @property
    def foreign_runner(self) -> str | None:
        """A runner of JavaScript's that is none of ours, by what `npm test` runs or what the project depends on."""
        words = re.split(r"[\s/&;|]+", self.test_script)
        return next((each for each in _FOREIGN if each in words or self.depends_on(each)), None)

    def depends_on(self, name: str) -> bool:
        kinds = ("dependencies", "devDependencies", "peerDependencies")
        return any(name in (self.package.get(kind) or {}) for kind in kinds)

    def test_files(self, ending: str) -> list[Path]:
        """The first test files of a language at or below this directory."""
        return list(islice(_found(self.folder, TEST_FILES[ending], _DEPTH), MOST_FILES))

    def scripts(self) -> list[Path]:
        """The first files of JavaScript or TypeScript at or below this directory, whatever they are called."""
        return list(islice(_found(self.folder, _ANY_SCRIPT, _DEPTH), MOST_FILES))

    def test_texts(self, ending: str) -> list[str]:
        if ending not in self._texts:
            self._texts[ending] = self._read(ending)
        return self._texts[ending]

    def _read(self, ending: str) -> list[str]:
        return [self.text(str(each.relative_to(self.folder))) for each in self.test_files(ending)]

    def endings_of(self, runner: str) -> tuple[str, ...]:
        """The endings of files that a runner's tests are in."""
        ending = _FAMILY.get(runner)
        return (ending,) if ending else (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx")


def _found(folder: Path, pattern: re.Pattern[str], depth: int) -> Any:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if pattern.fullmatch(entry.name) and entry.is_file():
            yield entry
    for entry in entries:
        if depth > 1 and entry.is_dir() and not entry.name.startswith(".") and entry.name not in _SKIPPED:
            yield from _found(entry, pattern, depth - 1)
