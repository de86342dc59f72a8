"""One DAP conversation: requests matched to answers by number alone, events in order, every wait with a deadline; what the
debugger asks of us is answered beside it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ...errors import AdapterDied, AdapterUnresponsive, EvalFailed, ProtocolError, StillframeError, Unsupported
from ...transport.streams import Line
from ...wire.dap import Decoder, Message, encode

Body = dict[str, Any]


class Refused(EvalFailed):
    """The debugger answered a request with success=false; the message is its own."""

    def __init__(self, command: str, message: str) -> None:
        super().__init__(message, detail={"request": command})
        self.command = command

    @property
    def word(self) -> str:
        """The machine word that our helper puts in front of `: `."""
        return self.message.partition(": ")[0]


_AT_ONCE = 5.0
_SAID = 80
"""Characters that are told of what somebody said who is no debugger."""
_KEPT = ": the program runs, and is perhaps in native code that lets nobody else run"


class DapClient:
    """Speaks DAP on a line. `on_event` gets event messages in order; `on_end` is called once, with the reason."""

    def __init__(
        self,
        line: Line,
        *,
        on_event: Callable[[Message], None],
        on_end: Callable[[StillframeError], None],
        on_request: Callable[[str, Body], Awaitable[Body]] | None = None,
        autopsy: Callable[[], Awaitable[str]] | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._line = line
        self._on_event = on_event
        self._on_end = on_end
        self._on_request = on_request
        self._answering: set[asyncio.Task[None]] = set()
        self._autopsy = autopsy
        self._timeout = timeout
        self.runs_inside: Callable[[], bool] = lambda: False
        """Whether the debugger is inside a program that runs: then it answers at once, or is kept from answering."""
        self._examining: asyncio.Task[None] | None = None
        self._decoder = Decoder()
        self._seq = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Body]]] = {}
        self._expected: set[asyncio.Future[Body]] = set()
        self.ended: StillframeError | None = None
        self.junk: Counter[str] = Counter()
        """What came that nobody asked for, by kind: ignored, but not forgotten."""
        self._is_debugger = False
        """Whether anything came that a debugger says."""
        self.heard = 0
        """Bytes that have come."""
        line.listen(self._bytes, self._line_ended)

    def send(self, command: str, arguments: Mapping[str, Any] | None = None) -> asyncio.Future[Body]:
        """Send a request; the future holds the answer's body, or the error. Whoever takes it sets the deadline."""
        self._seq += 1
        answer: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        if self.ended:
            answer.set_exception(self.ended)
            return answer
        self._waiting[self._seq] = (command, answer)
        message: Message = {"seq": self._seq, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        self._line.write(encode(message))
        return answer

    def expect(self) -> asyncio.Future[Body]:
        """For what was announced, and comes as an event: whoever hears it sets the result. It fails as an answer would."""
        expected: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        if self.ended:
            expected.set_exception(self.ended)
            return expected
        self._expected.add(expected)
        expected.add_done_callback(self._expected.discard)
        return expected

    async def request(
        self, command: str, arguments: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Body:
        """Send a request and wait for its answer, no longer than the deadline."""
        return await self.settle(self.send(command, arguments), command, timeout)

    async def settle(self, answer: asyncio.Future[Body], command: str, timeout: float | None = None) -> Body:
        """Wait for an answer to something sent before."""
        limit = self.patience if timeout is None else timeout
        try:
            async with asyncio.timeout(limit):
                return await answer
        except TimeoutError:
            why = _KEPT if self.runs_inside() else ""
            raise AdapterUnresponsive(f"the debugger did not answer {command} within {limit:g} s{why}") from None

    @property
    def is_owed_an_answer(self) -> bool:
        """Whether something that was sent has not been answered so far."""
        return bool(self._waiting)

    @property
    def patience(self) -> float:
        """How long an answer is waited for, in seconds, unless said otherwise."""
        return min(self._timeout, _AT_ONCE) if self.runs_inside() else self._timeout

    def close(self) -> None:
        """End the conversation from our side; what still waits fails."""
        self._line.close()
        if self._examining is not None:
            self._examining.cancel()
        for task in self._answering:
            task.cancel()
        self._finish(AdapterDied("the connection to the debugger was closed"))

    # The reader's side

    def _bytes(self, data: bytes) -> None:
        self.heard += len(data)
        try:
            messages = self._decoder.feed(data)
        except ProtocolError as error:
            self._line.close()
            self._finish(error)
            return
        for message in messages:
            self._is_debugger = True
            if not self.ended:
                self._message(message)

    def _message(self, message: Message) -> None:
        kind = message.get("type")
        if kind == "response" and isinstance(number := message.get("request_seq"), int):
            self._response(number, message)
        elif kind == "event" and isinstance(message.get("event"), str):
            self._on_event(message)
        elif kind == "request" and isinstance(command := message.get("command"), str):
            self._asked(message, command)
        else:
            self.junk["no message"] += 1

    def _response(self, number: int, message: Message) -> None:
        command, answer = self._waiting.pop(number, (None, None))
        if answer is None or command is None:
            self.junk["answer to nothing"] += 1
            return
        if answer.done():  # its caller gave up waiting
            return
        if message.get("success", False):
            body = message.get("body")
            answer.set_result(body if isinstance(body, dict) else {})
        else:
            answer.set_exception(Refused(command, failure_text(message)))
            answer.exception()  # mark as seen: a caller that gave up must not be reported by the loop

    def _asked(self, message: Message, command: str) -> None:
        """A reverse request: it is answered in a task of its own, since what it asks for may take a while."""
        arguments = message.get("arguments")
        work = self._answer(message.get("seq", 0), command, arguments if isinstance(arguments, dict) else {})
        task = asyncio.get_running_loop().create_task(work)
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, number: int, command: str, arguments: Body) -> None:
        answer: Message = {"type": "response", "request_seq": number, "command": command}
        try:
            if self._on_request is None:
                raise Unsupported(f"this client does not support {command}")
            answer |= {"success": True, "body": await self._on_request(command, arguments)}
        except StillframeError as error:
            self.junk[f"reverse request {command}"] += 1
            body = {"error": {"id": 1, "format": error.message}}
            answer |= {"success": False, "message": "notSupported", "body": body}
        self._seq += 1
        self._line.write(encode({"seq": self._seq, **answer}))

    def _line_ended(self, reason: str | None) -> None:
        text = "the debugger's connection ended" if self._decoder.idle else "the debugger stopped in mid-message"
        if self._decoder.noise and not self._is_debugger:
            said = self._decoder.noise.split(b"\n")[0][:_SAID].decode("utf-8", "replace").strip()
            text = f"what answers there speaks no DAP; it said {said!r}"
        if self.ended or self._autopsy is None:
            self._finish(AdapterDied(text + (f": {reason}" if reason else "")))
        elif self._examining is None:
            self._examining = asyncio.get_running_loop().create_task(self._examine(text, self._autopsy))

    async def _examine(self, text: str, autopsy: Callable[[], Awaitable[str]]) -> None:
        """Give the process behind the line a moment to be found dead, so that the error can say how."""
        self._finish(AdapterDied(text + await autopsy()))

    def _finish(self, error: StillframeError) -> None:
        if self.ended:
            return
        self.ended = error
        waiting, self._waiting = self._waiting, {}
        self._on_end(error)
        for answer in (*(each for _, each in waiting.values()), *self._expected):
            if not answer.done():
                answer.set_exception(error)
                answer.exception()


def failure_text(message: Message) -> str:
    """The reason in a failed answer: `body.error.format` with its variables carries the real one."""
    body = message.get("body")
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and isinstance(error.get("format"), str):
        text: str = error["format"]
        variables = error.get("variables")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            text = text.replace("{" + str(name) + "}", str(value))
        return text
    reason = message.get("message")
    return reason if isinstance(reason, str) and reason else f"{message.get('command') or 'the request'} failed"
