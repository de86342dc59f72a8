"""Programs made from their sources before they are debugged: by a compiler for one file, by cargo for its projects."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ..errors import AdapterMissing, LaunchFailed
from ..settings import directory
from .interpreters import on_path

C = ("*.c",)
CPP = ("*.cc", "*.cpp", "*.cxx", "*.c++", "*.C")
RUST = ("*.rs",)
_LONGEST = 1800.0
"""A build that takes longer than this is taken for one that hangs."""
_WORTH_TELLING = 1.0
_KEPT = 100
"""So many built programs are kept; the oldest go first."""
_DEPENDENCIES = "dependencies"


class Built(msgspec.Struct, frozen=True):
    """A program that was built, or found built as it would be now."""

    path: str
    seconds: float = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"built in {self.seconds:.1f} s",) if self.seconds >= _WORTH_TELLING else ()


class Compiler(msgspec.Struct, frozen=True):
    """What makes a program of one file of a language."""

    names: tuple[str, ...]
    variable: str
    flags: tuple[str, ...]
    more: str
    """The variable whose flags users have for it."""
    libraries: tuple[str, ...]
    dependencies: tuple[str, ...]
    """Flags that have it write what a program was made of into a file, in the form of make."""
    package: str


_CC = Compiler(
    ("cc", "gcc", "clang"), "CC", ("-g", "-O0"), "CFLAGS", ("-pthread", "-lm"), ("-MD", "-MF", "{}"), "apt install gcc"
)
_CXX = Compiler(
    ("c++", "g++", "clang++"), "CXX", ("-g", "-O0"), "CXXFLAGS", ("-pthread", "-lm"), ("-MD", "-MF", "{}"),
    "apt install g++",
)  # fmt: skip
_RUSTC = Compiler(
    ("rustc",), "RUSTC", ("-g", "--edition", "2021"), "RUSTFLAGS", (), ("--emit", "link,dep-info={}"),
    "apt install rustc",
)  # fmt: skip


def compiler_of(path: Path) -> Compiler | None:
    """What compiles a file of this name."""
    by_ending = {each[1:]: made for group, made in ((C, _CC), (CPP, _CXX), (RUST, _RUSTC)) for each in group}
    return by_ending.get(path.suffix)


_MAKERS = (
    (("CMakeLists.txt",), "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build"),
    (("GNUmakefile", "makefile", "Makefile"), "make {}"),
)
"""Files that say how a project's programs are made, and what makes one of them."""


def way_to_make(program: Path, folder: Path) -> str:
    """What to say of a program that is not there, in a folder that tells how to make it; nothing for others."""
    if program.suffix:
        return ""
    line = next((line for names, line in _MAKERS if any((folder / name).is_file() for name in names)), None)
    return f"; to make it first: --build '{line.format(program.name)}'" if line else ""


async def compiled(source: Path, env: Mapping[str, str]) -> Built:
    """The program that one source file makes, with debug information; kept for as long as nothing it was made of changes."""
    compiler = compiler_of(source)
    assert compiler is not None
    words = (*_words(compiler, env, str(source.parent)), *compiler.flags, *shlex.split(env.get(compiler.more, "")))
    place = directory("cache") / "built" / _key(source, words, env)
    program = place / (source.stem or "program")
    if _is_fresh(place, program):
        with contextlib.suppress(OSError):
            os.utime(place)
        return Built(str(program))
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _forget_old(place.parent)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="making-") as folder:
        making = os.path.join(folder, place.name)
        os.mkdir(making)
        made_of = os.path.join(making, "made-of")
        dependencies = (each.format(made_of) for each in compiler.dependencies)
        output = os.path.join(making, program.name)
        line = (*words, *dependencies, "-o", output, str(source), *compiler.libraries)
        code, said = await run(line, cwd=str(source.parent), env=env)
        if code != 0:
            raise LaunchFailed(f"{Path(words[0]).name} failed:\n{said}")
        _note_dependencies(Path(making), Path(made_of))
        if not _is_fresh(place, program):  # else somebody was faster with the same, and may run it by now
            with contextlib.suppress(OSError):
                os.rename(place, os.path.join(folder, "stale"))
            with contextlib.suppress(OSError):
                os.rename(making, place)
    return Built(str(program), time.monotonic() - started)


def _words(compiler: Compiler, env: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    if given := env.get(compiler.variable):
        return tuple(shlex.split(given))
    for name in compiler.names:
        if path := on_path(name, env, cwd):
            return (path,)
    raise AdapterMissing(f"no {' or '.join(compiler.names)} on PATH to compile it with: {compiler.package}")


def _key(source: Path, words: Sequence[str], env: Mapping[str, str]) -> str:
    seen = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "RUSTUP_TOOLCHAIN")
    parts = [str(source), *words, *(f"{name}={env.get(name, '')}" for name in seen)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _is_fresh(place: Path, program: Path) -> bool:
    """Whether everything that the program was made of is as it was."""
    try:
        made_of = json.loads((place / _DEPENDENCIES).read_text())
        return program.exists() and all(_state(Path(path)) == state for path, state in made_of.items())
    except (OSError, ValueError):
        return False


def _state(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_mtime_ns, found.st_size]


def _note_dependencies(place: Path, made_of: Path) -> None:
    """Keep the state of every file that the compiler read, from its rule for make."""
    with contextlib.suppress(OSError):
        files = files_of_rule(made_of.read_text())
        (place / _DEPENDENCIES).write_text(json.dumps({str(path): _state(path) for path in files}))


def files_of_rule(text: str) -> list[Path]:
    """The files that something is made of, from a compiler's rule for make."""
    rule = text.replace("\\\n", " ").partition("\n")[0]
    return [Path(word.replace("\0", " ")) for word in rule.partition(": ")[2].replace("\\ ", "\0").split()]


def _forget_old(folder: Path) -> None:
    made = sorted(folder.iterdir(), key=_last_use, reverse=True)
    for each in made[_KEPT:]:
        shutil.rmtree(each, ignore_errors=True)


def _last_use(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # what somebody else was making is made
        return 0.0


async def run(words: Sequence[str], *, cwd: str, env: Mapping[str, str], apart: bool = False) -> tuple[int, str]:
    """Run a builder to its end; its exit code and what it said, on standard output alone where they are to be kept apart."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words, cwd=cwd, env=dict(env), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE if apart else asyncio.subprocess.STDOUT, start_new_session=True,
            limit=1 << 20,
        )  # fmt: skip
    except OSError as error:
        raise LaunchFailed(f"cannot run {words[0]}: {error.strerror}") from None
    try:
        async with asyncio.timeout(_LONGEST):
            out, err = await process.communicate()
    except TimeoutError:
        raise LaunchFailed(f"{words[0]} was not done after {_LONGEST:g} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    code = process.returncode or 0
    said = out if not apart or code == 0 else err
    return code, said.decode("utf-8", "backslashreplace")
