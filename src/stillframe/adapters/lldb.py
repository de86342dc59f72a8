"""Native programs through lldb-dap, LLVM's debug adapter, with our code inside it where it has Python."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..backends.dap.launch import HELPER, HERE, JOURNAL, STDERR, STDIN, STDOUT, DapLaunch, Quirk, Stdio
from ..errors import AdapterUnresponsive, LaunchFailed, Unsupported
from ..model.backend import Capability, Tool
from ..model.places import HitRule
from ..model.plans import AttachPlan, Plan
from ..transport.folders import private_folder, remove_folder
from ..transport.trees import MARK
from ..wire.dap import encode
from . import native, rust_formatters
from .finding import Found, Needs, Recipe, find, needed, numbers
from .gdb import GDB, GDBSERVER
from .interpreters import identity
from .leaving import LIBC, Leaving
from .listening import commands_of

_TARGET = Path(__file__).resolve().parent.parent / "_target" / "lldb"
_HELPER = "stillframe"
_KNOWN = "our code is there: "
_ANSWERED = re.compile(rb'our code is there: (?:True|False)|"(?:launch|initialized)"')
"""The answer, or what comes after the place where it would have come."""
_WITHOUT = "without our code inside it: it has no Python"
_IMPORT = f'command script import "{_TARGET / "sf_lldb.py"}"'
_NO_CORE = ("--pre-init-command", "script import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))")
"""lldb-dap 19.1 aborts when it is let go; with a program, our code inside it takes care of that."""
_NO_INIT_FILE = {"sourceInitFile": False, "$__lldb_sourceInitFile": False}
"""The user's own settings of lldb are for his terminal; the second name is that of lldb-dap 22.1."""
_SERVER = "lldb-server"
_ANSWER = 60.0
_QUIET = (
    "settings set use-color false",
    "settings set target.load-script-from-symbol-file false",  # what a program brings along runs nowhere
    "settings set target.load-cwd-lldbinit false",
    "settings set target.process.stop-on-exec false",
)
_MY_CODE = (
    r"settings set target.process.thread.step-avoid-regexp ^(<?(std|core|alloc)|__gnu_cxx)::",
    "settings set target.process.thread.step-avoid-libraries "
    "libc.so.6 libstdc++.so.6 libm.so.6 libgcc_s.so.1 libpthread.so.0 ld-linux-x86-64.so.2",
)
"""A step into the library is a step over it, also where the library has debug information."""
_OWN_DEBUG_INFO = ("settings set symbols.enable-external-lookup false",)
"""For a program that has all in itself. With the debug information of the libraries, where a machine has it, lldb 19.1 loses the
callers of every function whose code lies in two parts, as that of `fflush` does."""
_AFTER_19 = (20,)
"""The first version in which that is mended, and in which the first answer about threads may be an old one."""
_TALK = re.compile(
    r"(?!warning: |error: )|.*\bDW_(?:AT|TAG)_|.*elf-core does not support enabling breakpoints"
    r"|error: (?:stopped due to an error evaluating condition|<user expression \d+>)",
    re.IGNORECASE,
)
"""What lldb says of what it does, of a compiler's output, and of what our code tells; its other warnings are worth telling."""
_LOG_FAILURE = re.compile(
    r"(?:Expression evaluation|Ran expression)[^\n]*\n(?=error: )"
    r"|(?:error: )+(?:<user expression \d+>:\d+:\d+: )?|\n +\d+ \|[^>]*(?=>)"
)
_JOURNAL = {"LLDB_DEBUGSERVER_LOG_FILE": JOURNAL, "LLDB_SERVER_LOG_CHANNELS": "lldb process"}
_DEATHS = re.compile(rb"returning exit type Killed by signal (\d+)")
"""lldb-dap 19.1 tells a signal as an exit code; what lldb-server notes of its work tells them apart."""
_FORKS = re.compile(rb"reason = 1[23], exc_type = (\d+)")
"""Its words for a fork and a vfork, of which lldb-dap 19.1 says nothing."""
_QUIRKS = frozenset({
    Quirk.TALKS_AS_PROGRAM, Quirk.LOG_POINTS_ARE_CONSOLE, Quirk.MISNAMES_STOPS, Quirk.STOPS_IN_PARTS_OF_LINES,
    Quirk.CONSOLE_KNOWS_NO_FRAME, Quirk.LOSES_EARLY_PAUSES, Quirk.ONE_BREAKPOINT_PER_PLACE,
    Quirk.SHUFFLES_FUNCTIONS, Quirk.LOGS_LINES_ALONE, Quirk.FINISHES_OLD_STEPS,
})  # fmt: skip
_REQUESTS = frozenset({
    "attach", "completions", "configurationDone", "continue", "dataBreakpointInfo", "disassemble", "disconnect", "evaluate",
    "exceptionInfo", "initialize", "launch", "modules", "next", "pause", "restart", "scopes", "setBreakpoints",
    "setDataBreakpoints", "setExceptionBreakpoints", "setFunctionBreakpoints", "setVariable", "source", "stackTrace", "stepIn",
    "stepInTargets", "stepOut", "threads", "variables",
})  # fmt: skip
"""All that lldb-dap 19.1 knows; it aborts on any other."""
_SURVIVES = (22,)
"""The oldest version that was seen to answer a request that it does not know."""
_ECHO = re.compile(r"\A\(lldb\) [^\n]*\n")
_ZEROS = (
    "lldb tells data that is in the program's file and not in the core, such as its texts, as zeros; gdb reads the file"
)
_ADDS = frozenset({
    Capability.DATA_BREAKPOINTS, Capability.DISASSEMBLY, Capability.EXCEPTION_CLASSES,
    Capability.INSTRUCTION_BREAKPOINTS, Capability.INSTRUCTION_STEPS,
    Capability.JUMP, Capability.MEMORY, Capability.REGISTERS, Capability.SOURCES, Capability.WAITS, Capability.WRITE_MEMORY,
})  # fmt: skip


