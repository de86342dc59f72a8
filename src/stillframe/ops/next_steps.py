"""What to do after a failure: the step that its own place knows, or else what follows from its code, the call and the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import StillframeError, Try
from ..model.backend import Capability
from ..model.calls import Call
from ..registry import OPERATIONS
from ..session.phases import Phase
from ..session.session import Session

SAYS_IT_ITSELF: Mapping[str, str] = {
    "usage": "its message says what the call takes, and the next call is that one in these words",
    "denied": "its message says who can grant it, and no caller can grant it to itself",
}
"""Codes for which no step can be worked out here, and why."""

ONCE_MENDED = "what is amiss there is put right"
"""Where a file, a process or a machine is not as it would have to be, which only the message can name, the next call is the same
one. A client of MCP is told so; at a terminal nobody has to be."""

LONGEST = 1000
"""Characters of a step that are told: one that repeats a very long call would be longer than all that is to be said."""
PATIENT = 30
"""Seconds that an expression is given that took longer than it had."""


def next_step(error: StillframeError, call: Call, session: Session | None) -> Try | None:
    """The next valid call, with the names in hand; None where the message itself is one."""
    find = _BY_CODE.get(error.code)
    step = error.hint or (find(error, call, session) if find else None)
    if step is None or len(str(step.args)) > LONGEST:
        itself = error.code == "usage" or (error.code == "denied" and "needs" in error.detail)
        return None if itself else Try(call.op, once=ONCE_MENDED)
    if step.op == "raw" and session and Capability.RAW not in session.backend.capabilities:
        step = Try("capabilities")  # as in a replay, and of debuggers that take no lines
    return _of_the_same(step, call, session)


def _of_the_same(step: Try, call: Call, session: Session | None) -> Try:
    """The step in the session that the call named: one that failed has not become what later calls mean."""
    operation = OPERATIONS.get(step.op)
    takes = operation is not None and {"session", "session?", "meant"} & set(operation.injected.values())
    if session is None or call.session is None or step.once or not takes or "session" in step.args:
        return step
    return Try(step.op, {**step.args, "session": call.session})


def _looked_up(error: StillframeError, call: Call, session: Session | None) -> Try | None:
    """What there is, in the place of what there is not."""
    near = error.detail.get("nearest")
    if near and call.op == "test":
        return Try("test", {**_given(call), "selector": near[0]})
    if call.op in _OF_HITS:
        given = _given(call)
        return Try("hits", {name: given[name] for name in ("at", "run") if name in given})
    return Try("state") if session is not None and session.live and call.op != "state" else None


def _by_phase(_error: StillframeError, call: Call, session: Session | None) -> Try | None:
    if session is None:
        return None
    if not session.live:
        return session.again()
    if session.suspended:
        return Try(call.op, once="it goes on")
    if session.phase is Phase.STOPPED:
        return Try("state")
    return Try("wait" if call.op == "pause" else "pause")


def _asked_better(error: StillframeError, call: Call, session: Session | None) -> Try | None:
    """An expression failed in the program: more time where it had too little, else what its frame really holds."""
    if session is None or session.phase is not Phase.STOPPED:
        return None
    given = _given(call)
    if error.detail.get("given_up") and call.op == "eval":
        return Try("eval", {**given, "timeout": PATIENT})
    if call.op in _IN_A_FRAME:
        return Try("locals", {name: given[name] for name in ("frame", "thread") if name in given})
    return Try("restart") if call.op == "hotpatch" else None


_OF_HITS = frozenset({"hits", "hit-trend", "hit-diff", "diff"})
_IN_A_FRAME = frozenset({"eval", "set", "set-return", "expand", "watch"})


def _mended(error: StillframeError, call: Call, _session: Session | None) -> Try | None:
    """The same start with the name that there is, in the place of the one that there is not; or with its words as a command."""
    if command := error.detail.get("command"):
        others = {name: given for name, given in _given(call).items() if name != "program"}
        return Try(call.op, {**others, "command": command})
    missing, instead = error.detail.get("missing"), error.detail.get("instead")
    if not missing or not instead:
        return None
    given, here = _given(call), call.caller.cwd

    def replaced(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [replaced(each) for each in value]
        is_it = isinstance(value, str) and missing in (value, os.path.normpath(os.path.join(here, value)))
        return instead if is_it else value

    args = {name: replaced(value) for name, value in given.items()}
    return Try(call.op, args) if any(instead in _texts(each) for each in args.values()) else None


def _texts(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _given(call: Call) -> dict[str, Any]:
    """What the call itself said; the wait is left out, which a face fills in."""
    empty: tuple[Any, ...] = (None, False, (), [], "")
    return {name: given for name, given in call.args.items() if name != "timeout" and given not in empty}


def _started_again(_error: StillframeError, _call: Call, session: Session | None) -> Try:
    return session.again() if session is not None else Try("doctor")


def _ended(_error: StillframeError, call: Call, session: Session | None) -> Try:
    return Try("stop") if session is not None and call.op != "stop" else Try("doctor")


def _who_has_it(_error: StillframeError, call: Call, session: Session | None) -> Try:
    if call.op in ("launch", "attach", "restart"):
        return Try("sessions", {"all": True})
    return Try(call.op, once="the other is done")


_BY_CODE: Mapping[str, Callable[[StillframeError, Call, Session | None], Try | None]] = {
    "no_session": lambda *_: Try("sessions", {"all": True}),
    "wrong_state": _by_phase,
    "stale_handle": lambda *_: Try("state"),
    "busy": _who_has_it,
    "not_found": _looked_up,
    "unsupported": lambda _error, _call, session: Try("capabilities") if session else None,
    "eval_failed": _asked_better,
    "launch_failed": _mended,
    "adapter_unresponsive": _ended,
    "adapter_missing": lambda *_: Try("doctor"),
    "adapter_died": _started_again,
    "protocol_error": _started_again,
    "store_full": lambda _error, call, _session: Try(call.op, once="that is put right"),
    "internal": lambda *_: Try("daemon", {"": "status"}),
}
