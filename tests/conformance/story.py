"""A story for each language: its marked program, how its words are spelled, and a way to launch it to some marks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import stillframe
from stillframe.adapters import native
from stillframe.adapters.finding import Needs, find
from stillframe.adapters.gdb import GDB
from stillframe.adapters.go import GO
from stillframe.adapters.lldb import LLDB
from stillframe.adapters.ruby import RUBY
from stillframe.model.outcomes import AnyOutcome
from stillframe.model.plans import Plan

from ..interpreters import INTERPRETERS
from .witness import Witness

VERSIONS = ("3.8", "3.14")
"""The ends of what is promised, which are debugged in different ways: tracing and monitoring. The stories run on `python3`."""
LANGUAGES = Path(__file__).resolve().parents[1] / "languages"


@dataclass(frozen=True)
class Story:
    """One language's program and the few words of it that the story cannot do without."""

    language: str
    file: str
    tool: str
    error: str
    """The class that `fail` raises."""
    nothing: str
    """An expression that fails, and the word that its error holds."""
    nothing_says: str
    empty: str
    """How the empty tally is told."""
    request: tuple[str, str]
    """A request of the debugger's own protocol, and a field of its answer."""
    runs: str = ""
    """What is launched, where that is not the file itself: what it was compiled into."""
    workers: Literal["threads", "sessions"] = "threads"
    """What the program's other threads are: those of one session, or sessions of their own."""
    version: str = ""
    """The version of the language, where the debugger works differently for some."""
    interpreter: str | None = None
    quote: str = "'"
    """The mark around a text."""
    package: str = ""
    """What stands in front of every function's name."""
    outer: tuple[str, ...] = ("price", "shop", "main")
    """The functions that are there when `price` runs, the innermost first."""
    worker: str = "helper"
    """The name of the other thread."""
    tells_returned: bool = True
    """Whether the debugger tells what a function gave back."""
    catches_raised: bool | None = True
    """Whether it stops for errors that are handled; None where there are none in the language."""
    tells_message: bool = True
    """Whether the debugger knows what an error says; the program itself prints it."""
    dies_of: str | None = None
    """The signal that ends a program which fails, where that is no exit code."""
    unwinds_births: bool = True
    """Whether the stack is known of a thread that is just starting another one."""
    adapter: str | None = None
    """The debugger that is asked for by its name, where another one would be chosen."""
    raw: str = "1 + 1"
    """What the debugger's own console is asked for two by."""

    needs: Needs | None = None
    """The tool that is not there on every machine."""

    @property
    def missing(self) -> str:
        """What this machine lacks for it."""
        found = find(self.needs, os.environ, ".") if self.needs else None
        return "" if found is None or (found.path and not found.problem) else f"{self.tool} is not installed"

    def text(self, words: str) -> str:
        """A text as the debugger shows it."""
        return f"{self.quote}{words}{self.quote}"

    def function(self, name: str) -> str:
        return self.package + name

    @property
    def program(self) -> Path:
        return LANGUAGES / self.language / self.file

    @property
    def name(self) -> str:
        return self.language + self.version

    def mark(self, name: str) -> int:
        """The line that ends with this mark."""
        lines = self.program.read_text().splitlines()
        (found,) = [number for number, line in enumerate(lines, 1) if line.endswith(name)]
        return found

    def at(self, mark: str) -> str:
        return f"{self.file}:{self.mark(mark)}"

    @asynccontextmanager
    async def launched(
        self, what: str = "shop", breaks: Sequence[str | tuple[str, str]] = (), **options: object
    ) -> AsyncIterator[tuple[stillframe.Debugger, AnyOutcome]]:
        """The program run to its first stop: `breaks` are marks, or a mark and a condition."""
        places = [self.at(each) if isinstance(each, str) else f"{self.at(each[0])} if {each[1]}" for each in breaks]
        if native.understands(plan := self._plan()):
            await native.program(plan)  # else a slow machine says how long building took, in every output
        async with Witness(cwd=str(self.program.parent)) as dbg:
            yield dbg, await dbg.launch(self.runs or self.file, what, breaks=places, **self._chosen, **options)  # type: ignore[arg-type]

    def _plan(self) -> Plan:
        file = str(self.program)
        return Plan((file,), "file", program=file, cwd=str(self.program.parent), env=dict(os.environ))

    @property
    def _chosen(self) -> dict[str, str | None]:
        return {"python": self.interpreter, "adapter": self.adapter}