class LldbAdapter:
    """What Stillframe knows of lldb-dap."""

    name = "lldb"
    languages: tuple[str, ...] = native.LANGUAGES
    claims: tuple[str, ...] = native.CLAIMS
    roots: tuple[str, ...] = native.ROOTS
    first_words: re.Pattern[str] | None = native.FIRST_WORDS
    leaving: tuple[Leaving, ...] = LIBC
    needs: tuple[Needs, ...] = (
        Needs(
            "lldb",
            (
                "lldb-dap", *(f"lldb-dap-{number}" for number in range(24, 18, -1)),
                "/Library/Developer/CommandLineTools/usr/bin/lldb-dap",
                "/Applications/Xcode.app/Contents/Developer/usr/bin/lldb-dap",
            ),
            (Recipe("apt", ("lldb-19",)),),
            (19,),
            sibling="lldb",
            told_by=("xcrun", "--find", "lldb-dap"),  # unverified: nobody has run it on a Mac yet
        ),
    )  # fmt: skip

    def tool(self, version: str = "", how: str = "") -> Tool:
        return Tool("lldb-dap", version, how)

    def understands(self, plan: Plan) -> bool:
        return native.understands(plan) and self._stands_in(plan.env, plan.cwd)

    def understood(self, plan: Plan) -> Plan:
        return native.understood(plan)

    def _stands_in(self, env: Mapping[str, str], cwd: str) -> bool:
        """Whether it is all that there is: gdb is smaller, starts faster and reads Rust better."""
        gdb, ours = find(GDB.needs[0], env, cwd), find(self.needs[0], env, cwd)
        return bool(gdb.path is None or gdb.problem) and ours.path is not None and not ours.problem

    async def launch(self, plan: Plan) -> DapLaunch:
        if plan.record:
            raise Unsupported("lldb-dap cannot record a run; gdb can: --adapter gdb")
        plan = native.understood(plan)
        found = await asyncio.to_thread(needed, self.needs[0], plan.env, plan.cwd)
        helped = await _has_python(found)
        program = await native.program(plan)
        mark = secrets.token_hex(8)
        streams = (("input", STDIN), ("output", STDOUT), ("error", STDERR))
        commands = (
            *_settings(found, program, plan),
            "settings set target.inherit-env false",
            *(f'settings set target.{name}-path "{place}"' for name, place in streams),
            *await _formatters(program.is_rust, plan.env, plan.cwd),
        )
        return DapLaunch(
            argv=_words(found, helped),
            request="launch",
            arguments={
                "program": program.path,
                "args": list(program.args),
                "cwd": plan.cwd,
                "env": [f"{name}={value}" for name, value in {**plan.env, MARK: mark}.items()],
                "initCommands": list(commands),
            },
            cwd=plan.cwd,
            umask=plan.umask,
            stdin=plan.stdin,
            mark=mark,
            entry=_entry(program) if plan.stop_on_entry else None,
            deaths=_DEATHS,
            forks=_FORKS,
            notes=(*program.notes, *program.entry_notes(plan)),
            **self._common(found, helped, {**_environment(plan.env, plan.just_my_code, program.is_rust), **_JOURNAL}),
        )

    async def greeting(self, env: Mapping[str, str], cwd: str) -> DapLaunch:
        """lldb-dap without a program, to see whether it answers."""
        found = await asyncio.to_thread(needed, self.needs[0], env, cwd)
        helped = await _has_python(found)
        return DapLaunch(
            argv=(*_words(found, helped), *_NO_CORE), request="launch", arguments={}, cwd=cwd,
            mark=secrets.token_hex(8), **self._common(found, helped, _environment(env)),
        )  # fmt: skip

    # Joining

    def joins(self, plan: AttachPlan) -> bool:
        served = plan.port is not None and _SERVER in " ".join(commands_of(plan.port))
        return served or (native.joins(plan) and self._stands_in(plan.env, plan.cwd))

    async def attach(self, plan: AttachPlan) -> DapLaunch:
        if _is_behind_gdbserver(plan):
            raise Unsupported(
                "lldb loses its place in a program behind gdbserver: join it with gdb, or serve it by lldb-server"
            )
        found = await asyncio.to_thread(needed, self.needs[0], plan.env, plan.cwd)
        helped = await _has_python(found)
        joined = await asyncio.to_thread(native.joined, plan)
        commands = _settings(found, joined, plan)
        formatters = await _formatters(joined.is_rust, plan.env, plan.cwd)
        arguments: dict[str, Any] = {"initCommands": [*commands, *formatters]}
        if joined.path:
            arguments["program"] = joined.path
        if plan.core is not None:
            arguments |= {"coreFile": plan.core, "stopOnEntry": True}
        elif plan.port is not None:
            arguments["attachCommands"] = [f"gdb-remote {plan.host or '127.0.0.1'}:{plan.port}"]
        else:
            arguments["pid"] = plan.pid
        return DapLaunch(
            argv=_words(found, helped),
            request="attach",
            arguments=arguments,
            cwd=plan.cwd,
            launched=False,
            target_pid=plan.pid,
            is_dead=plan.core is not None,
            notes=(*joined.notes, *((_ZEROS,) if plan.core is not None else ())),
            **self._common(found, helped, _environment(plan.env, plan.just_my_code, joined.is_rust)),
        )

    def _common(self, found: Found, helped: bool, env: Mapping[str, str]) -> dict[str, Any]:
        """What holds for every way to come to a program; the files that a killed lldb leaves go with the session."""
        folder = private_folder()
        version = numbers(found.version)
        return {
            "folder": folder,
            "env": {**env, "TMPDIR": folder, **({"STILLFRAME_LINE": HELPER} if helped else {})},
            "tool": self.tool(found.version, "" if helped else _WITHOUT),
            "reach": Stdio(),
            "traces": True,
            "helper": _HELPER if helped else None,
            "greeting": _NO_INIT_FILE,
            "adds": _ADDS,
            "quirks": _QUIRKS | ({Quirk.LISTS_FIRST_THREADS} if version >= _AFTER_19 else frozenset()),
            "requests": None if version >= _SURVIVES else _REQUESTS,
            "echo": _ECHO,
            "told_better": _TALK,
            "evaluates_as": "watch",
            "is_library": native.is_library,
            "library_of": native.library_of,
            "keeps_functions": helped,
            "truth": "(bool)({})",
            "either": "({}) || ({})",
            "count_hits": count_hits if helped else None,
            "catches": {"uncaught": (), "raised": ("cpp_throw",)},
            "log_prefix": _LOG_FAILURE,
            "lacks": frozenset() if helped else frozenset({Capability.HIT_COUNTS, Capability.DATA_BREAKPOINTS}),
        }


