"""Looking at a held program: bounded values made by our code in the target, one request for a whole frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...errors import EvalFailed, NotFound, StaleHandle, WrongState
from ...model.backend import Bounds, Capture, Evaluated
from ...model.values import ExceptionInfo, Frame, Frames, Module, Modules, Scope, Value, Values
from .client import Body, CdpClient, Refused
from .conditions import STORE
from .declarations import is_uninitialised, names_in
from .frames import FrameTeller, Held, is_top_level, is_wrapper, position
from .journeys import Calls
from .scripts import Scripts
from .texts import Texts

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_AWAIT = re.compile(r"^\s*await\b")
_SLACK = 5.0
_OWN = frozenset({"local", "block", "catch", "with", "eval"})


class Evidence:
    """Answers about one pause; `held` is set at each and gone when the program moves."""

    def __init__(self, client: CdpClient, scripts: Scripts, texts: Texts) -> None:
        self._client = client
        self._scripts = scripts
        self._texts = texts
        self.teller = FrameTeller(scripts)
        self.held: Held | None = None
        self.lost_error: Body | None = None
        """An error that nobody caught, where the calls that threw it are gone already."""
        self.returned: list[Value] = []
        self.calls = Calls()
        self.context: int | None = None

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
        frames_all = self.teller.frames(held)
        index = next((n for n, frame in enumerate(frames_all) if frame.kind == "user" and frame.id.isdigit()), None)
        values = Values(values=())
        at: Frame | None = None
        if index is not None:
            at = msgspec.structs.replace(frames_all[index], key=self.calls.key(held.depth - index))
            values = await self.locals(at.id, bounds, 0, fresh=True)
        elif frames_all:
            at = frames_all[0]
        frames = Frames(frames=frames_all[: bounds.frames], total=len(frames_all), thread=thread)
        return Capture(frames, at, values, tuple(self.returned), exception)

    def _unwound(self, thread: str, exception: ExceptionInfo, bounds: Bounds) -> Capture:
        """What is left of a throw that V8 did not foresee to be uncaught: the places that the error has kept."""
        at = next((frame for frame in exception.frames if frame.kind == "user"), None)
        frames = Frames(frames=exception.frames[: bounds.frames], total=len(exception.frames), thread=thread)
        return Capture(frames, at, Values(values=()), (), exception)

    def stack(self, thread: str, start: int, count: int) -> Frames:
        frames = self.teller.frames(self.need_held())
        return Frames(frames=frames[start : start + count], total=len(frames), start=start, thread=thread)

    # Variables

    def call(self, frame: str) -> Body:
        held = self.need_held()
        if not frame.isdigit():
            raise NotFound("that call has returned or awaits: only its place is known")
        if int(frame) >= len(held.calls):
            raise StaleHandle(f"frame {frame} belongs to a stop that is over")
        return held.calls[int(frame)]

    def _scopes(self, call: Body) -> list[tuple[str, Body]]:
        """The scopes that hold a frame's variables, innermost first, each with its part in them."""
        found: list[tuple[str, Body]] = []
        top = is_top_level(call)
        for scope in call.get("scopeChain") or ():
            kind = scope.get("type")
            if kind in _OWN:
                found.append(("top" if top and kind == "local" else "own", scope))
            elif kind == "module":
                found.append(("top" if top else "used", scope))
            elif kind == "closure":
                found.append(("used" if is_wrapper(scope) else "outer", scope))
        return found

    async def locals(self, frame: str, bounds: Bounds, start: int, *, fresh: bool = False) -> Values:
        """The variables of a frame; `fresh` at a new stop, for which nothing is kept any more of the one before."""
        call = self.call(frame)
        scopes = self._scopes(call)
        receiver = call.get("this")
        self_word = _argument(receiver) if isinstance(receiver, dict) else {"value": None}
        objects = [_argument(scope["object"]) for _, scope in scopes]
        mentioned = await self._mentioned(call) if any(kind == "used" for kind, _ in scopes) else []
        body = await self._ask(
            "locals(fresh, kinds, used, mentioned, start, count, bounds, self, scopes)",
            "fresh, kinds, used, mentioned, start, count, bounds, self, ...scopes",
            fresh,
            [kind for kind, _ in scopes], self._used(call), mentioned, start, bounds.values, _limits(bounds),
            objects=[self_word, *objects],
        )  # fmt: skip
        return await self._initialised(
            call, _page(body, start), [each for kind, each in scopes if kind in ("own", "top")]
        )

    async def _initialised(self, call: Body, found: Values, scopes: Sequence[Body]) -> Values:
        """Without what the program has not come to yet, as far as the text tells."""
        lines, held = await self._lines_at(call), position(call)[1:]
        gone = {
            each.name
            for each in found.values
            if is_uninitialised(each.name, lines, held, scopes, undefined=each.type == "undefined")
        }
        if not gone:
            return found
        values = tuple(each for each in found.values if each.name not in gone)
        return Values(values=values, total=found.total and found.total - len(gone), start=found.start)

    async def _lines_at(self, call: Body) -> list[str]:
        script = self._scripts.get(position(call)[0])
        return await self._texts.lines(script) if script is not None else []

    async def _mentioned(self, call: Body) -> list[str]:
        """The names in a function's text: of what a module holds, these are worth telling."""
        whole: Body = next((each for each in call.get("scopeChain") or () if each.get("type") == "local"), {})
        return sorted(names_in(await self._lines_at(call), whole))

    def _used(self, call: Body) -> list[str]:
        """The names on the line that is about to run."""
        frame = self.teller.call(call, "0")
        if frame.file is None or frame.line is None:
            return []
        lines = self._texts.file(frame.file)
        return _IDENTIFIER.findall(lines[frame.line - 1])[:40] if 0 < frame.line <= len(lines) else []

    def forget_files(self) -> None:
        """Files may have changed since they were read."""
        self._texts.forget()

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        call = self.call(frame)
        return tuple(
            Scope(name=_scope_name(scope), ref=f"s{frame}.{number}")
            for number, scope in enumerate(call.get("scopeChain") or ())
        )

    async def expand(self, ref: str, bounds: Bounds, start: int) -> Values:
        if ref.startswith("s"):
            frame, _, number = ref[1:].partition(".")
            chain = self.call(frame).get("scopeChain") or ()
            scope = chain[int(number)]
            expression = "scope(value, start, count, bounds)"
            names = "start, count, bounds, value"
            arguments: tuple[Any, ...] = (start, bounds.values, _limits(bounds))
            return _page(await self._ask(expression, names, *arguments, objects=[_argument(scope["object"])]), start)
        body = await self._ask(
            "expand(number, start, count, bounds)", "number, start, count, bounds",
            int(ref[1:]), start, bounds.values, _limits(bounds),
        )  # fmt: skip
        if body.get("stale"):
            raise StaleHandle("that value belongs to a stop that is over")
        return _page(body, start)

    async def _ask(self, expression: str, names: str, *words: Any, objects: Sequence[Body] = ()) -> Body:
        """Run a function of our code in the target and take its answer by value."""
        arguments: dict[str, Any] = {
            "functionDeclaration": f"function({names}) {{ return {STORE}.{expression} }}",
            "arguments": [*({"value": word} for word in words), *objects],
            "executionContextId": self.context,
            "returnByValue": True,
            "silent": True,
        }
        answer = await self._client.request("Runtime.callFunctionOn", arguments)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            raise EvalFailed(failure(details))
        value = (answer.get("result") or {}).get("value")
        return value if isinstance(value, dict) else {}

    async def describe(self, name: str, remote: Body, bounds: Bounds) -> Value:
        """A value that V8 holds for us, as ours."""
        body = await self._ask(
            "describe(name, value, bounds)", "name, bounds, value", name, _limits(bounds), objects=[_argument(remote)]
        )
        return _value(body)

    # Expressions

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float, *, safe: bool = False
    ) -> tuple[Evaluated, ...]:
        return tuple([await self._evaluate(frame, each, bounds, timeout, safe=safe) for each in expressions])

    async def _evaluate(
        self, frame: str | None, expression: str, bounds: Bounds, timeout: float, *, safe: bool
    ) -> Evaluated:
        if _AWAIT.match(expression):
            return await self._awaited(frame, expression, bounds, timeout)
        if safe:
            return await self._plain(frame, expression, expression, bounds, timeout, safe=True)
        limits = f"{{text: {bounds.text}, items: {bounds.items}}}"
        text = f"{STORE}.result((\n{expression}\n), {expression[:80]!r}, {limits})"
        answer = await self._run(frame, text, timeout, by_value=True)
        details = answer.get("exceptionDetails")
        if not isinstance(details, dict):
            value = (answer.get("result") or {}).get("value")
            return Evaluated(expression, value=_value(value if isinstance(value, dict) else {}))
        if _class(details) == "SyntaxError" and not await self._compiles(f"(\n{expression}\n)"):
            return await self._plain(frame, expression, expression, bounds, timeout)
        if (
            _class(details) in ("ReferenceError", "TypeError")
            and "result" in failure(details)
            and "undefined" in failure(details)
        ):
            return await self._plain(
                frame, expression, expression, bounds, timeout
            )  # a context that our code is not in
        return Evaluated(expression, error=failure(details))

    async def _plain(
        self, frame: str | None, name: str, text: str, bounds: Bounds, timeout: float, *, safe: bool = False
    ) -> Evaluated:
        """Statements, or expressions as they are; the value comes in a second request."""
        answer = await self._run(frame, text, timeout, safe=safe)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            return Evaluated(name, error=failure(details))
        remote = answer.get("result") or {}
        try:
            return Evaluated(name, value=await self.describe(name, remote, bounds))
        except Refused:  # it lives in another context, where V8's own words must do
            return Evaluated(name, value=Value(name=name, type=str(remote.get("type")), value=text_of(remote)))

    async def _run(
        self, frame: str | None, text: str, timeout: float, *, by_value: bool = False, safe: bool = False
    ) -> Body:
        arguments: dict[str, Any] = {
            "expression": text,
            "returnByValue": by_value,
            "silent": True,
            "timeout": int(timeout * 1000),
            "throwOnSideEffect": safe,
        }
        if frame is not None and self.held is not None and self.held.calls and self.lost_error is None:
            method, arguments["callFrameId"] = "Debugger.evaluateOnCallFrame", self.call(frame).get("callFrameId")
        else:
            method, arguments["includeCommandLineAPI"] = "Runtime.evaluate", True
        try:
            return await self._client.request(method, arguments, timeout=timeout + _SLACK)
        except Refused as refused:
            if "terminated" in refused.message or "timed out" in refused.message.lower():
                raise EvalFailed(f"it did not end within {timeout:g} s and was given up") from None
            raise

    async def _compiles(self, text: str) -> bool:
        arguments = {"expression": text, "sourceURL": "", "persistScript": False}
        return "exceptionDetails" not in await self._client.request("Runtime.compileScript", arguments)

    async def _awaited(self, frame: str | None, expression: str, bounds: Bounds, timeout: float) -> Evaluated:
        """An expression with `await`: jobs that are ready are run, as the event loop cannot turn while it is held."""
        answer = await self._run(frame, f"(async () => (\n{expression}\n))()", timeout)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            return Evaluated(expression, error=failure(details))
        promise = answer.get("result") or {}
        state, value = await self._promise(promise)
        if state == "pending":
            await self._run(None, "process._tickCallback()", timeout)
            state, value = await self._promise(promise)
        if state == "pending":
            return Evaluated(
                expression, error="still pending: it waits for the event loop, which stands while the program is held"
            )
        if state == "rejected":
            return Evaluated(expression, error=text_of(value).partition("\n    at ")[0])
        return Evaluated(expression, value=await self.describe(expression, value, bounds))

    async def _promise(self, promise: Body) -> tuple[str, Body]:
        arguments = {"objectId": promise.get("objectId"), "ownProperties": True}
        body = await self._client.request("Runtime.getProperties", arguments)
        inner = {each.get("name"): each.get("value") or {} for each in body.get("internalProperties") or ()}
        state = str((inner.get("[[PromiseState]]") or {}).get("value") or "pending")
        return state, inner.get("[[PromiseResult]]") or {}

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        (done,) = await self.evaluate(frame, [f"{target} = (\n{value}\n)"], bounds, 10.0)
        if done.value is None:
            raise EvalFailed(done.error or "the assignment failed")
        return done.value

    # Exceptions

    async def exception(self) -> ExceptionInfo | None:
        return await self._exception(self.need_held())

    async def _exception(self, held: Held) -> ExceptionInfo | None:
        remote = self.lost_error
        if remote is None and held.reason in ("exception", "promiseRejection"):
            remote = held.data
        if remote is None:
            return None
        said = text_of(remote)
        head, _, _ = said.partition("\n    at ")
        kind = str(remote.get("className") or remote.get("type") or "")
        name, colon, message = head.partition(": ")
        if remote.get("subtype") != "error":
            name, message = kind, said
        elif not colon or not re.fullmatch(r"[\w$.]+", name.partition(" [")[0]):
            name, message = kind, "" if head == kind else head
        uncaught = self.lost_error is not None or bool(held.data.get("uncaught"))
        cause = await self._cause(remote)
        return ExceptionInfo(
            type=name.partition(" [")[0] if remote.get("subtype") == "error" else kind,
            message=message,
            mode="uncaught" if uncaught else "raised",
            frames=self.teller.of_stack(said),
            cause=cause,
        )

    async def _cause(self, remote: Body) -> str | None:
        if remote.get("subtype") != "error" or "objectId" not in remote:
            return None
        arguments = {
            "functionDeclaration": f"function() {{ const s = {STORE}; return s ? s.cause(this) : null }}",
            "objectId": remote["objectId"],
            "returnByValue": True,
            "silent": True,
        }
        try:
            value = (await self._client.request("Runtime.callFunctionOn", arguments)).get("result") or {}
        except Refused:
            return None
        return value.get("value") if isinstance(value.get("value"), str) else None

    async def classes(self, remote: Body) -> tuple[str, ...]:
        """The classes of what was thrown, nearest first."""
        if "objectId" not in remote:
            return (str(remote.get("type")),)
        names = await self._ask_list("chain(value)", remote)
        return names or (str(remote.get("className")),)

    async def _ask_list(self, expression: str, remote: Body) -> tuple[str, ...]:
        arguments = {
            "functionDeclaration": f"function() {{ const s = {STORE}; const value = this; return s ? s.{expression} : [] }}",
            "objectId": remote["objectId"],
            "returnByValue": True,
            "silent": True,
        }
        answer = await self._client.request("Runtime.callFunctionOn", arguments)
        found = (answer.get("result") or {}).get("value")
        return tuple(str(each) for each in found) if isinstance(found, list) else ()

    # Modules

    def modules(self, start: int, count: int) -> Modules:
        found = [script for script in self._scripts.all() if script.is_file]
        rows = tuple(
            Module(name=Path(each.path).name, file=each.path, kind="user" if each.user else "library")
            for each in found[start : start + count]
        )
        return Modules(modules=rows, total=len(found), start=start)

    async def take_hits(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Which conditional breakpoints held where the program stopped, and what their conditions raised."""
        body = await self._ask("hits()", "")
        failed = tuple((str(id), str(said)) for id, said in body.get("failed") or ())
        return tuple(str(each) for each in body.get("hits") or ()), failed

    def moved(self, *, far: bool) -> None:
        """The program goes on. What was kept of its values may go at once where the next stop may be far."""
        self.held, self.lost_error = None, None
        if far:
            self._client.send("Runtime.evaluate", {"expression": f"{STORE}?.clear()", "silent": True})


def _limits(bounds: Bounds) -> dict[str, int]:
    return {"text": bounds.text, "items": bounds.items}


def _argument(remote: Body) -> Body:
    """A value of V8 as an argument of a call."""
    for word in ("objectId", "unserializableValue"):
        if word in remote:
            return {word: remote[word]}
    return {"value": remote["value"]} if "value" in remote else {}


def _value(body: Body) -> Value:
    ref = body.get("ref")
    return Value(
        name=str(body.get("name", "")),
        type=str(body.get("type", "")),
        value=str(body.get("value", "")),
        ref=f"k{ref}" if ref is not None else None,
        total=body.get("total"),
        truncated=bool(body.get("truncated")),
    )


def _page(body: Body, start: int) -> Values:
    values = tuple(_value(each) for each in body.get("values") or ())
    return Values(values=values, total=body.get("total"), start=start)


def _scope_name(scope: Body) -> str:
    name = scope.get("name")
    return f"{scope.get('type')} {name}" if name else str(scope.get("type"))


def text_of(remote: Body) -> str:
    """A value in V8's own words."""
    for word in ("unserializableValue", "description"):
        if word in remote:
            return str(remote[word])
    return str(remote.get("value", remote.get("type")))


def _class(details: Body) -> str:
    return str((details.get("exception") or {}).get("className") or "")


def failure(details: Body) -> str:
    """What was thrown, in a line or as many as its message has."""
    thrown = details.get("exception")
    if isinstance(thrown, dict):
        text = text_of(thrown).partition("\n    at ")[0]
        if "Possible side-effect in debug-evaluate" in text:
            return "it would change the program: " + text
        return text
    return str(details.get("text") or "it failed")
