"""Letting a held program go on, and holding a running one, through DAP or the debugger's own console."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from ...errors import AdapterDied, NotFound, Try, Unsupported, WrongState
from ...model.backend import Capability, Move, Stopped
from ...model.values import Thread
from ..ending import Signs
from . import translate
from .breakpoints import Breakpoints
from .client import Body, DapClient, Refused
from .evidence import Evidence, wire_id
from .helper import Helper
from .launch import DapLaunch, Quirk
from .news import News

_REQUESTS: Mapping[Move, str] = {
    Move.CONTINUE: "continue",
    Move.NEXT: "next",
    Move.STEP: "stepIn",
    Move.FINISH: "stepOut",
    Move.NEXT_INSTRUCTION: "next",
    Move.STEP_INSTRUCTION: "stepIn",
    Move.STEP_BACK: "stepBack",
    Move.REVERSE: "reverseContinue",
}
_NEEDS: Mapping[Move, Capability] = {
    Move.NEXT_INSTRUCTION: Capability.INSTRUCTION_STEPS,
    Move.STEP_INSTRUCTION: Capability.INSTRUCTION_STEPS,
    Move.STEP_BACK: Capability.STEP_BACK,
    Move.REVERSE: Capability.STEP_BACK,
}
_STEPS = (Move.NEXT, Move.STEP, Move.FINISH, Move.NEXT_INSTRUCTION, Move.STEP_BACK)
TAKEN = 2.0
"""How long the answer to a move is waited for; that it was taken shows in what follows."""


class Moving:
    """The moves of one process."""

    tool: Any
    capabilities: frozenset[Capability]
    _client: DapClient
    _launch: DapLaunch
    _news: News
    _signs: Signs
    _breakpoints: Breakpoints
    _evidence: Evidence
    _helper: Helper | None
    _last_move: Move
    _last_moved: str | None

    async def threads(self, *, states: bool = False) -> tuple[Thread, ...]:
        raise NotImplementedError

    async def resume(self, move: Move, thread: str | None) -> None:
        if self._launch.is_dead:
            raise WrongState(f"a core is what a process left when it died: it cannot {move.value}")
        need = _NEEDS.get(move)
        if need is not None and need not in self.capabilities:
            if need is Capability.STEP_BACK and self._launch.can_record:
                raise Unsupported(f"{self.tool.tool} goes back only in a run that was recorded: dbg launch --record …")
            raise Unsupported(f"{self.tool.tool} cannot {move.value}", hint=Try("raw"))
        if self._news.stops.owes_step and move in _STEPS:
            of = f"that of another {self._launch.threads_are}"
            raise WrongState(
                f"{self.tool.tool} makes no step before {of} is over, which this stop has interrupted: `continue` goes on"
                " with that one, and a `pause` on the way gives it up",
                hint=Try("continue"),
            )
        await self._drop_old_step()
        self._last_move, self._last_moved = move, thread or self._news.last_thread
        self._news.stops.steps = move is not Move.CONTINUE
        await self._send_move(move, thread)

    async def _drop_old_step(self) -> None:
        """A step is over with the stop that came of it, wherever that is: no later move ends where that one would have."""
        if Quirk.FINISHES_OLD_STEPS not in self._launch.quirks or self._helper is None:
            return
        if self._last_move is not Move.CONTINUE and self._news.held.get(self._last_moved or "") != "step":
            await self._helper.call("drop_steps")

    @property
    def goes_back(self) -> bool:
        """Whether the last move was one back in time."""
        return self._last_move in (Move.STEP_BACK, Move.REVERSE)

    async def go_on(self, thread: str | None, move: Move | None = None) -> None:
        """Repeat the last move, or make this one: the stop that interrupted it was none that anybody asked for."""
        is_under_way = Quirk.FINISHES_OLD_STEPS in self._launch.quirks
        await self._send_move(move or (Move.CONTINUE if is_under_way else self._last_move), thread)

    async def let_run(self) -> None:
        """Have nothing hold the program any more."""
        await self._breakpoints.set(())
        if self._news.held:
            await self._send_move(Move.CONTINUE, None)

    async def pause_again(self, thread: str) -> None:
        """Let it run a little further, and hold it there."""
        await self._send_move(Move.CONTINUE, thread)
        await self.pause(thread)

    async def trip(self, stop: Stopped) -> bool:
        """A function that was only a name has been called: bind it to its line, and let the program run the step to it."""
        await self._breakpoints.look_for_symbols()
        if self._last_move is not Move.CONTINUE or not self._breakpoints.has_line(stop.breakpoints):
            return False
        await self._send_move(Move.CONTINUE, stop.thread)
        return True

    async def _send_move(self, move: Move, thread: str | None) -> None:
        thread = thread or self._news.last_thread or await self.any_thread()
        still_held = self._news.nobody_is_held()
        self._news.followed.clear()
        self._evidence.forget()
        answer = self._order(move, wire_id(thread, "thread"))
        # A program that goes straight into native code and keeps its interpreter to itself lets nobody answer: it moves.
        await asyncio.wait({answer}, timeout=TAKEN)
        if answer.done():
            try:
                answer.result()
            except Refused as refused:
                still_held()
                if move is Move.FINISH and "outermost frame" in refused.message:  # gdb's words
                    raise WrongState(
                        "no call of the program made this one: it ends with its thread", hint=Try("continue")
                    ) from None
                raise WrongState(f"the debugger refused to {move.value}: {refused.message}") from None
            except AdapterDied:
                await self._news.idle()
                if not self._signs.is_whole:  # else the program is over, and its end comes as an event
                    raise

    def _order(self, move: Move, thread: int) -> asyncio.Future[Body]:
        if self._is_helpers(move) and self._helper:
            return self._helper.send("move", how=move.value, threadId=thread)
        arguments: dict[str, Any] = {"threadId": thread}
        if move in (Move.NEXT_INSTRUCTION, Move.STEP_INSTRUCTION):
            arguments["granularity"] = "instruction"
        return self._client.send(_REQUESTS[move], arguments)

    def _is_helpers(self, move: Move) -> bool:
        return _NEEDS.get(move) in self._launch.adds

    async def any_thread(self) -> str:
        found = await self.threads()
        if not found:
            raise WrongState("the program has no thread that could move")
        return found[0].id

    async def _somebody(self) -> str:
        """Whom to hold, where all are held: gdb 18.1 lists nobody of a program behind an address while that runs."""
        try:
            return await self.any_thread()
        except Refused:
            return self._news.last_thread or "1"

    async def pause(self, thread: str | None) -> None:
        if Quirk.LOSES_EARLY_PAUSES in self._launch.quirks:
            with contextlib.suppress(TimeoutError):  # else it is asked all the same
                async with asyncio.timeout(TAKEN):
                    await self._news.followed.wait()
        target: int | str
        if thread is None and Quirk.PAUSES_ALL_BY_STAR in self._launch.quirks:
            target = "*"
        else:
            target = wire_id(thread or await self._somebody(), "thread")
        try:
            await self._client.request("pause", {"threadId": target})
        except Refused as refused:
            raise WrongState(f"the debugger refused to pause: {refused.message}") from None

    async def unpause(self) -> None:
        """Take back a pause that has not landed."""
        await self._send_move(Move.CONTINUE, None)

    async def jump(self, thread: str, file: str, line: int) -> None:
        if Capability.JUMP not in self.capabilities:
            raise Unsupported(f"{self.tool.tool} cannot jump", hint=Try("raw"))
        if self._launch.is_dead:
            raise WrongState("a core is what a process left when it died: it cannot jump")
        if Capability.JUMP in self._launch.adds and self._helper:
            await self._helper.call("jump", threadId=wire_id(thread, "thread"), file=file, line=line)
            self._news.tell_jump(thread)
            return
        try:
            body = await self._client.request("gotoTargets", {"source": {"path": file}, "line": line})
            targets = translate.items(body, "targets")
            if not targets:
                raise NotFound(f"no line to jump to at {file}:{line}")
            number = wire_id(thread, "thread")
            await self._client.request("goto", {"threadId": number, "targetId": targets[0].get("id")})
        except Refused as refused:
            if refused.message == "goto failed":  # debugpy 1.8.22 says no more than that
                why = "the debugger gives no reason, as where a call has only just come back and its line is not over"
                raise NotFound(f"cannot jump to line {line}: {why}", hint=Try("next")) from None
            raise NotFound(f"cannot jump to line {line}: {refused.message}") from None
