"""One client of MCP: what it may do, where it is, and its calls of the daemon, each turned into text and the JSON envelope.

What a program prints or holds is data: the envelope says `untrusted`, and the text stands between marks with a word that
no program can know.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from ...errors import Denied, StillframeError, UsageError
from ...render.escape import escape, lines, shorten
from .. import daemonline
from .orders import WAIT_SECONDS, Order, as_if_allowed, understand
from .toolset import CLASSES, Tool, Toolset, toolset
from .wording import parameters, shell_line

MESSAGE, FAILURE, LEAST = 1500, 4000, 100
"""Characters of a failure's message, of all that is told of it, and of what is told of it at any budget."""
NAME, PATH = 80, 300
"""Characters of the name of a tool, and of a path, that is none."""
FRESH_WORDS = 64
OURS = frozenset({"usage", "no_session", "wrong_state", "stale_handle", "busy", "denied"})
"""Failures that are told in our own words alone, refusals by class among them."""

MOSTLY_OURS = ("launch_failed", "unsupported", "not_found", "adapter_missing")
"""Failures whose messages are ours, with words of a program or a tool in them."""

LINES = daemonline.KeptLines()
"""The lines of this process to the daemon, whichever client asks."""

ANSWERS = ("both", "text")

Progress = Callable[[float, float, str], Awaitable[None]]
"""Called now and then during a call: seconds so far, seconds at the most, and a word."""


class Told(msgspec.Struct, frozen=True):
    """What a tool call answers."""

    text: str
    envelope: bytes
    """The CLI's JSON: the daemon's own bytes where nothing about them has to change, since a step has no time to read them."""
    failed: bool
    met: bool = False
    """It is about a session that this client had not heard of: there are more resources than before."""
    denied: bool = False
    asked: bool = False
    """It was not made, since somebody has to agree to it first."""


