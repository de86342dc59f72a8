"""Jest and Vitest, by the reports in JSON that each can write, and Mocha, by a reporter of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ...model.outcomes import AnyOutcome
from ...model.tested import Counts, TestFailure, Told
from ...model.values import Value
from . import TestAsk
from .journal import MOST, Show
from .nodes import MOCHA_REPORTER, PRINTED, NodeRunner, identity_of, report_lines, report_of, reporter, selected
from .printing import RUN, Heard, heard, with_printed
from .scripts import expanded
from .stacks import ANSI, Raw, failure, test_id

_COMPARED = re.compile(r"^(Expected|Received)(?: [a-z ]+)?: +(\S.*)$", re.MULTILINE)
_VITEST_TALK = re.compile(
    r"^[⎯\s]*$|^\s*\d*\|| ❯ .*(/node_modules/|node:internal/)|^This might cause|^This error originated|^JSON report"
)
"""Lines of Vitest's that tell nothing of the error that they stand beside: rulers, source, library calls, prose."""
_ENDED = {"passed": "passed", "failed": "failed", "pending": "skipped", "skipped": "skipped", "todo": "skipped"}


class Jest(NodeRunner):
    name = "jest"
    package = "jest"
    configs = ("jest.config.*",)
    throws_little = True  # and no breakpoint could be set: it compiles tests where nothing tells of them beforehand

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        # Jest takes any words that follow a reporter for further ones.
        words = [self.found(ask)[0], f"--reporters={reporter(self.name, report)}", "--reporters=default"]
        words += ["--json", f"--outputFile={report}", "--colors=false"]
        words += ["--runInBand"] if ask.hold else []
        words += ["--bail"] if ask.first else []
        words += ["-t", pattern] if pattern else []
        words += ["--runTestsByPath", file] if file and Path(ask.root, file).is_file() else [file] if file else []
        return (*words, *self.script(ask).flags, *ask.args)

    def told(self, report: Path, ask: TestAsk, show: Show) -> Told:
        return jest_report(report, ask, show, has_pattern=_has_pattern(ask))


class Vitest(NodeRunner):
    name = "vitest"
    package = "vitest"
    configs = ("vitest.config.*", "vitest.workspace.*")

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        # The report in JSON lacks what fails the run and no test: an error that nobody handled, too little coverage.
        words = [self.found(ask)[0], "run", "--reporter=json", f"--outputFile.json={report}", "--reporter=default"]
        words += [f"--reporter={reporter(self.name, report)}", "--no-color"]
        words += ["--pool=forks", "--no-file-parallelism"] if ask.hold else []
        words += ["--bail=1"] if ask.first else []
        words += ["-t", pattern] if pattern else []
        return (*words, *([file] if file else []), *self.script(ask).flags, *ask.args)

    def told(self, report: Path, ask: TestAsk, show: Show) -> Told:
        return jest_report(report, ask, show, has_pattern=_has_pattern(ask))

    def own_words(self, end: AnyOutcome) -> str:
        return "\n".join(line for line in super().own_words(end).splitlines() if not _VITEST_TALK.search(line))


class Mocha(NodeRunner):
    name = "mocha"
    package = "mocha"
    configs = (".mocharc*",)

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        words = [self.found(ask)[0], "--reporter", str(MOCHA_REPORTER), "--reporter-option", f"output={report}"]
        words += ["--no-color"]
        words += ["--bail"] if ask.first else []
        words += ["--no-parallel", "--timeout", "0"] if ask.hold else []
        words += ["-g", pattern] if pattern else []
        script = self.script(ask)
        return (*words, *script.flags, *ask.args, *((file,) if file else expanded(script.files, ask.root)))

    def read(self, ask: TestAsk, folder: Path, end: AnyOutcome) -> Told:
        """What workers print goes past the reporter, which is silent itself: whatever was printed then is theirs."""
        told = super().read(ask, folder, end)
        hello = next(report_lines(folder / "report"), {})
        if not hello.get("parallel") or not (end.output or end.stderr):
            return told
        run = Heard()
        run.take("stdout", end.output)
        run.take("stderr", end.stderr)
        return replace(told, failures=tuple(with_printed(each, {RUN: run}) for each in told.failures))

    def told(self, report: Path, ask: TestAsk, show: Show) -> Told:
        counted = dict.fromkeys(("passed", "failed", "skipped", "over", "hook"), 0)
        failures: list[TestFailure] = []
        names: list[str] = []
        begun, ended, running = False, False, None
        for said in report_lines(report):
            kind = said["kind"]
            begun, ended = True, ended or kind == "end"
            if kind in ("hello", "end"):
                continue
            id_ = test_id(said.get("file") or "", tuple(said["titles"]), show)
            running = id_ if kind == "running" else None
            counted["hook" if said["hook"] else "over"] += kind == "failed" if said["hook"] else kind == "over"
            if kind in ("passed", "failed", "skipped"):
                counted[kind] += 1
            if kind == "over":
                names.append(id_)
            if kind == "failed":
                failures.append(
                    with_printed(failure(_mocha_raw(said), ask.root, show), heard([{**said, "task": id_}], show))
                )
        counts = Counts(
            total=counted["over"] + counted["hook"], failed=counted["failed"], skipped=counted["skipped"],
            passed=counted["passed"],
        )  # fmt: skip
        told = _told(report, {}, counts, failures, tuple(names))
        return replace(told, begun=begun, finished=ended, running=running)


