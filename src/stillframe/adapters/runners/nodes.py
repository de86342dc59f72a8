"""Runners of JavaScript and TypeScript: node:test, Jest, Vitest and Mocha. Their own reports first, then V8's inspector."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from ...errors import AdapterMissing, NotFound, Try
from ...model.outcomes import AnyOutcome, Exited, Running, Stop
from ...model.places import BreakSpec, LinePlace
from ...model.plans import Plan
from ...model.recorder import Where
from ...model.tested import Counts, TestFailure, Told
from ...settings import file_like
from ..interpreters import on_path
from ..node.options import version_of
from ..recorders import PLAIN
from . import Live, TestAsk
from .journal import MOST, Show
from .printing import Heard, with_printed
from .scripts import Script, expanded, parsed
from .shown import last_lines, shown_from
from .signs import Signs
from .stacks import ANSI, TITLE, Raw, failure, test_id

_REPORTERS = Path(__file__).resolve().parents[2] / "_target" / "node"
_REPORTER = _REPORTERS / "test_reporter.cjs"
MOCHA_REPORTER = _REPORTERS / "mocha_reporter.cjs"
PRINTED = ".printed"
_IMPORTS = re.compile(r"""["']node:test["']""")
_SUITE = re.compile(r"""\b(?:describe|suite)(?:\.\w+)*\(\s*(["'`])((?:\\.|(?!\1).)+)\1""")
_SLIPS = frozenset({"TypeError", "RangeError", "ReferenceError", "SyntaxError"})
"""Errors of the language's own, which nobody means to throw."""
_OF_RUNNER = re.compile(r"Context \{_runnable|TestContext \{|\[Object: null prototype\] \{\}$")
_LIBRARY_CALL = re.compile(r"\s+at (?:async )?(?:.*\()?(?:file://)?(?:node:|\S*/node_modules/).*:\d+:\d+\)?$")

_DELEGATES = re.compile(r"--workspaces?\b|\b(?:pnpm|yarn)\s+(?:-r|--recursive|workspaces)\b|\b(?:turbo|nx|lerna)\s")
_NOT_AS_PACKAGES = (
    "the project's test script has each package run its own tests, perhaps by other runners; this was one run over all of"
    " them: name a package's folder to have its own"
)
WHO = ".who"


class NodeRunner:
    """What is the same of all four."""

    name = ""
    stays = False
    alone = True
    by_id = True
    built_there = False
    recordable = True
    package = ""
    configs: tuple[str, ...] = ()
    throws_little = False
    """Whether so little is thrown before a test begins that one may stop at all of it."""

    def signs(self, signs: Signs) -> int:
        script = signs.test_script
        if re.search(rf"(^|[\s/&;]){re.escape(self.package)}(\s|$)", script):
            return 2
        if signs.has(*self.configs):
            return 2
        return 1 if signs.depends_on(self.package) else 0

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        """The runner's words for this run, with a report in this file."""
        raise NotImplementedError

    def told(self, report: Path, ask: TestAsk, show: Show) -> Told:
        raise NotImplementedError

    def found(self, ask: TestAsk) -> tuple[str, str]:
        """The runner's script and version, as the project has it."""
        for folder in (Path(ask.root), *Path(ask.root).parents):
            package = folder / "node_modules" / self.package
            manifest = report_of(package / "package.json")
            scripts = manifest.get("bin")
            program = scripts.get(self.package) if isinstance(scripts, dict) else scripts
            if isinstance(program, str) and (package / program).is_file():
                return os.path.normpath(package / program), str(manifest.get("version", ""))
        raise AdapterMissing(
            f"{self.name} is not installed for {ask.root}: npm install --save-dev {self.package}",
            hint=Try("test", once="that is installed"),  # no `setup` of ours does that
        )

    async def plan(self, ask: TestAsk, folder: Path) -> Plan:
        node = on_path("node", ask.env, ask.cwd)
        if node is None:
            raise AdapterMissing("no node on PATH: apt install nodejs", hint=Try("setup", {"": "node"}))
        report = folder / "report"
        script = self.script(ask)
        command = (node, *script.node, *self.words(ask, report))
        runtime = "Node " + ".".join(map(str, await version_of(node)))
        who = {"version": self.found(ask)[1], "runtime": runtime, "interpreter": node}
        report.with_suffix(WHO).write_text(json.dumps(who))
        env = {**ask.env, **script.env}  # and nothing of ours: tests see NO_COLOR and CI
        return Plan(command=command, kind="command", cwd=ask.root, env=env, umask=ask.umask, adapter=PLAIN)

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        told = self.told(folder / "report", ask, shown_from(ask.cwd))
        if ask.selector is None and _DELEGATES.search(Signs(Path(ask.root)).test_script):
            told = replace(told, notes=(*told.notes, _NOT_AS_PACKAGES))
        if isinstance(end, Stop | Running) or told.failures:
            return told
        fails = isinstance(end, Exited) and end.exit_code and not told.counts.deselected
        if told.finished and told.counts.total and not fails:
            return told
        return msgspec.structs.replace(told, problem=last_lines(self.own_words(end)))

    def own_words(self, end: AnyOutcome) -> str:
        """What the runner itself said, of which the last lines are told; calls of libraries would fill them."""
        text = ANSI.sub("", end.stderr.strip() or end.output.strip())
        return "\n".join(line for line in text.splitlines() if not _LIBRARY_CALL.match(line))

    def around(self, failure: TestFailure) -> tuple[Where, str] | None:
        return None

    def script(self, ask: TestAsk) -> Script:
        """What the project's own script says of how it is run."""
        return parsed(Signs(Path(ask.root)).test_script, self.package)

    def listed(self, ask: TestAsk) -> tuple[str, ...] | None:
        return tuple(_titles_in(ask, self.script(ask)))

    async def live(self, ask: TestAsk, failed: TestFailure, folder: Path) -> Live | None:
        if not failed.frames or failed.when == "collection":
            return None
        plan = await self.plan(replace(ask, selector=failed.id, hold=True), folder)
        debugged = replace(plan, adapter="node", just_my_code=False)
        place = failed.frames[0]
        file = str(Path(ask.cwd, place.file or ""))
        report, show = folder / "report", shown_from(ask.cwd)

        def is_it(stop: Stop) -> bool:
            if stop.exception is None or not _may_be(stop, failed):
                return False
            own = [each for each in stop.stack if each.kind == "user"]
            own = own or [each for each in stop.exception.frames if each.kind == "user"]
            return bool(own) and own[0].line == place.line and Path(own[0].file or "").name == Path(file).name

        early = () if self.throws_little else (BreakSpec(LinePlace(file, place.line or 1)),)
        return Live(
            debugged,
            breaks=early,
            catch=("raised",) if self.throws_little else ("off",),
            then_catch=() if self.throws_little else ("raised",),
            is_it=is_it,
            cuts=True,
            hidden=lambda value: value.name.startswith("__vi") or _OF_RUNNER.match(value.value) is not None,
            fails_again=lambda: any(each.id == failed.id for each in self.told(report, ask, show).failures),
        )


def _may_be(stop: Stop, failed: TestFailure) -> bool:
    """Whether an error can be the one that failed a test: libraries throw others, which they catch, as they look at what an
    assertion was given."""
    error = stop.exception
    if error is None or not stop.stack or stop.stack[0].kind == "user" or error.type not in _SLIPS:
        return True
    return error.type == failed.type or error.message in failed.message


def _suites_in(file: Path) -> set[str]:
    """The titles of suites in a file, as far as they are written out."""
    text = Signs(file.parent).text(file.name)
    return {re.sub(r"\\(.)", r"\1", match[2]) for match in _SUITE.finditer(text)}


def _titles_in(ask: TestAsk, script: Script) -> Iterator[str]:
    show = shown_from(ask.cwd)
    for file in dict.fromkeys(_files_of_tests(ask, script)):
        for match in TITLE.finditer(Signs(file.parent).text(file.name)):
            yield test_id(str(file), (match[2],), show)


def _files_of_tests(ask: TestAsk, script: Script) -> Iterator[Path]:
    """The file that was named, those that the project's script names, those that are called as tests, and those in folders of
    tests, where a file may be called anything."""
    root = Path(ask.root)
    named = Path(ask.cwd, (ask.selector or "").partition("::")[0])
    yield from (file for file in (named, *(root / each for each in expanded(script.files, ask.root))) if file.is_file())
    signs = Signs(root)
    yield from signs.test_files(".js")
    for folder in ("test", "tests", "__tests__"):
        yield from Signs(root / folder).scripts()


def selected(ask: TestAsk) -> tuple[str | None, str | None]:
    """The file that a selector names, as seen from the project's root, and a pattern for the title."""
    if ask.selector is None:
        return None, None
    file, *names = ask.selector.split("::")
    path = Path(ask.cwd, file)
    if not path.exists():
        if names or "/" in file or re.search(r"\.[cm]?[jt]sx?$", file):
            raise _no_such_file(path, names, ask)
        return None, re.escape(file)
    inside = path.resolve()
    root = Path(ask.root).resolve()
    shown = str(inside.relative_to(root)) if inside.is_relative_to(root) else str(inside)
    return shown, f"(^| ){escaped(' '.join(names))}$" if names else None


def _no_such_file(path: Path, names: list[str], ask: TestAsk) -> NotFound:
    """With the file that may be meant, so that the next call can name the test in it."""
    meant = file_like(path, Path(ask.cwd))
    if meant is None:
        return NotFound(f"no such file: {path}")
    return NotFound(f"no such file: {path}; there is {meant}", detail={"nearest": ["::".join([meant, *names])]})


def escaped(text: str) -> str:
    """A text as a pattern of JavaScript's."""
    return re.sub(r"[\\^$.*+?()[\]{}|/]", lambda match: "\\" + match[0], text)


def identity_of(report: Path) -> dict[str, str]:
    """The runner's version, the runtime and its file, as they were when the run was planned."""
    found: dict[str, str] = json.loads(report.with_suffix(WHO).read_text())
    return found


def report_of(file: Path) -> dict[str, Any]:
    """A report in JSON; empty where the run did not come to write it."""
    try:
        found = json.loads(file.read_text("utf-8", errors="replace"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class NodeTest(NodeRunner):
    """Node's own runner."""

    name = "node:test"
    package = "--test"

    def signs(self, signs: Signs) -> int:
        if re.search(r"\bnode\b.*--test\b", signs.test_script):
            return 2
        return 1 if any(_IMPORTS.search(each) for each in signs.test_texts(".js")) else 0

    def found(self, ask: TestAsk) -> tuple[str, str]:
        return "", ""

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        words: list[str] = []
        names = (ask.selector or "").split("::")[1:] if file else []
        # A test that makes others as it runs must be let run too, by its own name; a suite would bring all of its tests.
        suites = _suites_in(Path(ask.root, file)) if file else set()
        within = [each for each in names[:-1] if each not in suites]
        words += [f"--test-name-pattern=(^| ){escaped(each)}$" for each in (*within, *names[-1:])]
        words += [f"--test-name-pattern={pattern}"] if pattern and not names else []
        words += [f"--test-reporter={_REPORTER.as_uri()}", f"--test-reporter-destination={report}"]
        words += ["--test-reporter=spec", "--test-reporter-destination=stdout"]
        if ask.hold and file:
            return (*words, *ask.args, file)  # in this very process, without --test
        files = (file,) if file else expanded(self.script(ask).files, ask.root)
        return ("--test", *words, *self.script(ask).flags, *ask.args, *files)

    def told(self, report: Path, ask: TestAsk, show: Show) -> Told:
        outcomes: list[str] = []
        failures: list[TestFailure] = []
        names: list[str] = []
        hello: dict[str, Any] = {}
        printed: dict[str, str] = {}
        by: dict[str, Heard] = {}
        heard: set[str] = set()
        bare: list[str] = []
        ended, deselected, unread, running = False, 0, 0, None
        for said in report_lines(report):
            match said["kind"]:
                case "hello":
                    hello = said
                case "printed" | "said" as kind:
                    file = _path(said)
                    printed[file] = (printed.get(file, "") + said["text"])[-4000:]
                    if kind == "printed":
                        by.setdefault(test_id(file, (), show), Heard()).take(
                            said["stream"], said["text"], said["total"]
                        )
                case "running":
                    running = test_id(_path(said), tuple(said["titles"]), show)
                case "end":
                    ended = True
                case "test":
                    running = None
                    outcome = _outcome(said, (ask.selector or "").split("::")[1:])
                    file = _path(said)
                    if outcome is None:
                        bare += [file] if said["passed"] and _is_file(said) else []
                        continue
                    names.append(test_id(file, tuple(said["titles"]), show))
                    if outcome == "unread" and file in heard:  # its tests are over, and yet it failed
                        outcomes.append("failed")
                        why = (
                            printed.get(file) or printed.get("") or "it failed behind its tests"
                        )  # Node 20 names no file
                        raw = Raw(file, (), "", "", why, when="end")
                        failures.append(failure(raw, ask.root, show))
                    elif outcome == "unread":
                        unread += 1
                        raw = Raw(file, (), "", "", printed.get(file, ""), when="collection")
                        failures.append(failure(raw, ask.root, show))
                    elif outcome == "deselected":
                        deselected += 1
                    else:
                        outcomes.append(outcome)
                        heard.add(file)
                        if outcome == "failed":
                            failures.append(failure(_raw(said, file), ask.root, show))
        failures = [with_printed(each, by) if each.when == "call" else each for each in failures[:MOST]]
        bare = [each for each in bare if each not in heard and not selected(ask)[1] and not ask.args]
        outcomes += ["passed"] * len(bare)  # as Node itself counts them
        counts = Counts(
            total=len(outcomes), passed=outcomes.count("passed"), failed=outcomes.count("failed"),
            skipped=outcomes.count("skipped"), xfailed=outcomes.count("todo"), deselected=deselected, uncollected=unread,
        )  # fmt: skip
        return Told(
            version=str(hello.get("version", "")), runtime=f"Node {hello['version']}" if hello else "",
            interpreter=str(hello.get("executable", "")), counts=counts, failures=tuple(failures),
            names=tuple(names), begun=bool(hello), finished=ended, running=running,
            notes=(_BARE.format(", ".join(str(show(each)) for each in bare)),) if bare else (),
        )  # fmt: skip


_BARE = "{} told of no test, so that Node counts the file itself as one that passed: it has none, or ended before (process.exit)"


def reporter(name: str, report: Path) -> Path:
    """A reporter of ours that writes beside a runner's own report, for runners that pass nothing on to one."""
    ours, there = _REPORTERS / f"{name}_reporter.cjs", report.with_suffix(PRINTED)
    file = report.with_name("reporter.cjs")
    file.write_text(f"module.exports = require({json.dumps(str(ours))})({json.dumps(str(there))});\n")
    return file


def report_lines(file: Path) -> Iterator[dict[str, Any]]:
    """What a reporter of ours has written so far, a line of JSON for each thing told."""
    try:
        text = file.read_bytes()
    except OSError:
        return
    for line in text[: text.rfind(b"\n") + 1].splitlines():
        yield json.loads(line)


def _path(said: dict[str, Any]) -> str:
    """The file of a test: Node 18 tells that of a module as an address."""
    return unquote(str(said.get("file") or "").removeprefix("file://"))


def _outcome(said: dict[str, Any], asked: list[str]) -> str | None:
    """How a test ended; None for suites and files, whose tests are told by themselves. Of those `asked` for by their titles,
    others that ran along are told as left out."""
    if said.get("type") == "suite":
        return None
    error = said.get("error") or {}
    if _is_file(said):
        return "unread" if not said["passed"] and error.get("kind") != "subtestsFailed" else None
    if error.get("kind") == "subtestsFailed":
        return None
    if said["skip"] == "test name does not match pattern" or not _is_within(said["titles"], asked):
        return "deselected"
    if said["skip"] is not None:
        return "skipped"
    if said["todo"]:
        return "todo"
    return "passed" if said["passed"] else "failed"


def _is_within(titles: list[str], asked: list[str]) -> bool:
    """Whether a test is the one asked for, or one that this makes as it runs."""
    return any(titles[at : at + len(asked)] == asked for at in range(len(titles) - len(asked) + 1))


def _is_file(said: dict[str, Any]) -> bool:
    """Whether it is a whole file that is told of, as if it were a test."""
    return len(said["titles"]) == 1 and Path(said["titles"][0]).name == Path(_path(said)).name


def _raw(said: dict[str, Any], file: str) -> Raw:
    error = said.get("error") or {}
    return Raw(
        file, tuple(said["titles"]), error.get("type", ""), error.get("message", ""), error.get("stack", ""),
        error.get("actual"), error.get("expected"),
    )  # fmt: skip


NODE_TEST = NodeTest()
