"""What a backend may offer beyond the contract, a protocol each; where it has a Capability, the backend lists that too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from .backend import Binding, Bounds, Evaluated, Stopped
from .values import Frame, Value


@runtime_checkable
class Jumps(Protocol):
    async def jump(self, thread: str, file: str, line: int) -> None:
        """Move the point of execution without running what lies between; a `Stopped` with reason jump follows."""
        ...


@runtime_checkable
class Raw(Protocol):
    async def raw(self, frame: str | None, line: str) -> str: ...


@runtime_checkable
class Requests(Protocol):
    async def request(self, command: str, arguments: Mapping[str, Any], timeout: float) -> dict[str, Any]: ...


@runtime_checkable
class Feeds(Protocol):
    async def feed(self, data: bytes, *, eof: bool) -> None:
        """Write to the program's standard input."""
        ...


@runtime_checkable
class Crowds(Protocol):
    async def also_stopped(self) -> tuple[Stopped, ...]:
        """Threads that stand at a breakpoint of their own where the debugger told of one stop for all of them."""
        ...


@runtime_checkable
class CutsThreads(Protocol):
    async def lists_all_threads(self) -> bool:
        """Whether `threads` told all that there are when it was last asked."""
        ...


@runtime_checkable
class KnowsClasses(Protocol):
    async def lacking_classes(self, names: Sequence[str]) -> Mapping[str, str | None]:
        """Those of these names that no exception class of the program has by now, each with the nearest that one has."""
        ...


@runtime_checkable
class Prints(Protocol):
    def read_output(self) -> None:
        """Take in what the program has printed by now, as events."""
        ...


@runtime_checkable
class Rechecks(Protocol):
    async def recheck(self) -> tuple[Binding, ...]:
        """What has become of pending breakpoints by now; works while the program runs."""
        ...


@runtime_checkable
class Leaves(Protocol):
    async def left_behind(self, *, end: bool) -> tuple[int, ...]:
        """Processes that the program started and detached from its family and that still live; `end` ends them first."""
        ...


@runtime_checkable
class Wraps(Protocol):
    """A process that is run for those it starts: they are debugged as its children, it is not."""

    def without_debugger(self) -> str:
        """What is so, for whoever wants to hold it or to look into it."""
        ...


@runtime_checkable
class EvaluatesSafely(Protocol):
    async def evaluate_safely(
        self, frame: str | None, expressions: Sequence[str], bounds: Bounds, timeout: float
    ) -> tuple[Evaluated, ...]:
        """Evaluate where the debugger itself forbids side effects; an expression that would have one is an error."""
        ...


@runtime_checkable
class CallsByName(Protocol):
    def reads(self, name: str) -> bool:
        """Whether evaluating a bare name reads a value, where in its language it may as well call a function."""
        ...


@runtime_checkable
class RestartsFrames(Protocol):
    async def restart_frame(self, thread: str, frame: str) -> None:
        """Go back to the beginning of a function that has not returned; a `Stopped` with reason restart follows."""
        ...


@runtime_checkable
class SetsReturn(Protocol):
    async def set_return(self, thread: str, value: str, bounds: Bounds) -> Value:
        """Replace the value that the function held at its return is about to give back, by that of an expression."""
        ...


@runtime_checkable
class HotPatches(Protocol):
    async def hot_patch(self, file: str, text: str, *, dry_run: bool) -> tuple[str, ...]:
        """Put new source in the place of a loaded file's without a restart; what is worth knowing of it. EvalFailed with
        the reason where the new source does not compile or the change cannot be made in the running program. Where the held
        call had to be begun again, a `Stopped` with reason restart was told before this returns."""
        ...


@runtime_checkable
class Unpauses(Protocol):
    async def unpause(self) -> None:
        """Take back a pause that has not landed."""
        ...


class Party(msgspec.Struct, frozen=True):
    """Somebody in the program who may wait: a thread, a task, a goroutine."""

    id: str
    """The backend's word for a thread; for others one of its own."""
    what: str
    name: str
    state: str | None = None
    """`running` where it does not wait at all."""
    waits_for: str | None = None
    held_by: str | None = None
    """Who holds what it waits for; `unknown` where that is a thing that is held and nothing tells by whom."""
    holder: str | None = None
    """The one of the others that holds it, by its id, where that is known."""
    ends: str | None = None
    """The one of the others whose end it waits for, by its id."""
    on: tuple[str, ...] = ()
    """Those of the others that it waits for, by their ids."""
    frames: tuple[Frame, ...] | None = None
    """Where it stands, innermost first, for those that are no threads; None for threads, whose stacks can be asked for."""
    values: tuple[Value, ...] = ()
    """What is in the innermost of those frames that is the user's own."""


@runtime_checkable
class TellsLeft(Protocol):
    @property
    def left_waiting(self) -> tuple[Party, ...]:
        """Those that still waited when the program had nothing more to do and so ended, where it was to tell of waits."""
        ...


@runtime_checkable
class TellsWaits(Protocol):
    async def waits(self, bounds: Bounds) -> tuple[Party, ...]:
        """What each waits for, of a program that was told to pause; none where nothing in it or its debugger knows."""
        ...