def python(version: str) -> Story:
    return Story(
        language="python",
        file="story.py",
        tool="debugpy",
        error="ValueError",
        nothing="no_such_name",
        nothing_says="NameError",
        empty="{}",
        request=("threads", "threads"),
        version=version,
        interpreter=INTERPRETERS.get(version),
    )


def strips_types() -> bool:
    """Whether the `node` on PATH runs TypeScript by itself: since 22.6, and without a flag since 22.18 and 23.6."""
    found = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return [int(part) for part in found.strip().lstrip("v").split(".")] >= [22, 6]


def node(language: str, file: str, runs: str = "", version: str = "") -> Story:
    return Story(
        language=language,
        version=version,
        file=file,
        runs=runs,
        tool="node",
        error="RangeError",
        nothing="noSuchName",
        nothing_says="ReferenceError",
        empty="{}",
        request=("Runtime.getIsolateId", "id"),
        workers="sessions",
    )


def go() -> Story:
    return Story(
        language="go",
        file="story.go",
        tool="dlv",
        error="panic",
        nothing="noSuchName",
        nothing_says="noSuchName",
        empty="map[string]int []",
        request=("threads", "threads"),
        quote='"',
        package="main.",
        outer=("price", "shop", "run"),
        worker="goroutine",
        tells_returned=False,
        catches_raised=False,
        needs=GO.needs[0],
    )


def ruby() -> Story:
    return Story(
        language="ruby",
        file="story.rb",
        tool="rdbg",
        error="ArgumentError",
        nothing="no_such_name",
        nothing_says="NameError",
        empty="{}",
        request=("threads", "threads"),
        quote='"',
        needs=RUBY.needs[0],
    )


def compiled(language: str, file: str, **words: Any) -> Story:
    by_gdb = {"tool": "gdb", "raw": "output 1 + 1", "needs": GDB.needs[0]}
    return Story(
        language=language,
        file=file,
        nothing="no_such_name",
        nothing_says="no_such_name",
        request=("threads", "threads"),
        quote='"',
        outer=("price", "shop", "run"),
        **{**by_gdb, **words},
    )


def by_lldb(story: Story, **words: Any) -> Story:
    """The same through the other debugger of native programs."""
    given: dict[str, Any] = {
        "version": "-lldb",
        "unwinds_births": False,
        "tool": "lldb-dap",
        "raw": "script print(1 + 1)",
        "needs": LLDB.needs[0],
        "adapter": "lldb",
    }
    return replace(story, **{**given, **words})


def c() -> Story:
    return compiled(
        "c",
        "story.c",
        error="SIGABRT",
        empty="{a = 0, b = 0}",
        catches_raised=None,
        tells_message=False,
        dies_of="SIGABRT",
    )


def cpp() -> Story:
    return compiled("cpp", "story.cpp", error="std::runtime_error", empty="std::map with 0 elements", dies_of="SIGABRT")


def rust() -> Story:
    return compiled("rust", "story.rs", error="panic", empty="HashMap(size=0)", package="story::", tells_message=False)


LLDB_STORIES = (by_lldb(c()), by_lldb(cpp(), empty="size=0 {}"), by_lldb(rust(), empty="size=0 {}"))

STORIES = (
    *(tuple(python(version) for version in VERSIONS if version in INTERPRETERS) or (python(""),)),
    node("javascript", "story.js"),
    node("typescript", "story.ts", runs="built/story.js"),
    *((node("typescript", "story.ts", version="-stripped"),) if strips_types() else ()),
    go(),
    ruby(),
    c(),
    cpp(),
    rust(),
    *LLDB_STORIES,
)
