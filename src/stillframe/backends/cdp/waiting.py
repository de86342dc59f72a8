"""What keeps an idle event loop alive, as far as Node tells: its open resources by kind, promises, and who awaits them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Mapping

import msgspec

from ...model import exact
from ...model.powers import Party
from ...model.values import Frame
from .client import Body, CdpClient
from .conditions import STORE
from .frames import FrameTeller

_RESOURCES = "process.getActiveResourcesInfo ? process.getActiveResourcesInfo() : []"
_GROUP = "stillframe.waiting"
_NOTED = "`dbg hang -- COMMAND` notes that from the start"
_PENDING = """function (inspect) {
  const plain = { depth: -1, customInspect: false, getters: false };
  let count = 0;
  for (const one of this.slice(0, 20000)) if (inspect(one, plain).includes('<pending>')) count++;
  return count;
}"""


async def idle(client: CdpClient, teller: FrameTeller, thread: str, name: str) -> tuple[Party, ...]:
    """The event loop of an isolate that runs nothing, and the calls that await, where the program noted them."""
    body = await client.request("Runtime.evaluate", {"expression": _RESOURCES, "returnByValue": True, "silent": True})
    found = body.get("result", {}).get("value")
    kinds = Counter(str(each) for each in found) if isinstance(found, list) else Counter()
    open_ = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in sorted(kinds.items()))
    said = f"its event loop: {open_}" if open_ else "its event loop"
    noted = await _noted(client)
    if noted is not None:
        missed = f", and {noted.missed:,} more were not noted" if noted.missed else ""
        said += f"; {noted.pending:,} promises are pending{missed}" if noted.pending else ""
        return (Party(thread, "event loop", name, waits_for=said), *_awaiting(noted, teller))
    if pending := await _pending(client):
        said += f"; {pending:,} promises are pending, of which V8 does not tell who awaits them: {_NOTED}"
    return (Party(thread, "event loop", name, waits_for=said),)


async def awaiting(client: CdpClient, teller: FrameTeller) -> tuple[Party, ...]:
    """The calls of a held program that await, where it noted them."""
    noted = await _noted(client)
    return _awaiting(noted, teller) if noted is not None else ()


def left_waiting(payload: str, teller: FrameTeller) -> tuple[Party, ...]:
    """The calls that still awaited something when the program had nothing more to do, as it told them at its end."""
    try:
        return _awaiting(exact.decode(payload, Noted), teller)
    except msgspec.DecodeError:  # the program has its own `toJSON` of everything: what it wrote is no report
        return ()


class Awaiting(msgspec.Struct, frozen=True):
    """A call, what was given to `then`, or a promise that was resolved with another one, that waits for a promise."""

    id: int
    stack: str
    made: str
    """Where the promise was made that it waits for; empty where that is not known."""
    word: str
    """By what it was made: `Promise.all` and the like."""
    on: tuple[int, ...]
    """Those that are to settle it."""
    first: bool
    """Whether one of several promises is enough, as for `Promise.race`: it waits for none of them for sure."""


class Noted(msgspec.Struct, frozen=True):
    """What the program noted of its promises."""

    rows: tuple[Awaiting, ...]
    total: int
    pending: int
    missed: int


async def _noted(client: CdpClient) -> Noted | None:
    """What `promises.js` knows, where it is in the program."""
    question = {"expression": f"{STORE}?.noted.promises?.()", "returnByValue": True, "silent": True}
    found = (await client.request("Runtime.evaluate", question)).get("result", {}).get("value")
    return msgspec.convert(found, Noted) if isinstance(found, dict) else None


def _awaiting(noted: Noted, teller: FrameTeller) -> tuple[Party, ...]:
    stacks = {each.id: _user(teller.of_stack(each.stack)) for each in noted.rows}
    own = {_place(frames) for frames in stacks.values() if frames and frames[0].kind == "user"}
    # How a library goes about what a call of the user's awaits is its own affair.
    told = [each for each in noted.rows if (at := stacks[each.id]) and (at[0].kind == "user" or _place(at) not in own)]
    rows = {each.id: each for each in noted.rows}
    used: Counter[str] = Counter()
    names: dict[int, str] = {}
    for each in told:
        name = stacks[each.id][0].function
        used[name] += 1
        names[each.id] = name if used[name] == 1 else f"{name} {used[name]}"
    return tuple(
        Party(
            f"p{each.id}", "promise", names[each.id],
            waits_for=_awaited(each, [names[one] for one in others], teller),
            on=() if each.first else tuple(f"p{one}" for one in others), frames=stacks[each.id],
        )
        for each, others in ((each, _told_ones(each, rows, names)) for each in told)
    )  # fmt: skip


def _told_ones(row: Awaiting, rows: Mapping[int, Awaiting], names: Container[int]) -> list[int]:
    """Those that are to settle what it waits for, as far as they are told; in the place of another one, those of that."""
    found: list[int] = []
    seen = {row.id}
    ahead = list(row.on)
    while ahead:
        each = ahead.pop(0)
        if each in names:
            found.append(each)
        elif each not in seen and each in rows:
            ahead += rows[each].on
        seen.add(each)
    return list(dict.fromkeys(found))


def _place(frames: tuple[Frame, ...]) -> tuple[object, ...]:
    """The innermost call of the user's own."""
    first = next(each for each in frames if each.kind == "user")
    return first.function, first.file, first.line


def _user(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The calls from the user's innermost on; none where it is all somebody else's."""
    return frames if any(each.kind == "user" for each in frames) else ()


def _awaited(row: Awaiting, others: list[str], teller: FrameTeller) -> str:
    what = row.word or "a promise"
    if others and not row.word:
        return f"async call {others[0]}"
    place = next((each for each in teller.of_stack(row.made) if each.kind == "user"), None)
    if place is None:
        return f"{what} of somebody else's code" if row.made else what
    said = f"{what} made at {os.path.basename(place.file or '?')}:{place.line} in {place.function}"
    return f"{said}: {', '.join(others)}" if others else said


async def _pending(client: CdpClient) -> int | None:
    """How many promises nobody has settled."""

    async def handle(expression: str) -> str | None:
        question = {"expression": expression, "includeCommandLineAPI": True, "silent": True, "objectGroup": _GROUP}
        return _object((await client.request("Runtime.evaluate", question)).get("result"))

    try:
        prototype, inspect = await handle("Promise.prototype"), await handle("require('util').inspect")
        if prototype is None or inspect is None:
            return None
        asked = {"prototypeObjectId": prototype, "objectGroup": _GROUP}
        every = _object((await client.request("Runtime.queryObjects", asked)).get("objects"))
        call = {"objectId": every, "functionDeclaration": _PENDING, "arguments": [{"objectId": inspect}]}
        told = await client.request("Runtime.callFunctionOn", {**call, "returnByValue": True, "silent": True})
        count = told.get("result", {}).get("value")
        return count if isinstance(count, int) else None
    finally:
        client.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})


def _object(remote: Body | None) -> str | None:
    found = remote.get("objectId") if isinstance(remote, dict) else None
    return found if isinstance(found, str) else None
