"""Modules that are about to run: their source maps and functions are learned first, so that breakpoints stand in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ...model import exact
from ...model.backend import Output
from .breakpoints import Breakpoints
from .client import Body, CdpClient
from .conditions import STORE
from .frames import Held, position
from .scripts import Scripts
from .sourcemaps import BrokenMap, SourceMap, load, mapping_url
from .symbols import LARGEST
from .texts import Texts

_WANTED_TEXT = f"{STORE}.defines(content, filename) ? content.length <= {LARGEST} && content : null"
"""An expression for the text that is compiled, where it may have a function that is wanted."""

_WORDS = "content, filename, typeof format === 'string' ? format : ''"
"""What Node's own loader has of a module as it compiles that: its text, its file, what kind of text it is."""


class ModuleLoading:
    """What is done at the pauses that come before a module's first line."""

    def __init__(
        self,
        client: CdpClient,
        scripts: Scripts,
        texts: Texts,
        breakpoints: Breakpoints,
        tell: Callable[[Output], None],
    ) -> None:
        self._client = client
        self._scripts = scripts
        self._texts = texts
        self._breakpoints = breakpoints
        self._tell = tell

    async def made_function(self, held: Held) -> None:
        """`vm.compileFunction` is about to make a function of a module's text, which will run as it is."""
        await self.compiled(held, "code, options.filename, ''")

    async def compiled(self, held: Held, words: str = _WORDS) -> bool:
        """The loader is about to compile a module: its arguments are the text and the file. Whether another text will run."""
        question = (
            f"((content, filename, format) => JSON.stringify({{filename, rewritten: {STORE}.rewrites(format),"
            f" written: {STORE}.writes(filename),"
            " map: content.slice(Math.max(0, content.lastIndexOf('sourceMappingURL=') - 4)).slice(0, 3e7),"
            f" text: {_WANTED_TEXT}}}))({words})"
        )
        call = held.top.get("callFrameId")
        arguments = {"callFrameId": call, "expression": question, "returnByValue": True, "silent": True}
        answer = await self._client.request("Debugger.evaluateOnCallFrame", arguments)
        value = (answer.get("result") or {}).get("value")
        if not isinstance(value, str):
            return False
        body = exact.decode(value, Body)
        path, rewritten = str(body["filename"]), bool(body.get("rewritten"))
        made = await self._read(mapping_url(str(body.get("map") or "")), path)
        text = body.get("text")  # false where it is too large
        own = text if isinstance(text, str) and not rewritten else None
        await self._breakpoints.about_to_run(path, made, own, large=text is False)
        return rewritten and (self._breakpoints.wants_scripts or bool(body.get("written")))

    async def _read(self, url: str | None, path: str) -> SourceMap | None:
        if not url or (self._scripts.is_library(path) and not self._scripts.looks_into_library):
            return None
        try:
            made = load(url, path)
            await asyncio.to_thread(made.decode)
        except BrokenMap as broken:
            self._useless(path, broken.reason)
            return None
        return made

    async def entered(self, held: Held) -> None:
        """A module whose text the loader has made is at its first line."""
        if (script := self._scripts.get(position(held.top)[0])) is not None and script.user:
            await self._breakpoints.about_to_run(script.path, script.map(), await self._texts.running(script))

    async def instrumented(self, held: Held) -> None:
        """V8 is about to run the first line of a module."""
        script = self._scripts.get(str(_told_with(held).get("scriptId") or position(held.top)[0]))
        if script is None or not self._scripts.reads_map(script):
            return
        made = script.map()
        if script.broken:
            self._useless(script.path, script.broken)
        wanted = self._breakpoints.symbols.may_be_in(script.path)
        text = await self._texts.running(script) if wanted else None
        await self._breakpoints.about_to_run(script.path, made, text)

    def _useless(self, path: str, reason: str) -> None:
        self._tell(Output("console", f"the source map of {path} is of no use: {reason}\n".encode()))


def _told_with(held: Held) -> Body:
    """What V8 tells of the script, which may be one of several reasons for a pause."""
    if held.reason != "ambiguous":
        return held.data
    reasons = held.data.get("reasons") or ()
    return next((each.get("auxData") or {} for each in reasons if each.get("reason") == "instrumentation"), {})
