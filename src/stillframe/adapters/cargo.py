"""Rust's projects: what `cargo run` and `cargo test` would run, built and named by cargo itself."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..errors import AdapterMissing, LaunchFailed
from .building import Built, files_of_rule, run
from .interpreters import on_path

MANIFEST = "Cargo.toml"
_MAIN = re.compile(r"^\s*(pub |async )*fn main\(", re.MULTILINE)
_WITH_VALUE = frozenset({
    "-p", "--package", "--bin", "--example", "--test", "--bench", "--features", "-F", "--profile", "--target", "-j", "--jobs",
    "--target-dir", "--manifest-path", "--color", "--config", "-Z",
})  # fmt: skip


class Artifact(msgspec.Struct, frozen=True):
    """A program that cargo has built."""

    name: str
    kinds: tuple[str, ...]
    source: str
    executable: str


def manifest_above(path: Path) -> Path | None:
    """The manifest of the project that a file or directory belongs to."""
    start = path if os.path.isdir(path) else path.parent
    return next((each / MANIFEST for each in (start, *start.parents) if os.path.isfile(each / MANIFEST)), None)


class Words(msgspec.Struct, frozen=True):
    """`cargo run` or `cargo test`, taken apart."""

    verb: str
    flags: tuple[str, ...]
    filters: tuple[str, ...]
    """The names of tests."""
    args: tuple[str, ...]


def understood(words: Sequence[str]) -> Words | None:
    """The parts of a cargo command that runs a program; None for any other."""
    rest = [word for word in words[1:] if not word.startswith("+")]
    if not rest or rest[0] not in ("run", "r", "test", "t"):
        return None
    own: list[str] = rest[1:]
    args: tuple[str, ...] = ()
    if "--" in own:
        at = own.index("--")
        own, args = own[:at], tuple(own[at + 1 :])
    flags: list[str] = []
    others: list[str] = []
    words_left = iter(own)
    for word in words_left:
        if not word.startswith("-"):
            others.append(word)
            continue
        flags.append(word)
        if word in _WITH_VALUE:
            flags += [value for value in [next(words_left, None)] if value is not None]
    is_test = rest[0].startswith("t")
    return Words(
        "test" if is_test else "run",
        tuple(flags),
        tuple(others) if is_test else (),
        args if is_test else (*others, *args),
    )


async def built(folder: Path, env: Mapping[str, str], words: Words) -> Built:
    """Build what the words would run."""
    started = time.monotonic()
    found = await _made(folder, env, words)
    if words.verb == "test":
        chosen = await _with_test(found, words, env)
    else:
        chosen = _program(found, await _named_first(folder, env) if len(found) > 1 else frozenset())
    return Built(chosen.executable, time.monotonic() - started)


async def built_of(source: Path, folder: Path, env: Mapping[str, str]) -> Built | None:
    """Build the program of a project that a file is a source of; None for a program that only lies among its files."""
    started = time.monotonic()
    flags = next((flags for path, flags in await _roots(folder, env) if path == source), None)
    if flags is not None:
        found = await _made(folder, env, Words("test" if "--test" in flags else "run", flags, (), ()))
        own = next(each for each in found if Path(each.source) == source)  # a test's programs are built beside it
        return Built(own.executable, time.monotonic() - started)
    programs = await _made(folder, env, Words("run", (), (), ()))
    holding = [each for each in programs if _is_made_of(Path(each.executable), source)]
    if not holding and _has_main(source):
        return None
    if programs and not holding:
        names = ", ".join(each.name for each in programs)
        raise LaunchFailed(f"{source.name} is part of no program that cargo builds here ({names}), and has no main")
    return Built(_program(holding, frozenset()).executable, time.monotonic() - started)


async def _made(folder: Path, env: Mapping[str, str], words: Words) -> list[Artifact]:
    """The programs that cargo builds by these words: those with tests, or those that can be run."""
    build = ("test", "--no-run") if words.verb == "test" else ("build",)
    line = (*build, "--message-format=json-render-diagnostics", *words.flags, *words.filters)
    found = _artifacts(await _said(folder, env, line))
    return found if words.verb == "test" else [each for each in found if {"bin", "example"} & {*each.kinds}]


async def _said(folder: Path, env: Mapping[str, str], words: Sequence[str]) -> str:
    cargo = on_path("cargo", env, str(folder))
    if cargo is None:
        raise AdapterMissing("no cargo on PATH to build it with: apt install cargo")
    code, said = await run((cargo, *words), cwd=str(folder), env=env, apart=True)
    if code != 0:
        raise LaunchFailed(f"cargo failed:\n{said}")
    return said


async def _packages(folder: Path, env: Mapping[str, str]) -> list[dict[str, Any]]:
    """What cargo knows of the packages of a project, without building any."""
    told: dict[str, Any] = json.loads(await _said(folder, env, ("metadata", "--no-deps", "--format-version", "1")))
    return list(told["packages"])


async def _roots(folder: Path, env: Mapping[str, str]) -> list[tuple[Path, tuple[str, ...]]]:
    """The files that a program begins with, and the flags that build this one alone."""
    return [
        (Path(target["src_path"]), ("-p", package["name"], f"--{kind}", target["name"]))
        for package in await _packages(folder, env)
        for target in package["targets"]
        for kind in target["kind"]
        if kind in ("bin", "example", "test")
    ]


async def _named_first(folder: Path, env: Mapping[str, str]) -> frozenset[str]:
    """The programs that a manifest says to run where several could be."""
    return frozenset(each["default_run"] for each in await _packages(folder, env) if each.get("default_run"))


def _has_main(source: Path) -> bool:
    return _MAIN.search(source.read_text("utf-8", errors="replace")) is not None


def _is_made_of(program: Path, source: Path) -> bool:
    """Whether a program was made of a file, by what cargo wrote beside it; taken for granted where it wrote nothing."""
    try:
        return source in files_of_rule(program.with_name(program.name + ".d").read_text())
    except OSError:
        return True


def _artifacts(said: str) -> list[Artifact]:
    found = []
    for line in said.splitlines():
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError:  # something else that printed
            continue
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            target = message["target"]
            found.append(Artifact(target["name"], tuple(target["kind"]), target["src_path"], message["executable"]))
    return found


def _program(programs: Sequence[Artifact], first: frozenset[str]) -> Artifact:
    """The one program of a project, or the one that it says to run."""
    if len(chosen := [each for each in programs if each.name in first] or programs) == 1:
        return chosen[0]
    if not programs:
        raise LaunchFailed("cargo built no program: the project is a library; its tests run by: -- cargo test")
    names = ", ".join(each.name for each in programs)
    raise LaunchFailed(f"the project has several programs ({names}): dbg launch -- cargo run --bin {programs[0].name}")


async def _with_test(found: Sequence[Artifact], words: Words, env: Mapping[str, str]) -> Artifact:
    """The test program that holds the tests asked for; the first of all where that does not tell."""
    if not found:
        raise LaunchFailed("cargo built no tests")
    if len(found) == 1:
        return found[0]
    holding = []
    exact = tuple(each for each in words.args if each == "--exact")
    for each in found:
        code, said = await run(
            (each.executable, "--list", *exact, *words.filters), cwd=str(Path(each.source).parent), env=env
        )
        if code == 0 and ": test" in said:
            holding.append(each)
    if len(holding) == 1 or (holding and exact):
        return holding[0]
    if not holding:
        raise LaunchFailed(f"no test matches {' '.join(words.filters) or 'anything'}")
    names = ", ".join(f"{each.name} ({each.kinds[0]})" for each in holding)
    raise LaunchFailed(f"several test programs would run ({names}): choose one by --lib, --bin NAME or --test NAME")
