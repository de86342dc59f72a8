"""Changing what runs: a function's value on its way back, and the source of a loaded script."""

from __future__ import annotations

from ...errors import EvalFailed, Unsupported, WrongState
from ...model.backend import Bounds
from ...model.values import Value
from .asking import failure
from .client import CdpClient, Refused
from .evidence import Evidence
from .moves import Mover
from .scripts import Script


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


BEGUN_AGAIN = "the function that was held has changed, and is held at its beginning now"


async def hot_patch(client: CdpClient, script: Script, text: str, *, dry_run: bool) -> None:
    """Live-edit a script. V8 refuses to change functions that are under way, but for the held one, which it begins again."""
    if script.map() is not None:
        raise Unsupported(
            f"{script.path} is made from other sources: patch what it was made into, or build and restart"
        )
    try:
        arguments = {"scriptId": script.id, "scriptSource": text, "dryRun": dry_run, "allowTopFrameEditing": True}
        body = await client.request("Debugger.setScriptSource", arguments)
    except Refused as refused:
        raise EvalFailed(f"the new source was refused: {refused.message}") from None
    status = str(body.get("status") or "Ok")
    if isinstance(details := body.get("exceptionDetails"), dict):
        line = int(details.get("lineNumber", 0)) + 1
        raise EvalFailed(f"the new source does not compile: {failure(details)} (line {line})")
    if status != "Ok":
        raise EvalFailed(f"the change cannot be made in the running program: {_REFUSALS.get(status, status)}")


_REFUSALS = {
    "BlockedByActiveGenerator": "a changed generator or async function is under way",
    "BlockedByActiveFunction": "a changed function is under way",
    "BlockedByTopLevelEsModuleChange": "the top level of a module cannot be changed",
    "CompileError": "it does not compile",
}
