"""Changing what runs: a function's value on its way back, a call that begins again, and the source of a loaded script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from ...errors import EvalFailed, Try, Unsupported, WrongState
from ...model.backend import Bounds
from ...model.values import Value
from .asking import failure
from .client import Body, CdpClient, Refused
from .evidence import Evidence
from .frames import Held, is_top_level, position
from .grammar import Kind, Span
from .moves import Mover
from .scripts import Script
from .spans import Scan


async def set_return(client: CdpClient, evidence: Evidence, mover: Mover, expression: str, bounds: Bounds) -> Value:
    """Run the return that the program is held at, without leaving the function, and replace what it gives back."""
    held = evidence.need_held()
    if not held.at_return:
        held = await mover.to_return()
    call = held.top
    arguments = {"callFrameId": call.get("callFrameId"), "expression": f"(\n{expression}\n)", "silent": True}
    answer = await client.request("Debugger.evaluateOnCallFrame", arguments)
    if isinstance(details := answer.get("exceptionDetails"), dict):
        raise EvalFailed(failure(details))
    remote = answer.get("result") or {}
    word = next((word for word in ("objectId", "unserializableValue", "value") if word in remote), None)
    new = {word: remote[word]} if word else {}
    try:
        await client.request("Debugger.setReturnValue", {"newValue": new})
    except Refused as refused:
        raise WrongState(f"the value cannot be replaced here: {refused.message}") from None
    call["returnValue"] = remote
    return await evidence.asking.describe("return", remote, bounds)


async def restart_frame(client: CdpClient, evidence: Evidence, mover: Mover, frame: str) -> None:
    """Have a call of the held stack run from its beginning, where it is held again."""
    call = evidence.call(frame)
    if evidence.teller.is_runtime(call):
        raise Unsupported("a call of Node's own cannot be restarted: that would abort the program")
    if evidence.need_held().is_throwing:
        raise WrongState(f"no call can be begun again here: {_ABORTS}", hint=Try("restart"))
    mover.restarting = True
    try:
        await client.request("Debugger.restartFrame", {"callFrameId": call.get("callFrameId"), "mode": "StepInto"})
    except Refused as refused:
        mover.restarting = False
        why = _NEVER_AGAIN if refused.message == _NO_RESTARTS else "this frame cannot be restarted"
        raise Unsupported(f"{why}: {refused.message}") from None


BEGUN_AGAIN = "the function that was held has changed, and is held at its beginning now"


class Edit(msgspec.Struct, frozen=True):
    """What became of a script whose source was replaced."""

    begins_again: bool = False
    """The held call is under way again from its beginning."""
    left: tuple[str, ...] = ()
    """Changed functions that go on with their old text all the same: V8 says of those that all is well."""


async def hot_patch(
    client: CdpClient, script: Script, text: str, held: Held | None, mover: Mover, *, dry_run: bool
) -> Edit:
    """Live-edit a script. V8 refuses to change functions that are under way, but for the held one, which it begins again."""
    if script.map() is not None:
        raise Unsupported(
            f"{script.path} is made from other sources: patch what it was made into, or build and restart"
        )
    old = str((await client.request("Debugger.getScriptSource", {"scriptId": script.id})).get("scriptSource") or "")
    if old == text:
        return Edit()
    # where that may change the held call, V8 (of Node 20 to 24) begins it again even for a dry run
    trial = await _replace(client, script, text, dryRun=True, allowTopFrameEditing=False)
    begins_again = trial.get("status") == _UNDER_WAY and held is not None and _is_only_held(held, script, old, text)
    if not begins_again:
        if held is not None and _says_no_more(trial) and _is_changed(held.top, script, old, text):
            raise EvalFailed(f"{_CANNOT}{_REFUSALS[_UNDER_WAY]}, the held one: {_NEVER_AGAIN}", hint=Try("restart"))
        _look_at(trial)
        if held is not None and held.is_throwing and "status" not in trial:  # as of Node 18
            raise WrongState(f"{_CANNOT}{_ABORTS_EDITED}", hint=Try("restart"))
    elif held is not None and held.is_throwing:
        raise WrongState(f"{_CANNOT}the held function has changed, and {_ABORTS}", hint=Try("restart"))
    if stuck := unchangeable(old, text) or removed(old, text, await _left_behind(client, old, text)):
        raise EvalFailed(_CANNOT + _goes_on(stuck))
    if dry_run:
        return Edit()
    # else V8 would take the beginning of a call that it begins again for a breakpoint's hit
    await client.request("Debugger.setBreakpointsActive", {"active": False})
    mover.expect_restart(held is not None)
    try:
        _look_at(await _replace(client, script, text, allowTopFrameEditing=True))
        if begins_again:  # nothing is asked before it has: on its way, V8 would hold the code that looks instead
            await mover.begun_again()
    finally:
        mover.restarting = False
        await client.request("Debugger.setBreakpointsActive", {"active": True})
    return Edit(begins_again, await _left_behind(client, old, text))


async def _replace(client: CdpClient, script: Script, text: str, **how: bool) -> Body:
    try:
        return await client.request("Debugger.setScriptSource", {"scriptId": script.id, "scriptSource": text, **how})
    except Refused as refused:
        raise EvalFailed(f"the new source was refused: {refused.message}") from None


def _is_under_way(answer: Body) -> bool:
    """Whether V8 refuses because a changed function has not returned."""
    return _says_no_more(answer) or answer.get("status") == _UNDER_WAY


def _says_no_more(answer: Body) -> bool:
    """Whether V8 refuses as that of Node 18 does where a changed function is under way: without a word."""
    details = answer.get("exceptionDetails")
    return isinstance(details, dict) and not details.get("exception") and not details.get("text")


def _look_at(answer: Body) -> None:
    """Raise what V8 says against it."""
    status = _UNDER_WAY if _is_under_way(answer) else str(answer.get("status") or "Ok")
    details = answer.get("exceptionDetails")
    if status != _UNDER_WAY and isinstance(details, dict):
        line = int(details.get("lineNumber", 0)) + 1
        raise EvalFailed(
            f"the new source does not compile: {failure(details)} (line {line})",
            hint=Try("hotpatch", once="it compiles"),
        )
    if status != "Ok":
        raise EvalFailed(_CANNOT + _REFUSALS.get(status, status))


def _is_only_held(held: Held, script: Script, old: str, text: str) -> bool:
    """Whether of the functions that are under way only the held one is changed, which V8 can begin again."""
    return not any(_is_changed(call, script, old, text) for call in held.calls[1:])


def _is_changed(call: Body, script: Script, old: str, text: str) -> bool:
    if position(call)[0] != script.id or is_top_level(call):
        return False
    return _text_of(call, old.splitlines(keepends=True)) not in text


def _text_of(call: Body, lines: Sequence[str]) -> str:
    scope: Body = next((each for each in call.get("scopeChain") or () if each.get("type") == "local"), {})
    start, end = scope.get("startLocation") or {}, scope.get("endLocation") or {}
    first, last = int(start.get("lineNumber", 0)), int(end.get("lineNumber", 0))
    inside = "".join(lines[first : last + 1])
    after = len(lines[last]) - int(end.get("columnNumber", 0)) if last < len(lines) else 0
    return inside[int(start.get("columnNumber", 0)) : len(inside) - after]


async def _left_behind(client: CdpClient, old: str, text: str) -> tuple[str, ...]:
    """The functions of the program whose text is that of the old source, and not of the new one."""
    every = await client.request("Runtime.evaluate", {"expression": "(() => {}).__proto__", "silent": True})
    prototype = (every.get("result") or {}).get("objectId")
    try:
        found = (await client.request("Runtime.queryObjects", {"prototypeObjectId": prototype})).get("objects") or {}
    except Refused:
        return ()
    arguments = {
        "objectId": found.get("objectId"),
        "functionDeclaration": _OLD_ONES,
        "arguments": [{"value": old}, {"value": text}],
        "returnByValue": True,
        "silent": True,
    }
    answer = await client.request("Runtime.callFunctionOn", arguments)
    client.send("Runtime.releaseObject", {"objectId": found.get("objectId")})
    names = (answer.get("result") or {}).get("value")
    return tuple(str(each) for each in names) if isinstance(names, list) else ()


def ensure_whole(left: Sequence[str]) -> None:
    """A patch that leaves functions behind is none, though V8 has taken it."""
    if left:
        raise EvalFailed(f"the new source was taken, but {_goes_on(left)}")


def _goes_on(names: Sequence[str]) -> str:
    several = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return f"the program would go on with the old text of {several}; restart runs the new one"


def unchangeable(old: str, new: str) -> tuple[str, ...]:
    """The functions that V8 would leave as they are, although the new source has another text for them.

    It does so where what they use of the top level is kept in other places than before: functions hold on to it by number.
    """
    before, after = _kept_for_functions(old), _kept_for_functions(new)
    if after == before[: len(after)]:
        return ()
    changed = [each for each in _functions(old) if old[each.start : each.end] not in new]
    return tuple(dict.fromkeys(_name(each) for each in changed))


def removed(old: str, new: str, alive: Sequence[str]) -> tuple[str, ...]:
    """Those of the functions that the program holds which the new source has no more: they would run on as they are."""
    before, after = (Counter(_name(each) for each in _functions(text)) for text in (old, new))
    return tuple(dict.fromkeys(each for each in alive if after[each] < before[each]))


def _functions(text: str) -> list[Span]:
    return [each for each in Scan(text).spans if each.kind is Kind.FUNCTION]


def _name(span: Span) -> str:
    """As the function itself says, for the most part."""
    return span.own or (span.bound or _NAMELESS).rpartition(".")[2]


def _kept_for_functions(text: str) -> list[str]:
    """The names of the top level that functions use, in order."""
    spans = sorted((each for each in Scan(text).spans if each.kind is not Kind.OBJECT), key=lambda each: each.start)
    outside, inside, at = [], [], 0
    for span in spans:
        if span.body >= at:
            outside.append(text[at : span.body])
            inside.append(text[span.body : span.end])
            at = max(at, span.end)
    declared = [
        name for found in _DECLARED.finditer("".join([*outside, text[at:]])) for name in _NAME.findall(found[1])
    ]
    used = set(_NAME.findall(" ".join(inside)))
    return [each for each in dict.fromkeys((*_GIVEN, *declared)) if each in used]


_NAMED = 4
_NAMELESS = "<anonymous>"
_CANNOT = "the change cannot be made in the running program: "
_ABORTS = "an error is on its way out of it, and V8 aborts a program whose call it begins again then"
"""Node 20: `Check failed: !catchable_by_js`."""
_ABORTS_EDITED = "an error is on its way out of a call, and V8 of this Node aborts a program that is changed then"
_NO_RESTARTS = "Frame restarting not supported"
"""What V8 of Node 18 says of every frame."""
_NEVER_AGAIN = "this Node can begin no call again, as Node 20 and later can"
_GIVEN = ("exports", "require", "module", "__filename", "__dirname")
_NAME = re.compile(r"[\w$]+(?!\s*:)")
_DECLARED = re.compile(
    r"^(?:export\s+)?(?:const|let|var|class|(?:async\s+)?function\s*\*?)\s*([\w$]+|[\[{][^=]*)", re.MULTILINE
)
"""What is declared at the beginning of a line, which is how the top level is mostly written."""
_OLD_ONES = """function (old, text) {
  const found = [];
  for (const each of this) {
    if (typeof each !== 'function') continue;
    const source = (() => {}).toString.call(each);
    if (source.length > 12 && old.includes(source) && !text.includes(source)) found.push(each.name || '<anonymous>');
  }
  return found;
}"""
_UNDER_WAY = "BlockedByActiveFunction"
_REFUSALS = {
    "BlockedByActiveGenerator": "a changed generator or async function is under way",
    _UNDER_WAY: "a changed function is under way",
    "BlockedByTopLevelEsModuleChange": "the top level of a module cannot be changed",
    "CompileError": "it does not compile",
}
