"""Which Python runs a program: the one asked for, the active or nearest virtual environment, else the one on PATH."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ..errors import LaunchFailed, Try
from ..model import plainfiles
from ..settings import directory

_WHICH = Try("doctor", {"languages": ["python"]})
"""It tells which one is found, and whether that can be debugged."""

OLDEST, NEWEST = (3, 8), (3, 14)
_PROBE = "import sys; print(*sys.version_info[:3], sys.implementation.name)"
_PATIENCE = 20.0


class Interpreter(msgspec.Struct, frozen=True):
    """A working Python of a version that can be debugged."""

    path: str
    version: tuple[int, int, int]

    @property
    def tag(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def choose(asked: str | None, near: Path, env: Mapping[str, str], cwd: str) -> str:
    """The path of the interpreter for a program at `near`; LaunchFailed names what was looked for."""
    if asked:
        return _asked(asked, env, cwd)
    active = env.get("VIRTUAL_ENV")
    if active and (found := _in_environment(Path(active))):
        return found
    for folder in (near, *near.parents):
        for name in (".venv", "venv"):
            if found := _in_environment(folder / name):
                return found
    for name in ("python3", "python"):
        if found := python_on_path(name, env, cwd):
            return found
    raise LaunchFailed("no python3 on PATH: install one, or name it with --python", hint=_WHICH)


def _asked(asked: str, env: Mapping[str, str], cwd: str) -> str:
    if "/" not in asked:
        found = python_on_path(asked, env, cwd)
        if found is None:
            raise LaunchFailed(f"no {asked} on PATH", hint=_WHICH)
        return found
    path = Path(cwd, asked).expanduser()
    if os.path.isdir(path) and (inside := _in_environment(path)):
        return inside
    if reason := plainfiles.why_out_of_reach(path):
        raise LaunchFailed(f"no interpreter that can be run: {path}: {reason}", hint=_WHICH)
    if not os.path.exists(path):
        raise LaunchFailed(f"no such interpreter: {path}", hint=_WHICH)
    return str(path)


def _in_environment(folder: Path) -> str | None:
    binary = folder / "bin" / "python"
    return str(binary) if os.path.exists(folder / "pyvenv.cfg") and os.access(binary, os.X_OK) else None


def on_path(name: str, env: Mapping[str, str], cwd: str) -> str | None:
    """A command on the caller's PATH; a pyenv shim is followed to the binary it would run, without running it."""
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=str(Path(cwd, folder)))
        if found is None:
            continue
        if not _is_shim(Path(found)):
            return found
        versions = Path(found).parent.parent / "versions"
        for version in _installed(_pyenv_wish(Path(found), env, cwd)[0], versions):
            binary = versions / version / "bin" / name
            if os.access(binary, os.X_OK):
                return str(binary)
    return None


def python_on_path(name: str, env: Mapping[str, str], cwd: str) -> str | None:
    """The same for a Python: a shim that is asked for a version which pyenv lacks fails, as it would by itself."""
    folders = (str(Path(cwd, each)) for each in env.get("PATH", os.defpath).split(os.pathsep))
    first = shutil.which(name, path=os.pathsep.join(folders))
    if first is not None and _is_shim(Path(first)):
        words, who = _pyenv_wish(Path(first), env, cwd)
        versions = Path(first).parent.parent / "versions"
        if (
            words
            and "system" not in words
            and not any(os.path.isdir(versions / each) for each in _installed(words, versions))
        ):
            raise LaunchFailed(
                f"{who} asks pyenv for {' '.join(words)}, which is not installed; name another with --python"
            )
    return on_path(name, env, cwd)


def _is_shim(path: Path) -> bool:
    return path.parent.name == "shims" and os.path.isdir(path.parent.parent / "versions")