class Client(msgspec.Struct):
    """Whoever is at the other end of a connection."""

    id: str
    cwd: str
    env: Mapping[str, str]
    umask: int = 0o022
    allow: str = "exec"
    ask: str = ""
    """The class from which on a call is made only after somebody agreed to it; empty: nobody is asked."""
    answers: str = "both"
    """`both`: the JSON and the text beside it; `text`: that alone."""
    begun: str = ""
    """Where it was started, whose settings hold wherever it goes; empty: it has not left it."""
    tools: Toolset = msgspec.field(default_factory=toolset)
    cancelled: list[str] = msgspec.field(default_factory=list[str])
    """What became of calls that were cancelled, told with the next answer."""
    known: set[str] = msgspec.field(default_factory=set[str])
    """The sessions that it has heard of."""

    @property
    def hears_json(self) -> bool:
        return self.answers != "text"

    async def call(self, name: str, arguments: Mapping[str, Any], progress: Progress, *, agreed: bool = False) -> Told:
        """Do what a tool call asks; whatever goes wrong is an answer."""
        verb, was = name, (self.cwd, self.begun)
        try:
            tool = self.tools.find(name)
            order = understand(self.tools, tool, arguments)
            verb = order.verb
            self._enter(order.project)
            answer = await self._asked(tool, order, progress, agreed)
        except StillframeError as error:
            if isinstance(error, Denied):
                await self.disown(name, arguments)
            return self._failed(envelope_of(verb, error))
        reply = _sound(answer.reply)
        outcome = _outcome_of(reply)
        if not outcome.ok:
            failed = self._failed(msgspec.json.decode(reply), tool, order.budget or FAILURE)
            if failed.denied:
                self.cwd, self.begun = was  # it has led nowhere; and made again, it begins where it began
            return failed
        return self._done(reply, outcome.session, answer.text.decode("utf-8", "replace"))

    async def disown(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Have a call that is refused here written down: the daemon is told of it without the right to make it."""
        meant = as_if_allowed(name, arguments)
        if meant is None:
            return  # what cannot be understood would not have run
        with contextlib.suppress(StillframeError):
            await LINES.ask({**self._request(*meant, agreed=False), "allow": CLASSES[0], "env": {}})

    def _enter(self, project: str | None) -> None:
        """Take another directory as the one that paths are relative to, for this call and those that follow."""
        if project is None:
            return
        folder = self.folder(project)
        if not os.path.isdir(folder):
            raise UsageError(f"project is no directory: {shorten(folder, PATH)}")
        self.begun = self.begun or self.cwd
        self.cwd = folder

    def folder(self, project: str) -> str:
        return os.path.abspath(os.path.join(self.cwd, os.path.expanduser(project)))

    async def _asked(self, tool: Tool, order: Order, progress: Progress, agreed: bool) -> daemonline.Answer:
        began = time.monotonic()
        most = float(order.args.get("timeout", WAIT_SECONDS))

        async def alive() -> None:
            await progress(round(time.monotonic() - began, 1), most, f"{order.verb}: still at it")

        try:
            return await LINES.ask(self._request(tool, order, agreed), alive)
        except asyncio.CancelledError:
            self.cancelled.append(_left(order))
            raise

    def _request(self, tool: Tool, order: Order, agreed: bool) -> dict[str, Any]:
        return {
            "op": order.verb,
            "args": order.args,
            "session": order.session,
            "json": True,
            "text": order.budget or 0,
            "around": len(_said(self.cancelled)) + MARKS,
            "allow": min(self.allow, tool.access, key=CLASSES.index),
            "client": self.id,
            "sticky": True,
            "cwd": self.cwd,
            "begun": self.begun,
            "umask": self.umask,
            "env": dict(self.env) if order.needs_environment else {},
            "agreed": agreed,
            "words": self.tools.words,
        }

    def _done(self, reply: bytes, session: str | None, text: str) -> Told:
        notes = self._notes()
        more: dict[str, Any] = {"notes": notes, "untrusted": True} if notes else {"untrusted": True}
        return Told(
            _said(notes) + fenced(text.rstrip("\n")), _with(reply, more), failed=False, met=self._meets(session)
        )

    def _meets(self, session: str | None) -> bool:
        new = session is not None and session not in self.known
        if session is not None:
            self.known.add(session)
        return new

    def _failed(self, envelope: dict[str, Any], tool: Tool | None = None, room: int = FAILURE) -> Told:
        error = envelope.get("error") or {}
        asked = bool((error.get("detail") or {}).get("asked"))
        denied = error.get("code") == "denied"
        detail = error.get("detail") or {}
        # What is refused for another reason than its class names processes and what a project's files bring, by their own words;
        # so does what is wrong in one of these files.
        ours = error.get("code") in OURS and not (denied and tool and "needs" not in detail) and "file" not in detail
        if denied:
            self._grant(error, tool)
        if error.get("code") in (*OURS, *MOSTLY_OURS):
            error["message"] = parameters(str(error["message"]), str(envelope.get("op")))
        body = shorten(lines(str(error.get("message", ""))), MESSAGE)
        for name, said in (error.get("detail") or {}).items():
            if isinstance(said, str) and said.strip() and said.strip() not in body:
                body += f"\n{escape(name)}: {shorten(lines(said.strip()), MESSAGE)}"
        notes = [] if asked else self._notes()
        before, step = _said(notes) + f"error {error.get('code')}: ", self._next_step(error.get("hint"))
        after = (
            f"\ntry: {step}" if step and len(step) <= room // 2 else ""
        )  # the JSON has it where the text has no room
        body = shorten(body, max(room - len(before) - len(after) - (0 if ours else MARKS), LEAST))
        if not ours:
            envelope["untrusted"] = True
        if notes:
            envelope["notes"] = notes
        text = before + (body if ours else fenced(body)) + after
        return Told(text, msgspec.json.encode(envelope), failed=True, denied=denied, asked=asked)

    def _grant(self, error: dict[str, Any], tool: Tool | None) -> None:
        """Say how a refusal can be lifted: by another tool, by the command that started us, or in the settings."""
        detail = error.get("detail") or {}
        needs = detail.get("needs")
        if needs not in CLASSES or detail.get("asked"):
            return
        if CLASSES.index(needs) > CLASSES.index(self.allow):
            only = str(error["message"]).partition(":")[0]
            error["message"] = f"{only}: whoever started this server grants it by dbg mcp --allow {needs}"
        elif tool is not None and CLASSES.index(needs) > CLASSES.index(tool.access):
            error["message"] = f"{tool.name} takes no expression" + (
                f"; the tool {tool.other} does" if tool.other else ""
            )
        error.pop("detail", None)

    def _next_step(self, hint: Any) -> str:
        if not isinstance(hint, dict):
            return ""
        verb, given = str(hint.get("op")), hint.get("args") or {}
        spelled = self.tools.spelled(verb, given)
        if spelled is None:
            return f"{shell_line(verb, given)} (on the command line)"
        name, arguments = spelled
        if once := hint.get("once"):
            return f"{name} again, once {once}"
        return f"{name} {json.dumps(arguments)}" if arguments else name

    def _notes(self) -> list[str]:
        told, self.cancelled = self.cancelled, []
        return told


def _left(order: Order) -> str:
    if order.owned:
        return f"{order.verb} was cancelled, and its program ended"
    if order.starts:
        return f"the call of {order.verb} was cancelled; a program that it had started by then was left as it was"
    if order.waits:
        return f"the call of {order.verb} was cancelled; the program was left as it was, and may still be running"
    if order.looks:
        return f"the call of {order.verb} was cancelled"
    return f"the call of {order.verb} was cancelled; what it had begun in the program may be done all the same"


def _said(notes: Sequence[str]) -> str:
    return "".join(f"note: {each}\n" for each in notes)


def fenced(text: str) -> str:
    """Text that may hold a program's words, between marks that it cannot have guessed."""
    if not _WORDS:
        _WORDS.extend(secrets.token_bytes(3 * FRESH_WORDS).hex(" ", 3).split())
    word = _WORDS.pop()
    return f"<data-{word}>\n{text}\n</data-{word}>"


_WORDS: list[str] = []
"""Words that were not used yet: to ask the kernel for each takes a turn of its own."""
MARKS = len(fenced(""))
"""Characters of the marks, which a budget is for as well."""


def envelope_of(verb: str, error: StillframeError) -> dict[str, Any]:
    told: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.hint is not None:
        told["hint"] = error.hint.told()
    if error.detail:
        told["detail"] = error.detail
    return {"ok": False, "op": shorten(verb, NAME), "error": told}


class _Outcome(msgspec.Struct):
    """What has to be known of a reply; the rest of it is passed on as it is."""

    ok: bool
    session: str | None = None


_outcome_of = msgspec.json.Decoder(_Outcome).decode


def _with(reply: bytes, more: dict[str, Any]) -> bytes:
    """An object with some more in it."""
    return reply.rstrip()[:-1] + b"," + msgspec.json.encode(more)[1:]


def _sound(reply: bytes) -> bytes:
    """The reply; bytes of a program that are no text are escaped, since MCP's JSON must be sound Unicode."""
    return msgspec.json.encode(_escaped(json.loads(reply))) if b"\\ud" in reply else reply


def _escaped(node: Any) -> Any:
    match node:
        case str():
            return node.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_escaped(key): _escaped(value) for key, value in node.items()}
        case list():
            return [_escaped(item) for item in node]
        case _:
            return node
