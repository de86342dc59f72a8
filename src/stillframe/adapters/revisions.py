"""An earlier revision of a project beside the present one: laid out clean, the same command moved into it, and refused where
it would run the present code after all."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from ..errors import LaunchFailed, Unsupported, UsageError
from ..model.plans import Plan
from ..transport.folders import private_folder, remove_folder
from . import elf
from .building import run

BORROWED = ("node_modules", ".venv", "venv")
"""What is installed rather than kept in git, and that a program does not run without: the present one serves both."""


@runtime_checkable
class FindsImports(Protocol):
    """An adapter that knows where the modules of a program would come from."""

    async def imported_from(self, plan: Plan, folder: Path) -> Mapping[str, str]:
        """For each module that this folder holds, the file that the program would load under its name."""
        ...

    def finding_first(self, plan: Plan, folders: Sequence[Path]) -> Plan:
        """The plan that looks for its modules in these folders before any other."""
        ...


class Revision(msgspec.Struct, frozen=True):
    """A revision laid out in a folder of its own."""

    name: str
    commit: str
    top: Path
    """The project as it is now."""
    folder: Path

    def lend(self, plan: Plan) -> tuple[str, ...]:
        """Give it the files that the command names and that it has not, as one that was written to show the fault; told."""
        lent: list[str] = []
        for word in dict.fromkeys((plan.program or "", *plan.command, *plan.args)):
            file = Path(os.path.normpath(Path(plan.cwd, word.partition("::")[0])))
            if not file.is_relative_to(self.top) or not file.is_file() or set(BORROWED) & set(file.parts):
                continue
            there = self.folder / file.relative_to(self.top)
            if not there.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, there)
                lent.append(str(file.relative_to(self.top)))
        return (f"not there in {self.name}, so the present one was taken: {', '.join(lent)}",) if lent else ()

    async def check_built(self, plan: Plan, env: Mapping[str, str]) -> None:
        """Refuse a program that this revision does not hold and that was built: it is made of the present sources."""
        for file in await asyncio.to_thread(self._lacking, plan):
            if elf.is_elf(file) or await self._is_ignored(file, env):
                raise Unsupported(
                    f"--since {self.name}: {file.relative_to(self.top)} was built from the present tree and is not in"
                    f" {self.name}, so that both runs would run the same code: name its source, or a command that builds it"
                )

    def _lacking(self, plan: Plan) -> list[Path]:
        """The files of the present project that are run, and that are not in this revision."""
        words = filter(None, (plan.program, *plan.command[:1]))
        files = dict.fromkeys(Path(os.path.normpath(Path(plan.cwd, word))) for word in words)
        there = {each: self.folder / each.relative_to(self.top) for each in files if self._is_present(each)}
        return [each for each, other in there.items() if each.is_file() and not other.exists()]

    async def _is_ignored(self, file: Path, env: Mapping[str, str]) -> bool:
        """Whether git is told to keep a file out, as what a build makes is."""
        code, _ = await run(["git", "check-ignore", "-q", str(file)], cwd=str(self.top), env=env, apart=True)
        return code == 0

    def moved(self, plan: Plan) -> Plan:
        """The same program there: directory, paths and search paths that lead into the project lead into this one."""
        return replace(
            plan,
            cwd=self.path(plan.cwd),
            program=self.path(plan.program) if plan.kind == "file" and plan.program else plan.program,
            args=tuple(map(self.path, plan.args)),
            command=(*(self._outside(word, plan.cwd) for word in plan.command[:1]), *map(self.path, plan.command[1:])),
            interpreter=self._outside(plan.interpreter, plan.cwd) if plan.interpreter else None,
            stdin=self.path(plan.stdin) if plan.stdin else None,
            env={name: self._moved_list(value) for name, value in plan.env.items()},
        )

    def path(self, word: str) -> str:
        """A path into the project, as the same path here; where there is none, and any other word, as it is."""
        path = Path(word)
        if not path.is_absolute() or not path.is_relative_to(self.top):
            return word
        there = self.folder / path.relative_to(self.top)
        return str(there) if there.exists() else word

    def _outside(self, tool: str, cwd: str) -> str:
        """What runs the program: by its whole path where it is no part of the project, since `../` leads elsewhere from here."""
        whole = os.path.normpath(os.path.join(cwd, tool))
        if "/" not in tool or os.path.isabs(tool) or Path(whole).is_relative_to(self.top):
            return self.path(tool)
        return whole

    def _moved_list(self, value: str) -> str:
        return os.pathsep.join(map(self.path, value.split(os.pathsep))) if str(self.top) in value else value

    def strays(self, files: Iterable[str]) -> tuple[str, ...]:
        """Those of the files that are the present project's own, and neither of this revision nor installed."""
        return tuple(each for each in files if self._is_present(Path(each)))

    def _is_present(self, file: Path) -> bool:
        file = Path(os.path.realpath(file))
        if not file.is_relative_to(self.top) or file.is_relative_to(self.folder):
            return False
        return not set(BORROWED) & set(file.relative_to(self.top).parts)

    def line(self, file: Path, number: int) -> int | None:
        """Where a line of a present file stands in this revision; None where it was written since."""
        return self.lines(file).get(number)

    def lines(self, file: Path, *, edited: bool = True) -> dict[int, int]:
        """The lines of a present file that this revision has, too, each with its number there; those that were `edited`, one for
        one, are still the same lines."""
        there = self.folder / file.relative_to(self.top)
        if not there.exists() or not file.exists():
            return {}
        old, new = (each.read_text("utf-8", "replace").splitlines() for each in (there, file))
        found: dict[int, int] = {}
        for tag, a, b, c, d in difflib.SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
            if tag == "equal" or (edited and b - a == d - c):
                found |= dict(zip(range(a + 1, b + 1), range(c + 1, d + 1), strict=True))
        return found


