"""Native programs through gdb 14 and later, which speaks the debug adapter protocol, with our code inside it."""

from __future__ import annotations

import asyncio
import glob
import json
import os
import re
import secrets
import shlex
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..backends.dap.launch import HERE, STDERR, STDIN, STDOUT, DapLaunch, Quirk, Stdio
from ..errors import LaunchFailed, Unsupported, UsageError
from ..model.backend import Capability, Tool
from ..model.places import HitRule
from ..model.plans import AttachPlan, Plan
from ..transport.trees import MARK
from . import gdbs, native, rust_formatters
from .building import run
from .finding import Found, Needs, needed, numbers
from .interpreters import identity
from .leaving import LIBC, Leaving
from .listening import commands_of

_TARGET = Path(__file__).resolve().parent.parent / "_target" / "gdb"
_HELPER = "stillframe"
_SERVER = "gdbserver"
GDBSERVER = re.compile(r"^(?!\S*lldb-server)(?:\S+ )?\S*\bgdbserver\b")
"""Its command, as it is or behind a loader or interpreter; lldb's own server has a part of that name."""
_MULTI = re.compile(r"\bgdbserver .*--multi\b")
"""One that is to be told what to start."""
_QUIET = (
    "set debuginfod enabled off",  # it would ask the network, and be waited for
    "set auto-load python-scripts off",  # what a program brings along runs nowhere
    "set auto-load gdb-scripts off",
    "set auto-load local-gdbinit off",
    "set startup-with-shell on",
)
_TALK = re.compile(r"(?!warning:)|warning: \((?:Internal error|Error): pc ", re.IGNORECASE)
"""What gdb says of what it does, which is nobody's business; its warnings are, but for those of a fault of its own that tables of
Rust's functions show: it finds the file of an address, and no symbol."""
_FORKS = re.compile(rb"\[Detaching after v?fork from child process (\d+)")
_ADDS = frozenset({
    Capability.DATA_BREAKPOINTS, Capability.DISASSEMBLY, Capability.INSTRUCTION_BREAKPOINTS, Capability.JUMP,
    Capability.MEMORY, Capability.REGISTERS, Capability.WAITS, Capability.WRITE_MEMORY,
})  # fmt: skip
_TAKES_CORES = (18,)
_TUNABLES = "GLIBC_TUNABLES"
_PLAIN = "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-XSAVEC,-XSAVE,-ERMS,-AVX_Fast_Unaligned_Load"
_RECORDED = f"recorded from main on, slowly; {_TUNABLES} keeps its C library from instructions that gdb cannot record"
_STDCXX = ("/usr/share/gcc/python", "/usr/share/gcc-*/python", "/usr/local/share/gcc-*/python")
"""Where the C++ library's own printers of its containers are installed."""


class GdbAdapter:
    """What Stillframe knows of gdb."""

    name = "gdb"
    languages: tuple[str, ...] = native.LANGUAGES
    claims: tuple[str, ...] = native.CLAIMS
    roots: tuple[str, ...] = native.ROOTS
    first_words: re.Pattern[str] | None = native.FIRST_WORDS
    leaving: tuple[Leaving, ...] = LIBC
    needs: tuple[Needs, ...] = (gdbs.SPEAKING,)

    def tool(self, version: str = "", how: str = "") -> Tool:
        return Tool("gdb", version, how)

    def understands(self, plan: Plan) -> bool:
        return native.understands(plan)

    def understood(self, plan: Plan) -> Plan:
        return native.understood(plan)

    async def launch(self, plan: Plan) -> DapLaunch:
        plan = native.understood(plan)
        found = await asyncio.to_thread(needed, self.needs[0], plan.env, plan.cwd)
        missing = await _missing_names(found)
        program = await native.program(plan)
        mark = secrets.token_hex(8)
        settings = {
            "just_my_code": plan.just_my_code,
            "entry": plan.stop_on_entry,
            "record": plan.record,
            "printers": await _printers(program.is_rust, plan.env, plan.cwd),
        }
        return DapLaunch(
            argv=(*_words(found, missing, plan), "-iex", f"set exec-wrapper {_wrapper(plan.env)}", program.path),
            request="launch",
            arguments={
                "args": list(program.args),
                "env": {**plan.env, **(_recordable(plan.env) if plan.record else {}), MARK: mark},
                "stopAtBeginningOfMainSubprogram": (plan.stop_on_entry and not program.is_stripped) or plan.record,
            },
            entry=native.STARTS if plan.stop_on_entry and program.is_stripped else None,
            cwd=plan.cwd,
            env=_environment(plan.env, settings),
            umask=plan.umask,
            stdin=plan.stdin,
            mark=mark,
            notes=(*program.notes, *program.entry_notes(plan), *((_RECORDED,) if plan.record else ())),
            **self._common(found, missing, record=plan.record),
        )

    async def greeting(self, env: Mapping[str, str], cwd: str) -> DapLaunch:
        """gdb without a program, to see whether it answers."""
        found = await asyncio.to_thread(needed, self.needs[0], env, cwd)
        missing = await _missing_names(found)
        return DapLaunch(
            argv=_words(found, missing), request="launch", arguments={}, cwd=cwd, env=_environment(env, {}),
            mark=secrets.token_hex(8), **self._common(found, missing),
        )  # fmt: skip

    # Joining

    def joins(self, plan: AttachPlan) -> bool:
        return native.joins(plan) or (plan.port is not None and _SERVER in " ".join(commands_of(plan.port)))

    async def attach(self, plan: AttachPlan) -> DapLaunch:
        found = await asyncio.to_thread(needed, self.needs[0], plan.env, plan.cwd)
        missing = await _missing_names(found)
        joined = await asyncio.to_thread(native.joined, plan)
        if plan.core and missing and numbers(found.version) < _TAKES_CORES:
            raise Unsupported(
                f"gdb {found.version} takes no core by its protocol, and our code does not fit into it ({missing}); "
                "gdb 18 does, and lldb: --adapter lldb"
            )
        arguments: dict[str, Any] = {"coreFile": plan.core} if plan.core else {"pid": plan.pid}
        if plan.port is not None:
            arguments = {"target": f"{plan.host or '127.0.0.1'}:{plan.port}"}
        servers = tuple(commands_of(plan.port)) if plan.port is not None and plan.host in (None, *HERE) else ()
        multi = any(_MULTI.search(each) for each in servers)
        if multi and not joined.path:
            raise UsageError(
                "the gdbserver there (--multi) runs no program: name the one that it is to start, by --program"
            )
        settings = {
            "just_my_code": plan.just_my_code,
            "join": plan.core is None,
            "gdbserver": any(GDBSERVER.search(each) for each in servers),
            "multi": multi,
            "printers": await _printers(joined.is_rust, plan.env, plan.cwd),
        }
        return DapLaunch(
            argv=(*_words(found, missing, plan), *((joined.path,) if joined.path else ())),
            request="attach",
            arguments=arguments,
            cwd=plan.cwd,
            env=_environment(plan.env, settings),
            launched=False,
            target_pid=plan.pid,
            is_dead=plan.core is not None,
            notes=joined.notes,
            **self._common(found, missing),
        )

    def _common(self, found: Found, missing: str, *, record: bool = False) -> dict[str, Any]:
        if missing and record:
            raise Unsupported(
                f"gdb {found.version} cannot be made to record: our code does not fit into it ({missing})"
            )
        how = f"without our code inside it: {missing}" if missing else ""
        return {
            "tool": self.tool(found.version, how),
            "reach": Stdio(),
            "traces": True,
            "helper": None if missing else _HELPER,
            "adds": _ADDS | ({Capability.STEP_BACK} if record else set()),
            "quirks": frozenset({Quirk.TALKS_AS_PROGRAM, Quirk.LISTS_WHOLE_REGISTERS}),
            "forks": _FORKS,
            "told_better": _TALK,
            "evaluates_as": "watch",
            "is_library": native.is_library,
            "library_of": native.library_of,
            "keeps_functions": not missing,
            "truth": "({}) ? 1 : 0",
            "names_hits": not missing,
            "can_record": not missing,
            "exception_root": None if missing else "C++",
            "count_hits": None if missing else count_hits,
            "catches": {"raised": ("throw",)} if missing else {"uncaught": ("signals",), "raised": ("throw",)},
        }


