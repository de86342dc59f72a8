"""Questions to our code in the target, and values as it tells them and as V8 does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from ...errors import EvalFailed
from ...model import exact
from ...model.backend import Bounds
from ...model.values import Value, Values
from .client import Body, CdpClient
from .conditions import STORE

_CALL = "Runtime.callFunctionOn"
_DETAILS = "Runtime.getExceptionDetails"


class Asking:
    """Runs functions of our code in the target."""

    def __init__(self, client: CdpClient) -> None:
        self._client = client
        self.context: int | None = None
        """The program's own world; others, such as those of `vm`, are reached through what lives in them."""

    @property
    def is_alone(self) -> bool:
        """Whether V8 is at work for our questions and nothing else: the scripts that it makes then are theirs."""
        return self._client.awaits_only(_CALL)

    async def ask(self, expression: str, names: str, *words: Any, objects: Sequence[Body] = ()) -> Body:
        """Run a function of our code and take its answer."""
        return await self.take(self.put(question(expression, names, *words), objects))

    def put(self, question: str, objects: Sequence[Body]) -> asyncio.Future[Body]:
        """Have a question asked, and answered by value. It is asked in the world of the first of the objects."""
        arguments: dict[str, Any] = {
            "functionDeclaration": question,
            "arguments": objects,
            "returnByValue": True,
            "silent": True,
        }
        here = next((each["objectId"] for each in objects if "objectId" in each), None)
        if here is not None:
            arguments["objectId"] = here
        else:
            arguments["executionContextId"] = self.context
        return self._client.send(_CALL, arguments)

    async def take(self, asked: asyncio.Future[Body]) -> Body:
        """The answer to a question that was put before."""
        answer = await self._client.settle(asked, _CALL)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            raise EvalFailed(failure(details))
        value = (answer.get("result") or {}).get("value")
        return value if isinstance(value, dict) else {}

    async def about(self, error: Body) -> Body:
        """What V8 itself knows of an error: the place that it is about, where no call was there."""
        if "objectId" not in error:
            return {}
        answer = await self._client.settle(self._client.send(_DETAILS, {"errorObjectId": error["objectId"]}), _DETAILS)
        return answer.get("exceptionDetails") or {}

    async def describe(self, name: str, remote: Body, bounds: Bounds) -> Value:
        """A value that V8 holds for us, as ours."""
        words = (name, limits(bounds))
        return value_of(
            await self.ask("describe(name, value, bounds)", "name, bounds, value", *words, objects=[argument(remote)])
        )


class Question:
    """How the variables of a line are asked for: in whole words at first, which our code in the target keeps, and by their number
    from then on, since V8 compiles a question each time that it is put."""

    def __init__(self, number: int, words: Sequence[Any]) -> None:
        told = ",".join(exact.encode(each).decode() for each in (number, *words))
        ask = f"return {STORE}.again({number},self===globalThis?null:self,scopes)"
        self._whole = f"function(self,...scopes){{{STORE}.learn({told});{ask}}}"
        self._short = f"function(self,...scopes){{{ask}}}"
        self.is_known = False
        """The target has answered it, and so knows it."""

    @property
    def text(self) -> str:
        return self._short if self.is_known else self._whole

    def answered(self, answer: asyncio.Future[Body]) -> None:
        self.is_known = (
            not answer.cancelled() and answer.exception() is None and "exceptionDetails" not in answer.result()
        )


def question(expression: str, names: str, *words: Any) -> str:
    """A function for V8 that runs one of our code; objects are its arguments.

    The words stand in its text: V8 compiles a script for each argument that is no object.
    """
    named = names.split(", ")
    told = ",".join(f"{name}={exact.encode(word).decode()}" for name, word in zip(named, words, strict=False))
    told = f"const {told};" if words else ""
    return f"function({','.join(named[len(words) :])}){{{told}return {STORE}.{expression}}}"


def limits(bounds: Bounds) -> dict[str, int]:
    return {"text": bounds.text, "items": bounds.items, "inside": bounds.inside}


def argument(remote: Body) -> Body:
    """A value of V8 as an argument of a call."""
    for word in ("objectId", "unserializableValue"):
        if word in remote:
            return {word: remote[word]}
    return {"value": remote["value"]} if "value" in remote else {}


def value_of(body: Body) -> Value:
    """A value in our own words."""
    return msgspec.convert({**body, "ref": f"k{body['ref']}"} if "ref" in body else body, Value)


def page_of(body: Body, start: int) -> Values:
    values = tuple(value_of(each) for each in body.get("values") or ())
    return Values(values=values, total=body.get("total"), start=start)


def text_of(remote: Body) -> str:
    """A value in V8's own words."""
    for word in ("unserializableValue", "description"):
        if word in remote:
            return str(remote[word])
    if remote.get("subtype") == "null":
        return "null"
    return str(remote.get("value", remote.get("type")))


def failure(details: Body) -> str:
    """What was thrown, in a line or as many as its message has."""
    thrown = details.get("exception")
    if isinstance(thrown, dict):
        text = text_of(thrown).partition("\n    at ")[0]
        if thrown.get("subtype") != "error":  # or it would be taken for what the expression gives
            return f"threw {text!r}" if thrown.get("type") == "string" else f"threw {text}"
        if "Possible side-effect in debug-evaluate" in text:
            return "it would change the program: " + text
        return text
    return str(details.get("text") or "it failed")