class Numbering:
    """The lines of both, told by their present numbers; files that are of no revision are the same in both."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self._files: dict[str, tuple[dict[int, int], set[int]]] = {}
        self._past: dict[str, dict[int, int]] = {}

    def is_in_both(self, file: str, line: int) -> int | None:
        """A present line, unless it was written since."""
        return line if self._is_foreign(file) or line in self._known(file)[0] else None

    def present(self, file: str, line: int) -> int | None:
        """The present number of a line of the revision, whose file is named as it is now; None where it has gone."""
        if self._is_foreign(file):
            return line
        if file not in self._past:
            self._past[file] = {old: new for new, old in self._known(file)[0].items()}
        return self._past[file].get(line)

    def is_kept(self, file: str, line: int) -> bool:
        """Whether a present line is in the revision by the same text."""
        return self._is_foreign(file) or line in self._known(file)[1]

    def was_kept(self, file: str, line: int) -> bool:
        """Whether a line of the revision is there by the same text now."""
        now = self.present(file, line)
        return now is not None and self.is_kept(file, now)

    def _is_foreign(self, file: str) -> bool:
        return not Path(file).is_relative_to(self._revision.top)

    def _known(self, file: str) -> tuple[dict[int, int], set[int]]:
        if file not in self._files:
            path = Path(file)
            self._files[file] = self._revision.lines(path), set(self._revision.lines(path, edited=False))
        return self._files[file]


@contextlib.asynccontextmanager
async def laid_out(name: str, cwd: str, env: Mapping[str, str]) -> AsyncIterator[Revision]:
    """The revision for as long as it is needed; nothing of it is left, in git either."""
    top = Path(
        await _git("rev-parse", "--show-toplevel", cwd=cwd, env=env, otherwise=f"git opens no repository at {cwd}")
    )
    commit = await _git(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", cwd=cwd, env=env,
        otherwise=f"--since {name}: no such revision",
    )  # fmt: skip
    made = private_folder()
    folder = Path(await asyncio.to_thread(os.path.realpath, made))
    try:
        there = folder / top.name
        there.mkdir()
        await _fill(there, top, commit, {**env, "GIT_INDEX_FILE": str(folder / "index")})
        _lend_installed(top, there)
        yield Revision(name, commit[:10], top, there)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)  # it may be large
        remove_folder(made)


async def _fill(there: Path, top: Path, commit: str, env: Mapping[str, str]) -> None:
    """By an index of our own: no entry in the repository's list of worktrees, which a kill would leave behind."""
    failed = f"git could not lay out {commit[:10]}"
    await _git("read-tree", commit, cwd=str(top), env=env, otherwise=failed)
    await _git("checkout-index", "--all", f"--prefix={there}/", cwd=str(top), env=env, otherwise=failed)


def _lend_installed(top: Path, there: Path) -> None:
    for folder, _, _ in os.walk(there):
        for name in BORROWED:
            installed = top / Path(folder).relative_to(there) / name
            if installed.is_dir() and not Path(folder, name).exists():
                Path(folder, name).symlink_to(installed, target_is_directory=True)


async def with_its_own_modules(adapter: object, plan: Plan, revision: Revision) -> Plan:
    """The moved program, made to load this revision's modules where an installed link leads to the present ones; refused
    where it would load those all the same."""
    if not isinstance(adapter, FindsImports):
        return plan
    found = await adapter.imported_from(plan, revision.folder)
    if not revision.strays(found.values()):
        return plan
    led = {_holding(Path(file)) for file in revision.strays(found.values())}
    own = sorted(revision.folder / each.relative_to(revision.top) for each in led)
    plan = adapter.finding_first(plan, own)
    found = await adapter.imported_from(plan, revision.folder)
    if strays := [name for name, file in found.items() if revision.strays([file])]:
        raise Unsupported(
            f"--since {revision.name}: {strays[0]} would be loaded from the present tree all the same"
            f" ({found[strays[0]]}), so that both runs would run the same code"
        )
    return plan


def _holding(file: Path) -> Path:
    """The folder to look in for a module of this file: beside it, or beside its package."""
    file = Path(os.path.realpath(file))
    return file.parent.parent if file.stem in ("__init__", "index") or file.is_dir() else file.parent


async def _git(*words: str, cwd: str, env: Mapping[str, str], otherwise: str) -> str:
    try:
        code, said = await run(["git", *words], cwd=cwd, env=env, apart=True)
    except LaunchFailed as error:
        raise LaunchFailed(f"--since needs git: {error.message}") from None
    if code:
        raise UsageError(otherwise + (f": {said.strip()}" if said.strip() else ""))
    return said.strip()
