"""Where every debugger must be, a test that lacks one is red, whichever file it is in; elsewhere it is a named skip."""

from __future__ import annotations

import pytest

from .everything import judged


def skipped(reason: str) -> pytest.TestReport:
    """As pytest reports a test that was skipped."""
    place = ("tests/backends/test_go.py", 41, f"Skipped: {reason}")
    return pytest.TestReport("test_go.py::test_x", ("test_go.py", 41, "test_x"), {}, "skipped", place, "setup")


@pytest.mark.parametrize(
    "reason",
    [
        "gdb is not installed, or has no debug adapter", "lldb-dap is not installed", "lldb is not installed",
        "dlv is not installed", "go and dlv are not installed", "Delve or Go is not installed", "rdbg is not installed",
        "node is not installed", "no node here", "rustc is not installed", "cargo is not installed", "cc is not installed",
        "gdb or a C compiler is not installed", "no lldb-dap or no C compiler here",
        "error adapter_missing: dlv is not installed: go install github.com/go-delve/delve/cmd/dlv@latest",
    ],
)  # fmt: skip
def test_a_debugger_that_is_missing_is_a_failure_that_names_it(reason: str) -> None:
    report = skipped(reason)
    judged(report)
    assert (report.failed, reason in str(report.longrepr)) == (True, True)


@pytest.mark.parametrize(
    "reason",
    [
        "zsh is not installed", "rr is not installed", "hatchling is not installed here to build with", "no cmake here",
        "this Node has no --inspect-wait (20.15 has)", "native debugging is proven on Linux only", "no Python 3.11 here",
        "root reads everything, and there is no setpriv", "only root may change its root", "npm is not installed",
    ],
)  # fmt: skip
def test_what_is_skipped_for_another_reason_stays_a_skip(reason: str) -> None:
    report = skipped(reason)
    judged(report)
    assert report.skipped
