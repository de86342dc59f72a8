"""How programs of a language end, or come to no end: calls that leave, recover or wait, and what their runtimes say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from ..model.plans import Plan
from ..model.values import Frame


class Leaving(msgspec.Struct, frozen=True):
    """A function that ends the program, and expressions for its exit code where it is entered, any of which may do."""

    function: str
    code: tuple[str, ...]


LIBC = (
    Leaving("exit", ("$edi", "$w0")),
    Leaving("_exit", ("$edi", "$w0")),
    Leaving("__sanitizer::Die", ()),
)
"""The C library has no debug information, so that the code is read from the register that carries it: on x86-64, on aarch64."""


@runtime_checkable
class TellsLeaving(Protocol):
    """An adapter whose debugger can be held at the functions that end a program."""

    leaving: tuple[Leaving, ...]


class LastWords(msgspec.Struct, frozen=True):
    """What a runtime wrote of itself when a signal ended it: why, its calls, innermost first, and what else was written."""

    what: str
    calls: tuple[Frame, ...]
    rest: str


@runtime_checkable
class TellsDeath(Protocol):
    """An adapter whose programs write down where they are when a signal ends them."""

    def last_words(self, stderr: str) -> LastWords | None: ...


def last_words_of(plan: Plan, stderr: str) -> LastWords | None:
    """What a program of this plan wrote when it was killed; None where it wrote nothing of the kind."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.last_words(stderr) if isinstance(adapter, TellsDeath) else None


@runtime_checkable
class TellsIgnored(Protocol):
    """An adapter whose programs write down errors that could go nowhere, as one in a destructor, and end well."""

    def ignored(self, stderr: str) -> LastWords | None: ...


def ignored_by(plan: Plan, stderr: str) -> LastWords | None:
    """The first error of a program of this plan that its runtime wrote down and ignored; None where there is none."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.ignored(stderr) if isinstance(adapter, TellsIgnored) else None


@runtime_checkable
class WaitsInVain(Protocol):
    """An adapter whose programs end by themselves, by an exit code of its own, when what they wait for can never come."""

    in_vain: Mapping[int, str]
    """What such a program waited in, by its exit code."""


def waited_in_vain(plan: Plan, code: int | None) -> str | None:
    """What a program of this plan was still waiting in when it ended by this exit code; None where the code does not say so."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.in_vain.get(code) if code is not None and isinstance(adapter, WaitsInVain) else None


@runtime_checkable
class SeesDeadlock(Protocol):
    """An adapter whose programs end by themselves when nobody in them can go on, and can be held before they do."""

    deadlock: str
    """What their runtime says of it."""


def deadlock_of(plan: Plan) -> str | None:
    """How a program of this plan says that nobody in it can go on; None where its runtime never sees that."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.deadlock if isinstance(adapter, SeesDeadlock) else None


@runtime_checkable
class NamesWaits(Protocol):
    """An adapter whose compiler puts calls in the place of statements that wait."""

    waits: Mapping[str, str]
    """What each such call waits for, in the words of the language."""


def waited_for(function: str) -> str:
    """What a call waits for, where its language has words for it; else its name."""
    from . import adapters

    tables = (each.waits for each in adapters() if isinstance(each, NamesWaits))
    return next((table[function] for table in tables if function in table), function)


@runtime_checkable
class Misjudges(Protocol):
    """An adapter whose debugger may take an error for handled that nobody handles: when that shows, its calls are gone."""

    def misjudges_errors(self, plan: Plan) -> bool: ...


def misjudges_errors(plan: Plan) -> bool:
    """Whether errors must be looked at where they are thrown, lest the values of an unhandled one are lost."""
    from . import for_plan

    adapter = for_plan(plan)
    return isinstance(adapter, Misjudges) and adapter.misjudges_errors(plan)


@runtime_checkable
class FailsByHanded(Protocol):
    """An adapter whose programs may fail by errors that only library code has handled: as tests do that are run by a script."""

    fails_by_handed_errors: bool


def fails_by_handed_errors(plan: Plan) -> bool:
    """Whether errors that library code handles are looked at in each run, since its end alone tells whether they made it fail."""
    from . import for_plan

    adapter = for_plan(plan)
    return isinstance(adapter, FailsByHanded) and adapter.fails_by_handed_errors


@runtime_checkable
class TellsHanded(Protocol):
    """An adapter whose debugger tells errors that leave the user's code for library code, which then handles them."""

    tells_handed_errors: bool


def tells_handed_errors(plan: Plan) -> bool:
    """Whether errors that only library code handles, as a server does that answers 500, can be told where they leave."""
    from . import for_plan

    adapter = for_plan(plan)
    return isinstance(adapter, TellsHanded) and adapter.tells_handed_errors


class Recovering(msgspec.Struct, frozen=True):
    """The function by which a program handles an error while the calls that failed are still there."""

    function: str
    condition: str
    """Whether there is an error, where it is entered."""
    error: str
    """An expression for the error."""
    text: Callable[[str], str]
    """The error's message, of what the debugger tells of it."""
    type: str
    """What such errors are called."""
    thrown_by: str
    """The function that the calls which failed are outside of."""
    reach: Callable[[Sequence[str], Sequence[str]], int]
    """Of the handler's calls and of those that failed, innermost first: how many of the latter lie inside the one that
    handles it."""


@runtime_checkable
class TellsRecovering(Protocol):
    """An adapter whose debugger has no word for errors that are handled, and can be held where they are."""

    recovering: Recovering


def recovering_of(plan: Plan) -> Recovering | None:
    """Where a program of this plan handles its errors; None where its debugger tells them by itself, or nobody can."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.recovering if isinstance(adapter, TellsRecovering) else None


def leaving_of(plan: Plan) -> tuple[Leaving, ...]:
    """The functions by which a program of this plan ends itself, as its debugger calls them; none where others tell."""
    from . import for_plan

    adapter = for_plan(plan)
    return adapter.leaving if isinstance(adapter, TellsLeaving) else ()
