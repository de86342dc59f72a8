"""Python 3.8 to 3.14, through debugpy's server inside the target, brought up by our own start-up script."""

from __future__ import annotations

import asyncio
import builtins
import os
import re
import secrets
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from ...backends.dap.launch import PORT, Address, Authorize, DapLaunch, DialsBack, Quirk, Stdio
from ...errors import AdapterMissing, LaunchFailed, UsageError
from ...model import plainfiles
from ...model.backend import Capability, Tool
from ...model.places import HitRule
from ...model.plans import AttachPlan, Plan
from .. import matches
from ..absent import no_such_file
from ..finding import Needs, Recipe
from ..gdbs import reaching
from ..interpreters import Interpreter, choose, probe
from ..leaving import LastWords
from .command import NAMES, runs_python, understood
from .endings import ignored, last_words
from .imports import FindsPythonImports
from .joining import FAILURES, check_process, mapped
from .logs import log_text
from .recording import PythonRecorder
from .servers import BOOT, CHOICE, TARGET, compiled_folder, server_for, vendored

_FOLLOW = TARGET / "follow"
_HELPER = "stillframe"

_QUIRKS = frozenset({
    Quirk.VERIFIES_EVERYTHING, Quirk.RAISED_ONCE_PER_FRAME, Quirk.OPTIONS_REPLACE_FILTERS, Quirk.BARE_FUNCTION_NAMES,
    Quirk.LOG_POINTS_ARE_STDOUT, Quirk.ONE_BREAKPOINT_PER_LINE, Quirk.PAUSES_ALL_BY_STAR,
})  # fmt: skip
_PLUMBING = re.compile(r"multiprocessing[./](resource_tracker|forkserver|semaphore_tracker)")
"""Processes that Python's multiprocessing starts for its own ends."""

_ASIDES = re.compile(r"-c( |$)")
"""`python -c`, by which makefiles and installers ask an interpreter about itself."""

_TOLD_BETTER = re.compile(r"pydevd: Error while evaluating expression in conditional breakpoint")

_ALONE = "child processes are not followed: debugpy's adapter is in use, since our own way into this interpreter does not fit"

_SHOW: dict[str, Any] = {"special": "hide", "function": "hide", "class": "hide", "protected": "inline"}


def count_hits(condition: str | None, key: str, rule: HitRule) -> str:
    """One condition that counts, inside the target, how often the user's own one held.

    debugpy 1.8.22 stops where its hit count or the condition is true, and forgets the count whenever any breakpoint
    of the file changes. The count lives in pydevd's own module, out of the program's sight.
    """
    held = f"(\n{condition}\n) and " if condition else ""
    counts = '__import__("sys").modules["pydevd"].__dict__.setdefault("_stillframe_hits", {})'
    count = f"(lambda c: c.__setitem__({key!r}, c.get({key!r}, 0) + 1) or c[{key!r}])({counts})"
    test = {"exactly": f" == {rule.number}", "from": f" >= {rule.number}", "every": f" % {rule.number} == 0"}
    return f"{held}({count}{test[rule.kind]})"


def knows_exception(name: str) -> bool:
    """debugpy 1.8.22 finds builtin classes; for others it would import a module, or fail where that is not there yet."""
    return hasattr(builtins, name)


def exception_is(names: tuple[str, ...]) -> str:
    """Whether the exception at hand is of one of these classes, named with their module or without."""
    known = "(c.__name__, c.__qualname__, c.__module__ + '.' + c.__qualname__)"
    return f"any(n in {known} for c in __exception__[0].__mro__ for n in {names!r})"


