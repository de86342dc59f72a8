"""The variables of a held frame once code has run in it: V8 shows what they were when the program stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .client import Body, CdpClient

_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_COPIED = frozenset({"local", "block", "catch", "eval", "module", "script", "closure"})
"""The scopes of which V8 (10 to 13) gives a copy; those of `with` and of the global object are the objects themselves."""
_SPECIAL = frozenset({"arguments", "this", "eval"})
_MOST = 500
"""How many variables of a scope are read again."""
_EMPTY = "{__proto__: null}"
_COPY = "function(copy) { for (const name in this) copy[name] = this[name]; }"


async def refresh(client: CdpClient, call: Body) -> None:
    """Write what the variables are now into the copies of a frame's scopes; one that an inner scope hides stays as it was."""
    hidden = set(_SPECIAL)
    for scope in call.get("scopeChain") or ():
        copy = (scope.get("object") or {}).get("objectId")
        if scope.get("type") not in _COPIED or copy is None:
            continue
        told = await client.request("Runtime.getProperties", {"objectId": copy, "ownProperties": True})
        names = [str(each.get("name")) for each in told.get("result") or ()]
        wanted = [name for name in names if name not in hidden and _NAME.fullmatch(name)][:_MOST]
        hidden.update(names)
        if wanted:
            await _write(client, call, copy, wanted)


async def _write(client: CdpClient, call: Body, copy: str, names: Sequence[str]) -> None:
    reads = ", ".join(f"[{name!r}, () => {name}]" for name in names)
    # What has no value yet throws as it is read, and is left as it was.
    text = (
        f"[{reads}].reduce((now, [name, read]) => {{ try {{ now[name] = read() }} catch {{}} return now }}, {_EMPTY})"
    )
    question = {"callFrameId": call.get("callFrameId"), "expression": text, "silent": True}
    answer = await client.request("Debugger.evaluateOnCallFrame", question)
    now = (answer.get("result") or {}).get("objectId")
    if now is not None and "exceptionDetails" not in answer:
        arguments = [{"objectId": copy}]
        await client.request(
            "Runtime.callFunctionOn",
            {"objectId": now, "functionDeclaration": _COPY, "arguments": arguments, "silent": True},
        )
