"""Letting the program go on, by lines as a reader counts them, and telling the pauses that are stops from those that are ours.

V8 steps from one position to the next, several on a line; it pauses once more where a function gives back its value; it
tells no value when a step leaves a function. What is ours is sent on its way without a word: a module that is about to
run, a position on a line that was told already, a return that was waited for to learn its value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ...errors import AdapterUnresponsive, StillframeError, Try, Unsupported, WrongState
from ...model.backend import Bounds, Move, Output, Stopped
from ...model.outcomes import AT_RETURN
from ...model.values import Value
from .breakpoints import Breakpoints
from .callers import Callers
from .catching import Catching
from .client import Body, CdpClient
from .doors import Door
from .evidence import Evidence
from .finishing import RESUME, STEPS, Departures, unfinished
from .frames import Held, position
from .journeys import Journey, remove_own, set_at, set_own
from .loading import ModuleLoading
from .pausing import BY_ITSELF, PauseOrder
from .retrying import Retrying
from .scripts import Scripts
from .suspending import Kind, suspending
from .texts import Texts
from .wording import Wording

THREAD = "1"
"""An isolate has one thread; workers are sessions of their own."""

_ARRIVES = 10.0


class Mover:
    """One isolate's pauses and moves."""

    def __init__(
        self,
        client: CdpClient,
        scripts: Scripts,
        texts: Texts,
        evidence: Evidence,
        breakpoints: Breakpoints,
        loading: ModuleLoading,
        tell: Callable[[Stopped | Output], None],
        *,
        brittle: bool,
    ) -> None:
        self._client = client
        self._scripts = scripts
        self._evidence = evidence
        self._breakpoints = breakpoints
        self._loading = loading
        self._tell = tell
        self._journey: Journey | None = None
        self._at_end = False
        """The held call has nothing left to do but to give its value to nobody, and that was told."""
        self._calls = evidence.calls
        self._wording = Wording(scripts, texts)
        self._callers = Callers(scripts, evidence.teller, brittle=brittle)
        self._departures = Departures(client, scripts, self._wording, self._note_return)
        self._arrival: tuple[int, asyncio.Future[Held]] | None = None
        """Somebody waits for the next position, which is no stop."""
        self._door: Door | None = None
        """It is on its way into a module whose first line, or whose text, is to be seen before it runs."""
        self.order = PauseOrder(client, scripts, evidence.teller, brittle=brittle)
        self._paused = asyncio.Event()
        self.restarting = False
        self._overtaken = False
        """An error stopped the program in the middle of a step. V8 (of Node 18 to 24) keeps such a step when it is told to go on,
        and pauses once more where the error is caught."""
        self.compile_id = ""
        self.function_id = ""
        """Where `vm` makes a function of a module's text."""
        self.uncaught_id = ""
        self.catching = Catching(client, scripts, evidence, self._wording)
        self._retrying = Retrying(client, scripts, evidence, breakpoints)
        self.exit_id: str | None = None
        self.entry = False
        """The first line of the program is to be told as a stop."""
        self.main = ""
        """The file of the program, where it is one."""

    # Going on

    async def go(self, move: Move) -> None:
        """Let the program go on; the stop comes by itself."""
        held = self._evidence.need_held()
        if move is not Move.CONTINUE and move not in STEPS:
            raise Unsupported(f"node cannot {move.value}", hint=Try("raw"))
        self._evidence.returned = []
        is_ours = self._evidence.lost_error is not None  # it is held in a call of our own code: that is none to step in
        if move is Move.CONTINUE or is_ours:
            self._journey = None
            self._calls.left(0)
            await self._send(RESUME, far=True)
            return
        if held.at_return and not self._at_end and await self._departures.is_nobodys(held):
            await self._note_return(held, leaves=False)
            await self._stop(held, AT_RETURN)
            return
        journey = self._journey = Journey.start(move, held, self._written(held))
        journey.may_pass = 0 if self._is_made_up(held) else journey.may_pass
        await self._send(await self._departures.begin(journey, held))

    async def _send(self, method: str, *, far: bool = False) -> None:
        self._evidence.moved(far=far)
        await self._breakpoints.hold(False)
        self._client.order(method)

    async def _note_return(self, held: Held, leaves: bool = True) -> None:
        if leaves:
            self._calls.left(held.depth)
        name = self._evidence.teller.frames(held)[0].function
        try:
            value: Value = await self._evidence.asking.describe(name, held.top["returnValue"], Bounds())
        except StillframeError:
            return
        self._evidence.returned.append(value)

    def last_words(self) -> bytes:
        """What became of a step that the program's end has overtaken, where that is not plain to see."""
        journey = self._journey
        if lost := self.catching.lost_error:
            return f"nobody caught {lost}, and V8 lost it: without a debugger the program fails by it\n".encode()
        return b"" if journey is None else unfinished(journey, self._evidence.teller, self._evidence.returned)

    async def to_return(self) -> Held:
        """Run the `return` that the program is held at, up to where the function gives back its value."""
        held = self._evidence.need_held()
        if self._evidence.lost_error is not None:
            raise WrongState("the calls that threw it are gone: none is left to return from")
        if not await self._wording.is_returning(held):
            raise WrongState("the program is not at the return of a function; go to its `return` line first")
        arrived: asyncio.Future[Held] = asyncio.get_running_loop().create_future()
        self._arrival = (held.depth, arrived)
        try:
            await self._client.request("Debugger.stepOver")
            async with asyncio.timeout(_ARRIVES):
                found = await arrived
        except TimeoutError:
            raise WrongState("the function did not come to its return") from None
        finally:
            self._arrival = None
        if not found.at_return or found.depth != held.depth:
            raise WrongState("the `return` did not come to its end: something in it stopped the program, or threw")
        return found

    async def is_waiting(self, held: Held) -> bool:
        """Whether it was paused while it waited for another thread, as far as the text tells: V8 has no call for that."""
        return not held.hits and held.reason in BY_ITSELF and await self._wording.is_waiting(held)

    # Pauses

    def expect_restart(self, likely: bool) -> None:
        """Whether the held call may be begun again: then the next pause is that."""
        self.restarting = likely
        self._paused.clear()

    async def begun_again(self) -> None:
        """Wait until the held call is held at its beginning."""
        try:
            async with asyncio.timeout(_ARRIVES):
                await self._paused.wait()
        except TimeoutError:
            raise AdapterUnresponsive("the function that was changed was not begun again") from None

    async def paused(self, body: Body) -> None:
        """A `Debugger.paused`: tell it, or go on."""
        held = Held.of(body)
        held.calls.taken(self._evidence.teller.unwrap)
        self._evidence.held = held
        if self._has_moved_on(held):
            self._evidence.look_ahead()
        if self._arrival is not None and not held.hits and held.reason in BY_ITSELF:
            if not self._arrival[1].done():
                self._arrival[1].set_result(held)
            return
        reasons = held.reasons
        if "instrumentation" in reasons:
            await self._loading.instrumented(held)
            if len(reasons) == 1 and not self._breakpoints.standing(held.hits):
                await self._after_instrumentation(held)
                return
        await self._breakpoints.hold(True)
        if self.compile_id in held.hits:
            await self._after_compile(held, rewritten=await self._loading.compiled(held))
            return
        if self.function_id in held.hits:
            await self._loading.made_function(held)
            await self._go_on_behind()
            return
        if self._door is not None and not await self._through(held, self._door):
            return
        if self.uncaught_id in held.hits:
            await self._uncaught(held)
            return
        if held.reason in ("exception", "promiseRejection"):
            await self._thrown(held)
            return
        if self.exit_id in held.hits:
            await self._stop(held, "exit")
            return
        if held.hits and (self._journey is None or not self._journey.owns(held.hits)):
            await self._hit(held)
            return
        if self.order.lets_go(held, stepping=self._journey is not None):
            await self._send(RESUME, far=True)
            return
        if onward := self.order.onward(held):
            await self._send(onward, far=onward == RESUME)
            return
        if self._journey is not None:
            await self._landed(held, self._journey)
            return
        if await self._is_rest_of_a_step(held):
            await self._send(RESUME, far=True)
            return
        await self._stop(held, *self._why(held))

    def _has_moved_on(self, held: Held) -> bool:
        """Whether a step seems to have come to its next line, so that its variables are asked for before anything is judged:
        V8 is at work on them meanwhile, and where it was no stop nobody takes the answer."""
        journey = self._journey
        if journey is None or journey.move is Move.FINISH or held.hits or held.reason not in BY_ITSELF:
            return False
        if journey.own or journey.outer or held.at_return or self._breakpoints.wants_scripts:
            return False  # there is more to be asked or to be done first
        return journey.line is None or self._written(held) != journey.written

    def _written(self, held: Held) -> tuple[str, int] | None:
        """The line of the user's at which the program is held, whatever line of what runs that is."""
        spot = self._scripts.spot(*position(held.top))
        return (spot.file, spot.line) if spot is not None else None

    def _is_made_up(self, held: Held) -> bool:
        return self._scripts.hides_library and self._scripts.is_made_up(*position(held.top))

    async def _is_rest_of_a_step(self, held: Held) -> bool:
        """Whether V8 goes on with a step that an error has overtaken, which was given up when that was told."""
        if not self._overtaken or self.order.is_given or not set(held.reasons) <= BY_ITSELF:
            return False
        self._overtaken = False
        return not await self._wording.begins(held, "debugger")

    def _why(self, held: Held) -> tuple[str, str | None]:
        if self.order.is_given:
            return "pause", None
        if self.restarting:
            return "restart", None
        if held.reason == "Break on start":  # of a program that somebody else started with --inspect-brk
            return "entry", None
        if held.reason == "OOM":
            return "out of memory", "the heap is almost full"
        return "debugger statement", None

    async def _stop(
        self, held: Held, reason: str, description: str | None = None, ids: tuple[str, ...] = (), *,
        counts: bool = True, notes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        if self._journey is not None:
            notes += self._gone_elsewhere(held, self._journey, reason)
            await remove_own(self._client, self._journey)
        self._overtaken = reason == "exception" and (self._overtaken or self._journey is not None)
        self._journey, self.restarting, self._at_end = None, False, reason == AT_RETURN
        self.order.fulfilled()
        self._paused.set()
        self._calls.left(held.depth + 1)
        self._tell(Stopped(THREAD, reason, description, ids, all_threads=True, counts=counts, notes=notes))

    def _gone_elsewhere(self, held: Held, journey: Journey, reason: str) -> tuple[str, ...]:
        """A step that left a call which nobody waits for ends wherever the program stops next: nothing was returned to there."""
        returned = self._evidence.returned
        if not journey.leaving or not returned or (journey.move is Move.FINISH and reason in ("step", AT_RETURN)):
            return ()
        passed_by = reason == "step" and journey.kind is Kind.PLAIN and journey.back not in (0, held.depth)
        if reason != "exception" and not passed_by and journey.leads_back_to(held, self._evidence.teller.is_user):
            return ()
        self._evidence.returned = []
        return (f"{returned[-1].name} returned {returned[-1].value} before",)

    async def _after_instrumentation(self, held: Held) -> None:
        """On into a module. V8 (of Node 20) does not step from here, and has forgotten a step that came here."""
        if self.entry and self._is_main(held):
            self._journey = Journey(Move.STEP, 0, None, entering=True)
        journey = self._journey
        if journey is not None and (journey.entering or (journey.leaving and self._evidence.teller.is_user(held.top))):
            journey.line = None
            journey.own += await set_at(self._client, [held.top.get("location") or {}])
        elif journey is not None:
            await self._keep_going(journey)
        await self._send(RESUME)

    async def _keep_going(self, journey: Journey) -> None:
        """A step has come to a module that is loaded in its course: it goes on behind that."""
        if not journey.own and not (journey.outer and journey.move is Move.FINISH):
            journey.own = await set_own(self._client, journey.call, returns=False)

    def _is_main(self, held: Held) -> bool:
        script = self._scripts.get(position(held.top)[0])
        if self._evidence.teller.is_runtime(held.top):
            return False
        return script is not None and script.user and self.main in ("", "-", self._scripts.real(script.path))

    async def _enter(self, held: Held) -> None:
        self.entry = self._breakpoints.entry = False
        journey = self._journey = self._journey or Journey(Move.STEP, 0, None, entering=True)
        if journey.entering and journey.passes_made(self._is_made_up(held)):
            await self._send(STEPS[Move.STEP])
            return
        if journey.has_passed and held.depth > 1 and not self._evidence.teller.is_user(held.top):
            await self._send(STEPS[Move.FINISH])
            return
        await self._breakpoints.hold(True)
        await self._stop(held, "entry")

    async def _after_compile(self, held: Held, *, rewritten: bool) -> None:
        """On from the loader: into the module where its first line is wanted, or the text that will run; or just on."""
        if self.entry or rewritten:
            door = self._door = Door(self._client, held, self._breakpoints.blackbox)
            if await door.approach(held):
                self._evidence.moved(far=False)
                return
            self._door = None
            await door.close()
        await self._go_on_behind()

    async def _go_on_behind(self) -> None:
        if self._journey is not None:
            await self._keep_going(self._journey)
        await self._send(RESUME)

    async def _through(self, held: Held, door: Door) -> bool:
        """At the first line of a module that was to be seen, or on the way there. Whether this is a stop besides."""
        if not door.is_open(held) and not self._breakpoints.standing(held.hits) and await door.approach(held):
            self._evidence.moved(far=False)
            return False
        self._door = None
        await door.close()
        if self.entry and door.is_open(held) and not self._evidence.teller.is_runtime(held.top):
            await self._enter(held)
            return False
        await self._loading.entered(held)
        if self._breakpoints.standing(held.hits):
            return True
        if self._journey is not None:
            await self._keep_going(self._journey)
        await self._send(RESUME)
        return False

    async def _uncaught(self, held: Held) -> None:
        if not await self.catching.is_end(held):
            await self._go_on(held)
            return
        await self._stop(held, "exception", notes=("the calls that threw it are gone, and their values with them",))

    async def _thrown(self, held: Held) -> None:
        if await self.catching.is_stop(held):
            await self._stop(held, "exception")
        else:
            await self._go_on(held)

    async def _go_on(self, held: Held) -> None:
        """Past a pause that is nobody's, as the program was going before it. V8 has forgotten a step that this was no part of."""
        journey = self._journey
        if journey is not None and not journey.is_at(held):
            await self._keep_going(journey)
            journey = None
        await self._send(STEPS[journey.move] if journey else RESUME)

    async def _hit(self, held: Held) -> None:
        if self.restarting:  # it did not come here by itself
            await self._stop(held, "restart")
            return
        hit = await self._retrying.judge(held)
        if hit is None:
            await self._missed(held)
            return
        for said in hit.said:
            self._tell(Output("console", said.encode()))
        if self._journey is not None and await self._may_be_another(held, self._journey):
            self._calls.left(held.depth)
        await self._stop(held, "breakpoint", None, hit.ids, counts=hit.counts)

    async def _missed(self, held: Held) -> None:
        """A condition was meant otherwise than V8 took it, and does not hold: the program goes on, or a step has come here."""
        if self._journey is not None and self._journey.is_at(held):
            await self._landed(held, self._journey)
        else:
            await self._go_on(held)

    async def _may_be_another(self, held: Held, journey: Journey) -> bool:
        """Whether a breakpoint may be of another call than the one that the step began in, which was left or waits."""
        if journey.move is Move.FINISH or journey.line is None:
            return held.depth <= journey.depth
        return journey.kind is not Kind.PLAIN and bool(suspending([await self._wording.line(journey.call)], 0, 0))

    # Steps

    async def _landed(self, held: Held, journey: Journey) -> None:
        """A step came to a position: the next line, or one that is not worth telling."""
        if self.order.is_given:
            await self._stop(held, "pause")
            return
        if journey.entering:
            await self._enter(held)
            return
        if journey.move is Move.FINISH and (order := await self._departures.finishing(held, journey)):
            await self._send(order)
            return
        if journey.over:
            await self._stop(held, AT_RETURN)
            return
        if journey.is_deeper(held):
            await self._go_on(held)
            return
        if self._scripts.hides_library and not self._evidence.teller.is_user(held.top):
            if self._callers.may_call(held, journey):
                await self._send(STEPS[Move.STEP])
                return
            journey.led_out = held.depth > 1
            await self._send(STEPS[Move.FINISH] if journey.led_out else RESUME)
            return
        led_out, journey.led_out = journey.led_out, False
        if journey.passes_made(self._is_made_up(held)):
            await self._send(STEPS[journey.move])
            return
        same = held.depth == journey.depth and journey.line is not None and self._written(held) == journey.written
        if held.at_return and (same or await self._wording.is_closing(held)):
            journey.over = await self._departures.is_nobodys(held)
            await self._note_return(held, not journey.over)
            if journey.over:
                await self._stop(held, AT_RETURN)
                return
            journey.line, journey.leaving = None, True
            journey.back = self._departures.back(held)
            await self._send(STEPS[journey.move])
            return
        if same and journey.move is not Move.FINISH and (await self._is_further(held, journey) or led_out):
            await self._send(STEPS[journey.move])
            return
        await self._stop(held, "step")

    async def _is_further(self, held: Held, journey: Journey) -> bool:
        """Whether a position of the line where a step began is one more on its way, and no other round of a loop."""
        at = position(held.top)[1:]
        since = journey.passed_since(at)
        if since is not None and not await self._wording.are_arguments(held, since):
            return False
        journey.pass_by(at)
        return True
