"""Wanted breakpoints against what the debugger holds: whole files are replaced, answers are matched by index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ...errors import Try, Unsupported
from ...model.backend import Binding, BreakpointChanged, Capability, Wanted
from ...wire import dap as wire
from . import terms, translate
from .bindings import Spot, is_taken, join, line_binding, line_count, shared
from .client import Body, DapClient
from .deep import DeepBreakpoints, is_deep
from .functions import Functions
from .helper import Helper
from .launch import DapLaunch, Quirk

Arguments = dict[str, Any]
_BY_NAME = "it has no source file and stops where it is called"


class Breakpoints:
    """All breakpoints of one process. `changed` is called with each binding that changes after it was answered."""

    def __init__(
        self,
        client: DapClient,
        launch: DapLaunch,
        helper: Helper | None,
        offers: Callable[[], frozenset[Capability]],
        changed: Callable[[BreakpointChanged], None],
    ) -> None:
        self._client = client
        self._launch = launch
        self._helper = helper
        self._offers = offers
        self._changed = changed
        self._one_at_a_time = asyncio.Lock()
        self._sent: dict[str, list[Arguments]] = {}
        """File to what the debugger was last told of it: a file that did not change is not told again."""
        self._by_names = Functions(client, launch)
        self._functions: list[Arguments] | None = []
        self._function_answers: list[translate.Body] = []
        self._wire_ids: dict[int, tuple[str, ...]] = {}
        """The debugger's number to wanted ids; old numbers stay, since a stop may cross a change on the way."""
        self._answers: dict[tuple[str, int], translate.Body] = {}
        self._bindings: dict[str, Binding] = {}
        self._entered = False
        """The function in which the program begins was told to the debugger, for once."""
        self.entry: int | None = None
        """The debugger's number of that."""
        self._by_name: set[str] = set()
        """Those that have stopped in functions without a source file."""
        self._wanted: tuple[Wanted, ...] = ()
        self._deep = DeepBreakpoints(client, launch, helper, offers, self._wire_ids)

    async def set(self, wanted: Sequence[Wanted]) -> tuple[Binding, ...]:
        """Make the whole set so; one binding for each wanted one, in order."""
        async with self._one_at_a_time:
            self._wanted = tuple(wanted)
            self._refuse_what_is_not_offered(wanted)
            plain = [each for each in wanted if not is_deep(each)]
            placed, bindings = await self._without_bad_terms(*await self._places(plain))
            for _ in range(2):
                await self._set_lines(placed, bindings)
                await self._set_functions([each for each in plain if self._is_by_name(each, bindings)], bindings)
                if self._share(plain, bindings):
                    break
            bindings |= await self._deep.set([each for each in wanted if is_deep(each)])
            self._bindings = bindings
            return tuple(bindings[each.id] for each in wanted)

    def _is_by_name(self, wanted: Wanted, bindings: Mapping[str, Binding]) -> bool:
        found = bindings[wanted.id]
        if self._needs_line(wanted):
            return False
        kept = wanted.symbol is not None and self._launch.keeps_functions and found.column is None
        return found.line is None or kept

    def _needs_line(self, wanted: Wanted) -> bool:
        """Whether it would be held there instead of printing, were it set by its name: DAP has log texts for lines alone."""
        lines_alone = self._helper is None or Quirk.LOGS_LINES_ALONE in self._launch.quirks
        return wanted.symbol is not None and wanted.log is not None and lines_alone

    def _without_line(self, wanted: Wanted) -> Binding:
        why = f"{self._launch.tool.tool} has log points on lines alone: name a line of {wanted.symbol}"
        return Binding(wanted.id, "failed", message=why)

    @property
    def pending_files(self) -> tuple[str, ...]:
        """Files that were not loaded when we last heard of them."""
        waiting = (each for each in self._bindings.values() if each.state == "pending" and each.file)
        return tuple(dict.fromkeys(each.file for each in waiting if each.file))

    def owners(self, body: Body) -> tuple[str, ...]:
        """The wanted ids that a `stopped` event names by number."""
        numbers = body.get("hitBreakpointIds")
        found = [self._wire_ids.get(each, ()) for each in numbers] if isinstance(numbers, list) else []
        wanted = {each.id for each in self._wanted}  # gdb 16 and 17 name some that were taken away
        return tuple(dict.fromkeys(word for words in found for word in words if word in wanted))

    @property
    def watched(self) -> tuple[str, ...]:
        """Those of the wanted ids whose data is watched."""
        known = (each.id for each in self._wanted if each.data is not None)
        return tuple(id for id in known if id in self._bindings and self._bindings[id].state == "bound")

    def named(self, number: int) -> tuple[str, ...]:
        """The wanted ids behind one of the debugger's own numbers."""
        return self._wire_ids.get(number, ())

    def owners_at(self, file: str | None, line: int | None) -> tuple[str, ...]:
        """The wanted ids that stand on this line, for debuggers that do not tell which one was hit."""
        return tuple(each.id for each in self._bindings.values() if (each.file, each.line) == (file, line))

    def standing_at(self, file: str | None, line: int | None) -> tuple[Wanted, ...]:
        """The wanted ones that stand on this line."""
        ids = set(self.owners_at(file, line))
        return tuple(each for each in self._wanted if each.id in ids)

    def at_line(self, file: str | None, line: int | None) -> tuple[tuple[str, str | None], ...]:
        """The wanted ones that stop on this line, each with the condition that the debugger was given for it."""
        found = [each for each in self.standing_at(file, line) if not each.log]
        return tuple((each.id, terms.terms(self._launch, each).get("condition")) for each in found)

    def met(self, ids: Iterable[str]) -> None:
        """These were only names, and functions of such names were called that have no line: by name they stop."""
        for binding in [self._bindings[id] for id in ids if self._is_pending(id)]:
            self._by_name.add(binding.id)
            self._became(replace(binding, state="bound", message=_BY_NAME))

    def conditions(self, ids: Iterable[str]) -> dict[str, str]:
        """Those of these that stop sometimes only, each with its condition, where the debugger was not given it."""
        names = set(ids) if self._helper else set()
        told = {each.id: terms.terms(self._launch, each).get("condition") for each in self._wanted if each.id in names}
        return {id: condition for id, condition in told.items() if condition}

    def symbols(self, ids: Iterable[str]) -> tuple[Wanted, ...]:
        """Those of these that are function breakpoints by bare name, so that a namesake may have stopped."""
        names = set(ids)
        return tuple(each for each in self._wanted if each.id in names and each.symbol)

    def loaded(self, files: Iterable[str]) -> None:
        """Files that the target has loaded by now: what was pending there is bound."""
        fresh = set(files)
        for binding in tuple(self._bindings.values()):
            if binding.state == "pending" and binding.file in fresh:
                self._became(replace(binding, state="bound", message=None))

    def known(self, functions: Iterable[Mapping[str, Any]]) -> None:
        """Functions that the target had by its end: a breakpoint that waited for one was bound, whatever its condition said."""
        for each in functions:
            for id in filter(self._is_pending, self.named(translate.number(each.get("id")) or -1)):
                place = translate.text(each.get("file")), translate.number(each.get("line"))
                self._became(Binding(id, "bound", *place))

    async def recheck(self) -> tuple[Binding, ...]:
        """Ask which files of pending ones are loaded by now."""
        if self._helper and any(each.state == "pending" and each.file is None for each in self._bindings.values()):
            return await self.set(self._wanted)  # a function that was not known may be by now
        if self._helper and (files := self.pending_files):
            body = await self._helper.call("loaded", files=list(files))
            self.loaded(name for name in body.get("loaded") or () if isinstance(name, str))
        return tuple(self._bindings.values())

    def event(self, body: Body) -> None:
        """A `breakpoint` event of the debugger."""
        told = body.get("breakpoint")
        if self._helper or Quirk.VERIFIES_EVERYTHING in self._launch.quirks or not isinstance(told, dict):
            return
        for owner in self._wire_ids.get(translate.number(told.get("id")) or -1, ()):
            old = self._bindings.get(owner)
            if old is not None:
                self._became(self._judged(old, told))

    @property
    def trusts_functions(self) -> bool:
        """Whether the debugger itself knows the functions that were asked for, so that a stop in one needs no second look."""
        return self._helper is None and Quirk.BARE_FUNCTION_NAMES not in self._launch.quirks

    async def look_for_symbols(self) -> None:
        """Functions that did not exist before may be known now: bind them to their line."""
        async with self._one_at_a_time:
            missing = [each for each in self._wanted if each.symbol and self._is_pending(each.id)]
            if not missing or self._helper is None:
                return
            places = await self._resolve_symbols(missing)
        if any(place is not None for place in places):
            before = self._bindings
            for binding in await self.set(self._wanted):
                if binding != before.get(binding.id):
                    self._changed(BreakpointChanged(binding))

    def data_is_gone(self, numbers: Iterable[int]) -> None:
        """Watched data of a call that has returned: the debugger has ended the watch."""
        for number in numbers:
            if binding := self._deep.over(number):
                self._became(binding)

    def is_waiting(self, ids: Iterable[str]) -> bool:
        """Whether one of these is a function that nobody knew when it was asked for."""
        names = {each.id for each in self._wanted if each.symbol and not each.hit}
        return any(id in names and self._is_pending(id) for id in ids)

    def begins_later(self, ids: Iterable[str]) -> bool:
        """Whether all of these are functions whose first statement is not where the debugger itself would stop."""
        return all(id in self._bindings and self._bindings[id].column is not None for id in ids)

    def has_line(self, ids: Iterable[str]) -> bool:
        """Whether one of these stands on a line by now."""
        return any(id in self._bindings and self._bindings[id].line is not None for id in ids)

    def _is_pending(self, id: str) -> bool:
        return id in self._bindings and self._bindings[id].state == "pending"

    def _became(self, binding: Binding) -> None:
        if self._bindings.get(binding.id) != binding:
            self._bindings[binding.id] = binding
            self._changed(BreakpointChanged(binding))

    def _refuse_what_is_not_offered(self, wanted: Sequence[Wanted]) -> None:
        offers = self._offers()
        for each in wanted:
            needs = (
                (each.condition, Capability.CONDITIONS),
                (each.hit, Capability.HIT_COUNTS),
                (each.log, Capability.LOG_POINTS),
                (each.symbol and not self._helper, Capability.FUNCTION_BREAKPOINTS),
            )
            for given, capability in needs:
                if given and capability not in offers:
                    raise Unsupported(f"{self._launch.tool.tool} has no {capability.value}", hint=Try("raw"))

    # Where they are

    async def _places(self, wanted: Sequence[Wanted]) -> tuple[list[Wanted], dict[str, Binding]]:
        """The wanted ones that have a line to stand on, at that line, and a first binding for each one."""
        if self._helper is None:
            bindings = {each.id: self._unasked(each) for each in wanted}
            placed = [each for each in wanted if each.line is not None and bindings[each.id].state != "failed"]
            return placed, bindings
        return await self._resolved(wanted)

    def _unasked(self, wanted: Wanted) -> Binding:
        """What we can tell ourselves: a line that the file has not got is never called set."""
        if self._needs_line(wanted):
            return self._without_line(wanted)
        count = line_count(wanted.file) if wanted.file and wanted.line and self._launch.local else None
        if count is None or not wanted.line or wanted.line <= max(count, 1):
            return Binding(wanted.id, "unconfirmed", wanted.file, wanted.line)
        reason = f"{Path(wanted.file or '').name} has {count} line{'' if count == 1 else 's'}"
        return Binding(wanted.id, "failed", wanted.file, wanted.line, reason)

    async def _without_bad_terms(
        self, placed: list[Wanted], bindings: dict[str, Binding]
    ) -> tuple[list[Wanted], dict[str, Binding]]:
        """Log texts as the debugger wants them; one that cannot be understood, or such a condition, fails its breakpoint."""
        kept: list[Wanted] = []
        problems = await self._misread([each.condition for each in placed if each.condition])
        for each in placed:
            try:
                if each.condition in problems:
                    raise ValueError(problems[each.condition])
                kept.append(replace(each, log=each.log and self._launch.log_text(each.log, self._helper is not None)))
            except ValueError as error:
                bindings[each.id] = replace(bindings[each.id], state="failed", message=str(error))
        return kept, bindings

    async def _misread(self, conditions: list[str]) -> dict[str, str]:
        """What is wrong with those conditions that cannot be understood, where our helper knows."""
        if not conditions or self._helper is None or not self._launch.judges_conditions:
            return {}
        told = (await self._helper.call("conditions", texts=conditions)).get("problems")
        problems = zip(conditions, told if isinstance(told, list) else (), strict=False)
        return {text: f"its condition: {problem}" for text, problem in problems if problem}

    async def _resolved(self, wanted: Sequence[Wanted]) -> tuple[list[Wanted], dict[str, Binding]]:
        """Ask our helper, which compiles the file with the target's own interpreter."""
        symbols = [each for each in wanted if each.symbol]
        places = dict(zip((each.id for each in symbols), await self._resolve_symbols(symbols), strict=True))
        lines = await self._resolve_lines([each for each in wanted if each.line is not None])
        placed: list[Wanted] = []
        bindings: dict[str, Binding] = {}
        for each in wanted:
            place = places.get(each.id)
            if place is not None:
                file, line = translate.text(place.get("file")), translate.number(place.get("line"))
                bindings[each.id] = Binding(each.id, "bound", file, line, column=translate.number(place.get("column")))
                if self._needs_line(each) and (line is None or (translate.number(place.get("lines")) or 1) > 1):
                    bindings[each.id] = self._without_line(each)
                elif not self._is_by_name(each, bindings):
                    placed.append(replace(each, file=file, line=line, column=bindings[each.id].column))
            elif each.symbol:
                bindings[each.id] = self._unplaced(each)
            else:
                bindings[each.id] = lines[each.id]
                if lines[each.id].state != "failed":
                    column = lines[each.id].column or each.column
                    placed.append(replace(each, line=lines[each.id].line, column=column))
        return placed, bindings

    def _unplaced(self, wanted: Wanted) -> Binding:
        if wanted.id in self._by_name:
            return Binding(wanted.id, "bound", message=_BY_NAME)
        where = f" in a file called {wanted.module}" if wanted.module else ""
        return Binding(wanted.id, "pending", message=f"no function {wanted.symbol} is known yet{where}")

    async def _resolve_symbols(self, wanted: Sequence[Wanted]) -> list[Body | None]:
        if not wanted or self._helper is None:
            return [None] * len(wanted)
        names = [{"name": each.symbol, "module": each.module} for each in wanted]
        body = await self._helper.call("resolve", files={}, symbols=names)
        found = body.get("symbols")
        found = found if isinstance(found, list) and len(found) == len(wanted) else [None] * len(wanted)
        whole = self._launch.keeps_functions  # else a function without a line is known when it is called
        return [each if isinstance(each, dict) and (whole or each.get("line")) else None for each in found]

    async def _resolve_lines(self, wanted: Sequence[Wanted]) -> dict[str, Binding]:
        files: dict[str, list[int]] = {}
        for each in wanted:
            files.setdefault(each.file or "", []).append(each.line or 0)
        if not files or self._helper is None:
            return {}
        answer = (await self._helper.call("resolve", files=files, symbols=[])).get("files")
        answer = answer if isinstance(answer, dict) else {}
        # What an answer says of a name that is no UTF-8 stands under the name as it is read: with its bytes as escapes.
        return {each.id: line_binding(each, answer.get(wire.as_read(each.file or ""))) for each in wanted}

    # Telling the debugger

    async def _set_lines(self, placed: Sequence[Wanted], bindings: dict[str, Binding]) -> None:
        spots: dict[str, list[Spot]] = {}
        for each in placed:
            problem = join(self._launch, spots.setdefault(each.file or "", []), each, helped=self._helper is not None)
            if problem:
                bindings[each.id] = replace(bindings[each.id], state="failed", message=problem)
        gone = [file for file in self._sent if file not in spots]
        files = {**spots, **{file: [] for file in gone}}
        answers = {file: self._tell_file(file, held) for file, held in files.items() if self._is_news(file, held)}
        for file, answer in answers.items():
            await self._take_answer(file, files[file], answer)
        if answers and self._helper and Quirk.STOPS_IN_PARTS_OF_LINES in self._launch.quirks:
            await self._helper.call("placed")
        for file, held in spots.items():
            for index, spot in enumerate(held):
                self._apply(file, index, spot, bindings)

    def _is_news(self, file: str, held: Sequence[Spot]) -> bool:
        return self._sent.get(file) != [spot.arguments for spot in held]

    def _tell_file(self, file: str, held: Sequence[Spot]) -> asyncio.Future[Body]:
        arguments = [spot.arguments for spot in held]
        source = {"path": file, "name": Path(file).name}
        return self._client.send("setBreakpoints", {"source": source, "breakpoints": arguments})

    async def _take_answer(self, file: str, held: Sequence[Spot], answer: asyncio.Future[Body]) -> None:
        body = await self._client.settle(answer, "setBreakpoints")
        self._sent[file] = [spot.arguments for spot in held]
        if not held:
            del self._sent[file]
        told = translate.items(body, "breakpoints")
        for key in [key for key in self._answers if key[0] == file]:
            del self._answers[key]
        self._answers.update({(file, index): each for index, each in enumerate(told)})

    def _apply(self, file: str, index: int, spot: Spot, bindings: dict[str, Binding]) -> None:
        told = self._answers.get((file, index), {})
        number = translate.number(told.get("id"))
        if number is not None:
            self._wire_ids[number] = tuple(spot.owners)
        for owner in spot.owners:
            self._answered(owner, told, bindings)

    def _answered(self, owner: str, told: Mapping[str, Any], bindings: dict[str, Binding]) -> None:
        """The debugger's own answer, which counts where nobody knows better, and where it could not set it at all."""
        if told.get("reason") == "failed":
            message = translate.text(told.get("message"))
            bindings[owner] = replace(bindings[owner], state="failed", message=message)
        elif self._helper is None:
            bindings[owner] = self._judged(bindings[owner], told)

    def _judged(self, binding: Binding, told: Mapping[str, Any]) -> Binding:
        """A binding in the light of the debugger's answer, believed as far as it deserves."""
        file, line = binding.file or translate.source_path(told), translate.number(told.get("line")) or binding.line
        binding = replace(binding, file=file, line=line, message=translate.text(told.get("message")))
        if Quirk.VERIFIES_EVERYTHING in self._launch.quirks:
            return replace(binding, state="unconfirmed")
        if told.get("verified") is True:
            return replace(binding, state="bound")
        return replace(binding, state="failed" if Quirk.UNVERIFIED_IS_FINAL in self._launch.quirks else "pending")

    async def _set_functions(self, wanted: Sequence[Wanted], bindings: dict[str, Binding]) -> None:
        """Symbols that have no line yet wait as function breakpoints."""
        symbols = [each for each in wanted if each.symbol]
        bare = Quirk.BARE_FUNCTION_NAMES in self._launch.quirks
        names = [(each.symbol or "").rpartition(".")[2] if bare else terms.name(self._launch, each) for each in symbols]
        told = [terms.of_function(self._launch, each, helped=self._helper is not None) for each in symbols]
        arguments = [{"name": name, **each} for name, each in zip(names, told, strict=True)]
        if self._launch.entry and not self._entered:
            arguments.append({"name": self._launch.entry})
            self._entered = True
        if arguments != self._functions and Capability.FUNCTION_BREAKPOINTS in self._offers():
            await self._tell_functions(arguments, len(symbols))
        owners: dict[int, tuple[str, ...]] = {}
        for each, answer in zip(symbols, self._function_answers, strict=False):
            number = translate.number(answer.get("id"))
            if number is not None:
                owners[number] = (*owners.get(number, ()), each.id)
            self._answered(each.id, answer, bindings)
        self._wire_ids |= owners

    async def _tell_functions(self, arguments: list[Arguments], named: int) -> None:
        answers = await self._by_names.tell(arguments)
        self._functions = arguments
        apart = None if self._helper else await asyncio.to_thread(terms.told_apart, self._launch, arguments, answers)
        if apart:
            answers = await self._by_names.tell(apart)
        if len(arguments) > named:
            self.entry = translate.number(answers[-1].get("id")) if len(answers) == len(arguments) else None
        self._function_answers = answers

    def _share(self, wanted: Sequence[Wanted], bindings: dict[str, Binding]) -> bool:
        """Of those that the debugger did not set since another one stands there, make it so that they are hit with that one;
        whether all are, since the other may have just gone."""
        refused = [each for each in wanted if is_taken(self._launch, bindings[each.id])]
        alone = False
        for each in refused:
            # When the other goes, this one is to be told again.
            self._functions = None
            if each.file in self._sent:
                self._sent[each.file] = []
            bindings[each.id], holder = shared(self._launch, each, wanted, bindings)
            alone = alone or holder is None
            for number, owners in self._wire_ids.items():
                if bindings[each.id].state == "bound" and holder in owners and each.id not in owners:
                    self._wire_ids[number] = (*owners, each.id)
        return not alone
