"""Making a program ready before its first line: our code in it, and breakpoints of our own where modules are loaded."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from ...errors import StillframeError
from ...model.backend import Wanted
from .breakpoints import Breakpoints
from .client import Body, CdpClient, Refused
from .conditions import STORE
from .greetings import FIRST, IS_UP, LEAVE, TELL, next_words, tells_end, words_in_worker
from .launch import CdpLaunch
from .moves import Mover
from .scripts import Script, Scripts
from .thresholds import Threshold

_EVALUATE = "Runtime.evaluate"

_FAILS = "Number(code ?? globalThis.process.exitCode ?? 0) !== 0"
"""Whether `process.exit(code)` says that the program failed."""


class Preparing:
    """What is said to a program that waits, in as few round trips as that takes."""

    def __init__(
        self,
        client: CdpClient,
        launch: CdpLaunch,
        scripts: Scripts,
        mover: Mover,
        breakpoints: Breakpoints,
        *,
        tells_end: bool,
        worker: bool,
    ) -> None:
        self._client = client
        self._launch = launch
        self._scripts = scripts
        self._mover = mover
        self._breakpoints = breakpoints
        self._tells_end = tells_end and launch.launched
        self._worker = worker
        self._is_late = False
        """It had not come far enough for anything to be loaded: it is made ready with its first script, or where it pauses."""
        self._again: asyncio.Task[None] | None = None
        self._begun = launch.launched and not worker
        """It waits for us: V8 tells of everything that is loaded, which takes it longer than all that follows."""
        if self._begun:
            client.send_all(FIRST)

    async def greet(self, threshold: Threshold | None, pauses_on: str) -> None:
        """Say who we are; our code is in the target when this is answered, unless we joined it too early for that."""
        with_store = threshold is None and (self._launch.launched or await self._is_up())
        words = next_words(self._launch, pauses_on, with_store=with_store)
        self._client.send_all(words if self._begun else [*FIRST, *words])
        if threshold is not None:
            await threshold.cross(words_in_worker(self._launch))

    async def _is_up(self) -> bool:
        answer = await self._client.settle(self._evaluated(IS_UP), _EVALUATE)
        return (answer.get("result") or {}).get("value") is True

    async def prepare(self, wanted: Sequence[Wanted]) -> None:
        """Have our code ready for work, and every breakpoint in its place."""
        if self._mover.entry:
            self._mover.main = self._scripts.real(await self._asked("process.argv[1]"))
        if self._launch.launched:
            await asyncio.gather(self._take_up(), self._breakpoints.set(wanted))
        else:
            await self._take_up()
            self._breakpoints.are_early = self._is_late
            await self._breakpoints.set(wanted)
        if not self._launch.launched and not self._is_late:
            await self._breakpoints.catch_up()  # by now V8 has told of all that is loaded, and of their source maps
        if self._is_late and any(map(_is_of_program, self._scripts.all())):  # it came in between
            await self.ready()

    def loaded(self, script: Script) -> None:
        """A script came up: from the first that is not Node's own, a program that was joined too early can be made ready."""
        if self._is_late and _is_of_program(script):
            self._try_again()

    async def ready(self) -> None:
        """Of a program that somebody else started with an inspector, and that we were quicker than: what is said in vain
        before Node can load anything is said again. One started with --inspect-brk waits before that, in Node 18 to 24."""
        if self._is_late or (self._again and not self._again.done()):
            await asyncio.shield(self._try_again())

    def _try_again(self) -> asyncio.Task[None]:
        if self._again is None or self._again.done():
            self._again = asyncio.create_task(self._load_late())
        return self._again

    async def _load_late(self) -> None:
        words = {"expression": self._launch.store, "includeCommandLineAPI": True, "silent": True}
        with contextlib.suppress(StillframeError):  # it has ended, which is told elsewhere
            async with self._breakpoints.held():
                await self._client.request(_EVALUATE, words)
                await self._take_up()
                await self._breakpoints.catch_up()

    async def _asked(self, expression: str) -> str:
        """A word that the program knows; empty where it knows none."""
        answer = await self._client.settle(self._evaluated(expression), _EVALUATE)
        return str((answer.get("result") or {}).get("value") or "")

    async def _take_up(self) -> None:
        """Be there before a module runs: V8 tells of ECMAScript modules; the others pass the loader's `_compile`."""
        taken = self._evaluated(f"{STORE}.take({TELL!r})")
        if self._launch.promises:
            self._evaluated(f"({self._launch.promises})({STORE})")
        if self._tells_end or self._launch.promises:
            self._client.send("Runtime.addBinding", {"name": LEAVE})
            self._evaluated(tells_end(self._launch, worker=self._worker))
        places = (
            ("compile", f"{STORE}.loading(content, filename)"),
            ("uncaught", ""),
            ("compileFunction", f"{STORE}.compiles(code, options)"),
            ("runInContext", f"{STORE}.enters(contextifiedObject)"),
        )
        functions = [self._evaluated(f"{STORE}.{name}") for name, _ in places]
        self._is_late = "exceptionDetails" in await self._client.settle(taken, _EVALUATE)
        ids = await asyncio.gather(
            *(self._break_on(function, condition) for function, (_, condition) in zip(functions, places, strict=True))
        )
        self._mover.compile_id, self._mover.uncaught_id, self._mover.function_id, _ = ids
        if self._launch.tells_exits:
            self._mover.exit_id = await self._break_on(self._evaluated("process.exit"), _FAILS)

    def _evaluated(self, expression: str) -> asyncio.Future[Body]:
        return self._client.send(_EVALUATE, {"expression": expression, "silent": True})

    async def _break_on(self, function: asyncio.Future[Body], condition: str) -> str:
        try:
            found = (await self._client.settle(function, _EVALUATE)).get("result") or {}
            arguments = {"objectId": found.get("objectId"), "condition": condition}
            answer = await self._client.request("Debugger.setBreakpointOnFunctionCall", arguments)
        except Refused:
            return "none"
        return str(answer.get("breakpointId"))


def _is_of_program(script: Script) -> bool:
    """Whether Node runs somebody's code by now, and not only its own."""
    return script.is_file or script.user
