"""Breakpoints and exceptions to stop at. What is not bound says so, and why."""

from __future__ import annotations

import difflib
from typing import Annotated, cast

import msgspec

from ..errors import NoSession, NotFound, Try, Unsupported, UsageError
from ..model.backend import Capability, CatchMode, CatchRule
from ..model.outcomes import Breakpoint, Spot
from ..model.places import BreakSpec, HitRule
from ..model.plans import Caller
from ..model.powers import KnowsClasses
from ..model.views import Breakpoints, Caught
from ..registry import Access, Param, operation
from ..session import family
from ..session.kept import Kept
from ..session.session import Session
from .common import at_hand

Ids = Annotated[tuple[str, ...], Param("breakpoints, such as b1", positional=True, rest=True, metavar="ID")]


def _need(session: Session, capability: Capability, given: object) -> None:
    if given and capability not in session.backend.capabilities:
        raise Unsupported(f"{session.tool.tool} has no {capability.value}", hint=Try("raw"))


@operation(Access.CONTROL, name="break", aliases=("b", "bp"), example="dbg break shop.py:14 --if 'price < 0'")
async def break_(
    session: Session,
    caller: Caller,
    at: Annotated[
        BreakSpec,
        Param(
            'file:line, file@"text", module!function, a function\'s name, or a line of the file that is held',
            positional=True,
            metavar="LOC",
        ),
    ],
    condition: Annotated[
        str | None, Param("stop only when this is true", flag="--if", aliases=("--condition",), access=Access.EXEC)
    ] = None,
    hit: Annotated[HitRule | None, Param("stop at the Nth time (3), from then on (>=3), or at every Nth (%3)")] = None,
    log: Annotated[
        str | None, Param("print this, with {expressions} in it, instead of stopping", access=Access.EXEC)
    ] = None,
    once: Annotated[bool, Param("remove it after the first stop")] = False,
) -> Breakpoint:
    """Set a breakpoint. It may move to the next line that can hold one; the answer says so."""
    session.need_live()
    if at.condition is not None:
        if condition is not None:
            raise UsageError("the condition is given twice: in the place and by --if")
        condition = at.condition
    _need(session, Capability.CONDITIONS, condition)
    _need(session, Capability.HIT_COUNTS, hit)
    _need(session, Capability.LOG_POINTS, log)
    home, place = session.root, await at_hand(session, at.place, caller)
    id = home.breakpoints.add(place, base=caller.cwd, condition=condition, hit=hit, log=log, once=once)
    try:
        await family.sync_breakpoints(home)
    except Unsupported:  # wanted any longer, it would have every other one refused with it
        home.breakpoints.remove((id,))
        await family.sync_breakpoints(home)
        raise
    made = session.breakpoints.view(session.breakpoints.get(id))
    file = session.breakpoints.get(id).wanted.file
    if made.state == "bound" and file and session.sources.changed_since(file, session.created):
        doubt = f"{session.show(file)} changed after the program started, so this may be another line of what runs"
        return msgspec.structs.replace(made, message=doubt)
    return made


@operation(Access.CONTROL, aliases=("delete", "clear", "rb"), example="dbg unbreak b2")
async def unbreak(
    session: Session,
    ids: Ids = (),
    all: Annotated[bool, Param("remove every breakpoint")] = False,
) -> Breakpoints:
    """Remove breakpoints by id, or all of them; answers with those that are left."""
    await _change(session, ids, all, "remove")
    return Breakpoints(breakpoints=session.breakpoints.list())


@operation(Access.CONTROL, example="dbg enable b2")
async def enable(
    session: Session, ids: Ids = (), all: Annotated[bool, Param("enable every breakpoint")] = False
) -> Breakpoints:
    """Let disabled breakpoints stop the program again."""
    await _change(session, ids, all, "enable")
    return Breakpoints(breakpoints=session.breakpoints.list())


@operation(Access.CONTROL, example="dbg disable b2")
async def disable(
    session: Session, ids: Ids = (), all: Annotated[bool, Param("disable every breakpoint")] = False
) -> Breakpoints:
    """Keep breakpoints but do not stop at them."""
    await _change(session, ids, all, "disable")
    return Breakpoints(breakpoints=session.breakpoints.list())


async def _change(session: Session, words: tuple[str, ...], all: bool, how: str) -> None:
    home = session.root
    all = all or words == ("all",)
    ids = tuple(each.id for each in home.breakpoints.list()) if all else tuple(_id(home, word) for word in words)
    if not ids and not all:
        raise UsageError(f"{how} which? Give ids such as b1, or --all")
    if how == "remove":
        home.breakpoints.remove(ids)
    else:
        home.breakpoints.enable(ids, enabled=how == "enable")
    await family.sync_breakpoints(home)


