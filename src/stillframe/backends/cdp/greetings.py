"""What is said to an inspector when we come, and when we leave a program that runs on without a trace of us."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .launch import CdpLaunch

Words = Sequence[tuple[str, Mapping[str, Any]]]

TELL = "__stillframe_tell"
"""The binding by which our code in the target speaks to us; it takes it away from the program's eyes at once."""
LEAVE = "__stillframe_leave"
_TELLS_END = f"""(() => {{
  const tell = globalThis.{LEAVE};
  delete globalThis.{LEAVE};
  let emit = process.emit;
  const say = (code) => Number.isInteger(Number(code)) && tell(String(Number(code) & BITS));
  const last = {{
    emit(type, ...rest) {{
      if (type !== 'exit') return Reflect.apply(emit, this, [type, ...rest]);
      const left = globalThis[Symbol.for('stillframe')]?.noted.left?.();
      if (left) tell(left);
      const leave = process.reallyExit;
      process.reallyExit = (code) => (say(code || 0), Reflect.apply(leave, process, [code]));
      const heard = Reflect.apply(emit, this, [type, ...rest]);
      process.reallyExit = leave;
      say(process.exitCode ?? rest[0] ?? 0);
      return heard;
    }},
  }}.emit;
  const get = () => (process._exiting ? last : emit); // until then no call of the program passes through here
  const set = (value) => {{ emit = value; }};
  Object.defineProperty(process, 'emit', {{ get, set, configurable: true, enumerable: false }});
}})()"""


def tells_end(launch: CdpLaunch, *, worker: bool) -> str:
    """How one whose exit code only its parent would be told tells it to us, after everything that the program does at its end.

    That may change the code. Of an end that comes in another way (an error or a signal in there) nothing is told.
    """
    body = _TELLS_END.replace("BITS", str(0x7FFFFFFF if worker else 0xFF))
    return f"{body}\n//# sourceURL={launch.hidden}" if launch.hidden else body


def told_code(payload: object) -> int | None:
    """The exit code in what it told."""
    return int(payload) if isinstance(payload, str) and payload.isdigit() else None


def is_code(payload: object) -> bool:
    """Whether it told an exit code, and not what was left waiting."""
    return not str(payload).startswith("{")


_ASYNC_DEPTH = 16
_SCRIPTS_KEPT = 10_000_000
_LOAD = "(process.getBuiltinModule || require)"
_STORE = "globalThis[Symbol.for('stillframe')]"
_OPENED = "globalThis[Symbol.for('stillframe.opened')]"
"""Set in a process whose inspector we opened, so that whoever comes after one of us that died can close it."""


IS_UP = "typeof process === 'object' && Boolean(process.getBuiltinModule || process.argv)"
"""Whether Node has come as far as to load its own modules for us; one that is built without a snapshot (Debian's) begins bare."""

NOTES_CALLERS: Words = tuple(("Debugger.setAsyncCallStackDepth", {"maxDepth": each}) for each in (0, _ASYNC_DEPTH))
"""To note what starts callbacks, once more: where that is heard before the program waits for us, Node 24.21 obeys only after the
program's first lines."""

FIRST: Words = (("Runtime.enable", {}), ("Debugger.enable", {"maxScriptsCacheSize": _SCRIPTS_KEPT}))
"""What is said before anything else."""


def next_words(launch: CdpLaunch, exceptions: str, *, with_store: bool) -> Words:
    """In this order; all but the last may be unanswered."""
    hidden = [f"^{launch.hidden}$"] if launch.hidden else []
    words: list[tuple[str, Mapping[str, Any]]] = [
        ("Debugger.setAsyncCallStackDepth", {"maxDepth": _ASYNC_DEPTH}),
        ("Runtime.addBinding", {"name": TELL}),
        ("Debugger.setPauseOnExceptions", {"state": exceptions}),
    ]
    if (
        not launch.runs_code
    ):  # by any pattern V8 of Node 18 to 22 loses the error that ends it, and with it the exit code
        passed = [*launch.library, *hidden] if launch.just_my_code else hidden
        words.append(("Debugger.setBlackboxPatterns", {"patterns": passed}))
    if not launch.launched:  # one of us may have died in there
        words.append(_plain(f"delete {_STORE}"))
    if launch.opened_by_us:
        words.append(_plain(f"{_OPENED} = true"))
    if launch.children:
        words.append(("NodeWorker.enable", {"waitForDebuggerOnStart": True}))
    if with_store:
        words.append(_evaluated(launch.store))
    return words


def words_in_worker(launch: CdpLaunch) -> str:
    """Our code for a worker, and where our preloaded script in there, which comes after it, finds the way to us."""
    if not launch.meeting or not launch.children:
        return launch.store
    return f"globalThis[Symbol.for('stillframe.meeting')] = {json.dumps(launch.meeting)};\n{launch.store}"


def last_words(launch: CdpLaunch, *, worker: bool) -> Words:
    """Take away everything that could hold the program, and the inspector, where it is ours."""
    words: list[tuple[str, Mapping[str, Any]]] = []
    if launch.children and not worker:
        words.append(("NodeWorker.disable", {}))
    words += [
        ("Debugger.setBreakpointsActive", {"active": False}),
        ("Debugger.setPauseOnExceptions", {"state": "none"}),
    ]
    if not worker:
        # Not before our goodbye is out, and not from within the inspector's own call.
        close = f"delete {_OPENED}; setTimeout({_LOAD}('inspector').close, 50).unref()"
        words.append(_evaluated(close if launch.launched else f"if ({_OPENED}) {{ {close} }}"))
    return [
        *words,
        _plain(f"delete {_STORE}"),
        ("Runtime.runIfWaitingForDebugger", {}),
        ("Debugger.disable", {}),
    ]


def closes_inspector(launch: CdpLaunch, *, worker: bool) -> bool:
    """Whether our last words have the inspector closed, which ends our line."""
    return not worker and (launch.launched or launch.opened_by_us)


def _plain(expression: str) -> tuple[str, Mapping[str, Any]]:
    return "Runtime.evaluate", {"expression": expression, "silent": True}


def _evaluated(expression: str) -> tuple[str, Mapping[str, Any]]:
    """With what Node adds for consoles, its `require`: not before there is one, since V8 keeps what it finds first."""
    return "Runtime.evaluate", {"expression": expression, "includeCommandLineAPI": True, "silent": True}