def count_hits(condition: str | None, key: str, rule: HitRule) -> str:
    """A condition that counts inside lldb how often the user's own one held; lldb's own count knows only the first N."""
    count = f"++$stillframe_hits[{int(key[1:]) % 1024}]"
    told = {
        "exactly": f"{count} == {rule.number}",
        "from": f"{count} >= {rule.number}",
        "every": f"{count} % {rule.number} == 0",
    }
    return f"({condition}) && ({told[rule.kind]})" if condition else told[rule.kind]


def _words(found: Found, helped: bool) -> tuple[str, ...]:
    assert found.path is not None
    return (found.path, "--repl-mode", "command", *(("--pre-init-command", _IMPORT) if helped else ()))


def _settings(found: Found, program: native.Program, plan: Plan | AttachPlan) -> tuple[str, ...]:
    apart = program.has_debug_info and numbers(found.version) < _AFTER_19
    pairs = " ".join(f'"{there}" "{here}"' for there, here in plan.sources)
    sources = (f"settings set target.source-map {pairs}",) if pairs else ()
    return (*_QUIET, *(_MY_CODE if plan.just_my_code else ()), *(_OWN_DEBUG_INFO if apart else ()), *sources)


def _entry(program: native.Program) -> str:
    """The function that a user calls the beginning; that of Rust is called by one of the same name without a source."""
    if program.is_stripped:
        return native.STARTS
    stem = re.sub(r"-[0-9a-f]{16}$", "", Path(program.path).name).replace("-", "_")
    return f"{stem}::main" if program.is_rust else "main"


