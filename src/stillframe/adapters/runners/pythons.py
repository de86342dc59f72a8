"""pytest, unittest, and what runs tests of unittest by itself, as Django does: with our code in their process, where the frames
of a failed test live on."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...errors import LaunchFailed, UsageError
from ...model.outcomes import AnyOutcome, Exited, Running, Stop
from ...model.plans import Plan
from ...model.recorder import Where
from ...model.tested import TestFailure, Told
from ..interpreters import choose, probe
from ..recorders import PLAIN
from . import Live, TestAsk
from .journal import FILE, MOST, read
from .shown import last_lines, shown_from
from .signs import Signs

_TESTING = Path(__file__).resolve().parents[2] / "_target" / "testing"
_MODULE = re.compile(r"^def test|^async def test|^import pytest|^from pytest|@pytest\.", re.MULTILINE)
_OF_DISCOVERY = re.compile(r"-[spt]|--(start-directory|pattern|top-level-directory)\b")
_UNITTEST = re.compile(r"^\s*(import unittest|from unittest|from django)", re.MULTILINE)
_INTERNAL = "INTERNALERROR> "
_MANAGE = "manage.py"
_PLACE = re.compile(r'  File "(.+)", line (\d+)')


class PythonRunner:
    """What is the same of both."""

    name = ""
    module = ""
    stays = True
    alone = False
    by_id = False
    built_there = False
    recordable = True

    def words(self, ask: TestAsk) -> tuple[str, ...]:
        raise NotImplementedError

    def signs(self, signs: Signs) -> int:
        raise NotImplementedError

    def problem(self, told: Told, end: AnyOutcome) -> str:
        raise NotImplementedError

    async def plan(self, ask: TestAsk, folder: Path) -> Plan:
        interpreter = (await probe(choose(ask.python, Path(ask.cwd), ask.env, ask.cwd))).path
        before = ask.env.get("PYTHONPATH")
        settings = {
            "journal": str(folder / FILE), "path": before, "most": MOST, "hold": ask.hold, "names": ask.names,
        }  # fmt: skip
        env = {
            **ask.env,
            "PYTHONPATH": os.pathsep.join([str(_TESTING), *([before] if before else [])]),
            "STILLFRAME_TEST": json.dumps(settings),
        }
        words = self.words(ask)
        plan = Plan(
            command=(interpreter, "-m", self.module, *words), kind="command", cwd=ask.cwd, env=env, umask=ask.umask,
            adapter=PLAIN,
        )  # fmt: skip
        if not ask.hold and not ask.debugged:
            return plan
        return replace(
            plan, kind="module", program=self.module, args=words, interpreter=interpreter, adapter="python",
            children=False,
        )  # fmt: skip

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        told = read(folder, shown_from(ask.cwd))
        if isinstance(end, Stop | Running) or (told.finished and told.counts.total):
            return told
        return msgspec.structs.replace(told, problem=self.problem(told, end))

    async def live(self, ask: TestAsk, failure: TestFailure, folder: Path) -> Live | None:
        return None

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        raise NotImplementedError

    def listed(self, ask: TestAsk) -> tuple[str, ...] | None:
        return None


class Pytest(PythonRunner):
    name = "pytest"
    module = "pytest"
    by_id = True

    def signs(self, signs: Signs) -> int:
        said = "[tool.pytest" in signs.text("pyproject.toml") or "[tool:pytest]" in signs.text("setup.cfg")
        if (
            said
            or "[pytest]" in signs.text("tox.ini")
            or signs.has("pytest.ini", ".pytest.ini", "conftest.py", "*/conftest.py")
        ):
            return 2
        return 1 if any(_MODULE.search(each) for each in signs.test_texts(".py")) else 0

    def words(self, ask: TestAsk) -> tuple[str, ...]:
        words: list[str] = ["-p", "sf_pytest"]
        if ask.selector is not None:
            path = Path(ask.cwd, ask.selector.partition("::")[0])
            is_place = path.exists() or "::" in ask.selector or "/" in ask.selector or ask.selector.endswith(".py")
            words += [ask.selector] if is_place else ["-k", ask.selector]
        words += ["--collect-only", "-q"] if ask.names else []
        words += ["-x"] if ask.first or ask.hold else []
        return (*words, *ask.args)

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        where = Where(function="runtestprotocol", module="_pytest.runner")
        file, colons, names = failure.id.partition("::")
        return where, f"('/' + item.nodeid).endswith({'/' + Path(file).name + colons + names!r})"

    def problem(self, told: Told, end: AnyOutcome) -> str:
        absent = re.search(r"^(.*?): No module named '?pytest", end.stderr, re.MULTILINE) if not told.begun else None
        if absent:
            raise LaunchFailed(
                f"{absent[1]} has no pytest: {absent[1]} -m pip install pytest, or name another --python"
            )
        return "" if told.failures and told.running is None else _last_words(end)


class Unittest(PythonRunner):
    name = "unittest"
    module = "sf_unittest"

    def signs(self, signs: Signs) -> int:
        return 1 if any(_UNITTEST.search(each) for each in signs.test_texts(".py")) else 0

    def words(self, ask: TestAsk) -> tuple[str, ...]:
        words: list[str] = []
        if ask.selector is not None:
            words = _unittest_name(ask.selector, ask.cwd)
        elif not ask.args or any(_OF_DISCOVERY.match(each) for each in ask.args if ask.args[0] != "discover"):
            # Other flags may stand before a test's name, or alone, where unittest looks for all tests.
            words = ["discover"]
        return (*words, *ask.args, *(["-f"] if ask.first or ask.hold else []))

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        where = Where(function="TestCase.run", module="unittest.case")
        return where, f"self.id() == {failure.id!r}"

    def problem(self, told: Told, end: AnyOutcome) -> str:
        interrupted = told.failures and told.running is None
        return "" if told.finished or interrupted else _last_words(end)

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        """A name that is not there is a failed test to unittest, and none to anybody else."""
        told = super().read(ask, folder, end)
        missing = ask.selector is not None and all(_is_missing(each) for each in told.failures)
        if not missing or not told.failures or told.counts.passed:
            return told
        return Told(version=told.version, runtime=told.runtime, interpreter=told.interpreter, begun=True, finished=True)

    def listed(self, ask: TestAsk) -> tuple[str, ...] | None:
        signs, show = Signs(Path(ask.cwd)), shown_from(ask.cwd)
        files = dict.fromkeys([*_file_named(ask), *signs.test_files(".py")])
        return tuple(name for file in files for name in _cases(file, show(str(file)) or str(file)))


class Script(Unittest):
    """A script of the project's that runs tests of unittest by itself, behind --: python tests/run.py -v."""

    name = "script"
    module = "sf_script"

    def signs(self, signs: Signs) -> int:
        return 0

    def words(self, ask: TestAsk) -> tuple[str, ...]:
        if not ask.args:
            raise UsageError("which script? Its whole command stands behind --: dbg test -- python tests/run.py")
        return (*ask.args, *(_unittest_name(ask.selector, ask.cwd) if ask.selector is not None else ()))


