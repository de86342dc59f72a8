"""From a red test to evidence, in one call: the tests run as they are, and the first that failed is explained."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec.structs import replace

from ..adapters.runners import TestAsk, choose
from ..adapters.runners.spelled import spelled
from ..errors import UsageError
from ..model.outcomes import Running, Stop
from ..model.plans import Caller
from ..model.tested import TestReport
from ..registry import Access, From, Param, operation
from ..session import taping
from ..session.breakpoints import absolute
from ..session.sessions import Sessions
from .common import Do, RunSeconds
from .explaining import as_stop, looked_at, report_of, with_made
from .flaking import repeated
from .programs import Cwd, Env, Python, pair
from .repeating import Times, UntilFail
from .repeating import check as check_times
from .since import SinceWord
from .tested_since import with_revision
from .testruns import Asked, Ran, check_matched, run_tests

Selector = Annotated[
    str | None,
    Param(
        "a file, FILE::NAME, or a test's name; all tests of the project if left out", positional=True, metavar="TEST"
    ),
]
RunnerArgs = Annotated[
    tuple[str, ...], Param("further arguments for the runner, or its whole command: -- npx jest -t price", last=True)
]
RunnerName = Annotated[str | None, Param("the runner to use, where the project does not tell", metavar="NAME")]
Every = Annotated[bool, Param("one short entry for each failure, instead of all evidence of the first", flag="--all")]
Once = Annotated[bool, Param("run the tests once only: no second run for the calls that led to the failure")]
Hold = Annotated[bool, Param("keep the first failure live, as a session held in the frame that failed")]


@operation(Access.EXEC, starts=True, owned=True, example="dbg test tests/test_price.py")
async def test(
    sessions: Sessions,
    caller: Caller,
    selector: Selector = None,
    command: RunnerArgs = (),
    runner: RunnerName = None,
    every: Every = False,
    once: Once = False,
    hold: Hold = False,
    cwd: Cwd = None,
    env: Env = (),
    python: Python = None,
    do: Do = None,
    since: SinceWord = None,
    repeat: Times = 1,
    until_fail: UntilFail = False,
    timeout: RunSeconds = None,
) -> From[TestReport]:
    """Run tests, and report why the first red one is red: what was compared, the frame that failed, the calls that led there.

    The runner is found from the project: pytest, unittest, Django, node:test, Jest, Vitest, Mocha, go test, cargo test. Green
    says green, with the count; a selector that matches nothing is not found, and the nearest names are told.
    """
    if selector == "":
        raise UsageError("test what? The selector is empty, as an unset variable is")
    here = absolute(cwd, caller.cwd) if cwd else caller.cwd
    said = spelled(command)
    if runner is not None and said.runner not in (None, runner):
        raise UsageError(f"--runner {runner}, and a command of {said.runner} behind --: leave one out")
    python = python or said.python
    choice = await asyncio.to_thread(choose, selector, here, runner or said.runner)
    ask = TestAsk(
        selector=selector, args=said.args, cwd=here, root=choice.root, env={**caller.env, **dict(map(pair, env))},
        umask=caller.umask, python=absolute(python, here) if python and "/" in python else python, hold=hold,
    )  # fmt: skip
    wait = sessions.settings(here).wait if timeout is None else timeout
    asked = Asked(sessions, caller, choice, ask, wait, do)
    if once and hold and not choice.runner.stays:
        raise UsageError(f"--hold runs a failing test of {choice.runner.name} a second time, which --once forbids")
    check_times(repeat, until_fail)
    if repeat > 1 and hold:
        raise UsageError("--hold keeps one run: it does not go with --repeat")
    if repeat > 1:
        found = await repeated(asked, repeat, until_fail=until_fail, every=every, further=not once)
        if since is None:
            return found
        return From(found.session, await with_revision(asked, found.result, since, once=once))
    async with run_tests(asked, replace(ask, hold=hold and choice.runner.stays)) as ran:
        await check_matched(asked, ran)
        report, session = report_of(asked, ran, every=every), ran.session
        if report.failures and not isinstance(ran.end, Stop):
            await taping.stopped(ran.session, as_stop(report.failures[0]))
        if _is_to_be_run_again(asked, ran, report) and not (once or every):
            if isinstance(ran.end, Running):
                await sessions.end(ran.session, terminate=True)
            report, session = await looked_at(asked, ran, report)
            report = await with_made(asked, ran, report) if not hold else report
        return From(session, report if since is None else await with_revision(asked, report, since, once=once))


def _is_to_be_run_again(asked: Asked, ran: Ran, report: TestReport) -> bool:
    """Whether further runs are to tell more: also where the time was over before the tests were, if what failed runs alone."""
    over = isinstance(ran.end, Running) and asked.choice.runner.alone and bool(report.failures)
    return report.verdict == "red" or over
