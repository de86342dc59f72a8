"""What a debugger tells by itself: its events, in order, as events of the model; who is held, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec.structs import replace

from ...errors import AdapterDied, StillframeError
from ...model.backend import Bounds, Continued, Move, Output, Stopped, ThreadChanged
from ...model.values import ExceptionInfo, Frame
from ...transport.process import Exit
from ...wire.dap import Message
from ..ending import Signs
from ..flow import Sequence, Told
from . import terms, translate
from .arrivals import Arrivals
from .breakpoints import Breakpoints
from .client import Body
from .crowd import holds
from .evidence import Evidence
from .launch import DapLaunch, Quirk
from .stops import StopFilter


class Debuggee(Protocol):
    """What the news are about."""

    def offer(self, body: Body) -> None: ...

    def introduce(self, body: Body) -> None: ...

    def read_output(self) -> None: ...

    @property
    def goes_back(self) -> bool: ...

    async def go_on(self, thread: str | None, move: Move | None = None) -> None: ...

    async def trip(self, stop: Stopped) -> bool: ...

    async def pause_again(self, thread: str) -> None: ...

    async def any_thread(self) -> str: ...


class News:
    """Takes the wire's events one after the other; a stop that nobody asked for goes no further."""

    def __init__(
        self,
        launch: DapLaunch,
        told: Told,
        signs: Signs,
        breakpoints: Breakpoints,
        evidence: Evidence,
        debuggee: Debuggee,
        arrivals: Arrivals,
    ) -> None:
        self._launch = launch
        self._told = told
        self._signs = signs
        self._breakpoints = breakpoints
        self._evidence = evidence
        self._debuggee = debuggee
        self._arrivals = arrivals
        self._sequence = Sequence(self._event)
        self._all_held = False
        self.stops = StopFilter(launch, evidence)
        self.initialized: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._doubtful: set[tuple[str, int]] = set()
        """Thread and number of a breakpoint whose condition raised there: the stop that follows is no hit of it."""
        self.held: dict[str, str] = {}
        """Thread to the reason for which it is held."""
        self._turns = 0
        """How often the program was sent on."""
        self._looked_in = 0
        """The turn of the stop that is being asked about: it is over if the program was sent on since."""
        self.began: set[str] = set()
        """Threads that were told to have begun, and not to have ended."""
        self._log_lines = terms.LogLines()
        self._forked = False
        self.threads_are_cut = False
        """The debugger said that there are more threads than it listed."""
        self.last_thread: str | None = None
        self.followed = asyncio.Event()
        """The debugger has said that the program goes on as it was last told to, or that it stands again."""
        self.followed.set()
        self.told_error: ExceptionInfo | None = None
        """What the last stop itself told of an error, for debuggers that cannot be asked about it."""
        self.refusal: str | None = None

    def add(self, message: Message) -> None:
        self._sequence.add(message)

    async def idle(self) -> None:
        """Return when everything that has come so far is told."""
        await self._sequence.idle()

    def close(self) -> None:
        self._sequence.close()

    def is_held(self, thread: str) -> bool:
        return self._all_held or thread in self.held

    def nobody_is_held(self) -> Callable[[], None]:
        """What is returned takes it back, for a program that turns out to stand where it stood."""
        self._turns += 1
        before, self.held = self.held, {}
        everyone, self._all_held = self._all_held, False

        def still_held() -> None:
            if not self.held:
                self.held, self._all_held = before, everyone

        return still_held

    def _event(self, message: Message) -> Awaitable[None] | None:
        body = message.get("body")
        body = body if isinstance(body, dict) else {}
        self._signs.replacing = False  # whoever still speaks was not replaced
        match message["event"]:
            case "stopped":
                self.followed.set()
                return self._stopped(body)
            case "continued":
                self.followed.set()
                self._continued(body)
            case "output":
                self._output(body)
            case "thread":
                self._thread_changed(body)
            case "breakpoint":
                self._breakpoints.event(body)
            case "initialized":
                if not self.initialized.done():
                    self.initialized.set_result(None)
            case "process":
                self._debuggee.introduce(body)
            case "capabilities":
                offers = body.get("capabilities")
                self._debuggee.offer(offers if isinstance(offers, dict) else {})
            case "exited":
                self._exited(translate.number(body.get("exitCode")))
            case "terminated":
                if not self._signs.terminated.done():
                    self._signs.terminated.set_result(None)
            case name if name == self._launch.helper:
                self._helper_event(body)
        return None

    # Stops

    def _stopped(self, body: Body) -> Awaitable[None] | None:
        if self._launch.is_dead and self.last_thread is not None:
            return None  # lldb-dap 19.1 tells every thread of a core, none of which ever moves: the first is news
        self.stops.owes_step = False
        stop = replace(translate.stopped(body, self._breakpoints.owners(body)), counts=not self._is_doubtful(body))
        if isinstance(ours := body.get(self._launch.helper or ""), dict):
            stop = self._annotated(stop, ours)
            if ours.get("follows") is True and stop.thread is not None:
                self._evidence.announced(stop.thread)
        if stop.reason == "watchpoint" and not stop.breakpoints:
            stop = self._watched(stop)
        if stop.reason == "function breakpoint" and self._breakpoints.trusts_functions:
            stop = replace(stop, reason="breakpoint" if stop.breakpoints else "entry")
        if self._is_first_of_all(body):
            stop = replace(stop, reason="no more history", notes=("this is where the recording begins",))
        if stop.reason == "breakpoint" and self._breakpoints.entry in (body.get("hitBreakpointIds") or ()):
            stop = replace(stop, reason="entry")
        if (
            stop.reason == "exception"
            and self._launch.core_stop
            and self._launch.core_stop.match(str(body.get("text")))
        ):
            stop = replace(stop, reason="died")
        if stop.reason == "exception" and (why := self._why_condition_failed(body)):
            self._told.put(Output("console", f"the condition of the breakpoint here raised {why}\n".encode()))
            stop = replace(stop, reason="breakpoint", counts=False)  # which one it is tells its place
        self.told_error = translate.told_error(body, self._launch) if stop.reason == "exception" else None
        # None named: looked up by its place. Several: one that always stops stands for others on its line.
        aside = body.get("preserveFocusHint") is True and Quirk.MISNAMES_STOPS in self._launch.quirks
        if (
            self._may_be_misnamed(stop)
            or aside
            or self.stops.may_be_detour(stop)
            or self.stops.must_look(stop)
            or (stop.reason == "breakpoint" and len(stop.breakpoints) != 1)
            or (stop.reason == "breakpoint" and self._breakpoints.is_waiting(stop.breakpoints))
        ):
            return self._look_at(stop, aside=aside)
        self._tell_stop(stop)
        return None

    def _is_first_of_all(self, body: Body) -> bool:
        """Whether a recording could not go back any further, which dlv 1.27.2 calls a breakpoint, and none of ours; or an error
        where it stood there already, before there was any goroutine."""
        if self._launch.replays is None or not self._debuggee.goes_back or body.get("hitBreakpointIds"):
            return False
        lost = body.get("reason") == "error" and "unknown goroutine" in (translate.text(body.get("text")) or "")
        return lost or body.get("reason") == "breakpoint"

    def _watched(self, stop: Stopped) -> Stopped:
        """A stop for watched data of which dlv 1.27.2 does not tell which: it is clear where there is one alone."""
        ids = self._breakpoints.watched
        if len(ids) < 2:
            return replace(stop, breakpoints=ids)
        return replace(
            stop, notes=(*stop.notes, f"{self._launch.tool.tool} does not tell which of {', '.join(ids)} it is")
        )

    def _why_condition_failed(self, body: Body) -> str | None:
        pattern = self._launch.condition_stop
        match = pattern.match(translate.text(body.get("text")) or "") if pattern else None
        return match[1].strip() if match else None

    def _is_doubtful(self, body: Body) -> bool:
        thread = str(body.get("threadId"))
        found = {number for told, number in self._doubtful if told == thread}
        self._doubtful = {each for each in self._doubtful if each[0] != thread}
        return bool(found.intersection(body.get("hitBreakpointIds") or ()))

    async def _look_at(self, stop: Stopped, *, aside: bool = False) -> None:
        """Ask about a stop before it is told: it may be no news, or lack the name of its breakpoint. One that stands aside came
        along with that of another thread, which decides whether the program goes on."""
        self._looked_in = self._turns
        try:
            if stop.thread is not None and (aside or self._may_be_misnamed(stop)):
                told = await self._evidence.why(stop.thread, aside=aside)
                if told.get("go_on") is True or told.get("old") is True:
                    if not aside and not told.get("old"):
                        await self._go_on(stop.thread)
                    return
                stop = self._renamed(stop, told)
            if self.stops.may_be_detour(stop):
                thread = stop.thread or await self._debuggee.any_thread()  # dlv 1.27.2 names none on a signal's stack
                detour = await self.stops.detour(thread)
                if detour and detour.again:
                    await self._debuggee.pause_again(thread)
                    return
                stop = replace(stop, notes=(*stop.notes, detour.unseen)) if detour else stop
            if not await self.stops.is_news(stop, self._breakpoints.symbols(stop.breakpoints)):
                await self._go_on(stop.thread)
                return
            if stop.reason == "function breakpoint":
                if await self._debuggee.trip(stop):
                    return
                checked = await self._checked(stop)
                if checked is None:
                    await self._go_on(stop.thread)
                    return
                stop = checked
            if stop.reason == "breakpoint" and self._breakpoints.is_waiting(stop.breakpoints):
                await self._breakpoints.look_for_symbols()
                if self._breakpoints.begins_later(stop.breakpoints):
                    await self._go_on(stop.thread, Move.CONTINUE)
                    return
            if stop.reason == "breakpoint" and stop.thread is not None:
                frames = (await self._evidence.stack(stop.thread, 0, 1)).frames
                ids = await self._that_hold(frames[0], stop.breakpoints) if frames else stop.breakpoints
                stop = replace(stop, breakpoints=ids)
        except AdapterDied:
            return  # its end is told by itself
        except StillframeError:
            pass  # what could not be checked is told as it came
        if self._looked_in == self._turns:
            self._tell_stop(stop)

    async def _go_on(self, thread: str | None, move: Move | None = None) -> None:
        """From a stop that nobody asked for; but the stop of another thread that was told holds this one as well."""
        if not self.held and self._looked_in == self._turns:
            await self._debuggee.go_on(thread, move)

    def _may_be_misnamed(self, stop: Stopped) -> bool:
        certain = stop.breakpoints and not self._breakpoints.conditions(stop.breakpoints)
        odd = stop.reason in ("exception", "watchpoint") or (stop.reason == "breakpoint" and not certain)
        return odd and Quirk.MISNAMES_STOPS in self._launch.quirks

    def _renamed(self, stop: Stopped, told: translate.Body) -> Stopped:
        """The stop in the words of our code inside the debugger."""
        owners = self._breakpoints.owners({"hitBreakpointIds": told.get("numbers")}) or stop.breakpoints
        for number, reason in (told.get("doubts") or {}).items():
            stop = replace(stop, counts=False)
            self._tell_doubt(int(number), reason)
        if stop.reason == "exception":
            self.told_error = None
        stop = replace(stop, reason=translate.text(told.get("reason")) or stop.reason, breakpoints=owners)
        return self._annotated(stop, told)

    def _annotated(self, stop: Stopped, told: translate.Body) -> Stopped:
        """The stop with what our code inside the debugger says along with it."""
        self._breakpoints.data_is_gone(each for each in told.get("gone") or () if isinstance(each, int))
        notes = tuple(each for each in told.get("notes") or () if isinstance(each, str))
        return replace(stop, notes=stop.notes + notes) if notes else stop

    async def _checked(self, stop: Stopped) -> Stopped | None:
        """A stop in a function that has no line to stand on: the condition was not asked in the target. None if it is false."""
        self._breakpoints.met(stop.breakpoints)
        frames = (await self._evidence.stack(stop.thread, 0, 1)).frames if stop.thread else ()
        conditions = self._breakpoints.conditions(stop.breakpoints) if frames else {}
        for id, condition in conditions.items():
            (answer,) = await self._evidence.evaluate(frames[0].id, (f"bool({condition})",), Bounds(), 5.0)
            if answer.error is not None:
                self._told.put(Output("console", f"the condition of {id} raised {answer.error}\n".encode()))
                return replace(stop, counts=False)
            if answer.value is None or answer.value.value != "True":
                return None
        return stop

    async def _that_hold(self, frame: Frame, named: tuple[str, ...]) -> tuple[str, ...]:
        """Of the breakpoints on this line, or those of them that were named, the ones whose own condition holds."""
        if named and self._launch.names_hits:
            return named
        found = []
        for wanted in self._breakpoints.standing_at(frame.file, frame.line):
            if named and wanted.id not in named:
                continue
            if (
                len(named) < 2
                or wanted.hit
                or not wanted.condition
                or await holds(self._evidence, frame.id, wanted.condition, self._launch.truth)
            ):
                found.append(wanted.id)
        return tuple(found) or named

    def _tell_stop(self, stop: Stopped) -> None:
        if stop.thread is not None:
            self.held[stop.thread] = stop.reason
            if len(self.held) == 1:
                self._evidence.look_ahead(stop.thread, self._breakpoints.pending_files)
        self._debuggee.read_output()  # what was printed before the stop is told before it
        self.last_thread = stop.thread
        self._all_held = stop.all_threads
        self._told.put(stop)

    def tell_jump(self, thread: str) -> None:
        """The point of execution of a held thread was moved by our own code, of which the debugger tells nothing."""
        self._tell_stop(Stopped(thread, "jump", all_threads=self._all_held))

    def _continued(self, body: Body) -> None:
        thread = translate.number(body.get("threadId"))
        everyone = body.get("allThreadsContinued", True) is not False or thread is None
        if everyone:
            self.nobody_is_held()
        else:
            self.held.pop(str(thread), None)
        self._told.put(Continued(None if everyone else str(thread)))

    # The rest

    def _exited(self, code: int | None) -> None:
        self._debuggee.read_output()  # the debugger may have written down more of it than it tells
        if (replayed := self._launch.replays) is not None:
            self._signs.exit_code, self._signs.signal = replayed.exit_code, replayed.signal
        elif code is not None and code < 0 and Quirk.NEGATIVE_EXIT_IS_SIGNAL in self._launch.quirks:
            self._signs.signal = Exit.of(code).signal
        else:
            self._signs.exit_code = code

    def _output(self, body: Body) -> None:
        said = self._log_lines.whole(translate.text(body.get("output")) or "")
        if said is None:
            return
        if line := terms.logged(self._launch, said):
            self._told.put(Output("log", line[1].encode("utf-8", "surrogatepass"), (line[0],)))
            return
        told = translate.output(body, log_points_are_stdout=Quirk.LOG_POINTS_ARE_STDOUT in self._launch.quirks)
        if told is not None and told.stream == "log" and self._launch.log_prefix is not None:
            told = replace(told, data=terms.plain(self._launch, str(body.get("output"))).encode())
        if told is not None and told.stream in ("stdout", "stderr") and Quirk.TALKS_AS_PROGRAM in self._launch.quirks:
            told = replace(told, stream="console")
        if self._launch.forks and (found := self._launch.forks.search(said.encode("utf-8", "replace"))):
            self.tell_fork(int(found[1]))
        if self._launch.threads_cut and self._launch.threads_cut.match(said):
            self.threads_are_cut = True
            return
        if self._launch.unfinished_step and self._launch.unfinished_step.match(said):
            self.stops.owes_step = True
            return
        better = self._launch.told_better
        if told is not None and not (better and told.stream == "console" and better.match(str(body.get("output")))):
            self._told.put(told)

    def _thread_changed(self, body: Body) -> None:
        thread = str(body.get("threadId", ""))
        alive = body.get("reason") != "exited"
        if alive and thread.isdecimal():
            self.began.add(thread)
        if not alive:
            self.held.pop(thread, None)
            self.began.discard(thread)
        self._told.put(ThreadChanged(thread, alive))

    def tell_fork(self, pid: int) -> None:
        """The program has another process now, which the debugger does not hold: said once."""
        if not self._forked:
            self._forked = True
            tool = self._launch.tool.tool
            way = f"{tool} holds one process, and those that are forked run without it; dbg attach --pid N joins one"
            self._told.put(Output("console", f"the program forked process {pid}: {way}\n".encode()))

    def _tell_doubt(self, number: int, reason: str) -> None:
        names = ", ".join(self._breakpoints.named(number)) or "a breakpoint"
        self._told.put(Output("console", f"the condition of {names} raised {reason}\n".encode()))

    def _helper_event(self, body: Body) -> None:
        """What our own code inside the target tells."""
        match body:
            case {"kind": "ending", "loaded": list(loaded)}:
                self._signs.last_word = True
                self._breakpoints.loaded(each for each in loaded if isinstance(each, str))
                self._breakpoints.known(translate.items(body, "functions"))
            case {"kind": "condition_error", "id": int(number), "threadId": int(thread), "message": str(message)}:
                self._doubtful.add((str(thread), number))
                self._tell_doubt(number, message)
            case {"kind": "log", "id": int(number), "text": str(text)}:
                data = f"{text}\n".encode("utf-8", "surrogatepass")
                self._told.put(Output("log", data, self._breakpoints.named(number)))
            case {"kind": "stop", "threadId": int(thread), "stop": found, "error": error}:
                whole = found if isinstance(found, dict) else None
                self._evidence.followed(str(thread), whole, translate.text(error))
            case {"kind": "signal", "signal": str(name)}:
                self._signs.signal = name
            case {"kind": "unstarted", "message": str(message)}:
                self._signs.unstarted = message
            case {"kind": "untraced", "message": str(message)}:
                self._told.put(Output("console", f"{message}\n".encode()))
            case {"kind": "started", "pid": int(pid)}:
                self._arrivals.expect(pid)
            case {"kind": "replacing"}:
                self._signs.replacing = True
            case {"kind": "refused", "message": str(message)}:
                self.refusal = message
