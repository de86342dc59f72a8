"""A Go command line as typed in a shell, understood: what is built, with which flags, and what the program is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ...errors import UsageError
from ...model.plans import Plan

NAMES = re.compile(r"^go(\d+(\.\d+)*)?$")
_WITH_VALUE = re.compile(
    r"-(C|p|asmflags|buildmode|buildvcs|compiler|gccgoflags|gcflags|installsuffix|ldflags|mod|modfile|overlay|pgo|pkgdir"
    r"|tags|toolexec|covermode|coverpkg|vet)"
)
"""Flags of `go build` whose value may be the next word."""
_ALONE = re.compile(r"-(a|n|v|x|work|race|msan|asan|cover|json|linkshared|modcacherw|trimpath)(=.*)?")
"""Those that stand alone; all others of `go test` belong to the tests themselves."""
_TESTS_OWN = re.compile(
    r"-(v|run|skip|bench|benchtime|benchmem|count|timeout|short|parallel|failfast|cpu|list|shuffle|fuzz|fuzztime|fuzzminimizetime"
    r"|blockprofile|blockprofilerate|coverprofile|cpuprofile|memprofile|memprofilerate|mutexprofile|outputdir|trace|fullpath)(=.*)?"
)
_TESTS_ALONE = re.compile(r"-(v|benchmem|short|failfast|fullpath)(=.*)?")
_GOS_OWN = re.compile(r"-(c|i|o|exec)(=.*)?")
"""Flags that have `go test` do something else than build the tests and run them."""
_SILENT = ("-n", "-x", "-work", "-json", "-v")
"""Flags that change what `go` prints and not what it builds."""


class Build(msgspec.Struct, frozen=True):
    """What `go` is to build: package or files, the flags for it, and what the program is given."""

    kind: Literal["run", "test"]
    targets: tuple[str, ...]
    flags: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    folder: str | None = None
    """Where `-C` leads."""


def runs_go(plan: Plan) -> bool:
    """Whether a command is `go run …` or `go test …`."""
    words = plan.command
    return len(words) > 1 and bool(NAMES.match(Path(words[0]).name)) and words[1] in ("run", "test")


def understood(plan: Plan) -> Plan:
    """`go run` of one thing as a plan of kind file; other commands stay whole, since their words say more."""
    if plan.kind != "command" or not runs_go(plan):
        return plan
    build = parsed(plan)
    if build.kind == "test" or len(build.targets) != 1 or build.folder:
        return plan
    return replace(plan, kind="file", program=build.targets[0], args=build.args, interpreter_flags=build.flags)


def parsed(plan: Plan) -> Build:
    """The build behind a plan."""
    if plan.kind != "command":
        return Build("run", (plan.program or ".",), plan.interpreter_flags, plan.args)
    words = plan.command[2:]
    return _run(words) if plan.command[1] == "run" else _test(words)


def _run(words: Sequence[str]) -> Build:
    flags, folder, rest = _build_flags(words)
    if rest and rest[0].startswith("-"):
        raise UsageError(f"go run {rest[0]} is not understood; build flags and a package or files are")
    files = 0
    while files < len(rest) and rest[files].endswith(".go"):
        files += 1
    targets = tuple(rest[: files or 1])
    if not targets:
        raise UsageError("go run names no package or file")
    return Build("run", targets, flags, tuple(rest[len(targets) :]), folder)


def _test(words: Sequence[str]) -> Build:
    """Flags may stand on both sides of the package; one that nobody knows is the tests' own, and so is every plain word behind
    it; behind -args all is."""
    flags: list[str] = []
    own: list[str] = []
    packages: list[str] = []
    folder: str | None = None
    unknown = False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        plain = "-" + word.lstrip("-").removeprefix("test.")
        if word in ("-args", "--args"):
            return _tested(packages, flags, [*own, *rest], folder)
        if not word.startswith("-"):
            (own if unknown else packages).append(word)
        elif _TESTS_OWN.fullmatch(plain):
            own.append("-test." + plain[1:])
            if "=" not in plain and not _TESTS_ALONE.fullmatch(plain) and rest:
                own[-1] += "=" + rest.pop(0)
        elif _GOS_OWN.fullmatch(plain):
            raise UsageError(f"go test {word} is not understood")
        else:
            taken, went, left = _build_flags([word, *rest], most=1)
            if len(left) > len(rest):
                own.append(word)
                unknown = True
                continue
            flags += taken
            folder, rest = went or folder, left
    return _tested(packages, flags, own, folder)


def _tested(packages: list[str], flags: list[str], own: list[str], folder: str | None) -> Build:
    if len(packages) > 1 or any("..." in each for each in packages):
        raise UsageError(
            "the tests of several packages are several programs: name one package, as in: -- go test ./shop"
        )
    return Build("test", tuple(packages or ["."]), tuple(flags), tuple(own), folder)


def _build_flags(words: Sequence[str], most: int | None = None) -> tuple[tuple[str, ...], str | None, list[str]]:
    """The flags of the build in front, the folder that `-C` names, and the words behind them."""
    rest = list(words)
    flags: list[str] = []
    folder: str | None = None
    while rest and rest[0].startswith("-") and most != 0:
        plain = "-" + rest[0].lstrip("-")
        name, equals, value = plain.partition("=")
        if _ALONE.fullmatch(plain):
            rest.pop(0)
            flags += [] if name in _SILENT else [plain]
        elif _WITH_VALUE.fullmatch(name) and (equals or len(rest) > 1):
            rest.pop(0)
            value = value if equals else rest.pop(0)
            if name == "-C":
                folder = value
            else:
                flags.append(f"{name}={value}")
        else:
            break
        most = None if most is None else most - 1
    return tuple(flags), folder, rest
