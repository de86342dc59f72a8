"""A real Python program that is killed, frozen or deaf at every point: a named error, and an end that is told."""

from __future__ import annotations

import os
import signal

import pytest

from stillframe.errors import AdapterUnresponsive, StillframeError
from stillframe.model.backend import Bounds, CatchRule, Ended, Move

from .driver import Driven, at, opened, plan, started, write


async def story(run: Driven, kill_before: int) -> None:
    """Twelve things that a session does; the program is killed before one of them."""

    async def frame() -> str:
        return (await run.look()).at.id

    async def evaluate() -> None:
        await run.backend.evaluate(await frame(), ["total"], Bounds(), 5.0)

    steps = [
        lambda: run.backend.start([at("loop")], CatchRule()),
        run.stop,
        run.look,
        lambda: run.move(Move.NEXT),
        evaluate,
        lambda: run.backend.set_breakpoints([at("loop"), at("call", "b2")]),
        lambda: run.move(Move.CONTINUE),
        run.backend.threads,
        lambda: run.backend.set_catch(CatchRule(frozenset({"raised"}))),
        lambda: run.move(Move.FINISH),
        run.backend.modules,
        lambda: run.backend.set_breakpoints(()),
    ]
    for number, step in enumerate(steps):
        if number == kill_before:
            os.kill(run.backend.pid, signal.SIGKILL)
        await step()


@pytest.mark.parametrize("kill_before", range(12))
async def test_a_program_killed_at_any_point_is_told_as_killed_and_nothing_hangs(kill_before):
    async with opened(plan()) as run:
        with pytest.raises(
            (StillframeError, AssertionError)
        ):  # the driver asserts when the end comes instead of a stop
            await story(run, kill_before)
            await run.move()
        end = next((each for each in run.seen if isinstance(each, Ended)), None) or await run.next(Ended)
        assert (end.signal, end.lost) == ("SIGKILL", False)


@pytest.mark.long
async def test_a_frozen_program_meets_the_deadline_of_the_settings_and_is_ended(monkeypatch):
    monkeypatch.setenv("STILLFRAME_REQUEST_TIMEOUT", "3")
    async with started(plan(), at("loop")) as run:
        await run.stop()
        os.kill(run.backend.pid, signal.SIGSTOP)
        with pytest.raises(AdapterUnresponsive, match=r"\b3 s"):
            await run.look()
        await run.backend.end(terminate=True)
        assert (await run.next(Ended)).signal in ("SIGTERM", "SIGKILL")


@pytest.mark.long
async def test_a_program_that_keeps_the_interpreter_to_itself_is_ended_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("STILLFRAME_REQUEST_TIMEOUT", "3")
    text = "import signal\nsignal.signal(15, signal.SIG_IGN)\nx = 1  # @here\nsum(range(10**12))\n"
    program = write(tmp_path, text)
    async with started(plan(program), at("here", program=program)) as run:
        await run.stop()
        await run.go()
        with pytest.raises(AdapterUnresponsive):
            await run.backend.threads()
            await run.backend.modules()
            await run.backend.threads()
        await run.backend.end(terminate=True)
        assert (await run.next(Ended)).signal == "SIGKILL"


async def test_a_repr_that_never_returns_is_cut_off_and_stepping_goes_on(tmp_path):
    program = write(
        tmp_path,
        """
class Endless:
    def __repr__(self):
        while True:
            pass
endless = Endless()
x = 1  # @here
y = 2
""",
    )
    async with started(plan(program), at("here", program=program)) as run:
        await run.stop()
        look = await run.look(seconds=0.3)
        value = next(each for each in look.values.values if each.name == "endless")
        assert value.error and "did not return" in value.value
        assert (await run.move(Move.NEXT)).reason == "step"
        await run.go()
        assert (await run.ended()).exit_code == 0
