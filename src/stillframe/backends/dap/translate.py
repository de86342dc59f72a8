"""Wire dictionaries into model values: the only place that meets a missing key or a foreign spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from ...model.backend import Capability, Output, Stopped
from ...model.powers import Party
from ...model.values import RESTLESS, ExceptionInfo, Frame, Module, Modules, Part, Scope, Thread, Value
from ...wire import dap_types
from .launch import DapLaunch

Body = Mapping[str, Any]

_FLAGS: Mapping[str, Capability] = {
    dap_types.SUPPORTS_CONDITIONAL_BREAKPOINTS: Capability.CONDITIONS,
    dap_types.SUPPORTS_HIT_CONDITIONAL_BREAKPOINTS: Capability.HIT_COUNTS,
    dap_types.SUPPORTS_LOG_POINTS: Capability.LOG_POINTS,
    dap_types.SUPPORTS_FUNCTION_BREAKPOINTS: Capability.FUNCTION_BREAKPOINTS,
    dap_types.SUPPORTS_EXCEPTION_OPTIONS: Capability.EXCEPTION_CLASSES,
    dap_types.SUPPORTS_SET_VARIABLE: Capability.ASSIGN,
    dap_types.SUPPORTS_SET_EXPRESSION: Capability.ASSIGN,
    dap_types.SUPPORTS_GOTO_TARGETS_REQUEST: Capability.JUMP,
    dap_types.SUPPORTS_MODULES_REQUEST: Capability.MODULES,
    dap_types.SUPPORTS_EXCEPTION_INFO_REQUEST: Capability.EXCEPTION_INFO,
    dap_types.SUPPORTS_RESTART_FRAME: Capability.RESTART_FRAME,
    dap_types.SUPPORTS_STEP_BACK: Capability.STEP_BACK,
    dap_types.SUPPORTS_DATA_BREAKPOINTS: Capability.DATA_BREAKPOINTS,
    dap_types.SUPPORTS_INSTRUCTION_BREAKPOINTS: Capability.INSTRUCTION_BREAKPOINTS,
    dap_types.SUPPORTS_READ_MEMORY_REQUEST: Capability.MEMORY,
    dap_types.SUPPORTS_WRITE_MEMORY_REQUEST: Capability.WRITE_MEMORY,
    dap_types.SUPPORTS_STEPPING_GRANULARITY: Capability.INSTRUCTION_STEPS,
    dap_types.SUPPORTS_LOADED_SOURCES_REQUEST: Capability.SOURCES,
    dap_types.SUPPORTS_DISASSEMBLE_REQUEST: Capability.DISASSEMBLY,
}

_REASONS: Mapping[str, str] = {
    "goto": "jump",
    "data breakpoint": "watchpoint",
    "signal": "exception",
    "attach": "pause",
    "no-history": "no more history",
}
"""Stop reasons that mean the same thing under another name."""

_MODES: Mapping[str, Literal["uncaught", "unhandled", "raised", "user", "exit"]] = {
    "exit": "exit",
    "unhandled": "uncaught",
    "uncaught": "uncaught",
    "not handled so far": "unhandled",
    "always": "raised",
    "raised": "raised",
    "userUnhandled": "user",
    "user": "user",
}
_LINKS: Mapping[str, Literal["cause", "context"]] = {"cause": "cause", "context": "context"}


def capabilities(body: Body) -> frozenset[Capability]:
    """What an `initialize` answer or a `capabilities` event offers, in our words."""
    return frozenset(ours for flag, ours in _FLAGS.items() if body.get(flag) is True)


def number(value: Any) -> int | None:
    """An integer as it should be, or nothing: some adapters send floats or text."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def items(body: Body, name: str) -> list[Body]:
    """A list of objects under `name`; whatever is no object is left out."""
    found = body.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def stopped(body: Body, breakpoints: tuple[str, ...]) -> Stopped:
    """A `stopped` event; without a word about all threads it holds one."""
    reason = text(body.get("reason")) or "pause"
    thread = number(body.get("threadId"))
    return Stopped(
        thread=None if thread is None else str(thread),
        reason=_REASONS.get(reason, reason),
        description=text(body.get("description")) or text(body.get("text")),
        breakpoints=breakpoints,
        all_threads=body.get("allThreadsStopped") is True,
    )


def output(body: Body, *, log_points_are_stdout: bool) -> Output | None:
    """An `output` event; telemetry is nobody's business."""
    data = (text(body.get("output")) or "").encode("utf-8", "surrogatepass")
    match text(body.get("category")):
        case "telemetry":
            return None
        case "stdout":
            return Output("log" if log_points_are_stdout else "stdout", data)
        case "stderr":
            return Output("stderr", data)
        case _:
            return Output("console", data)


def source_path(body: Body) -> str | None:
    source = body.get("source")
    return text(source.get("path")) if isinstance(source, dict) else None


def frame(body: Body) -> Frame:
    """A frame of `stackTrace`."""
    source = body.get("source")
    source = source if isinstance(source, dict) else {}
    subtle = body.get("presentationHint") in ("subtle", "label") or source.get("presentationHint") == "deemphasize"
    return Frame(
        function=text(body.get("name")) or "?",
        file=text(source.get("path")) or text(source.get("name")),
        line=number(body.get("line")) or None,
        column=number(body.get("column")) or None,
        id=str(body.get("id", "")),
        kind="library" if subtle else "user",
        module=text(body.get("moduleId")),
    )


