"""Expressions and statements of the program's language, run in a frame that is held."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import EvalFailed
from ...model.backend import Bounds, Evaluated
from ...model.values import Value
from .asking import Asking, failure, text_of, value_of
from .bare import bare, lacks_stack
from .client import Body, CdpClient, Refused
from .conditions import STORE, within
from .missing import Missing
from .spellings import Spellings

_AWAIT = re.compile(r"^\s*await\b(?P<what>.*)$", re.DOTALL)
_HOLDS_AWAIT = re.compile(r"(?<![\w$.])await\b")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_SLACK = 5.0
_PENDING = "still pending: it waits for the event loop, which stands while the program is held"


class Expressions:
    """Evaluates in one isolate; `call` gives the call that a frame's name stands for, None for the global scope."""

    def __init__(
        self,
        client: CdpClient,
        asking: Asking,
        call: Callable[[str | None], Body | None],
        missing: Missing,
        spellings: Spellings,
    ) -> None:
        self._client = client
        self._missing = missing
        self._asking = asking
        self._call = call
        self._spellings = spellings

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float, *, safe: bool = False
    ) -> tuple[Evaluated, ...]:
        return tuple([await self._one(frame, each, bounds, timeout, safe=safe) for each in expressions])

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        if _NAME.fullmatch(target.strip()):  # without such a variable, V8 would make a global one
            (known,) = await self.evaluate(frame, [target], bounds, 10.0)
            if known.value is None:
                raise EvalFailed(known.error or f"there is no {target}")
        (done,) = await self.evaluate(frame, [f"{target} = (\n{value}\n)"], bounds, 10.0)
        if done.value is None:
            raise EvalFailed(done.error or "the assignment failed")
        return done.value

    async def _one(
        self, frame: str | None, expression: str, bounds: Bounds, timeout: float, *, safe: bool
    ) -> Evaluated:
        if safe:
            return await self._plain(frame, expression, bounds, timeout, safe=True)
        if found := _AWAIT.match(expression):
            if _is_operand(found["what"]):
                return await self._promised(frame, expression, f"(\n{found['what']}\n)", bounds, timeout)
            return await self._asynchronous(frame, expression, bounds, timeout)
        limits = f"{{text: {bounds.text}, items: {bounds.items}}}"
        text = f"{STORE}.result((\n{expression}\n), {expression[:80]!r}, {limits})"
        answer = await self._run(frame, await self._bound(frame, expression, text), timeout, by_value=True)
        details = answer.get("exceptionDetails")
        if not isinstance(details, dict):
            body = (answer.get("result") or {}).get("value")
            value = value_of(body if isinstance(body, dict) else {"name": expression})
            unset = await self._without_value(frame, expression.strip(), value)
            return Evaluated(expression, error=unset) if unset else Evaluated(expression, value=value)
        if _class(details) == "SyntaxError" and not await self._compiles(f"(\n{expression}\n)"):
            if _HOLDS_AWAIT.search(expression):
                return await self._asynchronous(frame, expression, bounds, timeout)
            return await self._plain(frame, expression, bounds, timeout)
        if _lacks_store(details) or lacks_stack(failure(details)):
            return await self._plain(frame, expression, bounds, timeout)
        return await self._failed(frame, expression, details)

    async def _bound(self, frame: str | None, expression: str, text: str) -> str:
        """A text that has this expression, with the names in it that a compiler spells otherwise."""
        return within(await self._spellings.bound(self._call(frame), expression), text, expression)

    async def _without_value(self, frame: str | None, name: str, value: Value) -> str | None:
        if not _NAME.fullmatch(name):
            return None
        return await self._missing.without_value(self._call(frame), name, undefined=value.type == "undefined")

    async def _failed(self, frame: str | None, expression: str, details: Body) -> Evaluated:
        said = await self._missing.explained(self._call(frame), expression, failure(details))
        return Evaluated(expression, error=said)

    async def _plain(
        self, frame: str | None, text: str, bounds: Bounds, timeout: float, *, safe: bool = False
    ) -> Evaluated:
        """Statements, or expressions as they are; the value comes in a second request."""
        spelled = await self._spellings.bound(self._call(frame), text)
        names = "".join(f"const {name} = {other}; " for name, other in spelled.items())
        answer = await self._run(frame, f"{{ {names}{{\n{text}\n}} }}" if names else text, timeout, safe=safe)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            return await self._failed(frame, text, details)
        return await self._told(text, answer.get("result") or {}, bounds)

    async def _told(self, name: str, remote: Body, bounds: Bounds) -> Evaluated:
        try:
            return Evaluated(name, value=await self._asking.describe(name, remote, bounds))
        except Refused:  # it lives in another context, where V8's own words must do
            return Evaluated(name, value=bare(name, remote))
        except EvalFailed as failed:
            if not lacks_stack(failed.message):
                raise
            return Evaluated(name, value=bare(name, remote))

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
        if (call := self._call(frame)) is not None:
            method, arguments["callFrameId"] = "Debugger.evaluateOnCallFrame", call.get("callFrameId")
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

    # Promises: jobs do not run while the program is held, but what is settled is known.

    async def _asynchronous(self, frame: str | None, expression: str, bounds: Bounds, timeout: float) -> Evaluated:
        """An expression with an `await` in its midst. A rejection that nobody else handles must not end the program."""
        text = f"(() => {{ const made = (async () => (\n{expression}\n))(); made.catch(() => {{}}); return made }})()"
        return await self._promised(frame, expression, text, bounds, timeout)

    async def _promised(
        self, frame: str | None, expression: str, text: str, bounds: Bounds, timeout: float
    ) -> Evaluated:
        answer = await self._run(frame, await self._bound(frame, expression, text), timeout)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            return Evaluated(expression, error=failure(details))
        found = answer.get("result") or {}
        if found.get("subtype") != "promise":
            return await self._told(expression, found, bounds)
        state, value = await self._settled(found)
        if state == "pending":
            return Evaluated(expression, error=_PENDING)
        if state == "rejected":
            return Evaluated(expression, error=text_of(value).partition("\n    at ")[0])
        return await self._told(expression, value, bounds)

    async def _settled(self, promise: Body) -> tuple[str, Body]:
        arguments = {"objectId": promise.get("objectId"), "ownProperties": True}
        body = await self._client.request("Runtime.getProperties", arguments)
        inner = {each.get("name"): each.get("value") or {} for each in body.get("internalProperties") or ()}
        state = str((inner.get("[[PromiseState]]") or {}).get("value") or "pending")
        return state, inner.get("[[PromiseResult]]") or {}


def _class(details: Body) -> str:
    return str((details.get("exception") or {}).get("className") or "")


def _lacks_store(details: Body) -> bool:
    """Whether it failed for want of our code, which is not in every context."""
    said = failure(details)
    return _class(details) in ("ReferenceError", "TypeError") and "result" in said and "undefined" in said


def _is_operand(text: str) -> bool:
    """Whether `await` takes the whole text: names, calls and members, with no operator outside of brackets."""
    closing: list[str] = []
    quote = ""
    for at, letter in enumerate(text.strip()):
        if quote:
            quote = "" if letter == quote and text.strip()[at - 1] != "\\" else quote
        elif letter in "\"'`":
            quote = letter
        elif letter in _BRACKETS:
            closing.append(_BRACKETS[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif not closing and not (letter.isalnum() or letter in "_$. \n\t#"):
            return False
    return not closing and not quote