def _pyenv_wish(shim: Path, env: Mapping[str, str], cwd: str) -> tuple[list[str], str]:
    """The versions that pyenv would choose, and who says so: its variable, a .python-version above, else its global file."""
    if given := env.get("PYENV_VERSION"):
        return given.split(":"), "PYENV_VERSION"
    folder = Path(cwd).resolve()
    files = [each / ".python-version" for each in (folder, *folder.parents)]
    chosen = next((each for each in [*files, shim.parent.parent / "version"] if os.path.isfile(each)), None)
    return (chosen.read_text(errors="replace").split(), str(chosen)) if chosen else ([], "")


def _installed(words: Sequence[str], versions: Path) -> Iterator[str]:
    """The names that such words may mean: `3.12` stands for the newest 3.12.x that is installed."""
    there = sorted(each.name for each in versions.iterdir())
    for word in words:
        yield word
        yield from reversed([each for each in there if each.startswith(word + ".")])


async def probe(path: str) -> Interpreter:
    """Run an interpreter once to learn its version; the answer is kept for as long as the file stays the same."""
    key = identity(path)
    known = _KNOWN.get(key) or _read_cache().get(key)
    if known is None:
        known = await asyncio.to_thread(_run_probe, path)
        _write_cache(key, known)
    _KNOWN[key] = known
    version = (known[0], known[1], known[2])
    if not OLDEST <= version[:2] <= NEWEST:
        span = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        raise LaunchFailed(f"{path} is Python {'.'.join(map(str, version))}; {span} can be debugged", hint=_WHICH)
    return Interpreter(path, version)


_KNOWN: dict[str, list[int]] = {}


def identity(path: str) -> str:
    """A file as it is now: another one under the same name is another interpreter."""
    try:
        real = os.path.realpath(path)
        stat = Path(real).stat()
    except OSError as error:
        raise LaunchFailed(f"cannot use {path}: {error.strerror}", hint=_WHICH) from None
    return f"{real}:{stat.st_mtime_ns}:{stat.st_size}"


def _run_probe(path: str) -> list[int]:
    try:
        done = subprocess.run(
            [path, "-IS", "-c", _PROBE], capture_output=True, text=True, timeout=_PATIENCE, stdin=subprocess.DEVNULL,
            errors="replace", check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise LaunchFailed(f"{path} is no working Python: no answer within {_PATIENCE:g} s", hint=_WHICH) from None
    except OSError as error:
        raise LaunchFailed(f"cannot run {path}: {error.strerror}", hint=_WHICH) from None
    words = done.stdout.split()
    if done.returncode == 2 and (older := _version_of_old(path)):  # Python 2 knows no -I
        return older
    if done.returncode != 0 or len(words) != 4 or not all(word.isdigit() for word in words[:3]):
        reason = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise LaunchFailed(f"{path} is no working Python: {reason[:200]}", hint=_WHICH)
    if words[3] != "cpython":
        raise LaunchFailed(f"{path} is {words[3]}; only CPython can be debugged", hint=_WHICH)
    return [int(word) for word in words[:3]]


def _version_of_old(path: str) -> list[int] | None:
    """What `-V` says, which every Python understands; None where that is no version of one."""
    try:
        said = subprocess.run(
            [path, "-V"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_PATIENCE,
            stdin=subprocess.DEVNULL, errors="replace", check=False,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError):
        return None
    match = re.fullmatch(r"Python (\d+)\.(\d+)\.(\d+)\s*", said.stdout)
    return [int(number) for number in match.groups()] if match else None


def _cache_file() -> Path:
    return directory("cache") / "interpreters.json"


def _read_cache() -> dict[str, list[int]]:
    try:
        return msgspec.json.decode(_cache_file().read_bytes(), type=dict[str, list[int]])
    except (OSError, msgspec.DecodeError):  # no cache, or one of another time: ask the interpreter
        return {}


def _write_cache(key: str, version: list[int]) -> None:
    remember(_cache_file(), {**_read_cache(), key: version})


def remember(file: Path, content: object) -> None:
    """Write a small file of the cache in one move; where there is no room for it, life goes on without."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{os.getpid()}.new")
        fresh.write_text(json.dumps(content))
        fresh.replace(file)
    except OSError:
        return
