"""Values in V8's own words, where our code cannot run in the target: a deep recursion may have left it no stack."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import EvalFailed
from ...model.values import Value, Values
from .asking import text_of
from .client import Body, CdpClient

_NO_STACK = "Maximum call stack size exceeded"
_LONGEST = 200


def lacks_stack(said: str) -> bool:
    return _NO_STACK in said


async def bare_locals(client: CdpClient, scopes: Sequence[Body], most: int, why: EvalFailed) -> Values:
    """The variables of scopes as V8 describes them."""
    if not lacks_stack(why.message):
        raise why
    found: dict[str, Value] = {}
    for scope in scopes:
        words = {"objectId": scope["object"].get("objectId"), "ownProperties": True}
        for each in (await client.request("Runtime.getProperties", words)).get("result") or ():
            if isinstance(remote := each.get("value"), dict):
                found.setdefault(str(each.get("name")), bare(str(each.get("name")), remote))
    note = "the stack is too deep for our code in the program: "
    note += "values are as V8 describes them" if found else "no values can be read"
    return Values(values=tuple(found.values())[:most], total=len(found), notes=(note,))


def bare(name: str, remote: Body) -> Value:
    text = text_of(remote)
    if remote.get("type") == "string":
        text = repr(text)
    kind = str(remote.get("className") or remote.get("type"))
    return Value(name=name, type=kind, value=text[:_LONGEST], truncated=len(text) > _LONGEST)
