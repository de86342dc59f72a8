"""The only caller of an operation: bind, policy, session, run, and every failure turned into a reply."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import msgspec

from .errors import Internal, StillframeError, UsageError
from .model.backend import Tool
from .model.host import Host
from .ops import load_all
from .policy import Audit, check
from .registry import OPERATIONS, Access, Call, From, Judged, Operation
from .session.kept import Kept
from .session.session import Session
from .session.sessions import Sessions
from .settings import Settings

load_all()

log = logging.getLogger(__name__)


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
    budget: int = Settings.budget
    json_budget: int = Settings.json_budget
    failure: StillframeError | None = None


class Dispatcher:
    """One for a host; any number of calls at once."""

    def __init__(self, sessions: Sessions, host: Host | None = None, audit: Audit | None = None) -> None:
        self.sessions = sessions
        self._host = host
        self._audit = audit

    async def run(self, call: Call) -> Dispatched:
        """Do what the call asks. Never raises but for cancellation."""
        session: Session | None = None
        try:
            operation = self._operation(call.op)
            bound = operation.bind(call.args)
            here = self.sessions.settings(call.caller.cwd)
            # of the rights that it has, what the project's settings leave
            self._check(call, operation, bound, min(call.allow, Access[here.allow.upper()]))
            session, kept = self._session(operation, call)
            arguments = {**bound, **self._injected(operation, call, session, kept)}
            with session.used() if session else contextlib.nullcontext():
                result = await operation.run(**arguments)
        except StillframeError as error:
            return self._failed(call, session, error)
        except Exception as error:
            log.exception("%s failed", call.op)
            ours = Internal(f"{type(error).__name__}: {error}")
            return self._failed(call, session, ours)
        if isinstance(result, From):
            session, result = result.session, result.result
        if isinstance(result, Judged):
            done = self._done(call, session, result.result, here)
            return msgspec.structs.replace(done, exit_code=0 if result.good else 1)
        return self._done(call, session, result, here)

    def _check(self, call: Call, operation: Operation, bound: dict[str, Any], allow: Access) -> None:
        """Refuse what is not allowed; what runs code is written down, refused or not."""
        if self._audit is not None and operation.access_for(bound) is Access.EXEC:
            self._audit.note(call, refused=allow < Access.EXEC)
        check(operation, bound, allow)

    def _operation(self, name: str) -> Operation:
        if name not in OPERATIONS:
            raise UsageError(f"there is no operation {name!r}")
        return OPERATIONS[name]

    def _session(self, operation: Operation, call: Call) -> tuple[Session | None, Kept | None]:
        """The session meant, or what is kept of it where the operation can do without one."""
        if call.session == "":
            raise UsageError("--session needs a name; it is empty")
        kinds = set(operation.injected.values())
        if "session" in kinds:
            return self.sessions.find(call.session, call.caller), None
        if "session?" not in kinds:
            return None, None
        found = self.sessions.find_or_kept(call.session, call.caller)
        if not isinstance(found, Kept):
            return found, None
        if call.session is not None:
            found.need_here()
        return None, found

    def _injected(self, operation: Operation, call: Call, session: Session | None, kept: Kept | None) -> dict[str, Any]:
        there = {
            "session": session,
            "session?": session,
            "kept": kept,
            "sessions": self.sessions,
            "caller": call.caller,
            "host": self._host,
        }
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
        hint = (
            {"op": error.hint.op, **({"args": dict(error.hint.args)} if error.hint.args else {})}
            if error.hint
            else None
        )
        reply = Reply(
            ok=False,
            op=call.op,
            session=session.name if session else call.session,
            error=ErrorReply(code=error.code, message=error.message, hint=hint, detail=error.detail),
        )
        return Dispatched(reply=reply, exit_code=error.exit_code, failure=error)
