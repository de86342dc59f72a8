"""The only caller of an operation: bind, policy, session, run, and every failure turned into a reply."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from .errors import Denied, Internal, NotFound, StillframeError, UsageError
from .model.backend import Tool
from .model.host import Host, in_question
from .model.recording import Operated, Recorder
from .model.reports import Unrecorded
from .ops import load_all
from .ops.next_steps import next_step
from .policy import TOLD_AS_THEY_ARE, Audit, check, must_ask, needed, unasked
from .record import discretion
from .registry import OPERATIONS, Access, Call, From, Judged, Meant, Operation
from .session.kept import Kept
from .session.session import Session
from .session.sessions import Sessions
from .settings import DEFAULTS, Settings, project_root, root_of

load_all()

log = logging.getLogger(__name__)

LONG_NAME = 80


class ErrorReply(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a call failed, and the next valid one."""

    code: str
    message: str
    hint: dict[str, Any] | None = None
    detail: dict[str, Any] = msgspec.field(default_factory=dict)


class Reply(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The envelope that every face shows: the same object in JSON, over MCP and in the library."""

    ok: bool
    op: str
    session: str | None = None
    via: Tool | None = None
    result: Any = None
    error: ErrorReply | None = None


class Dispatched(msgspec.Struct, frozen=True, kw_only=True):
    """A reply and what a face needs beside it."""

    reply: Reply
    exit_code: int = 0
    introduce: bool = False
    """The first reply of this session: say which debugger it is."""
    elsewhere: bool = False
    """It is about another session than the last call from this project was: say which."""
    budget: int = DEFAULTS.budget
    json_budget: int = DEFAULTS.json_budget
    failure: StillframeError | None = None


class Journal:
    """One call on its way into the record: what it was, how long it took and what came of it."""

    def __init__(self, recorder: Recorder | None, call: Call) -> None:
        self._recorder = recorder
        self._call = call
        self._began, self._clock = time.time(), time.monotonic()
        self._seconds, self._root = 0.0, ""
        self._session: Session | None = None
        self._kept = False
        self._reply: Reply | None = None

    def open(self, operation: Operation, session: Session | None) -> None:
        """Who it is about. Looking at the record itself, or at nothing, is not worth a line in it."""
        self._session = session
        asks_us = operation.access is Access.READ and (session is None or "record" in operation.injected.values())
        self._kept = not operation.here and not asks_us

    def end(self, reply: Reply | None) -> None:
        """It is done: this was its reply, or it was cancelled."""
        self._seconds = round(time.monotonic() - self._clock, 6)
        self._root = root_of(self._call.caller)
        self._reply = reply

    def write(self) -> None:
        if self._recorder is None or not self._kept:
            return
        reply = self._reply
        state = getattr(reply.result, "state", "ok") if reply and reply.ok else None
        error = reply.error.code if reply and reply.error else "cancelled"
        done = Operated(
            op=self._call.op,
            args={name: given for name, given in self._call.args.items() if given not in (None, False, (), [], "")},
            began=self._began,
            seconds=self._seconds,
            outcome=state if isinstance(state, str) else error,
            root=self._root,
            name=self._session.name if self._session else self._call.session,
        )
        self._recorder.operation(done, self._session.tape if self._session else None)


class Dispatcher:
    """One for a host; any number of calls at once."""

    def __init__(self, sessions: Sessions, host: Host | None = None, audit: Audit | None = None) -> None:
        self.sessions = sessions
        self._host = host
        self._audit = audit
        self._unwritten: list[Journal] = []

    def write_down(self) -> None:
        """Have the calls that were made so far recorded. It happens by itself once their replies are out."""
        journals, self._unwritten = self._unwritten, []
        for each in journals:
            each.write()

    async def run(self, call: Call) -> Dispatched:
        """Do what the call asks, and have it recorded. Never raises but for cancellation."""
        journal = Journal(self.sessions.recorder, call)
        done: Dispatched | None = None
        try:
            done = await self._run(call, journal)
        finally:
            journal.end(done.reply if done else None)
            self._unwritten.append(journal)
            asyncio.get_running_loop().call_soon(self.write_down)
        return done

    async def _run(self, call: Call, journal: Journal) -> Dispatched:
        session: Session | None = None
        try:
            operation = self._operation(call.op)
            if "record" in operation.injected.values():  # it may ask for the calls before it
                self.write_down()
            bound = operation.bind(call.args)
            here = self.sessions.settings_of(root_of(call.caller))
            about = None if operation.names_program(bound) else call.session
            await self._permit(call, operation, bound, {"": here, **self._elsewhere(call, about)})
            session, kept = (None, None) if operation.names_program(bound) else self._session(operation, call)
            arguments = {**bound, **self._injected(operation, call, session, kept)}
            journal.open(operation, session)
            with session.used() if session else contextlib.nullcontext():
                result = await operation.run(**arguments)
        except StillframeError as error:
            return self._failed(call, session, error)
        except Exception as error:
            if (unfit := _unfit(error)) is not None:
                return self._failed(call, session, unfit)
            log.exception("%s failed", call.op)
            ours = Internal(f"{type(error).__name__}: {error}")
            return self._failed(call, session, ours)
        if isinstance(result, From):
            session, result = result.session, result.result
            journal.open(operation, session)
        good = True
        if isinstance(result, Judged):
            good, result = result.good, result.result
        if hasattr(result, "unrecorded"):
            result = msgspec.structs.replace(result, unrecorded=self._unrecorded(here))
        if not _is_told_whole(call):
            result = discretion.told(result)
        done = self._done(call, session, result, here)
        return done if good else msgspec.structs.replace(done, exit_code=1)

    def _unrecorded(self, here: Settings) -> Unrecorded | None:
        """Why a report, whose last line says what is left of its run, must not say that values were recorded; and why a history
        may lack runs."""
        if self.sessions.recorder is None or not here.record:
            return "off"
        return "paused" if self.sessions.recorder.problem else None

    def _elsewhere(self, call: Call, session: str | None) -> dict[str, Settings]:
        """The settings of other projects that a call obeys as well, by their roots: of the one that the session it names runs
        in, and of the one that its client was started in. To call from another directory lifts nothing."""
        here = root_of(call.caller)
        roots = {
            project_root(call.caller.begun) if call.caller.begun else here,
            (self.sessions.project_of(session) if session else None) or here,
        }
        return {root: self.sessions.settings_of(root) for root in sorted(roots - {here})}

    async def _permit(
        self, call: Call, operation: Operation, bound: dict[str, Any], projects: Mapping[str, Settings]
    ) -> None:
        """Refuse what is not allowed or not agreed to; what runs code is written down, refused or not."""
        access, refused = needed(operation, bound, reveal=call.reveal), True
        try:
            for root, each in projects.items():
                check(operation, access, call.allow, Access[each.allow.upper()], root)
            if any(must_ask(access, each.ask) for each in projects.values()) and not call.agreed:
                await self._ask(call, operation, access.name.lower())
            refused = False
        finally:
            if self._audit is not None and access is Access.EXEC:
                self._audit.note(call, refused=refused)

    async def _ask(self, call: Call, operation: Operation, needs: str) -> None:
        """Have somebody agree to a call, where somebody is; else it is not made."""
        given = " ".join(f"{name}={value!r}" for name, value in call.args.items() if value not in (None, (), [], False))
        question = f"{call.op} {in_question(given)}: it needs {needs}, which is asked about here. Let it?"
        answer = await self._host.ask(question) if self._host is not None else None
        if answer is None:
            raise unasked(operation, needs)
        if not answer:
            raise Denied(f"{call.op} was not agreed to: it needs {needs}, which `ask` in the settings has asked about")

    def _operation(self, name: str) -> Operation:
        if name not in OPERATIONS:
            raise UsageError(f"there is no operation {name!r}")
        return OPERATIONS[name]

    def _session(self, operation: Operation, call: Call) -> tuple[Session | None, Kept | None]:
        """The session meant, or what is kept of it where the operation can do without one."""
        if call.session == "":
            raise UsageError("--session needs a name; it is empty")
        kinds = set(operation.injected.values())
        if "meant" in kinds and call.session is not None and not self.sessions.knows(call.session, call.caller):
            return None, None  # the record may know it
        if "session" in kinds:
            return self.sessions.find(call.session, call.caller, any_one=operation.is_of_all(call.args)), None
        if not kinds & {"session?", "meant"}:
            return None, None
        found = self.sessions.find_or_kept(call.session, call.caller)
        if not isinstance(found, Kept):
            return found, None
        if call.session is not None and "meant" not in kinds:
            found.need_here()
        return None, found

    def _injected(self, operation: Operation, call: Call, session: Session | None, kept: Kept | None) -> dict[str, Any]:
        there: dict[str, Any] = {
            "session": session,
            "session?": session,
            "kept": kept,
            "sessions": self.sessions,
            "caller": call.caller,
            "host": self._host,
            "record": self.sessions.recorder,
        }
        if "meant" in operation.injected.values():
            nobody = session is None and call.session is None
            there["meant"] = _meant(call, session, self.sessions.in_other_projects(call.caller) if nobody else ())
        return {name: there[kind] for name, kind in operation.injected.items()}

    def _done(self, call: Call, session: Session | None, result: Any, here: Settings) -> Dispatched:
        introduce = elsewhere = False
        if session is not None and not session.private:
            # A session named for one call does not become the one that later calls mean.
            named = call.session is not None and not call.sticky
            elsewhere = not named and self.sessions.use(session, call.caller.client)
            introduce = call.op == "raw" or not session.introduced or here.always_via
            session.introduced = True
        reply = Reply(
            ok=True,
            op=call.op,
            session=session.name if session and not session.private else None,
            via=session.tool if session else None,
            result=result,
        )
        return Dispatched(
            reply=reply, introduce=introduce, elsewhere=elsewhere, budget=here.budget, json_budget=here.json_budget
        )

    def _failed(self, call: Call, session: Session | None, error: StillframeError) -> Dispatched:
        way = error.hint = next_step(error, call, session)
        said: dict[str, Any] = {"message": error.message, "detail": dict(error.detail)}
        if not _is_told_whole(call):
            said = discretion.texts(said)
        reply = Reply(
            ok=False,
            op=call.op,
            session=session.name if session else call.session and _begun(call.session),
            error=ErrorReply(code=error.code, hint=way.told() if way else None, **said),
        )
        return Dispatched(reply=reply, exit_code=error.exit_code, failure=error)


def _is_told_whole(call: Call) -> bool:
    """Whether secrets are told, too: they were asked for."""
    return call.reveal or call.op in TOLD_AS_THEY_ARE


def _unfit(error: Exception) -> StillframeError | None:
    """What the system says of words that no file, command or variable can have, and of paths that it keeps from us,
    wherever it is asked; None of anything else."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return UsageError(f"no file can have a name so long: {_begun(error.filename)}")
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.ELOOP) and error.filename is not None:
        return NotFound(f"{_begun(error.filename)} cannot be looked at: {error.strerror}")
    if isinstance(error, ValueError) and str(error).startswith("embedded null "):
        return UsageError("no file, command or variable can hold a NUL character")
    return None


def _begun(name: object) -> str:
    text = str(name)
    return text if len(text) <= LONG_NAME else f"{text[:LONG_NAME]}…"


def _meant(call: Call, session: Session | None, others: tuple[str, ...]) -> Meant:
    known = session.recorded_as if session else None
    named = known if session and call.session == session.name else call.session
    ended = session.ended_at if session and not session.live else None
    over = time.time() - (time.monotonic() - ended) if ended is not None else None
    return Meant(named, root_of(call.caller), known, over, others)
