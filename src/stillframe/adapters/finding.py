"""Where a language's tool is on this machine, which version it is, and the command that would bring it."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import AdapterMissing, Try
from ..settings import directory
from .interpreters import on_path

_ANSWER = 30.0
"""How long a tool may take to tell its version."""
_SAID = 200
"""Characters that are told of what it says instead."""


class Recipe(msgspec.Struct, frozen=True):
    """One way to install a tool: by the machine's packages, or from a language's registry into a folder of ours."""

    manager: Literal["apt", "deb", "pip", "npm", "go"]
    """`deb` is a package of apt's that is only unpacked, for one that must not bring what it depends on."""
    packages: tuple[str, ...]

    @property
    def line(self) -> str:
        """What one would type by hand."""
        words = " ".join(self.packages)
        by_hand = {
            "apt": "apt install",
            "deb": "apt download",
            "pip": "pip install",
            "npm": "npm install -g",
            "go": "go install",
        }
        return f"{by_hand[self.manager]} {words}"


class Unfit(msgspec.Struct, frozen=True):
    """How a tool that is new enough says of itself that it was built without what we need."""

    flag: str
    sign: re.Pattern[str]
    problem: str


class Needs(msgspec.Struct, frozen=True):
    """A tool as one language needs it: the names that it goes by, the oldest version that will do, how it is installed."""

    tool: str
    names: tuple[str, ...]
    """Names of the program, the best first."""
    recipes: tuple[Recipe, ...]
    oldest: tuple[int, ...] = ()
    version_flag: str = "--version"
    version: re.Pattern[str] = re.compile(r"(\d+(?:\.\d+)+)")
    sibling: str | None = None
    """The program beside it that tells the version of both, where there is one: lldb-dap 19 tells none."""
    told_by: tuple[str, ...] = ()
    """A command that tells where it is, for what is neither on the PATH nor where one would look."""
    file: str = ""
    """Of what is no program: the file, below the folder that the command tells."""
    unfit: Unfit | None = None


class Found(msgspec.Struct, frozen=True):
    """What this machine has of a tool. Without a path it is missing; with a problem it is there and of no use."""

    tool: str
    path: str | None = None
    version: str = ""
    problem: str = ""


def tools_directory(env: Mapping[str, str] = os.environ) -> Path:
    """Where `dbg setup` puts what does not belong to the whole machine; `STILLFRAME_TOOLS` names another place."""
    given = env.get("STILLFRAME_TOOLS") or os.environ.get("STILLFRAME_TOOLS", "")
    return Path(given) if given.startswith("/") else directory("data") / "tools"


def find(needs: Needs, env: Mapping[str, str], cwd: str) -> Found:
    """The first of its names that is new enough: on the caller's PATH, or among what `dbg setup` installed."""
    if needs.file:
        return _file(needs, env, cwd)
    best = Found(needs.tool)
    for path in itertools.chain(_candidates(needs.names, env, cwd), _told(needs.told_by, env, cwd)):
        found = _probed(needs, path)
        if not found.problem:
            return found
        best = best if best.path else found
    return best if best.path else _unusable(needs, env, cwd)


def needed(needs: Needs, env: Mapping[str, str], cwd: str) -> Found:
    """The tool, or the error that says how it is had."""
    found = find(needs, env, cwd)
    if found.path is None:
        raise AdapterMissing(
            f"{needs.tool} is not installed: {needs.recipes[0].line}", hint=Try("setup", {"": needs.tool})
        )
    if found.problem:
        message = f"{found.path} is of no use: {found.problem}; {needs.recipes[0].line}"
        raise AdapterMissing(message, hint=Try("setup", {"": needs.tool}))
    return found


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that can be compared."""
    return tuple(map(int, re.findall(r"\d+", version)))


def located(name: str, env: Mapping[str, str], cwd: str) -> str | None:
    """A program by its name, on the caller's PATH or among what `dbg setup` installed; whatever its version."""
    return next(_candidates((name,), env, cwd), None)


def _candidates(names: Sequence[str], env: Mapping[str, str], cwd: str) -> Iterator[str]:
    """Every program of a name, best name first: a broken one does not hide another further down the PATH."""
    for name in names:
        for folder in _folders(env):
            if path := on_path(name, {**env, "PATH": folder}, cwd):
                yield path
    for name in names:
        yield from _installed(name, tools_directory(env))


def _folders(env: Mapping[str, str]) -> Iterable[str]:
    return dict.fromkeys(env.get("PATH", os.defpath).split(os.pathsep))


