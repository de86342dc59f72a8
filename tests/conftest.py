"""Fixtures for every test: the guard, and the daemon that they share."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import os
import resource
import signal
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stillframe.transport.guardian import GUARDIAN

from .everything import ALL, judged
from .guard import Guard, notice_births
from .interpreters import INTERPRETERS as INTERPRETERS
from .interpreters import PYCACHE
from .resident import Resident

# How long an example takes, or to think of one, is the machine's business. The examples are the same in every run, so that what
# one run finds is not another one's bad luck; `STILLFRAME_EXAMPLES=new` looks for others.
settings.register_profile(
    "stillframe",
    deadline=None,
    max_examples=50,
    derandomize=os.environ.get("STILLFRAME_EXAMPLES") != "new",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("stillframe")


# A job in the background hears no Ctrl-C, nor does what it starts; the programs of the tests shall hear theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Programs that die of a signal would leave a core where they ran, and some of them run beside their source.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


gc.disable()  # what is collected stays: to look through it again and again is a tenth of the time until the first test


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    own = "own_daemon: a story that begins without a daemon, ends it, or looks at all that it keeps"
    long = "long: takes several seconds by itself; `./dev quick` leaves it out"
    for marker in (own, long):
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.fixturenames.insert(0, "no_task_left")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if ALL:
        judged(report)
    return report


notice_births()


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all that run at once; what each interpreter compiles of the debugger, seconds of work, is kept for later runs."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    (shared / "cache" / "stillframe").mkdir(parents=True, exist_ok=True)
    PYCACHE.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (shared / "cache" / "stillframe" / "pycache").symlink_to(PYCACHE, target_is_directory=True)
    return shared / "cache"


@pytest.fixture(scope="session")
def resident(shared_cache: Path) -> Iterator[Resident]:
    """The daemon of all stories that do not say that they need one of their own."""
    made = Resident(shared_cache)
    yield made
    left = made.leave()
    made.remove()
    assert not left, left


@pytest.fixture(autouse=True)
def guard(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guard]:
    """A private environment for the test, and a failure that lists what it left behind."""
    guard = Guard(shared_cache)
    env = guard.environment(dict(os.environ))
    for name in set(os.environ) - set(env):
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", None)  # it is looked up once, and kept
    yield guard
    forgotten = [f"temporary {each}" for each in GUARDIAN._directories]  # which our guardian takes away as it ends
    left = forgotten + guard.leftovers(_rested_host())
    guard.remove()
    if left:
        pytest.fail("left behind:\n  " + "\n  ".join(left), pytrace=False)


@pytest.fixture(autouse=True, scope="session")
def _last_guardian() -> Iterator[None]:
    yield
    GUARDIAN.close()


def _rested_host() -> set[int]:
    """Leave the guardian of this process to the next test, as a host leaves it to the next session; the descriptors that it has
    here. One that still has something to watch ends, and that with it."""
    if GUARDIAN._watched or GUARDIAN._directories:
        GUARDIAN.close()
    GUARDIAN._look_away()  # this test's loop is over
    return {GUARDIAN._pipe.fileno()} if GUARDIAN.pid is not None and GUARDIAN._pipe is not None else set()


@pytest.fixture
async def no_task_left() -> AsyncIterator[None]:
    """Fails an asyncio test whose tasks outlive it; set up first, so torn down last."""
    yield
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    if left:
        pytest.fail("tasks left running:\n  " + "\n  ".join(map(repr, left)), pytrace=False)