def helper_frame(body: Body) -> Frame:
    """A frame as our helper inside the target tells it."""
    return Frame(
        function=text(body.get("function")) or "?",
        file=text(body.get("file")),
        line=number(body.get("line")) or None,
        id=str(body.get("id", "")),
        kind="user" if body.get("user", True) else "library",
        module=text(body.get("module")),
        key=text(body.get("key")),
    )


def variable(body: Body, limit: int, plain: Callable[[str], str] = str) -> Value:
    """A variable of `variables` or the answer of `evaluate`, made `plain` and cut to the limit."""
    shown = plain(text(body.get("value")) or text(body.get("result")) or "")
    reference = number(body.get("variablesReference")) or 0
    indexed, named = number(body.get("indexedVariables")), number(body.get("namedVariables"))
    return Value(
        name=text(body.get("name")) or "",
        type=text(body.get("type")) or "",
        value=shown if len(shown) <= limit else shown[: limit - 1] + "…",
        ref=f"r{reference}" if reference > 0 else None,
        total=indexed if indexed is not None else named,
        truncated=len(shown) > limit,
    )


def helper_value(body: Body) -> Value:
    """A value as our helper tells it: already bounded, inside the target."""
    reference = number(body.get("ref"))
    return Value(
        name=text(body.get("name")) or "",
        type=text(body.get("type")) or "",
        value=text(body.get("value")) or "",
        ref=None if reference is None else f"h{reference}",
        total=number(body.get("total")),
        truncated=body.get("truncated") is True,
        shape=RESTLESS if body.get("restless") is True else text(body.get("shape")) or "",
        error=body.get("error") is True,
        children=helper_values(items(body, "children")) if "children" in body else (),
    )


def helper_values(bodies: Iterable[Body]) -> tuple[Value, ...]:
    return tuple(helper_value(each) for each in bodies)


def changed_parts(told: object) -> dict[str, tuple[Part, ...]]:
    """By the names of locals: parts of them that are others now, as our helper tells them."""
    rows = told.items() if isinstance(told, dict) else ()
    return {name: tuple(Part(path=path, value=held) for path, held in parts) for name, parts in rows}


def exception(body: Body) -> ExceptionInfo:
    """The answer of `exceptionInfo`."""
    details = body.get("details")
    details = details if isinstance(details, dict) else {}
    return ExceptionInfo(
        type=text(details.get("typeName")) or text(body.get("exceptionId")) or "?",
        message=text(details.get("message")) or text(body.get("description")) or "",
        mode=_MODES.get(text(body.get("breakMode")) or "", "unknown"),
    )


def told_error(body: Body, launch: DapLaunch) -> ExceptionInfo | None:
    """What a `stopped` event tells of the error that it is for."""
    kind, message = text(body.get("description")), text(body.get("text"))
    if not kind or not message:
        return None
    return ExceptionInfo(type=kind, message=launch.exception_text(message), mode=launch.exception_mode or "unknown")


def helper_exception(body: Body) -> ExceptionInfo:
    return ExceptionInfo(
        type=text(body.get("type")) or "?",
        message=text(body.get("message")) or "",
        mode=_MODES.get(text(body.get("mode")) or "", "unknown"),
        frames=tuple(helper_frame(each) for each in items(body, "frames")),
        cause=text(body.get("cause")),
        causes=tuple(helper_exception(each) for each in items(body, "causes")),
        link=_LINKS.get(text(body.get("link")) or "", ""),
        members=tuple(helper_exception(each) for each in items(body, "members")),
        members_total=number(body.get("members_total")) or None,
        notes=tuple(str(each) for each in body.get("notes") or ()),
        values=helper_values(items(body, "values")),
        locals=helper_values(items(body, "locals")),
    )


def party(body: Body) -> Party:
    """Somebody who waits, as our helper tells it."""
    frames = tuple(helper_frame(each) for each in items(body, "frames")) if "frames" in body else None
    return Party(
        id=str(body.get("id", "")),
        what=text(body.get("what")) or "thread",
        name=text(body.get("name")) or "?",
        state=text(body.get("state")),
        waits_for=text(body.get("waits")),
        held_by=text(body.get("holder")),
        holder=text(body.get("held_by")),
        ends=text(body.get("ends")),
        on=tuple(str(each) for each in body.get("on") or ()),
        frames=frames,
        values=helper_values(items(body, "values")),
    )


def thread(
    body: Body,
    state: Literal["stopped", "blocked", "running", "unknown"],
    named: Callable[[str], str] = str,
    what: str = "thread",
) -> Thread:
    return Thread(id=str(body.get("id", "")), name=named(text(body.get("name")) or "?"), state=state, what=what)


def scope(body: Body) -> Scope:
    reference = number(body.get("variablesReference")) or 0
    total = number(body.get("namedVariables"))
    return Scope(name=text(body.get("name")) or "?", ref=f"r{reference}" if reference > 0 else None, total=total)


def modules(bodies: list[Body], total: int | None, start: int) -> Modules:
    return Modules(modules=tuple(_module(each) for each in bodies), total=total, start=start)


def _module(body: Body) -> Module:
    user = body.get("user", body.get("isUserCode", True))
    return Module(
        name=text(body.get("name")) or "?",
        file=text(body.get("file")) or text(body.get("path")),
        kind="user" if user else "library",
        version=text(body.get("version")),
    )
