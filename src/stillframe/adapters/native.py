"""Native programs, whichever debugger runs them: what is one, how it is built from its sources, what is to be said of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..errors import Busy, LaunchFailed, NotFound
from ..model.plans import AttachPlan, Plan
from ..model.values import Frame
from . import cargo, elf, matches
from .absent import no_such_file
from .building import CPP, RUST, Built, C, compiled
from .cores import left_by
from .interpreters import on_path
from .python.joining import check_process
from .wrappers import WRAPPERS

LANGUAGES = ("C", "C++", "Rust", "native programs")
CLAIMS = (*C, *CPP, *RUST)
ROOTS = (cargo.MANIFEST,)
FIRST_WORDS = re.compile("cargo")

FOREIGN = re.compile(
    r"^(/usr/(?!local/src|src/(?!rustc-))|/lib|/rustc/|/build/|\.\.?/)|/rustlib/src/|/\.cargo/(registry|git)/|/\.rustup/"
)
"""Sources of the system, of a distribution's build machines, of Rust's library and of crates."""
_CRATE = re.compile(
    r"(/rustc[/-]|/rustlib/src/).*?/library/(?P<library>[^/]+)/|/\.cargo/registry/src/[^/]+/(?P<registry>[^/]+?)-\d[^/]*/"
)
"""A crate of Rust's own library, and one of somebody else's without its version."""
_RUNTIMES = re.compile(r"(python|pypy|ruby|perl|php|node|java|mono|dotnet|beam)")
"""Native programs whose users want to see another language's."""


STARTS = "__libc_start_main"
"""The function of C's library that calls `main`."""
_BEFORE_MAIN = (
    "the program has no names of functions: --entry holds it in libc, which is given main's address ($rdi on x86-64)"
)


class Program(msgspec.Struct, frozen=True):
    """A binary that can be run, and what is worth knowing of it."""

    path: str
    args: tuple[str, ...]
    is_rust: bool
    notes: tuple[str, ...] = ()
    has_debug_info: bool = False
    """In itself; it may lie elsewhere."""
    is_stripped: bool = False
    """There is no `main` that a debugger could find."""

    def entry_notes(self, plan: Plan) -> tuple[str, ...]:
        """What to know of where it is held at its beginning."""
        return (_BEFORE_MAIN,) if plan.stop_on_entry and self.is_stripped else ()


def is_library(frame: Frame) -> bool:
    """Whether a call is of code that the user did not write, as far as its file's name tells."""
    return frame.kind == "library" or frame.file is None or FOREIGN.search(frame.file) is not None


def library_of(frame: Frame) -> str | None:
    """What has the code of such a call: of Rust's the crate, which is linked into the program; else what it was loaded from."""
    crate = _CRATE.search(frame.file or "")
    return crate["library"] or crate["registry"] if crate else frame.module


def understands(plan: Plan) -> bool:
    """Whether this is a native program, the source of one, or a command of cargo's that runs one."""
    if plan.kind == "command":
        return _cargo_words(plan) is not None or _is_own_binary(plan)
    if plan.kind != "file" or not plan.program:
        return False
    path = Path(plan.cwd, plan.program)
    if os.path.isdir(path):
        return cargo.manifest_above(path.resolve()) is not None
    return matches(plan.program, CLAIMS) or path.name == cargo.MANIFEST or elf.is_elf(path)


def _is_own_binary(plan: Plan) -> bool:
    """A compiled program given by its path; one of the system that runs others is a wrapper."""
    word = plan.command[0] if plan.command else ""
    path = Path(plan.cwd, word)
    if "/" not in word or not elf.is_elf(path) or WRAPPERS.fullmatch(path.name):
        return False
    return plan.adapter is not None or on_path(path.name, plan.env, "/") != str(path)


def _cargo_words(plan: Plan) -> cargo.Words | None:
    if not plan.command or not FIRST_WORDS.fullmatch(Path(plan.command[0]).name):
        return None
    return cargo.understood(plan.command)


def understood(plan: Plan) -> Plan:
    """A command that is a program and its arguments, as such; a command of cargo's stays one."""
    if plan.kind != "command" or _cargo_words(plan) is not None:
        return plan
    word = plan.command[0]
    if "/" not in word:
        word = on_path(word, plan.env, plan.cwd) or word
    return replace(plan, kind="file", program=word, args=plan.command[1:])


