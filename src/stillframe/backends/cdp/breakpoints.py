"""Wanted breakpoints as V8's own: by address and position, through source maps, by a function's name; what became of each."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from ...model.backend import Binding, BreakpointChanged, Event, Wanted
from .bindings import Placed, is_stray, no_code, no_function, no_line, problem_of
from .blackbox import Blackbox
from .client import Body, CdpClient, Refused
from .conditions import STORE, Spelled, condition
from .filelines import first_column, problem_with
from .passes import Passes
from .rounds import Rounds
from .scripts import Script, Scripts, Spot, url_pattern
from .sourcemaps import BrokenMap, SourceMap
from .symbols import Symbols
from .texts import Texts
from .unused import Unused

Position = tuple[str, int, int]
"""A file and a position in it as V8 counts, from 0."""


class Breakpoints:
    """The whole wanted set, kept so in V8."""

    def __init__(self, client: CdpClient, scripts: Scripts, texts: Texts, tell: Callable[[Event], None]) -> None:
        self._client = client
        self._scripts = scripts
        self._texts = texts
        self._tell = tell
        self._wanted: tuple[Wanted, ...] = ()
        self._bad: dict[str, str] = {}
        self._checked: dict[Wanted, str | None] = {}
        self._placed: dict[Position, Placed] = {}
        self._by_id: dict[str, Placed] = {}
        self._made_from: dict[str, dict[str, tuple[SourceMap, str]]] = {}
        """Source file to the files that were made from it, each with its map and its name for the source."""
        self._spelled: dict[str, dict[str, Spelled]] = {}
        """By file that was made, and by id: names in conditions that are others there."""
        self._rounds = Rounds(texts)
        self._unused = Unused(texts)
        self.are_early = False
        """The program was joined before our code could be in it: what conditions cannot ask yet is asked where it is held."""
        self._astray: set[str] = set()
        """Those of V8 that were taken away for the place that it gave them; the program may come there meanwhile."""
        self.symbols = Symbols()
        self._told: dict[str, Binding] = {}
        self.passes = Passes()
        self._lock = asyncio.Lock()
        self.blackbox = Blackbox(client, scripts)
        self._interest = ""
        self._held = True
        """As before its start."""
        self._watching: tuple[str, str] = ("", "")
        """Before which scripts V8 is to pause, and its name for that."""
        self.entry = False
        """The first line of the user's own code is to be a stop."""
        self.uncaught = False
        """Errors that nobody catches are to be a stop, those too that V8 did not foresee."""
        self.classes = self.raised = False
        """Errors of some classes are to be a stop, wherever they are thrown."""

    # The wanted set

    async def set(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        async with self._lock:
            gone = {each.id for each in self._wanted} - {each.id for each in wanted}
            self._wanted = tuple(wanted)
            self.symbols.want(wanted)
            if any(each.file and self._scripts.is_library(self._scripts.real(each.file)) for each in wanted):
                self._scripts.looks_into_library = True
            await self._check()
            await self._learn_all()
            await self._sync()
            await self._tell_interest(gone)
            found = tuple(self._binding(each) for each in wanted)
            self._told = {each.id: each for each in found}
            return found

    def now(self) -> tuple[Binding, ...]:
        """What has become of each by now."""
        return tuple(self._told[each.id] for each in self._wanted)

    async def set_again(self) -> None:
        """New source was put in the place of a script's: V8 (of Node 20) leaves no breakpoint in it."""
        async with self._lock:
            await asyncio.gather(
                *(self._client.request("Debugger.removeBreakpoint", {"breakpointId": id}) for id in self._by_id)
            )
            self._placed, self._by_id = {}, {}
            self.symbols.forget()
            self._unused.forget()
            await self._learn_all()
            await self._client.request("Runtime.getIsolateId")  # answered after what the change itself brought about
            await self._sync()
            self._tell_changes()

    async def _check(self) -> None:
        """Conditions and log texts that cannot work are known before the program comes there."""
        self._bad = {}
        for wanted in self._wanted:
            if wanted not in self._checked:
                self._checked[wanted] = await problem_of(self._client, wanted)
            if problem := self._checked[wanted]:
                self._bad[wanted.id] = problem

    async def _tell_interest(self, gone: Iterable[str] = ()) -> None:
        """What our code in the target should let us look at before it runs."""
        maps = any(each.file for each in self._wanted)
        interest = {
            "maps": maps,
            "symbols": self.symbols.words,
            "entry": self.entry,
            "uncaught": self.uncaught,
            "library": self._scripts.looks_into_library,
        }
        now = json.dumps(interest)
        forget = "".join(f"; {STORE}.forget({id!r})" for id in gone)
        if now != self._interest or forget:
            self._interest = now
            expression = f"{STORE}.interest({now}){forget}"
            self._client.send("Runtime.evaluate", {"expression": expression, "silent": True})
        await self._watch_scripts()
        await self._watch_libraries()

    async def _watch_libraries(self) -> None:
        files = {self._scripts.real(each.file): each for each in self._wanted if each.file}
        library = {file: each for file, each in files.items() if self._scripts.is_library(file)}
        waiting = [file for file, each in library.items() if self._binding(each).state != "bound"]
        await self.blackbox.leave_open(waiting, every=self.classes, runtime=self.raised)

    async def _watch_scripts(self) -> None:
        """Be there before modules run that V8 tells of: every one, or those only that have a source map.

        V8 calls what we evaluate a script too, so that nothing can be asked of a held program in the first case.
        """
        every = self.wants_scripts and not self._held
        kind = "beforeScriptExecution" if every else "beforeScriptWithSourceMapExecution"
        if self._watching[0] == kind:
            return
        before = self._watching[1]
        try:
            body = await self._client.request("Debugger.setInstrumentationBreakpoint", {"instrumentation": kind})
        except Refused:  # set already, by another client
            body = {}
        self._watching = (kind, str(body.get("breakpointId") or ""))
        if before:
            await self._client.request("Debugger.removeBreakpoint", {"breakpointId": before})

    async def hold(self, held: bool) -> None:
        """The program is held and will be looked at, or is about to go on."""
        if held != self._held:
            self._held = held
            await self._watch_scripts()
            if self._scripts.looks_into_library or self.blackbox.is_open:
                await self._watch_libraries()

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Code of ours runs in the program, whether that is held or not: V8 is not to pause before it."""
        before = self._held
        await self.hold(True)
        try:
            yield
        finally:
            await self.hold(before)

    async def refresh_interest(self) -> None:
        async with self._lock:
            await self._tell_interest()

    async def catch_up(self) -> None:
        """Our code is in the target only now: it is told what is wanted, and what came up without it is looked at."""
        async with self._lock:
            self._interest = ""
            await self._tell_interest()
            await self._learn_all()
            await self._sync()
            self._tell_changes()

    @property
    def wants_scripts(self) -> bool:
        """Whether a script without a source map is worth a look before it runs."""
        return self.entry or self.symbols.wanted

    # Scripts that come up

    async def about_to_run(self, path: str, made: SourceMap | None, text: str | None, *, large: bool = False) -> None:
        """A script is compiled or about to run: what is wanted in it must stand before it does. `large`: its text is too much."""
        async with self._lock:
            changed = self._learn_map(path, made) if made else False
            if text is not None:
                changed |= await self.symbols.learn(path, text)
            if large:
                changed |= self.symbols.pass_over(path)
            if changed:
                await self._sync()
                self._tell_changes()

    async def _learn_all(self) -> None:
        for script in self._scripts.all():
            await self._learn_loaded(script)

    async def _learn_loaded(self, script: Script) -> None:
        if self._scripts.reads_map(script) and script.map_url and any(each.file for each in self._wanted):
            made = script.map()
            if made is not None:
                self._learn_map(script.path, made)
        if script.is_file and self.symbols.may_be_in(script.path):
            await self.symbols.learn_loaded(script.id, script.path, await self._texts.running(script))

    def _learn_map(self, path: str, made: SourceMap) -> bool:
        """Whether something wanted lies in a source of this map."""
        wanted = {self._scripts.real(each.file) for each in self._wanted if each.file}
        found = False
        for source in made.sources:
            real = self._scripts.real(source)
            if real in wanted:
                self._made_from.setdefault(real, {})[path] = (made, source)
                found = True
        return found

    # Making it so

    def _positions(self, wanted: Wanted) -> list[Position]:
        """Where V8 is to stop for this one."""
        if wanted.id in self._bad:
            return []
        if wanted.file is None or wanted.line is None:
            places = self.symbols.places(wanted)
            user = {path: found for path, found in places.items() if "/node_modules/" not in path}
            return [(path, *at) for path, found in (user or places).items() for at in found]
        real = self._scripts.real(wanted.file)
        line, column = self._rounds.place(wanted, real)
        if real in self._made_from:
            return self._mapped(real, line, column)
        if problem_with(real, wanted.line, wanted.column):
            return []
        return [(real, line - 1, first_column(real, line) if column is None else column)]

    def _mapped(self, real: str, line: int, column: int | None) -> list[Position]:
        found: list[Position] = []
        for path, (made, source) in self._made_from[real].items():
            try:
                places = made.generated(source, line, column) or []
            except BrokenMap:
                continue
            found += [(path, each.line - 1, each.column) for each in places]
        return found

    async def _sync(self) -> None:
        """Remove what is no longer so, then set what is new, in as few round trips as that takes."""
        places: dict[Position, list[Wanted]] = {}
        for wanted in self._wanted:
            for position in self._positions(wanted):
                places.setdefault(position, []).append(wanted)
        early = self.are_early
        texts = {at: condition(wanted, self._spelled.get(at[0], {}), early=early) for at, wanted in places.items()}
        stale = [at for at, placed in self._placed.items() if at not in places or placed.text != texts[at]]
        for at in stale:
            placed = self._placed.pop(at)
            self._by_id.pop(placed.id, None)
            if placed.id:
                await self._client.request("Debugger.removeBreakpoint", {"breakpointId": placed.id})
        new: list[tuple[Placed, asyncio.Future[Body]]] = []
        for at, wanted_here in places.items():
            if at in self._placed:
                self._placed[at].wanted = tuple(wanted_here)
                continue
            path, line, column = at
            placed = self._placed[at] = Placed(tuple(wanted_here), texts[at], line, column)
            arguments = {
                "urlRegex": url_pattern(*self._scripts.spellings(path)),
                "lineNumber": line,
                "columnNumber": column,
            }
            answer = self._client.send("Debugger.setBreakpointByUrl", {**arguments, "condition": texts[at]})
            answer.add_done_callback(partial(self._named, placed))
            new.append((placed, answer))
        for placed, answer in new:
            await self._settle(placed, answer)

    async def _settle(self, placed: Placed, answer: asyncio.Future[Body]) -> None:
        try:
            body = await self._client.settle(answer, "Debugger.setBreakpointByUrl")
        except Refused as refused:
            placed.refused = refused.message
            return
        placed.id = str(body.get("breakpointId"))
        self._by_id[placed.id] = placed
        for location in body.get("locations") or ():
            self._resolved(placed, location)
        self._drop_strays()

    def _named(self, placed: Placed, answer: asyncio.Future[Body]) -> None:
        """Know the breakpoint as soon as V8 has named it: a program that runs may come to it before anybody asks again."""
        if not answer.cancelled() and answer.exception() is None:
            self._by_id[str(answer.result().get("breakpointId"))] = placed

    def knows(self, ids: Iterable[object]) -> bool:
        return all(str(id) in self._by_id for id in ids)

    def _resolved(self, placed: Placed, location: Body) -> None:
        line, column = int(location.get("lineNumber", 0)), int(location.get("columnNumber", 0))
        id = str(location.get("scriptId"))
        script, spot = self._scripts.get(id), self._scripts.spot(id, line, column)
        if script is not None and (name := self._unused.around(script, (placed.line, placed.column), (line, column))):
            placed.refused = no_code(name, script)
            self._take_away(placed)
        elif spot is not None and spot not in placed.spots:
            placed.spots.append(spot)

    def _drop_strays(self) -> None:
        """A line may be in several stretches of what runs, and V8 may find no place in one of them before another line's."""
        spots: dict[Wanted, list[Spot]] = {}
        for placed in self._placed.values():
            for each in placed.wanted:
                spots.setdefault(each, []).extend(placed.spots)
        for placed in self._placed.values():
            if placed.id and placed.spots and all(is_stray(each, placed.spots, spots[each]) for each in placed.wanted):
                self._take_away(placed)

    def _take_away(self, placed: Placed) -> None:
        self._client.send("Debugger.removeBreakpoint", {"breakpointId": placed.id})
        self._by_id.pop(placed.id, None)
        self._astray.add(placed.id)
        placed.id, placed.spots = "", []

    def is_astray(self, ids: Sequence[str]) -> bool:
        """Whether a pause is at none but places that were wrong, and that it was too late to take away."""
        return bool(ids) and self._astray.issuperset(ids)

    async def spell(self, id: str, path: str, spelled: Spelled) -> str:
        """From now on a condition has these names in what runs as this file. It itself, alone."""
        async with self._lock:
            self._spelled.setdefault(path, {})[id] = spelled
            await self._sync()
        return condition([each for each in self._wanted if each.id == id], {id: spelled})

    # What V8 tells

    def resolved(self, body: Body) -> None:
        """A `breakpointResolved`: a script was loaded in which a breakpoint has its place."""
        placed = self._by_id.get(str(body.get("breakpointId")))
        location = body.get("location")
        if placed is not None and isinstance(location, dict):
            self._resolved(placed, location)
            self._drop_strays()
            self._tell_changes()

    def loaded(self, script: Script) -> None:
        """A script was parsed. Without a place for a breakpoint of its file, that breakpoint has none."""
        if self._wanted and self._scripts.reads_map(script):
            self._tell_changes()

    def _tell_changes(self) -> None:
        for wanted in self._wanted:
            now = self._binding(wanted)
            before = self._told.get(wanted.id)
            if before is not None and before != now:
                self._told[wanted.id] = now
                self._tell(BreakpointChanged(now))

    def tell_passes(self) -> None:
        """At the end: of those that never stopped the program, how often it came to them all the same."""
        for wanted in self._wanted:
            now, said = self._told.get(wanted.id), self.passes.told(wanted)
            if said and now is not None and now.state == "bound":
                self._tell(BreakpointChanged(replace(now, message=said)))

    def standing(self, ids: Iterable[str]) -> tuple[Wanted, ...]:
        """The wanted breakpoints behind those of V8 that a stop names."""
        found = [self._by_id[id] for id in ids if id in self._by_id]
        return tuple(wanted for placed in found for wanted in placed.wanted)

    def is_conditional(self, ids: Iterable[str]) -> bool:
        return any(self._by_id[id].text for id in ids if id in self._by_id)

    def conditions(self, ids: Iterable[str]) -> tuple[str, ...]:
        """What V8 asks at the places of these."""
        return tuple(self._by_id[id].text for id in ids if id in self._by_id and self._by_id[id].text)

    # What became of each

    def _binding(self, wanted: Wanted) -> Binding:
        if problem := self._bad.get(wanted.id):
            return Binding(wanted.id, "failed", message=problem)
        placed = [each for each in self._placed.values() if wanted in each.wanted]
        spots = [spot for each in placed for spot in each.spots]
        if spots:
            best = next((spot for spot in spots if spot.line == wanted.line), spots[0])
            column = best.column if wanted.column else None
            return Binding(wanted.id, "bound", best.file, best.line, self._rounds.said(wanted), column)
        refused = next((each.refused for each in placed if each.refused), None)
        if refused:
            return Binding(wanted.id, "failed", message=refused)
        if wanted.file is None or wanted.line is None:
            return no_function(wanted, self.symbols, self._scripts)
        return no_line(wanted, self._scripts, self._made_from)
