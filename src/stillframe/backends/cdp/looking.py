"""What a backend is asked about a held program, passed on to whoever knows the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import EvalFailed
from ...model.backend import Bounds, Capture, Evaluated
from ...model.sources import SourceText
from ...model.values import ExceptionInfo, Frames, Modules, Scope, Value, Values
from .asking import failure, text_of
from .client import CdpClient
from .evidence import Evidence
from .lending import Lending


class Looking:
    """The part of the Backend contract that moves nothing."""

    def __init__(self, client: CdpClient, evidence: Evidence, lending: Lending) -> None:
        self._client = client
        self._evidence = evidence
        self._lending = lending

    async def stack(self, thread: str, start: int = 0, count: int = 20) -> Frames:
        return await self._evidence.stack(thread, start, count)

    async def capture(self, thread: str, bounds: Bounds) -> Capture:
        return await self._evidence.capture(thread, bounds)

    async def scopes(self, frame: str) -> tuple[Scope, ...]:
        return await self._evidence.scopes(frame)

    async def locals(self, frame: str, bounds: Bounds, start: int = 0) -> Values:
        return await self._evidence.locals(frame, bounds, start)

    async def expand(self, ref: str, bounds: Bounds, start: int = 0) -> Values:
        return await self._evidence.expand(ref, bounds, start)

    async def evaluate(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        self._evidence.touch()
        return await self._evidence.expressions.evaluate(frame, expressions, bounds, timeout)

    async def evaluate_safely(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        return await self._evidence.expressions.evaluate(frame, expressions, bounds, timeout, safe=True)

    async def assign(self, frame: str, target: str, value: str, bounds: Bounds) -> Value:
        self._evidence.touch()
        return await self._evidence.expressions.assign(frame, target, value, bounds)

    async def exception(self, thread: str) -> ExceptionInfo | None:
        return await self._evidence.exception()

    async def modules(self, start: int = 0, count: int = 100) -> Modules:
        return self._evidence.modules(start, count)

    async def source_text(self, file: str, frame: str | None) -> SourceText | None:
        return await self._lending.source_text(file, frame)

    async def running_text(self, frame: str) -> SourceText | None:
        return await self._lending.running_text(frame)

    # Below the vocabulary

    async def raw(self, frame: str | None, line: str) -> str:
        """A line of JavaScript, in V8's own words."""
        arguments: dict[str, Any] = {
            "expression": line,
            "silent": True,
            "includeCommandLineAPI": True,
            "generatePreview": True,
        }
        method = "Runtime.evaluate"
        if frame is not None and frame.isdigit() and self._evidence.held:
            method, arguments["callFrameId"] = (
                "Debugger.evaluateOnCallFrame",
                self._evidence.call(frame).get("callFrameId"),
            )
        self._evidence.touch()
        answer = await self._client.request(method, arguments)
        if isinstance(details := answer.get("exceptionDetails"), dict):
            raise EvalFailed(failure(details))
        return text_of(answer.get("result") or {})

    async def request(self, command: str, arguments: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        return await self._client.request(command, arguments, timeout=timeout)
