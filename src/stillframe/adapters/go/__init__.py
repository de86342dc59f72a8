"""Go, through Delve."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from msgspec.structs import replace

from ...backends.dap.launch import HERE, SOCKET, STDERR, STDIN, STDOUT, Address, DapLaunch, ListensUnix, Quirk
from ...errors import LaunchFailed, NotFound, UsageError
from ...model.backend import Capability, Tool
from ...model.plans import AttachPlan, Plan
from ...model.values import Frame
from ...transport.folders import private_folder, remove_folder
from .. import matches
from ..absent import no_such_file
from ..finding import Found, Needs, Recipe, needed
from ..leaving import Leaving
from ..listening import commands_of, owners_of
from .building import Built, build, is_go_binary, notes_of
from .command import NAMES, parsed, runs_go, understood
from .memory import BY_CONSOLE
from .names import function_name, own_function
from .panics import RECOVER
from .recording import Recording, check, recorded
from .values import value_text

_MODULES = re.compile(r"/pkg/mod/|/vendor/")
_GOS_OWN = re.compile(
    r"/src/(archive|bufio|bytes|cmp|compress|container|context|crypto|database|debug|embed|encoding|errors|expvar|flag|fmt|go"
    r"|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp|runtime|slices|sort|strconv"
    r"|strings|structs|sync|syscall|testing|text|time|unicode|unique|unsafe|weak)/[^@]*$"
)
"""Files of the packages that come with Go, wherever it is installed."""
_THREAD = re.compile(r"^(?:\* )?\[Go (\d+)(.*?)\] (.*?)(?: \(Thread \d+\))?$")


class GoAdapter:
    """What Stillframe knows of Go."""

    name = "go"
    languages: tuple[str, ...] = ("Go",)
    claims: tuple[str, ...] = ("*.go",)
    roots: tuple[str, ...] = ("go.mod",)
    first_words: re.Pattern[str] | None = NAMES
    leaving: tuple[Leaving, ...] = (Leaving("os.Exit", ("code",)),)
    recovering = RECOVER
    deadlock = "all goroutines are asleep - deadlock!"
    waits: Mapping[str, str] = {
        "runtime.chansend1": "somebody to receive from a channel",
        "runtime.chanrecv1": "something from a channel",
        "runtime.chanrecv2": "something from a channel",
        "runtime.selectgo": "any of the channels of a select",
        "runtime.block": "nothing that could come: an empty select, or a channel that is nil",
    }
    needs: tuple[Needs, ...] = (
        Needs(
            "dlv", ("dlv",), (Recipe("go", ("github.com/go-delve/delve/cmd/dlv@latest",)),), (1, 26), "version",
            re.compile(r"Version: (\d+(?:\.\d+)+)"),
        ),
    )  # fmt: skip

    def tool(self, version: str = "", how: str = "") -> Tool:
        return Tool("dlv", version, how)

    def understands(self, plan: Plan) -> bool:
        path = Path(plan.cwd, plan.program or (plan.command[0] if plan.command else ""))
        if plan.kind == "command":
            return runs_go(plan) or (plan.command[0].count("/") > 0 and is_go_binary(path))
        if plan.kind != "file":
            return False
        return matches(plan.program or "", self.claims) or _is_package(path) or is_go_binary(path)

    def understood(self, plan: Plan) -> Plan:
        if plan.kind == "command" and not runs_go(plan):
            plan = replace(plan, kind="file", program=plan.command[0], args=plan.command[1:])
        return understood(plan)

    async def launch(self, plan: Plan) -> DapLaunch:
        plan = self.understood(plan)
        _check(plan)
        found = await asyncio.to_thread(needed, self.needs[0], plan.env, plan.cwd)
        folder = private_folder()
        try:
            rr = await check(plan, folder) if plan.record else None
            built = await _built(plan, folder)
            recording = await recorded(rr, built, plan, folder) if rr else None
        except BaseException:
            remove_folder(folder)
            raise
        return DapLaunch(
            tool=self.tool(found.version),
            request="launch",
            arguments={**(_replays(recording) if recording else _runs(built)), **_looks(plan)},
            replays=recording.end if recording else None,
            never_leaves=_IS_OVER if recording else None,
            notes=(*built.notes, *(recording.notes if recording else ())),
            cwd=built.cwd,
            env={**plan.env, **_QUIET},
            umask=plan.umask,
            stdin=plan.stdin,
            folder=folder,
            mark=secrets.token_hex(8),
            entry="main.main" if plan.stop_on_entry else None,
            told_apart=functools.partial(own_function, built.cwd),
            **_spawned(found),
            **_COMMON,
        )

    async def greeting(self, env: Mapping[str, str], cwd: str) -> DapLaunch:
        """Delve without a program, to see whether it answers."""
        found = await asyncio.to_thread(needed, self.needs[0], env, cwd)
        return DapLaunch(
            tool=self.tool(found.version), request="launch", arguments={}, cwd=cwd, env=env, mark=secrets.token_hex(8),
            **_spawned(found),
        )  # fmt: skip

    # Joining

    def joins(self, plan: AttachPlan) -> bool:
        """Whether what is to be joined is a Go program, or behind a Delve that listens."""
        if plan.core is not None:
            return plan.program is not None and is_go_binary(Path(plan.program))
        if plan.pid is not None:
            return is_go_binary(Path(f"/proc/{plan.pid}/exe"))
        return plan.port is not None and any(each == "dlv" for each in owners_of(plan.port))

    async def attach(self, plan: AttachPlan) -> DapLaunch:
        if plan.port is not None and plan.url is None:
            ends = await asyncio.to_thread(_ends_with_us, plan.host, plan.port)
            return DapLaunch(
                tool=self.tool(how="listening port"),
                reach=Address(plan.host or "127.0.0.1", plan.port),
                request="attach",
                arguments={"mode": "remote", **_looks(plan)},
                launched=ends is True,
                never_leaves=_ENDS if ends else None,
                notes=(_ENDS,) if ends else () if ends is False else (_MAY_END,),
                **{**_COMMON, "quirks": _COMMON["quirks"] | {Quirk.LEAVES_HELD}},
            )
        found = await asyncio.to_thread(needed, self.needs[0], plan.env, plan.cwd)
        common = {**_spawned(found), **_COMMON, "tool": self.tool(found.version), "cwd": plan.cwd}
        common["env"] = {**plan.env, **_QUIET}
        if plan.core is not None:
            if plan.program is None:
                raise UsageError("a core of a Go program is read with the program that left it: --program FILE")
            dead = {"mode": "core", "program": plan.program, "coreFilePath": plan.core}
            notes = await asyncio.to_thread(notes_of, Path(plan.program))
            return DapLaunch(
                request="launch",
                arguments={**dead, **_looks(plan)},
                launched=False,
                is_dead=True,
                notes=notes,
                **common,
            )
        if plan.pid is None:
            raise UsageError("a Go program is joined by its pid, or by the HOST:PORT that dlv listens on")
        if not psutil.pid_exists(plan.pid):
            raise NotFound(f"no process {plan.pid}")
        there = {"mode": "local", "processId": plan.pid}
        return DapLaunch(
            request="attach",
            arguments={**there, **_looks(plan)},
            launched=False,
            target_pid=plan.pid,
            notes=await asyncio.to_thread(notes_of, Path(f"/proc/{plan.pid}/exe")),
            **common,
        )


_IS_OVER = "what is shown was recorded, and is no program that could run on"
_ENDS = "dlv runs there without --accept-multiclient: it ends the program when we leave"
_MAY_END = "dlv ends a program that it started when we leave, unless it runs with --accept-multiclient"


def _ends_with_us(host: str | None, port: int) -> bool | None:
    """Whether the Delve that listens there ends its program when its client leaves; None where nobody can tell."""
    found = [each.split() for each in commands_of(port)] if host in (None, *HERE) else []
    words = next((each for each in found if each and Path(each[0]).name == "dlv"), None)
    return None if words is None else "attach" not in words and "--accept-multiclient" not in words


_QUIET = {"GO_TELEMETRY_CHILD": "2"}
"""Else Delve starts a process beside itself that outlives it by a little; the program is not to see this."""
_LOOKS: dict[str, Any] = {"hideSystemGoroutines": True, "maxStringLen": 1024, "showPprofLabels": ["*"]}
"""What Delve is to tell, and how much of it; it cuts a value long before we do."""


def _looks(plan: Plan | AttachPlan) -> dict[str, Any]:
    pairs = [{"from": here, "to": there} for there, here in plan.sources]
    return {**_LOOKS, **({"substitutePath": pairs} if pairs else {})}


def _runs(built: Built) -> dict[str, Any]:
    return {
        "mode": "exec",
        "program": built.binary,
        "args": list(built.args),
        "cwd": built.cwd,
        "env": dict.fromkeys(_QUIET),
        "stdinFrom": STDIN,
        "stdoutTo": STDOUT,
        "stderrTo": STDERR,
    }


def _replays(recording: Recording) -> dict[str, Any]:
    return {"mode": "replay", "traceDirPath": recording.folder}


def _spawned(found: Found) -> dict[str, Any]:
    assert found.path is not None
    return {
        "argv": (found.path, "dap", f"--listen=unix:{SOCKET}", "--check-go-version=false"),
        "reach": ListensUnix(),
        "talk": re.compile(
            rb"(?:DAP server listening at: |Warning: no debug info found).*\n"
        ),  # which our notes say better
    }


def is_library(frame: Frame) -> bool:
    """Whether a frame is of Go itself, of a module that was fetched, or of code that no file holds."""
    file = frame.file or ""
    if not file.startswith("/") or _MODULES.search(file):
        return True
    return not frame.function.startswith("main.") and _GOS_OWN.search(file) is not None


def exception_text(told: str) -> str:
    """What a program panicked with, a text without its quotes."""
    try:
        return str(json.loads(told)) if told.startswith('"') else told
    except ValueError:  # Go quotes some characters in another way
        return told.strip('"')


def thread_name(told: str) -> str:
    """A goroutine as we call it: its number, its labels, and the function that it runs."""
    match = _THREAD.match(told)
    return f"goroutine {match[1]}{match[2]}: {function_name(match[3])}" if match else told


_COMMON: dict[str, Any] = {
    "is_library": is_library,
    "function_name": function_name,
    "asked_name": lambda name: name.replace("[...]", ""),  # Delve knows a generic function by its bare name
    "thread_name": thread_name,
    "threads_are": "goroutine",
    "traces": True,
    "at_work": re.compile(r"\(Thread \d+\)$"),
    "in_module": lambda module, function: f"{module}.{function}",
    "log_prefix": re.compile(r"^> \[Go \d+\]: "),
    "log_failure": re.compile(
        r"\{eval err: (?:&\{%!e\(string=|\[%!e\(\*scanner\.Error=&\{\{[^}]*\} )(.*?)(?:\)(?: %!e\(.*?\))?\}\}|\}\)\]\})"
    ),
    "taken": re.compile(r"Breakpoint exists at (.+):(\d+) at [0-9a-f]+$"),
    "threads_cut": re.compile(r"Too many goroutines, only loaded"),
    "can_record": True,
    "examines": BY_CONSOLE,
    "no_instruction": re.compile(r"could not find memory reference"),
    "shows_registers": ("dlv config showRegisters true", "dlv config showRegisters false"),
    "console": "Delve takes expressions here, `call …`, and the commands that `dlv help` lists",
    "lacks": frozenset({Capability.WRITE_MEMORY}),  # what it writes to is what it has told the address of
    "catches": {"uncaught": ("unrecovered-panic", "runtime-fatal-throw")},
    "unshown_names": re.compile(r"[~.]"),  # results without a name, and what the compiler adds
    "error_prefix": "Unable to evaluate expression: ",
    "pages": True,
    "repeats_ids": True,
    "core_stop": re.compile(r"can not continue execution of core process"),
    "condition_stop": re.compile(r"error evaluating expression: (.*)", re.DOTALL),
    "detour": re.compile(r"runtime\.(sig|async|morestack|mcall|systemstack|rt_sig|tgkill|goexit)"),
    "cut_in": re.compile(r"runtime\.(sigtramp|cgoSigtramp|sigreturn|asyncPreempt)"),
    "exception_mode": "uncaught",
    "exception_text": exception_text,
    "fatal_signal": ("runtime.fatalsignal", "sig"),  # as of Go 1.26
    "value_text": value_text,
    "told_better": re.compile(r"Type 'dlv help'|Detaching|Process \d+ has exited"),
    "unfinished_step": re.compile(r"Step interrupted by a breakpoint"),
    "quirks": frozenset(
        {
            Quirk.LOG_POINTS_ARE_STDOUT,
            Quirk.ONE_BREAKPOINT_PER_LINE,
            Quirk.UNVERIFIED_IS_FINAL,
            Quirk.NEGATIVE_EXIT_IS_SIGNAL,
            Quirk.GUESSES_DEPTH,
            Quirk.TALKS_AS_PROGRAM,
        }
    ),
}
"""What is the same of Delve 1.27.2 however it is reached."""


async def _built(plan: Plan, folder: str) -> Built:
    path = Path(plan.cwd, plan.program or "")
    if plan.kind == "file" and is_go_binary(path):
        return Built(str(path), plan.cwd, plan.args, await asyncio.to_thread(notes_of, path))
    return await build(plan, parsed(plan), folder)


def _check(plan: Plan) -> None:
    """What can be known to fail fails here, with its reason."""
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    path = Path(plan.cwd, plan.program or "")
    if plan.kind == "file" and not os.path.exists(path) and matches(plan.program or "", GO.claims):
        raise no_such_file(path, plan.cwd)


def _is_package(path: Path) -> bool:
    return os.path.isdir(path) and (os.path.exists(path / "go.mod") or any(path.glob("*.go")))


GO = GoAdapter()