class Django(Script):
    """Django's own tests of a project: manage.py test."""

    name = "django"
    by_id = True

    def signs(self, signs: Signs) -> int:
        return 2 if "DJANGO_SETTINGS_MODULE" in signs.text(_MANAGE) else 0

    def words(self, ask: TestAsk) -> tuple[str, ...]:
        script = os.path.relpath(Path(ask.root, _MANAGE), ask.cwd)
        # In one process, where the frames of a failed test live on; and nobody is there to agree to an older database's end.
        own = ["--parallel=1", "--noinput", *(["--failfast"] if ask.first or ask.hold else [])]
        return (script, "test", *_labels(ask), *ask.args, *own)


def _labels(ask: TestAsk) -> list[str]:
    """What is to be tested in Django's words: names are dotted from where manage.py is, also those of whole files."""
    if ask.selector is None:
        return []
    file, colons, names = ask.selector.partition("::")
    if Path(ask.cwd, file).is_dir():
        return [file]
    if file.endswith(".py"):
        file = os.path.relpath(Path(ask.cwd, file), ask.root)
    if file.endswith(".py") and not names:
        return [file.removesuffix(".py").replace("/", ".")]
    return _unittest_name(file + colons + names, ask.cwd)


def _unittest_name(selector: str, cwd: str) -> list[str]:
    """`tests/test_shop.py::Shop::test_total` in unittest's own words; a bare word chooses among all tests."""
    file, *names = selector.split("::")
    if file.endswith(".py"):
        module = os.path.relpath(Path(cwd, file), cwd).removesuffix(".py").replace("/", ".")
        return [".".join([module, *names])] if names else [file]
    if Path(cwd, file).is_dir():
        return ["discover", "-s", file]
    dotted = ".".join([file, *names])
    first = dotted.partition(".")[0]
    # `Shop.test_total` is a class of some module, which unittest would take for a module.
    is_class = first[:1].isupper() and not any(Path(cwd, each).exists() for each in (first, f"{first}.py"))
    return ["-k", dotted] if "." not in dotted or is_class else [dotted]


def _file_named(ask: TestAsk) -> list[Path]:
    """The file that a selector names, which may be called anything: `checks.py::Shop`, or `checks.Shop`."""
    file = (ask.selector or "").partition("::")[0]
    if file.endswith(".py"):
        tried = [Path(ask.cwd, file)]
    else:
        parts = file.split(".")
        tried = [Path(ask.cwd, *parts[:count]).with_suffix(".py") for count in range(len(parts), 0, -1) if all(parts)]
    return [each for each in tried if each.is_file()][:1]


def _is_missing(failure: TestFailure) -> bool:
    """Whether a module could not be loaded because nothing has the name that was asked for."""
    absent = failure.type == "AttributeError" or (failure.type == "ModuleNotFoundError" and not failure.frames)
    return failure.when == "collection" and absent


def _cases(file: Path, shown: str) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_text("utf-8", errors="replace"))
    except (SyntaxError, ValueError, OSError):
        return
    for kind in (each for each in tree.body if isinstance(each, ast.ClassDef)):
        for each in kind.body:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test"):
                yield f"{shown}::{kind.name}::{each.name}"


def _last_words(end: AnyOutcome) -> str:
    """What the runner said itself: its errors, else the end of what it printed."""
    text = end.stderr.strip() or end.output.strip()
    if isinstance(end, Exited) and end.signal and not text:
        return f"ended by {end.signal}"
    return last_lines(_without_traceback(text))


def _without_traceback(text: str) -> str:
    """Where pytest itself, a plugin or a conftest.py failed (`INTERNALERROR> …`): what was raised, and its innermost place."""
    rows = [row[len(_INTERNAL) :] for row in text.splitlines() if row.startswith(_INTERNAL)]
    calls = [number for number, row in enumerate(rows) if row.startswith("  ")]
    places = [place for row in rows if (place := _PLACE.match(row))]
    if not calls or not places:
        return text
    file, line = places[-1].groups()
    return "\n".join([f"internal error at {file}:{line}", *rows[calls[-1] + 1 :]])


PYTEST, UNITTEST, SCRIPT, DJANGO = Pytest(), Unittest(), Script(), Django()
