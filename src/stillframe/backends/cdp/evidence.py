"""Looking at a held program: bounded values made by our code in the target, one request for a whole frame."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...errors import EvalFailed, NotFound, StaleHandle, WrongState
from ...model.backend import Bounds, Capture
from ...model.values import ExceptionInfo, Frame, Frames, Module, Modules, Scope, Value, Values
from .asking import Asking, Question, argument, limits, page_of, question
from .bare import bare_locals
from .client import Body, CdpClient
from .conditions import STORE
from .declarations import AT_RETURN, UNSET, Round, is_of_earlier_round, is_uninitialised, lost_at_return, names_in
from .expressions import Expressions
from .frames import THROWN, FrameTeller, Held, is_top_level, is_wrapper, position
from .homes import Homes
from .journeys import Calls
from .missing import Missing
from .refreshing import refresh
from .scripts import Scripts
from .spellings import Spellings
from .texts import Texts
from .thrown import Mode, described, named_as_held
from .variables import Variables

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_IMPORTED = re.compile(r"import_[\w$]+|_[\w$]+|[\w$]+_\d+|__vi[\w$]+")
"""Names that esbuild, Babel, TypeScript and Vite give to modules."""
_OWN = frozenset({"local", "block", "catch", "with", "eval"})
_QUESTIONS = 1000
"""How many ways of asking for variables are kept."""


class Ahead(NamedTuple):
    """What was asked of a stop before anybody wanted it."""

    held: Held
    bounds: Bounds
    asked: asyncio.Future[Body]
    frames: tuple[Frame, ...]
    file: str | None
    """Where the frame is that the variables are of."""


class Evidence:
    """Answers about one pause; `held` is set at each and gone when the program moves."""

    def __init__(self, client: CdpClient, scripts: Scripts, texts: Texts) -> None:
        self._client = client
        self._scripts = scripts
        self._texts = texts
        self.asking = Asking(client)
        self._variables = Variables(self.asking, scripts, texts)
        self.spellings = Spellings(client, scripts, texts, self._variables)
        missing = Missing(client, scripts, texts, self.spellings, lambda: self.held)
        self.expressions = Expressions(client, self.asking, self.call_or_none, missing, self.spellings)
        self.teller = FrameTeller(scripts, Homes(scripts, texts))
        self.held: Held | None = None
        self.lost_error: Body | None = None
        """An error that nobody caught, where the calls that threw it are gone already."""
        self.lost_places: tuple[Frame, ...] = ()
        """Where it came up, as far as that was noted; an error itself tells more."""
        self._placed: Held | None = None
        """A pause that was told by the places of its error, since no call of the user's is held there."""
        self.handed_over: Held | None = None
        """Where Node's own code made a promise rejected, not by a throw: it may be handled, and if not, Node tells."""
        self.returned: list[Value] = []
        self.calls = Calls()
        self._ahead: Ahead | None = None
        self._touched: Held | None = None
        """The pause in which code ran for somebody: what V8 told of it may have changed."""
        self._is_warm = False
        self._begun: Held | None = None
        """The pause whose values are kept for whoever expands them."""
        self._bounds = Bounds()
        """As somebody wanted them last."""
        self._was_wanted = False
        """Somebody did: how the first stop is wanted, nobody has said yet, and to ask in another way is to ask twice."""
        self._names: dict[tuple[str, int, int], list[str]] = {}
        """What the text of a function mentions, by where it begins."""
        self._questions: dict[Any, Question] = {}
        """How the variables of a line are asked for: it is come to again and again in a loop."""
        self._rounds: dict[Any, Round] = {}
        """Of each place, whether the names there have their value only later in a round of a loop."""

    # The stop

    def need_held(self) -> Held:
        if self.held is None:
            raise WrongState("the program runs")
        return self.held

    async def capture(self, thread: str, bounds: Bounds) -> Capture:
        held = self.need_held()
        exception = await self._exception(held)
        if self.lost_error is not None and exception is not None:
            return self._unwound(thread, exception, bounds)
        ahead = self._ahead if self._ahead and self._ahead.held is held and self._ahead.bounds == bounds else None
        self._ahead, self._bounds, self._was_wanted = None, bounds, True
        if ahead is None:
            await self.teller.read(held)
        frames_all = ahead.frames if ahead else self.teller.frames(held)
        index = self._index(held, frames_all)
        if index is None and exception is not None and any(each.kind == "user" for each in exception.frames):
            self._placed = held  # the text of a module is at fault, or Node itself throws once more what it has caught
            return self._unwound(thread, exception, bounds)
        values = Values(values=())
        at: Frame | None = None
        if index is not None:
            at = msgspec.structs.replace(frames_all[index], key=self.calls.key(held.depth - index))
            asked = ahead.asked if ahead else await self._asked(at.id, bounds, 0, fresh=self._begins(held))
            values = await self._page(at.id, asked)
        elif frames_all:
            at = frames_all[0]
        self._warm()
        frames = Frames(frames=frames_all[: bounds.frames], total=len(frames_all), thread=thread)
        return Capture(frames, at, values, tuple(self.returned), exception)

    def look_ahead(self) -> str | None:
        """A stop is about to be told: its variables are asked for at once. The file that it is in, where that is known."""
        held = self.held
        if held is None or self.lost_error is not None or held.reason in THROWN:
            return None
        if self._ahead is None or self._ahead.held is not held:
            self._ahead = self._asked_ahead(held)
        return self._ahead.file if self._ahead else None

    def _asked_ahead(self, held: Held) -> Ahead | None:
        own = 0 if held.hits or not self._scripts.hides_library else self.teller.innermost(held)
        call = held.calls[own] if own is not None and held.calls else None
        script = self._scripts.get(position(call)[0]) if call is not None else None
        lines = self._texts.known(script) if script is not None else None
        if call is None or own is None or lines is None or not self._was_wanted:
            return None
        asked = self._ask_locals(call, lines, self._bounds, 0, fresh=self._begins(held))
        frames = self.teller.frames(held)
        self._round(call, lines, self._own(call))  # while V8 is at work
        return Ahead(held, self._bounds, asked, frames, frames[own].file)

    def _begins(self, held: Held) -> bool:
        """Whether this pause is read for the first time."""
        before, self._begun = self._begun, held
        return before is not held

    def _warm(self) -> None:
        """Have V8 get used to our code, once, after the first stop: the next ones are told sooner."""
        if not self._is_warm and self.asking.context is not None:
            self._is_warm = True
            asyncio.get_running_loop().call_soon(self.asking.put, question("warm()", ""), ())

    def _index(self, held: Held, frames: Sequence[Frame]) -> int | None:
        """The frame that a stop is about: the innermost of the user's own, or wherever a breakpoint was set."""
        if frames and (held.hits or not self._scripts.hides_library):
            return 0
        return next((n for n, frame in enumerate(frames) if frame.kind == "user" and frame.id.isdigit()), None)

    def _unwound(self, thread: str, exception: ExceptionInfo, bounds: Bounds) -> Capture:
        """What is left of a throw that V8 did not foresee to be uncaught: the places that the error has kept."""
        at = next((frame for frame in exception.frames if frame.kind == "user"), None)
        frames = Frames(frames=exception.frames[: bounds.frames], total=len(exception.frames), thread=thread)
        return Capture(frames, at, Values(values=()), (), exception)

    async def stack(self, thread: str, start: int, count: int) -> Frames:
        held = self.need_held()
        await self.teller.read(held)
        frames = self.teller.frames(held)
        if self._only_places and (exception := await self._exception(held)):
            frames = exception.frames
        return Frames(frames=frames[start : start + count], total=len(frames), start=start, thread=thread)

    # Variables

    @property
    def _only_places(self) -> bool:
        """Whether the calls that the stop is told with are none of those that are held."""
        return self.lost_error is not None or (self._placed is not None and self._placed is self.held)

    def call(self, frame: str) -> Body:
        held = self.need_held()
        if self._only_places:
            raise NotFound("the calls that threw it are gone: only their places are known")
        if not frame.isdigit():
            raise NotFound("that call has returned or awaits: only its place is known")
        if int(frame) >= len(held.calls):
            raise StaleHandle(f"frame {frame} belongs to a stop that is over")
        return held.calls[int(frame)]

    def call_or_none(self, frame: str | None) -> Body | None:
        return (
            self.call(frame) if frame is not None and self.held and self.held.calls and not self._only_places else None
        )

    def _scopes(self, call: Body) -> list[tuple[str, Body]]:
        """The scopes that hold a frame's variables, innermost first, each with its part in them."""
        found: list[tuple[str, Body]] = []
        passed: set[object] = set()
        top = is_top_level(call)
        for scope in call.get("scopeChain") or ():
            kind = scope.get("type")
            if kind in _OWN and "local" in passed:
                found.append(("outer", scope))  # a block of a function around this one
            elif kind in _OWN:
                found.append(("top" if top and kind == "local" else "own", scope))
            elif kind in ("module", "script"):
                found.append(("top" if top else "used", scope))
            elif kind == "closure":
                found.append(("used" if is_wrapper(scope) else "outer", scope))
            passed.add(kind)
        return found

    def _own(self, call: Body) -> list[Body]:
        """Those of its scopes whose variables are all told, and the blocks around it."""
        return [each for kind, each in self._scopes(call) if kind in ("own", "top") or each.get("type") in _OWN]

    def touch(self) -> None:
        """Code runs in this pause: what the variables are is to be read again."""
        self._touched = self.held

    async def _current(self, frame: str) -> Body:
        """The call of a frame, whose scopes tell what its variables are now."""
        call = self.call(frame)
        if self._touched is self.held:
            await refresh(self._client, call)
        return call

    async def locals(self, frame: str, bounds: Bounds, start: int) -> Values:
        """The variables of a frame."""
        return await self._page(frame, await self._asked(frame, bounds, start, fresh=False), start)

    async def _asked(self, frame: str, bounds: Bounds, start: int, *, fresh: bool) -> asyncio.Future[Body]:
        call = await self._current(frame)
        return self._ask_locals(call, await self._lines_at(call), bounds, start, fresh=fresh)

    def _ask_locals(
        self, call: Body, lines: Sequence[str], bounds: Bounds, start: int, *, fresh: bool
    ) -> asyncio.Future[Body]:
        """`fresh` at a new stop, for which nothing is kept any more of the one before."""
        scopes = self._scopes(call)
        receiver = call.get("this")
        self_word = argument(receiver) if isinstance(receiver, dict) else {"value": None}
        objects = [self_word, *(argument(scope["object"]) for _, scope in scopes)]
        question = self._question(call, lines, [kind for kind, _ in scopes], bounds, start, fresh)
        asked = self.asking.put(question.text, objects)
        if not question.is_known:
            asked.add_done_callback(question.answered)
        return asked

    def _question(
        self, call: Body, lines: Sequence[str], kinds: list[str], bounds: Bounds, start: int, fresh: bool
    ) -> Question:
        whole: Body = next((each for each in call.get("scopeChain") or () if each.get("type") == "local"), {})
        key = (position(call), position({"location": whole.get("startLocation")}), *kinds, bounds, start, fresh)
        if key not in self._questions:
            if len(self._questions) > _QUESTIONS:
                self._questions.clear()
            mentioned, used = self._mentioned(call, whole, lines, kinds), self._used(call)
            words = (fresh, kinds, used, mentioned, start, bounds.values, limits(bounds))
            self._questions[key] = Question(len(self._questions), words)
        return self._questions[key]

    async def _page(self, frame: str, asked: asyncio.Future[Body], start: int = 0) -> Values:
        call = self.call(frame)
        own = self._own(call)
        try:
            page = page_of(await self.asking.take(asked), start)
        except EvalFailed as failed:
            return await bare_locals(self._client, own, self._bounds.values, failed)
        return await self._variables.written(call, await self._initialised(call, page, own))

    async def _initialised(self, call: Body, found: Values, scopes: Sequence[Body]) -> Values:
        """Without what the program has not come to yet, which V8 before 12 calls undefined, as far as the text tells."""
        doubtful = {each.name for each in found.values if each.type == "undefined"}
        blocks = bool(scopes) and scopes[0].get("type") == "block"
        if not doubtful and not blocks and "returnValue" not in call:
            return found
        lines, held = await self._lines_at(call), position(call)[1:]
        gone = {name for name in doubtful if is_uninitialised(name, lines, held, scopes)}
        if blocks:
            told = self._round(call, lines, scopes)
            gone |= {each.name for each in found.values if told.is_earlier(each.name)}
        if not gone and "returnValue" not in call:
            return found
        values = tuple(each for each in found.values if each.name not in gone)
        lost = lost_at_return(call, lines, {each.name for each in found.values})
        return Values(
            values=values,
            total=found.total and found.total - len(gone),
            start=found.start,
            notes=(f"V8 no longer tells {', '.join(lost)}: {AT_RETURN}",) if lost else (),
        )

    def _round(self, call: Body, lines: Sequence[str], scopes: Sequence[Body]) -> Round:
        """What the text says of the names at a place, asked once for each."""
        where = position(call)
        if where not in self._rounds:
            if len(self._rounds) > _QUESTIONS:
                self._rounds.clear()
            self._rounds[where] = Round(lines, where[1:], scopes)
        return self._rounds[where]

    async def _lines_at(self, call: Body) -> list[str]:
        script = self._scripts.get(position(call)[0])
        return await self._texts.lines(script) if script is not None else []

    def _mentioned(self, call: Body, whole: Body, lines: Sequence[str], kinds: Sequence[str]) -> list[str]:
        """The names in a function's text that matter: of what a module holds, these are worth telling."""
        key = position({"location": whole.get("startLocation")})
        if key not in self._names:
            self._names[key] = sorted(self._written(call, names_in(lines, whole)))
        matter = "used" in kinds or "outer" in kinds
        return self._names[key] if matter else [name for name in self._names[key] if name == "arguments"]

    def _written(self, call: Body, names: set[str]) -> set[str]:
        """Without those that only a compiler gave, to what a file imports: no text of the user's has them."""
        doubtful = {each for each in names if _IMPORTED.fullmatch(each)}
        spot = self._scripts.spot(*position(call)) if doubtful else None
        text = "\n".join(self._texts.file(spot.file)) if spot is not None and spot.mapped else ""
        return names - {each for each in doubtful if text and each not in text}

    def _used(self, call: Body) -> list[str]:
        """The names on the line that is about to run, as they are in what runs where that is known."""
        frame = self.teller.call(call, "0")
        if frame.file is None or frame.line is None:
            return []
        lines = self._texts.file(frame.file)
        names = _IDENTIFIER.findall(lines[frame.line - 1])[:40] if 0 < frame.line <= len(lines) else []
        return self._variables.as_run(call, names)

    def forget_files(self) -> None:
        """Files may have changed since they were read."""
        self._texts.forget()
        self.spellings.forget()
        self._variables.forget()
        self._names.clear()
        self._questions.clear()
        self._rounds.clear()

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        call = self.call(frame)
        return tuple(
            Scope(name=_scope_name(scope), ref=f"s{frame}.{number}")
            for number, scope in enumerate(call.get("scopeChain") or ())
        )

    async def expand(self, ref: str, bounds: Bounds, start: int) -> Values:
        if ref.startswith("s"):
            frame, _, number = ref[1:].partition(".")
            chain = (await self._current(frame)).get("scopeChain") or ()
            scope = chain[int(number)]
            expression = "scope(value, start, count, bounds)"
            names = "start, count, bounds, value"
            arguments: tuple[Any, ...] = (start, bounds.values, limits(bounds))
            body = await self.asking.ask(expression, names, *arguments, objects=[argument(scope["object"])])
            return await self._marked(self.call(frame), page_of(body, start), scope)
        body = await self.asking.ask(
            "expand(number, start, count, bounds)", "number, start, count, bounds",
            int(ref[1:]), start, bounds.values, limits(bounds),
        )  # fmt: skip
        if body.get("stale"):
            raise StaleHandle("that value belongs to a stop that is over")
        return page_of(body, start)

    async def _marked(self, call: Body, found: Values, scope: Body) -> Values:
        """With what has no value yet called that."""
        lines, held = await self._lines_at(call), position(call)[1:]
        values = tuple(
            msgspec.structs.replace(each, value=UNSET, type="")
            if (each.type == "undefined" and is_uninitialised(each.name, lines, held, [scope]))
            or is_of_earlier_round(each.name, lines, held, [scope])
            else each
            for each in found.values
        )
        return msgspec.structs.replace(found, values=values)

    # Exceptions

    async def exception(self) -> ExceptionInfo | None:
        return await self._exception(self.need_held())

    async def _exception(self, held: Held) -> ExceptionInfo | None:
        if self.lost_error is not None:
            info = await described(self.asking, self.teller, self._texts, self.lost_error, "uncaught")
            return info if info.frames else msgspec.structs.replace(info, frames=self.lost_places)
        if held.reason not in THROWN:
            return None
        # Whether a promise's rejection is handled is only foreseen by V8: a handler may still be set.
        foreseen: Mode = "unhandled" if held.reason == "promiseRejection" else "uncaught"
        mode = foreseen if held.data.get("uncaught") and held is not self.handed_over else "raised"
        return named_as_held(
            await described(self.asking, self.teller, self._texts, held.data, mode), self.teller.frames(held)
        )

    # Modules

    def modules(self, start: int, count: int) -> Modules:
        files = [each for each in self._scripts.all() if each.is_file and each.url != self._scripts.hidden]
        found = sorted(files, key=lambda each: not each.user)  # as they were loaded, the program's own first
        rows = tuple(
            Module(name=Path(each.path).name, file=each.path, kind="user" if each.user else "library")
            for each in found[start : start + count]
        )
        return Modules(modules=rows, total=len(found), start=start)

    def moved(self, *, far: bool) -> None:
        """The program goes on. What was kept of its values may go at once where the next stop may be far."""
        self.held, self.lost_error, self._ahead, self._touched = None, None, None, None
        if far:
            self._client.send("Runtime.evaluate", {"expression": f"{STORE}?.clear()", "silent": True})


def _scope_name(scope: Body) -> str:
    name = scope.get("name")
    return f"{scope.get('type')} {name}" if name else str(scope.get("type"))