async def program(plan: Plan) -> Program:
    """The binary behind a plan, built where it has to be; LaunchFailed with the reason where there is none."""
    if words := _cargo_words(plan) if plan.kind == "command" else None:
        built = await cargo.built(Path(plan.cwd), plan.env, words)
        return _checked(Path(built.path), (*words.filters, *words.args), built.notes)
    path = _file(plan)
    manifest = cargo.manifest_above(path) if _may_be_cargos(path) else None
    made: Built | None = None
    if manifest is not None and path.suffix == ".rs":
        made = await cargo.built_of(path, manifest.parent, plan.env)
    elif manifest is not None:
        made = await cargo.built(manifest.parent, plan.env, cargo.Words("run", (), (), plan.args))
    if made is None and not matches(path.name, CLAIMS):
        return _checked(path, plan.args, ())
    made = made or await compiled(path, plan.env)
    return _checked(Path(made.path), plan.args, made.notes)


def _file(plan: Plan) -> Path:
    asked = Path(plan.cwd, plan.program or "")
    if not os.path.isdir(plan.cwd):
        raise LaunchFailed(f"no such directory to run in: {plan.cwd}")
    if not os.path.exists(asked):
        raise no_such_file(asked, plan.cwd)
    return asked.resolve()


def _may_be_cargos(path: Path) -> bool:
    return os.path.isdir(path) or path.name == cargo.MANIFEST or matches(path.name, RUST)


def _checked(path: Path, args: tuple[str, ...], notes: tuple[str, ...]) -> Program:
    found = elf.read(path)
    if found is None:
        raise LaunchFailed(f"{path} is no program that this machine could run")
    if found.is_core:
        raise LaunchFailed(f"{path} is a core, not a program: dbg attach --core {path.name} --program PROGRAM")
    if found.is_foreign:
        raise LaunchFailed(f"{path.name} is a program for {found.machine}, which this machine cannot run")
    if not os.access(path, os.X_OK):
        raise LaunchFailed(f"{path} is not executable: chmod +x it")
    if not found.has_debug_info:
        notes = (*notes, _no_debug_info(path, found))
    return Program(str(path), args, found.is_rust, notes, found.has_debug_info, found.is_stripped)


def _no_debug_info(path: Path, found: elf.Elf) -> str:
    is_rust = found.is_rust or elf.holds(
        path, b"rust_eh_personality"
    )  # Rust 1.63 leaves no other sign in what is stripped
    how = "with `debug = true` in the profile of its Cargo.toml" if is_rust else "with -g"
    return f"{path.name} has no debug information: build it {how} to see lines and variables"


# Joining


def joins(plan: AttachPlan) -> bool:
    """Whether what is to be joined is surely a native program and none of a language that is run by one."""
    if plan.core is not None:
        return True
    if plan.pid is None:
        return False
    exe = Path(f"/proc/{plan.pid}/exe")
    try:
        name = Path(os.readlink(exe)).name
        runtimes = "libpython" in Path(f"/proc/{plan.pid}/maps").read_text(errors="replace")
    except OSError:  # it is gone, or not ours to look at
        return False
    return not runtimes and not _RUNTIMES.match(name) and elf.is_elf(exe)


def joined(plan: AttachPlan) -> Program:
    """The binary of what is to be joined, as far as it is known; a named error where it cannot be joined."""
    path = plan.program
    if plan.core is not None:
        core = elf.read_head(Path(plan.core))
        if not Path(plan.core).exists():
            raise NotFound(f"no such file: {plan.core}")
        if core is None or not core.is_core:
            raise LaunchFailed(f"{plan.core} is no core")
    elif plan.pid is not None:
        check_process(plan.pid)
        if tracer := _tracer(plan.pid):
            raise Busy(f"process {plan.pid} is debugged already, by process {tracer}")
        exe = f"/proc/{plan.pid}/exe"
        path = path or (
            os.path.realpath(exe) if Path(os.path.realpath(exe)).exists() else exe
        )  # it may be deleted by now
    if path is None:
        left = left_by(Path(plan.core)) if plan.core else None
        gone = f"{left.program}, which left it, is not there as it was: --program FILE names a copy" if left else ""
        return Program("", (), False, (gone,) if gone else ())
    if not Path(path).exists():
        raise NotFound(f"no such file: {path}")
    found = elf.read(Path(path))
    notes = () if found is None or found.has_debug_info else (_no_debug_info(Path(path), found),)
    return Program(path, (), found is not None and found.is_rust, notes, found is not None and found.has_debug_info)


def _tracer(pid: int) -> int:
    """The process that traces another one; there can be one only."""
    match = re.search(r"^TracerPid:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(match[1]) if match else 0


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment as a debugger itself may have it: what is meant for the program would change the debugger."""
    own = {name: value for name, value in env.items() if not name.startswith(("PYTHON", "LD_", "DEBUGINFOD"))}
    return {**own, "SHELL": "/bin/sh"}
