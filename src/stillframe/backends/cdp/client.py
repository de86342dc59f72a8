"""One conversation with an inspector: requests matched to answers by number, events in order, every wait with a deadline."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...errors import AdapterDied, AdapterUnresponsive, EvalFailed, StillframeError
from ...model import exact
from ...transport.websocket import Messages
from .calls import Body as Body
from .calls import decode
from .pace import Pace

_encode = msgspec.json.Encoder().encode


class Refused(EvalFailed):
    """The inspector answered a request with an error; the message is its own."""

    def __init__(self, method: str, message: str) -> None:
        super().__init__(message, detail={"request": method})
        self.method = method


class CdpClient:
    """Speaks the inspector's protocol over a stream of messages."""

    def __init__(
        self,
        messages: Messages,
        *,
        on_event: Callable[[str, Body], None],
        on_end: Callable[[StillframeError], None],
        timeout: float = 30.0,
    ) -> None:
        self._messages = messages
        self._pace = Pace(messages.write)
        self._on_event = on_event
        self._on_end = on_end
        self._timeout = timeout
        self._number = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Body] | None]] = {}
        """What was asked, by its number; orders without anybody who waits."""
        self.on_refusal: Callable[[Refused], None] = lambda refused: None
        """Takes the refusals of orders."""
        self._parting = False
        self._gathered: list[bytes] | None = None
        """What is to be written together, while things are said that belong together."""
        self.heard = 0
        """Bytes of messages that have come."""
        self.ended: StillframeError | None = None
        self.why_ended: str | None = None
        """What the other side did to end it, where that is known."""
        messages.listen(self._message, self._line_ended)

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> asyncio.Future[Body]:
        """Send a request; the future holds its result, or the error. Whoever takes it sets the deadline."""
        answer: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        if self.ended:
            answer.set_exception(self.ended)
            answer.exception()  # seen: some answers are nobody's
            return answer
        self._write(self._numbered(method, params, answer))
        return answer

    def send_all(self, words: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Send requests whose answers are nobody's, in one go: each write wakes the other side."""
        if not self.ended:
            self._write(*(self._numbered(method, params, asyncio.Future()) for method, params in words))

    def part(self, words: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Send what lets the program go. From now on no step is ordered: where the last words themselves come to a pause that
        was asked for before, V8 (of Node 20) would end the program by a step that reaches it behind them."""
        self.send_all(words)
        self._parting = True

    def order(self, method: str) -> None:
        """Send a request for whose answer nobody waits, since what it brings about tells itself; a refusal is told."""
        if not self.ended and not self._parting:
            self._write(self._numbered(method, None, None))

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        """Within this, what is said in one turn of the event loop is written in one go: each write wakes the other side, which
        is quick to take our place where processors are few."""
        self._gathered = []
        try:
            yield
        finally:
            self._let_out()
            self._gathered = None

    def _write(self, *messages: bytes) -> None:
        if self._gathered is None:
            self._pace.write(*messages)
            return
        if not self._gathered:
            asyncio.get_running_loop().call_soon(self._let_out)
        self._gathered += messages

    def _let_out(self) -> None:
        if self._gathered:
            messages, self._gathered = self._gathered, []
            self._pace.write(*messages)

    def _numbered(self, method: str, params: Mapping[str, Any] | None, answer: asyncio.Future[Body] | None) -> bytes:
        self._number += 1
        self._waiting[self._number] = (method, answer)
        message = {"id": self._number, "method": method, "params": params or {}}
        try:
            return _encode(message)
        except UnicodeEncodeError:  # half a surrogate pair, of a text of the program's that goes back to it
            return exact.encode(message)

    def awaits_only(self, method: str) -> bool:
        """Whether answers are waited for, and to nothing else than such requests."""
        return bool(self._waiting) and all(asked == method for asked, _ in self._waiting.values())

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Body:
        """Send a request and wait for its result, no longer than the deadline."""
        return await self.settle(self.send(method, params), method, timeout)

    async def settle(self, answer: asyncio.Future[Body], method: str, timeout: float | None = None) -> Body:
        """Wait for the result of something sent before."""
        if answer.done():
            return answer.result()
        limit = self._timeout if timeout is None else timeout
        timer = asyncio.get_running_loop().call_later(limit, _give_up, answer, method, limit)
        try:
            return await answer
        finally:
            timer.cancel()

    def close(self) -> None:
        """End the conversation from our side; what still waits fails."""
        self._let_out()
        self._pace.finish()
        self._messages.close()
        self._finish(AdapterDied("the connection to the inspector was closed"))

    def _message(self, data: bytes) -> None:
        self.heard += len(data)
        try:
            message = decode(data)
        except msgspec.DecodeError:
            return  # no message of this protocol; whoever waits has a deadline
        if isinstance(number := message.get("id"), int):
            self._answered(number, message)
        elif isinstance(method := message.get("method"), str):
            params = message.get("params")
            self._on_event(method, params if isinstance(params, dict) else {})

    def _answered(self, number: int, message: Body) -> None:
        self._pace.answered(number)
        method, answer = self._waiting.pop(number, (None, None))
        error = message.get("error")
        if method is None or (answer is not None and answer.done()):
            return
        if isinstance(error, dict):
            refused = Refused(method, str(error.get("message") or f"{method} failed"))
            if answer is None:
                self.on_refusal(refused)
                return
            answer.set_exception(refused)
            answer.exception()  # seen: its caller may have given up waiting
        elif answer is not None:
            result = message.get("result")
            answer.set_result(result if isinstance(result, dict) else {})

    def _line_ended(self, reason: str | None) -> None:
        self.why_ended = reason
        self._finish(AdapterDied("the inspector's connection ended" + (f": {reason}" if reason else "")))

    def _finish(self, error: StillframeError) -> None:
        if self.ended:
            return
        self.ended = error
        waiting, self._waiting = self._waiting, {}
        for _method, answer in waiting.values():
            if answer is not None and not answer.done():
                answer.set_exception(error)
                answer.exception()
        self._on_end(error)


def _give_up(answer: asyncio.Future[Body], method: str, limit: float) -> None:
    if not answer.done():
        answer.set_exception(AdapterUnresponsive(f"the inspector did not answer {method} within {limit:g} s"))