def _unusable(needs: Needs, env: Mapping[str, str], cwd: str) -> Found:
    """A file of its name that nobody may run, which is something else than none at all."""
    paths = (Path(cwd, folder, name) for name in needs.names for folder in _folders(env))
    found = next((path for path in paths if path.is_file()), None)
    problem = f"it is not executable: chmod +x {shlex.quote(str(found))}"
    return Found(needs.tool, str(found), problem=problem) if found else Found(needs.tool)


def _installed(name: str, tools: Path) -> Iterable[str]:
    return (str(path) for path in sorted(tools.glob(f"*/bin/{name}")) if os.access(path, os.X_OK))


def _told(command: Sequence[str], env: Mapping[str, str], cwd: str) -> Iterator[str]:
    """Where a command says that a tool is."""
    teller = on_path(command[0], env, cwd) if command else None
    if teller is not None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            path = run(teller, *command[1:], env=env, cwd=cwd).stdout.strip()
            if os.access(path, os.X_OK):
                yield path


def unpacked(needs: Needs, env: Mapping[str, str]) -> Path:
    """Where a file is after its package was unpacked by `dbg setup`."""
    return tools_directory(env) / needs.tool / "usr" / needs.file


MADE_FOR = "made-for"
"""Beside what was unpacked: what the command that tells of it called its own version then."""


def outdated(needs: Needs, env: Mapping[str, str], cwd: str) -> str:
    """Why what was unpacked is of no use any more: it was for another version of the program that it belongs to."""
    teller = on_path(needs.told_by[0], env, cwd)
    if teller is None:
        return ""
    try:
        then = (tools_directory(env) / needs.tool / MADE_FOR).read_text().strip()
    except OSError:
        then = ""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        now = run(teller, "--version", env=env, cwd=cwd).stdout.strip()
        if now and now != then:
            return f"it was unpacked for {then or 'nobody knows which version'}, and here is {now} now"
    return ""


def _file(needs: Needs, env: Mapping[str, str], cwd: str) -> Found:
    """Where the command tells that it is, else what `dbg setup` unpacked."""
    told = (Path(each, needs.file) for each in _told(needs.told_by, env, cwd))
    if found := next((path for path in told if path.is_file()), None):
        return Found(needs.tool, str(found))
    ours = unpacked(needs, env)
    return Found(needs.tool, str(ours), problem=outdated(needs, env, cwd)) if ours.is_file() else Found(needs.tool)


_PROBED: dict[tuple[Needs, str, int], Found] = {}
"""What is needed of a path, and its time of change, to what it said: a tool is asked once."""


def _probed(needs: Needs, path: str) -> Found:
    key = (needs, path, _changed(path))
    if key not in _PROBED:
        _PROBED[key] = _asked(needs, path)
    return _PROBED[key]


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _asked(needs: Needs, path: str) -> Found:
    teller = path
    if needs.sibling and (beside := Path(os.path.realpath(path)).with_name(needs.sibling)).exists():
        teller = str(beside)
    try:
        done = run(teller, needs.version_flag)
    except OSError as error:
        return Found(needs.tool, path, problem=f"it does not start: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Found(needs.tool, path, problem=f"it did not tell its version within {_ANSWER:g} s")
    match = needs.version.search(done.stdout + done.stderr)
    if done.returncode != 0 or match is None:
        said = (done.stderr or done.stdout).strip().splitlines()
        ended = f"it was ended by {signal.Signals(-done.returncode).name}" if done.returncode < 0 else "it says nothing"
        why = said[-1][:_SAID] if said else ended
        return Found(needs.tool, path, problem=f"it does not tell its version: {why}")
    version = match[1]
    if numbers(version) < needs.oldest:
        least = ".".join(map(str, needs.oldest))
        return Found(needs.tool, path, version, f"it is {version}, and {least} or later is needed")
    return Found(needs.tool, path, version, _unfit(needs, path))


def _unfit(needs: Needs, path: str) -> str:
    if needs.unfit is not None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if needs.unfit.sign.search(run(path, needs.unfit.flag).stdout):
                return needs.unfit.problem
    return ""


def run(*words: str, env: Mapping[str, str] | None = None, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end in a group of its own, so that what it started itself goes with it when the time is over."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True, env=env, cwd=cwd,
    )  # fmt: skip
    with process:
        try:
            out, err = process.communicate(timeout=_ANSWER)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)
