"""Rust's projects: what `cargo run` and `cargo test` would run, built and named by cargo itself."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..errors import AdapterMissing, LaunchFailed
from .building import Built, run
from .interpreters import on_path

MANIFEST = "Cargo.toml"
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
    start = path if path.is_dir() else path.parent
    return next((each / MANIFEST for each in (start, *start.parents) if (each / MANIFEST).is_file()), None)


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


async def built(folder: Path, env: Mapping[str, str], words: Words, near: Path | None = None) -> tuple[Built, Words]:
    """Build what the words would run; `near` is the source file that the program is asked for by."""
    cargo = on_path("cargo", env, str(folder))
    if cargo is None:
        raise AdapterMissing("no cargo on PATH to build it with: apt install cargo")
    build = ("test", "--no-run") if words.verb == "test" else ("build",)
    started = time.monotonic()
    line = (cargo, *build, "--message-format=json-render-diagnostics", *words.flags, *words.filters)
    code, said = await run(line, cwd=str(folder), env=env, apart=True)
    if code != 0:
        raise LaunchFailed(f"cargo failed:\n{said}")
    found = _artifacts(said)
    chosen = await _with_test(found, words, env) if words.verb == "test" else _program(found, near)
    return Built(chosen.executable, time.monotonic() - started), words


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


def _program(found: Sequence[Artifact], near: Path | None) -> Artifact:
    """The one program of a project, or the one that a file is the source of."""
    programs = [each for each in found if "bin" in each.kinds or "example" in each.kinds]
    if near is not None and (own := [each for each in programs if Path(each.source) == near]):
        return own[0]
    if len(programs) == 1:
        return programs[0]
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
    for each in found:
        code, said = await run((each.executable, "--list", *words.filters), cwd=str(Path(each.source).parent), env=env)
        if code == 0 and ": test" in said:
            holding.append(each)
    if len(holding) == 1:
        return holding[0]
    if not holding:
        raise LaunchFailed(f"no test matches {' '.join(words.filters) or 'anything'}")
    names = ", ".join(f"{each.name} ({each.kinds[0]})" for each in holding)
    raise LaunchFailed(f"several test programs would run ({names}): choose one by --lib, --bin NAME or --test NAME")
