"""Jest, Vitest and Mocha, by the reports in JSON that each can write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...model.outcomes import AnyOutcome
from ...model.tested import Counts, TestFailure, Told
from . import TestAsk
from .journal import MOST, Show
from .nodes import NodeRunner, identity_of, report_of, selected
from .scripts import expanded
from .stacks import Raw, failure, test_id

_COMPARED = re.compile(r"^(Expected|Received)(?: [a-z ]+)?: +(\S.*)$", re.MULTILINE)
_VITEST_TALK = re.compile(
    r"^[⎯\s]*$|^\s*\d*\|| ❯ .*(/node_modules/|node:internal/)|^This might cause|^This error originated|^JSON report"
)
"""Lines of Vitest's that tell nothing of the error that they stand beside: rulers, source, library calls, prose."""
_ENDED = {"passed": "passed", "failed": "failed", "pending": "skipped", "skipped": "skipped", "todo": "skipped"}


class Jest(NodeRunner):
    name = "jest"
    package = "jest"
    program = "bin/jest.js"
    configs = ("jest.config.*",)
    throws_little = True  # and no breakpoint could be set: it compiles tests where nothing tells of them beforehand

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        words = [self.found(ask)[0], "--json", f"--outputFile={report}", "--colors=false"]
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
    program = "vitest.mjs"
    configs = ("vitest.config.*", "vitest.workspace.*")

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        # The report in JSON lacks what fails the run and no test: an error that nobody handled, too little coverage.
        words = [self.found(ask)[0], "run", "--reporter=json", f"--outputFile.json={report}", "--reporter=default"]
        words += ["--no-color"]
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
    program = "bin/mocha.js"
    configs = (".mocharc*",)

    def words(self, ask: TestAsk, report: Path) -> tuple[str, ...]:
        file, pattern = selected(ask)
        words = [self.found(ask)[0], "--reporter", "json", "--reporter-option", f"output={report}", "--no-color"]
        words += ["--bail"] if ask.first else []
        words += ["--no-parallel", "--timeout", "0"] if ask.hold else []
        words += ["-g", pattern] if pattern else []
        script = self.script(ask)
        return (*words, *script.flags, *ask.args, *((file,) if file else expanded(script.files, ask.root)))

    def told(self, report: Path, ask: TestAsk, show: Show) -> Told:
        found = report_of(report)
        tests: list[dict[str, Any]] = found.get("tests") or []
        bad: list[dict[str, Any]] = found.get("failures") or []
        pending = {(each.get("file"), each["fullTitle"]) for each in found.get("pending") or []}
        failures = [failure(_mocha_raw(each), ask.root, show) for each in bad]
        skipped = sum((each.get("file"), each["fullTitle"]) in pending for each in tests)
        hooks = sum(each not in tests for each in bad)
        counts = Counts(
            total=len(tests) + hooks, failed=len(bad), skipped=skipped, passed=len(found.get("passes") or []),
        )  # fmt: skip
        names = tuple(test_id(each.get("file") or "", _titles(each), show) for each in tests)
        return _told(report, found, counts, failures, names)


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
    return _told(report, found, counts, failures, tuple(names))


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
    stack = str((each.get("failureMessages") or [""])[0])
    compared = {match[1]: match[2] for match in _COMPARED.finditer(stack)}
    return Raw(file, titles, stack=stack, actual=compared.get("Received"), expected=compared.get("Expected"))


def _mocha_raw(each: dict[str, Any]) -> Raw:
    error: dict[str, Any] = each.get("err") or {}
    stack = str(error.get("stack", ""))
    has = "actual" in error and "expected" in error
    return Raw(
        each.get("file") or "", _titles(each), str(error.get("name", "")), str(error.get("message", "")), stack,
        str(error["actual"]) if has else None, str(error["expected"]) if has else None,
        when="setup" if '" hook' in each["title"] else "call",
    )  # fmt: skip


def _titles(each: dict[str, Any]) -> tuple[str, ...]:
    """The suite and the test; Mocha tells the suites' titles only joined."""
    above = str(each["fullTitle"]).removesuffix(str(each["title"])).strip()
    return (above, each["title"]) if above else (each["title"],)


JEST, VITEST, MOCHA = Jest(), Vitest(), Mocha()
