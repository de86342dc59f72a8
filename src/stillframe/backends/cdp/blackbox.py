"""Library code that V8 passes over, and the packages in it that it must not: those in which a breakpoint has no place yet,
and all of them where errors of a class are wanted, since V8 tells of none that only library code has to do with.

V8 (of Node 18 to 24) does not pause before a module that it passes over, so that its source map would come too late.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .client import CdpClient
from .scripts import Scripts, spelled

_PACKAGE = re.compile(r"^.*/node_modules/(?:@[^/]+/)?[^/]+/")
_EVERY = "/node_modules/"
_RUNTIME = "^node:"


class Blackbox:
    """Keeps V8's patterns in step with what is wanted."""

    def __init__(self, client: CdpClient, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts
        self._open: frozenset[str] = frozenset()
        self._hears_runtime = False
        self.stands = True
        """V8 has patterns of ours; it is given none with code that has no file."""

    @property
    def is_open(self) -> bool:
        """Whether V8 looks at any library code."""
        return bool(self._open)

    async def leave_open(self, files: Iterable[str], *, every: bool = False, runtime: bool = False) -> None:
        """Let V8 look at the packages of these files as at the user's own code, or at every one, and at no other ones; and at the
        runtime's own code, where errors that begin there and are caught are wanted: V8 tells of none that begins in what it
        passes over, whoever catches it."""
        found = frozenset(package[0] for file in files if (package := _PACKAGE.match(file)))
        found = frozenset({_EVERY}) if every else found
        if (found, runtime) == (self._open, self._hears_runtime) or not self._scripts.hides_library:
            return
        self._open, self._hears_runtime, self.stands = found, runtime, True
        await self._client.request("Debugger.setBlackboxPatterns", {"patterns": self._patterns()})

    def lift(self, lifted: bool) -> None:
        """Let V8 pause in the runtime's own code, too, or no longer. Where that is not out of a snapshot, as in Debian's build
        of Node 18, a step in a function that V8 passes over leaves it."""
        if self.stands and self._scripts.hides_library:
            own = self._own() if lifted else self._patterns()
            self._client.send("Debugger.setBlackboxPatterns", {"patterns": own})

    def _own(self) -> list[str]:
        return [f"^{self._scripts.hidden}$"] if self._scripts.hidden else []

    def _patterns(self) -> list[str]:
        library, own = self._scripts.library, self._own()
        if self._hears_runtime:
            library = tuple(each for each in library if each != _RUNTIME)
        if not self._open:
            return [*library, *own]
        if _EVERY in self._open:
            return [*(each for each in library if _EVERY not in each), *own]
        packages = "|".join("".join(map(spelled, each)) for each in sorted(self._open))
        return [*(f"^(?!(?:file://)?(?:{packages})).*(?:{each})" for each in library), *own]