def _has_pattern(ask: TestAsk) -> bool:
    return bool(ask.selector and selected(ask)[1]) or any(word in ("-t", "--testNamePattern") for word in ask.args)


def jest_report(report: Path, ask: TestAsk, show: Show, *, has_pattern: bool) -> Told:
    """The report of Jest, whose form Vitest writes too. Tests that a pattern leaves out are told there as pending or skipped."""
    found = report_of(report)
    outcomes: list[str] = []
    failures: list[TestFailure] = []
    names: list[str] = []
    unread = 0
    for suite in found.get("testResults") or []:
        tests: list[dict[str, Any]] = suite.get("assertionResults") or []
        if not tests and suite.get("status") == "failed":
            unread += 1
            said = str(suite.get("message") or "")
            failures.append(failure(Raw(suite["name"], (), "", "", said, when="collection"), ask.root, show))
        for each in tests:
            titles = (*each.get("ancestorTitles", ()), each["title"])
            names.append(test_id(suite["name"], titles, show))
            outcomes.append(_ENDED.get(each["status"], "skipped"))
            if each["status"] == "failed":
                failures.append(failure(_jest_raw(suite["name"], titles, each), ask.root, show))
    left_out = outcomes.count("skipped") if has_pattern else 0
    counts = Counts(
        total=len(outcomes) - left_out, passed=outcomes.count("passed"), failed=outcomes.count("failed"),
        skipped=0 if has_pattern else outcomes.count("skipped"), deselected=left_out, uncollected=unread,
    )  # fmt: skip
    rows = list(report_lines(report.with_suffix(PRINTED)))
    by = heard((each for each in rows if each["kind"] not in ("compared", "said")), show)
    compared, messages = (
        _by_test((each for each in rows if each["kind"] == kind), show) for kind in ("compared", "said")
    )
    told = [_with_message(with_printed(each, by), messages.get(each.id, {})) for each in failures[:MOST]]
    told = [_with_compared(each, compared.get(each.id, {})) for each in told]
    return _told(report, found, counts, told, tuple(names))


def _by_test(rows: Iterable[dict[str, Any]], show: Show) -> dict[str, dict[str, Any]]:
    """What was told of each test, by its name; nothing where several tests have that name."""
    found: dict[str, dict[str, Any]] = {}
    for said in rows:
        name = test_id(said["file"], tuple(said["titles"]), show)
        found[name] = said if found.get(name, said).get("task") == said["task"] else {}
    return found


def _with_message(failed: TestFailure, said: dict[str, Any]) -> TestFailure:
    """A failure with what its error says, where its stack does not tell."""
    return replace(failed, type=said["type"], message=ANSI.sub("", said["message"])) if said else failed


def _with_compared(failed: TestFailure, said: dict[str, Any]) -> TestFailure:
    """A failure with what was compared: as it is where that is short, else by the lines that differ."""
    if not said or failed.operands:
        return failed
    values = [(name, ANSI.sub("", said[name])) for name in ("actual", "expected")]
    if all("\n" not in text for _, text in values):
        return replace(failed, operands=tuple(Value(name=name, value=text) for name, text in values))
    lines = ANSI.sub("", said["diff"]).splitlines()
    return replace(failed, message="\n".join([failed.message, *(each for each in lines if each[:1] in ("-", "+"))]))


def _told(
    report: Path, found: dict[str, Any], counts: Counts, failures: list[TestFailure], names: tuple[str, ...]
) -> Told:
    who = identity_of(report)
    return Told(
        version=who.get("version", ""), runtime=who.get("runtime", ""), interpreter=who.get("interpreter", ""),
        counts=counts, failures=tuple(failures[:MOST]), names=names, begun=bool(found), finished=bool(found),
    )  # fmt: skip


def _jest_raw(file: str, titles: tuple[str, ...], each: dict[str, Any]) -> Raw:
    """Jest tells what it compared in JSON too, but there NaN and undefined are null: its text is truer."""
    stack = ANSI.sub("", str((each.get("failureMessages") or [""])[0]))
    compared = {match[1]: match[2] for match in _COMPARED.finditer(stack)}
    return Raw(file, titles, stack=stack, actual=compared.get("Received"), expected=compared.get("Expected"))


def _mocha_raw(said: dict[str, Any]) -> Raw:
    error: dict[str, Any] = said["error"]
    return Raw(
        said.get("file") or "", tuple(said["titles"]), error["type"], error["message"], error["stack"],
        error.get("actual"), error.get("expected"), when="setup" if said["hook"] else "call",
    )  # fmt: skip


JEST, VITEST, MOCHA = Jest(), Vitest(), Mocha()