class PythonAdapter(FindsPythonImports):
    """What Stillframe knows of Python."""

    name = "python"
    languages: tuple[str, ...] = ("Python",)
    claims: tuple[str, ...] = ("*.py", "*.pyw", "*.pyz")
    roots: tuple[str, ...] = ("__main__.py",)
    first_words: re.Pattern[str] | None = NAMES
    needs: tuple[Needs, ...] = (Needs("python3", ("python3", "python"), (Recipe("apt", ("python3",)),), (3, 8)),)
    tells_handed_errors = True

    def tool(self, how: str = "") -> Tool:
        try:
            return Tool("debugpy", metadata.version("debugpy"), how)
        except metadata.PackageNotFoundError:
            raise AdapterMissing("debugpy is not installed beside Stillframe: pip install debugpy") from None

    def last_words(self, stderr: str) -> LastWords | None:
        return last_words(stderr)

    def ignored(self, stderr: str) -> LastWords | None:
        return ignored(stderr)

    def understands(self, plan: Plan) -> bool:
        if plan.kind == "command":
            return runs_python(plan)
        return plan.kind in ("module", "code") or matches(plan.program or "", self.claims) or _is_python_file(plan)

    def understood(self, plan: Plan) -> Plan:
        return understood(plan)

    async def launch(self, plan: Plan) -> DapLaunch:
        plan = understood(plan)
        program = _checked(plan)
        near = Path(plan.cwd, program).parent if plan.kind == "file" else Path(plan.cwd)
        interpreter = await probe(choose(plan.interpreter, near.resolve(), plan.env, plan.cwd))
        server = await server_for(plan, interpreter)
        if server == "adapter":
            return self._through_adapter(plan, interpreter)
        return self._direct(plan, interpreter, boot=server == "boot")

    def _direct(self, plan: Plan, interpreter: Interpreter, *, boot: bool) -> DapLaunch:
        """The target dials us and speaks DAP itself."""
        tokens = Authorize("pydevdAuthorize", secrets.token_hex(16), secrets.token_hex(16))
        mark = secrets.token_hex(8)
        script = BOOT if boot else vendored() / "pydevd.py"
        words = ["--json-dap-http", "--client", "127.0.0.1", "--port", PORT, "--skip-notify-stdin"]
        env = {name: value for name, value in plan.env.items() if name != CHOICE}
        env["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        if boot:
            env.update(_settings(tokens, on_eof="kill"))
        else:
            words += ["--access-token", tokens.server_token, "--client-access-token", tokens.client_token]
        words += ["--multiprocess"] if plan.children else []
        words += ["--module"] if plan.kind == "module" else []
        program = ["-c", plan.program or ""] if plan.kind == "code" else [plan.program or ""]
        return DapLaunch(
            tool=self.tool(how="" if boot else "stock server"),
            reach=DialsBack(),
            request="launch",
            arguments=_arguments(plan.just_my_code, stop_on_entry=plan.stop_on_entry, tells_exits=plan.tells_exits),
            child_arguments=_arguments(plan.just_my_code, stop_on_entry=False, tells_exits=plan.tells_exits),
            argv=(
                interpreter.path, "-X", "frozen_modules=off", *plan.interpreter_flags, str(script),
                *words, "--file", *program, *plan.args,
            ),
            cwd=plan.cwd,
            env=env,
            umask=plan.umask,
            stdin=plan.stdin,
            helper=_HELPER if boot else None,
            told_better=_TOLD_BETTER if boot else None,
            identify=None if boot else "pydevdSystemInfo",
            authorize=tokens,
            owns_target=True,
            children=plan.children,
            plumbing=_PLUMBING,
            asides=_ASIDES,
            mark=mark,
            **(_HELPED if boot else _ODDITIES),
        )  # fmt: skip

    def inside(self, plan: Plan) -> DapLaunch:
        """Pythons behind a shell or a wrapper: `follow/sitecustomize.py` has them dial us."""
        tokens = Authorize("pydevdAuthorize", secrets.token_hex(16), secrets.token_hex(16))
        others = plan.env.get("PYTHONPATH")
        return DapLaunch(
            tool=self.tool(),
            reach=DialsBack(),
            request="launch",
            arguments=_arguments(plan.just_my_code, stop_on_entry=plan.stop_on_entry, tells_exits=plan.tells_exits),
            child_arguments=_arguments(plan.just_my_code, stop_on_entry=False, tells_exits=plan.tells_exits),
            env={
                **_settings(tokens, on_eof="kill"),
                "STILLFRAME_FOLLOW": f"127.0.0.1:{PORT}" + ("" if plan.children else ":alone"),
                "PYTHONPATH": str(_FOLLOW) + (os.pathsep + others if others else ""),
            },
            helper=_HELPER,
            told_better=_TOLD_BETTER,
            authorize=tokens,
            children=plan.children,
            plumbing=_PLUMBING,
            asides=_ASIDES,
            **_HELPED,
        )

    def recorder(self) -> PythonRecorder:
        return PythonRecorder()

    def _through_adapter(self, plan: Plan, interpreter: Interpreter) -> DapLaunch:
        """debugpy's own adapter and launcher: slow, and the last resort."""
        field = {"file": "program", "module": "module", "code": "code"}[plan.kind]
        program = str(Path(plan.cwd, plan.program or "")) if plan.kind == "file" else plan.program
        arguments = {
            **_arguments(plan.just_my_code, stop_on_entry=plan.stop_on_entry),
            field: program,
            "args": list(plan.args),
            "cwd": plan.cwd,
            "python": [interpreter.path, *plan.interpreter_flags],
            "console": "internalConsole",
            "redirectOutput": True,
            "subProcess": False,  # a child that nobody answers hangs its parent
        }
        return DapLaunch(
            tool=self.tool(how="adapter"),
            reach=Stdio(),
            request="launch",
            arguments=arguments,
            argv=(sys.executable, "-m", "debugpy.adapter"),
            cwd=plan.cwd,
            env={name: value for name, value in plan.env.items() if name != CHOICE},
            umask=plan.umask,
            mark=secrets.token_hex(8),
            notes=(_ALONE,) if plan.children else (),
            **{**_ODDITIES, "quirks": _QUIRKS - {Quirk.LOG_POINTS_ARE_STDOUT}},
        )

    def joins(self, plan: AttachPlan) -> bool:
        return False  # nothing tells a Python but an attempt to join it

    async def attach(self, plan: AttachPlan) -> DapLaunch:
        if plan.pid is not None:
            return await self._inject(plan, plan.pid)
        if plan.port is None or plan.url is not None:
            raise UsageError("a Python program is joined by its pid, or by the HOST:PORT that debugpy listens on")
        return DapLaunch(
            tool=self.tool(how="listening port"),
            reach=Address(plan.host or "127.0.0.1", plan.port),
            request="attach",
            arguments={
                **_arguments(plan.just_my_code, stop_on_entry=False),
                "subProcess": False,
                **mapped(plan.sources),
            },
            launched=False,
            **_ODDITIES,
        )

    async def _inject(self, plan: AttachPlan, pid: int) -> DapLaunch:
        """Let gdb run our start-up code inside a process, which then dials us."""
        check_process(pid)
        env = {**(plan.env or os.environ)}
        gdb = await asyncio.to_thread(reaching, env, plan.cwd)
        tokens = Authorize("pydevdAuthorize", secrets.token_hex(16), secrets.token_hex(16))
        settings = {
            **_settings(tokens, on_eof="resume"),
            "STILLFRAME_ADDRESS": f"127.0.0.1:{PORT}",
            "STILLFRAME_GDB": gdb,
        }
        return DapLaunch(
            tool=self.tool(),
            reach=DialsBack(),
            request="attach",
            arguments=_arguments(plan.just_my_code, stop_on_entry=False),
            argv=(sys.executable, str(TARGET / "attach.py"), str(pid)),
            cwd=str(TARGET),
            env={**env, **settings},
            helper=_HELPER,
            told_better=_TOLD_BETTER,
            authorize=tokens,
            launched=False,
            target_pid=pid,
            failures=FAILURES,
            slowness=2.0,  # gdb reads the symbols of every library of the process first
            **_HELPED,
        )


_CROWD = (
    "[n for m in [__import__('sys').modules] for t in list(m['threading']._active.values())"
    " for i in [getattr(t, 'additional_info', None)] if i is not None and i.pydev_state == 2"
    " for n in (m['_pydevd_bundle._debug_adapter.pydevd_base_schema'].BaseSchema._obj_id_to_dap_id"
    ".get(m['_pydevd_bundle.pydevd_constants'].get_thread_id(t), 0), (i.hit_breakpoint_ids or [-1])[0])]"
)
"""debugpy 1.8.22 tells of one stop where it holds all threads; what the others stand at is in their own info, but a
thread that it was already holding when it came to a breakpoint's line has not looked at the breakpoint, and never will."""

_ODDITIES: dict[str, Any] = {
    "quirks": _QUIRKS,
    "unshown": frozenset({"module"}),
    "exception_root": "Python Exceptions",
    "knows_exception": knows_exception,
    "log_text": log_text,
    "judges_conditions": True,
    "exception_is": exception_is,
    "exception_identity": (
        "(id(__exception__[1]), __exception__[0].__name__)",
        "__exception__[2].tb_next is not None",
    ),
    "count_hits": count_hits,
    "crowd": _CROWD,
}
"""What is the same of debugpy 1.8.22 however it is reached."""
_HELPED: dict[str, Any] = {
    **_ODDITIES,
    "knows_exception": lambda name: True,
    "adds": frozenset({Capability.WAITS}),
    "at_entry": lambda condition, symbol: f"{condition or True}  # entry of {symbol.rpartition('.')[2]}",
}
"""Our code inside the target matches classes by name, so that none need be found beforehand."""


_FAILING_CODES = [{"from": -(2**31), "to": -1}, {"from": 1, "to": 2**31}]
"""Codes of sys.exit that say that something went wrong; debugpy 1.8.22 counts a text among them, as Python does."""


def _arguments(just_my_code: bool, *, stop_on_entry: bool, tells_exits: bool = False) -> dict[str, Any]:
    return {
        "justMyCode": just_my_code,
        "stopOnEntry": stop_on_entry,
        "showReturnValue": True,
        "redirectOutput": False,
        "stopAllThreadsOnSuspend": True,
        # sys.exit is how a program ends, not an error to be held at, unless somebody wants to know why it failed
        "breakOnSystemExit": _FAILING_CODES if tells_exits else [],
        "variablePresentation": _SHOW,
    }


def _settings(tokens: Authorize, *, on_eof: Literal["kill", "resume"]) -> dict[str, str]:
    """What our start-up script reads from the environment, and takes out of it."""
    return {
        "STILLFRAME_PYDEVD": str(vendored()),
        "STILLFRAME_TOKENS": f"{tokens.server_token}:{tokens.client_token}",
        "STILLFRAME_PYCACHE": compiled_folder(),
        "STILLFRAME_ON_EOF": on_eof,
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def _is_python_file(plan: Plan) -> bool:
    path = Path(plan.cwd, plan.program or "")
    return os.path.exists(path / "__main__.py") or runs_python(replace(plan, command=(str(path),)))


def _checked(plan: Plan) -> str:
    """The program's path or name; what can be known to fail fails here, with its reason."""
    program = plan.program or ""
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    if plan.kind != "file":
        return program
    path = Path(plan.cwd, program)
    if not os.path.exists(path):
        raise no_such_file(path, plan.cwd)
    if os.path.isdir(path) and not os.path.exists(path / "__main__.py"):
        raise LaunchFailed(f"{path} is a directory without a __main__.py")
    if not os.path.isdir(path) and not os.path.isfile(path):
        raise LaunchFailed(f"cannot read {path}: {plainfiles.NO_PLAIN_FILE}")
    if not os.access(path, os.R_OK):
        raise LaunchFailed(f"not permitted to read {path}")
    return program


PYTHON = PythonAdapter()