def count_hits(condition: str | None, key: str, rule: HitRule) -> str:
    """A condition that counts inside gdb how often the user's own one held; gdb's own count knows only the first N."""
    kind = ("exactly", "from", "every").index(rule.kind)
    return f"$_sf_hit({zlib.crc32(key.encode()) >> 1}, {kind}, {rule.number}, {condition or 1})"


def _words(found: Found, missing: str, plan: Plan | AttachPlan | None = None) -> tuple[str, ...]:
    assert found.path is not None
    sources = (f'set substitute-path "{there}" "{here}"' for there, here in (plan.sources if plan else ()))
    quiet = tuple(word for line in (*_QUIET, *sources) for word in ("-iex", line))
    boot = () if missing else ("-iex", f"source {_TARGET / 'boot.py'}")
    return (found.path, "-q", "-nx", "-i=dap", *quiet, *boot)


def _wrapper(env: Mapping[str, str]) -> str:
    """What the shell that gdb starts programs by runs before the program: its streams are ours, its environment the caller's.

    A shell sets PWD by itself, and forgets an OLDPWD that is no directory, which the program would see.
    """
    own = (f"{name}={env[name]}" if name in env else f"-u{name}" for name in ("PWD", "OLDPWD"))
    return (
        f"<'{STDIN}' >'{STDOUT}' 2>'{STDERR}' env {shlex.join(sorted(own, key=lambda each: not each.startswith('-')))}"
    )


def _recordable(env: Mapping[str, str]) -> dict[str, str]:
    """The C library without the instructions that gdb 18.1 cannot record, in what it does most of the time."""
    return {_TUNABLES: ":".join(each for each in (env.get(_TUNABLES), _PLAIN) if each)}


def _environment(env: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, str]:
    return {**native.environment(env), "STILLFRAME_GDB": json.dumps(settings)}


async def _printers(is_rust: bool, env: Mapping[str, str], cwd: str) -> list[str]:
    """The folders of the toolchain's own printers, which gdb is to load."""
    folders = _stdcxx()
    if is_rust:
        folders += await rust_formatters.folders(rust_formatters.FOR_GDB, env, cwd)
    return folders


def _stdcxx() -> list[str]:
    return [path for pattern in _STDCXX for path in sorted(glob.glob(pattern)) if os.path.isdir(path)][:1]


_TESTED: dict[str, str] = {}
"""A gdb to the names of its own that our code leans on and that it lacks."""


async def _missing_names(found: Found) -> str:
    """What this gdb lacks of the private names that our code inside it needs; empty where all of them are there."""
    assert found.path is not None
    key = identity(found.path)
    if key not in _TESTED:
        line = (found.path, "-q", "-nx", "-batch", "-x", str(_TARGET / "selftest.py"))
        code, said = await run(line, cwd="/", env=_environment({}, {}), apart=True)
        if code != 0 or "dap: " not in said:
            raise LaunchFailed(f"{found.path} has no debug adapter: it may be built without Python")
        _TESTED[key] = said.partition("dap: ")[2].strip()
    return _TESTED[key]


GDB = GdbAdapter()
