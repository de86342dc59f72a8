"""Which exceptions stop the program, as the debugger is told it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import Try, Unsupported
from ...model.backend import Capability, CatchMode, CatchRule
from .client import DapClient, Refused
from .helper import Helper
from .launch import DapLaunch, Quirk

Arguments = dict[str, Any]


async def set_catch(
    client: DapClient, launch: DapLaunch, helper: Helper | None, catch: CatchRule, known: frozenset[str]
) -> None:
    """Tell the debugger which exceptions stop the program; a filter that it does not have is an error by name."""
    if helper is not None and Capability.EXCEPTION_CLASSES in launch.adds:
        await _tell_helper(launch, helper, catch)
        return
    unknown = [mode for mode in sorted(catch.modes - {"uncaught"}) if mode not in launch.catches]
    filters = [word for mode in sorted(catch.modes) for word in launch.catches.get(mode, ())]
    missing = unknown + [each for each in filters if each not in known]
    if missing:
        offered = ", ".join(sorted(known)) or "nothing"
        raise Unsupported(f"{launch.tool.tool} cannot catch {', '.join(missing)}; it has {offered}", hint=Try("raw"))
    if not known and not filters and not catch.classes:
        return  # it has no exceptions to speak of
    arguments: Arguments = {"filters": filters}
    if catch.classes:
        arguments["exceptionOptions"] = _class_options(launch, catch)
    try:
        await client.request("setExceptionBreakpoints", arguments)
    except Refused as refused:
        raise Unsupported(f"the exceptions to catch were refused: {refused.message}") from None


async def _tell_helper(launch: DapLaunch, helper: Helper, catch: CatchRule) -> None:
    """Our code inside the debugger knows more kinds of failures than the debugger's filters."""
    if unknown := sorted(catch.modes - {"uncaught", *launch.catches}):
        raise Unsupported(f"{launch.tool.tool} cannot catch {', '.join(unknown)}", hint=Try("raw"))
    await helper.call("catch", modes=sorted(catch.modes), classes=list(catch.classes))


_BREAK_MODES: Mapping[CatchMode, str] = {"uncaught": "unhandled", "raised": "always", "user": "userUnhandled"}


def _class_options(launch: DapLaunch, catch: CatchRule) -> list[Arguments]:
    if launch.exception_root is None:
        raise Unsupported(f"{launch.tool.tool} cannot catch single exception classes", hint=Try("raw"))
    root = {"names": [launch.exception_root]}
    options: list[Arguments] = [{"path": [root, {"names": [name]}], "breakMode": "always"} for name in catch.classes]
    if Quirk.OPTIONS_REPLACE_FILTERS in launch.quirks:
        options += [{"path": [root], "breakMode": _BREAK_MODES[mode]} for mode in sorted(catch.modes)]
    return options
