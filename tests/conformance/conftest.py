"""Around every story: what it proved is kept or compared, and whatever is missing fails a run that must have everything."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from ..everything import ALL
from . import witness


def pytest_sessionstart(session: pytest.Session) -> None:
    if witness.WRITE and not hasattr(session.config, "workerinput"):
        witness.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    if ALL and report.skipped:
        report.outcome, report.longrepr = "failed", f"this run must have every debugger: {report.longrepr[2]}"
    item.stash.setdefault(_REPORTS, {})[report.when] = report
    return report


_REPORTS = pytest.StashKey[dict[str, Any]]()


@pytest.fixture(autouse=True)
def proof(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the test did with its story, once it has passed."""
    witness.WITNESSED.clear()
    witness.TOOLS.clear()
    yield
    callspec = getattr(request.node, "callspec", None)
    story = callspec.params.get("story") if callspec else None
    done = request.node.stash.get(_REPORTS, {}).get("call")
    if story is None or done is None or not done.passed:
        return
    if witness.WRITE:
        witness.write(story.name, request.node.name)
    elif missing := witness.unproven(story.name, request.node.name):
        pytest.fail(f"{witness.FILE.name} says that this proves {', '.join(sorted(missing))}, which it does not use")
