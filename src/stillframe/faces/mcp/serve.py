"""The host of all pumps: MCP's own library loaded once, one server a connection, gone when it has been idle.

A connection begins with one line that says who calls and what it may do; what follows is MCP as on a pipe, a message
a line; or the agent's own pipes are handed over, and it follows there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import select
import signal
from collections.abc import Callable
from typing import Any

from ...errors import UsageError
from ..cli.catalogue import VERSION
from ..daemon.attendance import ended
from ..daemon.lifecycle import LOOK_AGAIN, Claim
from ..daemon.serve import Listening, keep_log, reason_to_leave, spare_the_loaded
from ..daemon.server import READ_SECONDS, WRITE_SECONDS, Refusal, check_peer
from .client import ANSWERS, Client
from .pipes import FAREWELL, Ends, handed_over
from .server import server_for
from .shortcut import Shortcut
from .streams import Incoming, Outgoing, Unanswered
from .toolset import CLASSES, toolset

log = logging.getLogger("stillframe.mcp")

CONNECTIONS = 64
LOOK_SECONDS = 0.2
"""How often we look whether a client that has closed its side still hears us."""


def serve(claim: Claim) -> None:
    """Serve until nobody has been there for a while, or a signal says so."""
    keep_log(claim.directory, "mcp.log")
    log.info("pid %d, version %s, in %s", os.getpid(), VERSION, claim.directory)
    asyncio.run(_live(claim))
    log.info("left")


async def _live(claim: Claim) -> None:
    host = Host()
    listening = Listening(claim, host)
    host.withdraw = listening.withdraw
    await listening.begin()
    spare_the_loaded()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, host.ending.set)
    loop.add_signal_handler(LOOK_AGAIN, listening.look.set)
    watching = asyncio.create_task(listening.watch(), name="watch the socket")
    await reason_to_leave(host, lambda: 0)
    watching.cancel()
    listening.withdraw()
    for each in list(host.tasks):
        each.cancel()
    if host.tasks:
        await asyncio.wait(host.tasks, timeout=WRITE_SECONDS)


class Host:
    """Answers connections until somebody ends it."""

    def __init__(self) -> None:
        self.open = 0
        self.activity = asyncio.Event()
        self.ending = asyncio.Event()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.withdraw: Callable[[], None] = lambda: None

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; nothing that goes wrong on it may reach another."""
        self.open += 1
        self.activity.set()
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            check_peer(writer.get_extra_info("socket"))
            if self.open > CONNECTIONS:
                raise Refusal("busy", f"the host already serves {CONNECTIONS} clients")
            await self._serve(reader, writer)
        except Refusal as refusal:
            with contextlib.suppress(ConnectionError):
                writer.write(f"-error {refusal.code}: {refusal.message}\n".encode("utf-8", "backslashreplace"))
                await writer.drain()
        except (ConnectionError, TimeoutError):
            log.info("a client went away")
        except Exception:
            log.exception("a connection failed")
        finally:
            self.tasks.discard(task)
            self.open -= 1
            self.activity.set()
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await _hello(reader)
        if hello.get("leave"):
            if self.open == 1:
                self.withdraw()
                self.ending.set()
            writer.write(b"+\n")
            return
        client, schemas = client_of(hello)
        if hello.get("pipes"):
            async with handed_over(writer) as ends:
                leaves = asyncio.create_task(reader.read(1), name="the pump leaves")
                deaf = asyncio.create_task(ends.writer.wait_closed(), name="nobody reads what is said")
                await _converse(client, schemas, ends, leaves, deaf)
            writer.write(FAREWELL)
        else:
            writer.write(b"+\n")
            await _converse(client, schemas, Ends(reader, writer, writer.get_extra_info("socket").fileno()))


async def _converse(client: Client, schemas: bool, ends: Ends, *gone: asyncio.Task[Any]) -> None:
    """Serve a client until it has said all and heard all, or one of `gone` says that it has gone."""
    server = server_for(lambda _: client, schemas=schemas)
    unanswered = Unanswered()
    outgoing = Outgoing(ends.writer, unanswered)
    shortcut = Shortcut(client, server.bus, outgoing.say)
    incoming = Incoming(ends.reader, outgoing, unanswered, shortcut)
    running = asyncio.create_task(server.run(incoming, outgoing, server.create_initialization_options()))
    all_said = asyncio.create_task(incoming.ended.wait())
    incoming.read()
    try:
        await asyncio.wait({running, all_said, *gone}, return_when=asyncio.FIRST_COMPLETED)
        await _until_over({running, *gone}, ends.handle)
    finally:
        await incoming.stop()
        for each in (all_said, running, *gone):
            await ended(each)
        await shortcut.close()


async def _until_over(tasks: set[asyncio.Task[Any]], handle: int) -> None:
    """Until one of them is done. A client that has only said all it wants to say still gets its answers; one that is gone
    needs none, and what it waited for is given up."""
    line = select.poll()
    line.register(handle, 0)  # nothing but the end of both directions is told then
    while not any(each.done() for each in tasks) and not line.poll(0):
        await asyncio.wait(tasks, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)


async def _hello(reader: asyncio.StreamReader) -> dict[str, Any]:
    try:
        async with asyncio.timeout(READ_SECONDS):
            line = await reader.readline()
        found = json.loads(line)
    except TimeoutError:
        raise Refusal("usage", f"no whole line within {READ_SECONDS:g} s") from None
    except (ValueError, RecursionError):
        raise Refusal("usage", "the first line is no JSON") from None
    if not isinstance(found, dict) or found.get("v") != 1:
        raise Refusal("usage", "the first line is no object of version 1")
    return found


def client_of(hello: dict[str, Any]) -> tuple[Client, bool]:
    """The client that a first line describes."""
    allow, ask, env = hello.get("allow") or "exec", hello.get("ask") or "", hello.get("env") or {}
    sound = (
        allow in CLASSES and (not ask or ask in CLASSES) and isinstance(hello.get("cwd"), str)
        and isinstance(env, dict) and isinstance(hello.get("umask", 0), int) and hello.get("answers", ANSWERS[0]) in ANSWERS
    )  # fmt: skip
    if not sound:
        raise Refusal("usage", "the first line's parts have the wrong types")
    try:
        tools = toolset(str(hello.get("tools", "core")), allow)
    except UsageError as error:
        raise Refusal("usage", error.message) from None
    client = Client(
        id=f"mcp:{secrets.token_hex(6)}",
        cwd=hello["cwd"],
        env={str(name): str(value) for name, value in env.items()},
        umask=hello.get("umask", 0o022),
        allow=allow,
        ask=ask,
        tools=tools,
        answers=hello.get("answers", ANSWERS[0]),
    )
    return client, bool(hello.get("schemas"))