def _environment(env: Mapping[str, str], just_my_code: bool = True, is_rust: bool = False) -> dict[str, str]:
    """lldb's own, with our settings."""
    settings = {"just_my_code": just_my_code, "rust": is_rust, "foreign": native.FOREIGN.pattern}
    return {**native.environment(env), "STILLFRAME_LLDB": json.dumps(settings)}


def _is_behind_gdbserver(plan: AttachPlan) -> bool:
    """lldb 19.1 does not know that gdbserver leaves the instruction pointer behind a breakpoint, and runs on from there."""
    here = plan.port is not None and plan.host in (None, *HERE)
    return here and any(GDBSERVER.search(each) for each in commands_of(plan.port or 0))


async def _formatters(is_rust: bool, env: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    """What loads Rust's own formatters of its containers; those of C++ are lldb's."""
    folders = await rust_formatters.folders(rust_formatters.FOR_LLDB, env, cwd) if is_rust else ()
    return _loading(folders)


def _loading(folders: tuple[str, ...]) -> tuple[str, ...]:
    folder = next((each for each in folders if os.path.isfile(f"{each}/lldb_commands")), None)
    if folder is None:
        return ()
    return (
        f"script import sys; sys.path.extend({folders!r})",
        f'command script import "{folder}/lldb_lookup.py"',
        f'command source -s true "{folder}/lldb_commands"',
    )


_TESTED: dict[str, bool] = {}
"""An lldb-dap to whether our code works in it."""


async def _has_python(found: Found) -> bool:
    """Whether our code can be had in this lldb-dap; asked once, in a conversation of two requests."""
    assert found.path is not None
    key = identity(found.path)
    if key not in _TESTED:
        _TESTED[key] = await _answers((*_words(found, True), *_NO_CORE))
    return _TESTED[key]


async def _answers(words: tuple[str, ...]) -> bool:
    """lldb-dap 22.1 runs no command, not even those that it was started with, before it is told to launch; the commands that come
    with a launch are run by every version, also when there is no such program."""
    question = f"script import sys; print({_KNOWN!r} + str('sf_lldb' in sys.modules))"
    launch = {"program": "/dev/null/none", "initCommands": [question]}
    requests = (("initialize", {"adapterID": "lldb", **_NO_INIT_FILE}), ("launch", launch))
    asked = [
        {"seq": at, "type": "request", "command": name, "arguments": body}
        for at, (name, body) in enumerate(requests, 1)
    ]
    return f"{_KNOWN}True".encode() in await _said(words, b"".join(encode(each) for each in asked))


async def _said(words: tuple[str, ...], asked: bytes) -> bytes:
    """What lldb-dap says until it has answered; one that is only slow must not be taken for one without Python."""
    folder = private_folder()
    try:
        process = await asyncio.create_subprocess_exec(
            *words, env={**_environment({}), "TMPDIR": folder}, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(_ANSWER):
                return await _until_answered(process, asked)
        finally:
            if process.returncode is None:
                process.kill()  # at its end by itself lldb-dap 22.1 may wait for ever for a thread of its own
                await process.wait()
    except OSError as error:
        raise LaunchFailed(f"cannot run {words[0]}: {error.strerror}") from None
    except TimeoutError:
        raise AdapterUnresponsive(f"{words[0]} did not answer its first questions within {_ANSWER:g} s") from None
    finally:
        remove_folder(folder)


async def _until_answered(process: asyncio.subprocess.Process, asked: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(asked)
    said = b""
    while not _ANSWERED.search(said) and (more := await process.stdout.read(65536)):
        said += more
    return said


LLDB = LldbAdapter()
