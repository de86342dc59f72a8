"""The start of a DAP conversation, in the one order that every adapter takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import AdapterUnresponsive, Denied, LaunchFailed
from ...transport import tracing
from . import translate
from .client import Body, DapClient, Refused
from .helper import Helper
from .launch import DapLaunch

_CLIENT: dict[str, Any] = {
    "clientID": "stillframe",
    "clientName": "Stillframe",
    "adapterID": "stillframe",
    "pathFormat": "path",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "supportsVariableType": True,
    "supportsRunInTerminalRequest": True,
    "supportsStartDebuggingRequest": True,
    "locale": "en",
}


class Greeting(msgspec.Struct, frozen=True):
    """Who is at the other end."""

    offers: Body
    pid: int | None = None
    ppid: int | None = None
    argv: tuple[str, ...] = ()
    facts: Body = msgspec.field(default_factory=dict[str, Any])

    @property
    def filters(self) -> frozenset[str]:
        """The exception filters that it has."""
        found = (each.get("filter") for each in translate.items(self.offers, "exceptionBreakpointFilters"))
        return frozenset(each for each in found if isinstance(each, str))


async def greet(client: DapClient, launch: DapLaunch, helper: Helper | None) -> Greeting:
    """Prove ourselves, learn what it can do and which process it is; sent in one go, answered in order.

    A helper on a line of its own knows of no process, and need not be there yet: lldb-dap 22.1 loads ours when it launches."""
    proof = None
    if launch.authorize:
        proof = client.send(launch.authorize.request, {"debugServerAccessToken": launch.authorize.server_token})
    offers = client.send("initialize", {**_CLIENT, "adapterID": launch.tool.tool, **launch.greeting})
    for line in launch.boot:
        client.send("evaluate", {"expression": line, "context": "repl"})
    identity: asyncio.Future[Body] | None = None
    if helper and not launch.helper_is_apart:
        identity = helper.send("hello")
    elif launch.identify:
        identity = client.send(launch.identify)
    if proof is not None and launch.authorize is not None:
        await _check_proof(client, proof, launch.authorize.client_token, launch.start_timeout)
    offered = await client.settle(offers, "initialize", launch.start_timeout)
    if identity is None:
        return Greeting(offered)
    facts = await client.settle(identity, "hello", launch.start_timeout)
    return _greeting(offered, facts)


async def _check_proof(client: DapClient, proof: asyncio.Future[Body], token: str, timeout: float) -> None:
    try:
        body = await client.settle(proof, "authorize", timeout)
    except Refused:
        raise Denied("the process that dialled in does not know our token") from None
    if body.get("clientAccessToken") != token:
        raise Denied("the process that dialled in could not prove that we started it")


def _greeting(offers: Body, facts: Body) -> Greeting:
    process = facts.get("process")
    process = process if isinstance(process, dict) else facts
    argv = facts.get("argv")
    return Greeting(
        offers,
        translate.number(process.get("pid")),
        translate.number(process.get("ppid")),
        tuple(each for each in argv if isinstance(each, str)) if isinstance(argv, list) else (),
        facts,
    )


async def begin(
    client: DapClient, launch: DapLaunch, arguments: Body, initialized: asyncio.Future[None]
) -> asyncio.Future[Body]:
    """Send launch or attach and wait until breakpoints may be sent; the start's own answer may come much later."""
    started = client.send(launch.request, arguments)
    signs: list[asyncio.Future[Any]] = [started, initialized]
    done, _ = await asyncio.wait(signs, timeout=launch.start_timeout, return_when=asyncio.FIRST_COMPLETED)
    if not done:
        raise AdapterUnresponsive(f"{launch.tool.tool} did not get ready within {launch.start_timeout:g} s")
    if started.done():
        await settled(client, started, launch)
        # An answer may overtake `initialized` by a little; it must still come.
        await asyncio.wait({initialized}, timeout=launch.start_timeout)
    if not initialized.done():
        raise AdapterUnresponsive(f"{launch.tool.tool} did not get ready within {launch.start_timeout:g} s")
    await initialized
    return started


async def settled(client: DapClient, started: asyncio.Future[Body], launch: DapLaunch) -> None:
    """Wait for the answer to launch or attach; a refusal is the reason why nothing came up."""
    try:
        await client.settle(started, launch.request, launch.start_timeout)
    except Refused as refused:
        why = await tracing.why_refused(refused.message) if launch.traces else None
        if why is not None:
            raise Denied(f"{refused.message.rstrip('.')}; {why}") from None
        raise LaunchFailed(refused.message) from None


async def without_debugging(client: DapClient, launch: DapLaunch, arguments: Mapping[str, Any], timeout: float) -> None:
    """A process that waits for its first word gets it, with nothing to stop for."""
    client.send(launch.request, {**arguments, "stopOnEntry": False})
    await client.request("configurationDone", {}, timeout=timeout)
