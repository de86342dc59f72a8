"""What keeps an idle event loop alive, as far as Node tells: its open resources by kind, and how many promises are pending."""

from __future__ import annotations

from collections import Counter

from ...model.powers import Party
from .client import Body, CdpClient

_RESOURCES = "process.getActiveResourcesInfo ? process.getActiveResourcesInfo() : []"
_GROUP = "stillframe.waiting"
_PENDING = """function (inspect) {
  const plain = { depth: -1, customInspect: false, getters: false };
  let count = 0;
  for (const one of this.slice(0, 20000)) if (inspect(one, plain).includes('<pending>')) count++;
  return count;
}"""


async def idle(client: CdpClient, thread: str, name: str) -> tuple[Party, ...]:
    """The event loop of an isolate that runs nothing; none where it tells nothing."""
    body = await client.request("Runtime.evaluate", {"expression": _RESOURCES, "returnByValue": True, "silent": True})
    found = body.get("result", {}).get("value")
    kinds = Counter(str(each) for each in found) if isinstance(found, list) else Counter()
    open_ = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in sorted(kinds.items()))
    pending = await _pending(client)
    said = f"its event loop: {open_}" if open_ else "its event loop"
    if pending:
        said += f"; {pending:,} promises are pending, of which V8 does not tell who awaits them"
    return (Party(thread, "event loop", name, waits_for=said),)


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