def _id(session: Session, word: str) -> str:
    """A breakpoint by its id, its number, or the place it was asked for."""
    if word.isdigit():
        word = f"b{word}"
    if word in session.breakpoints:
        return word
    for each in session.breakpoints.list():
        asked = each.requested
        named = (f'{asked.file}@"{asked.text}"', f"{asked.file}@{asked.text}")  # a shell takes the quotes
        if word in (asked.symbol, f"{asked.file}:{asked.line}", *named):
            return each.id
    raise NotFound(f"there is no breakpoint {word}", hint=Try("breaks"))


@operation(Access.READ, aliases=("breakpoints",), example="dbg breaks")
async def breaks(session: Session | None, kept: Kept | None) -> Breakpoints:
    """List the breakpoints: what was asked for, what each became, how often it stopped the program. Where no session
    lives, those that the last one kept on disk."""
    if session is not None:
        await family.recheck(session)
        return Breakpoints(breakpoints=family.as_a_whole(session, session.breakpoints.list()))
    if kept is None:
        raise NoSession("no session here, and none kept its breakpoints", hint=Try("launch"))
    kept.need_here()
    return Breakpoints(
        kept_of=kept.name,
        breakpoints=tuple(
            Breakpoint(
                id=each.id,
                requested=Spot(text=each.place),
                state="pending",
                message=f"kept of {kept.name}, which is not running",
                condition=each.condition,
                hit=each.hit,
                log=each.log,
                once=each.once,
                enabled=each.enabled,
            )
            for each in kept.breakpoints
        ),
    )


CATCH_MODES = ("uncaught", "raised", "user")
_GUESSED = {
    **dict.fromkeys(
        ("all", "any", "every", "everything", "raise", "throw", "thrown", "exception", "exceptions"), "raised"
    ),
    **dict.fromkeys(("unhandled", "crash", "fatal", "signals"), "uncaught"),
    **dict.fromkeys(("nothing", "never", "no", "false"), "off"),
}
"""What other debuggers call it, none of which is a class."""


@operation(Access.CONTROL, example="dbg catch KeyError")
async def catch(
    session: Session,
    what: Annotated[
        tuple[str, ...],
        Param(
            "uncaught, raised, user, off, or the name of an exception class; none given: tell what is on",
            positional=True,
            rest=True,
            metavar="WHAT",
        ),
    ] = (),
) -> Caught:
    """Choose the exceptions that stop the program; this replaces what was chosen before."""
    if what:
        session.need_live()
        rule = catch_rule(what)
        _need(session, Capability.EXCEPTION_CLASSES, rule.classes)
        await family.set_catch(session.root, rule)
        return Caught(catch=caught_words(session.catch), notes=await _lacking(session, rule.classes))
    return Caught(catch=caught_words(session.catch))


async def _lacking(session: Session, classes: tuple[str, ...]) -> tuple[str, ...]:
    """A class may come to be later on, so that a name of none is no error; but it may be misspelt."""
    if not isinstance(session.backend, KnowsClasses):
        return ()
    lacking = await session.backend.lacking_classes(classes)
    meant = {name: f"; {near} is one" if near else "" for name, near in lacking.items()}
    return tuple(f"there is no exception class {name} so far{near}" for name, near in meant.items())


def catch_rule(words: tuple[str, ...]) -> CatchRule:
    """`uncaught raised KeyError` as a rule; `off` alone turns everything off."""
    if "off" in words or "none" in words:
        if len(words) > 1:
            raise UsageError("catch off stands alone")
        return CatchRule(frozenset(), ())
    if "caught" in words:
        raise Unsupported(
            "no debugger stops at caught exceptions alone; raised stops at those, too",
            hint=Try("catch", {"": "raised"}),
        )
    modes = frozenset(cast(CatchMode, word) for word in words if word in CATCH_MODES)
    classes = tuple(word for word in words if word not in CATCH_MODES)
    for name in classes:
        if not all(part.isidentifier() for part in name.replace("::", ".").split(".")):
            raise UsageError(f"{name!r} is neither uncaught, raised, user or off, nor the name of a class")
        if meant := _mistyped(name):
            raise UsageError(
                f"{name!r} is no class: did you mean {meant}? A class that is called so has its module before it"
            )
    return CatchRule(modes, classes)


def _mistyped(name: str) -> str | None:
    """The word that was meant, of what would be a class that never comes."""
    if name in _GUESSED:
        return _GUESSED[name]
    return next(iter(difflib.get_close_matches(name, (*CATCH_MODES, "off"), 1, 0.75)), None)


def caught_words(rule: CatchRule) -> tuple[str, ...]:
    return tuple(word for word in CATCH_MODES if word in rule.modes) + rule.classes
